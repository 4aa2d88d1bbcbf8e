//! Types on both sides: what a declared column type means to the reader, to the writer, and which one a new table gets.
//! SQLite lets any value be in almost any column; a declaration says what to expect of one, and how numbers are stored.

use arrow_schema::{DataType, Field, TimeUnit};
use serde::{Deserialize, Serialize};
use transship_plugin_api::fields::{SOURCE_TYPE_KEY, is_number, is_uuid, number_field, with_infinity};

/// Digits that a 64-bit float always keeps.
const FLOAT_DIGITS: u8 = 15;

/// What the reader makes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Boolean,
    Integer,
    Real,
    /// A number with as many digits as it likes, kept as text.
    Number,
    Text,
    Binary,
    Date,
    Time,
    /// A date and time without a zone.
    Timestamp,
    /// A date and time with a zone.
    Instant,
}

impl Kind {
    /// What a job file may call them; the second half are DataX's words.
    pub(crate) const WORDS: &[(&str, Kind)] = &[
        ("text", Kind::Text),
        ("integer", Kind::Integer),
        ("real", Kind::Real),
        ("number", Kind::Number),
        ("boolean", Kind::Boolean),
        ("binary", Kind::Binary),
        ("date", Kind::Date),
        ("time", Kind::Time),
        ("timestamp", Kind::Timestamp),
        ("instant", Kind::Instant),
        ("datetime", Kind::Timestamp),
        ("blob", Kind::Binary),
        ("string", Kind::Text),
        ("long", Kind::Integer),
        ("double", Kind::Real),
        ("bool", Kind::Boolean),
        ("bytes", Kind::Binary),
    ];

    /// What a declared type promises; `None` where nothing is declared.
    pub(crate) fn declared(declared: &str) -> Option<Kind> {
        Kind::of(&Declared::new(declared))
    }

    fn of(declared: &Declared) -> Option<Kind> {
        let has = |part: &str| declared.name.contains(part);
        Some(match declared.first_word() {
            "" => return None,
            "BOOL" | "BOOLEAN" => Kind::Boolean,
            "DATE" => Kind::Date,
            "TIME" => Kind::Time,
            "TIMESTAMPTZ" | "DATETIMEOFFSET" => Kind::Instant,
            "TIMESTAMP" | "DATETIME" if has("WITH TIME ZONE") || has("WITH LOCAL TIME ZONE") => Kind::Instant,
            "TIMESTAMP" | "DATETIME" | "DATETIME2" | "SMALLDATETIME" => Kind::Timestamp,
            word if NUMBER_WORDS.contains(&word) => Kind::Number,
            word if TYPES_WITH_INT_IN_THEIR_NAME.contains(&word) => Kind::Text,
            _ if has("REAL") || has("FLOA") || has("DOUB") => Kind::Real,
            _ if has("INT") => Kind::Integer,
            _ if has("CHAR") || has("CLOB") || has("TEXT") => Kind::Text,
            _ if has("BLOB") || has("BINARY") || has("BYTEA") => Kind::Binary,
            _ => Kind::Text,
        })
    }

    /// The Arrow column for it. Of a type that travels as text for want of a better one, the name goes into the metadata.
    pub(crate) fn field(self, name: &str, declared: &str) -> Field {
        let data_type = match self {
            Kind::Boolean => DataType::Boolean,
            Kind::Integer => DataType::Int64,
            Kind::Real => DataType::Float64,
            // A new table may keep the digits in the same way.
            Kind::Number => return with_source_type(number_field(name), declared),
            Kind::Text => DataType::Utf8,
            Kind::Binary => DataType::Binary,
            Kind::Date => DataType::Date32,
            Kind::Time => DataType::Time64(TimeUnit::Microsecond),
            Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Kind::Instant => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        };
        let field = Field::new(name, data_type, true);
        match self {
            Kind::Date | Kind::Timestamp | Kind::Instant => with_infinity(field),
            Kind::Text if Target::declared(declared, false) != Target::Text => with_source_type(field, declared),
            _ => field,
        }
    }
}

fn with_source_type(field: Field, declared: &str) -> Field {
    if declared.is_empty() {
        return field;
    }
    let mut metadata = field.metadata().clone();
    metadata.insert(SOURCE_TYPE_KEY, declared);
    field.with_metadata(metadata)
}

/// What the writer may put into a column, so that SQLite keeps it as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Numbers, stored as integers where they are whole, else as reals: INTEGER and NUMERIC affinity.
    Number,
    /// Numbers, all stored as reals.
    Real,
    /// 0 and 1.
    Boolean,
    /// Text and bytes; SQLite turns numbers into text.
    Text,
    /// Anything, stored as it comes.
    Any,
    /// Dates and times, kept as text, and numbers, which some programs have for dates.
    Date(Kind),
    /// Anything, but a text that looks like a number becomes one: a STRING, a JSON.
    Loose,
}

impl Target {
    pub(crate) fn declared(declared: &str, strict: bool) -> Target {
        let declared = Declared::new(declared);
        let has = |part: &str| declared.name.contains(part);
        let word = declared.first_word();
        // The order of these rules is SQLite's.
        match () {
            _ if strict && word == "ANY" => Target::Any,
            _ if TYPES_WITH_INT_IN_THEIR_NAME.contains(&word) => Target::Loose,
            _ if has("INT") => Target::Number,
            _ if has("CHAR") || has("CLOB") || has("TEXT") => Target::Text,
            _ if has("BLOB") || declared.name.is_empty() => Target::Any,
            _ if has("REAL") || has("FLOA") || has("DOUB") => Target::Real,
            _ if matches!(word, "BOOL" | "BOOLEAN") || declared.is_one_bit() => Target::Boolean,
            _ if word == "YEAR" || NUMBER_WORDS.contains(&word) => Target::Number,
            _ => match Kind::of(&declared) {
                Some(kind @ (Kind::Date | Kind::Time | Kind::Timestamp | Kind::Instant)) => Target::Date(kind),
                _ => Target::Loose,
            },
        }
    }
}

const NUMBER_WORDS: [&str; 7] = ["NUMERIC", "DECIMAL", "NUMBER", "DEC", "FIXED", "MONEY", "SMALLMONEY"];

/// SQLite takes these for integers; what is in them is text.
const TYPES_WITH_INT_IN_THEIR_NAME: [&str; 3] = ["INTERVAL", "POINT", "MULTIPOINT"];

/// A declared type in upper case, without the size behind it.
struct Declared {
    name: String,
    /// What is in the brackets; empty where there are none.
    size: String,
}

impl Declared {
    fn new(declared: &str) -> Declared {
        let before_size = declared.split('(').next().unwrap_or_default();
        let behind_size = declared.rsplit(')').next().filter(|_| declared.contains(')')).unwrap_or_default();
        let words = before_size.split_whitespace().chain(behind_size.split_whitespace());
        let size = declared.split(['(', ')']).nth(1).unwrap_or_default().trim().into();
        Declared { name: words.collect::<Vec<_>>().join(" ").to_uppercase(), size }
    }

    /// Whether it is a BIT that is a boolean: of more bits than one, it is a number or a text of them.
    fn is_one_bit(&self) -> bool {
        self.name == "BIT" && matches!(self.size.as_str(), "" | "1")
    }

    fn first_word(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }
}

/// The type to declare for a column of a new table: one that keeps every value of the field as it is, if there is one.
pub(crate) fn declaration(field: &Field) -> String {
    let name = match field.data_type() {
        DataType::Boolean => "BOOLEAN",
        data_type if data_type.is_integer() => "INTEGER",
        data_type if data_type.is_floating() => "REAL",
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            // Columns whose type has TEXT in it keep all digits, and the reader sees the DECIMAL before it.
            let text = if *precision > FLOAT_DIGITS { " TEXT" } else { "" };
            return format!("DECIMAL{text}({precision}, {scale})");
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if is_number(field) => {
            let of_sqlite = field.metadata().get(SOURCE_TYPE_KEY);
            of_sqlite.filter(|name| Kind::declared(name) == Some(Kind::Number)).map_or("NUMERIC", |name| name)
        }
        DataType::Date32 => "DATE",
        DataType::Time32(_) | DataType::Time64(_) => "TIME",
        DataType::Timestamp(_, None) | DataType::Date64 => "TIMESTAMP",
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE",
        DataType::FixedSizeBinary(_) if is_uuid(field) => "TEXT",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "BLOB",
        DataType::Dictionary(_, values) => return declaration(&field.clone().with_data_type((**values).clone())),
        _ => "TEXT",
    };
    name.into()
}

#[cfg(test)]
mod tests;

//! What a column of the table takes, from what the catalogue says of it; and the types for a table that is to be made.
//! Not here: how a value becomes what it takes (`encode.rs`).

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, TimeUnit};
use transship_plugin_api::fields::{JSON, SOURCE_TYPE_KEY, UUID, is_json, is_number, is_uuid, number_field};

use crate::table::TableColumn;
use crate::types::UTC;

/// A column of the table that is filled.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) name: String,
    /// The whole type, for messages.
    pub(super) declared: String,
    pub(super) takes: Takes,
    /// Whether NULL is refused.
    pub(super) refuses_null: bool,
    /// Whether the server makes its value of a text in some character set, rather than of digits or bytes…
    pub(super) is_text: bool,
    /// …and keeps it in that in which it is sent.
    pub(super) is_utf8mb4: bool,
}

/// What a column takes, as far as it matters for what is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Takes {
    Integer {
        least: i128,
        greatest: i128,
    },
    Decimal {
        digits: u32,
        scale: u32,
        is_unsigned: bool,
    },
    Float,
    Double,
    /// So many bits.
    Bits(u32),
    Year,
    Date,
    /// A date and time without a zone, with so many digits of a second.
    DateTime(u32),
    /// An instant.
    Timestamp(u32),
    Time(u32),
    Text(Room),
    /// One of these words.
    Enum(Vec<String>),
    /// So many bytes at most.
    Bytes(u64),
    Uuid,
    Geometry,
    /// A text that the server understands, or refuses: a set, an address, JSON.
    Other,
}

/// What a text column has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) characters: Option<u64>,
    pub(super) bytes: Option<u64>,
    /// Whether characters of four bytes do not fit.
    pub(super) only_three_bytes: bool,
}

impl Target {
    pub(super) fn of(column: &TableColumn) -> Target {
        let takes = takes(column);
        // A TIMESTAMP that refuses NULL may make the present moment of it: that is its definition's business.
        let refuses_null = !column.is_nullable && !column.is_auto_increment && !matches!(takes, Takes::Timestamp(_));
        let is_text = matches!(takes, Takes::Text(_) | Takes::Enum(_) | Takes::Uuid | Takes::Other);
        let is_utf8mb4 = column.charset.as_deref() == Some("utf8mb4");
        Target {
            name: column.name.clone(),
            declared: column.declared.clone(),
            takes,
            refuses_null,
            is_text,
            is_utf8mb4,
        }
    }
}

impl Takes {
    /// Whether all decimals of a type fit.
    pub(super) fn has_room_for_all_of(&self, data_type: &DataType) -> bool {
        match (self, data_type) {
            (
                Takes::Decimal { digits, scale, is_unsigned: false },
                DataType::Decimal128(their_digits, their_scale @ 0..),
            ) => {
                let theirs = (u32::from(*their_digits), u32::from(their_scale.unsigned_abs()));
                theirs.1 <= *scale && theirs.0.saturating_sub(theirs.1) <= digits - scale
            }
            _ => false,
        }
    }
}

fn takes(column: &TableColumn) -> Takes {
    let is_unsigned = column.declared.contains("unsigned");
    let integer = |bits: u32| {
        let (least, greatest) = match is_unsigned {
            true => (0, (1i128 << bits) - 1),
            false => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        };
        Takes::Integer { least, greatest }
    };
    match column.type_word.as_str() {
        "tinyint" => integer(8),
        "smallint" => integer(16),
        "mediumint" => integer(24),
        "int" => integer(32),
        "bigint" => integer(64),
        "decimal" => {
            Takes::Decimal { digits: column.digits.unwrap_or(10), scale: column.scale.unwrap_or(0), is_unsigned }
        }
        "float" => Takes::Float,
        "double" => Takes::Double,
        "bit" => Takes::Bits(column.digits.unwrap_or(1)),
        "year" => Takes::Year,
        "date" => Takes::Date,
        "datetime" => Takes::DateTime(column.fraction),
        "timestamp" => Takes::Timestamp(column.fraction),
        "time" => Takes::Time(column.fraction),
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => Takes::Text(room(column)),
        "enum" => Takes::Enum(words(&column.declared)),
        "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => {
            Takes::Bytes(column.length.unwrap_or(u64::MAX))
        }
        "uuid" => Takes::Uuid,
        "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon"
        | "geometrycollection" | "geomcollection" => Takes::Geometry,
        _ => Takes::Other,
    }
}

fn room(column: &TableColumn) -> Room {
    let charset = column.charset.as_deref().unwrap_or_default();
    let is_unicode = charset.starts_with("utf8");
    let has_characters = matches!(column.type_word.as_str(), "char" | "varchar");
    Room {
        characters: column.length.filter(|_| has_characters),
        // In another character set a text has another length in bytes, which the server knows.
        bytes: column.length.filter(|_| !has_characters && is_unicode),
        only_three_bytes: matches!(charset, "utf8" | "utf8mb3"),
    }
}

/// The words of `enum('a','b''c')`.
fn words(declared: &str) -> Vec<String> {
    let inside = declared.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).map_or("", |(inside, _)| inside);
    let mut words = Vec::new();
    let mut letters = inside.chars().peekable();
    while letters.next() == Some('\'') {
        let mut word = String::new();
        while let Some(letter) = letters.next() {
            if letter == '\'' && letters.next_if_eq(&'\'').is_none() {
                break;
            }
            word.push(letter);
        }
        words.push(word);
        letters.next_if_eq(&',');
    }
    words
}

/// The type of a column of a new table: one that keeps every value of the field as it is, if there is one.
pub(super) fn declaration(field: &Field) -> String {
    let source = field.metadata().get(SOURCE_TYPE_KEY).map(String::as_str);
    let name = match field.data_type() {
        DataType::Boolean => "TINYINT(1)",
        DataType::Int8 => "TINYINT",
        DataType::UInt8 => "TINYINT UNSIGNED",
        DataType::Int16 if source == Some("year") => "YEAR",
        DataType::Int16 => "SMALLINT",
        DataType::UInt16 => "SMALLINT UNSIGNED",
        DataType::Int32 => "INT",
        DataType::UInt32 => "INT UNSIGNED",
        DataType::Int64 => "BIGINT",
        DataType::UInt64 if source == Some("bit") => "BIT(64)",
        DataType::UInt64 => "BIGINT UNSIGNED",
        DataType::Float16 | DataType::Float32 => "FLOAT",
        DataType::Float64 => "DOUBLE",
        DataType::Decimal32(digits, scale)
        | DataType::Decimal64(digits, scale)
        | DataType::Decimal128(digits, scale)
        | DataType::Decimal256(digits, scale) => return decimal(*digits, *scale),
        DataType::Date32 => "DATE",
        DataType::Time32(TimeUnit::Second) => "TIME",
        DataType::Time32(_) => "TIME(3)",
        DataType::Time64(_) | DataType::Duration(_) => "TIME(6)",
        DataType::Timestamp(TimeUnit::Second, None) => "DATETIME",
        DataType::Timestamp(TimeUnit::Millisecond, None) | DataType::Date64 => "DATETIME(3)",
        DataType::Timestamp(_, None) => "DATETIME(6)",
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP(6) NULL",
        DataType::Binary if source == Some("geometry") => "GEOMETRY",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "LONGBLOB",
        DataType::FixedSizeBinary(16) if is_uuid(field) => "CHAR(36)",
        DataType::FixedSizeBinary(width @ 1..=255) => return format!("BINARY({width})"),
        DataType::FixedSizeBinary(_) => "LONGBLOB",
        DataType::Dictionary(_, values) => return declaration(&field.clone().with_data_type((**values).clone())),
        // 65 digits, 30 of them behind the point: most numbers are among these, and the others are dirty.
        DataType::Utf8 if is_number(field) => "DECIMAL(65, 30)",
        _ if is_json(field) => "JSON",
        _ => "LONGTEXT",
    };
    name.into()
}

/// What new columns are declared as, by what arrives: for people.
pub(super) fn types_of_new_columns() -> String {
    use DataType::*;
    let zone = Some(UTC.into());
    let examples = [
        ("Boolean", Boolean),
        ("Int8", Int8),
        ("Int16", Int16),
        ("Int32", Int32),
        ("Int64", Int64),
        ("UInt64", UInt64),
        ("Float32", Float32),
        ("Float64", Float64),
        ("Decimal(38, 9)", Decimal128(38, 9)),
        ("date", Date32),
        ("time, length of time", Time64(TimeUnit::Microsecond)),
        ("date and time", Timestamp(TimeUnit::Microsecond, None)),
        ("instant", Timestamp(TimeUnit::Microsecond, zone)),
        ("bytes", Binary),
        ("text", Utf8),
    ];
    let plain = examples.into_iter().map(|(name, data_type)| (name, Field::new(name, data_type, true)));
    let extended = |name, data_type, extension: &str| {
        let metadata = [(EXTENSION_TYPE_NAME_KEY.to_string(), extension.to_string())];
        (name, Field::new(name, data_type, true).with_metadata(metadata))
    };
    let named =
        [("number text", number_field("n")), extended("JSON", Utf8, JSON), extended("UUID", FixedSizeBinary(16), UUID)];
    let types = plain.chain(named).map(|(name, field)| format!("{name} → {}", declaration(&field)));
    types.collect::<Vec<_>>().join(", ")
}

/// Decimals of MySQL have 65 digits at most, 38 (MySQL: 30) of them behind the point.
fn decimal(digits: u8, scale: i8) -> String {
    match (digits, scale) {
        (digits @ 1..=65, scale @ 0..=30) if scale as u8 <= digits => format!("DECIMAL({digits}, {scale})"),
        (digits, scale @ ..0) if i16::from(digits) - i16::from(scale) <= 65 => {
            format!("DECIMAL({}, 0)", i16::from(digits) - i16::from(scale))
        }
        _ => "LONGTEXT".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_an_enum_may_have_commas_and_quotes_in_them() {
        assert_eq!(words("enum('a','b,c','it''s','')"), ["a", "b,c", "it's", ""]);
    }
}

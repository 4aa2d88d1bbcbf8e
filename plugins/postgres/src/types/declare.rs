//! What a column of a new table is declared as, so that it keeps every value of the reader's column.

use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use transship_plugin_api::fields::{SOURCE_TYPE_KEY, is_number};

/// Types without an Arrow form that any server has, so that a new table can have them again.
const OWN_TYPES: &[&str] = &[
    "bit",
    "bit varying",
    "box",
    "cidr",
    "circle",
    "daterange",
    "datemultirange",
    "inet",
    "int4multirange",
    "int4range",
    "int8multirange",
    "int8range",
    "line",
    "lseg",
    "macaddr",
    "macaddr8",
    "nummultirange",
    "numrange",
    "path",
    "pg_lsn",
    "point",
    "polygon",
    "time with time zone",
    "tsmultirange",
    "tsquery",
    "tsrange",
    "tstzmultirange",
    "tstzrange",
    "tsvector",
    "xml",
];

/// Types of which arrays travel as text.
const ELEMENT_TYPES: &[&str] = &[
    "bigint",
    "boolean",
    "bytea",
    "character",
    "character varying",
    "date",
    "double precision",
    "integer",
    "interval",
    "json",
    "jsonb",
    "numeric",
    "real",
    "smallint",
    "text",
    "time without time zone",
    "timestamp with time zone",
    "timestamp without time zone",
    "uuid",
];

/// The type of a new column for this field.
pub(crate) fn declaration(field: &Field) -> String {
    if is_number(field) {
        return "numeric".into();
    }
    match (field.data_type(), field.extension_type_name()) {
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, Some("arrow.json")) => {
            // jsonb would change what others keep: blanks, the order of keys, keys that are there twice.
            let is_binary = field.metadata().get(SOURCE_TYPE_KEY).is_some_and(|name| name == "jsonb");
            return if is_binary { "jsonb" } else { "json" }.into();
        }
        (DataType::FixedSizeBinary(16), Some("arrow.uuid")) => return "uuid".into(),
        _ => {}
    }
    of_type(field.data_type(), field.metadata().get(SOURCE_TYPE_KEY).map(String::as_str))
}

fn of_type(data_type: &DataType, source_type: Option<&str>) -> String {
    let word = match data_type {
        DataType::Boolean => "boolean",
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => "smallint",
        DataType::Int32 | DataType::UInt16 => "integer",
        DataType::Int64 | DataType::UInt32 => "bigint",
        DataType::UInt64 => "numeric(20, 0)",
        DataType::Float16 | DataType::Float32 => "real",
        DataType::Float64 => "double precision",
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            // Before version 15 a scale could not be negative.
            let (precision, scale) = match scale {
                ..0 => (*precision as i32 - *scale as i32, 0),
                _ => (*precision as i32, *scale as i32),
            };
            return format!("numeric({precision}, {scale})");
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "bytea",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(TimeUnit::Microsecond) => "time",
        DataType::Timestamp(TimeUnit::Nanosecond, _) | DataType::Time64(_) => "text",
        DataType::Timestamp(_, None) => "timestamp",
        DataType::Timestamp(_, Some(_)) => "timestamptz",
        DataType::Duration(_)
        | DataType::Interval(IntervalUnit::YearMonth | IntervalUnit::DayTime | IntervalUnit::MonthDayNano) => {
            "interval"
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            return match item.data_type() {
                // Whatever is deeper has a shape that an array may not have.
                data_type if data_type.is_nested() => "jsonb".into(),
                _ => format!("{}[]", declaration(item)),
            };
        }
        DataType::Struct(_) | DataType::Map(_, _) => "jsonb",
        _ => source_type.filter(|name| is_own(name)).unwrap_or("text"),
    };
    word.into()
}

/// Whether the server's name of a type, `bit(8)` or `numeric(5,2)[]`, is that of one that every server has.
fn is_own(name: &str) -> bool {
    let base = |name: &str| match (name.find('('), name.find(')')) {
        (Some(open), Some(close)) if open < close => format!("{}{}", &name[..open], &name[close + 1..]),
        _ => name.to_string(),
    };
    match name.strip_suffix("[]") {
        Some(element) => {
            let element = base(element);
            ELEMENT_TYPES.contains(&element.as_str()) || OWN_TYPES.contains(&element.as_str())
        }
        None => OWN_TYPES.contains(&base(name).as_str()),
    }
}

//! What a column of a result is to the reader: its Arrow type, and what goes with it.
//! Not here: how its values are read (`reader/cells.rs`), and what the writer may put where (`writer/target.rs`).

use std::collections::HashMap;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, TimeUnit};
use transship_plugin_api::fields::{SOURCE_TYPE_KEY, number_field};

use crate::session::{Column, kind};

/// The zone of instants.
pub(crate) const UTC: &str = "UTC";

/// The field for a column of a result. `booleans`: whether TINYINT(1) is one.
pub(crate) fn field(column: &Column, booleans: bool) -> Field {
    let name = &column.name;
    let plain = |data_type| Field::new(name, data_type, true);
    let named = |data_type, source: &str| with(plain(data_type), SOURCE_TYPE_KEY, source);
    let signed = |signed, unsigned| plain(if column.is_unsigned() { unsigned } else { signed });
    match column.kind {
        kind::TINY if booleans && column.length == 1 => plain(DataType::Boolean),
        kind::TINY => signed(DataType::Int8, DataType::UInt8),
        kind::SHORT => signed(DataType::Int16, DataType::UInt16),
        kind::INT24 | kind::LONG => signed(DataType::Int32, DataType::UInt32),
        kind::LONGLONG => signed(DataType::Int64, DataType::UInt64),
        kind::YEAR => named(DataType::Int16, "year"),
        kind::FLOAT => plain(DataType::Float32),
        kind::DOUBLE => plain(DataType::Float64),
        kind::DECIMAL | kind::NEW_DECIMAL => decimal(column),
        kind::BIT if column.length == 1 => plain(DataType::Boolean),
        kind::BIT => named(DataType::UInt64, "bit"),
        kind::DATE | kind::NEW_DATE => plain(DataType::Date32),
        kind::DATETIME => plain(DataType::Timestamp(TimeUnit::Microsecond, None)),
        kind::TIMESTAMP => plain(DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into()))),
        kind::TIME => plain(DataType::Duration(TimeUnit::Microsecond)),
        kind::JSON => with(plain(DataType::Utf8), EXTENSION_TYPE_NAME_KEY, "arrow.json"),
        kind::GEOMETRY => named(DataType::Binary, "geometry"),
        _ if column.format.as_deref() == Some("json") => {
            with(plain(DataType::Utf8), EXTENSION_TYPE_NAME_KEY, "arrow.json")
        }
        _ => match column.extended.as_deref() {
            Some("uuid") => with(plain(DataType::FixedSizeBinary(16)), EXTENSION_TYPE_NAME_KEY, "arrow.uuid"),
            Some(other) => named(DataType::Utf8, other),
            None if column.kind == kind::NULL => plain(DataType::Utf8),
            None if column.is_binary() && !column.is_enum_or_set() => plain(DataType::Binary),
            None => plain(DataType::Utf8),
        },
    }
}

/// Decimals have up to 65 digits. The length that the server tells has the sign and the point in it.
fn decimal(column: &Column) -> Field {
    let beside = u32::from(!column.is_unsigned()) + u32::from(column.decimals > 0);
    let digits = column.length.saturating_sub(beside).max(u32::from(column.decimals)).max(1);
    match (u8::try_from(digits), i8::try_from(column.decimals)) {
        (Ok(digits), Ok(scale)) if digits <= DECIMAL128_MAX_PRECISION => {
            Field::new(&column.name, DataType::Decimal128(digits, scale), true)
        }
        (Ok(digits), Ok(scale)) if digits <= DECIMAL256_MAX_PRECISION => {
            Field::new(&column.name, DataType::Decimal256(digits, scale), true)
        }
        _ => number_field(&column.name),
    }
}

fn with(field: Field, key: &str, value: &str) -> Field {
    field.with_metadata(HashMap::from([(key.to_string(), value.to_string())]))
}

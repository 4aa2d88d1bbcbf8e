//! Types of the server: how a column of each travels, and what a column of a new table is declared as.
//! Not here: the bytes of values (`binary`, `text`).

mod declare;

use std::collections::HashMap;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use serde::{Deserialize, Serialize};
use transship_plugin_api::fields::{INFINITY_KEY, SOURCE_TYPE_KEY, number_field};

pub(crate) use declare::declaration;

/// The most digits of Arrow's decimals.
const DECIMAL128_DIGITS: i32 = 38;
const DECIMAL256_DIGITS: i32 = 76;

/// A column's type as the server's catalogue has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerType {
    /// The object id of the type, or of what a domain stands for.
    pub(crate) oid: u32,
    /// Length, precision and scale, packed; -1: none.
    pub(crate) modifier: i32,
    /// As SQL writes it: `character varying(20)`.
    pub(crate) name: String,
}

/// Object ids of types that never change.
pub(crate) mod oid {
    pub(crate) const BOOL: u32 = 16;
    pub(crate) const BYTEA: u32 = 17;
    pub(crate) const NAME: u32 = 19;
    pub(crate) const INT8: u32 = 20;
    pub(crate) const INT2: u32 = 21;
    pub(crate) const INT4: u32 = 23;
    pub(crate) const TEXT: u32 = 25;
    pub(crate) const OID: u32 = 26;
    pub(crate) const JSON: u32 = 114;
    pub(crate) const FLOAT4: u32 = 700;
    pub(crate) const FLOAT8: u32 = 701;
    pub(crate) const MONEY: u32 = 790;
    pub(crate) const INET: u32 = 869;
    pub(crate) const BPCHAR: u32 = 1042;
    pub(crate) const VARCHAR: u32 = 1043;
    pub(crate) const DATE: u32 = 1082;
    pub(crate) const TIME: u32 = 1083;
    pub(crate) const TIMESTAMP: u32 = 1114;
    pub(crate) const TIMESTAMPTZ: u32 = 1184;
    pub(crate) const INTERVAL: u32 = 1186;
    pub(crate) const NUMERIC: u32 = 1700;
    pub(crate) const UUID: u32 = 2950;
    pub(crate) const JSONB: u32 = 3802;
}

/// What a column of the server is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    Bool,
    Int16,
    Int32,
    Int64,
    UInt32,
    Float32,
    Float64,
    /// A number of fixed scale, up to 38 digits.
    Decimal {
        precision: u8,
        scale: i8,
    },
    /// The same, up to 76 digits.
    LongDecimal {
        precision: u8,
        scale: i8,
    },
    /// A number of any scale.
    Number,
    Text,
    Json,
    /// JSON with the version of its format before it.
    Jsonb,
    Uuid,
    Bytes,
    Date,
    Time,
    Timestamp,
    Instant,
    Interval,
    /// What has no Arrow type: the server writes it as text.
    AsText,
    /// An amount of money: the server makes a number of it.
    Money,
}

impl Kind {
    /// What a column of this type is read as.
    pub(crate) fn of(server: &ServerType) -> Kind {
        match server.oid {
            oid::BOOL => Kind::Bool,
            oid::INT2 => Kind::Int16,
            oid::INT4 => Kind::Int32,
            oid::INT8 => Kind::Int64,
            oid::OID => Kind::UInt32,
            oid::FLOAT4 => Kind::Float32,
            oid::FLOAT8 => Kind::Float64,
            oid::NUMERIC => match precision_and_scale(server.modifier) {
                Some((precision, scale)) if (0..=precision).contains(&scale) && precision <= DECIMAL128_DIGITS => {
                    Kind::Decimal { precision: precision as u8, scale: scale as i8 }
                }
                Some((precision, scale)) if (0..=precision).contains(&scale) && precision <= DECIMAL256_DIGITS => {
                    Kind::LongDecimal { precision: precision as u8, scale: scale as i8 }
                }
                _ => Kind::Number,
            },
            oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME => Kind::Text,
            oid::JSON => Kind::Json,
            oid::JSONB => Kind::Jsonb,
            oid::UUID => Kind::Uuid,
            oid::BYTEA => Kind::Bytes,
            oid::DATE => Kind::Date,
            oid::TIME => Kind::Time,
            oid::TIMESTAMP => Kind::Timestamp,
            oid::TIMESTAMPTZ => Kind::Instant,
            oid::INTERVAL => Kind::Interval,
            oid::MONEY => Kind::Money,
            _ => Kind::AsText,
        }
    }

    /// The type that the server has to cast the column to before it is sent, if it has to.
    pub(crate) fn cast(self) -> Option<&'static str> {
        match self {
            Kind::AsText => Some("text"),
            Kind::Money => Some("numeric"),
            _ => None,
        }
    }

    /// The Arrow column for it.
    pub(crate) fn field(self, name: &str, server: &ServerType) -> Field {
        let extension = |word: &str| HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_string(), word.to_string())]);
        let infinity = || HashMap::from([(INFINITY_KEY.to_string(), "true".to_string())]);
        let (data_type, metadata) = match self {
            Kind::Bool => (DataType::Boolean, HashMap::new()),
            Kind::Int16 => (DataType::Int16, HashMap::new()),
            Kind::Int32 => (DataType::Int32, HashMap::new()),
            Kind::Int64 => (DataType::Int64, HashMap::new()),
            Kind::UInt32 => (DataType::UInt32, HashMap::new()),
            Kind::Float32 => (DataType::Float32, HashMap::new()),
            Kind::Float64 => (DataType::Float64, HashMap::new()),
            Kind::Decimal { precision, scale } => (DataType::Decimal128(precision, scale), HashMap::new()),
            Kind::LongDecimal { precision, scale } => (DataType::Decimal256(precision, scale), HashMap::new()),
            Kind::Number | Kind::Money => return number_field(name),
            Kind::Text => (DataType::Utf8, HashMap::new()),
            Kind::Json => (DataType::Utf8, extension("arrow.json")),
            Kind::Jsonb => {
                let mut metadata = extension("arrow.json");
                metadata.insert(SOURCE_TYPE_KEY.to_string(), "jsonb".to_string());
                (DataType::Utf8, metadata)
            }
            Kind::Uuid => (DataType::FixedSizeBinary(16), extension("arrow.uuid")),
            Kind::Bytes => (DataType::Binary, HashMap::new()),
            Kind::Date => (DataType::Date32, infinity()),
            Kind::Time => (DataType::Time64(TimeUnit::Microsecond), HashMap::new()),
            Kind::Timestamp => (DataType::Timestamp(TimeUnit::Microsecond, None), infinity()),
            Kind::Instant => (DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), infinity()),
            Kind::Interval => (DataType::Interval(IntervalUnit::MonthDayNano), HashMap::new()),
            Kind::AsText => (DataType::Utf8, HashMap::from([(SOURCE_TYPE_KEY.to_string(), server.name.clone())])),
        };
        Field::new(name, data_type, true).with_metadata(metadata)
    }
}

/// The precision and scale of a `numeric` column; `None` where it has any number of digits.
pub(crate) fn precision_and_scale(modifier: i32) -> Option<(i32, i32)> {
    const HEADER: i32 = 4;
    let packed = modifier.checked_sub(HEADER).filter(|packed| *packed >= 0)?;
    // The scale has eleven bits, the last of which is its sign.
    Some((packed >> 16 & 0xffff, ((packed & 0x7ff) ^ 1024) - 1024))
}

#[cfg(test)]
mod tests;

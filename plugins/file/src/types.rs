//! The types that a column of a text file can have, and how text becomes a value of each. Text that is no value is an
//! error with a cause, never a zero or NULL.
//! Not here: values to text (`render`), building columns (`columns`).

mod date;
mod number;

use std::borrow::Cow;

use arrow_schema::{DataType, Field, TimeUnit};
use transship_plugin_api::DatePattern;
use transship_plugin_api::fields::number_field;

pub(crate) use self::date::{parse_date, parse_date_by};
pub(crate) use self::number::{is_number, parse_long};

/// The type of a column, by DataX's names.
#[derive(Debug, Clone)]
pub(crate) enum ColumnType {
    /// `string`
    Text,
    /// `long`: whole numbers of 64 bits; a fraction is cut off.
    Long,
    /// `double`: numbers of any size, whose text is kept.
    Double,
    /// `boolean`: `true` or `false`, in any case.
    Boolean,
    /// `date`: a date with or without time, in the usual forms or as this pattern says.
    Date(Option<DatePattern>),
}

/// Why a text is no value of a type: continues the sentence "the value …".
pub(crate) type Cause = Cow<'static, str>;

/// The words for types in a job file.
pub(crate) const TYPE_NAMES: &[&str] = &["string", "long", "double", "boolean", "date"];

impl ColumnType {
    /// The type with this name, in any case; dates get their pattern later.
    pub(crate) fn from_name(name: &str) -> Option<ColumnType> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "string" => ColumnType::Text,
            "long" => ColumnType::Long,
            "double" => ColumnType::Double,
            "boolean" => ColumnType::Boolean,
            "date" => ColumnType::Date(None),
            _ => return None,
        })
    }

    /// Whether a text is a value of this type.
    pub(crate) fn check(&self, text: &[u8]) -> Result<(), Cause> {
        match self {
            ColumnType::Text => Ok(()),
            ColumnType::Long => parse_long(text).map(|_| ()),
            ColumnType::Double => is_number(text),
            ColumnType::Boolean => parse_boolean(text).map(|_| ()),
            ColumnType::Date(None) => parse_date(text).map(|_| ()),
            ColumnType::Date(Some(pattern)) => parse_date_by(pattern, text).map(|_| ()),
        }
    }

    /// The Arrow field for a column of this type.
    pub(crate) fn field(&self, name: &str) -> Field {
        let data_type = match self {
            ColumnType::Double => return number_field(name),
            ColumnType::Text => DataType::Utf8,
            ColumnType::Long => DataType::Int64,
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::Date(pattern) => {
                let zone = pattern.as_ref().filter(|pattern| pattern.has_zone()).map(|_| "UTC".into());
                DataType::Timestamp(TimeUnit::Microsecond, zone)
            }
        };
        Field::new(name, data_type, true)
    }
}

/// `true` or `false`, in any case.
pub(crate) fn parse_boolean(text: &[u8]) -> Result<bool, Cause> {
    match text {
        text if text.eq_ignore_ascii_case(b"true") => Ok(true),
        text if text.eq_ignore_ascii_case(b"false") => Ok(false),
        [] => Err("is empty, which is neither true nor false; set nullFormat to \"\" if it means NULL".into()),
        _ => Err("is neither true nor false".into()),
    }
}

#[cfg(test)]
mod tests;

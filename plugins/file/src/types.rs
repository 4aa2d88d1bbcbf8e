//! The types that a column of a text file can have, and how text becomes a value of each. Text that is no value is an
//! error with a cause, never a zero or NULL.
//! Not here: values to text (`render`), building columns (`columns`).

mod number;

use std::sync::Arc;

use arrow_schema::{DataType, Field, TimeUnit};
pub(crate) use transship_plugin_api::dates::Cause;
use transship_plugin_api::dates::parse_date_by;
use transship_plugin_api::fields::number_field;
use transship_plugin_api::{ColumnFormats, DatePattern};

pub(crate) use self::number::{is_number, parse_long};
use crate::bytes::ByteForm;

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
    /// `date`: a date with or without time.
    Date(Dates),
    /// `bytes`: as `byteEncoding` says.
    Bytes(ByteForm),
}

/// How the dates of a column are written.
#[derive(Debug, Clone)]
pub(crate) enum Dates {
    /// As the column's own format says.
    By(DatePattern),
    /// As the job's formats say, or in the usual forms.
    Usual(Arc<ColumnFormats>),
}

impl Dates {
    /// The date that a text is, in microseconds since 1970-01-01 00:00:00 (UTC, where the column's format has a zone).
    pub(crate) fn parse(&self, text: &[u8]) -> Result<i64, Cause> {
        match self {
            Dates::By(pattern) => parse_date_by(pattern, text),
            Dates::Usual(formats) => formats.parse_moment(text),
        }
    }
}

/// The words for types in a job file.
pub(crate) const TYPE_NAMES: &[&str] = &["string", "long", "double", "boolean", "date", "bytes"];

impl ColumnType {
    /// The type with this name, in any case, and these dates and bytes.
    pub(crate) fn from_name(name: &str, dates: Dates, bytes: ByteForm) -> Option<ColumnType> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "string" => ColumnType::Text,
            "long" => ColumnType::Long,
            "double" => ColumnType::Double,
            "boolean" => ColumnType::Boolean,
            "date" => ColumnType::Date(dates),
            "bytes" => ColumnType::Bytes(bytes),
            _ => return None,
        })
    }

    /// Whether this name is that of the type whose columns may have a format.
    pub(crate) fn is_date(name: &str) -> bool {
        name.trim().eq_ignore_ascii_case("date")
    }

    /// Whether a text is a value of this type.
    pub(crate) fn check(&self, text: &[u8]) -> Result<(), Cause> {
        match self {
            ColumnType::Text => Ok(()),
            ColumnType::Long => parse_long(text).map(|_| ()),
            ColumnType::Double => is_number(text),
            ColumnType::Boolean => parse_boolean(text).map(|_| ()),
            ColumnType::Date(dates) => dates.parse(text).map(|_| ()),
            ColumnType::Bytes(form) => form.parse(text, &mut Vec::new()),
        }
    }

    /// The Arrow field for a column of this type.
    pub(crate) fn field(&self, name: &str) -> Field {
        let data_type = match self {
            ColumnType::Double => return number_field(name),
            ColumnType::Text => DataType::Utf8,
            ColumnType::Long => DataType::Int64,
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::Bytes(_) => DataType::Binary,
            ColumnType::Date(Dates::By(pattern)) if pattern.has_zone() => {
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
            }
            ColumnType::Date(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
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

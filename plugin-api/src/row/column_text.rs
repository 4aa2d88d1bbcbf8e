//! The values of a column as text for targets that hold nothing but text: what the field means, what the job file says of dates
//! and encodings, and numbers the way DataX writes them.
//! Not here: what a target makes of NULL, and of the characters in a text.

use arrow_schema::{DataType, Field};

use super::float::write_plain_float;
use super::meaning::Meaning;
use super::value::Value;
use crate::dates::{ColumnFormats, Zone};

/// Writes the values of one column as text: the one place that knows how each becomes one, for files, streams, transformers and
/// whatever else has columns of text. Floats have no exponent, dates the job's formats, bytes its encoding; lists and structs
/// are JSON. [`Value::write_text`] is for messages instead.
#[derive(Debug, Clone)]
pub struct ColumnText<'a> {
    meaning: Meaning,
    formats: &'a ColumnFormats,
    zone: Zone,
}

/// Bytes that are no text in the encoding of the job file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoText;

impl<'a> ColumnText<'a> {
    /// For the values of a field.
    pub fn new(field: &Field, formats: &'a ColumnFormats) -> ColumnText<'a> {
        let zone = match field.data_type() {
            DataType::Timestamp(_, Some(zone)) => formats.zone_of(zone),
            _ => Zone::UTC,
        };
        ColumnText { meaning: Meaning::of(field), formats, zone }
    }

    /// What the field says beyond its type.
    pub fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// Appends a value; nothing for NULL.
    ///
    /// # Errors
    /// Where the value is bytes, and these are no text. Nothing is appended then.
    #[inline]
    pub fn write(&self, value: Value<'_>, out: &mut String) -> Result<(), NoText> {
        // What is frequent is looked at once.
        match value {
            Value::Text(text) => out.push_str(text),
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Decimal { .. } => value.write_text(out),
            Value::Float64(float) => write_plain_float(out, float),
            Value::Float32(float) => write_plain_float(out, float),
            Value::Bytes(bytes) if !self.meaning.is_uuid() => {
                out.push_str(&self.formats.encoding().decode(bytes).ok_or(NoText)?);
            }
            Value::Date(_) | Value::Timestamp(_) | Value::Instant(_) if !self.meaning.has_infinity() => {
                value.write_dated(self.formats, &self.zone, out);
            }
            value => self.write_rare(value, out),
        }
        Ok(())
    }

    #[inline(never)]
    fn write_rare(&self, value: Value<'_>, out: &mut String) {
        if !self.meaning.write(&value, out) && !value.write_dated(self.formats, &self.zone, out) {
            value.write_text(out);
        }
    }
}

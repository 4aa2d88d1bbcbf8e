//! Records as lines of text, as DataX prints them.

use std::fmt::Write as _;

use transship_plugin_api::row::{Row, Value};
use transship_plugin_api::{DatePattern, Result};

use crate::config::DATE_FORMAT;

/// Writes records as lines: values with a delimiter between them.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    delimiter: String,
    datetime: DatePattern,
    date: DatePattern,
    time: DatePattern,
}

impl Lines {
    pub(crate) fn new(delimiter: &str) -> Result<Lines> {
        Ok(Lines {
            delimiter: delimiter.into(),
            datetime: DatePattern::parse(DATE_FORMAT)?,
            date: DatePattern::parse("yyyy-MM-dd")?,
            time: DatePattern::parse("HH:mm:ss")?,
        })
    }

    /// Appends a record and the end of its line.
    pub(crate) fn push(&self, row: Row<'_, '_>, out: &mut String) {
        for (index, value) in row.values().enumerate() {
            if index > 0 {
                out.push_str(&self.delimiter);
            }
            self.push_value(value, out);
        }
        out.push('\n');
    }

    /// As DataX: instants in the zone that it is set to (here UTC), bytes as the text that they are. But what is finer than a
    /// second is shown where there is any, since it would be lost in silence.
    fn push_value(&self, value: Value<'_>, out: &mut String) {
        const MICROS_PER_DAY: i64 = 86_400_000_000;
        match value {
            Value::Null => out.push_str("null"),
            Value::Text(text) => out.push_str(text),
            Value::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
            Value::Float64(float) => push_float(out, float, float),
            Value::Float32(float) => push_float(out, float, float as f64),
            Value::Date(days) => self.date.format_into(days as i64 * MICROS_PER_DAY, out),
            Value::Time(micros) => {
                self.time.format_into(micros, out);
                push_fraction(out, micros);
            }
            Value::Timestamp(micros) | Value::Instant(micros) => {
                self.datetime.format_into(micros, out);
                push_fraction(out, micros);
            }
            other => other.write_text(out),
        }
    }
}

/// Appends the part of a second, if there is one: `.5`, `.000001`.
fn push_fraction(out: &mut String, micros: i64) {
    let fraction = micros.rem_euclid(1_000_000);
    if fraction > 0 {
        // Writing to a string cannot fail.
        let _ = write!(out, ".{fraction:06}");
        out.truncate(out.trim_end_matches('0').len());
    }
}

/// Appends a float as Java writes it, but never with an exponent: its shortest digits, at least one of them behind the
/// point where its size is from 0.001 to 10000000; and of smaller ones, at least two digits that count. `value` is the same
/// number, to look at its size.
fn push_float<F: std::fmt::Display + std::fmt::LowerExp>(out: &mut String, float: F, value: f64) {
    let start = out.len();
    let size = value.abs();
    // Writing to a string cannot fail.
    let _ = match value {
        _ if value == 0.0 => out.write_str("0.0"),
        _ if value.is_nan() => out.write_str("NaN"),
        _ if value.is_infinite() => out.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" }),
        _ => write!(out, "{float}"),
    };
    if value == 0.0 || !value.is_finite() || size >= 1e7 {
        return;
    }
    let written = &out[start..];
    if size >= 1e-3 && !written.contains('.') {
        out.push_str(".0");
    } else if size < 1e-3 && written.trim_start_matches(['-', '0', '.']).len() == 1 {
        out.push('0');
    }
}

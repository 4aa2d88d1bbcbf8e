//! Records as JSON. What JSON has no form for is refused with a cause; every digit of a number is kept.
//! Not here: JSON values to columns (`types`).

use arrow_schema::{DataType, Field, Schema};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use transship_plugin_api::fields::{is_json, is_number};
use transship_plugin_api::row::{Column, ColumnText, Row, Value};
use transship_plugin_api::{ColumnFormats, Error, Result};

/// Writes records as JSON objects, each in one line.
pub(crate) struct Render {
    columns: Vec<(usize, Cell)>,
    formats: ColumnFormats,
}

/// How the values of a column are written.
pub(crate) struct Cell {
    /// The column's name as JSON.
    key: String,
    field: Field,
    is_number: bool,
    is_json: bool,
}

impl Cell {
    pub(crate) fn of(field: &Field) -> Cell {
        Cell {
            key: Json::from(field.name().as_str()).to_string(),
            field: field.clone(),
            is_number: is_number(field),
            is_json: is_json(field),
        }
    }
}

impl Render {
    /// For these columns of the schema, or all of them.
    ///
    /// # Errors
    /// `Schema` if a column is not there.
    pub(crate) fn new(schema: &Schema, names: Option<&[String]>, formats: ColumnFormats) -> Result<Render> {
        let all: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let find = |name: &String| match schema.index_of(name) {
            Ok(index) => Ok((index, Cell::of(schema.field(index)))),
            Err(_) => Err(Error::schema(format!(
                "parameter.column names \"{name}\", which is not there; there are {}",
                all.join(", ")
            ))),
        };
        let columns = match names {
            Some(names) => names.iter().map(find).collect::<Result<_>>()?,
            None => schema.fields().iter().enumerate().map(|(index, field)| (index, Cell::of(field))).collect(),
        };
        Ok(Render { columns, formats })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// The column that has no form in JSON, and why. What was appended has to be cut off then.
    pub(crate) fn write(&self, row: Row<'_, '_>, out: &mut String) -> Result<(), (usize, String)> {
        out.push('{');
        for (number, (index, cell)) in self.columns.iter().enumerate() {
            if number > 0 {
                out.push(',');
            }
            out.push_str(&cell.key);
            out.push(':');
            cell.write(row.get(*index), &self.formats, out).map_err(|cause| (*index, cause))?;
        }
        out.push('}');
        Ok(())
    }
}

impl Cell {
    /// Appends a value.
    pub(crate) fn write(&self, value: Value<'_>, formats: &ColumnFormats, out: &mut String) -> Result<(), String> {
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
            Value::Float64(float) => out.push_str(&finite(serde_json::Number::from_f64(float))?),
            Value::Float32(float) if float.is_finite() => {
                out.push_str(&serde_json::to_string(&float).unwrap_or_default())
            }
            Value::Float32(_) => return Err(NO_NUMBER.into()),
            Value::Int(_) | Value::UInt(_) | Value::Decimal { .. } | Value::Decimal256 { .. } => value.write_text(out),
            Value::Text(text) if self.is_number => out.push_str(&json_number(text).ok_or(NO_NUMBER)?),
            Value::Text(text) if self.is_json => push_json(text, out)?,
            Value::Text(text) => push_quoted(text, out),
            value => self.write_other(value, formats, out),
        }
        Ok(())
    }

    fn write_other(&self, value: Value<'_>, formats: &ColumnFormats, out: &mut String) {
        let mut text = String::new();
        let column = ColumnText::new(&self.field, formats);
        if column.meaning().write(&value, &mut text) {
            return push_quoted(&text, out);
        }
        if let Value::Bytes(bytes) = value {
            return push_quoted(&BASE64_STANDARD.encode(bytes), out);
        }
        // Dates have the job's format if it names one, and are ISO 8601 otherwise.
        if !formats.says_how_dates_are_written() || column.write(value, &mut text).is_err() {
            text.clear();
            value.write_text(&mut text);
        }
        let is_nested = matches!(
            self.field.data_type(),
            DataType::List(_)
                | DataType::LargeList(_)
                | DataType::FixedSizeList(..)
                | DataType::Struct(_)
                | DataType::Map(..)
        );
        if !is_nested || push_json(&text, out).is_err() {
            push_quoted(&text, out);
        }
    }

    /// The value in a row as JSON.
    pub(crate) fn json(&self, column: &Column<'_>, row: usize, formats: &ColumnFormats) -> Result<Json, String> {
        let mut text = String::new();
        self.write(column.get(row), formats, &mut text)?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }
}

const NO_NUMBER: &str = "is no number that JSON has: it knows neither NaN nor infinity";

fn finite(number: Option<serde_json::Number>) -> Result<String, String> {
    number.map(|number| number.to_string()).ok_or_else(|| NO_NUMBER.into())
}

/// A number text as JSON writes it: without a plus, zeros in front, or a point at an end.
fn json_number(text: &str) -> Option<String> {
    let is_json = |text: &str| {
        text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && serde_json::from_str::<&RawValue>(text).is_ok()
    };
    if is_json(text) {
        return Some(text.into());
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = digits.find(['e', 'E']).map_or((digits, ""), |at| digits.split_at(at));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let before = match before.trim_start_matches('0') {
        "" => "0",
        before => before,
    };
    let point = if after.is_empty() { "" } else { "." };
    Some(format!("{sign}{before}{point}{after}{exponent}")).filter(|number| is_json(number))
}

/// JSON as it is, unless it has several lines.
fn push_json(text: &str, out: &mut String) -> Result<(), String> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?;
    if !raw.get().contains(['\n', '\r']) {
        out.push_str(raw.get());
        return Ok(());
    }
    let value: Json = serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?;
    out.push_str(&value.to_string());
    Ok(())
}

fn push_quoted(text: &str, out: &mut String) {
    out.push_str(&Json::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_become_those_of_json() {
        let long = "123456789012345678901234567890.123456789";
        let numbers = [
            (long, long),
            ("1E400", "1E400"),
            ("+5", "5"),
            ("007.50", "7.50"),
            (".5", "0.5"),
            ("-5.", "-5"),
            ("-0", "-0"),
            ("00", "0"),
            ("+.5e3", "0.5e3"),
        ];
        for (text, expected) in numbers {
            assert_eq!(json_number(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["NaN", "Infinity", "-inf", "", ".", "-", "1,5", "true", "\"5\"", "1 2"] {
            assert_eq!(json_number(text), None, "{text}");
        }
    }

    #[test]
    fn json_comes_into_one_line() {
        let mut out = String::new();
        push_json("{\"a\": 1.50}", &mut out).unwrap();
        push_json("{\n\"b\":\r\n 1.50}", &mut out).unwrap();
        assert_eq!(out, "{\"a\": 1.50}{\"b\":1.50}");
        assert!(push_json("{a: 1}", &mut out).is_err());
    }
}

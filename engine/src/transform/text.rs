//! A column's cells as the texts that DataX's transformers see: numbers with all their digits, dates in the job's formats,
//! bytes decoded, lists and structs as JSON.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use transship_plugin_api::dates::Zone;
use transship_plugin_api::row::{Column, Value, write_plain_float};
use transship_plugin_api::{ColumnFormats, Result};

use super::build::TextBuilder;
use super::cause::{Cause, DirtyRows};

/// The texts of a column, and the rows whose cells are none, with the reason: they are empty among the texts. A column of texts
/// is used as it is.
///
/// # Errors
/// Where the texts are too long to be in one column.
pub(super) fn texts_of<'a>(column: &'a ArrayRef, formats: &ColumnFormats) -> Result<(Cow<'a, StringArray>, DirtyRows)> {
    if let Some(texts) = column.as_string_opt::<i32>() {
        return Ok((Cow::Borrowed(texts), Vec::new()));
    }
    const USUAL_LENGTH: usize = 12;
    let mut texts = TextBuilder::new(column.len(), column.len() * USUAL_LENGTH);
    let mut dirty = Vec::new();
    let cells = Column::new(column.as_ref());
    let zone = match column.data_type() {
        DataType::Timestamp(_, Some(zone)) => formats.zone_of(zone),
        _ => Zone::UTC,
    };
    for row in 0..column.len() {
        if let Err(cause) = write(cells.get(row), formats, &zone, &mut texts.text) {
            texts.take_back();
            dirty.push((row, cause));
        }
        texts.end()?;
    }
    Ok((Cow::Owned(texts.finish(column.logical_nulls())?), dirty))
}

/// Appends a cell; nothing for NULL.
fn write(value: Value<'_>, formats: &ColumnFormats, zone: &Zone, out: &mut String) -> Result<(), Cause> {
    match value {
        Value::Bytes(bytes) => {
            let encoding = formats.encoding();
            out.push_str(&encoding.decode(bytes).ok_or(Cause::NoText(encoding))?);
        }
        Value::Float64(float) => write_plain_float(out, float, float),
        Value::Float32(float) => write_plain_float(out, float, f64::from(float)),
        other if other.write_dated(formats, zone, out) => {}
        other => other.write_text(out),
    }
    Ok(())
}

//! A column's cells as the texts that DataX's transformers see: numbers with all their digits, dates in the job's formats,
//! bytes decoded, UUIDs with hyphens, lists and structs as JSON.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::Field;
use transship_plugin_api::row::{Column, ColumnText};
use transship_plugin_api::{ColumnFormats, Result};

use super::build::TextBuilder;
use super::cause::{Cause, DirtyRows};

/// The texts of a column, and the rows whose cells are none, with the reason: they are empty among the texts. A column of texts
/// is used as it is.
///
/// # Errors
/// Where the texts are too long to be in one column.
pub(super) fn texts_of<'a>(
    field: &Field,
    column: &'a ArrayRef,
    formats: &ColumnFormats,
) -> Result<(Cow<'a, StringArray>, DirtyRows)> {
    if let Some(texts) = column.as_string_opt::<i32>() {
        return Ok((Cow::Borrowed(texts), Vec::new()));
    }
    const USUAL_LENGTH: usize = 12;
    let mut texts = TextBuilder::new(column.len(), column.len() * USUAL_LENGTH);
    let mut dirty = Vec::new();
    let cells = Column::new(column.as_ref());
    let text = ColumnText::new(field, formats);
    for row in 0..column.len() {
        if text.write(cells.get(row), &mut texts.text).is_err() {
            texts.take_back();
            dirty.push((row, Cause::NoText(formats.encoding())));
        }
        texts.end()?;
    }
    Ok((Cow::Owned(texts.finish(column.logical_nulls())?), dirty))
}

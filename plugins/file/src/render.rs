//! Values to text, a column at a time: whole numbers and decimals exactly, floats as DataX writes them, dates and times
//! with the parts of a second that they have.
//! Not here: what stands between the texts (`format`), text to values (`types`).

use std::borrow::Cow;

use arrow_array::{Array, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::Field;
use transship_plugin_api::row::{Column, ColumnText, Value};
use transship_plugin_api::{Error, Result};

use crate::config::TextRules;

/// A column as text: the texts of its rows one after another, and where each ends.
pub(crate) struct Cells<'a> {
    /// One more than there are rows.
    pub offsets: Cow<'a, [i32]>,
    pub bytes: Cow<'a, [u8]>,
    pub nulls: Option<NullBuffer>,
    /// Rows whose value has no text, in order, and why.
    pub unwritable: Vec<(usize, &'static str)>,
}

impl Cells<'_> {
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// All the texts.
    pub(crate) fn all_bytes(&self) -> &[u8] {
        match (self.offsets.first(), self.offsets.last()) {
            (Some(first), Some(last)) => &self.bytes[*first as usize..*last as usize],
            _ => &[],
        }
    }

    /// The text of a row.
    #[inline]
    pub(crate) fn text(&self, row: usize) -> &[u8] {
        &self.bytes[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

/// The texts of a column.
pub(crate) fn render<'a>(field: &Field, array: &'a dyn Array, rules: &TextRules) -> Result<Cells<'a>> {
    if let Some(texts) = array.as_any().downcast_ref::<StringArray>() {
        return Ok(Cells {
            offsets: Cow::Borrowed(texts.value_offsets()),
            bytes: Cow::Borrowed(texts.value_data()),
            nulls: texts.nulls().filter(|nulls| nulls.null_count() > 0).cloned(),
            unwritable: Vec::new(),
        });
    }
    let mut cells =
        Rendering { offsets: Vec::with_capacity(array.len() + 1), text: String::new(), unwritable: Vec::new() };
    cells.offsets.push(0);
    cells.all(field, array, rules)?;
    let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    Ok(Cells {
        offsets: Cow::Owned(cells.offsets),
        bytes: Cow::Owned(cells.text.into_bytes()),
        nulls,
        unwritable: cells.unwritable,
    })
}

/// Texts under construction.
struct Rendering {
    offsets: Vec<i32>,
    text: String,
    unwritable: Vec<(usize, &'static str)>,
}

impl Rendering {
    fn all(&mut self, field: &Field, array: &dyn Array, rules: &TextRules) -> Result<()> {
        let text = ColumnText::new(field, &rules.formats);
        let column = Column::new(array);
        for row in 0..array.len() {
            self.one(column.get(row), row, rules, &text);
            let end = i32::try_from(self.text.len()).map_err(|_| {
                Error::unsupported(
                    "the texts of a column of one batch are larger than 2 GiB; set a smaller byte capacity",
                )
            })?;
            self.offsets.push(end);
        }
        Ok(())
    }

    #[inline]
    fn one(&mut self, value: Value<'_>, row: usize, rules: &TextRules, text: &ColumnText<'_>) {
        let is_text = match value {
            Value::Int(number) => {
                self.text.push_str(itoa::Buffer::new().format(number));
                true
            }
            Value::UInt(number) => {
                self.text.push_str(itoa::Buffer::new().format(number));
                true
            }
            Value::Bytes(bytes) if !text.meaning().is_uuid() => rules.bytes.write(bytes, &mut self.text),
            value => text.write(value, &mut self.text).is_ok(),
        };
        if !is_text {
            self.unwritable.push((row, NO_TEXT));
        }
    }
}

const NO_TEXT: &str = "has bytes that are no text in the encoding that common.column.encoding names, or else UTF-8; \
                       set byteEncoding to base64 or hex";

#[cfg(test)]
mod tests;

//! Values to text, a column at a time: whole numbers and decimals exactly, floats as DataX writes them, dates and times
//! with the parts of a second that they have.
//! Not here: what stands between the texts (`format`), text to values (`types`).

mod base64;

use std::borrow::Cow;

use arrow_array::{Array, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use transship_plugin_api::dates::Zone;
use transship_plugin_api::row::{Column, Value, write_plain_float};
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
pub(crate) fn render<'a>(array: &'a dyn Array, rules: &TextRules) -> Result<Cells<'a>> {
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
    cells.all(array, rules)?;
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
    fn all(&mut self, array: &dyn Array, rules: &TextRules) -> Result<()> {
        let zone = match array.data_type() {
            DataType::Timestamp(_, Some(zone)) => rules.formats.zone_of(zone),
            _ => Zone::UTC,
        };
        let column = Column::new(array);
        for row in 0..array.len() {
            self.one(column.get(row), row, rules, &zone);
            let end = i32::try_from(self.text.len()).map_err(|_| {
                Error::unsupported(
                    "the texts of a column of one batch are larger than 2 GiB; set a smaller byte capacity",
                )
            })?;
            self.offsets.push(end);
        }
        Ok(())
    }

    fn one(&mut self, value: Value<'_>, row: usize, rules: &TextRules, zone: &Zone) {
        match value {
            Value::Int(number) => self.text.push_str(itoa::Buffer::new().format(number)),
            Value::UInt(number) => self.text.push_str(itoa::Buffer::new().format(number)),
            Value::Float32(number) => write_plain_float(&mut self.text, number, f64::from(number)),
            Value::Float64(number) => write_plain_float(&mut self.text, number, number),
            Value::Bytes(bytes) if rules.base64 => base64::write(bytes, &mut self.text),
            Value::Bytes(bytes) => match rules.formats.encoding().decode(bytes) {
                Some(text) => self.text.push_str(&text),
                None => self.unwritable.push((row, NO_TEXT)),
            },
            other if other.write_dated(&rules.formats, zone, &mut self.text) => {}
            other => other.write_text(&mut self.text),
        }
    }
}

const NO_TEXT: &str = "has bytes that are no text in the encoding that common.column.encoding names, or else UTF-8; \
                       set byteEncoding to base64";

#[cfg(test)]
mod tests;

//! Builds a column of texts in one run of bytes, value by value.

use arrow_array::StringArray;
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use transship_plugin_api::{Error, Result};

/// The largest room that is set aside before it is known to be needed.
const MOST_RESERVED: usize = 16 << 20;

/// A column of texts in the making: a value is appended to `text` in pieces, then ended.
pub(super) struct TextBuilder {
    /// All values so far, one behind the other, and the pieces of the next.
    pub text: String,
    offsets: Vec<i32>,
}

impl TextBuilder {
    /// For so many values, which will have so many bytes altogether, more or less.
    pub(super) fn new(values: usize, bytes: usize) -> TextBuilder {
        let mut offsets = Vec::with_capacity(values + 1);
        offsets.push(0);
        TextBuilder { text: String::with_capacity(bytes.min(MOST_RESERVED)), offsets }
    }

    /// Takes back the pieces of the value that has not ended.
    pub(super) fn take_back(&mut self) {
        self.text.truncate(self.offsets.last().map_or(0, |end| *end as usize));
    }

    /// Ends a value.
    ///
    /// # Errors
    /// Where the column grows beyond what Arrow's texts can hold.
    #[inline]
    pub(super) fn end(&mut self) -> Result<()> {
        let end = i32::try_from(self.text.len()).map_err(|_| {
            let records = self.offsets.len();
            Error::data(format!("the texts of {records} records are more than 2 GiB: make them shorter"))
        })?;
        self.offsets.push(end);
        Ok(())
    }

    /// The column, with NULL where the bit is not set.
    pub(super) fn finish(self, nulls: Option<NullBuffer>) -> Result<StringArray> {
        let offsets = OffsetBuffer::new(self.offsets.into());
        Ok(StringArray::try_new(offsets, Buffer::from_vec(self.text.into_bytes()), nulls)?)
    }
}

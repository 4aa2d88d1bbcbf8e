//! Records as lines of text, as DataX prints them.

use std::ops::Range;

use transship_plugin_api::row::{ColumnText, Row, Rows, Value};
use transship_plugin_api::{Batch, ColumnFormats, Host, Result};

/// Writes records as lines: values with a delimiter between them, dates and bytes as the job's formats say.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    delimiter: String,
    formats: ColumnFormats,
}

impl Lines {
    pub(crate) fn new(delimiter: &str, formats: ColumnFormats) -> Lines {
        Lines { delimiter: delimiter.into(), formats }
    }

    /// Appends these records of a batch, each with the end of its line; those that have no text are dirty. How many it wrote.
    pub(crate) fn push(&self, batch: &mut Batch, rows: Range<usize>, host: &dyn Host, out: &mut String) -> Result<u64> {
        let records = batch.records()?.clone();
        let fields = records.schema_ref().fields().iter();
        let texts: Vec<ColumnText<'_>> = fields.map(|field| ColumnText::new(field, &self.formats)).collect();
        let mut written = 0;
        for row in Rows::new(&records).iter().skip(rows.start).take(rows.len()) {
            let start = out.len();
            match self.push_row(row, &texts, out) {
                Ok(()) => written += 1,
                Err(column) => {
                    out.truncate(start);
                    let cause = format!(
                        "has bytes that are no {} text; common.column.encoding says how bytes become text",
                        self.formats.encoding().name()
                    );
                    batch.dirty(host, row.index(), Some(column), &cause)?;
                }
            }
        }
        Ok(written)
    }

    /// Appends a record, or tells the column that has no text.
    fn push_row(&self, row: Row<'_, '_>, texts: &[ColumnText<'_>], out: &mut String) -> Result<(), usize> {
        for (column, (value, text)) in row.values().zip(texts).enumerate() {
            if column > 0 {
                out.push_str(&self.delimiter);
            }
            match value {
                Value::Null => out.push_str("null"),
                value => text.write(value, out).map_err(|_| column)?,
            }
        }
        out.push('\n');
        Ok(())
    }
}

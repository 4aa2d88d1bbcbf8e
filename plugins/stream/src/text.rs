//! Records as lines of text, as DataX prints them.

use std::ops::Range;

use arrow_schema::{DataType, Schema};
use transship_plugin_api::dates::Zone;
use transship_plugin_api::row::{Row, Rows, Value, write_plain_float};
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
        let zones = self.zones(records.schema_ref());
        let mut written = 0;
        for row in Rows::new(&records).iter().skip(rows.start).take(rows.len()) {
            let start = out.len();
            match self.push_row(row, &zones, out) {
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

    /// The zone by whose clock each column's instants are shown.
    fn zones(&self, schema: &Schema) -> Vec<Zone> {
        let zone = |data_type: &DataType| match data_type {
            DataType::Timestamp(_, Some(zone)) => self.formats.zone_of(zone),
            _ => Zone::UTC,
        };
        schema.fields().iter().map(|field| zone(field.data_type())).collect()
    }

    /// Appends a record, or tells the column that has no text.
    fn push_row(&self, row: Row<'_, '_>, zones: &[Zone], out: &mut String) -> Result<(), usize> {
        for (column, (value, zone)) in row.values().zip(zones).enumerate() {
            if column > 0 {
                out.push_str(&self.delimiter);
            }
            match value {
                Value::Null => out.push_str("null"),
                Value::Text(text) => out.push_str(text),
                Value::Bytes(bytes) => out.push_str(&self.formats.encoding().decode(bytes).ok_or(column)?),
                Value::Float64(float) => write_plain_float(out, float, float),
                Value::Float32(float) => write_plain_float(out, float, float as f64),
                other if other.write_dated(&self.formats, zone, out) => {}
                other => other.write_text(out),
            }
        }
        out.push('\n');
        Ok(())
    }
}

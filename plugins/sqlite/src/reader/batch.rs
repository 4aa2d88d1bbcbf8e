//! Rows of SQLite into a batch. A row with a cell that does not fit its column is dirty, and none of it is in the batch.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::{Map, json};
use transship_plugin_api::row::RowBuilder;
use transship_plugin_api::{Batch, DirtyRecord, Error, Origin, Result};

use super::cells::{self, Misfit};
use super::shape::type_name;
use super::task::Reading;
use crate::config::quote;
use crate::types::Kind;

/// Rows of text that a batch may hold at most: Arrow counts the bytes of a column with 31 bits, and one more record may come.
const MOST_BYTES: usize = 1 << 30;

/// A batch that rows are added to.
pub(super) struct BatchInTheMaking<'a> {
    reading: &'a Reading,
    rows: RowBuilder,
    /// The positions of the rows in the batch.
    positions: Vec<u64>,
    /// The rowid of the last row, where rowids are read.
    last_rowid: Option<i64>,
    /// How many rows have been read, those that were dirty included.
    seen: u64,
    most_bytes: usize,
    scratch: String,
}

impl<'a> BatchInTheMaking<'a> {
    pub(super) fn new(reading: &'a Reading) -> Result<BatchInTheMaking<'a>> {
        let options = &reading.options;
        Ok(BatchInTheMaking {
            reading,
            rows: RowBuilder::new(reading.schema.clone(), options.batch_records.min(8192))?,
            positions: Vec::new(),
            last_rowid: None,
            seen: 0,
            most_bytes: options.batch_bytes.min(MOST_BYTES),
            scratch: String::new(),
        })
    }

    /// Adds a row, or reports it as dirty.
    pub(super) fn take(&mut self, row: &Row<'_>) -> Result<()> {
        let position = self.position(row)?;
        for (index, column) in self.reading.shape.columns.iter().enumerate() {
            let cell = row.get_ref(index).map_err(unreachable_column)?;
            match cells::value(column.kind, cell, &mut self.scratch) {
                Ok(value) => self.rows.set(index, value)?,
                Err(Misfit) => {
                    self.rows.drop_row();
                    return self.misfit(row, position, index, cell);
                }
            }
        }
        if self.rows.row_bytes() > self.reading.options.max_record_bytes {
            let bytes = self.rows.row_bytes();
            self.rows.drop_row();
            let most = self.reading.options.max_record_bytes;
            let cause = format!("the record has {bytes} bytes, and {most} is the most (maxRecordBytes)");
            let record = DirtyRecord { position: Some(position), cause: &cause, ..DirtyRecord::default() };
            return self.reading.host.dirty(&record);
        }
        self.rows.end_row()?;
        self.positions.push(position);
        Ok(())
    }

    /// The rowid, or which row of the split it is.
    fn position(&mut self, row: &Row<'_>) -> Result<u64> {
        let number = self.seen;
        self.seen += 1;
        if !self.reading.select.rowids {
            return Ok(number);
        }
        match row.get_ref(self.reading.shape.columns.len()).map_err(unreachable_column)? {
            ValueRef::Integer(rowid) => {
                self.last_rowid = Some(rowid);
                // There was no negative one when the table was split.
                Ok(u64::try_from(rowid).unwrap_or(0))
            }
            other => Err(Error::internal(format!("a rowid is {}", cells::storage(other)))),
        }
    }

    fn misfit(&self, row: &Row<'_>, position: u64, index: usize, cell: ValueRef<'_>) -> Result<()> {
        let columns = &self.reading.shape.columns;
        let column = &columns[index];
        let mut value = String::new();
        cells::write(&mut value, cell);
        let cause = format!(
            "{} does not fit a column {} that is read as {}: {}",
            cells::storage(cell),
            type_name(&column.declared),
            self.reading.schema.field(index).data_type(),
            way_out(&column.name, column.kind, cell),
        );
        let mut record = Map::new();
        for (index, column) in columns.iter().enumerate() {
            let name = if record.contains_key(&column.name) {
                format!("{} ({index})", column.name)
            } else {
                column.name.clone()
            };
            record.insert(name, cells::json(row.get_ref(index).map_err(unreachable_column)?));
        }
        self.reading.host.dirty(&DirtyRecord {
            position: Some(position),
            column: Some(&column.name),
            value: Some(&value),
            cause: &cause,
            record: Some(&serde_json::Value::Object(record).to_string()),
            place: None,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= self.reading.options.batch_records
            || self.rows.bytes() >= self.most_bytes && !self.is_empty()
    }

    /// Takes the rows out, and goes on with an empty batch.
    pub(super) fn finish(&mut self) -> Result<Batch> {
        let positions = std::mem::take(&mut self.positions);
        let first = positions.first().copied().unwrap_or_default();
        let follow_each_other = positions.iter().zip(first..).all(|(position, expected)| *position == expected);
        let origin = Origin { first, positions: (!follow_each_other).then(|| positions.into()) };
        let mut batch = self.rows.finish_batch(origin)?;
        if self.reading.select.ordered {
            batch.position = self.last_rowid.map(|rowid| json!({ "rowid": rowid }));
            batch.read_share = self.last_rowid.and_then(|rowid| self.reading.spread.share(rowid));
        }
        Ok(batch)
    }
}

/// What a person can do about a cell that does not fit: give the column the type that takes it.
fn way_out(column: &str, kind: Kind, cell: ValueRef<'_>) -> String {
    let is_text = matches!(cell, ValueRef::Text(text) if std::str::from_utf8(text).is_ok());
    let word = match cell {
        _ if is_text => "text",
        ValueRef::Blob(_) | ValueRef::Text(_) => "binary",
        // No type takes numbers and blobs: the database has to make bytes of both.
        _ if kind == Kind::Binary => return format!("cast({} as blob) in its place takes it", quote(column)),
        _ => "text",
    };
    format!("\"types\": {{{}: \"{word}\"}} takes it", json!(column))
}

fn unreachable_column(error: rusqlite::Error) -> Error {
    Error::internal(format!("a column of the statement cannot be reached: {error}"))
}

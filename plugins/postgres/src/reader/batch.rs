//! Rows of the server into a batch. A row with a cell that cannot be represented is dirty, and none of it is in the batch.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use serde_json::{Map, Value};
use transship_plugin_api::row::cell_to_text;
use transship_plugin_api::{Batch, DirtyRecord, HostRef, Origin, ReadOptions, Result};

use super::shape::Shape;
use crate::binary::columns::{Cause, ColumnInTheMaking};
use crate::binary::rows::Rows;
use crate::place::Target;
use crate::text::render;
use crate::types::Kind;

/// Bytes that a batch may hold at most: Arrow counts the bytes of a column with 31 bits, and one more row may come.
const MOST_BYTES: usize = 1 << 30;
/// Bytes of a cell that stays where the client has put it.
const LARGE: usize = 1 << 20;
/// Rows that a new batch has room for from the start.
const USUAL_ROWS: usize = 8_192;

/// A batch that rows are added to.
pub(super) struct BatchInTheMaking {
    kinds: Vec<Kind>,
    schema: SchemaRef,
    columns: Vec<ColumnInTheMaking>,
    host: HostRef,
    rows: usize,
    bytes: usize,
    /// The positions of the rows, once they do not simply follow each other.
    positions: Option<Vec<u64>>,
    /// The position of the first row.
    first: u64,
    /// How many rows have been read, those that were dirty included.
    seen: u64,
    most_rows: usize,
    most_bytes: usize,
    most_record_bytes: usize,
}

impl BatchInTheMaking {
    pub(super) fn new(shape: &Shape, schema: SchemaRef, options: &ReadOptions, host: HostRef) -> BatchInTheMaking {
        let kinds: Vec<_> = shape.columns.iter().map(|column| column.kind).collect();
        let room = options.batch_records.min(USUAL_ROWS);
        BatchInTheMaking {
            columns: kinds.iter().map(|kind| ColumnInTheMaking::new(*kind, room)).collect(),
            kinds,
            schema,
            host,
            rows: 0,
            bytes: 0,
            positions: None,
            first: 0,
            seen: 0,
            most_rows: options.batch_records,
            most_bytes: options.batch_bytes.min(MOST_BYTES),
            most_record_bytes: options.max_record_bytes,
        }
    }

    pub(super) fn columns(&self) -> usize {
        self.kinds.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= self.most_rows || self.bytes >= self.most_bytes
    }

    /// Adds the row that was found last, or reports it as dirty.
    #[inline]
    pub(super) fn take(&mut self, rows: &Rows) -> Result<()> {
        let position = self.seen;
        self.seen += 1;
        // Before anything is copied.
        if rows.row_bytes() > self.most_record_bytes {
            return self.too_large(position, rows.row_bytes());
        }
        let mut problem = None;
        for (index, (column, cell)) in self.columns.iter_mut().zip(rows.cells()).enumerate() {
            if cell.is_some_and(|cell| cell.len() >= LARGE && column.share(&rows.share(cell))) {
                continue;
            }
            if let Err(cause) = column.push(cell) {
                problem = Some((index, cause));
                break;
            }
        }
        if let Some((index, cause)) = problem {
            self.columns.iter_mut().for_each(|column| column.truncate(self.rows));
            return self.misfit(rows, position, index, cause);
        }
        match &mut self.positions {
            Some(positions) => positions.push(position),
            None if self.rows == 0 => self.first = position,
            None if self.first + self.rows as u64 != position => {
                self.positions = Some((self.first..self.first + self.rows as u64).chain([position]).collect());
            }
            None => {}
        }
        self.rows += 1;
        self.bytes += rows.row_bytes();
        Ok(())
    }

    /// Takes the rows out, and goes on with an empty batch. `None` if there are none.
    pub(super) fn finish(&mut self) -> Result<Option<Batch>> {
        let broken = self.rows_without_text();
        let arrays = self.columns.iter_mut().map(|column| {
            if !broken.is_empty() {
                column.replace_what_is_no_text();
            }
            column.finish()
        });
        let records = RecordBatch::try_new(self.schema.clone(), arrays.collect::<Result<_>>()?)?;
        let origin = match self.positions.take() {
            Some(positions) => Origin { first: positions[0], positions: Some(positions.into()) },
            None => Origin::from(self.first),
        };
        (self.rows, self.bytes) = (0, 0);
        let (records, origin) =
            if broken.is_empty() { (records, origin) } else { self.leave_out(&records, &origin, &broken)? };
        Ok((records.num_rows() > 0).then(|| Batch::measured(records, origin)))
    }

    /// Rows with a text that is none, each with the column and the bytes.
    fn rows_without_text(&self) -> Vec<(usize, usize, Vec<u8>)> {
        let columns = self.columns.iter().enumerate().filter(|(index, _)| is_text(self.kinds[*index]));
        let mut broken: Vec<_> = columns
            .flat_map(|(index, column)| {
                column.rows_without_text().into_iter().map(move |row| (row, index, column.bytes(row).to_vec()))
            })
            .collect();
        broken.sort_unstable();
        broken.dedup_by_key(|(row, _, _)| *row);
        broken
    }

    fn leave_out(
        &self,
        records: &RecordBatch,
        origin: &Origin,
        broken: &[(usize, usize, Vec<u8>)],
    ) -> Result<(RecordBatch, Origin)> {
        let mut kept = vec![true; records.num_rows()];
        for (row, column, bytes) in broken {
            kept[*row] = false;
            let record = transship_plugin_api::row::record_to_json(records, *row).to_string();
            self.host.dirty(&DirtyRecord {
                position: Some(origin.position(*row)),
                column: Some(self.schema.field(*column).name()),
                value: Some(&hexadecimal(bytes)),
                cause: "the text is not UTF-8: the database has no encoding (SQL_ASCII), so the server cannot convert it",
                record: Some(&record),
                place: None,
            })?;
        }
        let rows = kept.iter().enumerate().filter(|(_, kept)| **kept).map(|(row, _)| row);
        Ok((filter_record_batch(records, &BooleanArray::from(kept.clone()))?, origin.take(rows)))
    }

    fn too_large(&self, position: u64, bytes: usize) -> Result<()> {
        let most = self.most_record_bytes;
        let cause = format!("the record has {bytes} bytes, and {most} is the most (maxRecordBytes)");
        self.host.dirty(&DirtyRecord { position: Some(position), cause: &cause, ..DirtyRecord::default() })
    }

    fn misfit(&self, rows: &Rows, position: u64, index: usize, cause: Cause) -> Result<()> {
        let mut record = Map::new();
        let mut value = None;
        for (at, cell) in rows.cells().enumerate() {
            let name = self.schema.field(at).name();
            let name = if record.contains_key(name) { format!("{name} ({at})") } else { name.clone() };
            let text = cell.map(|cell| shown(self.kinds[at], cell));
            if at == index {
                value = text.clone();
            }
            record.insert(name, text.map_or(Value::Null, Value::String));
        }
        self.host.dirty(&DirtyRecord {
            position: Some(position),
            column: Some(self.schema.field(index).name()),
            value: value.as_deref(),
            cause,
            record: Some(&Value::Object(record).to_string()),
            place: None,
        })
    }
}

fn is_text(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Json | Kind::Jsonb | Kind::AsText)
}

/// A cell for people, also one that does not fit its column.
fn shown(kind: Kind, cell: &[u8]) -> String {
    let mut column = ColumnInTheMaking::new(kind, 1);
    if column.push(Some(cell)).is_ok()
        && column.rows_without_text().is_empty()
        && let Ok(array) = column.finish()
        && let Some(text) = cell_to_text(array.as_ref(), 0)
    {
        return text;
    }
    // What the record cannot hold the server still could.
    let target = match kind {
        Kind::Decimal { .. } | Kind::LongDecimal { .. } => Target::Numeric { limit: None },
        Kind::Timestamp => Target::Timestamp { digits: 6 },
        Kind::Instant => Target::Instant { digits: 6 },
        Kind::Interval => Target::Interval { digits: 6 },
        _ => return hexadecimal(cell),
    };
    match render::cell(target, cell) {
        Ok(text) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => hexadecimal(cell),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    format!("\\x{}", digits.collect::<String>())
}

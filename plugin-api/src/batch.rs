//! A batch of records as it travels: the columns, their size in bytes, and where they came from.
//! Not here: how columns cross the C boundary (`ffi::arrow`).

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_data::ArrayData;
use arrow_schema::{DataType, SchemaRef};
use serde_json::Value;

use crate::error::Result;
use crate::ffi::arrow::ForeignArray;
use crate::host::{DirtyRecord, Host};

/// Records of one schema, in columns. Cheap to move: the columns are shared, never copied.
#[derive(Debug)]
pub struct Batch {
    columns: Columns,
    /// The size of the records in bytes, told once by whoever built the batch.
    pub bytes: usize,
    /// Where the records came from.
    pub origin: Origin,
    /// Where the source could go on after this batch, where the reader can resume inside a split.
    pub position: Option<Value>,
    /// How much of its split has been read with this batch, from 0 to 1, where the reader knows better than by the number of records
    /// or bytes that the split was said to have. For progress only: an estimate will do.
    pub read_share: Option<f64>,
}

/// The columns, or a struct array from the other side of the C boundary that nobody has needed to look into yet.
#[derive(Debug)]
enum Columns {
    Native(RecordBatch),
    Foreign(ForeignArray),
}

/// Where the records of a batch came from: the place of the first in its split and, where the others do not simply follow
/// it, of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The position of the first record, in the split's unit (see [`Split::unit`](crate::reader::Split)).
    pub first: u64,
    /// The position of each record, where they are not `first`, `first + 1`, `first + 2`…
    pub positions: Option<Arc<[u64]>>,
}

impl Origin {
    /// Records at `first`, `first + 1`, …
    pub fn from(first: u64) -> Origin {
        Origin { first, positions: None }
    }

    /// The position of the record in this row.
    pub fn position(&self, row: usize) -> u64 {
        match &self.positions {
            Some(positions) => positions[row],
            None => self.first + row as u64,
        }
    }

    /// The origin of the rows from `offset` on.
    pub fn slice(&self, offset: usize, length: usize) -> Origin {
        match &self.positions {
            Some(positions) if length == 0 => {
                Origin { first: positions.get(offset).copied().unwrap_or(self.first), positions: None }
            }
            Some(positions) => {
                Origin { first: positions[offset], positions: Some(positions[offset..offset + length].into()) }
            }
            None => Origin::from(self.first + offset as u64),
        }
    }

    /// The origin of these rows only, in this order: for transformers that drop or reorder records.
    pub fn take(&self, rows: impl IntoIterator<Item = usize>) -> Origin {
        let positions: Arc<[u64]> = rows.into_iter().map(|row| self.position(row)).collect();
        Origin { first: positions.first().copied().unwrap_or(self.first), positions: Some(positions) }
    }
}

impl Batch {
    /// A batch whose size in bytes the caller counted while building it.
    pub fn new(records: RecordBatch, bytes: usize, origin: Origin) -> Batch {
        Batch { columns: Columns::Native(records), bytes, origin, position: None, read_share: None }
    }

    /// A batch whose size in bytes is computed from its columns (see [`byte_size`]).
    pub fn measured(records: RecordBatch, origin: Origin) -> Batch {
        let bytes = byte_size(&records);
        Batch::new(records, bytes, origin)
    }

    pub(crate) fn foreign(array: ForeignArray, bytes: usize, origin: Origin) -> Batch {
        Batch { columns: Columns::Foreign(array), bytes, origin, position: None, read_share: None }
    }

    /// The struct array as it came, if nobody has looked into it yet; else the columns.
    pub(crate) fn into_columns(self) -> Result<ForeignArray, RecordBatch> {
        match self.columns {
            Columns::Native(records) => Err(records),
            Columns::Foreign(array) => Ok(array),
        }
    }

    /// How many records it has.
    pub fn num_rows(&self) -> usize {
        match &self.columns {
            Columns::Native(records) => records.num_rows(),
            Columns::Foreign(array) => array.len(),
        }
    }

    /// The schema of its columns.
    pub fn schema(&self) -> SchemaRef {
        match &self.columns {
            Columns::Native(records) => records.schema(),
            Columns::Foreign(array) => array.schema(),
        }
    }

    /// The columns. The first call on a batch from the other side of the boundary imports them, at about a microsecond a
    /// column.
    ///
    /// # Errors
    /// `Internal` if the other side made a malformed array; the batch is empty afterwards.
    pub fn records(&mut self) -> Result<&RecordBatch> {
        if let Columns::Foreign(array) = &mut self.columns {
            let schema = array.schema();
            let array = std::mem::replace(array, ForeignArray::empty(schema.clone()));
            let imported = array.import();
            self.columns = Columns::Native(match imported {
                Ok(records) => records,
                Err(error) => {
                    self.columns = Columns::Native(RecordBatch::new_empty(schema));
                    self.bytes = 0;
                    return Err(error);
                }
            });
        }
        match &self.columns {
            Columns::Native(records) => Ok(records),
            Columns::Foreign(_) => unreachable!("the columns were imported above"),
        }
    }

    /// The columns, for keeps.
    pub fn into_records(mut self) -> Result<RecordBatch> {
        self.records().cloned()
    }

    /// Rows `offset` to `offset + length`, sharing the columns. Bytes are divided in proportion to the rows.
    ///
    /// # Errors
    /// As [`Batch::records`].
    pub fn slice(&mut self, offset: usize, length: usize) -> Result<Batch> {
        let rows = self.num_rows().max(1);
        let slice = self.records()?.slice(offset, length);
        let bytes = (self.bytes as u128 * length as u128 / rows as u128) as usize;
        let mut batch = Batch::new(slice, bytes, self.origin.slice(offset, length));
        if offset + length == self.num_rows() {
            batch.position = self.position.clone();
            batch.read_share = self.read_share;
        }
        Ok(batch)
    }

    /// Reports a row of this batch as dirty: its position, its column, its value and the whole record go with it.
    ///
    /// # Errors
    /// `Cancelled` once the job's error limit is exceeded; or as [`Batch::records`].
    pub fn dirty(&mut self, host: &dyn Host, row: usize, column: Option<usize>, cause: &str) -> Result<()> {
        let position = self.origin.position(row);
        let records = self.records()?;
        dirty_row(host, records, row, Some(position), column, cause)
    }
}

/// Reports a row of some columns as dirty, for writers that have taken a batch apart.
pub fn dirty_row(
    host: &dyn Host,
    records: &RecordBatch,
    row: usize,
    position: Option<u64>,
    column: Option<usize>,
    cause: &str,
) -> Result<()> {
    let schema = records.schema();
    let record = crate::row::record_to_json(records, row);
    let value =
        column.map(|column| crate::row::cell_of_field_to_text(schema.field(column), records.column(column), row));
    host.dirty(&DirtyRecord {
        position,
        column: column.map(|column| schema.field(column).name().as_str()),
        value: value.as_ref().and_then(|value| value.as_deref()),
        cause,
        record: Some(&record.to_string()),
        place: None,
    })
}

/// The size of the records in bytes: the payload of their columns. A fixed-width column counts its width for each row, a
/// column of variable width its content and the offsets, and a column with a validity bitmap one bit a row more. Shared or
/// sliced buffers count only for the rows in the batch.
pub fn byte_size(records: &RecordBatch) -> usize {
    records.columns().iter().map(|column| array_size(&column.to_data())).sum()
}

fn array_size(data: &ArrayData) -> usize {
    let rows = data.len();
    let validity = if data.nulls().is_some() { rows.div_ceil(8) } else { 0 };
    let between = |first: usize, last: usize, width: usize| last.saturating_sub(first) + rows * width;
    let payload = match data.data_type() {
        DataType::Null => 0,
        DataType::Boolean => rows.div_ceil(8),
        DataType::Utf8 | DataType::Binary => {
            let offsets = &data.buffers()[0].typed_data::<i32>()[data.offset()..=data.offset() + rows];
            between(offsets[0] as usize, offsets[rows] as usize, 4)
        }
        DataType::LargeUtf8 | DataType::LargeBinary => {
            let offsets = &data.buffers()[0].typed_data::<i64>()[data.offset()..=data.offset() + rows];
            between(offsets[0] as usize, offsets[rows] as usize, 8)
        }
        DataType::FixedSizeBinary(width) => rows * *width as usize,
        other => match other.primitive_width() {
            Some(width) => rows * width,
            None => return data.get_slice_memory_size().unwrap_or(0),
        },
    };
    validity + payload
}

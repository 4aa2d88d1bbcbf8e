//! A batch whose records wait one by one, and batches made anew of such records.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use transship_plugin_api::batch::byte_size;
use transship_plugin_api::{Batch, Origin, Result};

use super::weight::Load;
use super::{Record, Work};

/// A batch that was taken apart.
pub(super) struct Lot {
    pub(super) records: RecordBatch,
    origin: Origin,
    bytes: usize,
    /// When each record was made, in microseconds since 1970; `None`: unknown.
    created: Option<Vec<Option<i64>>>,
    _load: Load,
}

impl Lot {
    pub(super) fn new(batch: Batch, created: Option<usize>, load: Load) -> Result<Lot> {
        let (bytes, origin) = (batch.bytes, batch.origin.clone());
        let records = batch.into_records()?;
        let created = created.map(|column| micros(records.column(column)));
        Ok(Lot { records, origin, bytes, created, _load: load })
    }

    /// When the record in this row was made, in microseconds since 1970.
    pub(super) fn created(&self, row: u32) -> Option<i64> {
        self.created.as_ref().and_then(|created| created[row as usize])
    }
}

impl Work {
    /// The records, in the order in which they came.
    ///
    /// # Errors
    /// When their batches do not fit together.
    pub fn batch(&self) -> Result<Batch> {
        let entries = &self.hand.entries;
        let Record { lot: first, row } = &entries[0].value;
        let is_run = (0..)
            .zip(entries)
            .all(|(offset, entry)| Arc::ptr_eq(&entry.value.lot, first) && entry.value.row == row + offset);
        if is_run {
            let (offset, length) = (*row as usize, entries.len());
            let bytes = (first.bytes as u128 * length as u128 / first.records.num_rows().max(1) as u128) as usize;
            return Ok(Batch::new(first.records.slice(offset, length), bytes, first.origin.slice(offset, length)));
        }
        let mut lots: Vec<&Arc<Lot>> = Vec::new();
        let mut rows = Vec::with_capacity(entries.len());
        let mut positions = Vec::with_capacity(entries.len());
        for entry in entries {
            let Record { lot, row } = &entry.value;
            // Neighbours mostly came together.
            let known = lots.iter().rposition(|known| Arc::ptr_eq(known, lot));
            let index = known.unwrap_or_else(|| {
                lots.push(lot);
                lots.len() - 1
            });
            rows.push((index, *row as usize));
            positions.push(lot.origin.position(*row as usize));
        }
        let batches: Vec<&RecordBatch> = lots.iter().map(|lot| &lot.records).collect();
        let records = arrow_select::interleave::interleave_record_batch(&batches, &rows)?;
        let origin = Origin { first: positions[0], positions: Some(positions.into()) };
        let bytes = byte_size(&records);
        Ok(Batch::new(records, bytes, origin))
    }

    /// How many records it has.
    pub fn records(&self) -> usize {
        self.hand.entries.len()
    }
}

/// Timestamps of any unit in microseconds.
fn micros(column: &Arc<dyn Array>) -> Vec<Option<i64>> {
    macro_rules! all {
        ($kind:ty, $to_micros:expr) => {
            column.as_primitive::<$kind>().iter().map(|value| value.and_then($to_micros)).collect()
        };
    }
    match column.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            all!(TimestampSecondType, |value: i64| value.checked_mul(1_000_000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            all!(TimestampMillisecondType, |value: i64| value.checked_mul(1000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => all!(TimestampMicrosecondType, Some),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => all!(TimestampNanosecondType, |value: i64| Some(value / 1000)),
        _ => all!(Int64Type, Some),
    }
}

//! A batch whose records wait one by one, and batches made anew of such records.

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::take_record_batch;
use slab::Slab;
use transship_plugin_api::batch::byte_size;
use transship_plugin_api::{Batch, Origin, Result};

use super::weight::Load;
use super::{Record, Work, unpoisoned};
use crate::keys::Hand;

/// A batch that was taken apart.
pub(super) struct Lot {
    pub(super) records: RecordBatch,
    origin: Origin,
    bytes: usize,
    /// When each record was made, in microseconds since 1970; `None`: unknown.
    created: Option<Vec<Option<i64>>>,
    _load: Load,
}

/// The batches of which not all records are done.
#[derive(Default)]
pub(super) struct Lots(Mutex<Slab<Open>>);

struct Open {
    lot: Arc<Lot>,
    /// Records that are not done.
    left: usize,
}

/// A batch, and how many records of some work are of it.
pub(super) struct Part {
    index: u32,
    lot: Arc<Lot>,
    records: usize,
}

impl Lots {
    /// Takes a batch in, until all its records are done; records know it by its number.
    pub(super) fn put(&self, lot: Lot) -> u32 {
        let left = lot.records.num_rows();
        unpoisoned(&self.0).insert(Open { lot: Arc::new(lot), left }) as u32
    }

    /// The batches that the records of a hand are of.
    pub(super) fn of(&self, hand: &Hand<Record>) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let lots = unpoisoned(&self.0);
        // Neighbours mostly came together.
        for beside in hand.entries.chunk_by(|left, right| left.value.lot == right.value.lot) {
            let (index, records) = (beside[0].value.lot, beside.len());
            match parts.iter_mut().rfind(|part| part.index == index) {
                Some(part) => part.records += records,
                None => parts.push(Part { index, lot: lots[index as usize].lot.clone(), records }),
            }
        }
        parts
    }

    /// Records of these batches are done.
    pub(super) fn done(&self, parts: Vec<Part>) {
        let mut lots = unpoisoned(&self.0);
        for part in &parts {
            let open = &mut lots[part.index as usize];
            open.left -= part.records;
            if open.left == 0 {
                lots.remove(part.index as usize);
            }
        }
        // The last to know a batch frees it: not under the lock.
        drop(lots);
        drop(parts);
    }
}

impl Lot {
    pub(super) fn new(batch: Batch, created: Option<usize>, load: Load) -> Result<Lot> {
        let (bytes, origin) = (batch.bytes, batch.origin.clone());
        let records = batch.into_records()?;
        let created = created.map(|column| micros(records.column(column)));
        Ok(Lot { records, origin, bytes, created, _load: load })
    }

    /// Records that lie beside each other.
    fn slice(&self, offset: usize, length: usize) -> Batch {
        let bytes = (self.bytes as u128 * length as u128 / self.records.num_rows().max(1) as u128) as usize;
        Batch::new(self.records.slice(offset, length), bytes, self.origin.slice(offset, length))
    }
}

impl Work {
    /// The records, in the order in which they came.
    ///
    /// # Errors
    /// When their batches do not fit together.
    pub fn batch(&self) -> Result<Batch> {
        let entries = &self.hand.entries;
        let rows = entries.iter().map(|entry| entry.value.row);
        let (records, origin) = match &self.parts[..] {
            [Part { lot, .. }] => {
                let (offset, length) = (entries[0].value.row, entries.len());
                if rows.clone().eq(offset..offset + length as u32) {
                    return Ok(lot.slice(offset as usize, length));
                }
                let origin = lot.origin.take(rows.clone().map(|row| row as usize));
                (take_record_batch(&lot.records, &UInt32Array::from_iter_values(rows))?, origin)
            }
            parts => {
                let (mut places, mut positions) =
                    (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
                for Record { lot, row } in entries.iter().map(|entry| entry.value) {
                    let (place, row) = (self.place_of(lot), row as usize);
                    places.push((place, row));
                    positions.push(parts[place].lot.origin.position(row));
                }
                let batches: Vec<&RecordBatch> = parts.iter().map(|part| &part.lot.records).collect();
                let origin = Origin { first: positions[0], positions: Some(positions.into()) };
                (interleave_record_batch(&batches, &places)?, origin)
            }
        };
        let bytes = byte_size(&records);
        Ok(Batch::new(records, bytes, origin))
    }

    /// When a record of it was made, in microseconds since 1970; `None`: unknown.
    pub(super) fn created(&self, record: Record) -> Option<i64> {
        let created = self.parts[self.place_of(record.lot)].lot.created.as_ref()?;
        created[record.row as usize]
    }

    /// Where the batch of this number is in its parts.
    fn place_of(&self, lot: u32) -> usize {
        // There are few, and the last ones have most of the records.
        self.parts.iter().rposition(|part| part.index == lot).expect("each record is of one of the parts")
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

//! Keeps some records of a batch, with their origin, and drops the others.

use arrow_array::BooleanArray;
use arrow_buffer::BooleanBuffer;
use transship_plugin_api::batch::byte_size;
use transship_plugin_api::{Batch, Result};

/// The records whose bit is set; `None` if there are none.
pub(super) fn keep(mut batch: Batch, kept: &BooleanBuffer) -> Result<Option<Batch>> {
    let count = kept.count_set_bits();
    if count == batch.num_rows() {
        return Ok(Some(batch));
    }
    let Some(first) = kept.set_indices().next() else { return Ok(None) };
    let whole_run = kept.slice(first, count.min(kept.len() - first)).count_set_bits() == count;
    let (records, origin) = if whole_run {
        (batch.records()?.slice(first, count), batch.origin.slice(first, count))
    } else {
        let mask = BooleanArray::new(kept.clone(), None);
        let records = arrow_select::filter::filter_record_batch(batch.records()?, &mask)?;
        (records, batch.origin.take(kept.set_indices()))
    };
    let bytes = byte_size(&records);
    let mut rest = Batch::new(records, bytes, origin);
    // What was dropped is done with: the source can go on behind it.
    rest.position = batch.position;
    Ok(Some(rest))
}

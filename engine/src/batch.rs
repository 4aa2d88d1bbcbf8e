//! Cuts batches to the size of a channel. Not here: what a batch is (`transship_plugin_api::batch`).

use serde::{Deserialize, Serialize};
use transship_plugin_api::Batch;

/// So many records, so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchLimit {
    pub records: usize,
    pub bytes: usize,
}

/// The batch in pieces that fit the limit, in order. A single record larger than the limit in bytes is a piece of its own.
///
/// # Errors
/// When the batch came from a plugin and is malformed; one that fits is not looked into.
pub fn cut(batch: Batch, limit: BatchLimit) -> transship_plugin_api::Result<Vec<Batch>> {
    let mut pieces = Vec::with_capacity(1);
    cut_into(batch, limit, &mut pieces)?;
    Ok(pieces)
}

fn cut_into(mut batch: Batch, limit: BatchLimit, pieces: &mut Vec<Batch>) -> transship_plugin_api::Result<()> {
    let rows = batch.num_rows();
    if rows <= 1 || (rows <= limit.records && batch.bytes <= limit.bytes) {
        pieces.push(batch);
        return Ok(());
    }
    // Rows differ in size: each piece is measured for itself and, if need be, cut again.
    let by_bytes = (rows as u128 * limit.bytes as u128 / batch.bytes.max(1) as u128) as usize;
    let step = by_bytes.min(limit.records).clamp(1, rows - 1);
    let (position, read_share) = (batch.position.take(), batch.read_share.take());
    let mut offset = 0;
    while offset < rows {
        let length = step.min(rows - offset);
        let mut piece = batch.slice(offset, length)?;
        piece.bytes = transship_plugin_api::batch::byte_size(piece.records()?);
        cut_into(piece, limit, pieces)?;
        offset += length;
    }
    // Only the last piece ends where the source could go on.
    if let Some(last) = pieces.last_mut() {
        last.position = position;
        last.read_share = read_share;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Array, RecordBatch, StringArray};
    use arrow_schema::{DataType, Field, Schema};
    use std::sync::Arc;
    use transship_plugin_api::Origin;

    fn texts(lengths: &[usize]) -> Batch {
        let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, false)]));
        let column = StringArray::from_iter_values(lengths.iter().map(|length| "x".repeat(*length)));
        let mut batch =
            Batch::measured(RecordBatch::try_new(schema, vec![Arc::new(column)]).unwrap(), Origin::from(100));
        batch.position = Some(serde_json::json!("after"));
        batch
    }

    fn lengths(batch: &mut Batch) -> Vec<usize> {
        let records = batch.records().unwrap().clone();
        let column = records.column(0).as_any().downcast_ref::<StringArray>().unwrap();
        (0..column.len()).map(|row| column.value(row).len()).collect()
    }

    fn pieces(sizes: &[usize], records: usize, bytes: usize) -> Vec<Batch> {
        cut(texts(sizes), BatchLimit { records, bytes }).unwrap()
    }

    #[test]
    fn a_batch_that_fits_is_left_alone() {
        let pieces = pieces(&[1, 2, 3], 3, 1000);
        assert_eq!(pieces.len(), 1);
        assert_eq!(pieces[0].position, Some(serde_json::json!("after")));
    }

    #[test]
    fn pieces_keep_order_origin_and_the_position_of_the_end() {
        let mut pieces = pieces(&[1, 2, 3, 4, 5], 2, 1000);
        let all: Vec<usize> = pieces.iter_mut().flat_map(lengths).collect();
        assert_eq!(all, [1, 2, 3, 4, 5]);
        assert_eq!(pieces.iter().map(|piece| piece.origin.first).collect::<Vec<_>>(), [100, 102, 104]);
        assert_eq!(pieces.iter().map(|piece| piece.position.is_some()).collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn no_piece_of_several_records_is_larger_than_the_limit_in_bytes() {
        let sizes = [5000, 1, 1, 1, 900, 900, 1, 1, 3, 700, 1, 5000];
        let mut pieces = pieces(&sizes, 100, 1000);
        assert!(pieces.iter().all(|piece| piece.num_rows() == 1 || piece.bytes <= 1000));
        let all: Vec<usize> = pieces.iter_mut().flat_map(lengths).collect();
        assert_eq!(all, sizes);
    }
}

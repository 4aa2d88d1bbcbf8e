//! The records that faulty readers give: `id`, a number that no other record has, and `text`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use transship_plugin_api::{Batch, Error, Origin, Result};

pub(crate) fn schema() -> SchemaRef {
    let id = Field::new("id", DataType::Int64, false);
    let text = Field::new("text", DataType::Utf8, true);
    Arc::new(Schema::new(vec![id, text]))
}

/// A batch of these ids, and the position of each in its split.
pub(crate) fn batch(ids: &[i64], positions: &[u64], text: impl Fn(i64) -> String) -> Result<Batch> {
    let texts: StringArray = ids.iter().map(|id| Some(text(*id))).collect();
    let columns: Vec<arrow_array::ArrayRef> = vec![Arc::new(Int64Array::from(ids.to_vec())), Arc::new(texts)];
    let origin = Origin { first: positions.first().copied().unwrap_or(0), positions: Some(positions.into()) };
    Ok(Batch::measured(RecordBatch::try_new(schema(), columns)?, origin))
}

/// The ids in a batch: its first column, which must hold 64-bit numbers.
pub(crate) fn ids(batch: &mut Batch) -> Result<Vec<i64>> {
    let records = batch.records()?;
    let column = records.columns().first().and_then(|column| column.as_primitive_opt::<Int64Type>());
    match column {
        Some(ids) => Ok(ids.values().to_vec()),
        None => Err(Error::schema("the first column must hold 64-bit numbers")),
    }
}

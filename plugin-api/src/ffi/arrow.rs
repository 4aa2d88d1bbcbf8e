//! RecordBatch to ArrowArray and back.
use crate::error::Result;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
/// A struct array from the other side of the boundary.
#[derive(Debug)]
pub struct ForeignArray { schema: SchemaRef, records: RecordBatch }
impl ForeignArray {
    /// No rows.
    pub fn empty(schema: SchemaRef) -> ForeignArray { ForeignArray { records: RecordBatch::new_empty(schema.clone()), schema } }
    /// How many rows.
    pub fn len(&self) -> usize { self.records.num_rows() }
    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool { self.len() == 0 }
    /// The schema.
    pub fn schema(&self) -> SchemaRef { self.schema.clone() }
    /// The columns.
    pub fn import(self) -> Result<RecordBatch> { Ok(self.records) }
}

//! What stands between reader and writer: batches in, batches out.

use arrow_schema::SchemaRef;

use crate::batch::Batch;
use crate::error::Result;

/// Changes, drops, holds or adds records. Called by one thread at a time: `schema`, then `push` for each batch, then `flush`.
///
/// A transformer keeps the origin of every record that it passes on (see [`Origin`](crate::batch::Origin)), so that a record
/// which the writer refuses can still be found in the source.
pub trait Transformer: Send {
    /// The schema that comes out, given the one that goes in.
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef>;

    /// Takes a batch and appends to `out` what is ready.
    fn push(&mut self, batch: Batch, out: &mut Vec<Batch>) -> Result<()>;

    /// Appends to `out` all that was held back: at the end of the input, before a mark, and when the engine wants it.
    fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()>;
}

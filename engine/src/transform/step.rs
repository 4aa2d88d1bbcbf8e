//! A transformer as a stage of the engine's chain: built in, or from a plugin.

use arrow_schema::SchemaRef;
use transship_plugin_api::{Batch, Result, Transformer};

/// A transformer that says how much of a batch it can take without making too much of it.
pub trait Step: Transformer {
    /// How many records of this batch it should get at once, so that what comes out stays small.
    fn records_at_once(&self, batch: &Batch) -> usize {
        batch.num_rows()
    }
}

/// A transformer from a plugin. It gets whole batches, and decides for itself when what it makes of them is enough.
pub(super) struct Plugged(pub Box<dyn Transformer>);

impl Transformer for Plugged {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        self.0.schema(input)
    }

    fn push(&mut self, batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        self.0.push(batch, out)
    }

    fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        self.0.flush(out)
    }
}

impl Step for Plugged {}

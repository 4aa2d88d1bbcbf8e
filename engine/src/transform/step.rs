//! A transformer as a stage of the engine's chain: built in, or from a plugin.

use std::time::Duration;

use arrow_schema::SchemaRef;
use transship_plugin_api::{Batch, CancelHandle, Result, Transformer};

use crate::dirty::Dirty;
use crate::host::Source;

/// A transformer as the engine knows it: beside what it does to batches, how much of one it can take without making too much of
/// it, and what it has to do with the life of an attempt.
pub trait Step: Transformer {
    /// How many records of this batch it should get at once, so that what comes out stays small.
    fn records_at_once(&self, batch: &Batch) -> usize {
        batch.num_rows()
    }

    /// Tells it, before a batch, which attempt it works for from now on, and who is told of dirty records. In a lane, where records of
    /// several tasks meet, it is told again whenever those of another follow.
    fn begin(&mut self, _attempt: AttemptId, _dirty: &Dirty) {}

    /// Tells it that the attempt has come to nothing: its records will be read again, or never arrive. Called at most once, after
    /// the last batch.
    fn abandon(&mut self) {}

    /// Appends to `out` what has become ready since the last call, and does what is due; it does not wait. For transformers that
    /// wait for something else than their next batch.
    fn poll(&mut self, _out: &mut Vec<Batch>) -> Result<()> {
        Ok(())
    }

    /// How soon it wants to be polled again, if no batch comes before; `None`: it waits for nothing.
    fn patience(&mut self) -> Option<Duration> {
        None
    }

    /// Tells it that nothing more will come: the next `flush` is the last one.
    fn end(&mut self) {}

    /// Wakes it out of a call that waits, from any thread; that call, and those after it, answer `Cancelled`. It may be called at any
    /// time. `None`: it never waits.
    fn cancel_handle(&self) -> Option<CancelHandle> {
        None
    }

    /// How many of the records that it dropped were duplicates of others.
    fn duplicates(&self) -> u64 {
        0
    }

    /// How many records it left out for another reason, where it also makes several of one: what comes out does not tell.
    fn left_out(&self) -> u64 {
        0
    }
}

/// An attempt among all those of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct AttemptId {
    /// The number of the task.
    pub task: u32,
    /// Which attempt at it, from 1.
    pub attempt: u32,
}

impl AttemptId {
    pub(super) fn of(source: &Source) -> AttemptId {
        AttemptId { task: source.number, attempt: source.attempt }
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

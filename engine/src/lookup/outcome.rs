//! What goes into a stage and what comes out of it: records, calls, outcomes, and how often what happened.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::RecordBatch;
use transship_plugin_api::Error;

/// A record, by the batch that it came in and its row there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub source: u32,
    pub row: u32,
}

/// Rows that were found for a record: some of those that an answer brought.
#[derive(Debug, Clone)]
pub struct Rows {
    pub answer: Arc<RecordBatch>,
    pub first: u32,
    /// At least 1.
    pub count: u32,
}

/// What a lookup came to.
#[derive(Debug, Clone)]
pub enum Outcome {
    Found(Rows),
    /// There is no row for the key.
    Missing,
    Failed(Arc<Error>),
}

/// A record that leaves, and what became of it.
#[derive(Debug)]
pub struct Done {
    pub record: Record,
    pub outcome: Outcome,
}

/// A call to start.
#[derive(Debug)]
pub struct Call {
    pub id: CallId,
    /// The records whose keys are looked up.
    pub records: Vec<Record>,
    /// Whether somebody waits for the answer: it ends when all its records are done without it.
    pub wanted: Arc<AtomicBool>,
}

/// Names a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId {
    pub(super) slot: usize,
    pub(super) number: u64,
}

/// How often what happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls started.
    pub calls: u64,
    /// Keys in them.
    pub keys: u64,
    /// Keys that were looked up again.
    pub retries: u64,
    /// Records whose time was over.
    pub timeouts: u64,
    /// Records whose lookup failed for good, time-outs included.
    pub failures: u64,
    /// Answers for a record that nobody waited for any more.
    pub late: u64,
    /// Records that waited for the answer to another of their key.
    pub shared: u64,
}

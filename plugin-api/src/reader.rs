//! The side that reads: one [`Reader`] a job, one [`ReaderTask`] an attempt at a split.

use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::batch::Batch;
use crate::error::Result;
use crate::host::HostRef;

/// A source, opened for one job. The engine calls it from one thread at a time (not always the same one), in this order:
/// `prepare`, `schema`, then `splits` and `open` in any mix, then `post`. In another process `attach` stands in for
/// `prepare`. Dropping it frees what it holds.
///
/// Only cheap checks belong into the function that makes a reader from its parameters: `transship check` calls it without
/// a network. Connecting belongs into `prepare`.
pub trait Reader: Send {
    /// Connects and checks whatever can be checked before data moves. What it returns (any JSON) is handed to
    /// [`Reader::attach`] in other processes of the same run, so it must hold no secret.
    fn prepare(&mut self) -> Result<Value> {
        Ok(Value::Null)
    }

    /// Takes up, in another process, what `prepare` returned.
    fn attach(&mut self, state: &Value) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// The schema that all splits share, where it is known before any is opened. A writer needs it to create its table.
    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        Ok(None)
    }

    /// The next few splits; an empty list means that there are no more. The engine asks only as fast as tasks start, so a
    /// listing of a million files need be neither complete nor in memory before the first file is read. It must not write.
    /// While it goes on no other call of the reader can be made: where it can last, [`Reader::listing`] is better.
    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>>;

    /// The next part of the source that can be listed by itself, beside others: a folder, a table. A reader that has such parts
    /// gives each once, and then `None`; the engine lists several of them at once, and asks for another one only when it needs more
    /// splits. `None` at the first call: there are no such parts, and the engine asks [`Reader::splits`] instead. It must be quick,
    /// as [`Reader::open`] is: what takes time belongs into [`Listing::splits`].
    fn listing(&mut self, request: &SplitRequest) -> Result<Option<Box<dyn Listing>>> {
        let _ = request;
        Ok(None)
    }

    /// Makes the task that reads a split, from the start or from a position that a batch of it carried. It must be quick:
    /// connecting and opening belong into [`ReaderTask::prepare`].
    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>>;

    /// Runs after the target is committed; it is not called when the job failed.
    fn post(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A part of a source whose splits are looked for by themselves: on another thread than those of other parts, and beside calls of
/// the reader and of tasks. Called by one thread at a time. It is dropped when it has no more, or when nobody needs more; the host of
/// the reader tells whether the job is cancelled.
pub trait Listing: Send {
    /// The next few splits of this part, at most `request.max` and as soon as there are some; an empty list means that there are no
    /// more. It must not write.
    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>>;
}

/// One attempt at reading one split. Called by one thread at a time: `prepare`, then `next` until [`Item::End`], then `post`.
pub trait ReaderTask: Send {
    /// Opens the split and tells the schema of the batches that follow.
    fn prepare(&mut self) -> Result<SchemaRef>;

    /// The next item. Where the source has nothing to give, wait at most `timeout`, then answer [`Item::Idle`].
    fn next(&mut self, timeout: Duration) -> Result<Item>;

    /// Everything up to this position (one that a batch carried) is safe at the target: the source may forget it.
    fn ack(&mut self, position: &Value) -> Result<()> {
        let _ = position;
        Ok(())
    }

    /// Runs after the last item, before the task is dropped; not called when the attempt failed.
    fn post(&mut self) -> Result<()> {
        Ok(())
    }

    /// A way to interrupt a call that blocks, for instance a query, from another thread. Tasks that ask
    /// [`Host::is_cancelled`](crate::Host::is_cancelled) often enough need none.
    fn cancel_handle(&self) -> Option<CancelHandle> {
        None
    }
}

/// Interrupts a blocking call of a task from any thread; it may be called at any time, more than once, and after the task's end.
pub type CancelHandle = Arc<dyn Fn() + Send + Sync>;

/// What a [`ReaderTask`] has to say.
#[derive(Debug)]
pub enum Item {
    /// Records.
    Batch(Batch),
    /// A mark between the records before it and those after it.
    Mark(Mark),
    /// Nothing yet; ask again.
    Idle,
    /// There will be nothing more.
    End,
}

/// A mark in the stream of records. It keeps its place among the batches all the way to the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// No record with an event time before this one (microseconds since 1970-01-01 UTC) will follow.
    Watermark(i64),
    /// What came so far should become visible at the target soon.
    Flush,
    /// The end of the epoch with this number. Only the engine makes these.
    Epoch(u64),
}

/// How many splits the engine would like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitRequest {
    /// How many tasks will run at once: make several times as many splits of a large source, so that channels end together.
    pub channels: u32,
    /// How many splits to return at most now (at least 1).
    pub max: u32,
}

/// A piece of a source: the unit of parallelism, retry, resume, counting and progress. The reader makes it; to the engine
/// it is JSON that it hands back unread, but for the fields that this struct names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Names the split within its job: the same source gives the same ids in every run.
    pub id: String,
    /// What a person calls it: `orders.csv, bytes 0 to 67108864`.
    pub label: String,
    /// What record positions of this split count: `line`, `record`, `rowid`.
    #[serde(default = "record_unit")]
    pub unit: String,
    /// Its size in bytes, where known or estimated: for progress and scheduling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its number of records, where known or estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// Where only so many splits may be open at once: those of one connection, for instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// All the reader needs to find it again. No secrets: splits are printed, stored and sent to other processes.
    pub detail: Value,
}

/// Splits that share a limit: at most so many of them are open at once, over all contents and jobs of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// What they share, the same in every job: a server's address, without credentials.
    pub name: String,
    /// At most so many (at least 1).
    pub open: u32,
}

fn record_unit() -> String {
    "record".into()
}

impl Split {
    /// A split whose positions count records.
    pub fn new(id: impl Into<String>, label: impl Into<String>, detail: Value) -> Split {
        Split {
            id: id.into(),
            label: label.into(),
            unit: record_unit(),
            bytes: None,
            records: None,
            limit: None,
            detail,
        }
    }
}

/// How a split is to be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadOptions {
    /// Send a batch when it has this many records…
    pub batch_records: usize,
    /// …or about this many bytes, whichever comes first. A single larger record is a batch of its own.
    pub batch_bytes: usize,
    /// A record of more bytes than this is dirty.
    pub max_record_bytes: usize,
    /// Where to go on: the position of the last batch that was safe at the target. `None`: from the start.
    #[serde(default)]
    pub position: Option<Value>,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { batch_records: 8192, batch_bytes: 2 << 20, max_record_bytes: 256 << 20, position: None }
    }
}

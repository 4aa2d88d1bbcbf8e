//! The side that writes: one [`Writer`] a job, one [`WriterTask`] an attempt.

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::batch::Batch;
use crate::error::Result;
use crate::host::HostRef;
use crate::reader::{CancelHandle, Mark};

/// A target, opened for one job. The engine calls it from one thread at a time (not always the same one), in this order:
/// `info`, `prepare`, `open` for each attempt, `commit` or `abort`, `post`. In another process `attach` stands in for
/// `prepare`. Only `prepare` and what follows it may change the target. Dropping it frees what it holds.
pub trait Writer: Send {
    /// What the engine must know of the target. It must not touch the target.
    fn info(&self) -> WriterInfo;

    /// What it will do to the target, one line each, for `transship plan`: statements, files. It must not touch the target.
    fn plan(&self) -> Vec<String> {
        Vec::new()
    }

    /// Connects, checks, and makes the target ready (creates, truncates, runs preSql). `schema` is the reader's, where it is
    /// known already. What it returns (any JSON, no secret) is handed to [`Writer::attach`] in other processes of the run.
    fn prepare(&mut self, run: &Run, schema: Option<SchemaRef>) -> Result<Value>;

    /// Takes up, in another process, what `prepare` returned.
    fn attach(&mut self, state: &Value) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Makes the task that writes records of this schema. It must be quick: connecting and creating belong into
    /// [`WriterTask::prepare`].
    fn open(&mut self, task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>>;

    /// Makes visible what the tasks wrote: exactly one report for each task, that of the attempt which counts. Called again
    /// with the same reports it does nothing more.
    fn commit(&mut self, reports: &[Report]) -> Result<()> {
        let _ = reports;
        Ok(())
    }

    /// Removes what can be removed of a job that failed, given the reports of the tasks that had committed. Called again it
    /// does nothing more.
    fn abort(&mut self, reports: &[Report]) -> Result<()> {
        let _ = reports;
        Ok(())
    }

    /// Runs after `commit` (postSql); it is not called when the job failed.
    fn post(&mut self) -> Result<()> {
        Ok(())
    }
}

/// One attempt at writing. Called by one thread at a time: `prepare`, then `write`, `mark` and `flush` in any order, then
/// `commit` or `abort`.
pub trait WriterTask: Send {
    /// Connects and opens what this attempt writes to.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// Takes a batch. A record that the target does not accept goes to the host as dirty, and the rest of the batch is written.
    fn write(&mut self, batch: Batch) -> Result<()>;

    /// Takes note of a mark that stands between two batches.
    fn mark(&mut self, mark: Mark) -> Result<()> {
        let _ = mark;
        Ok(())
    }

    /// Everything written so far is durable, or handed over to the target, when this returns.
    fn flush(&mut self) -> Result<()>;

    /// Ends an epoch: what was written since the last checkpoint is safe and, unless the commit class forbids it, visible, whatever
    /// becomes of the attempt. The report is of this epoch alone. `None`: this writer has no checkpoints.
    fn checkpoint(&mut self, epoch: u64) -> Result<Option<Report>> {
        let _ = epoch;
        Ok(None)
    }

    /// Finishes the attempt; the report is of what was written since the last checkpoint. After an error the engine calls `abort`. An error that is retryable says that surely nothing was
    /// committed: with [`CommitClass::Task`] only then another attempt is made.
    fn commit(&mut self) -> Result<Report>;

    /// Removes what this attempt left at the target, as far as its commit class allows. Called again it does nothing more.
    fn abort(&mut self) -> Result<()>;

    /// A way to interrupt a call that blocks, from another thread.
    fn cancel_handle(&self) -> Option<CancelHandle> {
        None
    }
}

/// When written records become visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitClass {
    /// Nothing is visible before the job's commit.
    Atomic,
    /// Each task's records are visible from that task's commit on.
    Task,
    /// Records are visible as they are written.
    Append,
}

/// What the engine must know of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriterInfo {
    /// When written records become visible.
    pub commit: CommitClass,
    /// How many tasks may be open at once for this target, over all jobs of a run; 0: any number.
    #[serde(default)]
    pub max_open_tasks: u32,
    /// Names the target (`sqlite:/data/shop.db`), so that several jobs with the same one can share its limit. No secrets.
    pub target: String,
    /// Whether writing the same records again leaves the target as it was (an upsert, a replace).
    #[serde(default)]
    pub idempotent: bool,
}

/// The run that a writer is prepared for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id, a UUID: new for every run.
    pub id: String,
    /// The job's name or file name, for names and comments at the target.
    pub job: String,
}

/// The attempt that a writer task serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInfo {
    /// The run's id.
    pub run: String,
    /// The task's id: made from run and split, so the same in every attempt, whatever the order in which tasks start.
    pub task: String,
    /// The attempt's id, a UUID: new for every attempt.
    pub attempt: String,
    /// Which attempt it is, from 1.
    pub number: u32,
}

/// What an attempt wrote, told at its commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Records that the target accepted.
    pub written: u64,
    /// Records that the target had already and that the job said to leave out.
    #[serde(default)]
    pub duplicates: u64,
    /// Bytes that went to the target, where known; 0: the engine takes the bytes of the batches.
    #[serde(default)]
    pub bytes: u64,
    /// What the writer's own `commit` and `abort` need. No secrets: reports are stored and sent to other processes.
    #[serde(default)]
    pub detail: Value,
}

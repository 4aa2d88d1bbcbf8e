//! One task: a split on its way from a reader task through a channel to a writer task, on two threads, as often as it takes.
//! Not here: which tasks there are and when they start (`schedule`).

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use transship_plugin_api::{CommitClass, Kind, Mark, ReadOptions, Reader, Report, Run, TaskInfo, Writer, WriterInfo};

use crate::calls::Calls;
use crate::cancel::{Cancel, Hook};
use crate::channel::{self, Budget, Capacity};
use crate::dirty::{Dirty, Side};
use crate::error::Failure;
use crate::gate::Gate;
use crate::host::TaskHost;
use crate::perf::{Perf, Phase, Watch};
use crate::plan::{Plan, TaskSpec};
use crate::progress::Progress;
use crate::throttle::Throttle;
use crate::transform::{Chain, Maker};

mod read;
mod write;

/// What all tasks of a job share.
pub struct Line<'a> {
    pub run: Run,
    pub plan: Plan,
    pub reader: Mutex<Box<dyn Reader>>,
    pub reader_name: String,
    pub writer: Mutex<Box<dyn Writer>>,
    pub writer_name: String,
    pub writer_info: WriterInfo,
    pub transformers: Vec<Maker<'a>>,
    /// Readers take a slot of it between two calls of `next`.
    pub gate: Gate,
    /// Writer tasks take a slot of it for as long as they are open.
    pub target: Option<Gate>,
    pub throttle: Arc<Throttle>,
    pub budget: Arc<Budget>,
    pub dirty: Arc<Dirty>,
    pub cancel: Cancel,
    pub calls: Calls,
    pub progress: &'a Progress,
}

/// What travels through a task's channel, in order.
enum Parcel {
    /// First of all: what the batches look like.
    Schema(SchemaRef),
    Batch(transship_plugin_api::Batch),
    Mark(Mark),
}

/// What became of a task, as a value: it is the same whether the task ran in this process or in another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskReport {
    pub task: String,
    pub number: u32,
    /// The split's label.
    pub split: String,
    pub attempts: u32,
    /// The records of the attempt that counts.
    pub counts: Counts,
    /// The records of attempts that were aborted.
    pub aborted: Counts,
    /// What the writer reported at its commit; `None`: the task failed.
    pub committed: Option<Report>,
    pub failure: Option<Failure>,
    /// The perf records of the last attempt.
    pub perf: Perf,
    /// The attempts before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierAttempt>,
}

/// An attempt that failed and was tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierAttempt {
    pub failure: Failure,
    pub perf: Perf,
}

/// Where records went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Records that the reader gave, dirty ones included.
    pub read: u64,
    /// Their bytes in the channel.
    pub read_bytes: u64,
    /// Records that transformers made.
    pub added: u64,
    /// Records that transformers dropped.
    pub filtered: u64,
    /// Records that were left out because they had come before, or were at the target already.
    pub duplicates: u64,
    pub dirty_at_reader: u64,
    pub dirty_at_transformers: u64,
    pub dirty_at_writer: u64,
    /// Records that the target accepted.
    pub written: u64,
    pub written_bytes: u64,
}

impl Counts {
    pub fn dirty(&self) -> u64 {
        self.dirty_at_reader + self.dirty_at_transformers + self.dirty_at_writer
    }

    /// Whether every record is accounted for: `read + added = written + filtered + duplicates + dirty`.
    pub fn add_up(&self) -> bool {
        // Wider than the counts: a writer's report may hold any number.
        let sum = |counts: &[u64]| counts.iter().map(|count| u128::from(*count)).sum::<u128>();
        sum(&[self.read, self.added]) == sum(&[self.written, self.filtered, self.duplicates, self.dirty()])
    }

    pub fn add(&mut self, other: &Counts) {
        self.read += other.read;
        self.read_bytes += other.read_bytes;
        self.added += other.added;
        self.filtered += other.filtered;
        self.duplicates += other.duplicates;
        self.dirty_at_reader += other.dirty_at_reader;
        self.dirty_at_transformers += other.dirty_at_transformers;
        self.dirty_at_writer += other.dirty_at_writer;
        self.written += other.written;
        self.written_bytes += other.written_bytes;
    }
}

/// What became of one attempt.
struct Outcome {
    counts: Counts,
    perf: Perf,
    result: Result<Report, Failure>,
    commit: Commit,
}

/// How far the writer task's commit has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Commit {
    #[default]
    NotBegun,
    /// It was begun and failed: whether the records are there is known to the target alone.
    Begun,
    Done,
}

/// One attempt, as both of its sides see it.
struct Attempt<'a> {
    line: &'a Line<'a>,
    spec: &'a TaskSpec,
    /// The limit of the channel that it runs on.
    limit: &'a Throttle,
    info: TaskInfo,
    /// Ends with the job, and as soon as one side fails.
    cancel: Cancel,
    /// The failure that came first…
    failure: OnceLock<Failure>,
    /// …and work given up because of it. It counts only where nothing else does: a plugin may give up by itself.
    echo: OnceLock<Failure>,
}

impl Line<'_> {
    /// The limit of one of the job's channels; each has its own.
    pub fn channel_limit(&self) -> Arc<Throttle> {
        Throttle::new(self.plan.channel_bytes_per_second, self.plan.channel_records_per_second)
    }

    pub fn reader(&self) -> MutexGuard<'_, Box<dyn Reader>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn writer(&self) -> MutexGuard<'_, Box<dyn Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an attempt that failed left nothing behind that a second one would double.
    fn may_retry(&self, commit: Commit, failure: &Failure) -> bool {
        match self.writer_info.commit {
            _ if self.writer_info.idempotent => true,
            CommitClass::Atomic => true,
            // A commit that says that it can be tried again says that nothing was committed.
            CommitClass::Task => commit == Commit::NotBegun || (commit == Commit::Begun && failure.retryable),
            CommitClass::Append => false,
        }
    }
}

/// Runs a task until it is committed, or has failed for good. `limit` is that of the channel that it runs on.
pub fn run(line: &Line<'_>, spec: &TaskSpec, limit: &Throttle) -> TaskReport {
    let mut report = TaskReport::of(spec);
    loop {
        report.attempts += 1;
        let Outcome { counts, perf, result, commit } = Attempt::new(line, spec, limit, report.attempts).run();
        report.perf = perf;
        match result {
            Ok(committed) => {
                report.counts = counts;
                report.committed = Some(committed);
                return report;
            }
            Err(failure) => {
                report.aborted.add(&counts);
                let failure = failure.within(who(spec));
                if !again(line, &failure, commit, report.attempts) {
                    report.failure = Some(failure);
                    return report;
                }
                log::warn!(
                    "attempt {} of {} failed and is repeated: {failure}",
                    report.attempts,
                    line.plan.max_attempts
                );
                line.dirty.forgive(counts.dirty(), counts.read);
                report.earlier.push(EarlierAttempt { failure, perf: std::mem::take(&mut report.perf) });
                line.cancel.pause(Duration::from_millis(line.plan.retry_pause_millis));
                if line.cancel.is_cancelled() {
                    let given_up = report.earlier.last().map(|earlier| earlier.failure.clone());
                    report.failure = given_up.map(|failure| Failure { kind: Kind::Cancelled, ..failure });
                    return report;
                }
            }
        }
    }
}

/// Whether a failed task is tried again: where the job asks for it, where it can help, and where it doubles nothing.
fn again(line: &Line<'_>, failure: &Failure, commit: Commit, attempts: u32) -> bool {
    if attempts >= line.plan.max_attempts || !can_help(failure) || line.cancel.is_cancelled() {
        return false;
    }
    let safe = line.may_retry(commit, failure);
    if !safe {
        log::warn!(
            "not tried again: records of this attempt may be at the target of {} already, and a second one would double them",
            line.writer_name
        );
    }
    safe
}

/// Whether another attempt can end differently: not if the job file, the schema or the plugin's abilities are at fault.
fn can_help(failure: &Failure) -> bool {
    failure.retryable || matches!(failure.kind, Kind::Connect | Kind::Io | Kind::Data | Kind::Internal)
}

/// What a person calls a task.
fn who(spec: &TaskSpec) -> String {
    format!("task {} ({})", spec.number, spec.split.label)
}

impl<'a> Attempt<'a> {
    fn new(line: &'a Line<'a>, spec: &'a TaskSpec, limit: &'a Throttle, number: u32) -> Attempt<'a> {
        let attempt = uuid::Uuid::new_v4().to_string();
        let info = TaskInfo { run: line.run.id.clone(), task: spec.id.clone(), attempt, number };
        let cancel = line.cancel.child();
        Attempt { line, spec, limit, info, cancel, failure: OnceLock::new(), echo: OnceLock::new() }
    }

    fn run(self) -> Outcome {
        let total = Watch::start();
        let capacity = Capacity {
            records: at_least_one(self.line.plan.capacity.records),
            bytes: at_least_one(self.line.plan.capacity.bytes),
        };
        let (sender, receiver) = channel::bounded_within(capacity, &self.line.budget);
        let control = sender.control();
        let _close: Hook = self.cancel.on_cancel(move || control.cancel());
        let (read, written) = std::thread::scope(|scope| {
            let writing = std::thread::Builder::new()
                .name(format!("task-{}-writer", self.spec.number))
                .spawn_scoped(scope, || write::run(&self, receiver));
            match writing {
                Ok(writing) => {
                    let read = read::run(&self, sender);
                    let written = writing.join().unwrap_or_else(|_| {
                        self.fail(Failure::new(
                            Kind::Internal,
                            "the writer thread panicked: this is a bug in transship",
                        ));
                        write::Writing::default()
                    });
                    (read, written)
                }
                Err(error) => {
                    self.fail(Failure::new(Kind::Internal, format!("cannot start a thread: {error}")));
                    drop(sender);
                    (read::Reading::default(), write::Writing::default())
                }
            }
        });
        self.outcome(total, read, written)
    }

    fn outcome(self, total: Watch, read: read::Reading, written: write::Writing) -> Outcome {
        let counts = Counts {
            read: read.records + read.dirty,
            read_bytes: read.bytes,
            added: read.transformed.added,
            filtered: read.transformed.filtered,
            duplicates: written.report.as_ref().map_or(0, |report| report.duplicates),
            dirty_at_reader: read.dirty,
            dirty_at_transformers: read.transformed.dirty + read.oversized,
            dirty_at_writer: written.dirty,
            written: written.report.as_ref().map_or(0, |report| report.written),
            written_bytes: written.report.as_ref().map_or(0, |report| report.bytes),
        };
        let mut perf = Perf::default();
        perf.end_with(Phase::TaskTotal, total, counts.read, counts.read_bytes);
        perf.records.extend(read.perf.records);
        perf.records.extend(written.perf.records);
        let result = match (self.failure.into_inner().or(self.echo.into_inner()), written.report) {
            (Some(failure), _) => Err(failure),
            (None, Some(report)) => Ok(report),
            (None, None) => Err(Failure::new(Kind::Internal, "the attempt ended without a report")),
        };
        Outcome { counts, perf, result, commit: written.commit }
    }

    /// Whether this attempt should come to an end: cancelled, or more records are dirty than the job allows.
    fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.line.dirty.is_over()
    }

    /// Notes a failure of either side and ends both; of a job that was cancelled, or has met its limit of dirty records,
    /// everything that fails from then on is an echo.
    fn fail(&self, mut failure: Failure) {
        if self.line.dirty.is_over() {
            self.line.cancel.cancel();
        }
        if failure.is_echo() || self.line.cancel.is_cancelled() {
            failure.kind = Kind::Cancelled;
            let _ = self.echo.set(failure);
        } else {
            self.line.calls.note_cause(format_args!("{}: {failure}", who(self.spec)));
            let _ = self.failure.set(failure);
        }
        self.cancel.cancel();
    }

    fn host(&self, side: Side, plugin: &str) -> Arc<TaskHost> {
        Arc::new(TaskHost {
            run: self.line.run.id.clone(),
            task: self.spec.id.clone(),
            number: self.spec.number,
            attempt: self.info.number,
            split: self.spec.split.label.clone(),
            unit: self.spec.split.unit.clone(),
            side,
            plugin: plugin.to_string(),
            cancel: self.cancel.clone(),
            dirty: self.line.dirty.clone(),
            count: AtomicU64::new(0),
        })
    }

    fn chain(&self) -> transship_plugin_api::Result<Chain> {
        let mut chain = Chain::default();
        for maker in &self.line.transformers {
            let host = self.host(Side::Transformer, maker.name());
            chain.add(maker.name(), maker.make(host.clone())?, host);
        }
        Ok(chain)
    }

    fn read_options(&self) -> ReadOptions {
        ReadOptions {
            batch_records: self.line.plan.batch.records,
            batch_bytes: self.line.plan.batch.bytes,
            max_record_bytes: self.line.plan.max_record_bytes,
            position: None,
        }
    }
}

fn at_least_one(number: usize) -> std::num::NonZeroUsize {
    std::num::NonZeroUsize::new(number).unwrap_or(std::num::NonZeroUsize::MIN)
}

impl TaskReport {
    /// Masks what plugins said in their own words.
    pub fn mask(&mut self, mask: &dyn Fn(&str) -> String) {
        let failures = self.earlier.iter_mut().map(|earlier| &mut earlier.failure).chain(&mut self.failure);
        for failure in failures {
            failure.message = mask(&failure.message);
        }
        self.split = mask(&self.split);
    }

    /// The report of a task that has not begun.
    fn of(spec: &TaskSpec) -> TaskReport {
        TaskReport {
            task: spec.id.clone(),
            number: spec.number,
            split: spec.split.label.clone(),
            attempts: 0,
            counts: Counts::default(),
            aborted: Counts::default(),
            committed: None,
            failure: None,
            perf: Perf::default(),
            earlier: Vec::new(),
        }
    }
}

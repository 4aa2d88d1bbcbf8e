//! One task: a split on its way from a reader task through a channel to a writer task, on two threads, as often as it takes.
//! Not here: which tasks there are and when they start (`schedule`).

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use arrow_schema::SchemaRef;
use transship_plugin_api::{CommitClass, Kind, Mark, ReadOptions, Reader, Report, Run, TaskInfo, Writer, WriterInfo};

use crate::calls::Calls;
use crate::cancel::{Cancel, Drain, Hook};
use crate::channel::{self, Budget, Capacity};
use crate::dirty::{Dirty, Side};
use crate::error::Failure;
use crate::gate::Gate;
use crate::host::{Source, Sources, TaskHost};
use crate::lanes::Lanes;
use crate::latency::Histogram;
use crate::metrics::{Figure, Latency, StageMetrics};
use crate::perf::{Perf, Phase, Watch};
use crate::plan::{Plan, TaskSpec};
use crate::progress::Progress;
use crate::throttle::Throttle;
use crate::transform::{Chain, Maker};

mod inlet;
mod lane;
mod outlet;
mod read;
mod report;
mod write;

pub use lane::{merging, run as run_lane, run_merged};
pub use report::{Counts, EarlierAttempt, Role, TaskReport};

use outlet::Outlet;

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
    /// Where records are kept in order, if they are: the places of `order` and `merge` among the transformers.
    pub cut: Option<Cut>,
    /// What stands between readers and lanes then.
    pub lanes: Option<Arc<Lanes>>,
    /// Readers take a slot of it between two calls of `next`.
    pub gate: Gate,
    /// Writer tasks take a slot of it for as long as they are open.
    pub target: Option<Gate>,
    pub throttle: Arc<Throttle>,
    pub budget: Arc<Budget>,
    pub dirty: Arc<Dirty>,
    pub drain: Drain,
    pub cancel: Cancel,
    pub calls: Calls,
    pub progress: &'a Progress,
}

/// Where the transformers are cut because lanes begin or end there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub order: usize,
    pub merge: Option<usize>,
}

/// What travels through a task's channel, in order.
pub enum Parcel {
    /// First of all: what the batches look like.
    Schema(SchemaRef),
    Batch(transship_plugin_api::Batch),
    Mark(Mark),
    /// Whose records follow, where those of several tasks come together.
    Source(Arc<Source>),
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
    /// Whose records it works on.
    sources: Sources,
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

    /// The transformers on a reader's thread.
    fn at_reader(&self) -> &[Maker<'_>] {
        self.cut.map_or(&self.transformers[..], |cut| &self.transformers[..cut.order])
    }

    /// Those in a lane.
    fn in_lanes(&self) -> &[Maker<'_>] {
        self.cut.map_or(&[], |cut| &self.transformers[cut.order + 1..cut.merge.unwrap_or(self.transformers.len())])
    }

    /// Those behind the lanes.
    fn behind_lanes(&self) -> &[Maker<'_>] {
        self.cut.and_then(|cut| cut.merge).map_or(&[], |merge| &self.transformers[merge + 1..])
    }

    /// What transformers have counted and measured: their figures up to now, and how long records waited lately (or, `ever`, in all).
    /// Asking begins a new "lately".
    pub fn metrics(&self, ever: bool) -> Vec<StageMetrics> {
        let stages = self.transformers.iter().filter_map(|maker| match (&self.lanes, maker.order()) {
            (Some(lanes), Some(_)) => Some(of_lanes(lanes, maker, ever)),
            _ => maker.metrics(),
        });
        stages.collect()
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

/// What there is to tell of the lanes of a job.
fn of_lanes(lanes: &Lanes, order: &Maker<'_>, ever: bool) -> StageMetrics {
    let gauge = lanes.gauge();
    let (lately, all) = lanes.waits();
    let waits = if ever { all } else { lately };
    let latency =
        |name: &'static str, waits: &Histogram| Latency { name: name.into(), distribution: waits.distribution() };
    StageMetrics {
        stage: order.name().into(),
        place: order.place().into(),
        setting: lanes.setting(),
        figures: vec![
            Figure::gauge("waiting", gauge.waiting as u64),
            Figure::gauge("most of a key", gauge.most_of_a_key as u64),
            Figure::gauge("ready keys", gauge.ready as u64),
            Figure::gauge("keys in work", gauge.held as u64),
        ],
        latencies: vec![
            latency("start", &waits.start),
            latency("key wait", &waits.key),
            latency("lane wait", &waits.lane),
        ],
        remarks: Vec::new(),
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
                let pause = line.cancel.child();
                let end = pause.clone();
                let _end: Hook = line.drain.on_wish(move || end.cancel());
                pause.pause(Duration::from_millis(line.plan.retry_pause_millis));
                if line.cancel.is_cancelled() || line.drain.is_wished() {
                    let given_up = report.earlier.last().map(|earlier| earlier.failure.clone());
                    let is_drained = !line.cancel.is_cancelled();
                    report.failure = given_up.map(|failure| match is_drained {
                        true => failure,
                        false => Failure { kind: Kind::Cancelled, ..failure },
                    });
                    return report;
                }
            }
        }
    }
}

/// Runs the reading side of a task, which feeds lanes: once, for what has gone into them cannot be taken back.
pub fn feed(line: &Line<'_>, spec: &TaskSpec, limit: &Throttle, lanes: &Lanes) -> TaskReport {
    let mut report = TaskReport { role: Role::Feeder, attempts: 1, ..TaskReport::of(spec) };
    let Outcome { counts, perf, result, .. } = Attempt::new(line, spec, limit, 1).feed(lanes);
    report.perf = perf;
    match result {
        Ok(committed) => {
            report.counts = counts;
            report.committed = Some(committed);
        }
        Err(failure) => {
            report.aborted = counts;
            report.failure = Some(failure.within(who(spec)));
        }
    }
    report
}

/// Whether a failed task is tried again: where the job asks for it, where it can help, and where it doubles nothing.
fn again(line: &Line<'_>, failure: &Failure, commit: Commit, attempts: u32) -> bool {
    // Another attempt of a run that is drained would read nothing, and count as done.
    let is_stopped = line.cancel.is_cancelled() || line.drain.is_wished();
    if attempts >= line.plan.max_attempts || !can_help(failure) || is_stopped {
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
        let source = Source {
            task: spec.id.clone(),
            number: spec.number,
            attempt: number,
            split: spec.split.label.clone(),
            unit: spec.split.unit.clone(),
        };
        let sources = Sources::new(Arc::new(source));
        Attempt { line, spec, limit, info, cancel, sources, failure: OnceLock::new(), echo: OnceLock::new() }
    }

    fn run(self) -> Outcome {
        let total = Watch::start();
        let (sender, mut receiver) = channel::bounded_within(capacity(&self.line.plan), &self.line.budget);
        let control = sender.control();
        let _close: Hook = self.cancel.on_cancel(move || control.cancel());
        let (read, written) = std::thread::scope(|scope| {
            let writing = std::thread::Builder::new().name(format!("task-{}-writer", self.spec.number)).spawn_scoped(
                scope,
                || {
                    let written = write::run(&self, &mut receiver);
                    drop(receiver);
                    written
                },
            );
            match writing {
                Ok(writing) => {
                    let read = read::run(&self, Outlet::Channel(sender));
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

    fn feed(self, lanes: &Lanes) -> Outcome {
        let total = Watch::start();
        let feeder = lanes.feeder(self.sources.now());
        let capacity = capacity(&self.line.plan);
        let read = read::run(&self, Outlet::Lanes { feeder, capacity, handed_on: 0 });
        let written = write::Writing { report: Some(Report::default()), ..write::Writing::default() };
        self.outcome(total, read, written)
    }

    fn outcome(self, total: Watch, mut read: read::Reading, written: write::Writing) -> Outcome {
        let counts = Counts {
            read: read.records + read.dirty,
            read_bytes: read.bytes,
            added: read.transformed.added,
            filtered: read.transformed.filtered,
            duplicates: read.transformed.duplicates + written.report.as_ref().map_or(0, |report| report.duplicates),
            dirty_at_reader: read.dirty,
            dirty_at_transformers: read.transformed.dirty + read.oversized,
            dirty_at_writer: written.dirty,
            written: written.report.as_ref().map_or(0, |report| report.written),
            written_bytes: written.report.as_ref().map_or(0, |report| report.bytes),
            handed_on: read.handed_on,
            taken_on: 0,
        };
        let mut perf = Perf::default();
        perf.end_with(Phase::TaskTotal, total, counts.read, counts.read_bytes);
        perf.records.extend(read.perf.records);
        perf.records.extend(written.perf.records);
        let result = match (self.into_failure(), written.report) {
            (Some(failure), _) => {
                read.chain.abandon();
                Err(failure)
            }
            (None, Some(report)) => Ok(report),
            (None, None) => Err(Failure::new(Kind::Internal, "the attempt ended without a report")),
        };
        Outcome { counts, perf, result, commit: written.commit }
    }

    /// What failed first.
    fn into_failure(self) -> Option<Failure> {
        self.failure.into_inner().or(self.echo.into_inner())
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
            sources: self.sources.clone(),
            side,
            plugin: plugin.to_string(),
            cancel: self.cancel.clone(),
            dirty: self.line.dirty.clone(),
            count: AtomicU64::new(0),
            started: Mutex::default(),
        })
    }

    fn chain(&self, makers: &[Maker<'_>]) -> transship_plugin_api::Result<Chain> {
        let mut chain = Chain::default();
        for maker in makers {
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

/// What each task's channel holds.
fn capacity(plan: &Plan) -> Capacity {
    Capacity { records: at_least_one(plan.capacity.records), bytes: at_least_one(plan.capacity.bytes) }
}

fn cancelled() -> Failure {
    Failure::new(Kind::Cancelled, "cancelled")
}

fn at_least_one(number: usize) -> std::num::NonZeroUsize {
    std::num::NonZeroUsize::new(number).unwrap_or(std::num::NonZeroUsize::MIN)
}

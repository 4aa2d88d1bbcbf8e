//! One task: a split on its way from a reader task through a channel to a writer task, on two threads, as often as it takes.
//! Not here: which tasks there are and when they start (`schedule`).

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde_json::Value;
use transship_plugin_api::{Kind, Mark, ReadOptions, Report, TaskInfo};

use crate::calls::Doing;
use crate::cancel::{Cancel, Hook};
use crate::channel::{self, Capacity};
use crate::dirty::Side;
use crate::error::Failure;
use crate::host::{Source, Sources, TaskHost};
use crate::lanes::Lanes;
use crate::perf::meter::Times;
use crate::perf::{Perf, Phase, Watch};
use crate::plan::{Plan, TaskSpec};
use crate::progress::Reach;
use crate::throttle::Throttle;
use crate::transform::{Chain, Maker};

mod epochs;
mod inlet;
mod lane;
mod line;
#[cfg(test)]
#[cfg(transship_loom)]
mod loom;
mod outlet;
mod queues;
mod read;
mod report;
mod seconds;
mod write;

pub use lane::{merging, run as run_lane, run_merged};
pub use line::{Cut, Line};
pub use queues::Queues;
pub use report::{Counts, EarlierAttempt, Role, TaskReport};
pub use seconds::{SECOND, Seconds};

use epochs::{Epochs, Safe};
use outlet::Outlet;

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
    /// What the writer made safe while the attempt went on.
    safe: Option<Safe>,
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
    /// Where it begins to read; `None`: at the start of the split.
    position: Option<Value>,
    epochs: Epochs,
    /// How far the split is read and written.
    reach: Arc<Reach>,
    /// What its two sides spend their time with.
    times: Arc<Times>,
    /// The failure that came first…
    failure: OnceLock<Failure>,
    /// …and work given up because of it. It counts only where nothing else does: a plugin may give up by itself.
    echo: OnceLock<Failure>,
}

/// Runs a task until it is committed, or has failed for good. `limit` is that of the channel that it runs on, `slot` the number of that channel.
pub fn run(line: &Line<'_>, spec: &TaskSpec, limit: &Throttle, slot: Option<u32>) -> TaskReport {
    let mut report = TaskReport::of(spec);
    let (mut position, mut share) = (None, 0.0);
    let opened = line.progress.open_task(spec.number, &spec.split);
    loop {
        report.attempts += 1;
        line.record_begin(spec, report.attempts, slot);
        opened.reach.begin(report.counts.read, report.counts.read_bytes, share);
        let attempt = Attempt {
            position: position.clone(),
            reach: opened.reach.clone(),
            ..Attempt::new(line, spec, limit, report.attempts)
        };
        let Outcome { mut counts, perf, result, commit, safe } = attempt.run();
        report.perf = perf;
        match result {
            Ok(committed) => {
                report.counts.add(&counts);
                report.committed = Some(committed);
                line.record_end(&report, &report.perf, None);
                return report;
            }
            Err(failure) => {
                let can_go_on = safe.as_ref().is_none_or(|safe| line.can_go_on_behind(safe));
                let failure = failure.within(who(spec));
                line.record_end(&report, &report.perf, Some(&failure));
                let is_repeated = again(line, &failure, commit, report.attempts, can_go_on);
                if can_go_on || !is_repeated {
                    if let Some(safe) = safe {
                        report.counts.add(&safe.counts);
                        counts = counts.without(&safe.counts);
                        (position, share) = (safe.position, safe.share);
                    }
                } else {
                    // It begins again, and writes a second time what was safe.
                    counts.add(&std::mem::take(&mut report.counts));
                    (position, share) = (None, 0.0);
                }
                report.aborted.add(&counts);
                if !is_repeated {
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
pub fn feed(line: &Line<'_>, spec: &TaskSpec, limit: &Throttle, lanes: &Lanes, slot: Option<u32>) -> TaskReport {
    line.record_begin(spec, 1, slot);
    let mut report = TaskReport { role: Role::Feeder, attempts: 1, ..TaskReport::of(spec) };
    let opened = line.progress.open_task(spec.number, &spec.split);
    let attempt = Attempt { reach: opened.reach.clone(), ..Attempt::new(line, spec, limit, 1) };
    let Outcome { counts, perf, result, .. } = attempt.feed(lanes);
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
    line.record_end(&report, &report.perf, report.failure.as_ref());
    report
}

/// Whether a failed task is tried again: where the job asks for it, where it can help, and where it doubles nothing.
fn again(line: &Line<'_>, failure: &Failure, commit: Commit, attempts: u32, can_go_on: bool) -> bool {
    // Another attempt of a run that is drained would read nothing, and count as done.
    let is_stopped = line.cancel.is_cancelled() || line.drain.is_wished();
    if attempts >= line.plan.max_attempts || !can_help(failure) || is_stopped {
        return false;
    }
    let safe = line.may_retry(commit, failure) && (can_go_on || line.writer_info.idempotent);
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
        Attempt {
            line,
            spec,
            limit,
            info,
            cancel,
            sources: Sources::new(Arc::new(source)),
            position: None,
            epochs: Epochs::default(),
            reach: Arc::default(),
            times: line.attempts.begin(),
            failure: OnceLock::new(),
            echo: OnceLock::new(),
        }
    }

    fn run(self) -> Outcome {
        let total = Watch::start();
        let capacity = capacity(&self.line.plan);
        let (sender, mut receiver) = channel::bounded_within(capacity, &self.line.budget);
        let control = sender.control();
        let _queue = self.line.queues.add(control.clone(), capacity);
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
            duplicates: read.transformed.duplicates
                + written.report.as_ref().map_or(written.safe.duplicates, |report| report.duplicates),
            dirty_at_reader: read.dirty,
            dirty_at_transformers: read.transformed.dirty + read.oversized,
            dirty_at_writer: written.dirty,
            written: written.report.as_ref().map_or(written.safe.written, |report| report.written),
            written_bytes: written.report.as_ref().map_or(written.safe.bytes, |report| report.bytes),
            handed_on: read.handed_on,
            taken_on: 0,
        };
        let mut perf = Perf::default();
        perf.end_with(Phase::TaskTotal, total, counts.read, counts.read_bytes);
        perf.records.extend(read.perf.records);
        perf.records.extend(written.perf.records);
        let (failure, safe) = self.into_failure();
        let result = match (failure, written.report) {
            (Some(failure), _) => {
                read.chain.abandon();
                Err(failure)
            }
            (None, Some(report)) => Ok(report),
            (None, None) => Err(Failure::new(Kind::Internal, "the attempt ended without a report")),
        };
        Outcome { counts, perf, result, commit: written.commit, safe }
    }

    /// What failed first, and what is safe all the same.
    fn into_failure(self) -> (Option<Failure>, Option<Safe>) {
        (self.failure.into_inner().or(self.echo.into_inner()), self.epochs.into_safe())
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
            reach: self.reach.clone(),
            doing: Doing::default(),
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
            position: self.position.clone(),
        }
    }
}

/// Tells how much of the transformers' time lookups took, if there are any.
fn tell_of_lookups(perf: &mut Perf, chain: &Chain, watch: Watch) {
    let time = chain.time_in_lookups();
    if !time.is_zero() {
        perf.add(Phase::LookupTime, watch, time, 0, 0);
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

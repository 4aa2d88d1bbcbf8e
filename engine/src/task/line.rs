//! What all tasks of a job share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use transship_plugin_api::{CommitClass, Reader, Run, Writer, WriterInfo};

use super::epochs::Safe;
use super::{Commit, Queues, Seconds, TaskReport};
use crate::calls::{Calls, Doing};
use crate::cancel::{Cancel, Drain};
use crate::channel::Budget;
use crate::dirty::Dirty;
use crate::error::Failure;
use crate::gate::Gate;
use crate::lanes::Lanes;
use crate::latency::{Histogram, Latencies};
use crate::metrics::{Figure, Latency, StageMetrics};
use crate::openings::Opener;
use crate::perf::meter::Attempts;
use crate::perf::recorder::{Attempt, Owner, Recorder};
use crate::perf::recording::TaskLine;
use crate::perf::{Perf, now_micros};
use crate::plan::{Plan, TaskSpec};
use crate::progress::Progress;
use crate::slots::Share;
use crate::throttle::Throttle;
use crate::transform::Maker;

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
    /// Readers take a slot of it before each call of `next`.
    pub share: Arc<Share>,
    /// Whoever starts a task asks it whether one more may be open.
    pub opener: Opener,
    /// The channels of those that are open.
    pub queues: Arc<Queues>,
    /// What those that are open spend their time with.
    pub attempts: Attempts,
    /// Writer tasks take a slot of it for as long as they are open.
    pub target: Option<Gate>,
    pub throttle: Arc<Throttle>,
    pub budget: Arc<Budget>,
    pub dirty: Arc<Dirty>,
    pub drain: Drain,
    /// Whether it was told that the writer has no checkpoints.
    pub told_of_checkpoints: AtomicBool,
    pub cancel: Cancel,
    pub calls: Calls,
    /// What reader and writer do themselves, not their tasks.
    pub doing: Doing,
    pub progress: &'a Progress,
    /// Writes perf records, if somebody wants them.
    pub recorder: Option<&'a Recorder>,
}

/// Where the transformers are cut because lanes begin or end there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub order: usize,
    pub merge: Option<usize>,
}

impl<'a> Line<'a> {
    /// The limit of one of the job's channels; each has its own.
    pub fn channel_limit(&self) -> Arc<Throttle> {
        Throttle::new(self.plan.channel_bytes_per_second, self.plan.channel_records_per_second)
    }

    /// The transformers on a reader's thread.
    pub(super) fn at_reader(&self) -> &[Maker<'a>] {
        self.cut.map_or(&self.transformers[..], |cut| &self.transformers[..cut.order])
    }

    /// Those in a lane.
    pub(super) fn in_lanes(&self) -> &[Maker<'a>] {
        self.cut.map_or(&[], |cut| &self.transformers[cut.order + 1..cut.merge.unwrap_or(self.transformers.len())])
    }

    /// Those behind the lanes.
    pub(super) fn behind_lanes(&self) -> &[Maker<'a>] {
        self.cut.and_then(|cut| cut.merge).map_or(&[], |merge| &self.transformers[merge + 1..])
    }

    /// What transformers have counted and measured: their figures up to now, and how long records waited lately (or, `ever`, in all).
    /// Asking begins a new "lately".
    pub fn metrics(&self, ever: bool) -> Vec<StageMetrics> {
        let stages = self.transformers.iter().filter_map(|maker| match (&self.lanes, maker.order()) {
            (Some(lanes), Some(_)) => Some(of_lanes(lanes, maker, ever)),
            _ => maker.metrics(ever),
        });
        stages.collect()
    }

    /// Whose perf records those of this job are.
    pub fn owner(&self) -> Owner<'_> {
        Owner { run: &self.run.id, job: &self.run.job }
    }

    /// Records that an attempt at a task begins; `slot`: the channel that it runs on.
    pub(super) fn record_begin(&self, spec: &TaskSpec, attempt: u32, slot: Option<u32>) {
        let Some(recorder) = self.recorder else { return };
        recorder.task(&TaskLine {
            run: self.run.id.clone(),
            job: self.run.job.clone(),
            task: spec.id.clone(),
            number: spec.number,
            split: spec.split.label.clone(),
            attempt,
            split_bytes: spec.split.bytes,
            slot,
            start_micros: now_micros(),
        });
    }

    /// Records what the last attempt at a task came to.
    pub(super) fn record_end(&self, report: &TaskReport, perf: &Perf, failure: Option<&Failure>) {
        let Some(recorder) = self.recorder else { return };
        let result = match failure {
            None => "done",
            Some(failure) if failure.is_echo() => "cancelled",
            Some(_) => "failed",
        };
        let message = failure.map(ToString::to_string);
        let (task, split, number) = (&report.task, &report.split, report.attempts);
        recorder.attempt(self.owner(), &Attempt { task, split, number, perf, result, message: message.as_deref() });
    }

    /// Records what transformers measured in the second that ends now.
    pub fn record_stages(&self, stages: &[StageMetrics]) {
        if let Some(recorder) = self.recorder {
            recorder.stages(self.owner(), stages, Some(now_micros()));
        }
    }

    /// Where to look each second, if somebody wants records.
    pub fn seconds(&self) -> Option<Seconds<'a>> {
        Some(Seconds {
            run: self.run.clone(),
            recorder: self.recorder?,
            progress: self.progress,
            queues: self.queues.clone(),
            attempts: self.attempts.clone(),
            calls: self.calls.clone(),
        })
    }

    pub fn reader(&self) -> MutexGuard<'_, Box<dyn Reader>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn writer(&self) -> MutexGuard<'_, Box<dyn Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody asked for a checkpoint, and the writer has none: that is told once.
    pub(super) fn has_no_checkpoints(&self) {
        if !self.told_of_checkpoints.swap(true, Ordering::Relaxed) {
            log::warn!(
                "{} has no checkpoints: what it writes is flushed instead, and visible when it is elsewhere",
                self.writer_name
            );
        }
    }

    /// Whether another attempt can begin behind what is safe, and not double it.
    pub(super) fn can_go_on_behind(&self, safe: &Safe) -> bool {
        // A failed attempt is taken out of the memory of a transformer like `dedup`, also what is safe of it.
        safe.position.is_some() && !self.transformers.iter().any(Maker::needs_one_process)
    }

    /// Whether an attempt that failed left nothing behind that a second one would double.
    pub(super) fn may_retry(&self, commit: Commit, failure: &Failure) -> bool {
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
    let latency = |name, of: fn(&Latencies) -> &Histogram| Latency::of(name, of(&lately), of(&all), ever);
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
            latency("start", |waits| &waits.start),
            latency("key wait", |waits| &waits.key),
            latency("lane wait", |waits| &waits.lane),
        ],
        remarks: Vec::new(),
    }
}

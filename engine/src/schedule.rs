//! Runs the tasks of a job, so many at once, and collects their reports. Not here: where they come from (`schedule/source`), the life
//! of one task (`task`).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Instant;

use transship_plugin_api::Kind;

use crate::cancel::{Cancelled, Hook};
use crate::error::Failure;
use crate::intervals::Intervals;
use crate::lanes::Lanes;
use crate::openings::{Answer, Opening};
use crate::plan::TaskSpec;
use crate::task::{self, Line, SECOND, TaskReport};
use crate::transform::Maker;

mod adapt;
mod source;

use adapt::Adapting;
pub use source::Source;

/// How far is looked ahead for a task whose connection has room.
const MOST_UPCOMING: usize = 1000;

/// What became of the tasks.
pub struct Tasks {
    /// One report for each task that was started, in the order of their numbers.
    pub reports: Vec<TaskReport>,
    /// What failed first.
    pub failure: Option<Failure>,
}

/// Runs tasks until there are no more or one has failed; then the others are cancelled. If it `adapts`, fewer are open where the target
/// is slow.
pub fn run(line: &Line<'_>, source: &Source<'_>, content: usize, adapts: bool) -> Tasks {
    let done = Mutex::new(Tasks { reports: Vec::new(), failure: None });
    let adapting = adapts.then(|| Adapting::new(line));
    let work = Work { line, source, content, upcoming: Mutex::default(), adapting, done };
    let intervals = Intervals::default();
    std::thread::scope(|scope| {
        let _loading = source.load(scope);
        // Whoever wants to know what transformers measure in each second finds it at the progress.
        if line.transformers.iter().any(Maker::measures) {
            let tell = || {
                let stages = line.metrics(false);
                line.record_stages(&stages);
                line.progress.second(stages);
            };
            intervals.every(SECOND, scope, ("stages", "nothing is told of what transformers measure"), tell);
        }
        if let (Some(interval), Some(lanes)) = (line.plan.checkpoint, &line.lanes) {
            let epochs = AtomicU64::new(1);
            let end_epoch = move || lanes.epoch(epochs.fetch_add(1, Ordering::Relaxed));
            intervals.every(interval, scope, ("epochs", "there are no checkpoints"), end_epoch);
        }
        if let Some(adapting) = &work.adapting {
            let without = "as many tasks are open as may be, however slow the target is";
            intervals.every(adapt::INTERVAL, scope, ("adapting", without), || adapting.pass());
        }
        let _end = intervals.end();
        match &line.lanes {
            None => work.run_tasks(),
            Some(lanes) => work.run_with_lanes(lanes),
        }
    });
    // Where all tasks were busy nobody asked for another one, and was told.
    if let Some(failure) = source.failure() {
        work.note(failure);
    }
    let mut tasks = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    tasks.reports.sort_by_key(|report| report.number);
    tasks
}

/// What the threads of a job share.
struct Work<'a> {
    line: &'a Line<'a>,
    source: &'a Source<'a>,
    content: usize,
    /// Tasks that were found and may not be opened yet, since others of their connections are open.
    upcoming: Mutex<VecDeque<TaskSpec>>,
    adapting: Option<Adapting<'a>>,
    done: Mutex<Tasks>,
}

impl Work<'_> {
    fn run_tasks(&self) {
        std::thread::scope(|scope| self.start(scope, 0));
    }

    /// Runs tasks that feed lanes, the lanes, and what stands behind them where they come together again.
    fn run_with_lanes(&self, lanes: &Arc<Lanes>) {
        let closing = lanes.clone();
        let _close: Hook = self.line.cancel.on_cancel(move || closing.close());
        let has_merge = self.line.cut.is_some_and(|cut| cut.merge.is_some());
        let (merging, merged) = match has_merge.then(|| task::merging(self.line)) {
            Some((merging, merged)) => (Some(merging), Some(merged)),
            None => (None, None),
        };
        std::thread::scope(|scope| {
            if let Some(merged) = merged {
                let run = move || task::run_merged(self.line, self.content, lanes.count(), merged);
                self.spawn(scope, "merged".into(), run);
            }
            std::thread::scope(|scope| {
                for lane in 0..lanes.count() {
                    let merging = merging.as_ref();
                    let run = move || task::run_lane(self.line, self.content, lanes, lane, merging);
                    self.spawn(scope, format!("lane-{lane}"), run);
                }
                self.run_tasks();
                lanes.end();
            });
            if let Some(merging) = merging {
                merging.end();
            }
        });
    }

    /// Starts a thread that runs one task of its own.
    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        name: String,
        run: impl FnOnce() -> TaskReport + Send + 'scope,
    ) {
        let started = std::thread::Builder::new().name(name).spawn_scoped(scope, move || {
            if let Some(report) = self.unless_it_panics(run) {
                self.take_in(report);
            }
        });
        if let Err(error) = started {
            self.note(Failure::new(Kind::Internal, format!("cannot start a thread: {error}")));
        }
    }

    /// A panic here is a bug, and still must not leave others waiting for what will never come: the job is given up.
    fn unless_it_panics<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        if done.is_err() {
            self.note(Failure::new(Kind::Internal, "a thread of the job panicked: this is a bug in transship"));
        }
        done.ok()
    }

    fn take_in(&self, report: TaskReport) {
        if let Some(failure) = report.failure.clone() {
            self.note(failure);
        }
        self.done.lock().unwrap_or_else(PoisonError::into_inner).reports.push(report);
    }

    /// Starts a thread that runs tasks, one after another.
    fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, number: u32) {
        let name = format!("channel-{number}");
        let Err(error) = std::thread::Builder::new().name(name).spawn_scoped(scope, move || {
            self.unless_it_panics(|| self.run(scope, number));
        }) else {
            return;
        };
        if number == 0 {
            self.note(Failure::new(Kind::Internal, format!("cannot start a thread: {error}")));
        } else {
            // Those that run can do the rest.
            log::warn!(
                "only {number} of {} channels run: cannot start another thread: {error}",
                self.line.plan.channels
            );
        }
    }

    /// Runs tasks until there are no more. The next thread starts as soon as this one has got a task: a job has no more
    /// threads than tasks that are open, however many channels it may use.
    fn run<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, number: u32) {
        let mut may_start_another = number + 1 < self.line.plan.channels;
        let limit = self.line.channel_limit();
        while !self.line.cancel.is_cancelled() {
            let (spec, opening) = match self.next() {
                Ok(Some(next)) => next,
                Ok(None) => return,
                Err(failure) => return self.note(failure),
            };
            if std::mem::take(&mut may_start_another) {
                self.start(scope, number + 1);
            }
            self.adapting.iter().for_each(Adapting::begin);
            let began = Instant::now();
            let report = match &self.line.lanes {
                None => task::run(self.line, &spec, &limit, Some(number)),
                Some(lanes) => task::feed(self.line, &spec, &limit, lanes, Some(number)),
            };
            self.adapting.iter().for_each(|adapting| adapting.end(began.elapsed()));
            drop(opening);
            self.take_in(report);
        }
    }

    /// The next task, once it may be opened; `None`: there are no more.
    fn next(&self) -> Result<Option<(TaskSpec, Opening)>, Failure> {
        // Others who want one wait here, not among those of other contents.
        let mut upcoming = self.upcoming.lock().unwrap_or_else(PoisonError::into_inner);
        // Waiting ends when the job does, and when nothing more is to be read.
        let waiting = self.line.cancel.child();
        let end = waiting.clone();
        let _end: Hook = self.line.drain.on_wish(move || end.cancel());
        let mut has_more = true;
        loop {
            if upcoming.is_empty() {
                match self.source.next()? {
                    Some(task) => upcoming.push_back(task),
                    None => return Ok(None),
                }
            }
            // Of those that share a limit the first.
            let mut places: Vec<usize> = Vec::new();
            for (place, task) in upcoming.iter().enumerate() {
                if !places.iter().any(|first| upcoming[*first].split.limit == task.split.limit) {
                    places.push(place);
                }
            }
            let limits: Vec<_> = places.iter().map(|place| upcoming[*place].split.limit.as_ref()).collect();
            let may_look_further = has_more && upcoming.len() < MOST_UPCOMING;
            match self.line.opener.open(&limits, may_look_further, &waiting) {
                Ok(Answer::Open(which, opening)) => {
                    return Ok(upcoming.remove(places[which]).map(|task| (task, opening)));
                }
                Ok(Answer::AllLimited) => match self.source.next()? {
                    Some(task) => upcoming.push_back(task),
                    None => has_more = false,
                },
                Err(Cancelled) if self.line.cancel.is_cancelled() => {
                    return Err(Failure::new(Kind::Cancelled, "cancelled"));
                }
                Err(Cancelled) => {
                    upcoming.clear();
                    return Ok(None);
                }
            }
        }
    }

    /// Keeps the first failure (a real one rather than an echo) and ends the other tasks.
    fn note(&self, failure: Failure) {
        let mut tasks = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if tasks.failure.as_ref().is_none_or(|first| first.is_echo() && !failure.is_echo()) {
            tasks.failure = Some(failure);
        }
        drop(tasks);
        self.line.cancel.cancel();
    }
}

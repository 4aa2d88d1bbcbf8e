//! Runs the tasks of a job, so many at once, and collects their reports. Splits are pulled from the reader only as fast as
//! tasks start. Not here: the life of one task (`task`).

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use transship_plugin_api::{Kind, Split, SplitRequest};

use crate::cancel::Hook;
use crate::error::Failure;
use crate::lanes::Lanes;
use crate::perf::Watch;
use crate::plan::{self, TaskSpec};
use crate::task::{self, Line, TaskReport};
use crate::transform::Maker;

const SECOND: Duration = Duration::from_secs(1);

/// Where tasks come from.
pub struct Source<'a> {
    line: &'a Line<'a>,
    content: usize,
    state: Mutex<State>,
}

struct State {
    ready: VecDeque<Split>,
    /// The reader has said that there are no more.
    exhausted: bool,
    found: u32,
    /// The ids of all tasks so far: two splits of one id could not be told apart in reports.
    ids: HashSet<String>,
    /// How long the reader took to say which splits there are.
    time: Duration,
}

impl<'a> Source<'a> {
    /// The splits of the reader, on demand.
    pub fn new(line: &'a Line<'a>, content: usize) -> Source<'a> {
        let state =
            State { ready: VecDeque::new(), exhausted: false, found: 0, ids: HashSet::new(), time: Duration::ZERO };
        Source { line, content, state: Mutex::new(state) }
    }

    /// The next task, if there is one.
    ///
    /// # Errors
    /// When the reader cannot say which splits there are.
    pub fn next(&self) -> Result<Option<TaskSpec>, Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.line.cancel.is_cancelled() {
            // Not the end: a list that stops here would be taken for the whole.
            return Err(Failure::new(Kind::Cancelled, "cancelled"));
        }
        if self.line.drain.is_wished() {
            return Ok(None);
        }
        if state.ready.is_empty() && !state.exhausted {
            let watch = Watch::start();
            let splits = self.ask();
            state.time += watch.elapsed();
            let splits = splits?;
            state.exhausted = splits.is_empty();
            for split in &splits {
                self.line.progress.task_known(split.bytes);
            }
            state.ready.extend(splits);
            if state.exhausted {
                self.line.progress.no_more_tasks();
            }
        }
        let Some(split) = state.ready.pop_front() else { return Ok(None) };
        let task = plan::task(&self.line.run, self.content, state.found, split);
        state.found += 1;
        if !state.ids.insert(task.id.clone()) {
            let message = format!("two splits have the id \"{}\"", task.split.id);
            return Err(self.failed(Failure::new(Kind::Internal, message).within(self.line.reader_name.clone())));
        }
        Ok(Some(task))
    }

    /// How long the reader took so far to say which splits there are.
    pub fn time(&self) -> Duration {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).time
    }

    fn ask(&self) -> Result<Vec<Split>, Failure> {
        let channels = self.line.plan.channels;
        let request = SplitRequest { channels, max: channels.saturating_mul(2).max(8) };
        let calls = self.line.calls.line(self.line.reader_name.clone(), &self.line.cancel);
        let splits = calls.call("splits", || self.line.reader().splits(&request));
        splits.map_err(|error| self.failed(Failure::of(&error, &self.line.reader_name)))
    }

    fn failed(&self, failure: Failure) -> Failure {
        failure.within("looking for splits")
    }
}

/// What became of the tasks.
pub struct Tasks {
    /// One report for each task that was started, in the order of their numbers.
    pub reports: Vec<TaskReport>,
    /// What failed first.
    pub failure: Option<Failure>,
}

/// Runs tasks until there are no more or one has failed; then the others are cancelled.
pub fn run(line: &Line<'_>, source: &Source<'_>, content: usize) -> Tasks {
    let work = Work { line, source, content, done: Mutex::new(Tasks { reports: Vec::new(), failure: None }) };
    let ended = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        // Whoever wants to know what transformers measure in each second finds it at the progress.
        if line.transformers.iter().any(Maker::measures) {
            let telling = std::thread::Builder::new().name("seconds".into());
            let _ = telling.spawn_scoped(scope, || tell_each_second(line, &ended));
        }
        // Also when it panics: the thread would keep the scope open for ever.
        let _end = End(&ended);
        match &line.lanes {
            None => work.run_tasks(),
            Some(lanes) => work.run_with_lanes(lanes),
        }
    });
    let mut tasks = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    tasks.reports.sort_by_key(|report| report.number);
    tasks
}

/// Says that it is over when it is dropped.
struct End<'a>(&'a (Mutex<bool>, Condvar));

impl Drop for End<'_> {
    fn drop(&mut self) {
        *lock(&self.0.0) = true;
        self.0.1.notify_all();
    }
}

/// Tells the progress once a second what transformers measure, until the end.
fn tell_each_second(line: &Line<'_>, (has_ended, end): &(Mutex<bool>, Condvar)) {
    let mut due = Instant::now() + SECOND;
    let mut ended = lock(has_ended);
    while !*ended {
        let now = Instant::now();
        if now < due {
            ended = end.wait_timeout(ended, due - now).unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        due += SECOND;
        drop(ended);
        line.progress.second(line.metrics(false));
        ended = lock(has_ended);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the threads of a job share.
struct Work<'a> {
    line: &'a Line<'a>,
    source: &'a Source<'a>,
    content: usize,
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
    /// threads than tasks, however many channels it may use.
    fn run<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, number: u32) {
        let mut may_start_another = number + 1 < self.line.plan.channels;
        let limit = self.line.channel_limit();
        while !self.line.cancel.is_cancelled() {
            let spec = match self.source.next() {
                Ok(Some(spec)) => spec,
                Ok(None) => return,
                Err(failure) => return self.note(failure),
            };
            if std::mem::take(&mut may_start_another) {
                self.start(scope, number + 1);
            }
            let report = match &self.line.lanes {
                None => task::run(self.line, &spec, &limit),
                Some(lanes) => task::feed(self.line, &spec, &limit, lanes),
            };
            self.line.progress.task_done(spec.split.bytes);
            self.take_in(report);
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

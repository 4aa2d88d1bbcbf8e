//! Runs the tasks of a job, so many at once, and collects their reports. Splits are pulled from the reader only as fast as
//! tasks start. Not here: the life of one task (`task`).

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use transship_plugin_api::{Kind, Split, SplitRequest};

use crate::error::Failure;
use crate::perf::Watch;
use crate::plan::{self, TaskSpec};
use crate::task::{self, Line, TaskReport};

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
pub fn run(line: &Line<'_>, source: &Source<'_>) -> Tasks {
    let work = Work { line, source, done: Mutex::new(Tasks { reports: Vec::new(), failure: None }) };
    std::thread::scope(|scope| work.start(scope, 0));
    let mut tasks = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    tasks.reports.sort_by_key(|report| report.number);
    tasks
}

/// What the threads of a job share.
struct Work<'a> {
    line: &'a Line<'a>,
    source: &'a Source<'a>,
    done: Mutex<Tasks>,
}

impl Work<'_> {
    /// Starts a thread that runs tasks, one after another.
    fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, number: u32) {
        let name = format!("channel-{number}");
        let Err(error) = std::thread::Builder::new().name(name).spawn_scoped(scope, move || self.run(scope, number))
        else {
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
            let report = task::run(self.line, &spec, &limit);
            self.line.progress.task_done(spec.split.bytes);
            if let Some(failure) = report.failure.clone() {
                self.note(failure);
            }
            self.done.lock().unwrap_or_else(PoisonError::into_inner).reports.push(report);
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

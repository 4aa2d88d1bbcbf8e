//! Runs the tasks of a job, so many at once, and collects their reports. Splits are pulled from the reader only as fast as
//! tasks start. Not here: the life of one task (`task`).

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};
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
        if state.ready.is_empty() && !state.exhausted && !self.line.cancel.is_cancelled() {
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
    let done = Mutex::new(Tasks { reports: Vec::new(), failure: None });
    std::thread::scope(|scope| {
        for worker in 0..line.plan.channels {
            let work = || work(line, source, &done);
            let started = std::thread::Builder::new().name(format!("channel-{worker}")).spawn_scoped(scope, work);
            if let Err(error) = started {
                // One thread is enough to run them all.
                if worker == 0 {
                    let message = format!("cannot start a thread: {error}");
                    note(&done, Failure::new(Kind::Internal, message), line);
                } else {
                    log::warn!(
                        "only {worker} of {} channels run: cannot start another thread: {error}",
                        line.plan.channels
                    );
                }
                break;
            }
        }
    });
    let mut tasks = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    tasks.reports.sort_by_key(|report| report.number);
    tasks
}

fn work(line: &Line<'_>, source: &Source<'_>, done: &Mutex<Tasks>) {
    while !line.cancel.is_cancelled() {
        let spec = match source.next() {
            Ok(Some(spec)) => spec,
            Ok(None) => return,
            Err(failure) => return note(done, failure, line),
        };
        let report = task::run(line, &spec);
        line.progress.task_done(spec.split.bytes);
        if let Some(failure) = report.failure.clone() {
            note(done, failure, line);
        }
        done.lock().unwrap_or_else(PoisonError::into_inner).reports.push(report);
    }
}

/// Keeps the first failure (a real one rather than an echo) and ends the other tasks.
fn note(done: &Mutex<Tasks>, failure: Failure, line: &Line<'_>) {
    let mut tasks = done.lock().unwrap_or_else(PoisonError::into_inner);
    if tasks.failure.as_ref().is_none_or(|first| first.is_echo() && !failure.is_echo()) {
        tasks.failure = Some(failure);
    }
    drop(tasks);
    line.cancel.cancel();
}

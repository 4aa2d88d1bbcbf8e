//! Where the tasks of a job come from: loaders ask the reader for splits in the background, and tasks are made of them as fast as they
//! start. Not here: how loaders share the work (`splits`).

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use serde_json::Value;
use transship_plugin_api::{Kind, Listing, Split, SplitRequest};

use crate::calls::Line as CallLine;
use crate::cancel::Hook;
use crate::error::Failure;
use crate::perf::Watch;
use crate::plan::{self, TaskSpec};
use crate::splits::{self, Limits, Loader, Parts, Queue, Stop};
use crate::task::Line;

/// More bytes than this no split's description may have.
const MOST_BYTES: usize = 256 << 20;

/// Where tasks come from.
pub struct Source<'a> {
    line: &'a Line<'a>,
    content: usize,
    queue: Queue<Split, Failure>,
    /// The first loader, until it starts.
    first: Mutex<Option<Loader<Split, Failure>>>,
    found: Mutex<Found>,
    given: Mutex<Given>,
    /// How long loaders were in calls of the reader, in nanoseconds.
    nanos: AtomicU64,
    _hooks: [Hook; 2],
}

/// What loaders know of the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// It was not asked yet.
    Nothing,
    /// It has parts that can be listed beside each other, and may have more.
    Listings,
    /// It has no more, or could not say.
    All,
}

/// What became of splits.
#[derive(Default)]
struct Given {
    tasks: u32,
    /// The ids of all tasks so far: two splits of one id could not be told apart in reports.
    ids: HashSet<String>,
}

/// Sends the loaders away when it is dropped, so that the scope which they run in can end.
#[must_use = "the loaders are sent away when this is dropped"]
pub struct Loading {
    queue: Queue<Split, Failure>,
}

impl<'a> Source<'a> {
    /// The splits of the reader, found by at most so many loaders. Nobody looks for them before [`load`](Source::load). Those of a job
    /// with one channel are one: such a job keeps the order of its source.
    pub fn new(line: &'a Line<'a>, content: usize, loaders: NonZeroUsize) -> Source<'a> {
        let channels = NonZeroUsize::new(line.plan.channels as usize).unwrap_or(NonZeroUsize::MIN);
        let (queue, first) = splits::bounded(Limits::default(), loaders.min(channels));
        let stop = |queue: &Queue<Split, Failure>| {
            let queue = queue.clone();
            move || queue.stop()
        };
        let hooks = [line.cancel.on_cancel(stop(&queue)), line.drain.on_wish(stop(&queue))];
        Source {
            line,
            content,
            queue,
            first: Mutex::new(Some(first)),
            found: Mutex::new(Found::Nothing),
            given: Mutex::default(),
            nanos: AtomicU64::new(0),
            _hooks: hooks,
        }
    }

    /// Starts to look for splits, on threads of this scope. They end with the splits, with the job, or when what this returns is
    /// dropped: that has to happen in the scope.
    pub fn load<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>) -> Loading {
        if let Some(first) = lock(&self.first).take() {
            self.start(scope, first, 0);
        }
        Loading { queue: self.queue.clone() }
    }

    /// The next task, once there is one; `None`: there are no more.
    ///
    /// # Errors
    /// When the reader cannot say which splits there are.
    pub fn next(&self) -> Result<Option<TaskSpec>, Failure> {
        match self.queue.next() {
            Ok(split) => split.map(|split| self.task(split)).transpose(),
            Err(_) => self.no_more(),
        }
    }

    /// The next tasks, at most so many; none: there are no more.
    ///
    /// # Errors
    /// As [`next`](Source::next).
    pub fn next_batch(&self, most: NonZeroUsize) -> Result<Vec<TaskSpec>, Failure> {
        match self.queue.next_batch(most) {
            Ok(batch) => batch.splits.into_iter().map(|split| self.task(split)).collect(),
            Err(_) => self.no_more(),
        }
    }

    /// How long loaders were in calls of the reader so far, in sum.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }

    /// How many splits were found and not given yet.
    pub fn queued(&self) -> usize {
        self.queue.queued()
    }

    /// Starts a loader, which starts others.
    fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        loader: Loader<Split, Failure>,
        number: usize,
    ) {
        let handed_over = Arc::new(Mutex::new(Some(loader)));
        let taken_on = handed_over.clone();
        let started = std::thread::Builder::new().name(format!("loader-{number}")).spawn_scoped(scope, move || {
            // A panic ends the queue (its loader has vanished), and with that the job.
            let _ = std::panic::catch_unwind(AssertUnwindSafe(|| {
                let Some(loader) = lock(&taken_on).take() else { return };
                let calls = self.line.calls.line_with(
                    self.line.reader_name.clone(),
                    &self.line.cancel,
                    self.line.doing.clone(),
                );
                splits::load(loader, &Look { source: self, calls }, |another| self.start(scope, another, number + 1));
            }));
            // Tasks that are open may last, and nobody may ask for another one for long.
            if let Some(failure) = self.failure() {
                if !failure.is_echo() {
                    self.line.calls.note_cause(&failure);
                }
                self.line.cancel.cancel();
            }
        });
        let Err(error) = started else { return };
        let Some(loader) = lock(&handed_over).take() else { return };
        if number == 0 {
            loader.fail(Failure::new(Kind::Internal, format!("cannot start a thread: {error}")));
        } else {
            // Those that run can do the rest.
            log::warn!("only {number} threads look for splits: cannot start another one: {error}");
            loader.end();
        }
    }

    /// Why splits could not be found, if that is so: with that the job has failed.
    pub fn failure(&self) -> Option<Failure> {
        match self.queue.stopped()? {
            Stop::Failed(failure) => Some(failure),
            Stop::Vanished => {
                let message = "a thread that looks for splits panicked: this is a bug in transship";
                Some(Failure::new(Kind::Internal, message))
            }
            Stop::Unwanted => None,
        }
    }

    /// What to say where nothing more comes: nothing, where nobody wants more.
    fn no_more<T: Default>(&self) -> Result<T, Failure> {
        match self.failure() {
            Some(failure) => Err(failure),
            // Not the end: a list that stops here would be taken for the whole.
            None if self.line.cancel.is_cancelled() || !self.line.drain.is_wished() => {
                Err(Failure::new(Kind::Cancelled, "cancelled"))
            }
            None => Ok(T::default()),
        }
    }

    fn task(&self, split: Split) -> Result<TaskSpec, Failure> {
        let mut given = lock(&self.given);
        let task = plan::task(&self.line.run, self.content, given.tasks, split);
        given.tasks += 1;
        if !given.ids.insert(task.id.clone()) {
            let message = format!("two splits have the id \"{}\"", task.split.id);
            let failure = Failure::new(Kind::Internal, message).within(self.line.reader_name.clone());
            return Err(while_looking(failure));
        }
        Ok(task)
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.queue.stop();
    }
}

/// How one loader looks for splits.
struct Look<'s, 'a> {
    source: &'s Source<'a>,
    calls: Arc<CallLine>,
}

/// What a loader is looking through.
struct Part {
    /// `None`: the reader itself, which has no parts.
    listing: Option<Box<dyn Listing>>,
    calls: Arc<CallLine>,
}

impl Parts for Look<'_, '_> {
    type Split = Split;
    type Part = Part;
    type Error = Failure;

    fn next(&self) -> Result<Option<Part>, Failure> {
        let mut found = lock(&self.source.found);
        if *found == Found::All {
            return Ok(None);
        }
        // Also for the case that the call fails: then no other loader makes another one.
        let before = std::mem::replace(&mut *found, Found::All);
        let listing = self.call("listing", || self.source.line.reader().listing(&self.request()))?;
        if listing.is_some() {
            *found = Found::Listings;
        }
        let is_part = listing.is_some() || before == Found::Nothing;
        Ok(is_part.then(|| Part { listing, calls: self.calls.clone() }))
    }

    fn may_have_more(&self) -> bool {
        *lock(&self.source.found) == Found::Listings
    }

    fn is_on_demand(&self, part: &Part) -> bool {
        // While the reader looks for splits it opens none: it is asked only when a task waits for one.
        part.listing.is_none()
    }

    fn splits(&self, part: &mut Part) -> Result<Vec<(Split, usize)>, Failure> {
        let request = self.request();
        let splits = self.call("splits", || match &mut part.listing {
            Some(listing) => listing.splits(&request),
            None => self.source.line.reader().splits(&request),
        })?;
        let known = |split: Split| {
            let bytes = weight(&split);
            if bytes > MOST_BYTES {
                let message = format!("the description of the split {:.100} takes {bytes} bytes", split.id);
                let advice = format!("at most {MOST_BYTES} are possible: make several splits of it");
                return Err(while_looking(Failure::new(Kind::Unsupported, format!("{message}; {advice}"))));
            }
            self.source.line.progress.task_known(&split);
            Ok((split, bytes))
        };
        splits.into_iter().map(known).collect()
    }

    fn are_done(&self) {
        self.source.line.progress.no_more_tasks();
    }
}

impl Look<'_, '_> {
    fn request(&self) -> SplitRequest {
        let channels = self.source.line.plan.channels;
        SplitRequest { channels, max: channels.saturating_mul(2).max(8) }
    }

    fn call<T>(
        &self,
        name: &'static str,
        call: impl FnOnce() -> transship_plugin_api::Result<T>,
    ) -> Result<T, Failure> {
        let watch = Watch::start();
        let answer = self.calls.call(name, call);
        self.source.nanos.fetch_add(watch.elapsed().as_nanos() as u64, Ordering::Relaxed);
        answer.map_err(|error| while_looking(Failure::of(&error, &self.source.line.reader_name)))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let listing = self.listing.take();
        self.calls.call("release", || drop(listing));
    }
}

fn while_looking(failure: Failure) -> Failure {
    failure.within("looking for splits")
}

/// About how many bytes a split takes in memory.
fn weight(split: &Split) -> usize {
    size_of::<Split>() + split.id.len() + split.label.len() + split.unit.len() + weight_of(&split.detail)
}

/// About how many bytes a value takes beyond its own place.
fn weight_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(|item| size_of::<Value>() + weight_of(item)).sum(),
        Value::Object(object) => {
            object.iter().map(|(key, item)| size_of::<(String, Value)>() + key.len() + weight_of(item)).sum()
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! The engine as a plugin sees it: the [`Host`] of a job and that of each side of a task attempt.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use transship_plugin_api::{DirtyRecord, Error, Host, Result};

use crate::calls::Doing;
use crate::cancel::Cancel;
use crate::dirty::{Dirty, Place, Side, Verdict};
use crate::progress::Reach;

/// The host for what belongs to the whole job.
pub struct JobHost {
    pub cancel: Cancel,
    /// What its plugin does.
    pub doing: Doing,
}

/// Whose records they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub task: String,
    pub number: u32,
    pub attempt: u32,
    pub split: String,
    pub unit: String,
}

/// Whose records are being worked on: of a task always the same, of a lane now these and now those.
#[derive(Debug, Clone)]
pub struct Sources(Arc<Mutex<Arc<Source>>>);

/// The host for one side of one attempt.
pub struct TaskHost {
    pub run: String,
    pub sources: Sources,
    pub side: Side,
    pub plugin: String,
    pub cancel: Cancel,
    pub dirty: Arc<Dirty>,
    /// The dirty records of this side of this attempt.
    pub count: AtomicU64,
    /// When work began on each record of the batch at hand, as far as a writer has told it.
    pub started: Mutex<Vec<u64>>,
    /// How far the task is.
    pub reach: Arc<Reach>,
    /// What the plugin does.
    pub doing: Doing,
}

impl Sources {
    /// These records first.
    pub fn new(source: Arc<Source>) -> Sources {
        Sources(Arc::new(Mutex::new(source)))
    }

    /// Whose they are now.
    pub fn now(&self) -> Arc<Source> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on it is these records.
    pub fn turn_to(&self, source: Arc<Source>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = source;
    }
}

impl Host for JobHost {
    fn log(&self, level: log::Level, target: &str, message: &str) {
        log::log!(target: target, level, "{message}");
    }

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        Err(Error::internal(format!("a dirty record outside of any task: {}", record.cause)))
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn doing(&self, what: &str) {
        self.doing.set(what);
    }
}

impl TaskHost {
    /// When work began on each record of the last batch, if the writer has told it of all of them; then it is forgotten.
    pub fn take_started(&self, records: usize) -> Option<Vec<u64>> {
        let started = std::mem::take(&mut *self.started.lock().unwrap_or_else(PoisonError::into_inner));
        (started.len() == records).then_some(started)
    }

    /// The writer gets another batch: what it told of the one before is forgotten.
    pub fn begins_batch(&self) {
        self.take_started(0);
    }

    /// How many dirty records it was told of.
    pub fn dirty_count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Host for TaskHost {
    fn log(&self, level: log::Level, target: &str, message: &str) {
        log::log!(target: target, level, "{message} ({})", self.sources.now().split);
    }

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        let source = self.sources.now();
        let place = Place {
            run: &self.run,
            task: &source.task,
            number: source.number,
            attempt: source.attempt,
            split: &source.split,
            side: self.side,
            plugin: &self.plugin,
            unit: &source.unit,
        };
        let verdict =
            self.dirty.keep(&place, record).map_err(|error| Error::io(error.to_string()).with_source(error))?;
        self.count.fetch_add(1, Ordering::Relaxed);
        match verdict {
            Verdict::Kept => Ok(()),
            // The job is cancelled when the plugin has returned: a cancel handle must not be called from inside its own call.
            Verdict::OverLimit => Err(Error::cancelled()),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled() || self.dirty.is_over()
    }

    fn started(&self, first_row: usize, moments: &[u64]) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        // Told in order, and once each: of anything else nothing could be concluded.
        if first_row == started.len() {
            started.extend_from_slice(moments);
            self.reach.rows_begun(started.len() as u64);
        }
    }

    fn doing(&self, what: &str) {
        self.doing.set(what);
    }
}

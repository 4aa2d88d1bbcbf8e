//! The engine as a plugin sees it: the [`Host`] of a job and that of each side of a task attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use transship_plugin_api::{DirtyRecord, Error, Host, Result};

use crate::cancel::Cancel;
use crate::dirty::{Dirty, Place, Side, Verdict};

/// The host for what belongs to the whole job.
pub struct JobHost {
    pub cancel: Cancel,
}

/// The host for one side of one attempt.
pub struct TaskHost {
    pub run: String,
    pub task: String,
    pub number: u32,
    pub attempt: u32,
    pub split: String,
    pub unit: String,
    pub side: Side,
    pub plugin: String,
    pub cancel: Cancel,
    pub dirty: Arc<Dirty>,
    /// The dirty records of this side of this attempt.
    pub count: AtomicU64,
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
}

impl TaskHost {
    /// How many dirty records it was told of.
    pub fn dirty_count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Host for TaskHost {
    fn log(&self, level: log::Level, target: &str, message: &str) {
        log::log!(target: target, level, "{message} ({})", self.split);
    }

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        let place = Place {
            run: &self.run,
            task: &self.task,
            number: self.number,
            attempt: self.attempt,
            split: &self.split,
            side: self.side,
            plugin: &self.plugin,
            unit: &self.unit,
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
}

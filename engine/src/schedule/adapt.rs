//! `job.setting.schedule.adaptive`: fewer tasks are open while channels are full, more again once they are empty.
//! Not here: by what rule (`concurrency`).

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::concurrency::{Concurrency, Fill};
use crate::task::Line;

/// How often to look.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// How many tasks of a job may be open.
pub(super) struct Adapting<'a> {
    line: &'a Line<'a>,
    concurrency: Mutex<Concurrency>,
    open: AtomicU32,
}

impl<'a> Adapting<'a> {
    /// It begins with all that the job's channels allow.
    pub(super) fn new(line: &'a Line<'a>) -> Adapting<'a> {
        let channels = NonZeroU32::new(line.plan.channels).unwrap_or(NonZeroU32::MIN);
        Adapting {
            line,
            concurrency: Mutex::new(Concurrency::new(channels, channels, INTERVAL)),
            open: AtomicU32::new(0),
        }
    }

    /// A task begins.
    pub(super) fn begin(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    /// A task has ended, after so much time.
    pub(super) fn end(&self, lasted: Duration) {
        let open = self.open.fetch_sub(1, Ordering::Relaxed);
        self.change(|concurrency, fill| {
            // What it worked since the last interval is counted nowhere else.
            concurrency.worked(lasted.min(INTERVAL), fill, open);
            concurrency.ended(lasted, fill, open);
        });
    }

    /// An interval has passed.
    pub(super) fn pass(&self) {
        let open = self.open.load(Ordering::Relaxed);
        self.change(|concurrency, fill| concurrency.worked(INTERVAL.saturating_mul(open), fill, open));
    }

    fn change(&self, change: impl FnOnce(&mut Concurrency, Fill)) {
        let Some(fill) = self.line.queues.fill().and_then(|fill| Fill::try_from(fill).ok()) else { return };
        let mut concurrency = self.concurrency.lock().unwrap_or_else(PoisonError::into_inner);
        let before = concurrency.target();
        change(&mut concurrency, fill);
        let target = concurrency.target();
        if target != before {
            log::debug!(
                "at most {target} tasks are open from now on, instead of {before}: channels are filled to {fill:?}"
            );
            self.line.opener.set_most(NonZeroUsize::new(target as usize).unwrap_or(NonZeroUsize::MIN));
        }
    }
}

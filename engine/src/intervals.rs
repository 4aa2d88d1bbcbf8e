//! What is done every so often beside some work, each on a thread of its own, until the work is over.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

/// Some work, beside which things are done.
#[derive(Default)]
pub struct Intervals {
    is_over: Mutex<bool>,
    over: Condvar,
}

/// The work is over when this is dropped, also by a panic: the threads would keep their scope open for ever.
pub struct End<'a>(&'a Intervals);

impl Intervals {
    /// Does something at the end of every interval. The work goes on where that cannot be, and what it does without is told.
    pub fn every<'scope>(
        &'scope self,
        interval: Duration,
        scope: &'scope Scope<'scope, '_>,
        (name, without): (&str, &str),
        act: impl Fn() + Send + 'scope,
    ) {
        let run = move || self.repeat(interval, act);
        if let Err(error) = std::thread::Builder::new().name(name.into()).spawn_scoped(scope, run) {
            log::warn!("{without}: cannot start a thread: {error}");
        }
    }

    /// The work is over with this.
    pub fn end(&self) -> End<'_> {
        End(self)
    }

    fn repeat(&self, interval: Duration, act: impl Fn()) {
        let mut due = Instant::now() + interval;
        let mut is_over = self.is_over();
        while !*is_over {
            let now = Instant::now();
            if now < due {
                is_over = self.over.wait_timeout(is_over, due - now).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            // From now on: who is late does not catch up.
            due = now + interval;
            drop(is_over);
            act();
            is_over = self.is_over();
        }
    }

    fn is_over(&self) -> MutexGuard<'_, bool> {
        self.is_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        *self.0.is_over() = true;
        self.0.over.notify_all();
    }
}

//! What time it is: the machine's clock, or one that a test turns by hand. Whatever expires, waits or measures asks one of
//! these, so that a test of ten seconds takes none.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time since some moment that stays the same; it never goes back.
    fn now(&self) -> Duration;
}

/// The clock of the machine. Suspended time may be missing from it.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock that begins now.
    pub fn new() -> SystemClock {
        SystemClock { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A clock that stands until somebody turns it.
#[derive(Debug, Default)]
pub struct HandClock(Mutex<Duration>);

impl HandClock {
    /// Lets this much time pass.
    pub fn turn(&self, time: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.saturating_add(time);
    }

    /// Turns it to this time, unless it is past that.
    pub fn turn_to(&self, time: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = time.max(*now);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Clock> Clock for std::sync::Arc<C> {
    fn now(&self) -> Duration {
        (**self).now()
    }
}

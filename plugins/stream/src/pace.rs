//! When records are due, for a reader that makes so many a second.

use std::time::Duration;

/// A steady rate, counted from the first time it was asked. Who falls behind catches up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    records_per_second: f64,
}

impl Pace {
    /// The rate must be positive and finite.
    pub(crate) fn new(records_per_second: f64) -> Pace {
        Pace { records_per_second }
    }

    /// How many records are due after this time. The first is due at once.
    pub(crate) fn due(self, elapsed: Duration) -> u64 {
        (elapsed.as_secs_f64() * self.records_per_second) as u64 + 1
    }

    /// How long after the beginning the record is due that comes after so many; it is never a moment too early.
    pub(crate) fn due_after(self, records: u64) -> Duration {
        let seconds = records as f64 / self.records_per_second;
        Duration::try_from_secs_f64(seconds).map_or(Duration::MAX, |due| due.saturating_add(Duration::from_nanos(1)))
    }
}

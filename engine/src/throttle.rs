//! The speed limit of a job, shared by all its tasks: a token bucket for records, one for bytes, and the stricter of them
//! counts. It is asked before a batch is sent. Not here: how fast anything is (`perf`).
//!
//! A bucket is kept as one point in time: when all that has passed will be paid for. It may lie ahead of the present by the
//! time of the burst. A batch larger than the burst may pass when nothing is owed, and is paid for afterwards.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::time::Duration;

use crate::cancel::{Cancel, Cancelled};
use crate::channel::Size;
use crate::clock::{Clock, SystemClock};
use crate::sync::{Arc, Condvar, Mutex, lock, wait, wait_timeout};

#[cfg(test)]
#[cfg(transship_loom)]
mod loom;
#[cfg(test)]
#[cfg(not(transship_loom))]
mod tests;

/// How many records and bytes may pass in a second. Tasks that have to wait are served in the order of asking.
pub struct Throttle<C = SystemClock> {
    clock: C,
    unlimited: bool,
    line: Mutex<Line>,
}

/// A clock that can also pass the time.
pub trait Pastime: Clock {
    /// Lets this much time pass, or less if the turn is called meanwhile.
    fn wait(&self, turn: &Turn, time: Duration);
}

/// A task that waits. A call is kept until the task has heard it, so it may come at any time.
#[derive(Default)]
pub struct Turn {
    called: Mutex<bool>,
    heard: Condvar,
}

/// What may pass when, and those who wait for it: the first for time to pass, the others for the one before.
struct Line {
    records: Option<Bucket>,
    bytes: Option<Bucket>,
    waiting: VecDeque<Arc<Turn>>,
}

struct Bucket {
    per_second: NonZeroU64,
    burst: u64,
    paid_until: Duration,
}

enum Step {
    /// Somebody else is before this one.
    NotFirst,
    /// It may pass when so much more time has gone by.
    TooEarly(Duration),
    /// It passed, at this time.
    Passed(Duration),
}

/// A job that has been slower than its limit may catch up by what passes in a sixteenth of a second.
const BURSTS_PER_SECOND: u64 = 16;

impl Throttle {
    /// So many bytes and records a second; `None` and zero are no limit.
    pub fn new(bytes: Option<u64>, records: Option<u64>) -> std::sync::Arc<Throttle> {
        std::sync::Arc::new(Throttle::with_clock(SystemClock::new(), bytes, records))
    }
}

impl<C: Pastime> Throttle<C> {
    fn with_clock(clock: C, bytes: Option<u64>, records: Option<u64>) -> Throttle<C> {
        let bucket = |limit: Option<u64>| limit.and_then(NonZeroU64::new).map(Bucket::new);
        let line = Line { records: bucket(records), bytes: bucket(bytes), waiting: VecDeque::new() };
        Throttle { clock, unlimited: line.records.is_none() && line.bytes.is_none(), line: Mutex::new(line) }
    }

    /// Whether anything may pass at any time.
    pub fn is_unlimited(&self) -> bool {
        self.unlimited
    }

    /// Waits until a batch of this size may pass, and tells how long that took.
    ///
    /// # Errors
    /// When the work is cancelled during the wait, at once; nothing is taken then.
    pub fn take(&self, size: Size, cancel: &Cancel) -> Result<Duration, Cancelled> {
        let asked = self.clock.now();
        let turn = {
            let mut line = lock(&self.line);
            if line.waiting.is_empty() && line.ready_at(size) <= asked {
                line.pay(asked, size);
                return Ok(Duration::ZERO);
            }
            line.join()
        };
        let wake = turn.clone();
        let _hook = cancel.on_cancel(move || wake.call());
        let answer = loop {
            if cancel.is_cancelled() {
                break Err(Cancelled);
            }
            match self.step(&turn, size) {
                Step::NotFirst => turn.wait(),
                Step::TooEarly(rest) => self.clock.wait(&turn, rest),
                Step::Passed(now) => break Ok(now.saturating_sub(asked)),
            }
        };
        lock(&self.line).leave(&turn);
        answer
    }

    fn step(&self, turn: &Arc<Turn>, size: Size) -> Step {
        let mut line = lock(&self.line);
        if !line.is_first(turn) {
            return Step::NotFirst;
        }
        let (now, ready) = (self.clock.now(), line.ready_at(size));
        if ready > now {
            return Step::TooEarly(ready - now);
        }
        line.pay(now, size);
        Step::Passed(now)
    }
}

impl Line {
    fn join(&mut self) -> Arc<Turn> {
        let turn = Arc::new(Turn::default());
        self.waiting.push_back(turn.clone());
        turn
    }

    fn is_first(&self, turn: &Arc<Turn>) -> bool {
        self.waiting.front().is_some_and(|first| Arc::ptr_eq(first, turn))
    }

    /// Whoever leaves, served or cancelled, calls the one who is first then.
    fn leave(&mut self, turn: &Arc<Turn>) {
        self.waiting.retain(|waiting| !Arc::ptr_eq(waiting, turn));
        if let Some(first) = self.waiting.front() {
            first.call();
        }
    }

    fn ready_at(&self, size: Size) -> Duration {
        let ready =
            |bucket: &Option<Bucket>, amount| bucket.as_ref().map_or(Duration::ZERO, |bucket| bucket.ready_at(amount));
        ready(&self.records, size.records as u64).max(ready(&self.bytes, size.bytes as u64))
    }

    fn pay(&mut self, now: Duration, size: Size) {
        for (bucket, amount) in [(&mut self.records, size.records), (&mut self.bytes, size.bytes)] {
            if let Some(bucket) = bucket {
                bucket.pay(now, amount as u64);
            }
        }
    }
}

impl Bucket {
    fn new(per_second: NonZeroU64) -> Bucket {
        Bucket { per_second, burst: (per_second.get() / BURSTS_PER_SECOND).max(1), paid_until: Duration::ZERO }
    }

    /// When so much may pass: what is taken beyond the present must lie within the burst.
    fn ready_at(&self, amount: u64) -> Duration {
        let ahead = self.time_of(self.burst).saturating_sub(self.time_of(amount));
        self.paid_until.saturating_sub(ahead)
    }

    fn pay(&mut self, now: Duration, amount: u64) {
        self.paid_until = self.paid_until.max(now).saturating_add(self.time_of(amount));
    }

    /// The time in which the limit lets so much pass, rounded up: rounding never makes a job faster than its limit.
    fn time_of(&self, amount: u64) -> Duration {
        let per_second = self.per_second.get();
        let nanoseconds = (u128::from(amount % per_second) * 1_000_000_000).div_ceil(u128::from(per_second));
        Duration::from_secs(amount / per_second) + Duration::from_nanos(nanoseconds as u64)
    }
}

impl Turn {
    fn call(&self) {
        *lock(&self.called) = true;
        self.heard.notify_one();
    }

    fn wait(&self) {
        let mut called = lock(&self.called);
        while !*called {
            called = wait(&self.heard, called);
        }
        *called = false;
    }

    /// Waits for a call, but at most this long.
    pub fn wait_at_most(&self, time: Duration) {
        let mut called = lock(&self.called);
        if !*called {
            called = wait_timeout(&self.heard, called, time);
        }
        *called = false;
    }
}

impl Pastime for SystemClock {
    fn wait(&self, turn: &Turn, time: Duration) {
        turn.wait_at_most(time);
    }
}

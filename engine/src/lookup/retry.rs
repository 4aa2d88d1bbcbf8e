//! Whether an outcome is tried again, and after how long. It remembers nothing: the number of the attempt is all it needs.

use std::time::Duration;

use transship_plugin_api::{Error, Kind};

/// What is tried again, how often, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// How many calls follow the first one at most.
    pub most: u32,
    pub backoff: Backoff,
    /// By what share of itself a pause may be shorter, at random: 0 to 1. Lookups that failed together do not all come back together.
    pub jitter: f64,
    pub on: RetryOn,
}

/// How long the pause before an attempt is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Backoff {
    /// Always the same.
    Fixed(Duration),
    /// `first`, `first * factor`, `first * factor²`…, never more than `cap`.
    Exponential { first: Duration, factor: f64, cap: Duration },
}

/// What is worth another attempt. A time-out never is: it covers all attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetryOn {
    /// Errors of which the lookup says that another attempt may help.
    pub retryable: bool,
    /// All errors.
    pub errors: bool,
    /// Errors of these kinds.
    pub kinds: Vec<Kind>,
    /// That nothing was found.
    pub missing: bool,
}

impl Retry {
    /// Whether another attempt may follow the one with this number, the first being 1.
    pub fn may_follow(&self, attempt: u32) -> bool {
        attempt <= self.most
    }

    /// How long to wait after the attempt with this number. `random` is from 0 to 1.
    pub fn pause(&self, attempt: u32, random: f64) -> Duration {
        let pause = match self.backoff {
            Backoff::Fixed(pause) => pause,
            Backoff::Exponential { first, factor, cap } => {
                let power = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
                // Beyond what a length of time can be, the cap holds.
                let pause = first.as_secs_f64() * factor.powi(power);
                Duration::try_from_secs_f64(pause).unwrap_or(cap).min(cap)
            }
        };
        match self.jitter {
            0.0 => pause,
            jitter => pause.mul_f64(1.0 - jitter * random),
        }
    }
}

impl RetryOn {
    /// Whether an error is worth another attempt.
    pub fn error(&self, error: &Error) -> bool {
        self.errors || (self.retryable && error.is_retryable()) || self.kinds.contains(&error.kind())
    }
}

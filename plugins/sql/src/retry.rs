//! When to try again: after a deadlock, a lock time-out or a lost connection, with growing pauses.
//! Not here: which errors these are (a plugin marks them retryable), and how to wait (the caller's closure).

use std::time::Duration;

use transship_plugin_api::{Kind, Result};

/// How often to try, and how long to wait between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// How many attempts are made in all; at least one.
    pub attempts: u32,
    /// The pause after the first attempt. Each further one is twice as long…
    pub first: Duration,
    /// …up to this.
    pub longest: Duration,
}

impl Schedule {
    /// For a statement that lost a deadlock or waited too long for a lock: soon, and often.
    pub const LOCKS: Schedule =
        Schedule { attempts: 10, first: Duration::from_millis(20), longest: Duration::from_secs(2) };
    /// For opening a connection: a server that is starting, or a fail-over.
    pub const CONNECT: Schedule =
        Schedule { attempts: 5, first: Duration::from_millis(500), longest: Duration::from_secs(8) };

    /// The pause after an attempt, counted from 1. Between half of it and all of it is taken by `salt` (a task's number, an
    /// id's hash), so that those who blocked each other do not meet again.
    pub fn pause(&self, attempt: u32, salt: u64) -> Duration {
        let doubled = self.first.saturating_mul(1 << attempt.saturating_sub(1).min(20));
        let whole = doubled.min(self.longest);
        let share = mixed(salt.wrapping_add(attempt as u64)) % 1_000;
        whole / 2 + (whole / 2).mul_f64(share as f64 / 1_000.0)
    }
}

/// Does something until it succeeds, fails for good, or has been tried often enough. Only errors that are retryable are worth
/// another attempt. `attempt` gets the number of the attempt, from 1; `wait` waits so long, and says `Cancelled` when the
/// engine wants the task to end.
pub fn with_retries<T>(
    schedule: Schedule,
    salt: u64,
    doing: &str,
    mut wait: impl FnMut(Duration) -> Result<()>,
    mut attempt: impl FnMut(u32) -> Result<T>,
) -> Result<T> {
    let mut number = 1;
    loop {
        let error = match attempt(number) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if !error.is_retryable() || error.kind() == Kind::Cancelled {
            return Err(error);
        }
        if number >= schedule.attempts {
            let tries = if number == 1 { "attempt".to_string() } else { format!("{number} attempts") };
            return Err(error.context(format_args!("after {tries}")));
        }
        let pause = schedule.pause(number, salt);
        log::warn!("{doing}: attempt {number} of {} failed, the next in {pause:.1?}: {error}", schedule.attempts);
        wait(pause)?;
        number += 1;
    }
}

/// A number that looks random, the same for the same input.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests;

//! How many tasks of a job are open at once: more while its channels are empty, for then the source is what is slow, fewer while they are
//! full, for then the target is. Pure: it is told of time and reads no clock. Not here: opening tasks, and which one is next.

use std::num::NonZeroU32;
use std::time::Duration;

/// How full the channels of a job are in the mean: 0 is empty, 1 is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fill(f64);

/// A number that no fill can be.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("channels cannot be filled to {0}: only a number from 0 on says how full they are")]
pub struct NoFill(f64);

/// Half full: source and target are equally fast.
const BALANCED: f64 = 0.5;

/// The target of one job. It changes by one at a time.
#[derive(Debug, Clone)]
pub struct Concurrency {
    target: u32,
    most: u32,
    /// How much work has to be done between two changes.
    interval: Duration,
    /// How much was done since the last one, by all tasks together.
    worked: Duration,
}

impl TryFrom<f64> for Fill {
    type Error = NoFill;

    /// An item larger than its channel fills it to more than 1: that is full.
    fn try_from(fill: f64) -> Result<Fill, NoFill> {
        if fill.is_finite() && fill >= 0.0 { Ok(Fill(fill.min(1.0))) } else { Err(NoFill(fill)) }
    }
}

impl Concurrency {
    /// A target that starts here (but not above `most`) and changes at most once for so much work.
    pub fn new(start: NonZeroU32, most: NonZeroU32, interval: Duration) -> Concurrency {
        Concurrency { target: start.min(most).get(), most: most.get(), interval, worked: Duration::ZERO }
    }

    /// How many tasks should be open: never none, and never more than the most.
    pub fn target(&self) -> u32 {
        self.target
    }

    /// Tasks worked for so long while so many were open. The target may rise, if all that are allowed are open.
    pub fn worked(&mut self, time: Duration, fill: Fill, open: u32) {
        self.worked = self.worked.saturating_add(time);
        if self.worked >= self.interval {
            self.raise(fill, open);
        }
    }

    /// A task ended that had worked for so long; `open` were open, with it. The target may rise or fall: also before the interval is
    /// over, if what was worked since the last change is what this task took, for short tasks would else never change it.
    pub fn ended(&mut self, lasted: Duration, fill: Fill, open: u32) {
        if self.worked < self.interval.min(lasted) {
            return;
        }
        if fill.0 > BALANCED && self.target > 1 {
            self.target -= 1;
            self.worked = Duration::ZERO;
        } else {
            self.raise(fill, open);
        }
    }

    fn raise(&mut self, fill: Fill, open: u32) {
        if fill.0 < BALANCED && open >= self.target && self.target < self.most {
            self.target += 1;
            self.worked = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn starting_at(start: u32) -> Concurrency {
        let number = |number| NonZeroU32::new(number).unwrap();
        Concurrency::new(number(start), number(1000), SECOND)
    }

    fn fill(fill: f64) -> Fill {
        Fill::try_from(fill).unwrap()
    }

    /// PC-01.
    #[test]
    fn empty_channels_raise_the_target_by_one_in_each_interval() {
        let mut concurrency = starting_at(1);
        for expected in 2..=11 {
            concurrency.worked(2 * SECOND, fill(0.0), concurrency.target());
            assert_eq!(concurrency.target(), expected);
        }
    }

    /// PC-02.
    #[test]
    fn full_channels_lower_the_target_by_one_for_each_task_that_ends_but_never_to_none() {
        let mut concurrency = starting_at(10);
        for expected in (1..=9).rev().chain([1, 1]) {
            concurrency.worked(2 * SECOND, fill(1.0), concurrency.target());
            concurrency.ended(30 * SECOND, fill(1.0), concurrency.target());
            assert_eq!(concurrency.target(), expected);
        }
    }

    /// PC-03.
    #[test]
    fn tasks_shorter_than_the_interval_change_the_target_too() {
        let mut concurrency = starting_at(10);
        let short = Duration::from_millis(100);
        for expected in (1..=9).rev() {
            concurrency.worked(2 * short, fill(1.0), concurrency.target());
            concurrency.ended(short, fill(1.0), concurrency.target());
            assert_eq!(concurrency.target(), expected);
        }
        for expected in 2..=11 {
            let open = concurrency.target();
            concurrency.worked(200 * SECOND, fill(0.0), open);
            concurrency.ended(short, fill(0.0), open);
            assert_eq!(concurrency.target(), expected);
        }
    }

    /// PC-04.
    #[test]
    fn half_full_channels_change_nothing_and_what_is_no_fill_is_rejected() {
        let mut concurrency = starting_at(5);
        concurrency.worked(2 * SECOND, fill(0.5), 5);
        concurrency.ended(2 * SECOND, fill(0.5), 5);
        assert_eq!(concurrency.target(), 5);
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1] {
            assert!(Fill::try_from(odd).is_err(), "{odd}");
        }
        let message = "channels cannot be filled to -0.1: only a number from 0 on says how full they are";
        assert_eq!(Fill::try_from(-0.1).unwrap_err().to_string(), message);
        assert_eq!(fill(1.5), fill(1.0), "an item larger than its channel");
    }

    /// PP-12.
    #[test]
    fn the_target_follows_what_is_slow_within_its_bounds() {
        let three = NonZeroU32::new(3).unwrap();
        let mut concurrency = Concurrency::new(NonZeroU32::new(9).unwrap(), three, SECOND);
        assert_eq!(concurrency.target(), 3, "it starts at the most at the highest");
        for expected in [2, 1, 1] {
            let before = concurrency.target();
            concurrency.worked(SECOND, fill(1.0), 3);
            assert_eq!(concurrency.target(), before, "only a task that ends lowers it");
            concurrency.ended(SECOND, fill(1.0), 3);
            assert_eq!(concurrency.target(), expected);
        }
        // No task waits to be opened: fewer are open than may be.
        concurrency.worked(10 * SECOND, fill(0.0), 0);
        assert_eq!(concurrency.target(), 1);
        for expected in [2, 3, 3] {
            concurrency.worked(SECOND, fill(0.0), concurrency.target());
            assert_eq!(concurrency.target(), expected);
        }
    }

    #[test]
    fn nothing_changes_before_so_much_was_worked() {
        let mut concurrency = starting_at(5);
        concurrency.worked(SECOND / 2, fill(0.0), 5);
        concurrency.ended(SECOND, fill(0.0), 5);
        concurrency.ended(SECOND, fill(1.0), 5);
        assert_eq!(concurrency.target(), 5);
        concurrency.worked(SECOND / 2, fill(0.0), 5);
        assert_eq!(concurrency.target(), 6);
    }
}

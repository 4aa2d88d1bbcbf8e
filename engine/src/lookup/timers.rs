//! What is due when: time-outs, which come in the order in which they were set, and retries, which do not. Entries that are done
//! leave theirs behind; it is skipped when its time comes, and swept out when there is too much of it. Pure.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// An entry, and the number that tells it from others that had the same id.
pub(super) type Whose = (usize, u64);

/// Fewer than these are not worth a sweep.
const FEW: usize = 64;

/// Alarms of one kind, all set for the same time from now: the first set is the first due.
#[derive(Default)]
pub(super) struct Deadlines {
    set: VecDeque<(Duration, Whose)>,
}

/// Alarms set for any time.
#[derive(Default)]
pub(super) struct Alarms {
    set: BinaryHeap<Reverse<(Duration, Whose)>>,
}

impl Deadlines {
    /// Sets one, not earlier than those before it.
    pub(super) fn set(&mut self, due: Duration, whose: Whose) {
        self.set.push_back((due, whose));
    }

    /// The next that is due, of those still needed.
    pub(super) fn pop(&mut self, now: Duration, needed: impl Fn(Whose) -> bool) -> Option<Whose> {
        let due = self.next(needed)?;
        if due > now {
            return None;
        }
        self.set.pop_front().map(|(_, whose)| whose)
    }

    /// When the next is due, of those still needed.
    pub(super) fn next(&mut self, needed: impl Fn(Whose) -> bool) -> Option<Duration> {
        while self.set.pop_front_if(|(_, whose)| !needed(*whose)).is_some() {}
        self.set.front().map(|(due, _)| *due)
    }

    /// Forgets those not needed any more, where they are most of them: only so many are.
    pub(super) fn sweep(&mut self, most: usize, needed: impl Fn(Whose) -> bool) {
        if self.set.len() > FEW + 2 * most {
            self.set.retain(|(_, whose)| needed(*whose));
        }
    }

    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn count(&self, needed: impl Fn(Whose) -> bool) -> usize {
        self.set.iter().filter(|(_, whose)| needed(*whose)).count()
    }
}

impl Alarms {
    pub(super) fn set(&mut self, due: Duration, whose: Whose) {
        self.set.push(Reverse((due, whose)));
    }

    /// The next that is due, of those still needed.
    pub(super) fn pop(&mut self, now: Duration, needed: impl Fn(Whose) -> bool) -> Option<Whose> {
        let due = self.next(needed)?;
        if due > now {
            return None;
        }
        self.set.pop().map(|Reverse((_, whose))| whose)
    }

    /// When the next is due, of those still needed.
    pub(super) fn next(&mut self, needed: impl Fn(Whose) -> bool) -> Option<Duration> {
        while let Some(Reverse((due, whose))) = self.set.peek() {
            if needed(*whose) {
                return Some(*due);
            }
            self.set.pop();
        }
        None
    }

    /// Has an alarm of one go off for another.
    pub(super) fn hand_on(&mut self, from: Whose, to: Whose) {
        let mut set = std::mem::take(&mut self.set).into_vec();
        for Reverse((_, whose)) in &mut set {
            if *whose == from {
                *whose = to;
            }
        }
        self.set = set.into();
    }

    /// All that are still needed, the earliest first, due or not.
    pub(super) fn take_all(&mut self, needed: impl Fn(Whose) -> bool) -> Vec<Whose> {
        let all = std::mem::take(&mut self.set).into_sorted_vec();
        all.into_iter().rev().map(|Reverse((_, whose))| whose).filter(|whose| needed(*whose)).collect()
    }

    /// As [`Deadlines::sweep`].
    pub(super) fn sweep(&mut self, most: usize, needed: impl Fn(Whose) -> bool) {
        if self.set.len() > FEW + 2 * most {
            self.set.retain(|Reverse((_, whose))| needed(*whose));
        }
    }

    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn count(&self, needed: impl Fn(Whose) -> bool) -> usize {
        self.set.iter().filter(|Reverse((_, whose))| needed(*whose)).count()
    }
}

//! Levels of contents by the time that they have used, and which level comes next. Pure arithmetic.
//!
//! A content begins in level 0 and sinks as it uses time. As long as all levels have work, each gets twice the time of the next
//! one, so that a small table is done soon beside a large one, which still goes on. The rules are those of Presto's multilevel
//! split queue, but for one: a level counts as empty only when nothing of it runs either. There a level whose work all runs
//! would lose its claim with each return, and with few tasks all levels would get the same.

use std::time::Duration;

/// How many levels there are.
pub(super) const LEVELS: usize = 5;

/// The time from which on a content is in a level.
pub(super) const FROM: [Duration; LEVELS] = [
    Duration::ZERO,
    Duration::from_secs(1),
    Duration::from_secs(10),
    Duration::from_secs(60),
    Duration::from_secs(300),
];

/// How much more time a level gets than the next.
const MULTIPLIER: u32 = 2;

/// What one slice adds to its level at most: a read that hangs should not push back all others of its level.
const MOST_AT_ONCE: Duration = Duration::from_secs(30);

/// All levels.
#[derive(Debug, Default)]
pub(super) struct Levels([Level; LEVELS]);

#[derive(Debug, Default)]
struct Level {
    used: Duration,
    /// Contents that wait or run.
    active: usize,
    /// The priority of the content that was last chosen.
    chosen: Option<Duration>,
}

/// What a content has used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account {
    pub(super) used: Duration,
    pub(super) level: usize,
    /// Within its level the content with the lowest comes first.
    pub(super) priority: Duration,
    /// Of two contents in a level one with twice the weight gets twice the time.
    weight: u32,
}

impl Account {
    /// Nothing is used.
    pub(super) fn new(weight: u32) -> Account {
        Account { used: Duration::ZERO, level: 0, priority: Duration::ZERO, weight: weight.max(1) }
    }
}

/// The level of a content that has used so much time.
pub(super) fn level_of(used: Duration) -> usize {
    FROM.iter().rposition(|from| *from <= used).unwrap_or(0)
}

impl Levels {
    /// Charges a content and its level for a slice. It may sink.
    pub(super) fn charge(&mut self, account: &mut Account, slice: Duration) {
        account.used += slice;
        let (from, to) = (account.level, level_of(account.used).max(account.level));
        let mut of_levels = slice.min(MOST_AT_ONCE);
        if from == to {
            self.0[from].used += of_levels;
            account.priority += slice / account.weight;
            return;
        }
        let mut rest = slice;
        for level in from..to {
            let here = of_levels.min(FROM[level + 1] - FROM[level]);
            self.0[level].used += here;
            of_levels -= here;
            rest -= here;
        }
        self.0[to].used += of_levels;
        account.level = to;
        account.priority = self.least_priority(to, account.used) + rest / account.weight;
    }

    /// A content of this level waits or runs again, or has come down to it. What a level did not use while it was empty is not
    /// owed to it.
    pub(super) fn enter(&mut self, level: usize) {
        if self.0[level].active == 0 {
            let most = (0..LEVELS).map(|level| self.scaled(level)).max().unwrap_or_default();
            self.0[level].used = most / MULTIPLIER.pow(level as u32);
        }
        self.0[level].active += 1;
    }

    /// A content of this level does neither wait nor run any more, or has left it.
    pub(super) fn leave(&mut self, level: usize) {
        self.0[level].active -= 1;
    }

    /// What a content that was away is put back to: it has saved up no claim meanwhile.
    pub(super) fn least_priority(&mut self, level: usize, used: Duration) -> Duration {
        *self.0[level].chosen.get_or_insert(used)
    }

    /// The level that is furthest behind its share, among those that have work; the lowest of equals.
    pub(super) fn furthest_behind(&self, has_work: impl Fn(usize) -> bool) -> Option<usize> {
        (0..LEVELS).filter(|level| has_work(*level)).min_by_key(|level| self.scaled(*level))
    }

    /// A content of this priority was chosen in a level.
    pub(super) fn choose(&mut self, level: usize, priority: Duration) {
        self.0[level].chosen = Some(priority);
    }

    /// What a level has used, as if it were level 0: equal for all levels that have got their share.
    fn scaled(&self, level: usize) -> Duration {
        self.0[level].used.saturating_mul(MULTIPLIER.pow(level as u32))
    }

    /// What each level has used.
    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn used(&self) -> [Duration; LEVELS] {
        std::array::from_fn(|level| self.0[level].used)
    }

    /// As if a level had used so much.
    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn set_used(&mut self, level: usize, used: Duration) {
        self.0[level].used = used;
    }
}

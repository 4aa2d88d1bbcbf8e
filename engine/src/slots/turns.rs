//! Whose turn it is: which of those that wait gets a slot. Pure: it knows no thread, and is told what time it is.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use slab::Slab;

use super::Rules;
use super::levels::{Account, LEVELS, Levels};

/// After so many quanta without a word, and after so much time, a slice stands in nobody's way any more: another slot stands in for its
/// own.
const SILENT_QUANTA: u32 = 10;
const SILENCE: Duration = Duration::from_secs(1);

/// Contents, and the contenders of each.
pub(super) struct Turns {
    slots: usize,
    rules: Rules,
    levels: Levels,
    contents: Slab<Content>,
    contenders: Slab<Contender>,
    /// Those that wait, in no order.
    waiting: Vec<usize>,
    /// Those that run.
    running: Vec<usize>,
    /// The last number that was given out: of equals the lower one comes first.
    last_number: u64,
}

struct Content {
    account: Account,
    /// Of equals the one that came, or came back, first is first.
    number: u64,
    waiting: usize,
    running: usize,
    contenders: usize,
    /// It goes as soon as it has no contender.
    is_over: bool,
}

struct Contender {
    content: usize,
    number: u64,
    state: State,
    /// When it was last served, or came.
    served: Duration,
    times: Times,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It waits for something else, or works without a slot.
    Away {
        since: Duration,
    },
    Waiting {
        since: Duration,
    },
    /// It has a slot, and was charged up to here.
    Running {
        charged: Duration,
    },
}

/// How long a contender did what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// It had a slot.
    pub scheduled: Duration,
    /// It waited for one.
    pub waiting: Duration,
    /// It waited for something else.
    pub blocked: Duration,
}

/// How a content stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// How long its tasks had slots, added up.
    pub scheduled: Duration,
    /// Its level by that, from 0.
    pub level: usize,
    /// Tasks that have a slot.
    pub running: usize,
    /// Tasks that wait for one.
    pub waiting: usize,
    /// Tasks that wait for something else.
    pub blocked: usize,
}

impl Turns {
    pub(super) fn new(slots: usize, rules: Rules) -> Turns {
        Turns {
            slots: slots.max(1),
            rules,
            levels: Levels::default(),
            contents: Slab::new(),
            contenders: Slab::new(),
            waiting: Vec::new(),
            running: Vec::new(),
            last_number: 0,
        }
    }

    pub(super) fn add_content(&mut self, weight: u32) -> usize {
        let number = self.number();
        let account = Account::new(weight);
        self.contents.insert(Content { account, number, waiting: 0, running: 0, contenders: 0, is_over: false })
    }

    /// No contender will come any more.
    pub(super) fn end_content(&mut self, content: usize) {
        self.contents[content].is_over = true;
        self.forget_if_over(content);
    }

    pub(super) fn add_contender(&mut self, content: usize, now: Duration) -> usize {
        let number = self.number();
        self.contents[content].contenders += 1;
        let state = State::Away { since: now };
        self.contenders.insert(Contender { content, number, state, served: now, times: Times::default() })
    }

    /// It goes, whatever it did.
    pub(super) fn remove_contender(&mut self, contender: usize, now: Duration) {
        self.go_away(contender, now);
        let content = self.contenders.remove(contender).content;
        self.contents[content].contenders -= 1;
        self.forget_if_over(content);
    }

    /// It waits for a slot from now on, unless it has one.
    pub(super) fn want(&mut self, contender: usize, now: Duration) {
        let asking = &mut self.contenders[contender];
        let State::Away { since } = asking.state else { return };
        asking.times.blocked += now.saturating_sub(since);
        asking.state = State::Waiting { since: now };
        let of = asking.content;
        self.waiting.push(contender);
        let number = self.number();
        let content = &mut self.contents[of];
        if content.waiting + content.running == 0 {
            let account = &mut content.account;
            // A new content comes before all others of its level, until it has caught up with them.
            if !account.used.is_zero() {
                account.priority = account.priority.max(self.levels.least_priority(account.level, account.used));
                content.number = number;
            }
            self.levels.enter(account.level);
        }
        content.waiting += 1;
    }

    /// It waits for other things than a slot from now on, and gives back the one that it may have.
    pub(super) fn go_away(&mut self, contender: usize, now: Duration) {
        self.charge(contender, now);
        let going = &mut self.contenders[contender];
        let content = &mut self.contents[going.content];
        match going.state {
            State::Away { .. } => return,
            State::Waiting { since } => {
                going.times.waiting += now.saturating_sub(since);
                content.waiting -= 1;
                self.waiting.retain(|other| *other != contender);
            }
            State::Running { .. } => {
                content.running -= 1;
                self.running.retain(|other| *other != contender);
                going.served = now;
            }
        }
        going.state = State::Away { since: now };
        if content.waiting + content.running == 0 {
            self.levels.leave(content.account.level);
        }
    }

    /// Its slice ends: it waits again, behind whoever comes first now.
    pub(super) fn pass_on(&mut self, contender: usize, now: Duration) {
        self.charge(contender, now);
        let passing = &mut self.contenders[contender];
        if !matches!(passing.state, State::Running { .. }) {
            return;
        }
        passing.state = State::Waiting { since: now };
        passing.served = now;
        self.running.retain(|other| *other != contender);
        self.waiting.push(contender);
        let content = &mut self.contents[passing.content];
        content.running -= 1;
        content.waiting += 1;
    }

    /// Charges a contender that runs for what it has used up to now.
    pub(super) fn charge(&mut self, contender: usize, now: Duration) {
        let running = &mut self.contenders[contender];
        let State::Running { charged } = &mut running.state else { return };
        let slice = now.saturating_sub(*charged);
        *charged = now;
        running.times.scheduled += slice;
        let account = &mut self.contents[running.content].account;
        let before = account.level;
        self.levels.charge(account, slice);
        if account.level != before {
            self.levels.leave(before);
            self.levels.enter(account.level);
        }
    }

    /// Gives a slot to whoever comes next, if there is one free and somebody waits.
    pub(super) fn next(&mut self, now: Duration) -> Option<usize> {
        if self.waiting.is_empty() || self.busy(now) >= self.slots {
            return None;
        }
        let chosen = self.overdue(now).or_else(|| self.first_in_line())?;
        self.waiting.retain(|other| *other != chosen);
        self.running.push(chosen);
        let next = &mut self.contenders[chosen];
        if let State::Waiting { since } = next.state {
            next.times.waiting += now.saturating_sub(since);
        }
        next.state = State::Running { charged: now };
        let content = &mut self.contents[next.content];
        content.waiting -= 1;
        content.running += 1;
        self.levels.choose(content.account.level, content.account.priority);
        Some(chosen)
    }

    /// Whoever has waited so long that it must come now if nobody is to wait for longer than the gap allows: a reader that is not
    /// read for too long may lose its connection.
    fn overdue(&self, now: Duration) -> Option<usize> {
        let gap = |contender: &usize| now.saturating_sub(self.contenders[*contender].served);
        let oldest = *self.waiting.iter().max_by_key(|contender| gap(contender))?;
        // Those behind it wait for their turn as well: the last of n so long as n turns take.
        let turns = u32::try_from((self.waiting.len() - 1) / self.slots).unwrap_or(u32::MAX);
        if gap(&oldest).saturating_add(self.rules.quantum.saturating_mul(turns)) < self.rules.longest_gap {
            return None;
        }
        let mut gaps: Vec<Duration> = self.waiting.iter().map(gap).collect();
        gaps.sort_unstable_by(|one, other| other.cmp(one));
        let must_come = gaps.iter().enumerate().any(|(place, gap)| {
            let turns = u32::try_from(place / self.slots).unwrap_or(u32::MAX);
            gap.saturating_add(self.rules.quantum.saturating_mul(turns)) >= self.rules.longest_gap
        });
        must_come.then_some(oldest)
    }

    /// The level that is furthest behind, in it the content of the lowest priority, of that the contender that has used least.
    fn first_in_line(&self) -> Option<usize> {
        let mut has_work = [false; LEVELS];
        for (_, content) in &self.contents {
            has_work[content.account.level] |= content.waiting > 0;
        }
        let level = self.levels.furthest_behind(|level| has_work[level])?;
        let of_level =
            self.contents.iter().filter(|(_, content)| content.waiting > 0 && content.account.level == level);
        let (chosen, _) = of_level.min_by_key(|(_, content)| (content.account.priority, content.number))?;
        let of_content = self.waiting.iter().copied().filter(|waiting| self.contenders[*waiting].content == chosen);
        of_content.min_by_key(|waiting| (self.contenders[*waiting].times.scheduled, self.contenders[*waiting].number))
    }

    /// Slots that are taken, but for those of slices that have not said a word for long.
    fn busy(&self, now: Duration) -> usize {
        let silence = self.silence();
        let is_heard = |runs: &&usize| match self.contenders[**runs].state {
            State::Running { charged } => now.saturating_sub(charged) < silence,
            _ => false,
        };
        self.running.iter().filter(is_heard).count()
    }

    /// Whether more run than there are slots: another slot stood in for one that has come back.
    pub(super) fn is_crowded(&self, now: Duration) -> bool {
        self.busy(now) > self.slots
    }

    /// How long to wait for a word of those that run before another slot may stand in; `None`: nobody has to be waited for.
    pub(super) fn until_silent(&self, now: Duration) -> Option<Duration> {
        let silence = self.silence();
        let heard = self.running.iter().filter_map(|runs| match self.contenders[*runs].state {
            State::Running { charged } => Some(charged.saturating_add(silence).saturating_sub(now)),
            _ => None,
        });
        heard.filter(|left| !left.is_zero()).min()
    }

    fn silence(&self) -> Duration {
        self.rules.quantum.saturating_mul(SILENT_QUANTA).max(SILENCE)
    }

    pub(super) fn is_running(&self, contender: usize) -> bool {
        matches!(self.contenders[contender].state, State::Running { .. })
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn times(&self, contender: usize) -> Times {
        self.contenders[contender].times
    }

    pub(super) fn standing(&self, content: usize) -> Standing {
        let content = &self.contents[content];
        Standing {
            scheduled: content.account.used,
            level: content.account.level,
            running: content.running,
            waiting: content.waiting,
            blocked: content.contenders - content.running - content.waiting,
        }
    }

    fn forget_if_over(&mut self, content: usize) {
        if self.contents[content].is_over && self.contents[content].contenders == 0 {
            self.contents.remove(content);
        }
    }

    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn levels(&mut self) -> &mut Levels {
        &mut self.levels
    }

    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn account(&mut self, content: usize) -> &mut Account {
        &mut self.contents[content].account
    }

    /// Slots that somebody has.
    #[cfg(test)]
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }
}

//! Bytes that several channels share, so that a job keeps within its memory however many tasks it runs. Not here: the
//! limits of a single channel.
//!
//! Bytes are booked and given back under the lock of the channel that they are for, so that the sum is exact; the order of
//! the locks is channel, then budget. A channel that holds nothing may always take one item. Hence a task gets on whatever
//! the others hold, as long as its own writer takes what is queued: no deadlock, no starvation. The budget is exceeded by one
//! item a channel at most.

use std::sync::Arc;

use crate::sync::{self, Condvar, Mutex, lock, wait};

/// A number of bytes that several channels share.
#[derive(Debug)]
pub struct Budget {
    bytes: usize,
    ledger: Mutex<Ledger>,
}

/// Sums are wider than the sizes in them: a size is what a plugin says it is, and no lie may make a sum wrap around.
#[derive(Debug, Default)]
struct Ledger {
    held: u128,
    peak: u128,
    /// First come, first served; but a smaller need may be met before a larger one, since nobody waits for ever.
    waiting: Vec<Waiting>,
}

/// A channel whose sender waits for bytes. It stays listed until the sender has read the answer.
#[derive(Debug)]
struct Waiting {
    bytes: usize,
    answer: Option<Answer>,
    answered: sync::Arc<Condvar>,
}

/// What a waiting sender is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The bytes are booked for it.
    Granted,
    /// Nothing is booked, but its channel has changed.
    LookAgain,
}

/// Senders whose wait is over: to be woken once nothing is locked any more.
#[must_use = "the senders sleep until they are woken"]
#[derive(Default)]
pub(super) struct Granted(Vec<sync::Arc<Condvar>>);

/// The share of one channel. Only its one sender waits here.
pub(super) struct Share {
    budget: Arc<Budget>,
    answered: sync::Arc<Condvar>,
}

impl Budget {
    /// A budget of this many bytes.
    pub fn new(bytes: usize) -> Arc<Budget> {
        Arc::new(Budget { bytes, ledger: Mutex::new(Ledger::default()) })
    }

    /// How many bytes there are to share.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many bytes the channels hold now.
    pub fn held(&self) -> u128 {
        lock(&self.ledger).held
    }

    /// The most that they ever held at once.
    pub fn peak(&self) -> u128 {
        lock(&self.ledger).peak
    }
}

impl Ledger {
    fn free(&self, limit: usize) -> u128 {
        (limit as u128).saturating_sub(self.held)
    }

    fn book(&mut self, bytes: usize) {
        self.held += bytes as u128;
        self.peak = self.peak.max(self.held);
    }

    /// Books whatever fits now for those who wait. After this no need that fits is left waiting.
    fn grant(&mut self, limit: usize) -> Granted {
        let mut granted = Granted::default();
        for place in 0..self.waiting.len() {
            let Waiting { bytes, answer: None, .. } = self.waiting[place] else { continue };
            if bytes as u128 <= self.free(limit) {
                self.book(bytes);
                self.waiting[place].answer = Some(Answer::Granted);
                granted.0.push(self.waiting[place].answered.clone());
            }
        }
        granted
    }
}

impl Granted {
    pub(super) fn wake(self) {
        for answered in self.0 {
            answered.notify_one();
        }
    }
}

impl Share {
    pub(super) fn of(budget: &Arc<Budget>) -> Share {
        Share { budget: budget.clone(), answered: sync::Arc::new(Condvar::new()) }
    }

    /// Books these bytes whether or not they are free: for the one item that an empty channel may always take.
    pub(super) fn take_anyway(&self, bytes: usize) {
        lock(&self.budget.ledger).book(bytes);
    }

    /// Books these bytes if they are free. If not, the sender is listed and must [`wait`](Share::wait) for the answer.
    pub(super) fn take_or_list(&self, bytes: usize) -> bool {
        let mut ledger = lock(&self.budget.ledger);
        let free = bytes == 0 || bytes as u128 <= ledger.free(self.budget.bytes);
        if free {
            ledger.book(bytes);
        } else {
            ledger.waiting.push(Waiting { bytes, answer: None, answered: self.answered.clone() });
        }
        free
    }

    /// Waits for the answer. It is kept until read, so nothing is lost if it came first.
    pub(super) fn wait(&self) -> Answer {
        let mut ledger = lock(&self.budget.ledger);
        loop {
            let place = self.place(&ledger).expect("only the sender itself takes its name off the list");
            if let Some(answer) = ledger.waiting[place].answer {
                ledger.waiting.remove(place);
                return answer;
            }
            ledger = wait(&self.answered, ledger);
        }
    }

    /// Tells the sender, if it waits and has no answer yet, to look at its channel again.
    pub(super) fn look_again(&self) {
        let mut ledger = lock(&self.budget.ledger);
        let Some(place) = self.place(&ledger) else { return };
        ledger.waiting[place].answer.get_or_insert(Answer::LookAgain);
        drop(ledger);
        self.answered.notify_one();
    }

    /// Sets bytes free, and books them for the senders, of whichever channel, whose items fit now.
    pub(super) fn give_back(&self, bytes: usize) -> Granted {
        let mut ledger = lock(&self.budget.ledger);
        ledger.held -= bytes as u128;
        ledger.grant(self.budget.bytes)
    }

    fn place(&self, ledger: &Ledger) -> Option<usize> {
        ledger.waiting.iter().position(|waiting| sync::Arc::ptr_eq(&waiting.answered, &self.answered))
    }
}

//! Entries from the moment they come to the moment they leave: which are called together, what an answer means, who waits for whom.
//! Pure: it is told the time and what has happened, and says which calls to start.
//!
//! An entry is one record. It becomes done exactly once: by what the answer says, by its time-out, or because its outcome was known.
//! Every call has a number that is never used again, and an entry knows the call that it is in: an answer to an earlier attempt, or
//! after the time-out, finds no entry that waits for it.

use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Found;
use slab::Slab;
use transship_plugin_api::{Error, Kind};

use super::outcome::{Call, CallId, Counters, Done, Outcome, Record};
use super::queue::{Item, Queue};
use super::timers::{Alarms, Deadlines, Whose};
use super::{Options, Order};
use crate::latency::Histogram;

mod sharing;

/// With [`Order::Key`], so many times the capacity may wait behind others of their key: one busy key should not stop all.
const KEY_DEPTH: usize = 8;

/// All lookups of one task.
pub struct Stage {
    options: Options,
    queue: Queue<usize, ()>,
    entries: Slab<Entry>,
    /// The number of the next entry.
    next_entry: u64,
    /// Entries whose turn it is to be called, and since when they wait for others to be called with.
    pending: VecDeque<(Whose, Duration)>,
    calls: Slab<Open>,
    /// The number of the next call.
    next_call: u64,
    timeouts: Deadlines,
    retries: Alarms,
    /// The last entry of each key that is not done, by the key's hash: with two keys of one hash, one waits for the other.
    last_of_key: HashTable<usize>,
    /// The entries whose answers others of their key may wait for.
    leaders: HashTable<usize>,
    /// Entries that are not done and whose turn has come.
    active: usize,
    /// Those of them that are in a call.
    running: usize,
    /// Nothing more will come, so nothing is gained by waiting.
    ended: bool,
    /// Waiting for others to be called with is over.
    hurry: bool,
    random: foldhash::fast::RandomState,
    counters: Counters,
    /// How long calls took that were answered, and nobody has taken note of.
    answers: Histogram,
    first_failure: Option<(Record, Arc<Error>)>,
}

struct Entry {
    record: Record,
    number: u64,
    place: u64,
    /// The hash of its key, where that matters.
    key: Option<u64>,
    /// The next entry of its key.
    next: Option<usize>,
    /// The hash of its key, if others may wait for its answer.
    leads: Option<u64>,
    /// Those that do, or did until their time was over.
    followers: Vec<Whose>,
    attempt: u32,
    state: State,
    /// Known in advance, or reached.
    outcome: Option<Outcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Behind others of its key, or waiting for the answer to another.
    Behind,
    Pending,
    Called(CallId),
    /// Until its next attempt.
    Resting,
    Done,
}

/// A call whose answer is waited for.
struct Open {
    number: u64,
    entries: Vec<Whose>,
    /// How many of them wait for it.
    waiting: usize,
    wanted: Arc<AtomicBool>,
    /// When it was made.
    since: Duration,
}

impl Stage {
    pub fn new(options: Options) -> Stage {
        let queue = if options.order == Order::Ordered { Queue::in_order() } else { Queue::in_any_order() };
        Stage {
            options,
            queue,
            entries: Slab::new(),
            next_entry: 0,
            pending: VecDeque::new(),
            calls: Slab::new(),
            next_call: 0,
            timeouts: Deadlines::default(),
            retries: Alarms::default(),
            last_of_key: HashTable::new(),
            leaders: HashTable::new(),
            active: 0,
            running: 0,
            ended: false,
            hurry: false,
            random: foldhash::fast::RandomState::default(),
            counters: Counters::default(),
            answers: Histogram::default(),
            first_failure: None,
        }
    }

    /// How many entries there is room for.
    pub fn room(&self) -> usize {
        let most = match self.options.order {
            Order::Key => self.options.capacity.saturating_mul(KEY_DEPTH),
            Order::Ordered | Order::Unordered => self.options.capacity,
        };
        most.saturating_sub(self.queue.len())
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Entries that are not done and whose turn has come.
    pub fn active(&self) -> usize {
        self.active
    }

    /// Entries that are in a call.
    pub fn running(&self) -> usize {
        self.running
    }

    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Takes how long calls took that were answered since it was last asked; `None`: there were none.
    pub fn take_answers(&mut self) -> Option<Histogram> {
        (self.answers.count() > 0).then(|| std::mem::take(&mut self.answers))
    }

    /// The first record whose lookup failed for good: it need not wait for its turn to leave.
    pub fn first_failure(&self) -> Option<(Record, &Error)> {
        self.first_failure.as_ref().map(|(record, error)| (*record, error.as_ref()))
    }

    /// Puts a record in; there must be room. `key` is the hash of its key, where records of one key must not overtake each other;
    /// `known` what became of it, where that is known already.
    pub fn enter(&mut self, record: Record, key: Option<u64>, known: Option<Outcome>, now: Duration) {
        self.add(record, key, known, now);
    }

    fn add(&mut self, record: Record, key: Option<u64>, known: Option<Outcome>, now: Duration) -> usize {
        let key = key.filter(|_| self.options.order == Order::Key);
        let (id, _) = self.insert(record, key, known);
        if let Some(before) = key.and_then(|key| self.put_behind(id, key)) {
            self.entries[before].next = Some(id);
        } else if let Some(known) = self.its_turn(id, now) {
            self.finish(id, known, now);
        }
        id
    }

    fn insert(&mut self, record: Record, key: Option<u64>, known: Option<Outcome>) -> Whose {
        debug_assert!(self.room() > 0, "who puts something in has looked whether there is room");
        let number = self.next_entry;
        self.next_entry += 1;
        let entry = self.entries.vacant_entry();
        let id = entry.key();
        let place = self.queue.put(id);
        entry.insert(Entry {
            record,
            number,
            place,
            key,
            next: None,
            leads: None,
            followers: Vec::new(),
            attempt: 0,
            state: State::Behind,
            outcome: known,
        });
        (id, number)
    }

    /// Makes an entry the last of its key. The one that was it before, if there was one.
    fn put_behind(&mut self, id: usize, key: u64) -> Option<usize> {
        let entries = &self.entries;
        let is_of_key = |other: &usize| entries[*other].key == Some(key);
        match self.last_of_key.entry(key, is_of_key, |other| entries[*other].key.unwrap_or_default()) {
            Found::Occupied(mut last) => Some(std::mem::replace(last.get_mut(), id)),
            Found::Vacant(place) => {
                place.insert(id);
                None
            }
        }
    }

    /// Puts a mark behind all records; there must be room.
    pub fn mark(&mut self) {
        debug_assert!(self.room() > 0, "who puts something in has looked whether there is room");
        self.queue.put_mark(());
    }

    /// Whether keys wait no longer for others to be called with.
    pub fn set_hurry(&mut self, hurry: bool) {
        self.hurry = hurry;
    }

    /// Nothing more will come: records that rest before their next attempt get it at once, and every outcome is final from now on.
    pub fn end(&mut self, now: Duration) {
        self.ended = true;
        let resting = self.retries.take_all(still(&self.entries, State::Resting));
        for whose in resting {
            self.call_again(whose, now);
        }
    }

    /// What leaves next, and does.
    pub fn pop(&mut self) -> Option<Item<Done, ()>> {
        Some(match self.queue.pop()? {
            Item::Mark(()) => Item::Mark(()),
            Item::Entry(id) => {
                let Entry { record, outcome, .. } = self.entries.remove(id);
                Item::Entry(Done { record, outcome: outcome.unwrap_or(Outcome::Missing) })
            }
        })
    }

    /// The next call to start, if there is one.
    pub fn next_call(&mut self, now: Duration) -> Option<Call> {
        while self.pending.pop_front_if(|(whose, _)| !still(&self.entries, State::Pending)(*whose)).is_some() {}
        let (_, since) = self.pending.front().filter(|_| self.running < self.options.capacity)?;
        let lingers = !(self.hurry || self.ended || self.room() == 0);
        if lingers && self.pending.len() < self.options.call_size && now.saturating_sub(*since) < self.options.linger {
            return None;
        }
        let number = self.next_call;
        self.next_call += 1;
        let call = self.calls.vacant_entry();
        let id = CallId { slot: call.key(), number };
        let most = self.options.call_size.min(self.pending.len()).min(self.options.capacity - self.running);
        let (mut entries, mut records) = (Vec::with_capacity(most), Vec::with_capacity(most));
        while entries.len() < most {
            let Some((whose, _)) = self.pending.pop_front() else { break };
            if still(&self.entries, State::Pending)(whose) {
                let entry = &mut self.entries[whose.0];
                entry.state = State::Called(id);
                entry.attempt += 1;
                self.counters.retries += u64::from(entry.attempt > 1);
                // In key order its place is among those that are looked up: to wait for it does not count.
                if let Some(timeout) =
                    self.options.timeout.filter(|_| self.options.order == Order::Key && entry.attempt == 1)
                {
                    self.timeouts.set(now.saturating_add(timeout), whose);
                }
                entries.push(whose);
                records.push(entry.record);
            }
        }
        let wanted = Arc::new(AtomicBool::new(true));
        self.counters.calls += 1;
        self.counters.keys += records.len() as u64;
        self.running += records.len();
        call.insert(Open { number, waiting: entries.len(), entries, wanted: wanted.clone(), since: now });
        Some(Call { id, records, wanted })
    }

    /// Takes an answer: `outcome` tells it for a key, by its row in the call, and is asked for those alone that still wait for it.
    pub fn answered(&mut self, id: CallId, now: Duration, mut outcome: impl FnMut(usize, Record) -> Outcome) {
        let Some(call) = self.calls.get(id.slot).filter(|call| call.number == id.number) else {
            self.counters.late += 1;
            return;
        };
        self.counters.late += (call.entries.len() - call.waiting) as u64;
        let Open { entries, since, .. } = self.calls.remove(id.slot);
        self.answers.record(now.saturating_sub(since));
        for (row, whose) in entries.into_iter().enumerate() {
            if !still(&self.entries, State::Called(id))(whose) {
                continue;
            }
            self.running -= 1;
            let entry = &self.entries[whose.0];
            let reached = outcome(row, entry.record);
            match self.pause_before_another(entry.attempt, entry.number, &reached) {
                Some(pause) => {
                    self.entries[whose.0].state = State::Resting;
                    self.retries.set(now.saturating_add(pause), whose);
                }
                None => self.finish(whose.0, reached, now),
            }
        }
        self.retries.sweep(self.entries.len(), still(&self.entries, State::Resting));
    }

    /// Does what is due by now: ends records whose time is over, and calls those again that have rested.
    pub fn pass_time(&mut self, now: Duration) {
        while let Some((id, _)) = self.timeouts.pop(now, not_done(&self.entries)) {
            self.time_is_over(id, now);
        }
        self.timeouts.sweep(self.entries.len(), not_done(&self.entries));
        while let Some(whose) = self.retries.pop(now, still(&self.entries, State::Resting)) {
            self.call_again(whose, now);
        }
    }

    /// When something will be due, if nothing else happens before.
    pub fn next_due(&mut self) -> Option<Duration> {
        let timeout = self.timeouts.next(not_done(&self.entries));
        let retry = self.retries.next(still(&self.entries, State::Resting));
        let may_call = self.running < self.options.capacity;
        let pending = self.pending.front().filter(|_| may_call);
        let call = pending.map(|(_, since)| since.saturating_add(self.options.linger));
        [timeout, retry, call].into_iter().flatten().min()
    }

    /// Nobody waits for any answer any more.
    pub fn give_up(&mut self) {
        for (_, call) in &self.calls {
            call.wanted.store(false, Ordering::Relaxed);
        }
    }

    /// Alarms that may still go off.
    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn alarms(&self) -> usize {
        self.timeouts.count(not_done(&self.entries)) + self.retries.count(still(&self.entries, State::Resting))
    }

    /// Alarms in memory, needed or not.
    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn alarms_kept(&self) -> usize {
        self.timeouts.count(|_| true) + self.retries.count(|_| true)
    }

    /// An entry is not behind others of its key, or not any more. What became of it is handed back where that is known.
    fn its_turn(&mut self, id: usize, now: Duration) -> Option<Outcome> {
        self.active += 1;
        let entry = &mut self.entries[id];
        entry.state = State::Pending;
        let known = entry.outcome.take();
        if known.is_none() {
            let whose = (id, entry.number);
            if let Some(timeout) = self.options.timeout.filter(|_| self.options.order != Order::Key) {
                self.timeouts.set(now.saturating_add(timeout), whose);
            }
            self.pending.push_back((whose, now));
        }
        known
    }

    fn call_again(&mut self, whose: Whose, now: Duration) {
        self.entries[whose.0].state = State::Pending;
        self.pending.push_back((whose, now));
    }

    fn time_is_over(&mut self, id: usize, now: Duration) {
        self.counters.timeouts += 1;
        let entry = &self.entries[id];
        let attempts = match (entry.state, entry.attempt) {
            (State::Behind, _) => "another record had asked for its key".to_string(),
            (_, 0) => "before it was called".to_string(),
            (_, 1) => "1 attempt".to_string(),
            (_, several) => format!("{several} attempts"),
        };
        if !self.hand_on(id, now)
            && let State::Called(call) = self.entries[id].state
        {
            self.running -= 1;
            self.leave(call);
        }
        let timeout = self.options.timeout.unwrap_or_default();
        let message = format!("no answer within {timeout:?} ({attempts})");
        let error = Error::new(Kind::Io, message).retryable(true);
        self.finish(id, Outcome::Failed(Arc::new(error)), now);
    }

    /// One entry less waits for a call. With none left, the answer is of no use.
    fn leave(&mut self, id: CallId) {
        let Some(call) = self.calls.get_mut(id.slot).filter(|call| call.number == id.number) else { return };
        call.waiting -= 1;
        if call.waiting == 0 {
            call.wanted.store(false, Ordering::Relaxed);
            self.calls.remove(id.slot);
        }
    }

    /// Ends an entry and those that waited for its answer, and those behind it of its key whose outcome is known.
    fn finish(&mut self, mut id: usize, mut outcome: Outcome, now: Duration) {
        loop {
            let followers = self.dismiss(id);
            let shared = (!followers.is_empty()).then(|| outcome.clone());
            let &Entry { key, next, .. } = self.conclude(id, outcome);
            for ((follower, _), outcome) in followers.into_iter().zip(std::iter::repeat(shared).flatten()) {
                self.conclude(follower, outcome);
            }
            let Some(next) = next else {
                if let Some(key) = key
                    && let Ok(last) = self.last_of_key.find_entry(key, |last| *last == id)
                {
                    last.remove();
                }
                return;
            };
            match self.its_turn(next, now) {
                Some(known) => (id, outcome) = (next, known),
                None => return,
            }
        }
    }

    /// An entry is done, itself.
    fn conclude(&mut self, id: usize, outcome: Outcome) -> &Entry {
        self.active -= 1;
        let entry = &mut self.entries[id];
        if let Outcome::Failed(error) = &outcome {
            self.counters.failures += 1;
            self.first_failure.get_or_insert_with(|| (entry.record, error.clone()));
        }
        entry.outcome = Some(outcome);
        entry.state = State::Done;
        self.queue.done(entry.place, id);
        entry
    }

    /// How long to wait before the attempt after this one; `None`: there is none, the outcome is final.
    fn pause_before_another(&self, attempt: u32, number: u64, outcome: &Outcome) -> Option<Duration> {
        let retry = self.options.retry.as_ref().filter(|retry| !self.ended && retry.may_follow(attempt))?;
        let worth = match outcome {
            Outcome::Found(_) => false,
            Outcome::Missing => retry.on.missing,
            Outcome::Failed(error) => retry.on.error(error),
        };
        let random = (self.random.hash_one((number, attempt)) >> 11) as f64 / (1u64 << 53) as f64;
        worth.then(|| retry.pause(attempt, random))
    }
}

/// Whether an entry is still there, and in this state.
fn still(entries: &Slab<Entry>, state: State) -> impl Fn(Whose) -> bool + '_ {
    move |(id, number)| entries.get(id).is_some_and(|entry| entry.number == number && entry.state == state)
}

/// Whether an entry is still there and not done.
fn not_done(entries: &Slab<Entry>) -> impl Fn(Whose) -> bool + '_ {
    |(id, number)| entries.get(id).is_some_and(|entry| entry.number == number && entry.state != State::Done)
}

//! Entries that wait, each behind those of its own key: which keys are ready, and who may take them. Pure: it knows no thread and
//! asks no clock.
//!
//! A key is in at most one hand at a time. Whoever holds it gets what came before; what comes meanwhile waits until the hand is
//! given back. A key without entries that nobody holds is forgotten, so the memory is that of what waits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Found;
use slab::Slab;

use super::identity::{Hasher, Identity, stable_hash};
use super::{Dispatch, Key};

/// Entries that wait, in order for each key.
pub struct Queue<T> {
    dispatch: Dispatch,
    hasher: Hasher,
    /// The keys that have an identity, by it.
    known: HashTable<usize>,
    keys: Slab<Waiting>,
    entries: Slab<Entry<T>>,
    /// The keys that may be taken: one line for all lanes, or one for each.
    ready: Vec<Ready>,
    /// How many entries have come so far: the place of the next.
    place: u64,
    held: usize,
}

/// A key that has entries, or that somebody holds.
struct Waiting {
    /// `None`: it is no other entry's.
    identity: Option<Identity>,
    hash: u64,
    lane: usize,
    entries: usize,
    first: usize,
    last: usize,
    is_held: bool,
    /// When the entries of it that were taken last were worked on, from the first to the last.
    busy: (Duration, Duration),
    /// How long all entries of it were worked on.
    worked: Duration,
}

struct Entry<T> {
    value: T,
    group: u32,
    era: u32,
    place: u64,
    came: Duration,
    /// How long its key had been worked on by then, in hands that had been given back.
    worked: Duration,
    next: usize,
}

/// Keys that may be taken, the one with the oldest entry first.
#[derive(Default)]
struct Ready {
    /// Those that became ready when an entry came: in order by themselves.
    fresh: VecDeque<(u64, usize)>,
    /// Those that were given back while entries of theirs waited.
    returned: BinaryHeap<Reverse<(u64, usize)>>,
    /// How many there were when the last of them became ready.
    crowd: usize,
}

/// Entries that one lane has taken, with all that it holds: nobody gets another entry of these keys until it is given back.
#[must_use = "its keys are held until it is given back"]
pub struct Hand<T> {
    /// In the order in which they came.
    pub entries: Vec<Taken<T>>,
    /// When the work on all of them began, if it is done on all at once; it ends when the hand is given back.
    pub began: Option<Duration>,
    /// Else when the work on each began and ended, as far as the lane knows.
    pub worked: Vec<(Duration, Duration)>,
    keys: Vec<usize>,
}

/// An entry that a lane has taken.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken<T> {
    pub value: T,
    /// Tells the keys of one hand apart.
    pub key: usize,
    pub group: u32,
    /// The era that it came in.
    pub era: u32,
    place: u64,
    /// When it came.
    pub came: Duration,
    /// How long those before it of its key were worked on since it came, as far as they were taken before it.
    pub worked: Duration,
}

/// How much a lane takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// Keys, at most.
    pub keys: usize,
    /// Entries, at most.
    pub entries: usize,
}

/// What waits, at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauge {
    /// Entries that wait.
    pub waiting: usize,
    /// Entries that wait for one key, at most.
    pub most_of_a_key: usize,
    /// Keys that could be taken.
    pub ready: usize,
    /// Keys that somebody holds.
    pub held: usize,
}

impl<T> Queue<T> {
    /// Nothing waits.
    pub fn new(dispatch: Dispatch) -> Queue<T> {
        let lines = match dispatch {
            Dispatch::Free => 1,
            Dispatch::Modulo(lanes) | Dispatch::Hash(lanes) => lanes.get(),
        };
        Queue {
            dispatch,
            hasher: Hasher::default(),
            known: HashTable::new(),
            keys: Slab::new(),
            entries: Slab::new(),
            ready: (0..lines).map(|_| Ready::default()).collect(),
            place: 0,
            held: 0,
        }
    }

    /// What keys are hashed by.
    pub(super) fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// Puts an entry behind all others of its key. Entries of different groups are never taken together.
    pub fn enter(&mut self, key: Key<'_>, value: T, group: u32, era: u32, now: Duration) {
        self.enter_hashed(key, self.hasher.hash(key), value, group, era, now);
    }

    /// The same; the hash is known.
    pub(super) fn enter_hashed(&mut self, key: Key<'_>, hash: u64, value: T, group: u32, era: u32, now: Duration) {
        let index = self.find_or_add(key, hash);
        let place = self.place;
        self.place += 1;
        let worked = self.keys[index].worked;
        let entry = self.entries.insert(Entry { value, group, era, place, came: now, worked, next: usize::MAX });
        let key = &mut self.keys[index];
        match key.entries {
            0 => key.first = entry,
            _ => self.entries[key.last].next = entry,
        }
        key.last = entry;
        key.entries += 1;
        if key.entries == 1 && !key.is_held {
            let ready = &mut self.ready[key.lane];
            ready.fresh.push_back((place, index));
            ready.crowd = ready.len();
        }
    }

    /// Takes ready keys, the oldest first, with what waits for each up to an era. `None` if there is none for this lane.
    pub fn take(&mut self, lane: usize, want: Want, era: u32) -> Option<Hand<T>> {
        let lane = self.line_of(lane);
        let keys = want.keys.max(1).min(self.ready[lane].len());
        let entries = Vec::with_capacity(keys.min(want.entries));
        let mut hand = Hand { entries, began: None, worked: Vec::new(), keys: Vec::with_capacity(keys) };
        while hand.keys.len() < keys && hand.entries.len() < want.entries.max(1) {
            let Some(index) = self.ready[lane].first() else { break };
            let first = &self.entries[self.keys[index].first];
            let is_of_another = |taken: &Taken<T>| (taken.group, taken.era) != (first.group, first.era);
            if first.era > era || hand.entries.first().is_some_and(is_of_another) {
                break;
            }
            let kind = (first.group, first.era);
            self.ready[lane].drop_first();
            self.hand_over(index, kind, want.entries.max(1), &mut hand);
        }
        if hand.keys.is_empty() {
            return None;
        }
        // Key by key they came together; the work goes on in the order in which they came.
        hand.entries.sort_unstable_by_key(|taken| taken.place);
        Some(hand)
    }

    /// Moves what waits for a key, up to the first entry of another group or era, into a hand.
    fn hand_over(&mut self, index: usize, kind: (u32, u32), most: usize, hand: &mut Hand<T>) {
        let key = &mut self.keys[index];
        assert!(!key.is_held, "a key is never in two hands");
        key.is_held = true;
        self.held += 1;
        hand.keys.push(index);
        while key.entries > 0 && hand.entries.len() < most {
            let first = &self.entries[key.first];
            if (first.group, first.era) != kind {
                break;
            }
            let Entry { value, group, era, place, came, worked, next } = self.entries.remove(key.first);
            key.first = next;
            key.entries -= 1;
            // If it came while the last hand was at work, only what was left of that.
            let worked = match came >= key.busy.0 {
                true => key.busy.1.saturating_sub(came),
                false => key.worked.saturating_sub(worked),
            };
            hand.entries.push(Taken { value, key: index, group, era, place, came, worked });
        }
    }

    /// Gives the keys of a hand back: what came for them meanwhile may be taken now.
    pub fn give_back(&mut self, hand: Hand<T>, now: Duration) {
        let began = hand.began.unwrap_or(now);
        for index in &hand.keys {
            let key = &mut self.keys[*index];
            key.busy = (began, now);
            key.worked += now.saturating_sub(began);
        }
        for (taken, (began, ended)) in hand.entries.iter().zip(&hand.worked) {
            let busy = &mut self.keys[taken.key].busy;
            // The first sets the beginning, each the end.
            *busy = (busy.0.min(*began), *ended);
            self.keys[taken.key].worked += ended.saturating_sub(*began);
        }
        for index in hand.keys {
            let key = &mut self.keys[index];
            key.is_held = false;
            self.held -= 1;
            if key.entries > 0 {
                let place = self.entries[key.first].place;
                let ready = &mut self.ready[key.lane];
                ready.returned.push(Reverse((place, index)));
                ready.crowd = ready.len();
            } else {
                self.forget(index);
            }
        }
    }

    /// How many entries wait.
    pub fn waiting(&self) -> usize {
        self.entries.len()
    }

    /// How many keys this lane could take.
    pub fn ready(&self, lane: usize) -> usize {
        self.ready[self.line_of(lane)].len()
    }

    /// How many keys a lane takes, of so many lanes: its share of those that were ready when the last of them became so. What it leaves
    /// is for the others, also for those that are busy now.
    pub fn share(&self, lane: usize, lanes: usize) -> usize {
        match self.dispatch {
            Dispatch::Free => self.ready[0].crowd / lanes,
            Dispatch::Modulo(_) | Dispatch::Hash(_) => self.ready(lane),
        }
    }

    fn line_of(&self, lane: usize) -> usize {
        if self.ready.len() == 1 { 0 } else { lane }
    }

    /// Whether nothing waits and nobody holds anything.
    pub fn is_idle(&self) -> bool {
        self.entries.is_empty() && self.held == 0
    }

    /// What waits. It looks at every key.
    pub fn gauge(&self) -> Gauge {
        Gauge {
            waiting: self.waiting(),
            most_of_a_key: self.keys.iter().map(|(_, key)| key.entries).max().unwrap_or(0),
            ready: self.ready.iter().map(Ready::len).sum(),
            held: self.held,
        }
    }

    /// For how many keys and entries it has memory.
    #[cfg(all(test, not(transship_loom)))]
    pub(super) fn room(&self) -> usize {
        self.keys
            .capacity()
            .max(self.entries.capacity())
            .max(self.ready.iter().map(|ready| ready.fresh.capacity()).sum())
    }

    fn find_or_add(&mut self, key: Key<'_>, hash: u64) -> usize {
        let new = |lane| Waiting {
            identity: Identity::of(key),
            hash,
            lane,
            entries: 0,
            first: usize::MAX,
            last: usize::MAX,
            is_held: false,
            busy: (Duration::ZERO, Duration::ZERO),
            worked: Duration::ZERO,
        };
        if key == Key::Alone {
            // It has no identity to be sent to a certain lane by: the one line, or the lanes in turn.
            let lane = self.place as usize % self.ready.len();
            return self.keys.insert(new(lane));
        }
        let keys = &self.keys;
        let is_it = |index: &usize| {
            let known = &keys[*index];
            known.hash == hash && known.identity.as_ref().is_some_and(|identity| identity.is(key))
        };
        match self.known.entry(hash, is_it, |index| keys[*index].hash) {
            Found::Occupied(found) => *found.get(),
            Found::Vacant(vacant) => {
                let lane = match (self.dispatch, key) {
                    (Dispatch::Free, _) => 0,
                    (Dispatch::Modulo(lanes), Key::Number(number, _)) => {
                        number.rem_euclid(lanes.get() as i128) as usize
                    }
                    (Dispatch::Modulo(lanes) | Dispatch::Hash(lanes), _) => {
                        // Not the table's own hash, which is another one in each run.
                        (stable_hash(key) % lanes.get() as u64) as usize
                    }
                };
                let index = self.keys.insert(new(lane));
                vacant.insert(index);
                index
            }
        }
    }

    fn forget(&mut self, index: usize) {
        let key = self.keys.remove(index);
        if key.identity.is_some()
            && let Ok(found) = self.known.find_entry(key.hash, |known| *known == index)
        {
            found.remove();
        }
    }
}

impl<T> Taken<T> {
    /// How long it waited because its key was being worked on, if its own work begins at this moment; `before` is the work on those of
    /// its key in the same hand.
    pub fn key_wait(&self, begins: Duration, before: Duration) -> Duration {
        (self.worked + before).min(begins.saturating_sub(self.came))
    }
}

impl<T> Hand<T> {
    /// How many keys it holds.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }
}

impl Ready {
    fn len(&self) -> usize {
        self.fresh.len() + self.returned.len()
    }

    /// Whether the oldest is one that was given back.
    fn oldest_was_returned(&self) -> bool {
        match (self.fresh.front(), self.returned.peek()) {
            (Some((fresh, _)), Some(Reverse((returned, _)))) => returned < fresh,
            (fresh, _) => fresh.is_none(),
        }
    }

    fn first(&self) -> Option<usize> {
        match self.oldest_was_returned() {
            true => self.returned.peek().map(|Reverse((_, index))| *index),
            false => self.fresh.front().map(|(_, index)| *index),
        }
    }

    fn drop_first(&mut self) {
        match self.oldest_was_returned() {
            true => drop(self.returned.pop()),
            false => drop(self.fresh.pop_front()),
        }
    }
}

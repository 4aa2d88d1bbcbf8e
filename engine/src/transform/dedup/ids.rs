//! The keys that were seen, the oldest first: they leave when their time is over, when room is needed, or when the record that brought
//! them has come to nothing. Not here: what time it is, and who may ask (`window`).

use std::time::Duration;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::key::{Key, spread};
use super::line::Line;
use super::texts::Texts;

/// What a key of up to 16 bytes takes: 24 bytes in the line, 21 in the table (of 9 bytes a place, at least 7 of 16 places taken), 16
/// where it has a run of its own.
pub(super) const BYTES_OF_A_KEY: usize = 61;
/// Where more keys are remembered, most of them are not in the processor's caches.
const CACHED_KEYS: usize = 1 << 13;
/// What it takes more where its position is remembered.
const BYTES_OF_A_POSITION: usize = 24;

/// Keys in the order in which they came.
#[derive(Debug)]
pub(super) struct Ids {
    /// In nanoseconds, as all times here; `None`: nothing is ever over.
    window: Option<u64>,
    capacity_bytes: u64,
    /// The keys in the line, found by hash. Those that are forgotten are not in here.
    table: HashTable<Place>,
    keys: Line<Key>,
    texts: Texts,
    /// Keys one behind the other that came at the same time in the same attempt.
    runs: Line<Run>,
    /// Where each key's record lies in its source; `None`: nobody will ask.
    positions: Option<Positions>,
    /// What the keys in the line take, those that are forgotten included.
    bytes: u64,
    evicted: u64,
    /// What a key that comes now belongs to.
    now: Run,
}

/// A key in the table.
#[derive(Debug, Clone, Copy)]
struct Place {
    hash: u32,
    /// Its number in the line.
    number: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Run {
    time: u64,
    attempt: u32,
    /// The number behind that of its last key.
    end: u32,
}

#[derive(Debug, Default)]
struct Positions {
    of_keys: Line<u64>,
    /// The lowest and the highest of each run.
    of_runs: Line<(u64, u64)>,
}

impl Ids {
    pub(super) fn new(window: Option<Duration>, capacity_bytes: u64, with_positions: bool) -> Ids {
        // Numbers of keys have 32 bits.
        let most = (BYTES_OF_A_KEY as u64) << 31;
        Ids {
            window: window.map(nanos),
            capacity_bytes: capacity_bytes.min(most),
            table: HashTable::new(),
            keys: Line::default(),
            texts: Texts::default(),
            runs: Line::default(),
            positions: with_positions.then(Positions::default),
            bytes: 0,
            evicted: 0,
            now: Run::default(),
        }
    }

    /// How many keys are remembered.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// How much room the remembered keys take.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many keys had to leave, or never came in, for want of room.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Lets time pass, and says to which attempt the keys belong that come now. The time never goes back.
    pub(super) fn turn_to(&mut self, time: Duration, attempt: u32) {
        let time = nanos(time);
        self.now = Run { time, attempt, end: 0 };
        let Some(window) = self.window else { return };
        let over = |run: &Run| run.time.saturating_add(window) <= time;
        if self.runs.back_mut().is_some_and(|newest| over(newest)) {
            return self.clear();
        }
        while let Some(run) = self.runs.front().copied().filter(over) {
            while self.keys.first() != run.end {
                self.drop_oldest();
            }
        }
        self.shrink();
    }

    /// Takes a key in, unless it is there already: then it answers no. `long` holds the bytes of long keys.
    #[inline]
    pub(super) fn insert(&mut self, key: &Key, long: &[u8], position: u64) -> bool {
        let cost = self.cost(key);
        let has_room = self.bytes + cost <= self.capacity_bytes;
        let Ids { table, keys, texts, .. } = self;
        let same = |place: &Place| place.hash == key.hash() && is_same(keys.get(place.number), texts, key, long);
        match table.entry(spread(key.hash()), same, Place::spread) {
            Entry::Occupied(_) => return false,
            Entry::Vacant(vacant) if has_room => {
                vacant.insert(Place { hash: key.hash(), number: keys.next() });
            }
            Entry::Vacant(_) => {
                if !self.make_room(cost) {
                    self.evicted += 1;
                    return true;
                }
                self.enlist(key);
            }
        }
        let long = key.address().map(|address| &long[address as usize..][..key.len()]);
        self.append(*key, long, position);
        true
    }

    /// Has the memory fetched where these keys will be looked for: for many at once that takes little longer than for one.
    pub(super) fn fetch(&self, keys: &[Key]) {
        if self.table.len() > CACHED_KEYS {
            let find = |key: &&Key| self.table.find(spread(key.hash()), |place| place.hash == key.hash()).is_some();
            std::hint::black_box(keys.iter().filter(find).count());
        }
    }

    /// Counts a key that cannot be taken in.
    pub(super) fn refuse(&mut self) {
        self.evicted += 1;
    }

    /// Forgets all keys of an attempt.
    pub(super) fn forget_attempt(&mut self, attempt: u32) {
        let mut start = self.keys.first();
        let mut number = self.runs.first();
        while number != self.runs.next() {
            let run = *self.runs.get(number);
            if run.attempt == attempt {
                let mut key = start;
                while key != run.end {
                    self.forget(key);
                    key = key.wrapping_add(1);
                }
            }
            start = run.end;
            number = number.wrapping_add(1);
        }
    }

    /// Forgets the keys that the record at a position has brought; returns how many. The newest are looked at first: a record that
    /// fails has mostly come not long ago.
    pub(super) fn forget_position(&mut self, attempt: u32, position: u64) -> u64 {
        let mut forgotten = 0;
        let mut number = self.runs.next();
        while number != self.runs.first() {
            number = number.wrapping_sub(1);
            let run = *self.runs.get(number);
            let Some(positions) = &self.positions else { return forgotten };
            let (lowest, highest) = *positions.of_runs.get(number);
            if run.attempt != attempt || !(lowest..=highest).contains(&position) {
                continue;
            }
            let start = match number == self.runs.first() {
                true => self.keys.first(),
                false => self.runs.get(number.wrapping_sub(1)).end,
            };
            let mut key = start;
            while key != run.end {
                let is_it = self.positions.as_ref().is_some_and(|positions| *positions.of_keys.get(key) == position);
                forgotten += u64::from(is_it && self.forget(key));
                key = key.wrapping_add(1);
            }
        }
        forgotten
    }

    #[inline]
    fn cost(&self, key: &Key) -> u64 {
        // The end of a block may stay empty.
        let long = if key.is_long() { key.len() + key.len() / 8 } else { 0 };
        let position = if self.positions.is_some() { BYTES_OF_A_POSITION } else { 0 };
        (BYTES_OF_A_KEY + position + long) as u64
    }

    #[inline]
    fn append(&mut self, mut key: Key, long: Option<&[u8]>, position: u64) {
        self.bytes += self.cost(&key);
        if let Some(bytes) = long {
            key = key.at(self.texts.push(bytes));
        }
        self.keys.push(key);
        let end = self.keys.next();
        let (time, attempt) = (self.now.time, self.now.attempt);
        let continued = match self.runs.back_mut() {
            Some(run) if run.time == time && run.attempt == attempt => {
                run.end = end;
                true
            }
            _ => {
                self.runs.push(Run { end, ..self.now });
                false
            }
        };
        let Some(positions) = &mut self.positions else { return };
        positions.of_keys.push(position);
        match positions.of_runs.back_mut() {
            Some((lowest, highest)) if continued => {
                *lowest = position.min(*lowest);
                *highest = position.max(*highest);
            }
            _ => positions.of_runs.push((position, position)),
        }
    }

    /// Has the oldest keys leave until there is room for so many bytes; answers no if there never will be.
    fn make_room(&mut self, cost: u64) -> bool {
        if cost > self.capacity_bytes {
            return false;
        }
        while self.bytes + cost > self.capacity_bytes {
            let forgotten = self.keys.len() - self.table.len();
            if forgotten > 0 && forgotten * 4 >= self.keys.len() {
                self.close_ranks();
            } else {
                self.evicted += u64::from(self.drop_oldest());
            }
        }
        true
    }

    /// Has the oldest key leave; answers whether it was still remembered.
    fn drop_oldest(&mut self) -> bool {
        let number = self.keys.first();
        let Some(key) = self.keys.pop() else { return false };
        let remembered = !key.is_mark();
        if remembered {
            self.unlist(number, &key);
        }
        self.bytes -= self.cost(&key);
        if let Some(address) = key.address() {
            self.texts.release_before(address);
        }
        if self.keys.is_empty() {
            self.texts.clear();
        }
        let run_is_over = self.runs.front().is_some_and(|run| run.end == self.keys.first());
        if run_is_over {
            self.runs.pop();
        }
        if let Some(positions) = &mut self.positions {
            positions.of_keys.pop();
            if run_is_over {
                positions.of_runs.pop();
            }
        }
        remembered
    }

    /// Forgets a key, which keeps its place in the line; answers whether it was remembered.
    fn forget(&mut self, number: u32) -> bool {
        let key = *self.keys.get(number);
        if key.is_mark() {
            return false;
        }
        self.unlist(number, &key);
        self.keys.get_mut(number).forget();
        true
    }

    /// Puts the key into the table that comes into the line next.
    fn enlist(&mut self, key: &Key) {
        let place = Place { hash: key.hash(), number: self.keys.next() };
        self.table.insert_unique(spread(place.hash), place, Place::spread);
    }

    fn unlist(&mut self, number: u32, key: &Key) {
        if let Ok(place) = self.table.find_entry(spread(key.hash()), |place| place.number == number) {
            place.remove();
        }
    }

    /// Moves the keys that are remembered together.
    fn close_ranks(&mut self) {
        let mut rest = self.emptied();
        let mut number = self.keys.first();
        let mut run = self.runs.first();
        while number != self.keys.next() {
            while self.runs.get(run).end == number {
                run = run.wrapping_add(1);
            }
            let key = *self.keys.get(number);
            if !key.is_mark() {
                rest.now = *self.runs.get(run);
                let long = key.address().map(|address| self.texts.get(address, key.len()));
                let position = self.positions.as_ref().map_or(0, |positions| *positions.of_keys.get(number));
                rest.enlist(&key);
                rest.append(key, long, position);
            }
            number = number.wrapping_add(1);
        }
        rest.now = self.now;
        *self = rest;
    }

    /// Forgets everything at once.
    fn clear(&mut self) {
        *self = self.emptied();
    }

    /// The same without any key.
    fn emptied(&self) -> Ids {
        let empty = Ids::new(None, self.capacity_bytes, self.positions.is_some());
        Ids { window: self.window, evicted: self.evicted, now: self.now, ..empty }
    }

    /// Gives back what a flood of keys has left behind.
    fn shrink(&mut self) {
        const SMALL: usize = 1 << 12;
        if self.table.capacity() > SMALL && self.table.len() < self.table.capacity() / 8 {
            self.table.shrink_to(self.table.len() * 2, Place::spread);
        }
    }
}

impl Place {
    #[inline]
    fn spread(&self) -> u64 {
        spread(self.hash)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[inline]
fn is_same(known: &Key, texts: &Texts, key: &Key, long: &[u8]) -> bool {
    match (known.address(), key.address()) {
        (Some(known_at), Some(at)) => {
            known.resembles(key) && texts.get(known_at, known.len()) == &long[at as usize..][..key.len()]
        }
        _ => known == key,
    }
}

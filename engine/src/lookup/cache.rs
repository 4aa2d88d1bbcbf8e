//! Rows that were found before, by key: the least recently used leave first, and none lives longer than it may.

use std::num::NonZeroUsize;
use std::time::Duration;

use lru::LruCache;

use super::outcome::Rows;

/// What was found for a key; `None`: nothing.
pub type Cached = Option<Rows>;

/// Remembers a number of keys.
pub struct Cache {
    entries: LruCache<Box<[u8]>, (Duration, Cached), foldhash::fast::RandomState>,
    most: NonZeroUsize,
    /// How long what was found counts; `None`: for ever.
    time_to_live: Option<Duration>,
    /// Whether it also remembers that there is nothing.
    missing: bool,
    hits: u64,
    misses: u64,
}

impl Cache {
    /// Room for so many keys.
    pub fn new(entries: NonZeroUsize, time_to_live: Option<Duration>, missing: bool) -> Cache {
        // It grows as keys come: what is written in a job file may be far more than there will ever be.
        let known = LruCache::unbounded_with_hasher(foldhash::fast::RandomState::default());
        Cache { entries: known, most: entries, time_to_live, missing, hits: 0, misses: 0 }
    }

    /// What it knows of a key. `None`: it has to be looked up.
    pub fn get(&mut self, key: &[u8], now: Duration) -> Option<Cached> {
        let known = match self.entries.get(key) {
            Some((since, _)) if self.time_to_live.is_some_and(|most| now.saturating_sub(*since) >= most) => {
                self.entries.pop(key);
                None
            }
            known => known.map(|(_, rows)| rows.clone()),
        };
        match known {
            Some(_) => self.hits += 1,
            None => self.misses += 1,
        }
        known
    }

    /// Remembers what was found for a key now.
    pub fn put(&mut self, key: &[u8], found: Cached, now: Duration) {
        if found.is_some() || self.missing {
            self.entries.put(key.into(), (now, found));
            if self.entries.len() > self.most.get() {
                self.entries.pop_lru();
            }
        }
    }

    /// How often it knew, and how often not.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }
}

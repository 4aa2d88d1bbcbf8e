//! How long the records that a lane has done waited, and for what.

use std::collections::HashMap;
use std::time::Duration;

use super::{Lanes, Work, unpoisoned};
use crate::clock::Clock;
use crate::latency::Histogram;

impl Lanes {
    /// Counts how long the records of some work waited, now that it is done. `started` are the moments at which the work on each began,
    /// in microseconds since 1970; without them all began when they were handed to the lane.
    pub fn count_waits(&self, lane: usize, work: &mut Work, started: Option<&[u64]>) {
        let now = self.clock.now();
        match started {
            // All took the same time at once: nothing waited for another.
            None => work.hand.began = Some(work.handed),
            Some(started) => {
                let moment = |index: usize| match started.get(index) {
                    Some(micros) => {
                        Duration::from_micros(*micros).saturating_sub(self.beginning).clamp(work.handed, now)
                    }
                    None => work.handed,
                };
                // One is done when the next begins.
                let count = work.hand.entries.len();
                let end = |next: usize| if next < count { moment(next) } else { now };
                work.hand.worked = (0..count).map(|index| (moment(index), end(index + 1))).collect();
            }
        }
        self.record(lane, work);
    }

    fn record(&self, lane: usize, work: &Work) {
        // What was done for each key before, in this hand.
        let mut before: HashMap<usize, Duration> = HashMap::new();
        let has_several_of_a_key = !work.hand.worked.is_empty() && work.hand.keys() < work.hand.entries.len();
        let mut latencies = unpoisoned(&self.latencies[lane]);
        let latencies = &mut *latencies;
        let [mut start, mut key, mut lane] =
            [&mut latencies.start, &mut latencies.key, &mut latencies.lane].map(Counting::new);
        for (index, entry) in work.hand.entries.iter().enumerate() {
            let (began, ended) = work.hand.worked.get(index).copied().unwrap_or((work.handed, work.handed));
            let began = began.max(entry.came);
            let of_key = has_several_of_a_key.then(|| before.entry(entry.key).or_default());
            let key_wait = entry.key_wait(began, of_key.as_deref().copied().unwrap_or_default());
            if let Some(of_key) = of_key {
                *of_key += ended.saturating_sub(began);
            }
            let wait = began - entry.came;
            start.count(match work.created(entry.value) {
                Some(micros) => {
                    let created = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
                    (self.beginning + began).saturating_sub(created)
                }
                None => wait,
            });
            key.count(key_wait);
            lane.count(wait - key_wait);
        }
    }
}

/// Counts times. Those that come one after another and are the same are counted at once.
struct Counting<'a> {
    histogram: &'a mut Histogram,
    time: Duration,
    count: u64,
}

impl Counting<'_> {
    fn new(histogram: &mut Histogram) -> Counting<'_> {
        Counting { histogram, time: Duration::ZERO, count: 0 }
    }

    fn count(&mut self, time: Duration) {
        if time != self.time {
            self.tell();
            (self.time, self.count) = (time, 0);
        }
        self.count += 1;
    }

    fn tell(&mut self) {
        if self.count > 0 {
            self.histogram.record_many(self.time, self.count);
        }
    }
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

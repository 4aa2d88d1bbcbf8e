//! How long the records that a lane has done waited, and for what.

use std::collections::HashMap;
use std::time::Duration;

use super::{Lanes, Work, unpoisoned};

impl Lanes {
    /// Counts how long the records of some work waited, now that it is done. `started` are the moments at which the work on each began,
    /// in microseconds since 1970; without them all began when they were handed to the lane.
    pub fn count_waits(&self, lane: usize, work: &mut Work, started: Option<&[u64]>) {
        use crate::clock::Clock;

        let now = self.clock.now();
        let entries = &work.hand.entries;
        let moment = |index: usize| match started.and_then(|started| started.get(index)) {
            Some(micros) => Duration::from_micros(*micros).saturating_sub(self.beginning).clamp(work.handed, now),
            None => work.handed,
        };
        // One is done when the next begins. If nobody says when each began, all took the same time at once.
        let worked: Vec<(Duration, Duration)> = match started {
            Some(_) => {
                let end = |next: usize| if next < entries.len() { moment(next) } else { now };
                (0..entries.len()).map(|index| (moment(index), end(index + 1))).collect()
            }
            None => vec![(work.handed, now); entries.len()],
        };
        // What was done for each key before, in this hand; without moments of their own nothing waited for another.
        let mut before: HashMap<usize, Duration> = HashMap::new();
        let has_several_of_a_key = started.is_some() && work.hand.keys() < entries.len();
        let mut latencies = unpoisoned(&self.latencies[lane]);
        for (entry, (began, ended)) in entries.iter().zip(&worked) {
            let began = (*began).max(entry.came);
            let of_key = has_several_of_a_key.then(|| before.entry(entry.key).or_default());
            let key_wait = entry.key_wait(began, of_key.as_deref().copied().unwrap_or_default());
            if let Some(of_key) = of_key {
                *of_key += ended.saturating_sub(began);
            }
            let wait = began - entry.came;
            let latency = match entry.value.lot.created(entry.value.row) {
                Some(micros) => {
                    let created = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
                    (self.beginning + began).saturating_sub(created)
                }
                None => wait,
            };
            latencies.start.record(latency);
            latencies.key.record(key_wait);
            latencies.lane.record(wait - key_wait);
        }
        drop(latencies);
        work.hand.worked = worked;
    }
}

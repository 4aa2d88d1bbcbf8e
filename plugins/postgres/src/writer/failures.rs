//! How many records to write with one COPY, so that bad ones cost little.
//!
//! A COPY is stored as a whole or not at all, so a record that the server refuses costs all those that were sent with it. Many
//! small COPYs cost as well: each has to be begun, ended, and made safe by a savepoint. And for each COPY the server makes up to a
//! thousand places for rows, each of which takes it the longer the more there are, so that COPYs of about a thousand records are
//! the dearest: where bad records are frequent, COPYs are much smaller, and where they are not, much larger.

use std::ops::Range;

/// Records that could be sent in the time that a small COPY takes to begin and to end, about, and a large one.
const RECORDS_PER_SMALL_COPY: f64 = 20.0;
const RECORDS_PER_LARGE_COPY: f64 = 400.0;
/// The most records of a small COPY: from there on the places for rows cost more than another COPY.
const SMALL: f64 = 256.0;
/// Where bad records lie farther apart, large COPYs cost less.
const RARE: f64 = 30_000.0;
/// Records of the first COPY. As long as there has been no bad one, each next one may have as many as all before it: a bad record
/// then costs no more than there was to be gained.
const FIRST: usize = 8_192;
/// With fewer records in a COPY hardly anything is gained.
const FEWEST: f64 = 16.0;

/// How far bad records lie apart.
#[derive(Debug)]
pub(super) struct Failures {
    /// Records written since the last bad one.
    since: u64,
    /// Records between bad ones, on the average; `None` while there has not been one.
    distance: Option<f64>,
}

impl Failures {
    pub(super) fn new() -> Failures {
        Failures { since: 0, distance: None }
    }

    /// So many records were written, and none of them was bad.
    pub(super) fn written(&mut self, records: usize) {
        self.since += records as u64;
    }

    /// Of these records the ones with these numbers, in order, were bad.
    pub(super) fn found(&mut self, records: Range<usize>, bad: impl Iterator<Item = usize>) {
        let mut begin = records.start;
        for bad in bad {
            self.written(bad - begin);
            self.failed();
            begin = bad + 1;
        }
        self.written(records.end - begin);
    }

    fn failed(&mut self) {
        let seen = self.since as f64 + 1.0;
        self.distance = Some(self.distance.map_or(seen, |distance| (3.0 * distance + seen) / 4.0));
        self.since = 0;
    }

    /// The number of records at which the cost of beginning COPYs and that of writing records again are the least together.
    pub(super) fn records_of_a_copy(&self) -> usize {
        match self.distance {
            None => FIRST.max(self.since as usize),
            Some(_) if self.distance() < RARE => {
                best(self.distance(), RECORDS_PER_SMALL_COPY).clamp(FEWEST, SMALL) as usize
            }
            Some(_) => best(self.distance(), RECORDS_PER_LARGE_COPY) as usize,
        }
    }

    /// Records between bad ones, as far as is known.
    pub(super) fn distance(&self) -> f64 {
        // Once there has been none for a long time, they have become rarer.
        self.distance.unwrap_or_default().max(self.since as f64)
    }
}

/// The root of twice the product of how far bad records lie apart, and how many could be written instead of beginning a COPY.
fn best(distance: f64, records_per_copy: f64) -> f64 {
    (2.0 * distance * records_per_copy).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_the_smaller_the_more_records_are_bad() {
        let mut failures = Failures::new();
        assert_eq!(failures.records_of_a_copy(), FIRST);
        failures.written(10 * FIRST);
        assert_eq!(failures.records_of_a_copy(), 10 * FIRST);
        let mut failures = Failures::new();
        for _ in 0..50 {
            failures.written(10_000);
            failures.failed();
        }
        let rare = failures.records_of_a_copy();
        assert_eq!(rare, SMALL as usize);
        for _ in 0..50 {
            failures.written(10);
            failures.failed();
        }
        assert!(failures.records_of_a_copy() < rare);
        failures.written(1_000_000);
        assert!(failures.records_of_a_copy() > 10_000);
    }
}

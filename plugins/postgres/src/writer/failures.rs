//! How many records to write with one COPY, so that bad ones cost little.
//!
//! A COPY is stored as a whole or not at all, so a record that the server refuses costs all those that were sent with it. Many
//! small COPYs cost as well: each has to be begun, ended, and made safe by a savepoint.

use std::ops::Range;

/// Records that could be sent in the time that a COPY takes to begin and to end, about. It takes that long because the server
/// makes a thousand places for rows each time, and needs the longer for each the more there are.
const RECORDS_PER_COPY: f64 = 500.0;
/// With fewer records in a COPY hardly anything is gained.
const FEWEST: usize = 64;

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

    /// The number of records at which the cost of beginning COPYs and that of writing records again are the least together: the
    /// root of twice their product.
    pub(super) fn records_of_a_copy(&self) -> usize {
        let Some(distance) = self.distance else { return usize::MAX };
        // Once there has been none for a long time, they have become rarer.
        let distance = distance.max(self.since as f64);
        ((2.0 * distance * RECORDS_PER_COPY).sqrt() as usize).max(FEWEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_the_smaller_the_more_records_are_bad() {
        let mut failures = Failures::new();
        assert_eq!(failures.records_of_a_copy(), usize::MAX);
        for _ in 0..50 {
            failures.written(10_000);
            failures.failed();
        }
        let rare = failures.records_of_a_copy();
        assert!((2_000..5_000).contains(&rare), "{rare}");
        for _ in 0..50 {
            failures.written(10);
            failures.failed();
        }
        assert!(failures.records_of_a_copy() < rare);
        failures.written(1_000_000);
        assert!(failures.records_of_a_copy() > rare);
    }
}

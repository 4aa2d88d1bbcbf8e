//! How long records waited: every one is counted, in microseconds, and the distribution is kept to three digits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A distribution of times.
#[derive(Debug, Clone)]
pub struct Histogram {
    times: hdrhistogram::Histogram<u64>,
    /// The sum of all, in microseconds.
    micros: u64,
}

/// What is told of a distribution, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    pub count: u64,
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    pub stddev: f64,
    pub p50: u64,
    pub p75: u64,
    pub p95: u64,
    pub p98: u64,
    pub p99: u64,
    pub p999: u64,
}

/// A part of a histogram: so many times above the bucket before it, up to this one, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    pub up_to: u64,
    pub count: u64,
}

/// How long records waited, and for what.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// From the making of a record, or its arrival, to the start of its own work.
    pub start: Histogram,
    /// That part of the wait after its arrival in which its key was being worked on.
    pub key: Histogram,
    /// The rest of it, in which no lane took it.
    pub lane: Histogram,
}

/// What is longer counts as this: a thousand days, in microseconds.
const LONGEST: u64 = 1000 * 86_400 * 1_000_000;

impl Default for Histogram {
    fn default() -> Histogram {
        let times = hdrhistogram::Histogram::new(3).expect("three digits are allowed");
        Histogram { times, micros: 0 }
    }
}

impl Histogram {
    /// Counts a time.
    pub fn record(&mut self, time: Duration) {
        self.record_many(time, 1);
    }

    /// Counts a time that came so often.
    pub fn record_many(&mut self, time: Duration, count: u64) {
        // Times of days are all that can be meant: the memory grows with the range.
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).min(LONGEST);
        let recorded = self.times.record_n(micros, count);
        debug_assert!(recorded.is_ok(), "{recorded:?}");
        self.micros = self.micros.saturating_add(micros.saturating_mul(count));
    }

    /// Adds what another one has counted.
    pub fn add(&mut self, other: &Histogram) {
        // It grows as far as is needed, so the other one fits.
        let added = self.times.add(&other.times);
        debug_assert!(added.is_ok(), "{added:?}");
        self.micros = self.micros.saturating_add(other.micros);
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.times.len()
    }

    /// Their sum, in microseconds.
    pub fn micros(&self) -> u64 {
        self.micros
    }

    /// How many times lie in which range, each range twice as wide as the one before; from the first that has any to the last.
    pub fn buckets(&self) -> Vec<Bucket> {
        let ranges = self.times.iter_log(1, 2.0);
        let buckets =
            ranges.map(|range| Bucket { up_to: range.value_iterated_to(), count: range.count_since_last_iteration() });
        buckets.skip_while(|bucket| bucket.count == 0).collect()
    }

    /// What there is to tell.
    pub fn distribution(&self) -> Distribution {
        let at = |quantile| self.times.value_at_quantile(quantile);
        Distribution {
            count: self.times.len(),
            min: self.times.min(),
            max: self.times.max(),
            mean: self.times.mean(),
            stddev: self.times.stdev(),
            p50: at(0.5),
            p75: at(0.75),
            p95: at(0.95),
            p98: at(0.98),
            p99: at(0.99),
            p999: at(0.999),
        }
    }
}

impl Latencies {
    /// Adds what another one has counted.
    pub fn add(&mut self, other: &Latencies) {
        self.start.add(&other.start);
        self.key.add(&other.key);
        self.lane.add(&other.lane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KA-23: the values 1 to 1000, within what three digits allow.
    #[test]
    fn the_figures_are_those_of_all_times() {
        let mut histogram = Histogram::default();
        for millis in 1..=1000 {
            histogram.record(Duration::from_millis(millis));
        }
        let told = histogram.distribution();
        let near = |figure: f64, expected: f64| (figure - expected).abs() <= 0.001 * expected + 1000.0;
        assert_eq!(told.count, 1000);
        let figures = [told.p50, told.p75, told.p95, told.p98, told.p99, told.p999].map(|micros| micros as f64);
        let expected = [500.5e3, 750.75e3, 950.95e3, 980.98e3, 990.99e3, 999.999e3];
        for (figure, expected) in figures.into_iter().zip(expected) {
            assert!(near(figure, expected), "{figure} instead of {expected}");
        }
        assert!(near(told.mean, 500.5e3) && near(told.stddev, 288.675e3), "{told:?}");
        assert!(near(told.min as f64, 1e3) && near(told.max as f64, 1e6), "{told:?}");
    }

    #[test]
    fn buckets_hold_every_time_and_grow_twofold() {
        let mut histogram = Histogram::default();
        for millis in [1, 1, 3, 40] {
            histogram.record(Duration::from_millis(millis));
        }
        let buckets = histogram.buckets();
        assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 4);
        assert_eq!(buckets.first().map(|bucket| (bucket.up_to, bucket.count)), Some((1023, 2)));
        assert!(buckets.windows(2).all(|pair| pair[1].up_to > pair[0].up_to), "{buckets:?}");
        assert!(Histogram::default().buckets().is_empty());
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let mut parts = [Histogram::default(), Histogram::default()];
        let mut whole = Histogram::default();
        for micros in 0..10_000u64 {
            let time = Duration::from_micros(micros * micros);
            parts[(micros % 2) as usize].record(time);
            whole.record(time);
        }
        let mut sum = Histogram::default();
        parts.iter().for_each(|part| sum.add(part));
        assert_eq!(sum.distribution(), whole.distribution());
        let squares = (0..10_000u64).map(|micros| micros * micros).sum::<u64>();
        assert_eq!((sum.count(), sum.micros(), whole.micros()), (10_000, squares, squares));
    }
}

//! How fast a job moves, and what holds it up: what was counted of it in the last seconds. Not here: how long it will take (`forecast`).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::progress::Snapshot;

/// What was counted in so much time tells how fast things go.
const LATELY: Duration = Duration::from_secs(10);
/// Who waited for less of it, added up over all tasks, is not held up.
const WORTH_NAMING: f64 = 0.1;
/// How often what is counted is noted.
const STEP: Duration = Duration::from_millis(500);

/// Remembers what was counted when. What is forgotten goes bit by bit: a rate never rests on the last moment alone.
pub(super) struct Lately {
    /// Never empty.
    looks: VecDeque<(Instant, Snapshot)>,
}

/// What was counted before some time and after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Period {
    pub before: Snapshot,
    pub now: Snapshot,
    pub time: Duration,
}

impl Lately {
    /// Nothing has been counted yet.
    pub(super) fn new(now: Instant) -> Lately {
        Lately { looks: VecDeque::from([(now, Snapshot::default())]) }
    }

    /// Notes what is counted now, and answers what was counted lately.
    pub(super) fn look(&mut self, counted: Snapshot, now: Instant) -> Period {
        if is_yet_to_begin(&counted) {
            *self = Lately::new(now);
        }
        if self.looks.back().is_none_or(|(at, _)| now.duration_since(*at) >= STEP) {
            self.looks.push_back((now, counted));
        }
        while self.looks.len() > 1 && now.duration_since(self.looks[1].0) >= LATELY {
            self.looks.pop_front();
        }
        let (since, before) = self.looks[0];
        Period { before, now: counted, time: now.duration_since(since) }
    }
}

/// Whether the time that passes is none of the job's. A task that runs in a process of its own reads, though no job begins there.
pub(super) fn is_yet_to_begin(job: &Snapshot) -> bool {
    !job.has_begun && job.read_records == 0
}

impl Period {
    /// Records that were read, a second.
    pub(super) fn records_per_second(&self) -> u64 {
        self.per_second(|counted| counted.read_records)
    }

    /// The bytes of these, a second.
    pub(super) fn bytes_per_second(&self) -> u64 {
        self.per_second(|counted| counted.read_bytes)
    }

    /// Which side the other one waited for, or whether both waited for a speed limit; none where neither waited for long, or much longer
    /// than the other.
    pub(super) fn limit(&self) -> Option<&'static str> {
        let long = (WORTH_NAMING * self.time.as_nanos() as f64) as u64;
        let for_reader = self.grown(|counted| counted.wait_for_reader_nanos);
        let for_writer = self.grown(|counted| counted.wait_for_writer_nanos);
        let for_limit = self.grown(|counted| counted.wait_for_limit_nanos);
        if self.now.open_tasks > 0 && self.now.only_writing() == self.now.open_tasks {
            // All is read, and nobody waits for it.
            Some("writer-bound")
        } else if for_reader.max(for_writer).max(for_limit) < long {
            None
        } else if for_limit > 2 * for_writer && 2 * for_limit > for_reader {
            Some("speed-limited")
        } else if for_writer > 2 * for_reader {
            Some("writer-bound")
        } else if for_reader > 2 * for_writer {
            Some("reader-bound")
        } else {
            None
        }
    }

    fn per_second(&self, counter: impl Fn(&Snapshot) -> u64) -> u64 {
        (self.grown(counter) as f64 / self.time.as_secs_f64().max(0.001)).round() as u64
    }

    fn grown(&self, counter: impl Fn(&Snapshot) -> u64) -> u64 {
        counter(&self.now).saturating_sub(counter(&self.before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that has begun and has read so many records.
    fn read(read_records: u64) -> Snapshot {
        Snapshot { read_records, has_begun: true, ..Snapshot::default() }
    }

    #[test]
    fn a_steady_job_has_the_same_rate_at_every_moment() {
        let start = Instant::now();
        let mut lately = Lately::new(start);
        for look in 1..=300_u32 {
            let now = start + look * Duration::from_millis(200);
            let rate = lately.look(read(u64::from(look) * 200), now).records_per_second();
            assert_eq!(rate, 1000, "after {:?}", now - start);
        }
    }

    #[test]
    fn a_pause_does_not_look_like_the_end_of_all_speed() {
        let start = Instant::now();
        let mut lately = Lately::new(start);
        let mut slowest = u64::MAX;
        for look in 1..=300_u32 {
            // All records of a second come at once.
            let records = u64::from(look / 5) * 1000;
            let period = lately.look(read(records), start + look * Duration::from_millis(200));
            if look > 25 {
                slowest = slowest.min(period.records_per_second());
            }
        }
        assert!(slowest >= 800, "{slowest}");
    }

    #[test]
    fn only_the_last_seconds_count() {
        let start = Instant::now();
        let mut lately = Lately::new(start);
        let mut last = None;
        for second in 1..=40_u64 {
            let records = if second <= 20 { 1000 * second } else { 20_000 + (second - 20) };
            last = Some(lately.look(read(records), start + Duration::from_secs(second)));
        }
        assert_eq!(last.map(|period| (period.records_per_second(), period.time)), Some((1, LATELY)));
    }

    #[test]
    fn a_job_that_begins_later_is_as_fast_as_one_that_began_at_once() {
        let start = Instant::now();
        let mut lately = Lately::new(start);
        let waits = Snapshot::default();
        for second in 1..=60 {
            lately.look(waits, start + Duration::from_secs(second));
        }
        let period = lately.look(read(2000), start + Duration::from_secs(62));
        assert_eq!((period.records_per_second(), period.time), (1000, Duration::from_secs(2)));
    }

    #[test]
    fn a_task_in_a_process_of_its_own_has_a_rate_though_no_job_begins() {
        let start = Instant::now();
        let reads = Snapshot { has_begun: false, ..read(3000) };
        assert_eq!(Lately::new(start).look(reads, start + Duration::from_secs(3)).records_per_second(), 1000);
    }

    #[test]
    fn the_limit_is_the_side_that_is_waited_for() {
        let waited = |for_reader, for_writer| Snapshot {
            wait_for_reader_nanos: for_reader,
            wait_for_writer_nanos: for_writer,
            ..Snapshot::default()
        };
        let limit = |now, before| Period { before, now, time: Duration::from_nanos(100) }.limit();
        assert_eq!(limit(waited(10, 90), waited(10, 10)), Some("writer-bound"));
        assert_eq!(limit(waited(90, 90), waited(10, 90)), Some("reader-bound"));
        assert_eq!(limit(waited(50, 50), waited(0, 0)), None);
        assert_eq!(limit(waited(9, 0), waited(0, 0)), None, "that is next to nothing");
        let all_is_read = Snapshot { open_tasks: 1, ..waited(0, 0) };
        assert_eq!(limit(all_is_read, waited(0, 0)), Some("writer-bound"));
        let limited = Snapshot { wait_for_limit_nanos: 80, ..waited(90, 10) };
        assert_eq!(limit(limited, Snapshot::default()), Some("speed-limited"));
    }
}

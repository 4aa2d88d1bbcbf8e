//! Notices that nothing moves, and says once in a while which call everybody waits for.

use std::time::{Duration, Instant};

use super::monitor::Watched;
use crate::calls::{Calls, Stuck};
use crate::progress::Snapshot;

/// How long nothing moves before that is told; each time after it is told when twice as much time has passed.
const STILL: Duration = Duration::from_secs(10);

/// Since when nothing moves.
pub(super) struct Stillness {
    moved: (u64, u64, u64),
    since: Instant,
    tell_after: Duration,
}

impl Stillness {
    pub(super) fn new() -> Stillness {
        Stillness { moved: (0, 0, 0), since: Instant::now(), tell_after: STILL }
    }

    /// What to say, if nothing has moved for long because of a call that goes on. A source that has nothing to give is no such call: it
    /// says so ten times a second.
    pub(super) fn lasts(&mut self, watched: &[Watched<'_>], calls: &Calls, now: Instant) -> Option<String> {
        let jobs: Vec<Snapshot> = watched.iter().map(|job| job.progress.snapshot()).collect();
        let all = Snapshot::sum(&jobs);
        self.tell(&all, || calls.under_way(), now)
    }

    fn tell(&mut self, all: &Snapshot, under_way: impl FnOnce() -> Vec<Stuck>, now: Instant) -> Option<String> {
        let moved = (all.read_records, all.written_records, all.tasks_done);
        if moved != self.moved {
            (self.moved, self.since, self.tell_after) = (moved, now, STILL);
            return None;
        }
        let still = now.duration_since(self.since);
        if still < self.tell_after {
            return None;
        }
        let under_way = under_way();
        let longest = under_way.first().filter(|call| call.lasting >= STILL / 2)?;
        self.tell_after = 2 * still;
        let others = under_way.iter().skip(1).filter(|call| call.lasting >= STILL / 2).count();
        let others = match others {
            0 => String::new(),
            1 => "; one other call lasts as well".into(),
            several => format!("; {several} other calls last as well"),
        };
        Some(format!(
            "nothing has moved for {:.0} s: {} for {}, in `{}` for {:.0} s{others}",
            still.as_secs_f64(),
            who_waits(longest.call),
            longest.who,
            longest.call,
            longest.lasting.as_secs_f64()
        ))
    }
}

/// Who waits while this call goes on.
fn who_waits(call: &str) -> &'static str {
    match call {
        "next" | "open" | "ack" => "the writer waits",
        "write" | "flush" | "checkpoint" | "mark" => "the reader waits",
        "transform" => "reader and writer wait",
        _ => "the job waits",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_call(lasting: u64) -> Vec<Stuck> {
        vec![Stuck { who: "task 0 (a.csv), sqlitewriter".into(), call: "write", lasting: Duration::from_secs(lasting) }]
    }

    #[test]
    fn a_call_that_holds_everything_up_is_named_after_ten_seconds_and_then_ever_less_often() {
        let mut stillness = Stillness::new();
        let start = Instant::now();
        let snapshot = Snapshot { read_records: 5, ..Snapshot::default() };
        let mut tell = |at: u64| stillness.tell(&snapshot, || write_call(at), start + Duration::from_secs(at));
        assert_eq!(tell(0), None);
        assert_eq!(tell(9), None);
        assert_eq!(
            tell(10).as_deref(),
            Some("nothing has moved for 10 s: the reader waits for task 0 (a.csv), sqlitewriter, in `write` for 10 s")
        );
        assert_eq!(tell(19), None);
        assert!(tell(20).is_some());
        assert_eq!(tell(39), None);
        assert!(tell(41).is_some());
    }

    #[test]
    fn whatever_moves_is_no_stall_and_neither_is_a_source_that_has_nothing_to_give() {
        let mut stillness = Stillness::new();
        let start = Instant::now();
        for seconds in 0..30 {
            let snapshot = Snapshot { written_records: seconds, ..Snapshot::default() };
            assert_eq!(stillness.tell(&snapshot, || write_call(30), start + Duration::from_secs(seconds)), None);
        }
        let snapshot = Snapshot { written_records: 29, ..Snapshot::default() };
        assert_eq!(stillness.tell(&snapshot, || write_call(0), start + Duration::from_secs(60)), None);
    }
}

//! Notices that a job does not move, and says once in a while which call it waits for, or what else.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::figures::several;
use super::monitor::Watched;
use crate::calls::{Calls, Stuck};
use crate::perf::Phase;
use crate::progress::Snapshot;

/// How long nothing moves before that is told; each time after it is told when twice as much time has passed.
const STILL: Duration = Duration::from_secs(10);
/// What has lasted for less is not why.
const LONG: Duration = Duration::from_secs(5);

/// What is counted of a job: if any of it changes, the job moves.
type Moved = (bool, u64, u64, u64);

/// Since when a job does not move.
pub(super) struct Stillness {
    moved: Moved,
    since: Instant,
    tell_after: Duration,
}

/// What a job is at.
struct Doings {
    /// The calls of its plugins that go on, the longest first.
    calls: Vec<Stuck>,
    /// The phases in which the sides of its attempts are, and for how long.
    phases: Vec<(Phase, Duration)>,
    /// Tasks that were found and have not begun.
    to_come: u64,
}

impl Stillness {
    pub(super) fn new() -> Stillness {
        Stillness { moved: Moved::default(), since: Instant::now(), tell_after: STILL }
    }

    /// What to say of a job, if it has not moved for long and somebody is waited for. A source that has nothing to give is no such case:
    /// it says so ten times a second.
    pub(super) fn lasts(&mut self, job: &Watched<'_>, calls: &Calls, now: Instant) -> Option<String> {
        let snapshot = job.progress.snapshot();
        let doings = || Doings {
            calls: job.run.map_or_else(|| calls.under_way(), |run| calls.of(run).under_way()),
            phases: job.attempts.as_ref().map(|attempts| attempts.now()).unwrap_or_default(),
            to_come: snapshot.tasks_known.saturating_sub(snapshot.tasks_done + snapshot.open_tasks),
        };
        self.tell(&snapshot, doings, now)
    }

    fn tell(&mut self, job: &Snapshot, doings: impl FnOnce() -> Doings, now: Instant) -> Option<String> {
        let moved = (job.has_begun, job.read_records, job.written_records, job.tasks_done);
        if moved != self.moved {
            (self.moved, self.since, self.tell_after) = (moved, now, STILL);
            return None;
        }
        let still = now.duration_since(self.since);
        if still < self.tell_after || job.has_ended {
            return None;
        }
        let doings = doings();
        if let Some(told) = doings.told_last().filter(|told| *told < still) {
            (self.since, self.tell_after) = (now.checked_sub(told).unwrap_or(now), STILL);
            return None;
        }
        let why = doings.long_call().or_else(|| doings.waits(job.has_begun))?;
        self.tell_after = 2 * still;
        Some(format!("nothing has moved for {:.0} s: {why}", still.as_secs_f64()))
    }
}

impl Doings {
    /// How long ago a call told of another thing than it began with: one that does so moves, though nobody can count how far.
    fn told_last(&self) -> Option<Duration> {
        self.calls.iter().filter(|call| call.still < call.lasting).map(|call| call.still).min()
    }

    /// The call that holds everything up.
    fn long_call(&self) -> Option<String> {
        let mut long = self.calls.iter().filter(|call| call.lasting >= LONG);
        let longest = long.next()?;
        let others = match long.count() {
            0 => String::new(),
            1 => "; one other call lasts as well".into(),
            several => format!("; {several} other calls last as well"),
        };
        Some(format!(
            "{} for {}, in {} for {:.0} s{others}",
            who_waits(longest.call),
            longest.who,
            longest.told(),
            longest.lasting.as_secs_f64()
        ))
    }

    /// What is waited for where no call goes on.
    fn waits(&self, has_begun: bool) -> Option<String> {
        let in_phase =
            |phase: Phase| self.phases.iter().filter(|(other, lasting)| *other == phase && *lasting >= LONG).count();
        let waits = [
            (
                in_phase(Phase::WaitWriteTime),
                "reader waits",
                "readers wait",
                "for room in the channels, the lanes or their memory",
            ),
            (in_phase(Phase::WaitSlotTime), "reader waits", "readers wait", "for a slot, which others have"),
            (in_phase(Phase::WaitLimitTime), "reader waits", "readers wait", "for the speed limit"),
            (
                in_phase(Phase::WaitTurnTime),
                "writer waits",
                "writers wait",
                "for a turn at the target, which others have",
            ),
        ];
        let mut text = String::new();
        for (count, one, many, what) in waits.into_iter().filter(|(count, ..)| *count > 0) {
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{comma}{} {what}", several(count, one, many));
        }
        // That writers have nothing to write says something only where readers could give it.
        let idle = in_phase(Phase::WaitReadTime);
        if !text.is_empty() && idle > 0 {
            let _ = write!(text, ", {} for records", several(idle, "writer waits", "writers wait"));
        }
        if text.is_empty() && has_begun && self.phases.is_empty() && self.to_come > 0 {
            let tasks = several(self.to_come as usize, "task waits", "tasks wait");
            return Some(format!("{tasks} to be opened: as many are open as may be, all of others"));
        }
        (!text.is_empty()).then(|| format!("no call goes on; {text}"))
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

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn in_write(lasting: u64) -> Doings {
        let who = "task 0 (a.csv), sqlitewriter".into();
        let doing = "INSERT INTO a".into();
        Doings {
            calls: vec![Stuck { who, call: "write", lasting: at(lasting), doing, still: at(lasting) }],
            phases: Vec::new(),
            to_come: 0,
        }
    }

    fn in_phases<const N: usize>(phases: [(Phase, u64); N]) -> Doings {
        let phases = phases.into_iter().map(|(phase, lasting)| (phase, at(lasting)));
        Doings { calls: Vec::new(), phases: phases.collect(), to_come: 3 }
    }

    /// What is said of a job that does this and has not moved for twenty seconds.
    fn told(doings: Doings) -> Option<String> {
        let mut stillness = Stillness::new();
        let snapshot = Snapshot { has_begun: true, ..Snapshot::default() };
        let start = Instant::now();
        assert_eq!(stillness.tell(&snapshot, || panic!("it has just begun"), start), None);
        stillness.tell(&snapshot, || doings, start + at(20))
    }

    #[test]
    fn a_call_that_holds_everything_up_is_named_after_ten_seconds_and_then_ever_less_often() {
        let mut stillness = Stillness::new();
        let start = Instant::now();
        let snapshot = Snapshot { read_records: 5, ..Snapshot::default() };
        let mut tell = |seconds: u64| stillness.tell(&snapshot, || in_write(seconds), start + at(seconds));
        assert_eq!(tell(0), None);
        assert_eq!(tell(9), None);
        assert_eq!(
            tell(10).as_deref(),
            Some(
                "nothing has moved for 10 s: the reader waits for task 0 (a.csv), sqlitewriter, in `write` (INSERT INTO a) for 10 s"
            )
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
            assert_eq!(stillness.tell(&snapshot, || in_write(30), start + at(seconds)), None);
        }
        let snapshot = Snapshot { written_records: 29, ..Snapshot::default() };
        assert_eq!(stillness.tell(&snapshot, || in_write(0), start + at(60)), None);
        let idle = [(Phase::ReadTaskData, 20), (Phase::WaitReadTime, 20), (Phase::WaitSlotTime, 1)];
        assert_eq!(told(in_phases(idle)), None);
    }

    #[test]
    fn a_call_that_does_one_thing_after_another_is_no_stall_until_one_of_them_lasts() {
        let mut stillness = Stillness::new();
        let start = Instant::now();
        let snapshot = Snapshot { read_records: 5, ..Snapshot::default() };
        let mut tell = |seconds: u64, still: u64| {
            let mut doings = in_write(seconds);
            doings.calls[0].still = at(still);
            stillness.tell(&snapshot, || doings, start + at(seconds))
        };
        assert_eq!([0, 10, 20, 30].map(|seconds| tell(seconds, 1)), [const { None }; 4]);
        assert_eq!([35, 38].map(|seconds| tell(seconds, seconds - 29)), [const { None }; 2]);
        let told = tell(39, 10).expect("the last one lasts");
        assert!(told.starts_with("nothing has moved for 10 s: ") && told.ends_with("for 39 s"), "{told}");
    }

    #[test]
    fn where_no_call_goes_on_it_is_said_what_is_waited_for() {
        let text = told(in_phases([(Phase::WaitWriteTime, 9), (Phase::WaitReadTime, 9), (Phase::WaitReadTime, 8)]));
        assert_eq!(
            text.as_deref(),
            Some(
                "nothing has moved for 20 s: no call goes on; 1 reader waits for room in the channels, the lanes or their memory, \
                 2 writers wait for records"
            )
        );
        let text = told(in_phases([(Phase::WaitSlotTime, 20), (Phase::WaitSlotTime, 20), (Phase::WaitTurnTime, 20)]));
        assert_eq!(
            text.as_deref(),
            Some(
                "nothing has moved for 20 s: no call goes on; 2 readers wait for a slot, which others have, 1 writer waits for a turn at \
                 the target, which others have"
            )
        );
        let text = told(in_phases([]));
        assert_eq!(
            text.as_deref(),
            Some("nothing has moved for 20 s: 3 tasks wait to be opened: as many are open as may be, all of others")
        );
    }

    #[test]
    fn a_job_that_has_ended_or_not_begun_is_not_still() {
        let mut stillness = Stillness::new();
        let start = Instant::now();
        let snapshot = Snapshot::default();
        assert_eq!(stillness.tell(&snapshot, || in_phases([]), start + at(60)), None);
        let ended = Snapshot { has_begun: true, has_ended: true, ..snapshot };
        assert_eq!(stillness.tell(&ended, || in_write(99), start + at(61)), None);
        assert_eq!(stillness.tell(&ended, || in_write(99), start + at(99)), None);
    }
}

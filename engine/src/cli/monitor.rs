//! Watches a job while it runs: shows how far it is, and ends the process if a plugin ignores the wish to end.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use transship_plugin_api::Kind;

use super::console::Console;
use super::events::Events;
use super::signals::Signals;
use super::stillness::Stillness;
use super::view::View;
use crate::calls::{Calls, Stuck};
use crate::error::Failure;
use crate::metrics::StageMetrics;
use crate::perf::Phase;
use crate::perf::meter::Attempts;
use crate::progress::{Progress, Snapshot};

/// How often to look.
const TICK: Duration = Duration::from_millis(200);
/// How long a plugin call may go on after it was asked to end.
const GRACE: Duration = Duration::from_secs(5);
/// The same for a commit: once it has begun, nobody wants it to stop halfway, but it must not hang for ever either.
const COMMIT_GRACE: Duration = Duration::from_secs(60);
/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Told each second what the transformers of a job measure, where any do.
pub(super) type EachSecond<'a> = Box<dyn Fn(&[StageMetrics]) + Sync + 'a>;

/// A job that is watched.
pub(super) struct Watched<'a> {
    /// What a program calls it…
    pub title: &'a str,
    /// …and a person.
    pub name: &'a str,
    /// Whose calls are its own; `None`: all.
    pub run: Option<&'a str>,
    /// What its attempts at tasks are at, where there are any.
    pub attempts: Option<Attempts>,
    pub progress: &'a Progress,
    pub each_second: EachSecond<'a>,
}

impl Watched<'_> {
    /// What is counted of it, with waits that have not ended.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut now = self.progress.snapshot();
        for (phase, lasting) in self.attempts.iter().flat_map(Attempts::now) {
            let waits = match phase {
                Phase::WaitReadTime => &mut now.wait_for_reader_nanos,
                Phase::WaitWriteTime => &mut now.wait_for_writer_nanos,
                Phase::WaitLimitTime => &mut now.wait_for_limit_nanos,
                _ => continue,
            };
            *waits += lasting.as_nanos() as u64;
        }
        now
    }
}

/// Puts in order what lies around before the process ends without waiting for the jobs, and answers what to say of it.
pub(super) type Abandon<'a> = dyn Fn() -> Option<String> + Sync + 'a;

/// Runs the work on this thread while another watches the jobs.
pub(super) fn watch<T>(
    console: &Console,
    calls: &Calls,
    watched: &[Watched<'_>],
    signals: &Signals,
    abandon: &Abandon<'_>,
    work: impl FnOnce() -> T,
) -> T {
    let finished = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut view = View::new(console, watched);
            let mut events = Events::new(console, watched);
            let mut patience = Patience::default();
            let mut stillness: Vec<_> = watched.iter().map(|_| Stillness::new()).collect();
            let mut seconds = vec![None; watched.len()];
            let mut done = finished.0.lock().unwrap_or_else(PoisonError::into_inner);
            while !*done {
                done = finished.1.wait_timeout(done, TICK).unwrap_or_else(PoisonError::into_inner).0;
                view.update();
                events.update();
                for (job, stillness) in watched.iter().zip(&mut stillness) {
                    if let Some(stuck) = stillness.lasts(job, calls, Instant::now()) {
                        let whose = if watched.len() > 1 { format!("{}: ", job.name) } else { String::new() };
                        console.stall(&format!("{whose}{stuck}"));
                    }
                }
                for (job, seen) in watched.iter().zip(&mut seconds) {
                    if let Some(stages) = job.progress.new_second(seen) {
                        (job.each_second)(&stages);
                    }
                }
                if let Some(stuck) = patience.exhausted(calls.overdue(), Instant::now()) {
                    let cause = calls.cause().map(|cause| Failure::new(Kind::Internal, cause));
                    let why = cause.into_iter().chain([ignores_the_wish_to_end(&stuck)]).collect();
                    give_up(scope, console, why, abandon, signals.received());
                }
            }
        });
        // Also when the work panics: otherwise the watching thread would keep the scope open for ever.
        let _finish = Finish(&finished);
        work()
    })
}

struct Finish<'a>(&'a (Mutex<bool>, Condvar));

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

/// Names the call that does not end.
fn ignores_the_wish_to_end(stuck: &Stuck) -> Failure {
    let lasting = stuck.lasting.as_secs_f64();
    let message = format!(
        "{}: {} has lasted {lasting:.1} s and ignores that the work was cancelled; the process ends without it",
        stuck.who,
        stuck.told()
    );
    Failure::new(Kind::Internal, message)
}

/// Says why and ends the process without waiting for anything that hangs.
fn give_up<'scope>(
    scope: &'scope Scope<'scope, '_>,
    console: &'scope Console,
    why: Vec<Failure>,
    abandon: &'scope Abandon<'_>,
    signal: Option<i32>,
) -> ! {
    // Perhaps the call hangs because nobody reads stderr, and then nothing more can be said: so this is said on a thread of
    // its own, which ends with the process.
    let (said, heard) = crossbeam::channel::bounded(1);
    let speaking = std::thread::Builder::new().name("last words".into()).spawn_scoped(scope, move || {
        console.hide_bar();
        for failure in why {
            console.error(&failure.into());
        }
        if let Some(left) = abandon() {
            console.alert(&left);
        }
        let _ = said.send(());
    });
    if speaking.is_ok() {
        let _ = heard.recv_timeout(LAST_WORDS);
    }
    std::process::exit(signal.map_or(1, |signal| 128 + signal));
}

fn grace(call: &str) -> Duration {
    match call {
        "commit" => COMMIT_GRACE,
        // It has only begun because of the cancellation, and cleans up.
        "abort" => GRACE + Duration::from_secs(3),
        _ => GRACE,
    }
}

/// Remembers since when calls are overdue.
#[derive(Default)]
struct Patience {
    since: HashMap<(String, &'static str), Instant>,
}

impl Patience {
    /// The call, if any, that has been overdue for too long.
    fn exhausted(&mut self, overdue: Vec<Stuck>, now: Instant) -> Option<Stuck> {
        self.since.retain(|(who, call), _| overdue.iter().any(|stuck| stuck.who == *who && stuck.call == *call));
        overdue.into_iter().find(|stuck| {
            // A call that began after it was seen before is another one.
            let since = self.since.entry((stuck.who.clone(), stuck.call)).or_insert(now);
            if now.duration_since(*since) > stuck.lasting {
                *since = now;
            }
            now.duration_since(*since) >= grace(stuck.call)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuck(lasting: u64) -> Vec<Stuck> {
        let lasting = Duration::from_secs(lasting);
        vec![Stuck { who: "task 1".into(), call: "next", lasting, doing: String::new(), still: lasting }]
    }

    #[test]
    fn patience_ends_five_seconds_after_the_wish_however_long_the_call_lasted_before() {
        let mut patience = Patience::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(patience.exhausted(stuck(60), at(0)), None);
        assert_eq!(patience.exhausted(stuck(64), at(4)), None);
        assert!(patience.exhausted(stuck(65), at(5)).is_some());
    }

    #[test]
    fn a_series_of_short_calls_is_not_one_that_hangs() {
        let mut patience = Patience::default();
        let start = Instant::now();
        for seconds in 0..20 {
            assert_eq!(patience.exhausted(stuck(0), start + Duration::from_secs(seconds)), None);
        }
    }
}

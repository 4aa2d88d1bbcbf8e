//! Watches a job while it runs: shows how far it is, and ends the process if a plugin ignores the wish to end.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use transship_plugin_api::Kind;

use super::console::Console;
use super::signals::Signals;
use super::stillness::Stillness;
use super::summary::{bytes_text, count_text};
use crate::calls::{Calls, Stuck};
use crate::error::Failure;
use crate::metrics::StageMetrics;
use crate::progress::{Progress, Snapshot};
use crate::slots::Standing;

/// How often to look.
const TICK: Duration = Duration::from_millis(200);
/// How often to print a line where there is no terminal (DataX's report interval).
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// How many jobs have a line of their own.
const MOST_JOBS: usize = 10;
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
    /// What a person calls it.
    pub title: &'a str,
    pub progress: &'a Progress,
    pub each_second: EachSecond<'a>,
}

/// Runs the work on this thread while another watches the jobs.
pub(super) fn watch<T>(
    console: &Console,
    calls: &Calls,
    watched: &[Watched<'_>],
    signals: &Signals,
    work: impl FnOnce() -> T,
) -> T {
    let finished = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut view = View::new(console, watched);
            let mut patience = Patience::default();
            let mut stillness = Stillness::new();
            let mut done = finished.0.lock().unwrap_or_else(PoisonError::into_inner);
            while !*done {
                done = finished.1.wait_timeout(done, TICK).unwrap_or_else(PoisonError::into_inner).0;
                view.update();
                if let Some(stuck) = stillness.lasts(watched, calls, Instant::now()) {
                    console.note(&stuck);
                }
                for job in watched {
                    if let Some(stages) = job.progress.take_second() {
                        (job.each_second)(&stages);
                    }
                }
                if let Some(stuck) = patience.exhausted(calls.overdue(), Instant::now()) {
                    give_up(console, &stuck, calls.cause(), signals.received());
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

/// Names the call that does not end and ends the process without waiting for it.
fn give_up(console: &Console, stuck: &Stuck, cause: Option<String>, signal: Option<i32>) -> ! {
    let lasting = stuck.lasting.as_secs_f64();
    let message = format!(
        "{}: `{}` has lasted {lasting:.1} s and ignores that the work was cancelled; the process ends without it",
        stuck.who, stuck.call
    );
    let failure = Failure::new(Kind::Internal, message);
    let code = signal.map_or(1, |signal| 128 + signal);
    // Perhaps the call hangs because nobody reads stderr, and then nothing more can be said: so this is said on a thread of
    // its own, which ends with the process.
    let (said, heard) = crossbeam::channel::bounded(1);
    let speaker = console.clone();
    let speaking = std::thread::Builder::new().name("last words".into()).spawn(move || {
        speaker.hide_bar();
        if let Some(cause) = cause {
            speaker.error(&Failure::new(Kind::Internal, cause).into());
        }
        speaker.error(&failure.into());
        let _ = said.send(());
    });
    if speaking.is_ok() {
        let _ = heard.recv_timeout(LAST_WORDS);
    }
    std::process::exit(code);
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

/// What a person sees.
struct View<'a> {
    console: &'a Console,
    watched: &'a [Watched<'a>],
    /// `None` until the first look: only then it is known whether there may be one.
    bar: Option<Option<ProgressBar>>,
    shown: Vec<Snapshot>,
    shown_at: Instant,
}

impl<'a> View<'a> {
    fn new(console: &'a Console, watched: &'a [Watched<'a>]) -> View<'a> {
        let shown = watched.iter().map(|_| Snapshot::default()).collect();
        View { console, watched, bar: None, shown, shown_at: Instant::now() }
    }

    fn update(&mut self) {
        let now: Vec<Snapshot> = self.watched.iter().map(|job| job.progress.snapshot()).collect();
        let bar = self.bar.get_or_insert_with(|| self.console.show_bar(new_bar));
        let elapsed = self.shown_at.elapsed();
        if let Some(bar) = bar {
            let all_now = Snapshot::sum(&now);
            let (done, all) = share(&all_now);
            bar.set_length(all);
            bar.set_position(done);
            let line = short_line(&all_now, &Snapshot::sum(&self.shown), elapsed);
            bar.set_message(if now.len() > 1 { format!("{}, {line}", jobs_text(&now)) } else { line });
        }
        if elapsed >= LINE_INTERVAL {
            if bar.is_none() {
                self.print(&now, elapsed);
            }
            (self.shown, self.shown_at) = (now, Instant::now());
        }
    }

    /// One line, or of several jobs one for all and one for each that is under way.
    fn print(&self, now: &[Snapshot], elapsed: Duration) {
        let whole = line(&Snapshot::sum(now), &Snapshot::sum(&self.shown), elapsed);
        if now.len() < 2 {
            return self.console.note(&whole);
        }
        self.console.note(&format!("{} | {whole}", jobs_text(now)));
        let jobs = self.watched.iter().zip(now).zip(&self.shown);
        let mut under_way: Vec<_> = jobs.filter(|((_, now), _)| now.has_begun && !now.has_ended).collect();
        let left_out = under_way.len().saturating_sub(MOST_JOBS);
        // The largest are those that are waited for.
        under_way.sort_by_key(|((_, now), _)| std::cmp::Reverse(now.standing.scheduled));
        for ((job, now), before) in under_way.into_iter().take(MOST_JOBS) {
            self.console.note(&format!("  {}: {}", job.title, job_line(now, before, elapsed)));
        }
        if left_out > 0 {
            self.console.note(&format!("  and {left_out} more"));
        }
    }
}

/// How many jobs are done, under way, and yet to begin.
fn jobs_text(now: &[Snapshot]) -> String {
    let done = now.iter().filter(|job| job.has_ended).count();
    let waiting = now.iter().filter(|job| !job.has_begun).count();
    format!("jobs {done} of {} done, {} run, {waiting} wait", now.len(), now.len() - done - waiting)
}

/// How one of several jobs stands.
fn job_line(now: &Snapshot, before: &Snapshot, elapsed: Duration) -> String {
    let Standing { level, running, waiting, blocked, scheduled } = now.standing;
    let more = if now.all_tasks_known { "" } else { "+" };
    let open = running + waiting + blocked;
    let to_come = now.tasks_known.saturating_sub(now.tasks_done + open as u64);
    format!(
        "{} records, {}/s | tasks {} of {}{more} done, {open} open ({running} run, {waiting} wait for a slot, {blocked} for else), \
         {to_come} to come | slots for {:.1} s, level {level}",
        count_text(now.read_records),
        count_text(per_second(now.read_records, before.read_records, elapsed)),
        now.tasks_done,
        now.tasks_known,
        scheduled.as_secs_f64(),
    )
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:20} {msg}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        self.console.hide_bar();
    }
}

/// How much of how much is done: bytes of the source where they are known, tasks elsewhere.
fn share(now: &Snapshot) -> (u64, u64) {
    if now.source_bytes > 0 { (now.source_bytes_done, now.source_bytes) } else { (now.tasks_done, now.tasks_known) }
}

/// What fits beside a bar.
fn short_line(now: &Snapshot, before: &Snapshot, elapsed: Duration) -> String {
    let speed = per_second(now.read_records, before.read_records, elapsed);
    let tasks = format!("{}/{}", now.tasks_done, now.tasks_known);
    let bytes = bytes_text(per_second(now.read_bytes, before.read_bytes, elapsed));
    let limit = limit_word(now, before).map(|word| format!(", {word}")).unwrap_or_default();
    format!("{} records, {}/s, {bytes}/s, tasks {tasks}{limit}", count_text(now.read_records), count_text(speed))
}

/// Which side the other one waits for, lately; none where neither waits much more than the other.
fn limit_word(now: &Snapshot, before: &Snapshot) -> Option<&'static str> {
    let for_reader = now.wait_for_reader_nanos.saturating_sub(before.wait_for_reader_nanos);
    let for_writer = now.wait_for_writer_nanos.saturating_sub(before.wait_for_writer_nanos);
    if for_writer > 2 * for_reader {
        Some("writer-bound")
    } else if for_reader > 2 * for_writer {
        Some("reader-bound")
    } else {
        None
    }
}

fn per_second(now: u64, before: u64, elapsed: Duration) -> u64 {
    (now.saturating_sub(before) as f64 / elapsed.as_secs_f64().max(0.001)) as u64
}

/// One line of progress, with DataX's figures.
fn line(now: &Snapshot, before: &Snapshot, elapsed: Duration) -> String {
    let per_second = |now: u64, before: u64| per_second(now, before, elapsed);
    let more = if now.all_tasks_known { "" } else { "+" };
    format!(
        "read {} records, {} | written {} | {}/s, {} records/s | tasks {} of {}{more} | waited for the writer {:.1} s, for the \
         reader {:.1} s",
        count_text(now.read_records),
        bytes_text(now.read_bytes),
        count_text(now.written_records),
        bytes_text(per_second(now.read_bytes, before.read_bytes)),
        count_text(per_second(now.read_records, before.read_records)),
        now.tasks_done,
        now.tasks_known,
        now.wait_for_writer_nanos as f64 / 1e9,
        now.wait_for_reader_nanos as f64 / 1e9,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuck(lasting: u64) -> Vec<Stuck> {
        vec![Stuck { who: "task 1".into(), call: "next", lasting: Duration::from_secs(lasting) }]
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

    /// Trap 21.
    #[test]
    fn progress_is_by_bytes_where_the_source_has_them_and_by_tasks_elsewhere() {
        let tasks = Snapshot { tasks_done: 1, tasks_known: 4, ..Snapshot::default() };
        assert_eq!(share(&tasks), (1, 4));
        assert_eq!(share(&Snapshot { source_bytes_done: 10, source_bytes: 1000, ..tasks }), (10, 1000));
    }

    #[test]
    fn the_word_names_the_side_that_is_waited_for() {
        let waited = |for_reader, for_writer| Snapshot {
            wait_for_reader_nanos: for_reader,
            wait_for_writer_nanos: for_writer,
            ..Snapshot::default()
        };
        let lately = |now, before| limit_word(&now, &before);
        assert_eq!(lately(waited(10, 90), waited(10, 10)), Some("writer-bound"));
        assert_eq!(lately(waited(90, 90), waited(10, 90)), Some("reader-bound"));
        assert_eq!(lately(waited(50, 50), waited(0, 0)), None);
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

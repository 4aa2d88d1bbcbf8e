//! What a person sees while jobs run: a few lines around a bar on a terminal, a line every ten seconds elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::console::Console;
use super::figures::{bytes_text, count_text};
use super::forecast::{Forecast, left_text, slowest};
use super::monitor::Watched;
use crate::progress::{OpenTask, Snapshot, Work};
use crate::slots::Standing;

/// How often to print a line where there is no terminal (DataX's report interval).
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// How many jobs have a line of their own.
const MOST_JOBS: usize = 10;
/// How many steps the bar has.
const STEPS: u64 = 1000;
/// A task that has been open for less is not worth a line.
const SHORT: Duration = Duration::from_secs(2);

/// What a person sees.
pub(super) struct View<'a> {
    console: &'a Console,
    watched: &'a [Watched<'a>],
    forecast: Forecast,
    /// `None` until the first look: only then it is known whether there may be one.
    bar: Option<Option<ProgressBar>>,
    shown: Vec<Snapshot>,
    shown_at: Instant,
}

/// How jobs stand: all together, and each.
struct Now {
    each: Vec<Snapshot>,
    whole: Snapshot,
    works: Vec<Work>,
    work: Work,
    left: Option<Duration>,
}

impl<'a> View<'a> {
    pub(super) fn new(console: &'a Console, watched: &'a [Watched<'a>]) -> View<'a> {
        let shown = watched.iter().map(|_| Snapshot::default()).collect();
        View { console, watched, forecast: Forecast::default(), bar: None, shown, shown_at: Instant::now() }
    }

    pub(super) fn update(&mut self) {
        let now = self.look();
        let bar = self.bar.get_or_insert_with(|| self.console.show_bar(new_bar));
        let elapsed = self.shown_at.elapsed();
        if let Some(bar) = bar {
            bar.set_position(now.work.share().map_or(0, |share| (share * STEPS as f64) as u64));
            bar.set_message(message(self.watched, &now, &self.shown, elapsed));
        }
        if elapsed >= LINE_INTERVAL {
            if bar.is_none() {
                self.print(&now, elapsed);
            }
            (self.shown, self.shown_at) = (now.each, Instant::now());
        }
    }

    fn look(&mut self) -> Now {
        let each: Vec<Snapshot> = self.watched.iter().map(|job| job.progress.snapshot()).collect();
        let works: Vec<Work> = self.watched.iter().map(|job| job.progress.work()).collect();
        let work = Work::sum(works.clone());
        self.forecast.look(&work, Instant::now());
        Now { whole: Snapshot::sum(&each), left: self.forecast.left(&work), each, works, work }
    }

    /// One line, or of several jobs one for all and one for each that is under way.
    fn print(&self, now: &Now, elapsed: Duration) {
        let whole = line(&now.whole, &Snapshot::sum(&self.shown), elapsed);
        let done = done_text(&now.work, now.left).map(|text| format!("{text} | ")).unwrap_or_default();
        if now.each.len() < 2 {
            return self.console.note(&format!("{done}{whole}"));
        }
        self.console.note(&format!("{} | {done}{whole}", jobs_text(&now.each)));
        for line in job_lines(self.watched, now, &self.shown, elapsed) {
            self.console.note(&line);
        }
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        self.console.hide_bar();
    }
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {bar:20} {msg}");
    ProgressBar::new(STEPS).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// What stands beside a bar and below it.
fn message(watched: &[Watched<'_>], now: &Now, before: &[Snapshot], elapsed: Duration) -> String {
    let mut lines = vec![done_text(&now.work, now.left).unwrap_or_default()];
    let short = short_line(&now.whole, &Snapshot::sum(before), elapsed);
    if now.each.len() > 1 {
        lines.push(format!("  {} | {short}", jobs_text(&now.each)));
        lines.extend(job_lines(watched, now, before, elapsed));
    } else {
        lines.push(format!("  {short}"));
    }
    let has_others = now.whole.tasks_known > 1;
    lines.extend(slowest(&now.work).filter(|task| has_others && task.lasts >= SHORT).map(slowest_line));
    lines.join("\n")
}

/// How many jobs are done, under way, and yet to begin.
fn jobs_text(now: &[Snapshot]) -> String {
    let done = now.iter().filter(|job| job.has_ended).count();
    let waiting = now.iter().filter(|job| !job.has_begun).count();
    format!("jobs {done} of {} done, {} run, {waiting} wait", now.len(), now.len() - done - waiting)
}

/// A line for each of the largest jobs under way.
fn job_lines(watched: &[Watched<'_>], now: &Now, before: &[Snapshot], elapsed: Duration) -> Vec<String> {
    let jobs = watched.iter().zip(&now.each).zip(&now.works).zip(before);
    let mut under_way: Vec<_> = jobs.filter(|(((_, now), _), _)| now.has_begun && !now.has_ended).collect();
    let left_out = under_way.len().saturating_sub(MOST_JOBS);
    // The largest are those that are waited for.
    under_way.sort_by_key(|(((_, now), _), _)| std::cmp::Reverse(now.standing.scheduled));
    let mut lines = Vec::new();
    for (((job, now), work), before) in under_way.into_iter().take(MOST_JOBS) {
        lines.push(format!("  {}: {}", job.name, job_line(now, work, before, elapsed)));
    }
    if left_out > 0 {
        lines.push(format!("  and {left_out} more"));
    }
    lines
}

/// How one of several jobs stands.
fn job_line(now: &Snapshot, work: &Work, before: &Snapshot, elapsed: Duration) -> String {
    let Standing { level, running, waiting, blocked, scheduled } = now.standing;
    let more = if now.all_tasks_known { "" } else { "+" };
    let open = running + waiting + blocked;
    let to_come = now.tasks_known.saturating_sub(now.tasks_done + open as u64);
    let done = done_text(work, None).map(|text| format!("{text}, ")).unwrap_or_default();
    format!(
        "{done}{} records, {}/s | tasks {} of {}{more} done, {open} open ({running} run, {waiting} wait for a slot, {blocked} for \
         else), {to_come} to come | slots for {:.1} s, level {level}",
        count_text(now.read_records),
        count_text(per_second(now.read_records, before.read_records, elapsed)),
        now.tasks_done,
        now.tasks_known,
        scheduled.as_secs_f64(),
    )
}

/// How much is done, and how much time is left.
fn done_text(work: &Work, left: Option<Duration>) -> Option<String> {
    let share = work.share()?;
    // 100 % is what has ended.
    let percent = ((share * 100.0) as u32).min(99);
    let (of, until) = if work.may_grow { (" of what is known so far", " for it") } else { ("", "") };
    let left = left.map(|left| format!(", {}{until}", left_text(left))).unwrap_or_default();
    Some(format!("{percent} % done{of}{left}"))
}

/// The task that the others will wait for.
fn slowest_line(task: &OpenTask) -> String {
    let share = if task.share > 0.0 { format!("{:.0} % done, ", task.share * 100.0) } else { String::new() };
    format!("  slowest: task {} ({}), {share}open for {} s", task.number, task.label, task.lasts.as_secs())
}

/// What fits below a bar.
fn short_line(now: &Snapshot, before: &Snapshot, elapsed: Duration) -> String {
    let speed = per_second(now.read_records, before.read_records, elapsed);
    let bytes = bytes_text(per_second(now.read_bytes, before.read_bytes, elapsed));
    let more = if now.all_tasks_known { "" } else { "+" };
    let limit = limit_word(now, before).map(|word| format!(" | {word}")).unwrap_or_default();
    format!(
        "{} records, {}/s, {bytes}/s | tasks {} of {}{more}{limit}",
        count_text(now.read_records),
        count_text(speed),
        now.tasks_done,
        now.tasks_known
    )
}

/// Which side the other one waits for, lately, or whether both wait for a speed limit; none where neither waits much more than the other.
pub(super) fn limit_word(now: &Snapshot, before: &Snapshot) -> Option<&'static str> {
    let for_reader = now.wait_for_reader_nanos.saturating_sub(before.wait_for_reader_nanos);
    let for_writer = now.wait_for_writer_nanos.saturating_sub(before.wait_for_writer_nanos);
    let for_limit = now.wait_for_limit_nanos.saturating_sub(before.wait_for_limit_nanos);
    if for_limit > 2 * for_writer && 2 * for_limit > for_reader {
        Some("speed-limited")
    } else if for_writer > 2 * for_reader {
        Some("writer-bound")
    } else if for_reader > 2 * for_writer {
        Some("reader-bound")
    } else {
        None
    }
}

pub(super) fn per_second(now: u64, before: u64, elapsed: Duration) -> u64 {
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

    #[test]
    fn how_much_is_done_is_told_with_what_is_left_and_never_rounded_up_to_all() {
        let work = Work { known: 1000.0, done: 999.9, ..Work::default() };
        assert_eq!(done_text(&work, None).as_deref(), Some("99 % done"));
        let left = Some(Duration::from_secs(12));
        assert_eq!(done_text(&work, left).as_deref(), Some("99 % done, about 12 s left"));
        let work = Work { may_grow: true, ..work };
        let told = "99 % done of what is known so far, about 12 s left for it";
        assert_eq!(done_text(&work, left).as_deref(), Some(told));
        assert_eq!(done_text(&Work::default(), None), None);
    }

    #[test]
    fn the_slowest_task_is_told_with_how_far_it_is_where_that_is_known() {
        let lasts = Duration::from_secs(40);
        let task = OpenTask { number: 3, label: "a.csv".into(), size: 1.0, share: 0.125, lasts, began_at: 0.0 };
        assert_eq!(slowest_line(&task), "  slowest: task 3 (a.csv), 12 % done, open for 40 s");
        assert_eq!(slowest_line(&OpenTask { share: 0.0, ..task }), "  slowest: task 3 (a.csv), open for 40 s");
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
        let limited = Snapshot { wait_for_limit_nanos: 80, ..waited(90, 10) };
        assert_eq!(lately(limited, Snapshot::default()), Some("speed-limited"));
    }
}

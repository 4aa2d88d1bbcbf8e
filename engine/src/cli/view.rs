//! What a person sees while jobs run: a few lines around a bar on a terminal, a line every ten seconds elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::console::Console;
use super::figures::{bytes_text, count_text};
use super::forecast::{Forecast, left_text, percent, shown_share, slowest};
use super::lately::{Lately, Period};
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
    /// How fast all together are, and each.
    all_lately: Lately,
    each_lately: Vec<Lately>,
    /// `None` until the first look: only then it is known whether there may be one.
    bar: Option<Option<ProgressBar>>,
    /// When the last line was, where there is no bar.
    printed_at: Instant,
}

/// How jobs stand: all together, and each.
struct Now {
    all: Period,
    each: Vec<Period>,
    work: Work,
    works: Vec<Work>,
    left: Option<Duration>,
}

impl<'a> View<'a> {
    pub(super) fn new(console: &'a Console, watched: &'a [Watched<'a>]) -> View<'a> {
        let now = Instant::now();
        View {
            console,
            watched,
            forecast: Forecast::default(),
            all_lately: Lately::new(now),
            each_lately: watched.iter().map(|_| Lately::new(now)).collect(),
            bar: None,
            printed_at: now,
        }
    }

    pub(super) fn update(&mut self) {
        let now = self.look();
        let bar = self.bar.get_or_insert_with(|| self.console.show_bar(new_bar));
        if let Some(bar) = bar {
            bar.set_position(now.work.share().map_or(0, |share| (shown_share(share) * STEPS as f64) as u64));
            // Names and labels are what others have written.
            bar.set_message(self.console.presentable(&message(self.watched, &now)));
        } else if self.printed_at.elapsed() >= LINE_INTERVAL {
            self.printed_at = Instant::now();
            self.print(&now);
        }
    }

    fn look(&mut self) -> Now {
        let now = Instant::now();
        let counted: Vec<Snapshot> = self.watched.iter().map(Watched::snapshot).collect();
        let works: Vec<Work> = self.watched.iter().map(|job| job.progress.work()).collect();
        let work = Work::sum(works.clone());
        self.forecast.look(&work, now);
        let all = self.all_lately.look(Snapshot::sum(&counted), now);
        let each = self.each_lately.iter_mut().zip(counted).map(|(lately, counted)| lately.look(counted, now));
        Now { all, each: each.collect(), left: self.forecast.left(&work), work, works }
    }

    /// One line, or of several jobs one for all and one for each that is under way.
    fn print(&self, now: &Now) {
        let all = line(&now.all);
        let done = done_text(&now.work, now.left).map(|text| format!("{text} | ")).unwrap_or_default();
        if now.each.len() < 2 {
            return self.console.note(&format!("{done}{all}"));
        }
        self.console.note(&format!("{} | {done}{all}", jobs_text(&now.each)));
        for line in job_lines(self.watched, now, job_line) {
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
fn message(watched: &[Watched<'_>], now: &Now) -> String {
    let mut lines = vec![done_text(&now.work, now.left).unwrap_or_default()];
    let short = short_line(&now.all);
    if now.each.len() > 1 {
        lines.push(format!("  {} | {short}", jobs_text(&now.each)));
        lines.extend(job_lines(watched, now, short_job_line));
    } else {
        lines.push(format!("  {short}"));
    }
    let has_others = now.all.now.tasks_known > 1;
    lines.extend(slowest(&now.work).filter(|task| has_others && task.lasts >= SHORT).map(slowest_line));
    lines.join("\n")
}

/// How many jobs are done, under way, and yet to begin.
fn jobs_text(jobs: &[Period]) -> String {
    let count = |is: fn(&Snapshot) -> bool| jobs.iter().filter(|job| is(&job.now)).count();
    let (done, under_way) = (count(|job| job.has_ended), count(is_under_way));
    let waiting = count(|job| !job.has_begun && !job.has_ended);
    format!("jobs {done} of {} done, {under_way} run, {waiting} wait", jobs.len())
}

/// Whether a job has begun and not ended. That it has begun is seen at another moment than that it has ended: of a short job the second
/// may be true and the first not.
fn is_under_way(job: &Snapshot) -> bool {
    job.has_begun && !job.has_ended
}

/// A line for each of the largest jobs under way.
fn job_lines(watched: &[Watched<'_>], now: &Now, line: fn(&Period, &Work) -> String) -> Vec<String> {
    let jobs = watched.iter().zip(&now.each).zip(&now.works);
    let mut under_way: Vec<_> = jobs.filter(|((_, period), _)| is_under_way(&period.now)).collect();
    let left_out = under_way.len().saturating_sub(MOST_JOBS);
    // The largest are those that are waited for.
    under_way.sort_by_key(|((_, period), _)| std::cmp::Reverse(period.now.standing.scheduled));
    let mut lines = Vec::new();
    for ((job, period), work) in under_way.into_iter().take(MOST_JOBS) {
        lines.push(format!("  {}: {}", job.name, line(period, work)));
    }
    if left_out > 0 {
        lines.push(format!("  and {left_out} more"));
    }
    lines
}

/// How one of several jobs stands, below a bar.
fn short_job_line(lately: &Period, work: &Work) -> String {
    let percent = work.share().map_or("?".into(), percent);
    format!("{percent} % done | {}", short_line(lately))
}

/// How one of several jobs stands.
fn job_line(lately: &Period, work: &Work) -> String {
    let now = &lately.now;
    let Standing { level, running, waiting, blocked, scheduled } = now.standing;
    let more = if now.all_tasks_known { "" } else { "+" };
    let states = [
        (running as u64, "run"),
        (waiting as u64, "wait for a slot"),
        (blocked as u64, "wait for else"),
        (now.only_writing(), "only write"),
        (now.tasks_known.saturating_sub(now.tasks_done + now.open_tasks), "to come"),
    ];
    let states: String = states
        .iter()
        .filter(|(tasks, _)| *tasks > 0)
        .fold(String::new(), |text, (tasks, state)| format!("{text}, {tasks} {state}"));
    let done = done_text(work, None).map(|text| format!("{text}, ")).unwrap_or_default();
    format!(
        "{done}{} records, {}/s | tasks {} of {}{more} done{states} | slots for {:.1} s, level {level}",
        count_text(now.read_records),
        count_text(lately.records_per_second()),
        now.tasks_done,
        now.tasks_known,
        scheduled.as_secs_f64(),
    )
}

/// How much is done, as far as somebody knows, and how much time is left.
fn done_text(work: &Work, left: Option<Duration>) -> Option<String> {
    if work.known <= 0.0 {
        return None;
    }
    let percent = work.share().map_or("?".into(), percent);
    let (of, until) = if work.may_grow { (" of what is known so far", " for it") } else { ("", "") };
    let left = left.map(|left| format!(", {}{until}", left_text(left))).unwrap_or_default();
    Some(format!("{percent} % done{of}{left}"))
}

/// The task that the others will wait for.
fn slowest_line(task: &OpenTask) -> String {
    let share = task.share.map(|share| format!("{} % done, ", percent(share))).unwrap_or_default();
    format!("  slowest: task {} ({}), {share}open for {} s", task.number, task.label, task.lasts.as_secs())
}

/// What fits below a bar.
fn short_line(lately: &Period) -> String {
    let now = &lately.now;
    let more = if now.all_tasks_known { "" } else { "+" };
    let limit = lately.limit().map(|word| format!(" | {word}")).unwrap_or_default();
    format!(
        "{} records, {}/s, {}/s | tasks {} of {}{more}{limit}",
        count_text(now.read_records),
        count_text(lately.records_per_second()),
        bytes_text(lately.bytes_per_second()),
        now.tasks_done,
        now.tasks_known
    )
}

/// One line of progress, with DataX's figures.
fn line(lately: &Period) -> String {
    let now = &lately.now;
    let more = if now.all_tasks_known { "" } else { "+" };
    format!(
        "read {} records, {} | written {} | {}/s, {} records/s | tasks {} of {}{more} | waited for the writer {:.1} s, for the \
         reader {:.1} s",
        count_text(now.read_records),
        bytes_text(now.read_bytes),
        count_text(now.written_records),
        bytes_text(lately.bytes_per_second()),
        count_text(lately.records_per_second()),
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
        let task = OpenTask { number: 3, label: "a.csv".into(), size: 1.0, share: Some(0.125), lasts, began_at: 0.0 };
        assert_eq!(slowest_line(&task), "  slowest: task 3 (a.csv), 12 % done, open for 40 s");
        let with_share = |share| slowest_line(&OpenTask { share, ..task.clone() });
        assert_eq!(with_share(None), "  slowest: task 3 (a.csv), open for 40 s");
        assert_eq!(
            with_share(Some(1.0)),
            "  slowest: task 3 (a.csv), 99 % done, open for 40 s",
            "it has yet to commit"
        );
    }

    #[test]
    fn each_job_is_counted_once_also_one_that_ends_while_it_is_looked_at() {
        let job = |has_begun, has_ended| {
            let now = Snapshot { has_begun, has_ended, ..Snapshot::default() };
            Period { before: Snapshot::default(), now, time: Duration::ZERO }
        };
        let jobs = [job(false, false), job(true, false), job(true, true), job(false, true)];
        assert_eq!(jobs_text(&jobs), "jobs 2 of 4 done, 1 run, 1 wait");
        assert_eq!(jobs_text(&jobs[3..]), "jobs 1 of 1 done, 0 run, 0 wait");
    }
}

//! What a job's end looks like: DataX's figures, the accounting and the slowest tasks.

use std::fmt::Write;
use std::time::Duration;

use chrono::{DateTime, Local, Utc};
use transship_plugin_api::CommitClass;

use super::figures::{bytes_text, count_text, several};
use super::stages;
use crate::job::{Committed, Outcome, Summary};
use crate::metrics::StageMetrics;
use crate::perf::diagnosis::{self, Part};
use crate::perf::{Phase, ending};
use crate::task::{Counts, TaskReport};

/// How many of the slowest tasks are shown.
const SLOWEST: usize = 3;

/// The summary for a person.
pub(super) fn text(summary: &Summary) -> String {
    let mut text = String::new();
    let mut row = |label: &str, value: String| {
        let _ = writeln!(text, "  {label:<16}: {value}");
    };
    let elapsed = (summary.ended - summary.started).to_std().unwrap_or_default();
    let moving = summary.moving_seconds.max(0.001);
    let counts = &summary.counts;
    let per_second = |amount: u64| (amount as f64 / moving) as u64;
    row("started", local(summary.started));
    row("ended", local(summary.ended));
    row("elapsed", seconds_text(elapsed));
    // The tasks of a run that is only committed here have run elsewhere.
    if summary.moving_seconds > 0.0 {
        row("average flow", format!("{}/s", bytes_text(per_second(counts.read_bytes))));
        row("record speed", format!("{} records/s", count_text(per_second(counts.read))));
    }
    row("records read", count_text(counts.read));
    row("records failed", count_text(counts.dirty()));
    row("accounting", accounting(counts));
    if summary.aborted != Counts::default() {
        row(
            "aborted attempts",
            format!(
                "{} records read, {} dirty, beside those above",
                count_text(summary.aborted.read),
                count_text(summary.aborted.dirty())
            ),
        );
    }
    row("tasks", tasks(summary));
    row("visible at target", commit_class(summary).into());
    if let Some(file) = &summary.dirty_file {
        row(
            "DIRTY RECORDS",
            format!("{} kept in {}", count_text(counts.dirty() + summary.aborted.dirty()), file.display()),
        );
    }
    if let Some(first) = &summary.first_dirty {
        row("the first", first.clone());
    }
    stages(&mut text, &summary.stages);
    slowest(&mut text, &summary.tasks);
    let part = match summary.contents {
        0 | 1 => String::new(),
        several => format!(", entry {} of {several}", summary.content + 1),
    };
    format!(
        "job {}{part} ({} to {}), run {}: {}\n{text}",
        summary.job,
        summary.reader,
        summary.writer,
        summary.run,
        outcome(summary)
    )
}

fn outcome(summary: &Summary) -> String {
    let counts = &summary.counts;
    let words = match summary.outcome {
        Outcome::Done if summary.drained => "drained: what had been read was written",
        Outcome::Done => return ending::done(counts.read, counts.dirty()),
        Outcome::Failed(_) => "FAILED",
        Outcome::DirtyLimit { .. } => "FAILED, too many dirty records",
        Outcome::Cancelled => "STOPPED",
    };
    words.into()
}

fn accounting(counts: &Counts) -> String {
    format!(
        "read {} + added {} {} written {} + filtered {} + duplicates {} + dirty {}",
        counts.read,
        counts.added,
        if counts.add_up() { "=" } else { "IS NOT" },
        counts.written,
        counts.filtered,
        counts.duplicates,
        counts.dirty()
    )
}

fn tasks(summary: &Summary) -> String {
    let (readers, lanes): (Vec<_>, Vec<_>) = summary.tasks.iter().partition(|task| task.role.reads());
    let committed = readers.iter().filter(|task| task.committed.is_some()).count();
    let failed = summary.tasks.iter().filter(|task| task.committed.is_none()).count();
    let retried: u32 = summary.tasks.iter().map(|task| task.attempts.saturating_sub(1)).sum();
    let channels = if summary.channels == 1 { "channel" } else { "channels" };
    let mut text = format!("{committed} done on {} {channels}", summary.channels);
    if !lanes.is_empty() {
        let _ = write!(text, ", {} behind them", several(lanes.len(), "lane", "lanes"));
    }
    if failed > 0 {
        let _ = write!(text, ", {failed} failed or stopped");
    }
    if retried > 0 {
        let attempts = if retried == 1 { "attempt" } else { "attempts" };
        let _ = write!(text, ", {retried} {attempts} repeated");
    }
    text
}

/// When the records became visible, and what that means for a job that did not end well.
fn commit_class(summary: &Summary) -> &'static str {
    use CommitClass::{Append, Atomic, Task};
    match (summary.commit_class, summary.committed) {
        (Atomic, Committed::Yes) => "all at once, at the end of the job (atomic)",
        (Atomic, Committed::No) => "nothing: this writer shows its records only when the job is done (atomic)",
        (Atomic, Committed::Unknown) => "perhaps some: the commit failed halfway (atomic)",
        (Task, Committed::Yes) if summary.checkpoints => "each task's records at each of its checkpoints (task)",
        (Task, _) if summary.checkpoints => {
            "the records of the tasks that were done, of tasks that failed what was safe at their last checkpoint (task)"
        }
        (Task, Committed::Yes) => "each task's records when it was done (task)",
        (Task, _) => "the records of the tasks that were done, nothing of the others (task)",
        (Append, Committed::Yes) => "records as they were written (append)",
        (Append, _) => "records as they were written, those of tasks that failed included (append)",
    }
}

fn stages(text: &mut String, all: &[StageMetrics]) {
    for stage in all {
        let mut label = stage.stage.as_str();
        for line in stages::lines(stage) {
            let _ = writeln!(text, "  {label:<16}: {line}");
            label = "";
        }
    }
}

/// The slowest of the tasks that read, then of the lanes.
fn slowest(text: &mut String, tasks: &[TaskReport]) {
    let (readers, lanes): (Vec<_>, Vec<_>) = tasks.iter().partition(|task| task.role.reads());
    for (what, one, mut tasks) in [("tasks", "task", readers), ("lanes", "lane", lanes)] {
        if tasks.is_empty() {
            continue;
        }
        tasks.sort_by_key(|task| std::cmp::Reverse(task.perf.elapsed(Phase::TaskTotal)));
        let _ = writeln!(text, "  slowest {what}:");
        for task in tasks.into_iter().take(SLOWEST) {
            let total = task.perf.elapsed(Phase::TaskTotal);
            let records = task.perf.records.iter().find(|record| record.phase == Phase::TaskTotal);
            let line = format!(
                "    {one} {:<3} {:>9}  {:>11} records  {}  {}",
                task.number,
                seconds_text(total),
                count_text(records.map_or(0, |record| record.records)),
                times(task),
                // What a lane is called is its number.
                if one == "lane" { "" } else { &task.split }
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
}

/// What the two threads of a task did with their time: `reading 8 %, writing 99 %, waiting for its turn at the target 12 %`.
fn times(task: &TaskReport) -> String {
    let percent = |share: f64| (100.0 * share).round() as u64;
    let mut shares = diagnosis::of_attempt(&task.perf);
    // What a task is there for comes first, then what took longest.
    shares.sort_by_key(|share| match share.part {
        Part::Reader => 0,
        Part::Writer => 1,
        _ => 2,
    });
    let worth_a_word =
        shares.iter().filter(|share| matches!(share.part, Part::Reader | Part::Writer) || percent(share.share) > 0);
    let texts: Vec<String> =
        worth_a_word.map(|share| format!("{} {} %", share.part.words(), percent(share.share))).collect();
    texts.join(", ")
}

fn local(time: DateTime<Utc>) -> String {
    time.with_timezone(&Local).format("%Y-%m-%d %H:%M:%S").to_string()
}

fn seconds_text(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

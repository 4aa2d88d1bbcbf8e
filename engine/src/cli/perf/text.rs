//! A recorded run as tables for people. Not here: what follows from the records (`perf::diagnosis`).

use std::fmt::Write;

use serde_json::Value;

use crate::figures::{bytes_text, count_text, time_text};
use crate::perf::diagnosis::{self, Diagnosis, TaskRow};
use crate::perf::recording::{EndLine, Recording};

/// How many of the slowest tasks are shown, and how many lanes.
const SLOWEST: usize = 10;
/// How many causes of dirty records are shown.
const CAUSES: usize = 10;
/// The widest bar of a histogram.
const BAR: u64 = 40;
/// A part of the time that is worth a word.
const WORTH_A_WORD: f64 = 0.005;
/// A phase that took a smaller part of the time is left out.
const WORTH_A_ROW: f64 = 0.001;

/// What is told of a distribution of waits, and its name in the records.
const POINTS: [(&str, &str); 7] = [
    ("median", "p50"),
    ("p75", "p75"),
    ("p95", "p95"),
    ("p98", "p98"),
    ("p99", "p99"),
    ("p999", "p999"),
    ("max", "max"),
];

/// All that is to say of one entry of a job.
pub(super) fn text(recording: &Recording) -> String {
    let diagnosis = diagnosis::of(recording);
    let run = &recording.run;
    let mut text = String::new();
    let result = recording.end.as_ref().map_or_else(|| "it goes on, or was killed".into(), EndLine::words);
    let _ = writeln!(text, "job {} ({} to {}), run {}: {result}", run.title(), run.reader, run.writer, run.run);
    if let Some(message) = recording.end.as_ref().and_then(|end| end.message.as_ref()) {
        let _ = writeln!(text, "  why: {}", indented(message, "       "));
    }
    counts(&mut text, recording, &diagnosis);
    let _ = writeln!(text, "  {}", diagnosis.limit.sentence);
    let shares = diagnosis.parts.iter().filter(|part| part.share >= WORTH_A_WORD);
    let shares: Vec<String> = shares.map(|part| format!("{} {:.0} %", part.part.words(), 100.0 * part.share)).collect();
    if !shares.is_empty() {
        let _ = writeln!(text, "  time: {}", shares.join(", "));
    }
    if let Some(call) = &diagnosis.longest_call {
        let doing = if call.doing.is_empty() { String::new() } else { format!(" ({})", call.doing) };
        let time = time_text(call.seconds);
        let _ = writeln!(text, "  longest call: {} in `{}`{doing}, {time}", call.who, call.call);
    }
    phases(&mut text, &diagnosis);
    tasks(&mut text, &diagnosis);
    for stage in &recording.stages {
        latencies(&mut text, stage);
    }
    dirty(&mut text, recording);
    text
}

/// Why records were dirty, and where they are.
fn dirty(text: &mut String, recording: &Recording) {
    for cause in recording.dirty.iter().take(CAUSES) {
        let _ = writeln!(
            text,
            "  dirty: {} at {} ({}): {}",
            count_text(cause.count),
            cause.plugin,
            cause.side,
            cause.cause
        );
    }
    if let Some(file) = recording.end.as_ref().and_then(|end| end.dirty_file.as_ref()) {
        let _ = writeln!(text, "  dirty records are kept in {file}");
    }
}

/// The message of a failure, which may have several lines.
fn indented(message: &str, indent: &str) -> String {
    message.trim_end().replace('\n', &format!("\n{indent}"))
}

/// How many records a second, while records moved.
pub(super) fn per_second(records: u64, diagnosis: &Diagnosis) -> f64 {
    records as f64 / diagnosis.moving_seconds.max(0.001)
}

fn counts(text: &mut String, recording: &Recording, diagnosis: &Diagnosis) {
    let counts = recording.counts();
    let _ = write!(
        text,
        "  {} | read {} records, {} | written {}",
        time_text(diagnosis.wall_seconds),
        count_text(counts.read),
        bytes_text(counts.read_bytes),
        count_text(counts.written),
    );
    for (what, count) in [("filtered", counts.filtered), ("duplicates", counts.duplicates)] {
        if let Some(count) = count.filter(|count| *count > 0) {
            let _ = write!(text, " | {what} {}", count_text(count));
        }
    }
    let per_second = per_second(counts.read, diagnosis) as u64;
    let _ = writeln!(text, " | dirty {} | {} records/s", count_text(counts.dirty), count_text(per_second));
    let dirty = recording.end.as_ref().map_or(0, |end| end.aborted_dirty);
    if counts.aborted_read > 0 || dirty > 0 {
        let dirty = recording.end.as_ref().map(|_| format!(", {} dirty", count_text(dirty))).unwrap_or_default();
        let read = count_text(counts.aborted_read);
        let _ = writeln!(text, "  aborted attempts: {read} records read{dirty}, beside those above");
    }
}

fn phases(text: &mut String, diagnosis: &Diagnosis) {
    let least = WORTH_A_ROW * diagnosis.wall_seconds;
    let (shown, left_out): (Vec<_>, Vec<_>) = diagnosis.phases.iter().partition(|row| row.total_seconds >= least);
    if !shown.is_empty() {
        let _ = writeln!(
            text,
            "\n  {:<20} {:>7} {:>9} {:>9} {:>9} {:>9}  longest in",
            "phase", "times", "mean", "longest", "total", "CPU"
        );
    }
    for row in shown {
        // Whoever waits uses none, or none that is known.
        let cpu = if row.cpu_seconds > 0.0 { time_text(row.cpu_seconds) } else { "-".into() };
        let line = format!(
            "  {:<20} {:>7} {:>9} {:>9} {:>9} {:>9}  {}",
            row.phase.name(),
            count_text(row.count),
            time_text(row.mean_seconds),
            time_text(row.max_seconds),
            time_text(row.total_seconds),
            cpu,
            row.max_split.as_deref().unwrap_or_default()
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if !left_out.is_empty() {
        let _ = writeln!(text, "  and {} that took less than 0.1 % of the time (--json has them)", left_out.len());
    }
}

/// The tasks that read, then the lanes.
fn tasks(text: &mut String, diagnosis: &Diagnosis) {
    let (tasks, lanes) = diagnosis.listed();
    table(text, "tasks", "task", &tasks);
    table(text, "lanes", "lane", &lanes);
    if let Some(skew) = &diagnosis.skew {
        let _ = writeln!(
            text,
            "  skew: the longest of {} took {}, {:.1} times the mean; slots had nothing to do for {:.0} % of the time ({})",
            skew.tasks,
            time_text(skew.longest_seconds),
            skew.ratio,
            100.0 * skew.idle,
            skew.longest_split
        );
        histogram(text, &tasks);
    }
}

fn table(text: &mut String, all: &str, one: &str, rows: &[&TaskRow]) {
    let Some(first) = rows.first() else { return };
    let order = if first.has_failed() { "those that failed, then the slowest" } else { "slowest first" };
    let _ = write!(
        text,
        "\n  {all}, {order} ({} of {})\n  {one:<5} {:>3} {:>9} {:>9} {:>13} {:>8} {:>8} {:>8} {:>8}{}\n",
        rows.len().min(SLOWEST),
        count_text(rows.len() as u64),
        "try",
        "time",
        "CPU",
        "records",
        "opening",
        "reading",
        "transf.",
        "writing",
        if first.is_lane { "" } else { "  split" }
    );
    for row in rows.iter().take(SLOWEST) {
        // What an attempt that has not ended did is not known.
        let if_known = |figure: String| if row.result == "open" { "-".into() } else { figure };
        let share = |time: f64| if_known(format!("{:.0} %", 100.0 * time / row.seconds.max(1e-9)));
        let result = if row.result == "done" { String::new() } else { format!("({})", row.result) };
        let split = if row.is_lane { "" } else { row.split.as_str() };
        let what: Vec<&str> = [split, &result].into_iter().filter(|word| !word.is_empty()).collect();
        let line = format!(
            "  {:<5} {:>3} {:>9} {:>9} {:>13} {:>8} {:>8} {:>8} {:>8}  {}",
            row.number,
            row.attempt,
            time_text(row.seconds),
            if_known(time_text(row.cpu_seconds)),
            if_known(count_text(row.records)),
            share(row.opening_seconds),
            share(row.reading_seconds),
            share(row.transforming_seconds),
            share(row.writing_seconds),
            what.join(" ")
        );
        let _ = writeln!(text, "{}", line.trim_end());
        if let Some(message) = row.message.as_ref().filter(|_| row.has_failed()) {
            let _ = writeln!(text, "        why: {}", indented(message, "             "));
        }
    }
}

/// How many tasks took how long, each row twice as long as the one before.
fn histogram(text: &mut String, tasks: &[&TaskRow]) {
    let bucket = |seconds: f64| (seconds.max(1e-6) * 1000.0).log2().ceil().clamp(-10.0, 40.0) as i32;
    let buckets: Vec<i32> = tasks.iter().map(|task| bucket(task.seconds)).collect();
    let (Some(first), Some(last)) = (buckets.iter().min(), buckets.iter().max()) else { return };
    let count = |bucket: i32| buckets.iter().filter(|other| **other == bucket).count() as u64;
    let rows: Vec<_> = (*first..=*last).map(|bucket| (2f64.powi(bucket) / 1000.0, count(bucket))).collect();
    bars(text, &rows);
}

/// A row for each range: up to how many seconds, and how many. One alone would say nothing.
fn bars(text: &mut String, rows: &[(f64, u64)]) {
    if rows.len() < 2 {
        return;
    }
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    for (until, count) in rows {
        let bar = "#".repeat((count * BAR).div_ceil(most) as usize);
        let line = format!("    up to {:>9} {:>11}  {bar}", time_text(*until), count_text(*count));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// How long records waited at a transformer.
fn latencies(text: &mut String, stage: &Value) {
    let name = stage["stage"].as_str().unwrap_or_default();
    for latency in stage["latencies"].as_array().into_iter().flatten() {
        // Not every distribution that is recorded has all of them.
        let millis = |(word, key): (&str, &str)| Some(format!("{word} {:.2}", latency[key].as_f64()? / 1000.0));
        let points: Vec<String> = POINTS.into_iter().filter_map(millis).collect();
        let _ = writeln!(
            text,
            "\n  {name}, {} ms: count {}, {}",
            latency["name"].as_str().unwrap_or_default(),
            count_text(latency["count"].as_u64().unwrap_or_default()),
            points.join(", ")
        );
        let number = |bucket: &Value, key: &str| bucket[key].as_u64().unwrap_or_default();
        let buckets = latency["buckets"].as_array().into_iter().flatten();
        let rows: Vec<_> =
            buckets.map(|bucket| (number(bucket, "up_to") as f64 / 1e6, number(bucket, "count"))).collect();
        bars(text, &rows);
    }
}

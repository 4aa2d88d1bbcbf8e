//! `transship perf`: what was recorded of a run, as tables for people or as JSON, and two runs beside each other.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::arguments::PerfArguments;
use super::console::Console;
use super::summary::{bytes_text, count_text};
use super::{failed_to, print, print_json};
use crate::error::{Error, Result};
use crate::perf::diagnosis::{self, Diagnosis, TaskRow};
use crate::perf::recording::Recording;
use crate::perf::trace;
use crate::report;

/// How many of the slowest tasks are shown.
const SLOWEST: usize = 10;
/// How many causes of dirty records are shown.
const CAUSES: usize = 10;
/// The widest bar of a histogram.
const BAR: usize = 40;

/// Shows a recorded run, or compares two.
pub(super) fn show(arguments: &PerfArguments, console: &Console) -> Result<()> {
    let recordings = read(&arguments.file)?;
    let later = arguments.other.as_deref().map(read).transpose()?;
    if let Some(path) = &arguments.report {
        // Of two the second is the one to look at, the first what it is compared with.
        match &later {
            Some(later) => write_report(path, later, Some(&recordings))?,
            None => write_report(path, &recordings, None)?,
        }
        console.note(&format!("report: {}", path.display()));
    }
    if let Some(path) = &arguments.trace {
        write_trace(path, later.as_deref().unwrap_or(&recordings))?;
        console.note(&format!("trace: {}", path.display()));
    }
    match (&later, arguments.json) {
        (None, true) => print_json(&diagnoses(&recordings), console),
        (Some(later), true) => print_json(&[diagnoses(&recordings), diagnoses(later)], console),
        (None, false) => {
            let texts: Vec<String> = recordings.iter().map(text).collect();
            print(console.result(&texts.join("\n")))
        }
        (Some(later), false) => print(console.result(&comparison(&recordings, later))),
    }
}

/// Reads a file of perf records.
pub(super) fn read(path: &Path) -> Result<Vec<Recording>> {
    let text = std::fs::read(path).map_err(|error| Error::Job(format!("cannot read {}: {error}", path.display())))?;
    // A torn last line may end within a letter.
    let text = String::from_utf8_lossy(&text);
    Recording::read(&text).map_err(|error| Error::Job(format!("{}: {error}", path.display())))
}

/// Writes the page of these runs.
pub(super) fn write_report(path: &Path, recordings: &[Recording], earlier: Option<&[Recording]>) -> Result<()> {
    std::fs::write(path, report::page(recordings, earlier))
        .map_err(|error| failed_to(&format!("write the report to {}", path.display()), &error))
}

/// Writes the trace of these runs.
pub(super) fn write_trace(path: &Path, recordings: &[Recording]) -> Result<()> {
    std::fs::write(path, trace::chrome(recordings).to_string())
        .map_err(|error| failed_to(&format!("write the trace to {}", path.display()), &error))
}

fn diagnoses(recordings: &[Recording]) -> Value {
    let all = recordings.iter().map(|recording| {
        json!({
            "run": recording.run, "end": recording.end, "diagnosis": diagnosis::of(recording),
            "stages": recording.stages, "dirty": recording.dirty,
        })
    });
    Value::Array(all.collect())
}

fn text(recording: &Recording) -> String {
    let diagnosis = diagnosis::of(recording);
    let run = &recording.run;
    let mut text = String::new();
    let result = recording.end.as_ref().map_or("it goes on, or was killed", |end| end.result.as_str());
    let _ = writeln!(text, "job {} ({} to {}), run {}: {result}", run.job, run.reader, run.writer, run.run);
    let counts = recording.end.clone().unwrap_or_default();
    let (read, read_bytes, written) = match (&recording.end, recording.seconds.last()) {
        (None, Some(last)) => (last.read_records, last.read_bytes, last.written_records),
        _ => (counts.read, counts.read_bytes, counts.written),
    };
    let per_second = (read as f64 / diagnosis.wall_seconds.max(0.001)) as u64;
    let _ = writeln!(
        text,
        "  {} | read {} records, {} | written {} | dirty {} | {} records/s",
        seconds(diagnosis.wall_seconds),
        count_text(read),
        bytes_text(read_bytes),
        count_text(written),
        count_text(counts.dirty),
        count_text(per_second)
    );
    let _ = writeln!(text, "  {}", diagnosis.limit.sentence);
    let shares = diagnosis.parts.iter().filter(|part| part.share >= 0.005);
    let shares: Vec<String> = shares.map(|part| format!("{} {:.0} %", part.part.words(), 100.0 * part.share)).collect();
    if !shares.is_empty() {
        let _ = writeln!(text, "  time: {}", shares.join(", "));
    }
    phases(&mut text, &diagnosis);
    tasks(&mut text, &diagnosis);
    for stage in &recording.stages {
        latencies(&mut text, stage);
    }
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
    text
}

fn phases(text: &mut String, diagnosis: &Diagnosis) {
    let _ = writeln!(
        text,
        "\n  {:<20} {:>7} {:>11} {:>11} {:>11} {:>11}  longest in",
        "phase", "times", "mean", "longest", "total", "CPU"
    );
    for row in &diagnosis.phases {
        let name = serde_json::to_value(row.phase).ok().and_then(|name| name.as_str().map(String::from));
        let _ = writeln!(
            text,
            "  {:<20} {:>7} {:>11} {:>11} {:>11} {:>11}  {}",
            name.unwrap_or_default(),
            count_text(row.count),
            seconds(row.mean_seconds),
            seconds(row.max_seconds),
            seconds(row.total_seconds),
            seconds(row.cpu_seconds),
            row.max_split.as_deref().unwrap_or_default()
        );
    }
}

fn tasks(text: &mut String, diagnosis: &Diagnosis) {
    if diagnosis.tasks.is_empty() {
        return;
    }
    let shown = diagnosis.tasks.len().min(SLOWEST);
    let _ = writeln!(
        text,
        "\n  tasks, slowest first ({shown} of {})\n  {:<5} {:>3} {:>11} {:>11} {:>13} {:>9} {:>9} {:>9}  split",
        diagnosis.tasks.len(),
        "task",
        "try",
        "time",
        "CPU",
        "records",
        "reading",
        "transf.",
        "writing"
    );
    for row in diagnosis.tasks.iter().take(SLOWEST) {
        let share = |time: f64| format!("{:.0} %", 100.0 * time / row.seconds.max(1e-9));
        let result = if row.result == "done" { String::new() } else { format!(" ({})", row.result) };
        let _ = writeln!(
            text,
            "  {:<5} {:>3} {:>11} {:>11} {:>13} {:>9} {:>9} {:>9}  {}{result}",
            row.number,
            row.attempt,
            seconds(row.seconds),
            seconds(row.cpu_seconds),
            count_text(row.records),
            share(row.reading_seconds),
            share(row.transforming_seconds),
            share(row.writing_seconds),
            row.split
        );
    }
    if let Some(skew) = &diagnosis.skew {
        let _ = writeln!(
            text,
            "  skew: the longest of {} took {}, {:.1} times the mean; slots had nothing to do for {:.0} % of the time ({})",
            skew.tasks,
            seconds(skew.longest_seconds),
            skew.ratio,
            100.0 * skew.idle,
            skew.longest_split
        );
        histogram(text, &diagnosis.tasks);
    }
}

/// How many tasks took how long, each row twice as long as the one before.
fn histogram(text: &mut String, tasks: &[TaskRow]) {
    let bucket = |seconds: f64| (seconds.max(1e-6) * 1000.0).log2().ceil().clamp(0.0, 40.0) as i32;
    let buckets: Vec<i32> = tasks.iter().map(|task| bucket(task.seconds)).collect();
    let (Some(first), Some(last)) = (buckets.iter().min(), buckets.iter().max()) else { return };
    let count = |bucket: i32| buckets.iter().filter(|other| **other == bucket).count();
    let most = (*first..=*last).map(count).max().unwrap_or(1).max(1);
    for bucket in *first..=*last {
        let (count, until) = (count(bucket), 2f64.powi(bucket) / 1000.0);
        let bar = "#".repeat((count * BAR).div_ceil(most));
        let _ = writeln!(text, "    up to {:>11} {:>9}  {bar}", seconds(until), count_text(count as u64));
    }
}

/// How long records waited at a transformer.
fn latencies(text: &mut String, stage: &Value) {
    let name = stage["stage"].as_str().unwrap_or_default();
    for latency in stage["latencies"].as_array().into_iter().flatten() {
        let millis = |key: &str| latency[key].as_f64().unwrap_or_default() / 1000.0;
        let _ = writeln!(
            text,
            "  {name}, {} ms: count {}, median {:.2}, p75 {:.2}, p95 {:.2}, p98 {:.2}, p99 {:.2}, p999 {:.2}, max {:.2}",
            latency["name"].as_str().unwrap_or_default(),
            count_text(latency["count"].as_u64().unwrap_or_default()),
            millis("p50"),
            millis("p75"),
            millis("p95"),
            millis("p98"),
            millis("p99"),
            millis("p999"),
            millis("max"),
        );
    }
}

/// Two runs, figure by figure.
fn comparison(earlier: &[Recording], later: &[Recording]) -> String {
    let mut text = String::new();
    for (before, after) in earlier.iter().zip(later) {
        let _ = writeln!(
            text,
            "job {}, run {} beside job {}, run {}",
            before.run.job, before.run.run, after.run.job, after.run.run
        );
        let (one, other) = (diagnosis::of(before), diagnosis::of(after));
        let _ = writeln!(text, "  {:<34} {:>14} {:>14} {:>8}", "", "first", "second", "ratio");
        let mut row = |name: &str, first: f64, second: f64| {
            let ratio = if first > 0.0 { format!("{:.2}", second / first) } else { "-".into() };
            let _ = writeln!(text, "  {name:<34} {first:>14.3} {second:>14.3} {ratio:>8}");
        };
        row("elapsed, s", one.wall_seconds, other.wall_seconds);
        let rate = |of: &Recording, told: &Diagnosis| {
            of.end.as_ref().map_or(0.0, |end| end.read as f64 / told.wall_seconds.max(0.001))
        };
        row("records/s", rate(before, &one), rate(after, &other));
        let counts = |of: &Recording| of.end.clone().unwrap_or_default();
        row("records read", counts(before).read as f64, counts(after).read as f64);
        row("records written", counts(before).written as f64, counts(after).written as f64);
        row("dirty records", counts(before).dirty as f64, counts(after).dirty as f64);
        row("attempts at tasks", one.tasks.len() as f64, other.tasks.len() as f64);
        let mut parts: Vec<_> = one.parts.iter().chain(&other.parts).map(|part| part.part).collect();
        parts.sort_unstable();
        parts.dedup();
        for part in parts {
            let of = |told: &Diagnosis| {
                told.parts.iter().find(|other| other.part == part).map_or(0.0, |share| share.seconds)
            };
            row(&format!("{}, s", part.words()), of(&one), of(&other));
        }
        let _ = writeln!(text, "  first:  {}\n  second: {}", one.limit.sentence, other.limit.sentence);
    }
    if earlier.len() != later.len() {
        let _ = writeln!(
            text,
            "the first file has {} jobs and the second {}: only pairs are compared",
            earlier.len(),
            later.len()
        );
    }
    text
}

fn seconds(time: f64) -> String {
    format!("{time:.3} s")
}

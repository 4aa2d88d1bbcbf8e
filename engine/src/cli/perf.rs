//! `transship perf`: what was recorded of a run, as tables for people or as JSON, and two runs beside each other.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::arguments::PerfArguments;
use super::console::Console;
use super::outputs::is_standard;
use super::{failed_to, outputs, print, print_json};
use crate::error::{Error, Result};
use crate::perf::diagnosis;
use crate::perf::recording::Recording;
use crate::perf::trace;
use crate::report;

mod comparison;
mod text;

/// Shows a recorded run, or compares two.
pub(super) fn show(arguments: &PerfArguments, console: &Console) -> Result<()> {
    let is_given_twice = arguments.other.as_deref() == Some(&arguments.file);
    if is_given_twice && is_standard(&arguments.file) {
        return Err(Error::Job("- stands for standard input, which can be read only once: name a file for one".into()));
    }
    outputs::refuse_destruction_by_perf(arguments)?;
    let recordings = read(&arguments.file)?;
    let later = arguments.other.as_deref().map(read).transpose()?;
    write_pages(arguments, &recordings, later.as_deref(), console)?;
    match (&later, arguments.json) {
        (None, true) => print_json(&diagnoses(&recordings), console),
        (Some(later), true) => print_json(&[diagnoses(&recordings), diagnoses(later)], console),
        (None, false) => {
            let texts: Vec<String> = recordings.iter().map(text::text).collect();
            print(console.result(&texts.join("\n")))
        }
        (Some(later), false) => print(console.result(&comparison::text(&recordings, later))),
    }
}

/// Makes the page and the trace, each whatever became of the other. Of two runs the second is the one to look at, the first what it is
/// compared with.
fn write_pages(
    arguments: &PerfArguments,
    recordings: &[Recording],
    later: Option<&[Recording]>,
    console: &Console,
) -> Result<()> {
    let (shown, earlier) = match later {
        Some(later) => (later, Some(recordings)),
        None => (recordings, None),
    };
    let report = arguments
        .report
        .as_deref()
        .map(|path| write_report(path, shown, earlier).map(|()| console.note(&format!("report: {}", path.display()))));
    let trace = arguments
        .trace
        .as_deref()
        .map(|path| write_trace(path, shown).map(|()| console.note(&format!("trace: {}", path.display()))));
    match (report, trace) {
        (Some(Err(first)), Some(Err(second))) => {
            console.error(&first);
            Err(second)
        }
        (report, trace) => report.unwrap_or(Ok(())).and(trace.unwrap_or(Ok(()))),
    }
}

/// Reads a file of perf records: the entries of each job in the order in which they stand there, not in that in which they began.
pub(super) fn read(path: &Path) -> Result<Vec<Recording>> {
    let name = if is_standard(path) { "standard input".into() } else { path.display().to_string() };
    let text = text_of(path).map_err(|error| Error::Job(format!("cannot read {name}: {error}")))?;
    // A torn last line may end within a letter.
    let text = String::from_utf8_lossy(&text);
    let recordings = Recording::read(&text).map_err(|error| Error::Job(format!("{name}: {error}")))?;
    Ok(in_order(recordings))
}

fn text_of(path: &Path) -> io::Result<Vec<u8>> {
    if !is_standard(path) {
        return std::fs::read(path);
    }
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text)?;
    Ok(text)
}

fn in_order(mut recordings: Vec<Recording>) -> Vec<Recording> {
    let mut places = HashMap::new();
    for recording in &recordings {
        let next = places.len();
        places.entry(recording.run.job.clone()).or_insert(next);
    }
    recordings.sort_by_key(|recording| (places[&recording.run.job], recording.run.content));
    recordings
}

/// Writes the page of these runs.
pub(super) fn write_report(path: &Path, recordings: &[Recording], earlier: Option<&[Recording]>) -> Result<()> {
    written(path, &mut |out| report::write(out, recordings, earlier))
        .map_err(|error| failed_to(&format!("write the report to {}", path.display()), &error))
}

/// Writes the trace of these runs.
pub(super) fn write_trace(path: &Path, recordings: &[Recording]) -> Result<()> {
    written(path, &mut |out| trace::write(out, recordings))
        .map_err(|error| failed_to(&format!("write the trace to {}", path.display()), &error))
}

/// Makes a file of what is written piece by piece.
fn written(path: &Path, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write(&mut file)?;
    file.flush()
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

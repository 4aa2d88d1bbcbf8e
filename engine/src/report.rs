//! What was recorded of a run as one page of HTML that needs nothing else: no other file, no network. The page draws itself from the
//! data that lies in it (`report/page.js`). Not here: what the figures mean and what limited the run (`perf::diagnosis`).

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::perf::Phase;
use crate::perf::diagnosis::{self, Diagnosis};
use crate::perf::recording::{PhaseLine, Recording, TaskLine};

#[cfg(test)]
mod tests;

const PAGE: &str = include_str!("report/page.html");

/// The parts of the page. The data comes last, so that nothing in it is taken for a place of another part.
const PARTS: [(&str, &str); 4] = [
    ("{{uplot.css}}", include_str!("report/uplot/uPlot.min.css")),
    ("{{page.css}}", include_str!("report/page.css")),
    ("{{uplot.js}}", include_str!("report/uplot/uPlot.iife.min.js")),
    ("{{page.js}}", include_str!("report/page.js")),
];

/// So many of the slowest tasks are listed; the timeline has all.
const SLOWEST: usize = 50;

/// The page of these recordings, one below the other, each with the sentence that names its bottleneck, and compared with an earlier
/// run where there is one.
pub fn page(recordings: &[Recording], earlier: Option<&[Recording]>) -> String {
    let runs: Vec<Value> = recordings
        .iter()
        .enumerate()
        .map(|(place, recording)| {
            let mut run = data(recording);
            run["earlier"] =
                earlier.and_then(|earlier| counterpart(recording, place, earlier)).map_or(Value::Null, figures);
            run
        })
        .collect();
    // A `<` in it could end the script element that it lies in.
    let runs = Value::from(runs).to_string().replace('<', "\\u003c");
    let page = PARTS.iter().fold(PAGE.to_string(), |page, (place, part)| page.replacen(place, part, 1));
    page.replacen("{{data}}", &runs, 1)
}

/// What an entry is compared with: the entry of the earlier run with the same name and number, or else the one at its place.
fn counterpart<'a>(recording: &Recording, place: usize, earlier: &'a [Recording]) -> Option<&'a Recording> {
    let same = |other: &&Recording| (&other.run.job, other.run.content) == (&recording.run.job, recording.run.content);
    earlier.iter().find(same).or_else(|| earlier.get(place))
}

/// All that the page shows of an entry.
fn data(recording: &Recording) -> Value {
    let diagnosis = diagnosis::of(recording);
    let slowest = &diagnosis.tasks[..diagnosis.tasks.len().min(SLOWEST)];
    let mut all = counts(recording, &diagnosis);
    all["run"] = json!(recording.run);
    all["result"] = recording.end.as_ref().map_or("open", |end| end.result.as_str()).into();
    all["message"] = json!(recording.end.as_ref().and_then(|end| end.message.as_deref()));
    all["attempts"] = attempts(recording).into();
    all["verdict"] = diagnosis.limit.sentence.as_str().into();
    all["tasks"] = diagnosis.tasks.len().into();
    all["slowest"] = json!(slowest);
    all["seconds"] = json!(recording.seconds);
    all["end_micros"] = json!(recording.end.as_ref().map(|end| end.micros));
    all["stages"] = json!(recording.stages);
    all["causes"] = json!(recording.dirty);
    all
}

/// What there is to compare of an entry.
fn figures(recording: &Recording) -> Value {
    let mut figures = counts(recording, &diagnosis::of(recording));
    figures["name"] = recording.run.run.as_str().into();
    figures
}

/// How much, how long, and where the time went. Of a run that has not ended: as of the last second.
fn counts(recording: &Recording, diagnosis: &Diagnosis) -> Value {
    let parts: Vec<Value> = diagnosis.parts.iter().map(|share| {
        json!({ "part": share.part, "words": share.part.words(), "seconds": share.seconds, "share": share.share })
    }).collect();
    let last = recording.seconds.last().copied().unwrap_or_default();
    let end = recording.end.clone().unwrap_or_default();
    let [read, read_bytes, written] = match recording.end {
        Some(_) => [end.read, end.read_bytes, end.written],
        None => [last.read_records, last.read_bytes, last.written_records],
    };
    let until = if recording.end.is_some() { end.micros } else { last.micros };
    json!({
        "read": read,
        "read_bytes": read_bytes,
        "written": written,
        "filtered": end.filtered,
        "duplicates": end.duplicates,
        "dirty": end.dirty,
        "elapsed": until.saturating_sub(recording.run.start_micros) as f64 / 1e6,
        "parts": parts,
    })
}

/// The attempts at tasks with their phases, in microseconds since the beginning of the run: `parts` are name, begin and duration.
fn attempts(recording: &Recording) -> Vec<Value> {
    let mut phases: HashMap<(&str, u32), Vec<&PhaseLine>> = HashMap::new();
    for line in recording.of_tasks() {
        phases.entry((line.task.as_deref().unwrap_or_default(), line.attempt.unwrap_or(1))).or_default().push(line);
    }
    let begin = recording.run.start_micros;
    let attempt = |task: &TaskLine| {
        let phases = phases.get(&(task.task.as_str(), task.attempt)).map_or(&[][..], Vec::as_slice);
        let total = phases.iter().find(|line| line.phase == Phase::TaskTotal);
        let parts = phases.iter().filter(|line| is_drawn(line.phase));
        let parts: Vec<Value> = parts
            .map(|line| json!([line.phase, line.start_micros.saturating_sub(begin), line.elapsed_nanos / 1000]))
            .collect();
        json!({
            "number": task.number,
            "attempt": task.attempt,
            "split": task.split,
            "slot": task.slot,
            "at": task.start_micros.saturating_sub(begin),
            "took": total.map(|line| line.elapsed_nanos / 1000),
            "result": total.map_or("open", |line| line.result.as_deref().unwrap_or("done")),
            "message": total.and_then(|line| line.message.as_deref()),
            "records": total.and_then(|line| line.records),
            "bytes": total.and_then(|line| line.bytes),
            "parts": parts,
        })
    };
    recording.tasks.iter().map(attempt).collect()
}

/// Whether a phase is one stretch of time of one side of a task. The waits are sums.
fn is_drawn(phase: Phase) -> bool {
    (Phase::ReadTaskInit..=Phase::WriteTaskDestroy).contains(&phase)
}

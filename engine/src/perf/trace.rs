//! A recorded run as a trace in Chrome's Trace Event Format, which Perfetto and `chrome://tracing` open: a process for each entry of a
//! job, a track for the reader and one for the writer of each channel, and counters. Not here: reading records (`recording`).

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write};

use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::recording::{AttemptLines, PhaseLine, Recording, Second, TaskLine};
use super::{Phase, Side};

#[cfg(test)]
mod tests;

/// The tracks of lanes come behind those of channels.
const FIRST_LANE: u64 = 10_000;

/// Where the phases of something are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Track {
    Job,
    Reader(u64),
    Writer(u64),
    Lane(u64),
    /// Of tasks whose beginning was not recorded.
    Unknown,
}

impl Track {
    /// Where a task goes through a phase.
    fn of(task: &TaskLine, phase: Phase) -> Track {
        match task.slot {
            None => Track::Lane(u64::from(task.number)),
            Some(slot) if phase.side() == Side::Writer => Track::Writer(u64::from(slot)),
            Some(slot) => Track::Reader(u64::from(slot)),
        }
    }

    fn number(self) -> u64 {
        match self {
            Track::Job => 0,
            Track::Reader(slot) => 2 * slot + 1,
            Track::Writer(slot) => 2 * slot + 2,
            Track::Lane(lane) => FIRST_LANE + lane,
            Track::Unknown => u64::from(u32::MAX),
        }
    }

    fn name(self) -> String {
        match self {
            Track::Job => "job".into(),
            Track::Reader(slot) => format!("channel {slot}, reader"),
            Track::Writer(slot) => format!("channel {slot}, writer"),
            Track::Lane(lane) => format!("lane {lane}"),
            Track::Unknown => "tasks of which no beginning was recorded".into(),
        }
    }
}

/// How traces begin: with who wrote them. Those of earlier programs began with their events.
const BEGINNINGS: [&[u8]; 2] = [
    b"{\"otherData\":{\"generator\":\"transship ",
    b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\"",
];

/// Whether a trace that `write` wrote begins like this.
pub fn is_trace(beginning: &[u8]) -> bool {
    BEGINNINGS.iter().any(|own| beginning.starts_with(own))
}

/// Writes the trace of these runs, event by event: there are as many as lines were recorded.
pub fn write(out: &mut dyn Write, recordings: &[Recording]) -> io::Result<()> {
    Ok(serde_json::to_writer(out, &Trace { recordings, remark: None })?)
}

/// Writes what stands in the place of a trace until the run has ended: one without events, which this command makes anew.
pub fn write_placeholder(out: &mut dyn Write, command: &str) -> io::Result<()> {
    let remark = format!("the run has not ended: `{command}` makes a trace of what was recorded of it");
    Ok(serde_json::to_writer(out, &Trace { recordings: &[], remark: Some(remark) })?)
}

struct Trace<'a> {
    recordings: &'a [Recording],
    remark: Option<String>,
}

/// Who wrote a trace.
#[derive(Serialize)]
struct Origin<'a> {
    generator: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<&'a str>,
}

impl Serialize for Trace<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut trace = serializer.serialize_map(Some(3))?;
        let origin =
            Origin { generator: concat!("transship ", env!("CARGO_PKG_VERSION")), remark: self.remark.as_deref() };
        trace.serialize_entry("otherData", &origin)?;
        trace.serialize_entry("displayTimeUnit", "ms")?;
        trace.serialize_entry("traceEvents", &Events(self.recordings))?;
        trace.end()
    }
}

struct Events<'a>(&'a [Recording]);

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut events = serializer.serialize_seq(None)?;
        for (process, recording) in (1..).zip(self.0) {
            of_one(process, recording, &mut |event| events.serialize_element(&event))?;
        }
        events.end()
    }
}

/// Tells the events of an entry.
fn of_one<E: Error>(
    process: u64,
    recording: &Recording,
    tell: &mut impl FnMut(Value) -> Result<(), E>,
) -> Result<(), E> {
    let title = format!("{} ({})", recording.run.title(), recording.run.run);
    tell(json!({ "ph": "M", "name": "process_name", "pid": process, "args": { "name": title } }))?;
    let mut tracks = BTreeSet::new();
    let attempts = recording.attempts();
    let until = recording.until();
    for attempt in &attempts {
        let sums = sums(attempt);
        if attempt.of(Phase::TaskTotal).is_none() {
            let track = Track::of(attempt.task, Phase::TaskTotal);
            tracks.insert(track);
            tell(open_span(process, track, attempt.task, until))?;
        }
        for line in attempt.phases.iter().filter(|line| line.phase.is_stretch()) {
            let track = Track::of(attempt.task, line.phase);
            tracks.insert(track);
            let is_data = matches!(line.phase, Phase::ReadTaskData | Phase::WriteTaskData);
            tell(span(process, track, line, Some(&sums).filter(|sums| is_data && !sums.is_empty())))?;
        }
    }
    let begun: HashSet<(&str, u32)> =
        attempts.iter().map(|attempt| (attempt.task.task.as_str(), attempt.task.attempt)).collect();
    for line in recording.phases.iter().filter(|line| line.phase.is_stretch()) {
        let track = match &line.task {
            None => Track::Job,
            Some(task) if begun.contains(&(task.as_str(), line.attempt.unwrap_or(1))) => continue,
            Some(_) => Track::Unknown,
        };
        tracks.insert(track);
        tell(span(process, track, line, None))?;
    }
    for track in tracks {
        let name = json!({ "name": track.name() });
        tell(json!({ "ph": "M", "name": "thread_name", "pid": process, "tid": track.number(), "args": name }))?;
    }
    let begin = Second { micros: recording.run.start_micros, ..Second::default() };
    let before = std::iter::once(&begin).chain(&recording.seconds);
    before.zip(&recording.seconds).flat_map(|(before, now)| counters(process, before, now)).try_for_each(tell)
}

/// The phases of an attempt that are sums of many short times and have no place of their own, in milliseconds.
fn sums(attempt: &AttemptLines<'_>) -> Map<String, Value> {
    let sums = attempt.phases.iter().filter(|line| !line.phase.is_stretch());
    sums.map(|line| (line.phase.name(), (line.elapsed_nanos as f64 / 1e6).into())).collect()
}

fn span(process: u64, track: Track, line: &PhaseLine, sums: Option<&Map<String, Value>>) -> Value {
    let told = facts([
        ("split", line.split.clone().map(Value::from)),
        ("attempt", line.attempt.map(Value::from)),
        ("records", line.records.map(Value::from)),
        ("bytes", line.bytes.map(Value::from)),
        ("cpu ms", line.cpu_nanos.map(|nanos| (nanos as f64 / 1e6).into())),
        ("result", line.result.clone().map(Value::from)),
        ("message", line.message.clone().map(Value::from)),
        ("sums, ms", sums.cloned().map(Value::from)),
    ]);
    json!({
        "ph": "X", "cat": "phase", "name": line.phase.name(), "pid": process, "tid": track.number(),
        "ts": line.start_micros, "dur": line.elapsed_nanos as f64 / 1000.0, "args": told,
    })
}

/// An attempt that had not ended when the recording did: it lasts until then.
fn open_span(process: u64, track: Track, task: &TaskLine, until: u64) -> Value {
    let told = facts([
        ("split", Some(task.split.clone().into())),
        ("attempt", Some(task.attempt.into())),
        ("result", Some("open".into())),
    ]);
    json!({
        "ph": "X", "cat": "phase", "name": Phase::TaskTotal.name(), "pid": process, "tid": track.number(),
        "ts": task.start_micros, "dur": until.saturating_sub(task.start_micros), "args": told,
    })
}

/// Those that are known.
fn facts<const N: usize>(all: [(&str, Option<Value>); N]) -> Map<String, Value> {
    all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

/// The rates between two moments, and how full channels are at the second.
fn counters(process: u64, before: &Second, now: &Second) -> [Value; 3] {
    let elapsed = (now.micros.saturating_sub(before.micros) as f64 / 1e6).max(1e-6);
    let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / elapsed;
    let rates = json!({
        "read": rate(before.read_records, now.read_records),
        "written": rate(before.written_records, now.written_records),
    });
    let counter = |name: &str, values: Value| json!({ "ph": "C", "name": name, "pid": process, "ts": now.micros, "args": values });
    [
        counter("records/s", rates),
        counter("records in channels", json!({ "queued": now.queued_records })),
        counter("open tasks", json!({ "open": now.open_tasks })),
    ]
}

//! A recorded run as a trace in Chrome's Trace Event Format, which Perfetto and `chrome://tracing` open: a process for each entry of a
//! job, a track for the reader and one for the writer of each channel, and counters. Not here: reading records (`recording`).

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::Phase;
use super::recording::{PhaseLine, Recording, Second};

/// The tracks of lanes come behind those of channels.
const FIRST_LANE: u64 = 10_000;

/// Where the phases of something are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Track {
    Job,
    Reader(u64),
    Writer(u64),
    Lane(u64),
}

impl Track {
    fn number(self) -> u64 {
        match self {
            Track::Job => 0,
            Track::Reader(slot) => 2 * slot + 1,
            Track::Writer(slot) => 2 * slot + 2,
            Track::Lane(lane) => FIRST_LANE + lane,
        }
    }

    fn name(self) -> String {
        match self {
            Track::Job => "job".into(),
            Track::Reader(slot) => format!("channel {slot}, reader"),
            Track::Writer(slot) => format!("channel {slot}, writer"),
            Track::Lane(lane) => format!("lane {lane}"),
        }
    }
}

/// The trace of these runs.
pub fn chrome(recordings: &[Recording]) -> Value {
    let events: Vec<Value> =
        (1..).zip(recordings).flat_map(|(process, recording)| of_one(process, recording)).collect();
    json!({ "displayTimeUnit": "ms", "traceEvents": events })
}

fn of_one(process: u64, recording: &Recording) -> Vec<Value> {
    let title = format!("{} ({})", recording.run.job, recording.run.run);
    let mut events = vec![json!({ "ph": "M", "name": "process_name", "pid": process, "args": { "name": title } })];
    let tasks: HashMap<(&str, u32), (Option<u32>, u32)> =
        recording.tasks.iter().map(|task| ((task.task.as_str(), task.attempt), (task.slot, task.number))).collect();
    let mut sums: HashMap<(&str, u32), Map<String, Value>> = HashMap::new();
    for line in recording.of_tasks().filter(|line| is_sum(line.phase)) {
        let key = (line.task.as_deref().unwrap_or_default(), line.attempt.unwrap_or(1));
        sums.entry(key).or_default().insert(name(line.phase), (line.elapsed_nanos as f64 / 1e6).into());
    }
    let mut tracks = BTreeSet::new();
    for line in recording.phases.iter().filter(|line| !is_sum(line.phase)) {
        let key = (line.task.as_deref().unwrap_or_default(), line.attempt.unwrap_or(1));
        let track = match (&line.task, tasks.get(&key)) {
            (None, _) | (Some(_), None) => Track::Job,
            (Some(_), Some((None, number))) => Track::Lane(u64::from(*number)),
            (Some(_), Some((Some(slot), _))) if is_of_writer(line.phase) => Track::Writer(u64::from(*slot)),
            (Some(_), Some((Some(slot), _))) => Track::Reader(u64::from(*slot)),
        };
        tracks.insert(track);
        let is_data = matches!(line.phase, Phase::ReadTaskData | Phase::WriteTaskData);
        events.push(span(process, track, line, sums.get(&key).filter(|_| is_data)));
    }
    events.extend(tracks.into_iter().map(|track| {
        json!({ "ph": "M", "name": "thread_name", "pid": process, "tid": track.number(), "args": { "name": track.name() } })
    }));
    events.extend(recording.seconds.windows(2).flat_map(|pair| counters(process, &pair[0], &pair[1])));
    events
}

/// Such a phase is a sum of many short times, and has no place of its own.
fn is_sum(phase: Phase) -> bool {
    use Phase::{BlockedTime, JobSplit, ScheduledTime, TransformerTime};
    use Phase::{WaitLimitTime, WaitReadTime, WaitSlotTime, WaitTurnTime, WaitWriteTime};
    matches!(
        phase,
        BlockedTime
            | JobSplit
            | ScheduledTime
            | TransformerTime
            | WaitLimitTime
            | WaitReadTime
            | WaitSlotTime
            | WaitTurnTime
            | WaitWriteTime
    )
}

fn is_of_writer(phase: Phase) -> bool {
    use Phase::{WriteTaskData, WriteTaskDestroy, WriteTaskInit, WriteTaskPost, WriteTaskPrepare};
    matches!(phase, WriteTaskData | WriteTaskDestroy | WriteTaskInit | WriteTaskPost | WriteTaskPrepare)
}

fn name(phase: Phase) -> String {
    let name = serde_json::to_value(phase).ok();
    name.as_ref().and_then(Value::as_str).unwrap_or_default().to_string()
}

fn span(process: u64, track: Track, line: &PhaseLine, sums: Option<&Map<String, Value>>) -> Value {
    let mut told = Map::new();
    let facts = [
        ("split", line.split.clone().map(Value::from)),
        ("attempt", line.attempt.map(Value::from)),
        ("records", line.records.map(Value::from)),
        ("bytes", line.bytes.map(Value::from)),
        ("cpu ms", line.cpu_nanos.map(|nanos| (nanos as f64 / 1e6).into())),
        ("result", line.result.clone().map(Value::from)),
        ("message", line.message.clone().map(Value::from)),
        ("sums, ms", sums.cloned().map(Value::from)),
    ];
    told.extend(facts.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))));
    json!({
        "ph": "X", "cat": "phase", "name": name(line.phase), "pid": process, "tid": track.number(),
        "ts": line.start_micros, "dur": line.elapsed_nanos as f64 / 1000.0, "args": told,
    })
}

/// The rates between two moments, and how full channels are at the second.
fn counters(process: u64, before: &Second, now: &Second) -> [Value; 3] {
    let elapsed = (now.micros.saturating_sub(before.micros) as f64 / 1e6).max(1e-6);
    let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / elapsed;
    let counter = |name: &str, values: Value| json!({ "ph": "C", "name": name, "pid": process, "ts": now.micros, "args": values });
    [
        counter(
            "records/s",
            json!({
                "read": rate(before.read_records, now.read_records),
                "written": rate(before.written_records, now.written_records),
            }),
        ),
        counter("records in channels", json!({ "queued": now.queued_records })),
        counter("open tasks", json!({ "open": now.open_tasks })),
    ]
}

//! Perf records as they lie in a file: one JSON object a line, told apart by `type`. What they mean is told field by field in
//! `docs/perf-records.md`. Not here: when they are written (`recorder`), what follows from them (`diagnosis`).

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{Phase, VERSION};

#[cfg(test)]
mod tests;

/// `"type": "run"`: how an entry of a job begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    pub version: u32,
    pub run: String,
    pub job: String,
    /// Which entry of `job.content` it is, from 0.
    #[serde(default)]
    pub content: usize,
    /// How many of its entries run.
    #[serde(default)]
    pub contents: usize,
    #[serde(default)]
    pub start_micros: u64,
    /// The version of the program.
    #[serde(default)]
    pub transship: String,
    #[serde(default)]
    pub reader: String,
    #[serde(default)]
    pub writer: String,
    #[serde(default)]
    pub transformers: Vec<String>,
    /// Versions of plugins, by name.
    #[serde(default)]
    pub plugins: Map<String, Value>,
    /// `os`, `kernel`, `arch`, `name`, `cores`, `memory_bytes`.
    #[serde(default)]
    pub host: Map<String, Value>,
    /// How it runs: channels, their capacity, the size of batches, limits.
    #[serde(default)]
    pub plan: Map<String, Value>,
    /// Which parameters its reader and its writer have that change how fast they are; absent: recorded before it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// How many writer tasks its target takes at once; absent: any number, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_tasks: Option<u32>,
    /// The job file, with secrets masked.
    #[serde(default)]
    pub setting: Value,
}

/// Names of parameters that are worth a word in advice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuning {
    #[serde(default)]
    pub reader: Vec<String>,
    #[serde(default)]
    pub writer: Vec<String>,
}

/// `"type": "task"`: an attempt at a task begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskLine {
    pub run: String,
    pub job: String,
    pub task: String,
    pub number: u32,
    pub split: String,
    pub attempt: u32,
    /// What its source says the split has, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_bytes: Option<u64>,
    /// The channel that it runs on, from 0; absent: it is a lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    pub start_micros: u64,
}

/// `"type": "phase"`: what a phase took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseLine {
    pub run: String,
    pub job: String,
    /// Absent: a phase of the job itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    pub phase: Phase,
    pub start_micros: u64,
    pub elapsed_nanos: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_nanos: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_nanos: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    /// With `TASK_TOTAL`: `done`, `failed` or `cancelled`…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// …and why it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// `"type": "second"`: how things were at one moment, each second. Counts are since the beginning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    pub micros: u64,
    pub read_records: u64,
    pub read_bytes: u64,
    pub written_records: u64,
    #[serde(default)]
    pub dirty_records: u64,
    /// What is in channels.
    pub queued_records: u64,
    pub queued_bytes: u64,
    /// How full they are in the mean: 0 is empty, 1 is full.
    pub fill: f64,
    pub open_tasks: u64,
    pub tasks_known: u64,
    pub tasks_done: u64,
    pub wait_for_reader_nanos: u64,
    pub wait_for_writer_nanos: u64,
    /// What the attempts that are open have spent so far, by phase, over all their readers…
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "of_known_phases")]
    pub open_readers_nanos: BTreeMap<Phase, u64>,
    /// …and over all their writers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "of_known_phases")]
    pub open_writers_nanos: BTreeMap<Phase, u64>,
    /// The call of a plugin that has lasted longest, if it has lasted a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_call: Option<LongCall>,
}

/// A call of a plugin that goes on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LongCall {
    /// Whose call it is: `task 3 (orders.csv), txtfilereader`.
    pub who: String,
    pub call: String,
    pub seconds: f64,
    /// What the plugin said that it does: a statement, a request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doing: String,
}

/// `"type": "dirty"`: how many records were dirty for one cause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirtyLine {
    pub side: String,
    pub plugin: String,
    pub cause: String,
    pub count: u64,
}

/// `"type": "end"`: how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndLine {
    pub micros: u64,
    /// `done`, `failed`, `dirty_limit` or `cancelled`.
    pub result: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub read: u64,
    pub read_bytes: u64,
    pub written: u64,
    pub filtered: u64,
    pub duplicates: u64,
    pub dirty: u64,
    /// What attempts had read and found dirty that failed: beside the counts above.
    #[serde(default)]
    pub aborted_read: u64,
    #[serde(default)]
    pub aborted_dirty: u64,
    /// The file of the dirty records, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_file: Option<String>,
}

/// Whether perf records begin like this: with the header of a run.
pub fn is_recording(beginning: &[u8]) -> bool {
    beginning.starts_with(b"{\"type\":\"run\",\"version\":")
}

/// What a person calls an entry of a job, of which so many run: `orders, entry 3 of 5`.
pub fn title(job: &str, content: usize, contents: usize) -> String {
    match contents {
        0 | 1 => job.to_string(),
        several => format!("{job}, entry {} of {several}", content + 1),
    }
}

impl RunLine {
    /// What a person calls the entry.
    pub fn title(&self) -> String {
        title(&self.job, self.content, self.contents)
    }
}

impl PhaseLine {
    /// When the phase ended, in microseconds since 1970.
    fn until(&self) -> u64 {
        self.start_micros.saturating_add(self.elapsed_nanos / 1000)
    }
}

/// What was recorded of one entry of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    pub run: RunLine,
    pub tasks: Vec<TaskLine>,
    pub phases: Vec<PhaseLine>,
    pub seconds: Vec<Second>,
    /// How many records waited for their key in each second, in a job with `order`: when, and how many.
    pub waiting: Vec<(u64, f64)>,
    /// What transformers measured in the whole run: `stage`, `setting`, `figures`, `latencies`, `remarks`.
    pub stages: Vec<Value>,
    pub dirty: Vec<DirtyLine>,
    /// `None`: it goes on, or was killed.
    pub end: Option<EndLine>,
}

impl Recording {
    /// All entries that were recorded in a file, in the order in which they began. A last line that is cut off is left out.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn read(text: &str) -> Result<Vec<Recording>, String> {
        let mut all: Vec<Recording> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let count = text.lines().count();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let tree = match serde_json::from_str(line) {
                Ok(tree) => without_nulls(tree),
                // The process was killed while it wrote.
                Err(_) if number == count && number > 1 && !text.ends_with('\n') => break,
                Err(error) if all.is_empty() => {
                    return Err(format!(
                        "line {number}: this is no perf record, nor JSON at all ({error}): --perf FILE of `transship run` writes them"
                    ));
                }
                Err(error) => return Err(format!("line {number}: {error}")),
            };
            let wrong = |error: serde_json::Error| format!("line {number}: {error}");
            let kind = tree.get("type").and_then(Value::as_str).unwrap_or_default().to_string();
            let run = tree.get("run").and_then(Value::as_str).unwrap_or_default();
            if kind == "run" {
                let header: RunLine = serde_json::from_value(tree).map_err(wrong)?;
                if header.version > VERSION {
                    return Err(format!(
                        "line {number}: these are perf records of version {}, and this program knows them up to {VERSION}: use a newer one",
                        header.version
                    ));
                }
                places.insert(header.run.clone(), all.len());
                all.push(Recording { run: header, ..Recording::default() });
                continue;
            }
            let Some(place) = places.get(run) else {
                return Err(format!(
                    "line {number}: this is no perf record of a run that began before it: --perf FILE of `transship run` writes them"
                ));
            };
            let of = &mut all[*place];
            match kind.as_str() {
                "task" => of.tasks.push(serde_json::from_value(tree).map_err(wrong)?),
                // Of a phase that a newer version has added.
                "phase" if tree["phase"].as_str().is_some_and(|name| Phase::named(name).is_none()) => {}
                "phase" => of.phases.push(serde_json::from_value(tree).map_err(wrong)?),
                "second" => of.seconds.push(serde_json::from_value(tree).map_err(wrong)?),
                "dirty" => of.dirty.push(serde_json::from_value(tree).map_err(wrong)?),
                "end" => of.end = Some(serde_json::from_value(tree).map_err(wrong)?),
                "stage" => match tree["second_micros"].as_u64() {
                    Some(micros) => of.waiting.extend(waiting(&tree).map(|waiting| (micros, waiting))),
                    None => of.stages.push(tree),
                },
                // Of a kind that a newer version has added.
                _ => {}
            }
        }
        if all.is_empty() {
            return Err("there are no perf records in it: --perf FILE of `transship run` writes them".into());
        }
        Ok(all)
    }

    /// The phases of tasks.
    pub fn of_tasks(&self) -> impl Iterator<Item = &PhaseLine> {
        self.phases.iter().filter(|line| line.task.is_some())
    }

    /// The attempts at tasks, in the order in which they began.
    pub fn attempts(&self) -> Vec<AttemptLines<'_>> {
        let key = |line: &PhaseLine| (line.task.clone().unwrap_or_default(), line.attempt.unwrap_or(1));
        let mut phases: HashMap<(String, u32), Vec<&PhaseLine>> = HashMap::new();
        for line in self.phases.iter().filter(|line| line.task.is_some()) {
            phases.entry(key(line)).or_default().push(line);
        }
        let mut lines = |task: &TaskLine| phases.remove(&(task.task.clone(), task.attempt)).unwrap_or_default();
        let phases: Vec<_> = self.tasks.iter().map(&mut lines).collect();
        self.tasks.iter().zip(phases).map(|(task, phases)| AttemptLines { task, phases }).collect()
    }

    /// The last moment that was recorded, in microseconds since 1970: what has not ended by then is open until then.
    pub fn until(&self) -> u64 {
        let phases = self.phases.iter().map(PhaseLine::until);
        let tasks = self.tasks.iter().map(|task| task.start_micros);
        let seconds = self.seconds.iter().map(|second| second.micros);
        let end = self.end.iter().map(|end| end.micros);
        phases.chain(tasks).chain(seconds).chain(end).fold(self.run.start_micros, u64::max)
    }

    /// How much was moved; of a run that has not ended, up to its last second.
    pub fn counts(&self) -> RecordedCounts {
        if let Some(end) = &self.end {
            return RecordedCounts {
                read: end.read,
                read_bytes: end.read_bytes,
                written: end.written,
                filtered: Some(end.filtered),
                duplicates: Some(end.duplicates),
                dirty: end.dirty,
                aborted_read: end.aborted_read,
            };
        }
        let last = self.seconds.last().cloned().unwrap_or_default();
        // What they had read was counted as well.
        let aborted = self.attempts().into_iter().filter(AttemptLines::was_aborted);
        let totals: Vec<_> = aborted.filter_map(|attempt| attempt.of(Phase::TaskTotal)).collect();
        let aborted: u64 = totals.iter().filter_map(|line| line.records).sum();
        let aborted_bytes: u64 = totals.iter().filter_map(|line| line.bytes).sum();
        RecordedCounts {
            read: last.read_records.saturating_sub(aborted),
            read_bytes: last.read_bytes.saturating_sub(aborted_bytes),
            written: last.written_records,
            filtered: None,
            duplicates: None,
            dirty: last.dirty_records,
            aborted_read: aborted,
        }
    }

    /// What it, one of these, is compared with: the entry of the other run with the same name and number. Of several such entries (job
    /// files of one name in different folders) the first with the first, and so on. Where both runs are of a single entry, that is meant,
    /// whatever its name.
    pub fn counterpart<'a>(&self, among: &[Recording], others: &'a [Recording]) -> Option<&'a Recording> {
        let is_like = |other: &&Recording| (&other.run.job, other.run.content) == (&self.run.job, self.run.content);
        match (among, others) {
            ([_], [only]) => Some(only),
            _ => {
                let before = among.iter().take_while(|other| !std::ptr::eq(*other, self)).filter(is_like).count();
                others.iter().filter(is_like).nth(before)
            }
        }
    }
}

/// A line in which a field that is nothing is as good as absent.
fn without_nulls(mut line: Value) -> Value {
    if let Value::Object(fields) = &mut line {
        fields.retain(|_, value| !value.is_null());
    }
    line
}

/// What was spent with each phase, but those that a newer version has added.
fn of_known_phases<'de, D: Deserializer<'de>>(nanos: D) -> Result<BTreeMap<Phase, u64>, D::Error> {
    let all = BTreeMap::<String, u64>::deserialize(nanos)?;
    Ok(all.into_iter().filter_map(|(name, nanos)| Some((Phase::named(&name)?, nanos))).collect())
}

/// How many records waited for their key, if that is what a stage tells of.
fn waiting(stage: &Value) -> Option<f64> {
    let figures = stage["figures"].as_array()?;
    figures.iter().find(|figure| figure["name"] == "waiting")?["value"].as_f64()
}

/// How much was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedCounts {
    pub read: u64,
    pub read_bytes: u64,
    pub written: u64,
    /// `None`: not known, for the run has not ended.
    pub filtered: Option<u64>,
    pub duplicates: Option<u64>,
    pub dirty: u64,
    /// What attempts had read that failed.
    pub aborted_read: u64,
}

/// An attempt at a task, and what was recorded of it; nothing, if it had not ended when the recording did.
#[derive(Debug, Clone)]
pub struct AttemptLines<'a> {
    pub task: &'a TaskLine,
    pub phases: Vec<&'a PhaseLine>,
}

impl<'a> AttemptLines<'a> {
    pub fn of(&self, phase: Phase) -> Option<&'a PhaseLine> {
        self.phases.iter().find(|line| line.phase == phase).copied()
    }

    /// `done`, `failed`, `cancelled`, or `open`: it had not ended when the recording did.
    pub fn result(&self) -> &'a str {
        self.of(Phase::TaskTotal).map_or("open", |total| total.result.as_deref().unwrap_or("done"))
    }

    /// Whether it ended otherwise than it should: nothing of it counts.
    pub fn was_aborted(&self) -> bool {
        !matches!(self.result(), "done" | "open")
    }
}

//! Writes perf records while a run goes on: each line goes to the file at once, so that a killed process leaves all that was known of it.

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value};

use super::recording::{DirtyLine, EndLine, PhaseLine, RunLine, Second, TaskLine};
use super::{Perf, PerfRecord};
use crate::metrics::StageMetrics;

/// The file of perf records of all jobs of a run.
pub struct Recorder {
    state: Mutex<State>,
    /// Takes secrets out of names, and of what plugins have said.
    mask: Box<dyn Fn(&str) -> String + Send + Sync>,
}

struct State {
    file: File,
    /// Whether there are lines of this run in it.
    has_lines: bool,
    /// Why nothing more can be written.
    failure: Option<std::io::Error>,
}

/// Whose lines these are.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    pub run: &'a str,
    pub job: &'a str,
}

/// An attempt at a task that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    pub task: &'a str,
    pub split: &'a str,
    pub number: u32,
    pub perf: &'a Perf,
    /// `done`, `failed` or `cancelled`.
    pub result: &'static str,
    /// Why it was not done.
    pub message: Option<&'a str>,
}

/// The same as it is written: without secrets.
#[derive(Serialize)]
struct Shown<'a> {
    run: &'a str,
    job: String,
}

/// A line: its type, whose it is, and what it says.
#[derive(Serialize)]
struct Line<'a, T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    owner: &'a Shown<'a>,
    #[serde(flatten)]
    content: T,
}

/// The same for what names its owner itself.
#[derive(Serialize)]
struct Whole<T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    content: T,
}

impl Recorder {
    /// Writes to this file. What is in it goes with the first line.
    pub fn new(file: File, mask: impl Fn(&str) -> String + Send + Sync + 'static) -> Recorder {
        Recorder { state: Mutex::new(State { file, has_lines: false, failure: None }), mask: Box::new(mask) }
    }

    /// Whether anything has been recorded.
    pub fn has_lines(&self) -> bool {
        self.state().has_lines
    }

    /// An entry of a job begins.
    pub fn begin(&self, line: &RunLine) {
        let line = RunLine {
            job: (self.mask)(&line.job),
            reader: (self.mask)(&line.reader),
            writer: (self.mask)(&line.writer),
            transformers: line.transformers.iter().map(|name| (self.mask)(name)).collect(),
            ..line.clone()
        };
        self.write(&[Whole { kind: "run", content: line }]);
    }

    /// An attempt at a task begins.
    pub fn task(&self, line: &TaskLine) {
        let line = TaskLine { job: (self.mask)(&line.job), split: (self.mask)(&line.split), ..line.clone() };
        self.write(&[Whole { kind: "task", content: line }]);
    }

    /// An attempt at a task has ended.
    pub fn attempt(&self, owner: Owner<'_>, attempt: &Attempt<'_>) {
        let split = (self.mask)(attempt.split);
        let message = attempt.message.map(|message| (self.mask)(message));
        let mut lines = phases(&self.shown(owner), &attempt.perf.records);
        for (place, line) in lines.iter_mut().enumerate() {
            line.content.task = Some(attempt.task.into());
            line.content.split = Some(split.clone());
            line.content.attempt = Some(attempt.number);
            if place == 0 {
                line.content.result = Some(attempt.result.into());
                line.content.message = message.clone();
            }
        }
        self.write(&lines);
    }

    /// Phases of the job itself that have ended.
    pub fn job(&self, owner: Owner<'_>, ended: &[PerfRecord]) {
        self.write(&phases(&self.shown(owner), ended));
    }

    /// How things are now.
    pub fn second(&self, owner: Owner<'_>, mut second: Second) {
        if let Some(call) = &mut second.longest_call {
            call.who = (self.mask)(&call.who);
            call.doing = (self.mask)(&call.doing);
        }
        self.write(&[Line { kind: "second", owner: &self.shown(owner), content: second }]);
    }

    /// What transformers measured: in the second that ends at this moment, or in the whole run.
    pub fn stages(&self, owner: Owner<'_>, stages: &[StageMetrics], second_micros: Option<u64>) {
        #[derive(Serialize)]
        struct Stage {
            #[serde(skip_serializing_if = "Option::is_none")]
            second_micros: Option<u64>,
            #[serde(flatten)]
            stage: StageMetrics,
        }
        let owner = &self.shown(owner);
        let content = |stage| Stage { second_micros, stage: self.without_secrets(stage) };
        let lines = stages.iter().map(|stage| Line { kind: "stage", owner, content: content(stage) });
        self.write(&lines.collect::<Vec<_>>());
    }

    /// How many records were dirty for each cause.
    pub fn dirty(&self, owner: Owner<'_>, causes: &[DirtyLine]) {
        let owner = &self.shown(owner);
        let content = |line: &DirtyLine| DirtyLine {
            plugin: (self.mask)(&line.plugin),
            cause: (self.mask)(&line.cause),
            ..line.clone()
        };
        let lines = causes.iter().map(|line| Line { kind: "dirty", owner, content: content(line) });
        self.write(&lines.collect::<Vec<_>>());
    }

    /// How it ended.
    pub fn end(&self, owner: Owner<'_>, line: &EndLine) {
        let masked = |text: &Option<String>| text.as_deref().map(|text| (self.mask)(text));
        let content = EndLine { message: masked(&line.message), dirty_file: masked(&line.dirty_file), ..line.clone() };
        self.write(&[Line { kind: "end", owner: &self.shown(owner), content }]);
    }

    /// Why records could not be written, if so.
    pub fn failure(&self) -> Option<std::io::Error> {
        self.state().failure.as_ref().map(|error| match error.raw_os_error() {
            Some(code) => std::io::Error::from_raw_os_error(code),
            None => std::io::Error::new(error.kind(), error.to_string()),
        })
    }

    fn shown<'a>(&self, owner: Owner<'a>) -> Shown<'a> {
        Shown { run: owner.run, job: (self.mask)(owner.job) }
    }

    fn without_secrets(&self, stage: &StageMetrics) -> StageMetrics {
        StageMetrics {
            stage: (self.mask)(&stage.stage),
            place: (self.mask)(&stage.place),
            setting: (self.mask)(&stage.setting),
            remarks: stage.remarks.iter().map(|remark| (self.mask)(remark)).collect(),
            ..stage.clone()
        }
    }

    /// Lines that belong together are written together. Of what cannot be written the first failure is kept: the run goes on.
    fn write(&self, lines: &[impl Serialize]) {
        let mut text = Vec::new();
        let rendered = lines.iter().try_for_each(|line| {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
            Ok::<(), serde_json::Error>(())
        });
        let mut state = self.state();
        if state.failure.is_none() {
            state.failure = rendered.map_err(Into::into).and_then(|()| state.write(&text)).err();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(&mut self, lines: &[u8]) -> std::io::Result<()> {
        if !self.has_lines && !lines.is_empty() {
            self.has_lines = true;
            // A pipe has nothing to empty.
            let _ = self.file.set_len(0);
        }
        self.file.write_all(lines)
    }
}

fn phases(owner: &Shown<'_>, ended: &[PerfRecord]) -> Vec<Whole<PhaseLine>> {
    let some = |number: u64| Some(number).filter(|number| *number > 0);
    let lines = ended.iter().map(|record| PhaseLine {
        run: owner.run.into(),
        job: owner.job.clone(),
        task: None,
        split: None,
        attempt: None,
        phase: record.phase,
        start_micros: record.start_micros,
        elapsed_nanos: record.elapsed_nanos,
        cpu_nanos: record.cpu_nanos,
        cpu_wait_nanos: record.cpu_wait_nanos,
        records: some(record.records),
        bytes: some(record.bytes),
        level: record.level,
        result: None,
        message: None,
    });
    lines.map(|content| Whole { kind: "phase", content }).collect()
}

/// What is known of the machine.
pub fn host() -> Map<String, Value> {
    let system = rustix::system::uname();
    let memory = rustix::system::sysinfo();
    let text = |text: &std::ffi::CStr| Value::from(text.to_string_lossy());
    let facts = [
        ("os", text(system.sysname())),
        ("kernel", text(system.release())),
        ("arch", text(system.machine())),
        ("name", text(system.nodename())),
        ("cores", std::thread::available_parallelism().map_or(1, usize::from).into()),
        // The unit of the system's figure is told beside it.
        ("memory_bytes", (memory.totalram as u64 * u64::from(memory.mem_unit)).into()),
    ];
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

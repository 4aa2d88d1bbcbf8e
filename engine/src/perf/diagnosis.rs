//! What perf records say about a run: where its time went, which part was the limit, which task was the slowest, how uneven its
//! splits were. Not here: how that is shown (`cli`, `report`).

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::recording::{AttemptLines, LongCall, Recording};
use super::{Perf, Phase};

#[cfg(test)]
mod tests;
mod time;
mod verdict;

use time::{Spans, Spent, all_spent, parts};
use verdict::Evidence;

/// A call that lasted so long, in seconds, is told of…
const LONG_CALL: f64 = 2.0;
/// …if it was such a part of the whole.
const WORTH_A_LINE: f64 = 0.2;

/// What there is to say about one entry of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// How long it took from when it was made ready to its end, in seconds.
    pub wall_seconds: f64,
    /// How long records moved: what rates are by.
    pub moving_seconds: f64,
    /// Shares of that time, the largest first. They overlap: while one side of a task works, the other may as well.
    pub parts: Vec<PartShare>,
    pub limit: Limit,
    /// The call of a plugin that lasted longest, if it was long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_call: Option<LongCall>,
    /// The phases, in DataX's order.
    pub phases: Vec<PhaseRow>,
    /// The attempts at tasks, the slowest first.
    pub tasks: Vec<TaskRow>,
    /// Where there are several tasks.
    pub skew: Option<Skew>,
}

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Opening splits: connecting, and queries until they answer.
    OpenSource,
    Reader,
    Transformers,
    Lookup,
    /// Opening the target for a task.
    OpenTarget,
    Writer,
    /// Making what was written visible: of tasks and of the job.
    Commit,
    /// Making the job ready, before any record moves.
    Prepare,
    /// What comes after the commit: the job's last statements, and letting go of source and target.
    Post,
    SpeedLimit,
    /// Waiting for one of the slots of the run.
    Slots,
    /// Waiting for a turn at a target that takes few tasks at once.
    Turn,
    /// The writer waited for the reader.
    WaitForReader,
    /// The reader waited for the writer.
    WaitForWriter,
    /// Threads that could run waited for a CPU.
    Cpu,
    /// A target that takes few tasks at once, and was busy with them.
    Target,
    /// Handing over batches that are too small for what handing over costs.
    Channel,
    /// One split that is much larger than the others.
    OneSplit,
    /// Nothing took long enough to be named.
    None,
}

/// How much of the time a part took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PartShare {
    pub part: Part,
    /// In the mean over the tasks, in seconds of the run.
    pub seconds: f64,
    /// Of the whole, from 0 to 1.
    pub share: f64,
}

/// What a run was limited by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    pub part: Part,
    pub share: f64,
    /// What it is and what to try, as a sentence.
    pub sentence: String,
}

/// A phase over all attempts at all tasks, or of the job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseRow {
    pub phase: Phase,
    pub count: u64,
    pub mean_seconds: f64,
    pub max_seconds: f64,
    /// The split of the longest.
    pub max_split: Option<String>,
    pub total_seconds: f64,
    pub cpu_seconds: f64,
}

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskRow {
    pub number: u32,
    pub attempt: u32,
    pub split: String,
    /// Whether it is a lane, or what stands behind lanes: it reads no split.
    pub is_lane: bool,
    /// `done`, `failed`, `cancelled`, or `open`: it had not ended when the recording did.
    pub result: String,
    /// Why it was not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub records: u64,
    pub bytes: u64,
    pub opening_seconds: f64,
    pub reading_seconds: f64,
    pub transforming_seconds: f64,
    pub writing_seconds: f64,
    pub wait_for_slot_seconds: f64,
    pub wait_for_writer_seconds: f64,
    pub wait_for_reader_seconds: f64,
}

/// How uneven the tasks were.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skew {
    pub tasks: u64,
    pub mean_seconds: f64,
    pub longest_seconds: f64,
    pub longest_split: String,
    /// The longest by the mean.
    pub ratio: f64,
    /// The share of the time of all slots in which they had nothing to do: no attempt, whatever became of it.
    pub idle: f64,
}

/// Looks at what was recorded.
pub fn of(recording: &Recording) -> Diagnosis {
    let spans = Spans::of(recording);
    let attempts = recording.attempts();
    let spent: Vec<Spent> = attempts.iter().map(|attempt| attempt.phases.iter().copied().collect()).collect();
    let all = all_spent(recording, &spent);
    let skew = skew(recording, &attempts, spans.moving);
    let parts = parts(&all, spans);
    let limit = verdict::limit(&Evidence { recording, parts: &parts, spent: &all, skew: skew.as_ref(), spans });
    Diagnosis {
        wall_seconds: spans.wall,
        moving_seconds: spans.moving,
        limit,
        longest_call: longest_call(recording, spans.wall),
        phases: phases(recording),
        tasks: tasks(recording, &attempts, &spent),
        skew,
        parts,
    }
}

/// What an attempt at a task spent its time with, as shares of that time, the largest first.
pub fn of_attempt(perf: &Perf) -> Vec<PartShare> {
    let spent: Spent = perf.records.iter().collect();
    let total = spent.of(Phase::TaskTotal);
    parts(&[spent], Spans { moving: total, wall: total, ..Spans::default() })
}

/// The call of a plugin that lasted longest, where it was long and a good part of the run.
fn longest_call(recording: &Recording, wall: f64) -> Option<LongCall> {
    let calls = recording.seconds.iter().filter_map(|second| second.longest_call.as_ref());
    let longest = calls.max_by(|one, other| one.seconds.total_cmp(&other.seconds))?;
    (longest.seconds >= LONG_CALL && longest.seconds >= WORTH_A_LINE * wall).then(|| longest.clone())
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// The time between two moments in microseconds, in seconds.
fn between(from: u64, until: u64) -> f64 {
    until.saturating_sub(from) as f64 / 1e6
}

/// How long an attempt took; if it had not ended when the recording did, until then.
fn took(attempt: &AttemptLines<'_>, until: u64) -> f64 {
    match attempt.of(Phase::TaskTotal) {
        Some(total) => seconds(total.elapsed_nanos),
        None => between(attempt.task.start_micros, until),
    }
}

/// How long each task took that reads a split: its attempts together, where one of them was done or goes on. The others tell nothing
/// about splits, but the slots were busy with them.
fn skew(recording: &Recording, attempts: &[AttemptLines<'_>], moving: f64) -> Option<Skew> {
    let slots = attempts.iter().filter_map(|attempt| attempt.task.slot).collect::<HashSet<u32>>().len();
    let until = recording.until();
    let mut busy = 0.0;
    let mut tasks: BTreeMap<u32, (f64, bool, &str)> = BTreeMap::new();
    for attempt in attempts.iter().filter(|attempt| attempt.task.slot.is_some()) {
        let time = took(attempt, until);
        busy += time;
        let task = tasks.entry(attempt.task.number).or_insert((0.0, false, &attempt.task.split));
        task.0 += time;
        task.1 |= !attempt.was_aborted();
    }
    let tasks: Vec<(f64, &str)> =
        tasks.into_values().filter(|(_, counts, _)| *counts).map(|(time, _, split)| (time, split)).collect();
    if tasks.len() < 2 || slots == 0 {
        return None;
    }
    let mean = tasks.iter().map(|(time, _)| time).sum::<f64>() / tasks.len() as f64;
    let (longest, split) = tasks.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Skew {
        tasks: tasks.len() as u64,
        mean_seconds: mean,
        longest_seconds: *longest,
        longest_split: split.to_string(),
        ratio: longest / mean.max(1e-9),
        idle: (1.0 - busy / (slots as f64 * moving).max(1e-9)).clamp(0.0, 1.0),
    })
}

fn phases(recording: &Recording) -> Vec<PhaseRow> {
    let mut rows: BTreeMap<Phase, PhaseRow> = BTreeMap::new();
    for line in &recording.phases {
        let row = rows.entry(line.phase).or_insert_with(|| PhaseRow {
            phase: line.phase,
            count: 0,
            mean_seconds: 0.0,
            max_seconds: 0.0,
            max_split: None,
            total_seconds: 0.0,
            cpu_seconds: 0.0,
        });
        let elapsed = seconds(line.elapsed_nanos);
        row.count += 1;
        row.total_seconds += elapsed;
        row.cpu_seconds += seconds(line.cpu_nanos.unwrap_or_default());
        if elapsed >= row.max_seconds {
            (row.max_seconds, row.max_split) = (elapsed, line.split.clone());
        }
    }
    let mut rows: Vec<PhaseRow> = rows.into_values().collect();
    rows.iter_mut().for_each(|row| row.mean_seconds = row.total_seconds / row.count as f64);
    rows
}

fn tasks(recording: &Recording, attempts: &[AttemptLines<'_>], spent: &[Spent]) -> Vec<TaskRow> {
    let until = recording.until();
    let row = |(attempt, spent): (&AttemptLines<'_>, &Spent)| {
        let total = attempt.of(Phase::TaskTotal);
        let data = [Phase::ReadTaskData, Phase::WriteTaskData];
        let cpu = data.iter().filter_map(|phase| attempt.of(*phase)?.cpu_nanos);
        TaskRow {
            number: attempt.task.number,
            attempt: attempt.task.attempt,
            split: attempt.task.split.clone(),
            is_lane: attempt.task.slot.is_none(),
            result: attempt.result().into(),
            message: total.and_then(|line| line.message.clone()),
            seconds: took(attempt, until),
            cpu_seconds: seconds(cpu.sum()),
            records: total.and_then(|line| line.records).unwrap_or_default(),
            bytes: total.and_then(|line| line.bytes).unwrap_or_default(),
            opening_seconds: spent.opening_source() + spent.opening_target(),
            reading_seconds: spent.reading(),
            transforming_seconds: spent.of(Phase::TransformerTime),
            writing_seconds: spent.writing(),
            wait_for_slot_seconds: spent.of(Phase::WaitSlotTime),
            wait_for_writer_seconds: spent.of(Phase::WaitWriteTime),
            wait_for_reader_seconds: spent.of(Phase::WaitReadTime),
        }
    };
    let mut rows: Vec<TaskRow> = attempts.iter().zip(spent).map(row).collect();
    rows.sort_by(|left, right| right.seconds.total_cmp(&left.seconds));
    rows
}

impl Diagnosis {
    /// The attempts at tasks that read a split, and at lanes, as people want them: those that failed first, then the slowest. One that was
    /// cancelled because another failed is none of those.
    pub fn listed(&self) -> (Vec<&TaskRow>, Vec<&TaskRow>) {
        let (mut lanes, mut tasks): (Vec<_>, Vec<_>) = self.tasks.iter().partition(|row| row.is_lane);
        [&mut tasks, &mut lanes].into_iter().for_each(|rows| rows.sort_by_key(|row| !row.has_failed()));
        (tasks, lanes)
    }
}

impl TaskRow {
    /// Whether it failed by itself.
    pub fn has_failed(&self) -> bool {
        self.result == "failed"
    }
}

impl Part {
    /// What a person calls it.
    pub fn words(self) -> &'static str {
        match self {
            Part::OpenSource => "opening the source",
            Part::Reader => "reading",
            Part::Transformers => "transforming",
            Part::Lookup => "looking up",
            Part::OpenTarget => "opening the target",
            Part::Writer => "writing",
            Part::Commit => "committing",
            Part::Prepare => "preparing",
            Part::Post => "after the commit",
            Part::SpeedLimit => "waiting for the speed limit",
            Part::Slots => "waiting for a slot",
            Part::Turn => "waiting for its turn at the target",
            Part::WaitForReader => "waiting for the reader",
            Part::WaitForWriter => "waiting for the writer",
            Part::Cpu => "waiting for a CPU",
            Part::Target => "the target",
            Part::Channel => "handing over",
            Part::OneSplit => "one split",
            Part::None => "nothing",
        }
    }
}

//! What perf records say about a run: where its time went, which part was the limit, which task was the slowest, how uneven its
//! splits were. Not here: how that is shown (`cli`, `report`).

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::recording::{AttemptLines, Recording};
use super::{Perf, Phase, Side};

#[cfg(test)]
mod tests;
mod verdict;

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
    SpeedLimit,
    /// Waiting for one of the slots of the run.
    Slots,
    /// Waiting for a turn at a target that takes few tasks at once.
    Turn,
    /// The writer waited for the reader.
    WaitForReader,
    /// The reader waited for the writer.
    WaitForWriter,
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

/// What one attempt, or several together, spent their time with, in seconds.
#[derive(Debug, Clone, Default)]
struct Spent(HashMap<Phase, f64>);

impl FromIterator<(Phase, u64)> for Spent {
    /// Of phases and the nanoseconds that they took, each as often as it took any.
    fn from_iter<T: IntoIterator<Item = (Phase, u64)>>(nanos: T) -> Spent {
        let mut all = Spent::default();
        for (phase, nanos) in nanos {
            *all.0.entry(phase).or_default() += seconds(nanos);
        }
        all
    }
}

impl Spent {
    fn of(&self, phase: Phase) -> f64 {
        self.0.get(&phase).copied().unwrap_or_default()
    }

    fn sum<const N: usize>(&self, phases: [Phase; N]) -> f64 {
        phases.map(|phase| self.of(phase)).iter().sum()
    }

    fn reads(&self) -> bool {
        self.0.contains_key(&Phase::ReadTaskInit)
    }

    fn writes(&self) -> bool {
        self.0.keys().any(|phase| phase.side() == Side::Writer)
    }

    /// Opening splits: the first calls of a reader.
    fn opening_source(&self) -> f64 {
        self.sum([Phase::ReadTaskInit, Phase::ReadTaskPrepare])
    }

    /// The other calls of the reader.
    fn reading(&self) -> f64 {
        let waits = self.sum([Phase::WaitWriteTime, Phase::WaitLimitTime, Phase::WaitSlotTime]);
        let moving = (self.of(Phase::ReadTaskData) - waits - self.of(Phase::TransformerTime)).max(0.0);
        moving + self.sum([Phase::ReadTaskPost, Phase::ReadTaskDestroy])
    }

    fn opening_target(&self) -> f64 {
        self.sum([Phase::WriteTaskInit, Phase::WriteTaskPrepare])
    }

    /// The other calls of the writer but the commit. In a lane the transformers stand before it.
    fn writing(&self) -> f64 {
        let transforming = if self.reads() { 0.0 } else { self.of(Phase::TransformerTime) };
        let moving = (self.of(Phase::WriteTaskData) - self.of(Phase::WaitReadTime) - transforming).max(0.0);
        moving + self.of(Phase::WriteTaskDestroy)
    }

    /// The transformers but lookups.
    fn transforming(&self) -> f64 {
        (self.of(Phase::TransformerTime) - self.of(Phase::LookupTime)).max(0.0)
    }
}

/// How long a run took, in seconds.
#[derive(Debug, Clone, Copy)]
struct Spans {
    /// Until records moved.
    prepare: f64,
    moving: f64,
    commit: f64,
    wall: f64,
}

/// Looks at what was recorded.
pub fn of(recording: &Recording) -> Diagnosis {
    let spans = spans(recording);
    let attempts = recording.attempts();
    let spent: Vec<Spent> = attempts.iter().map(spent).collect();
    let skew = skew(recording, &attempts, spans.moving);
    let parts = parts(&all_spent(recording, &spent), spans);
    let limit = verdict::limit(recording, &parts, skew.as_ref(), spans.wall);
    Diagnosis {
        wall_seconds: spans.wall,
        moving_seconds: spans.moving,
        limit,
        phases: phases(recording),
        tasks: tasks(recording, &attempts, &spent),
        skew,
        parts,
    }
}

/// What an attempt at a task spent its time with, as shares of that time, the largest first.
pub fn of_attempt(perf: &Perf) -> Vec<PartShare> {
    let spent: Spent = perf.records.iter().map(|record| (record.phase, record.elapsed_nanos)).collect();
    let total = spent.of(Phase::TaskTotal);
    parts(&[spent], Spans { prepare: 0.0, moving: total, commit: 0.0, wall: total })
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn spans(recording: &Recording) -> Spans {
    let job = |phase: Phase| {
        let lines = recording.phases.iter().filter(|line| line.task.is_none() && line.phase == phase);
        lines.map(|line| seconds(line.elapsed_nanos)).sum::<f64>()
    };
    let [init, prepare, schedule, commit, post, destroy] =
        [Phase::JobInit, Phase::JobPrepare, Phase::JobSchedule, Phase::JobCommit, Phase::JobPost, Phase::JobDestroy]
            .map(job);
    let moving = match &recording.end {
        // It goes on, or was killed, and not all of its phases are known: what the others leave of the time since it began.
        None if schedule == 0.0 => {
            let lasted = between(recording.run.start_micros, recording.until());
            (lasted - prepare - commit - post - destroy).max(0.0)
        }
        _ => schedule,
    };
    let prepare = init + prepare;
    Spans { prepare, moving, commit, wall: prepare + moving + commit + post + destroy }
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

fn spent(attempt: &AttemptLines<'_>) -> Spent {
    attempt.phases.iter().map(|line| (line.phase, line.elapsed_nanos)).collect()
}

/// What the attempts spent, and where some had not ended when the recording did, what these had spent by its last second.
fn all_spent(recording: &Recording, ended: &[Spent]) -> Vec<Spent> {
    let mut all = ended.to_vec();
    if let (None, Some(last)) = (&recording.end, recording.seconds.last()) {
        for open in [&last.open_readers_nanos, &last.open_writers_nanos] {
            all.push(open.iter().map(|(phase, nanos)| (*phase, *nanos)).collect());
        }
    }
    all
}

fn parts(all: &[Spent], spans: Spans) -> Vec<PartShare> {
    // Of the sides of tasks that were at work for so long in sum.
    let side = |is_of: fn(&Spent) -> bool, time: &dyn Fn(&Spent) -> f64| {
        let of_side = all.iter().filter(|spent| is_of(spent));
        let (total, part) =
            of_side.fold((0.0, 0.0), |(total, part), spent| (total + spent.of(Phase::TaskTotal), part + time(spent)));
        if total > 0.0 { part / total * spans.moving } else { 0.0 }
    };
    let transforms: fn(&Spent) -> bool = |spent| spent.0.contains_key(&Phase::TransformerTime);
    let wait = |is_of: fn(&Spent) -> bool, phase: Phase| side(is_of, &|spent| spent.of(phase));
    let parts = [
        (Part::OpenSource, side(Spent::reads, &Spent::opening_source)),
        (Part::Reader, side(Spent::reads, &Spent::reading)),
        (Part::Transformers, side(transforms, &Spent::transforming)),
        (Part::Lookup, wait(transforms, Phase::LookupTime)),
        (Part::OpenTarget, side(Spent::writes, &Spent::opening_target)),
        (Part::Writer, side(Spent::writes, &Spent::writing)),
        (Part::Commit, spans.commit + wait(Spent::writes, Phase::WriteTaskPost)),
        (Part::Prepare, spans.prepare),
        (Part::SpeedLimit, wait(Spent::reads, Phase::WaitLimitTime)),
        (Part::Slots, wait(Spent::reads, Phase::WaitSlotTime)),
        (Part::Turn, wait(Spent::writes, Phase::WaitTurnTime)),
        (Part::WaitForReader, wait(Spent::writes, Phase::WaitReadTime)),
        (Part::WaitForWriter, wait(Spent::reads, Phase::WaitWriteTime)),
    ];
    let mut shares: Vec<PartShare> = parts
        .into_iter()
        .filter(|(_, seconds)| *seconds > 0.0)
        .map(|(part, seconds)| PartShare { part, seconds, share: seconds / spans.wall.max(1e-9) })
        .collect();
    shares.sort_by(|left, right| right.share.total_cmp(&left.share));
    shares
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
            Part::SpeedLimit => "waiting for the speed limit",
            Part::Slots => "waiting for a slot",
            Part::Turn => "waiting for its turn at the target",
            Part::WaitForReader => "waiting for the reader",
            Part::WaitForWriter => "waiting for the writer",
            Part::Channel => "handing over",
            Part::OneSplit => "one split",
            Part::None => "nothing",
        }
    }
}

//! What perf records say about a run: where its time went, which part was the limit, which task was the slowest, how uneven its
//! splits were. Not here: how that is shown (`cli`, `report`).

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::Phase;
use super::recording::{PhaseLine, Recording};

/// What there is to say about one entry of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// How long it took from its preparation to its end, in seconds.
    pub wall_seconds: f64,
    /// Shares of that time, the largest first. They overlap: while one side of a task works, the other may as well.
    pub parts: Vec<Share>,
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
    Reader,
    Transformers,
    Lookup,
    Writer,
    /// Making what was written visible: of tasks and of the job.
    Commit,
    /// Making ready: the `prepare` of the job.
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
pub struct Share {
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
    /// `done`, `failed`, `cancelled`, or `open`: it had not ended when the recording did.
    pub result: String,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub records: u64,
    pub bytes: u64,
    pub reading_seconds: f64,
    pub transforming_seconds: f64,
    pub writing_seconds: f64,
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
    /// The share of the time of all slots in which they had nothing to do.
    pub idle: f64,
}

/// A part with less than this is not called the limit.
const WORTH_NAMING: f64 = 0.15;
/// Both sides wait for so much of the time where handing over is the limit…
const BOTH_WAIT: f64 = 0.25;
/// …and neither works for so much.
const NOBODY_WORKS: f64 = 0.6;
/// A channel that holds fewer records than this hands them over a few at a time.
const FEW_RECORDS: u64 = 64;
/// A record that takes less, in seconds, is no work by itself: waking another thread costs about a tenth of it.
const QUICK_RECORD: f64 = 500e-6;
/// One split is the limit if it takes so many times as long as the mean…
const LONG_SPLIT: f64 = 2.0;
/// …and the slots had nothing to do for so much of the time.
const IDLE_SLOTS: f64 = 0.35;

/// The times of one attempt, in seconds.
struct Attempt<'a> {
    phases: HashMap<Phase, f64>,
    lines: Vec<&'a PhaseLine>,
}

impl Attempt<'_> {
    fn of(&self, phase: Phase) -> f64 {
        self.phases.get(&phase).copied().unwrap_or_default()
    }

    fn reads(&self) -> bool {
        self.phases.contains_key(&Phase::ReadTaskData)
    }

    fn writes(&self) -> bool {
        self.phases.contains_key(&Phase::WriteTaskData)
    }

    /// The time in calls of the reader.
    fn reading(&self) -> f64 {
        let waits = [Phase::WaitWriteTime, Phase::WaitLimitTime, Phase::WaitSlotTime];
        let transforming = self.of(Phase::TransformerTime);
        (self.of(Phase::ReadTaskData) - waits.map(|wait| self.of(wait)).iter().sum::<f64>() - transforming).max(0.0)
    }

    /// The time in calls of the writer. In a lane the transformers stand before it.
    fn writing(&self) -> f64 {
        let transforming = if self.reads() { 0.0 } else { self.of(Phase::TransformerTime) };
        (self.of(Phase::WriteTaskData) - self.of(Phase::WaitReadTime) - transforming).max(0.0)
    }
}

/// Looks at what was recorded.
pub fn of(recording: &Recording) -> Diagnosis {
    let attempts = attempts(recording);
    let job = |phase: Phase| {
        let lines = recording.phases.iter().filter(|line| line.task.is_none() && line.phase == phase);
        lines.map(|line| seconds(line.elapsed_nanos)).sum::<f64>()
    };
    let (prepare, moving, commit) = (job(Phase::JobPrepare), job(Phase::JobSchedule), job(Phase::JobCommit));
    let moving = if moving > 0.0 { moving } else { moving_so_far(recording) };
    let wall = prepare + moving + commit + job(Phase::JobPost) + job(Phase::JobDestroy);
    let skew = skew(recording, &attempts, moving);
    let parts = parts(recording, &attempts, [prepare, moving, commit, wall]);
    let limit = limit(recording, &parts, skew.as_ref(), wall);
    Diagnosis { wall_seconds: wall, limit, phases: phases(recording), tasks: tasks(recording, &attempts), skew, parts }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// The attempts that have ended, by task and number, in the order of the records.
fn attempts(recording: &Recording) -> Vec<((&str, u32), Attempt<'_>)> {
    let mut places: HashMap<(&str, u32), usize> = HashMap::new();
    let mut all: Vec<((&str, u32), Attempt<'_>)> = Vec::new();
    for line in recording.of_tasks() {
        let key = (line.task.as_deref().unwrap_or_default(), line.attempt.unwrap_or(1));
        let place = *places.entry(key).or_insert_with(|| {
            all.push((key, Attempt { phases: HashMap::new(), lines: Vec::new() }));
            all.len() - 1
        });
        let attempt = &mut all[place].1;
        *attempt.phases.entry(line.phase).or_default() += seconds(line.elapsed_nanos);
        attempt.lines.push(line);
    }
    all
}

/// How long a run that has not ended was recorded.
fn moving_so_far(recording: &Recording) -> f64 {
    let ends = recording.phases.iter().map(|line| line.start_micros + line.elapsed_nanos / 1000);
    let last = ends.chain(recording.seconds.iter().map(|second| second.micros)).max().unwrap_or_default();
    last.saturating_sub(recording.run.start_micros) as f64 / 1e6
}

fn parts(
    recording: &Recording,
    attempts: &[((&str, u32), Attempt<'_>)],
    [prepare, moving, commit, wall]: [f64; 4],
) -> Vec<Share> {
    // Of the sides of tasks that were at work for so long in sum.
    let side = |is_of: fn(&Attempt<'_>) -> bool, time: &dyn Fn(&Attempt<'_>) -> f64| {
        let of_side = attempts.iter().map(|(_, attempt)| attempt).filter(|attempt| is_of(attempt));
        let (total, part) = of_side
            .fold((0.0, 0.0), |(total, part), attempt| (total + attempt.of(Phase::TaskTotal), part + time(attempt)));
        if total > 0.0 { part / total * moving } else { 0.0 }
    };
    let reads: fn(&Attempt<'_>) -> bool = |attempt| attempt.reads();
    let writes: fn(&Attempt<'_>) -> bool = |attempt| attempt.writes();
    let wait = |of: fn(&Attempt<'_>) -> bool, phase: Phase| side(of, &|attempt| attempt.of(phase));
    let asks = recording.run.transformers.iter().any(|name| name == "lookup");
    let transforms: fn(&Attempt<'_>) -> bool = |attempt| attempt.phases.contains_key(&Phase::TransformerTime);
    let mut all = vec![
        (Part::Reader, side(reads, &|attempt| attempt.reading())),
        (if asks { Part::Lookup } else { Part::Transformers }, wait(transforms, Phase::TransformerTime)),
        (Part::Writer, side(writes, &|attempt| attempt.writing())),
        (Part::Commit, commit + wait(writes, Phase::WriteTaskPost)),
        (Part::Prepare, prepare),
        (Part::SpeedLimit, wait(reads, Phase::WaitLimitTime)),
        (Part::Slots, wait(reads, Phase::WaitSlotTime)),
        (Part::Turn, wait(writes, Phase::WaitTurnTime)),
        (Part::WaitForReader, wait(writes, Phase::WaitReadTime)),
        (Part::WaitForWriter, wait(reads, Phase::WaitWriteTime)),
    ];
    // Without a task that has ended there is what its second by second counters say.
    if attempts.is_empty()
        && let Some(last) = recording.seconds.last()
    {
        let tasks = last.open_tasks.max(1) as f64;
        all.push((Part::WaitForReader, seconds(last.wait_for_reader_nanos) / tasks));
        all.push((Part::WaitForWriter, seconds(last.wait_for_writer_nanos) / tasks));
    }
    let mut shares: Vec<Share> = all
        .into_iter()
        .filter(|(_, seconds)| *seconds > 0.0)
        .map(|(part, seconds)| Share { part, seconds, share: seconds / wall.max(1e-9) })
        .collect();
    shares.sort_by(|left, right| right.share.total_cmp(&left.share));
    shares
}

fn limit(recording: &Recording, parts: &[Share], skew: Option<&Skew>, wall: f64) -> Limit {
    let share_of = |part: Part| parts.iter().find(|share| share.part == part).map_or(0.0, |share| share.share);
    let is_wait = |part: Part| matches!(part, Part::WaitForReader | Part::WaitForWriter);
    let works = parts.iter().filter(|share| !is_wait(share.part)).max_by(|a, b| a.share.total_cmp(&b.share));
    let one_split = skew.filter(|skew| skew.ratio >= LONG_SPLIT && skew.idle >= IDLE_SLOTS);
    let (for_reader, for_writer) = (share_of(Part::WaitForReader), share_of(Part::WaitForWriter));
    let busiest = works.map_or(0.0, |share| share.share);
    let name = |part: Part, share: f64, words: &str| Limit {
        part,
        share,
        sentence: words.replace('%', &format!("{:.0} %", 100.0 * share.min(1.0))),
    };
    if recording.of_tasks().next().is_none() && (for_reader > WORTH_NAMING || for_writer > WORTH_NAMING) {
        return match for_reader > for_writer {
            true => name(
                Part::Reader,
                for_reader,
                "so far the reader, or what stands behind it, is the limit: the writer waited for it for % of wall",
            ),
            false => {
                name(Part::Writer, for_writer, "so far the writer is the limit: the reader waited for it for % of wall")
            }
        };
    }
    if let Some(skew) = one_split {
        let share = skew.longest_seconds / wall.max(1e-9);
        let words = format!(
            "one split is the limit: {} took % of wall, {:.1} times as long as the mean, while slots had nothing to do; make splits \
             smaller or even (splitPk with values that are spread evenly, a smaller splitFactor or split size)",
            skew.longest_split, skew.ratio
        );
        return name(Part::OneSplit, share, &words);
    }
    if for_reader >= BOTH_WAIT && for_writer >= BOTH_WAIT && busiest < NOBODY_WORKS {
        let words = "the channel is the limit: both sides wait for each other, the writer for % of wall; let it hold more \
                     (core.transport.channel.capacity and byteCapacity, --memory)";
        return name(Part::Channel, for_reader, words);
    }
    if is_tiny_channel(recording, works) {
        let words = "the channel is the limit: it holds so few records that handing them over costs more than reading and writing them, % of \
                     wall; let it hold more (core.transport.channel.capacity and byteCapacity, --memory)";
        return name(Part::Channel, busiest, words);
    }
    let Some(Share { part, share, .. }) = works.copied().filter(|works| works.share >= WORTH_NAMING) else {
        return name(Part::None, busiest, "nothing stands out: no part took more than % of wall");
    };
    let words = match part {
        Part::Reader => {
            "the reader is the limit: % of wall; read more splits at once (speed.channel, splitPk), fetch larger batches (fetchSize) or ask for less"
        }
        Part::Writer => {
            "the writer is the limit: % of wall; raise speed.channel or batchSize, or drop indexes while loading"
        }
        Part::Transformers => {
            "the transformers are the limit: % of wall; raise speed.channel, so that more of them work at once"
        }
        Part::Lookup => {
            "the lookup is the limit: transformers took % of wall; raise its capacity, ask for several keys at once (batch) or keep answers (cache)"
        }
        Part::Commit => {
            "the commit is the limit: % of wall; write smaller transactions (checkpoint) or look at what the target does at a commit"
        }
        Part::Prepare => {
            "preparing is the limit: % of wall before any record moved; look at preSql and at how long connecting takes"
        }
        Part::SpeedLimit => {
            "the speed limit of the job is the limit: % of wall; raise or drop speed.byte and speed.record"
        }
        Part::Slots => {
            "the slots of the run are the limit: % of wall; give it more (--slots, speed.channel) or this job more weight"
        }
        Part::Turn => {
            "the target takes few tasks at once, and waiting for a turn is the limit: % of wall; fewer channels lose nothing"
        }
        Part::WaitForReader | Part::WaitForWriter | Part::Channel | Part::OneSplit | Part::None => "% of wall",
    };
    name(part, share, words)
}

/// Whether records travel a few at a time although none of them takes long: then it is the handing over that takes the time, on
/// whichever side that is measured.
fn is_tiny_channel(recording: &Recording, works: Option<&Share>) -> bool {
    let held = recording.run.plan.get("capacity").and_then(|capacity| capacity["records"].as_u64());
    let records = recording.end.as_ref().map_or(0, |end| end.read);
    let slots = recording.tasks.iter().filter_map(|task| task.slot).collect::<HashSet<u32>>().len().max(1);
    let works = works.filter(|works| matches!(works.part, Part::Reader | Part::Writer));
    works.is_some_and(|works| works.seconds * slots as f64 / (records.max(1) as f64) < QUICK_RECORD)
        && held.is_some_and(|held| held < FEW_RECORDS)
}

fn skew(recording: &Recording, attempts: &[((&str, u32), Attempt<'_>)], moving: f64) -> Option<Skew> {
    let lanes: HashSet<&str> =
        recording.tasks.iter().filter(|task| task.slot.is_none()).map(|task| task.task.as_str()).collect();
    let totals: Vec<(f64, &Attempt<'_>)> = attempts
        .iter()
        .filter(|((task, _), attempt)| attempt.reads() && !lanes.contains(task))
        .map(|(_, attempt)| (attempt.of(Phase::TaskTotal), attempt))
        .collect();
    let slots = recording.tasks.iter().filter_map(|task| task.slot).collect::<HashSet<u32>>().len();
    if totals.len() < 2 || slots == 0 {
        return None;
    }
    let sum: f64 = totals.iter().map(|(total, _)| total).sum();
    let mean = sum / totals.len() as f64;
    let (longest, attempt) = totals.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Skew {
        tasks: totals.len() as u64,
        mean_seconds: mean,
        longest_seconds: *longest,
        longest_split: attempt.lines.iter().find_map(|line| line.split.clone()).unwrap_or_default(),
        ratio: longest / mean.max(1e-9),
        idle: (1.0 - sum / (slots as f64 * moving).max(1e-9)).clamp(0.0, 1.0),
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

fn tasks(recording: &Recording, attempts: &[((&str, u32), Attempt<'_>)]) -> Vec<TaskRow> {
    let numbers: HashMap<(&str, u32), u32> =
        recording.tasks.iter().map(|task| ((task.task.as_str(), task.attempt), task.number)).collect();
    let ended = attempts.iter().map(|(key, attempt)| {
        let total = attempt.lines.iter().find(|line| line.phase == Phase::TaskTotal);
        let data = [Phase::ReadTaskData, Phase::WriteTaskData];
        let cpu = attempt.lines.iter().filter(|line| data.contains(&line.phase)).filter_map(|line| line.cpu_nanos);
        TaskRow {
            number: numbers.get(key).copied().unwrap_or_default(),
            attempt: key.1,
            split: attempt.lines.iter().find_map(|line| line.split.clone()).unwrap_or_default(),
            result: total.and_then(|line| line.result.clone()).unwrap_or_else(|| "done".into()),
            seconds: attempt.of(Phase::TaskTotal),
            cpu_seconds: seconds(cpu.sum()),
            records: total.and_then(|line| line.records).unwrap_or_default(),
            bytes: total.and_then(|line| line.bytes).unwrap_or_default(),
            reading_seconds: attempt.reading(),
            transforming_seconds: attempt.of(Phase::TransformerTime),
            writing_seconds: attempt.writing(),
            wait_for_writer_seconds: attempt.of(Phase::WaitWriteTime),
            wait_for_reader_seconds: attempt.of(Phase::WaitReadTime),
        }
    });
    let known: HashSet<(&str, u32)> = attempts.iter().map(|(key, _)| *key).collect();
    let until = recording.run.start_micros as f64 / 1e6 + moving_so_far(recording);
    let open = recording.tasks.iter().filter(|task| !known.contains(&(task.task.as_str(), task.attempt)));
    let open = open.map(|task| TaskRow {
        number: task.number,
        attempt: task.attempt,
        split: task.split.clone(),
        result: "open".into(),
        seconds: (until - task.start_micros as f64 / 1e6).max(0.0),
        cpu_seconds: 0.0,
        records: 0,
        bytes: 0,
        reading_seconds: 0.0,
        transforming_seconds: 0.0,
        writing_seconds: 0.0,
        wait_for_writer_seconds: 0.0,
        wait_for_reader_seconds: 0.0,
    });
    let mut rows: Vec<TaskRow> = ended.chain(open).collect();
    rows.sort_by(|left, right| right.seconds.total_cmp(&left.seconds));
    rows
}

impl Part {
    /// What a person calls it.
    pub fn words(self) -> &'static str {
        match self {
            Part::Reader => "reading",
            Part::Transformers => "transforming",
            Part::Lookup => "transforming and looking up",
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

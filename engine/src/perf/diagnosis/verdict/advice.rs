//! What is said of a part that limited a run, and what to try: a sentence for each. Shares are given in percent. Not here: which part it
//! was.

use serde_json::Value;

use crate::perf::Phase;
use crate::perf::diagnosis::{Part, Skew, seconds};
use crate::perf::recording::Recording;

mod knobs;

use knobs::Knobs;

/// A thread that runs, or waits for a CPU, for less of its time waits for somebody else.
const WAITS_FOR_OTHERS: f64 = 0.2;

/// Of a part that was at work, or made others wait, for most of the time.
pub(super) fn on(recording: &Recording, part: Part, share: &str) -> String {
    match part {
        Part::OpenSource => format!(
            "opening the source is the limit: {share} of wall, until it connects and its query answers; look at the query and its \
             indexes, or make fewer splits"
        ),
        Part::Reader => on_reading(recording, share),
        Part::Transformers => on_transforming(recording, share),
        Part::Lookup => format!(
            "the lookup is the limit: {share} of wall; raise its capacity, ask for several keys at once (batch) or keep answers (cache)"
        ),
        Part::OpenTarget => format!(
            "opening the target is the limit: {share} of wall, until it connects and takes records; look for locks, or make fewer splits"
        ),
        Part::Writer => on_writing(recording, share),
        Part::Commit => on_committing(recording, share),
        Part::Prepare => on_making_ready(recording, share),
        Part::Post => on_what_comes_after(recording, share),
        Part::SpeedLimit => format!(
            "the speed limit of the job is the limit: {share} of wall; raise or drop speed.byte and speed.record"
        ),
        Part::Slots => on_slots(recording, share),
        Part::Turn => format!(
            "the target takes few tasks at once, and waiting for a turn is the limit: {share} of wall; fewer channels lose nothing"
        ),
        Part::WaitForReader
        | Part::WaitForWriter
        | Part::Cpu
        | Part::Target
        | Part::Channel
        | Part::OneSplit
        | Part::None => {
            format!("{}: {share} of wall", part.words())
        }
    }
}

/// Of a channel on which both sides wait, the writer for so much of the time.
pub(super) fn on_waiting_for_each_other(share: &str) -> String {
    format!(
        "the channel is the limit: both sides wait for each other, the writer for {share} of wall; let it hold more \
         (core.transport.channel.capacity and byteCapacity, --memory)"
    )
}

pub(super) fn on_a_tiny_channel(share: &str) -> String {
    format!(
        "the channel is the limit: it holds so few records that handing them over costs more than reading and writing them, \
         {share} of wall; let it hold more (core.transport.channel.capacity and byteCapacity, --memory)"
    )
}

pub(super) fn on_one_split(recording: &Recording, skew: &Skew, share: &str) -> String {
    format!(
        "one split is the limit: {} took {share} of wall, {:.1} times as long as the mean, while slots had nothing to do; {}",
        skew.longest_split,
        skew.ratio,
        Knobs::of(recording).smaller_splits()
    )
}

/// Of a target that takes so many tasks at once.
pub(super) fn on_a_busy_target(recording: &Recording, at_once: u32, share: &str) -> String {
    let tasks = if at_once == 1 { "one task".into() } else { format!("{at_once} tasks") };
    let tips = [vec!["more channels would not help".into()], Knobs::of(recording).lighter_writing()].concat();
    format!("the target is the limit: it takes {tasks} at once and was busy for {share} of wall; {}", tips.join("; "))
}

/// Of a run that uses so much of all cores.
pub(super) fn on_all_cores(cores: u64, share: &str) -> String {
    let cores = if cores == 1 { "the only core".into() } else { format!("all {cores} cores") };
    format!(
        "the CPU is the limit: the run itself used {share} of {cores}; more channels would not help; read or transform less, or run it \
         on more cores"
    )
}

pub(super) fn on_starving(share: &str) -> String {
    format!(
        "the CPU is the limit: threads that could run waited for a CPU for {share} of the time; other programs run on this machine, or \
         there are more channels than cores"
    )
}

fn on_reading(recording: &Recording, share: &str) -> String {
    let knobs = Knobs::of(recording);
    let waits = [Phase::WaitWriteTime, Phase::WaitLimitTime, Phase::WaitSlotTime];
    let (waiting, condition) = match waits_for_others(recording, Phase::ReadTaskData, &waits) {
        true => (", and it waits for its source nearly all of that time", "if the source has more to give: "),
        false => ("", ""),
    };
    let mut tips = vec![knobs.more_at_once()];
    if knobs.reader_has("fetchSize") {
        tips.push("raise fetchSize".into());
    }
    tips.push("ask for less".into());
    format!("the reader is the limit: {share} of wall{waiting}; {condition}{}", tips.join("; "))
}

fn on_writing(recording: &Recording, share: &str) -> String {
    let knobs = Knobs::of(recording);
    let waiting = match waits_for_others(recording, Phase::WriteTaskData, &[Phase::WaitReadTime]) {
        true => ", and it waits for its target nearly all of that time",
        false => "",
    };
    let tips = [vec![knobs.more_at_once()], knobs.lighter_writing()].concat();
    format!("the writer is the limit: {share} of wall{waiting}; {}", tips.join("; "))
}

fn on_making_ready(recording: &Recording, share: &str) -> String {
    let knobs = Knobs::of(recording);
    let statements = match knobs.reader_has("preSql") || knobs.writer_has("preSql") {
        true => "at preSql and ",
        false => "",
    };
    format!(
        "making ready is the limit: {share} of wall before any record moved; look {statements}at how long connecting takes"
    )
}

fn on_what_comes_after(recording: &Recording, share: &str) -> String {
    let look_at = match sum(recording, Phase::JobDestroy) > sum(recording, Phase::JobPost) {
        true => "at how long source and target take to let go",
        false if Knobs::of(recording).writer_has("postSql") => "at postSql",
        false => "at what source and target do then",
    };
    format!("what comes after the commit is the limit: {share} of wall; look {look_at}")
}

fn on_transforming(recording: &Recording, share: &str) -> String {
    let asks = recording.run.transformers.iter().any(|name| name == "lookup");
    // Of a run that has not ended it is not known which of them.
    let among = if asks && recording.end.is_none() { ", a lookup among them," } else { "" };
    let tip = Knobs::of(recording).more_at_once();
    format!("the transformers{among} are the limit: {share} of wall; {tip}")
}

fn on_committing(recording: &Recording, share: &str) -> String {
    let when = match sum(recording, Phase::JobCommit) > sum(recording, Phase::WriteTaskPost) {
        true => "of the whole job at its end",
        false => "of each task; fewer splits commit less often",
    };
    format!(
        "the commit is the limit: {share} of wall, {when}; look at what the target does then (indexes, constraints, its disk)"
    )
}

fn on_slots(recording: &Recording, share: &str) -> String {
    let channels = recording.run.plan.get("channels").and_then(Value::as_u64).unwrap_or(1);
    format!(
        "the slots of the run are the limit: {share} of wall; this entry may use {channels} of them, and others work beside it: \
         raise speed.channel or --slots, or give it more weight"
    )
}

/// How long a phase took in all attempts at all tasks, or in the job.
fn sum(recording: &Recording, phase: Phase) -> f64 {
    recording.phases.iter().filter(|line| line.phase == phase).map(|line| seconds(line.elapsed_nanos)).sum()
}

/// Whether threads that went through this phase hardly ran, nor could have run, but for what they waited for the other side.
fn waits_for_others(recording: &Recording, phase: Phase, waits: &[Phase]) -> bool {
    let lines = || recording.of_tasks().filter(|line| line.phase == phase);
    let with_cpu: u64 = lines().map(|line| line.cpu_nanos.unwrap_or(line.elapsed_nanos)).sum();
    let could_run: u64 = lines().filter_map(|line| line.cpu_wait_nanos).sum();
    let work = sum(recording, phase) - waits.iter().map(|wait| sum(recording, *wait)).sum::<f64>();
    work > 0.0 && seconds(with_cpu + could_run) < WAITS_FOR_OTHERS * work
}

//! What is said of a part that limited a run, and what to try: a sentence for each. Shares are given in percent. Not here: which part it
//! was.

use serde_json::Value;

use crate::perf::Phase;
use crate::perf::diagnosis::{Part, Skew, seconds};
use crate::perf::recording::Recording;

/// A reader that uses less of its time on the CPU waits for somebody else.
const WAITS_FOR_SOURCE: f64 = 0.2;

/// Of a part that was at work, or made others wait, for most of the time.
pub(super) fn on(recording: &Recording, part: Part, share: &str) -> String {
    match part {
        Part::OpenSource => format!(
            "opening the source is the limit: {share} of wall, until it connects and its query answers; look at the query and its \
             indexes, or make fewer splits"
        ),
        Part::Reader => on_reading(waits_for_source(recording), share),
        Part::Transformers => on_transforming(recording, share),
        Part::Lookup => format!(
            "the lookup is the limit: {share} of wall; raise its capacity, ask for several keys at once (batch) or keep answers (cache)"
        ),
        Part::OpenTarget => format!(
            "opening the target is the limit: {share} of wall, until it connects and takes records; look for locks, or make fewer splits"
        ),
        Part::Writer => format!(
            "the writer is the limit: {share} of wall; raise speed.channel or batchSize, or drop indexes while loading"
        ),
        Part::Commit => on_committing(recording, share),
        Part::Prepare => format!(
            "making ready is the limit: {share} of wall before any record moved; look at preSql and at how long connecting takes"
        ),
        Part::SpeedLimit => format!(
            "the speed limit of the job is the limit: {share} of wall; raise or drop speed.byte and speed.record"
        ),
        Part::Slots => on_slots(recording, share),
        Part::Turn => format!(
            "the target takes few tasks at once, and waiting for a turn is the limit: {share} of wall; fewer channels lose nothing"
        ),
        Part::WaitForReader | Part::WaitForWriter | Part::Channel | Part::OneSplit | Part::None => {
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

pub(super) fn on_one_split(skew: &Skew, share: &str) -> String {
    format!(
        "one split is the limit: {} took {share} of wall, {:.1} times as long as the mean, while slots had nothing to do; make splits \
         smaller or even (splitPk with values that are spread evenly, a smaller splitFactor or split size)",
        skew.longest_split, skew.ratio
    )
}

fn on_reading(waits_for_source: bool, share: &str) -> String {
    match waits_for_source {
        true => format!(
            "the reader is the limit: {share} of wall, and it waits for its source nearly all of that time; if the source has more to \
             give, read more splits at once (speed.channel, splitPk) or fetch larger batches (fetchSize)"
        ),
        false => format!(
            "the reader is the limit: {share} of wall; read more splits at once (speed.channel, splitPk), fetch larger batches \
             (fetchSize) or ask for less"
        ),
    }
}

fn on_transforming(recording: &Recording, share: &str) -> String {
    let asks = recording.run.transformers.iter().any(|name| name == "lookup");
    // Of a run that has not ended it is not known which of them.
    let among = if asks && recording.end.is_none() { ", a lookup among them," } else { "" };
    format!(
        "the transformers{among} are the limit: {share} of wall; raise speed.channel, so that more of them work at once"
    )
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

/// Whether the reader's threads hardly used the CPU.
fn waits_for_source(recording: &Recording) -> bool {
    let lines = || recording.phases.iter().filter(|line| line.phase == Phase::ReadTaskData);
    let (cpu, elapsed) = lines().fold((0, 0), |(cpu, elapsed), line| {
        (cpu + line.cpu_nanos.unwrap_or(line.elapsed_nanos), elapsed + line.elapsed_nanos)
    });
    elapsed > 0 && (cpu as f64) < WAITS_FOR_SOURCE * elapsed as f64
}

//! What limited a run, in a sentence: which part, its share of the time, and what to try.

use std::collections::HashSet;

use super::{Limit, Part, Share, Skew, seconds};
use crate::perf::Phase;
use crate::perf::recording::{LongCall, Recording};

/// A run that took less, in seconds, tells nothing.
const TOO_SHORT: f64 = 0.1;
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
/// Two shares of which one is so much of the other are as good as the same.
const NEARLY: f64 = 0.8;
/// A reader that uses less of its time on the CPU waits for somebody else.
const WAITS_FOR_SOURCE: f64 = 0.2;
/// A recording that ends while nothing has moved for so long, in seconds, is one of a run that stood still.
const STOOD_STILL: f64 = 2.0;

/// What limited a run.
pub(super) fn limit(recording: &Recording, parts: &[Share], skew: Option<&Skew>, wall: f64) -> Limit {
    if let Some((still, call)) = stall(recording) {
        return standing_still(recording, still, call, wall);
    }
    if wall < TOO_SHORT {
        let sentence = format!("it took {:.0} ms: too short to tell what limits it", wall * 1000.0);
        return Limit { part: Part::None, share: 0.0, sentence };
    }
    if let Some(skew) = skew.filter(|skew| skew.ratio >= LONG_SPLIT && skew.idle >= IDLE_SLOTS) {
        return one_split(skew, wall);
    }
    let share_of = |part: Part| parts.iter().find(|share| share.part == part).map_or(0.0, |share| share.share);
    let is_wait = |part: Part| matches!(part, Part::WaitForReader | Part::WaitForWriter);
    let busiest = parts.iter().filter(|share| !is_wait(share.part)).max_by(|a, b| a.share.total_cmp(&b.share)).copied();
    let most = busiest.map_or(0.0, |busiest| busiest.share);
    let (for_reader, for_writer) = (share_of(Part::WaitForReader), share_of(Part::WaitForWriter));
    if for_reader >= BOTH_WAIT && for_writer >= BOTH_WAIT && most < NOBODY_WORKS {
        return named(Part::Channel, for_reader, |share| {
            format!(
                "the channel is the limit: both sides wait for each other, the writer for {share} of wall; let it hold more \
                 (core.transport.channel.capacity and byteCapacity, --memory)"
            )
        });
    }
    if busiest.is_some_and(|busiest| is_tiny_channel(recording, busiest)) {
        return named(Part::Channel, most, |share| {
            format!(
                "the channel is the limit: it holds so few records that handing them over costs more than reading and writing them, \
                 {share} of wall; let it hold more (core.transport.channel.capacity and byteCapacity, --memory)"
            )
        });
    }
    // Who waits in front of the reader does no work: where that takes as long as the reader, more of it would only wait longer.
    let slots = share_of(Part::Slots);
    if slots >= WORTH_NAMING && slots >= NEARLY * most {
        return named(Part::Slots, slots, |share| busy(recording, Part::Slots, share));
    }
    match busiest.filter(|busiest| busiest.share >= WORTH_NAMING) {
        Some(Share { part, share, .. }) => named(part, share, |share| busy(recording, part, share)),
        None => named(Part::None, most, |share| format!("nothing stands out: no part took more than {share} of wall")),
    }
}

/// A part with the sentence that is made of its share in percent.
fn named(part: Part, share: f64, words: impl FnOnce(&str) -> String) -> Limit {
    Limit { part, share, sentence: words(&percent(share)) }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share.min(1.0))
}

/// For how long nothing had moved when the recording of a run ended that did not, and which call lasted all that time.
fn stall(recording: &Recording) -> Option<(f64, &LongCall)> {
    let last = recording.seconds.last().filter(|_| recording.end.is_none())?;
    let call = last.longest_call.as_ref()?;
    let moved = recording
        .seconds
        .iter()
        .rev()
        .find(|second| (second.read_records, second.written_records) != (last.read_records, last.written_records));
    let since = moved.map_or(recording.run.start_micros, |second| second.micros);
    let still = (last.micros.saturating_sub(since) as f64 / 1e6).min(call.seconds);
    (still >= STOOD_STILL).then_some((still, call))
}

fn standing_still(recording: &Recording, still: f64, call: &LongCall, wall: f64) -> Limit {
    let is_of = |plugin: &str| call.who.ends_with(plugin);
    let part = match call.call.as_str() {
        "transform" => Part::Transformers,
        "commit" => Part::Commit,
        _ if is_of(&recording.run.writer) => Part::Writer,
        _ => Part::Reader,
    };
    let sentence = format!(
        "it stood still: nothing had moved for {still:.0} s when the recording ended, and {} had been in `{}`{} for {:.0} s",
        call.who,
        call.call,
        if call.doing.is_empty() { String::new() } else { format!(" ({})", call.doing) },
        call.seconds
    );
    Limit { part, share: still / wall.max(1e-9), sentence }
}

fn one_split(skew: &Skew, wall: f64) -> Limit {
    named(Part::OneSplit, skew.longest_seconds / wall.max(1e-9), |share| {
        format!(
            "one split is the limit: {} took {share} of wall, {:.1} times as long as the mean, while slots had nothing to do; make splits \
             smaller or even (splitPk with values that are spread evenly, a smaller splitFactor or split size)",
            skew.longest_split, skew.ratio
        )
    })
}

/// What to say where a part was at work, or made others wait, for most of the time.
fn busy(recording: &Recording, part: Part, share: &str) -> String {
    match part {
        Part::OpenSource => format!(
            "opening the source is the limit: {share} of wall, until it connects and its query answers; look at the query and its \
             indexes, or make fewer splits"
        ),
        Part::Reader if waits_for_source(recording) => format!(
            "the reader is the limit: {share} of wall, and it waits for its source nearly all of that time; if the source has more to \
             give, read more splits at once (speed.channel, splitPk) or fetch larger batches (fetchSize)"
        ),
        Part::Reader => format!(
            "the reader is the limit: {share} of wall; read more splits at once (speed.channel, splitPk), fetch larger batches \
             (fetchSize) or ask for less"
        ),
        Part::Transformers => {
            let asks = recording.run.transformers.iter().any(|name| name == "lookup");
            // Of a run that has not ended it is not known which of them.
            let among = if asks && recording.end.is_none() { ", a lookup among them," } else { "" };
            format!(
                "the transformers{among} are the limit: {share} of wall; raise speed.channel, so that more of them work at once"
            )
        }
        Part::Lookup => format!(
            "the lookup is the limit: {share} of wall; raise its capacity, ask for several keys at once (batch) or keep answers (cache)"
        ),
        Part::OpenTarget => format!(
            "opening the target is the limit: {share} of wall, until it connects and takes records; look for locks, or make fewer splits"
        ),
        Part::Writer => {
            format!(
                "the writer is the limit: {share} of wall; raise speed.channel or batchSize, or drop indexes while loading"
            )
        }
        Part::Commit => {
            let of_job = sum(recording, Phase::JobCommit) > sum(recording, Phase::WriteTaskPost);
            let when = match of_job {
                true => "of the whole job at its end",
                false => "of each task; fewer splits commit less often",
            };
            format!(
                "the commit is the limit: {share} of wall, {when}; look at what the target does then (indexes, constraints, its disk)"
            )
        }
        Part::Prepare => format!(
            "making ready is the limit: {share} of wall before any record moved; look at preSql and at how long connecting takes"
        ),
        Part::SpeedLimit => {
            format!(
                "the speed limit of the job is the limit: {share} of wall; raise or drop speed.byte and speed.record"
            )
        }
        Part::Slots => {
            let channels = recording.run.plan.get("channels").and_then(|channels| channels.as_u64()).unwrap_or(1);
            format!(
                "the slots of the run are the limit: {share} of wall; this entry may use {channels} of them, and others work beside it: \
                 raise speed.channel or --slots, or give it more weight"
            )
        }
        Part::Turn => format!(
            "the target takes few tasks at once, and waiting for a turn is the limit: {share} of wall; fewer channels lose nothing"
        ),
        Part::WaitForReader | Part::WaitForWriter | Part::Channel | Part::OneSplit | Part::None => {
            format!("{}: {share} of wall", part.words())
        }
    }
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

/// Whether records travel a few at a time although none of them takes long: then it is the handing over that takes the time, on
/// whichever side that is measured.
fn is_tiny_channel(recording: &Recording, busiest: Share) -> bool {
    let held = recording.run.plan.get("capacity").and_then(|capacity| capacity["records"].as_u64());
    let records = recording.counts().read;
    let slots = recording.tasks.iter().filter_map(|task| task.slot).collect::<HashSet<u32>>().len().max(1);
    matches!(busiest.part, Part::Reader | Part::Writer)
        && busiest.seconds * slots as f64 / (records.max(1) as f64) < QUICK_RECORD
        && held.is_some_and(|held| held < FEW_RECORDS)
}

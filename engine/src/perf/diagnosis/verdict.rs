//! What limited a run: which part, and its share of the time. Not here: what to try (`advice`).

use std::collections::HashSet;

use super::{Limit, Part, PartShare, Skew};
use crate::perf::recording::{LongCall, Recording};

mod advice;

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
/// A recording that ends while nothing has moved for so long, in seconds, is one of a run that stood still.
const STOOD_STILL: f64 = 2.0;

/// What limited a run.
pub(super) fn limit(recording: &Recording, parts: &[PartShare], skew: Option<&Skew>, wall: f64) -> Limit {
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
    let busiest = parts.iter().filter(|part| !is_wait(part.part)).max_by(|a, b| a.share.total_cmp(&b.share)).copied();
    let most = busiest.map_or(0.0, |busiest| busiest.share);
    if let Some(limit) = handing_over(recording, parts, busiest).or_else(|| slots(recording, parts, most)) {
        return limit;
    }
    match busiest.filter(|busiest| busiest.share >= WORTH_NAMING) {
        Some(PartShare { part, share, .. }) => named(part, share, |share| advice::on(recording, part, share)),
        None => named(Part::None, most, |share| format!("nothing stands out: no part took more than {share} of wall")),
    }
}

/// Waiting for the other side is what a side does that is not the limit.
fn is_wait(part: Part) -> bool {
    matches!(part, Part::WaitForReader | Part::WaitForWriter)
}

fn share_of(part: Part, parts: &[PartShare]) -> f64 {
    parts.iter().find(|share| share.part == part).map_or(0.0, |share| share.share)
}

/// The channel, where both sides wait for each other or it holds next to nothing.
fn handing_over(recording: &Recording, parts: &[PartShare], busiest: Option<PartShare>) -> Option<Limit> {
    let most = busiest.map_or(0.0, |busiest| busiest.share);
    let (for_reader, for_writer) = (share_of(Part::WaitForReader, parts), share_of(Part::WaitForWriter, parts));
    if for_reader >= BOTH_WAIT && for_writer >= BOTH_WAIT && most < NOBODY_WORKS {
        return Some(named(Part::Channel, for_reader, advice::on_waiting_for_each_other));
    }
    let is_tiny = busiest.is_some_and(|busiest| is_tiny_channel(recording, busiest));
    is_tiny.then(|| named(Part::Channel, most, advice::on_a_tiny_channel))
}

/// The slots. Who waits in front of the reader does no work: where that takes as long as the reader, more of it would only wait longer.
fn slots(recording: &Recording, parts: &[PartShare], most: f64) -> Option<Limit> {
    let slots = share_of(Part::Slots, parts);
    let is_limit = slots >= WORTH_NAMING && slots >= NEARLY * most;
    is_limit.then(|| named(Part::Slots, slots, |share| advice::on(recording, Part::Slots, share)))
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
        "open" | "splits" | "prepare" | "schema" if is_of(&recording.run.reader) => Part::OpenSource,
        "open" | "prepare" if is_of(&recording.run.writer) => Part::OpenTarget,
        _ if is_of(&recording.run.reader) => Part::Reader,
        _ if is_of(&recording.run.writer) => Part::Writer,
        // What is called for the whole job, reader or writer.
        "prepare" | "schema" => Part::Prepare,
        "post" | "abort" => Part::Commit,
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
    named(Part::OneSplit, skew.longest_seconds / wall.max(1e-9), |share| advice::on_one_split(skew, share))
}

/// Whether records travel a few at a time although none of them takes long: then it is the handing over that takes the time, on
/// whichever side that is measured.
fn is_tiny_channel(recording: &Recording, busiest: PartShare) -> bool {
    let held = recording.run.plan.get("capacity").and_then(|capacity| capacity["records"].as_u64());
    let records = recording.counts().read;
    let slots = recording.tasks.iter().filter_map(|task| task.slot).collect::<HashSet<u32>>().len().max(1);
    matches!(busiest.part, Part::Reader | Part::Writer)
        && busiest.seconds * slots as f64 / (records.max(1) as f64) < QUICK_RECORD
        && held.is_some_and(|held| held < FEW_RECORDS)
}

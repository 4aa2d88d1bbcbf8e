//! A run whose recording ended while it stood still: which call of a plugin it was in.

use super::{Limit, Part};
use crate::perf::recording::{LongCall, Recording};

/// A recording that ends while nothing has moved for so long, in seconds, is one of a run that stood still.
const STOOD_STILL: f64 = 2.0;

/// What is said of such a run.
pub(super) fn standing_still(recording: &Recording, wall: f64) -> Option<Limit> {
    let (still, call) = stall(recording)?;
    let sentence = format!(
        "it stood still: nothing had moved for {still:.0} s when the recording ended, and {} had been in `{}`{} for {:.0} s",
        call.who,
        call.call,
        if call.doing.is_empty() { String::new() } else { format!(" ({})", call.doing) },
        call.seconds
    );
    Some(Limit { part: part_of(recording, call), share: still / wall.max(1e-9), sentence })
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

/// Which part of a run a call belongs to.
fn part_of(recording: &Recording, call: &LongCall) -> Part {
    let is_of = |plugin: &str| call.who.ends_with(plugin);
    match call.call.as_str() {
        "transform" => Part::Transformers,
        "commit" => Part::Commit,
        "open" | "splits" | "prepare" | "schema" if is_of(&recording.run.reader) => Part::OpenSource,
        "open" | "prepare" if is_of(&recording.run.writer) => Part::OpenTarget,
        _ if is_of(&recording.run.reader) => Part::Reader,
        _ if is_of(&recording.run.writer) => Part::Writer,
        // What is called for the whole job, reader or writer.
        "prepare" | "schema" => Part::Prepare,
        "post" | "release" => Part::Post,
        "abort" => Part::Commit,
        _ => Part::Reader,
    }
}

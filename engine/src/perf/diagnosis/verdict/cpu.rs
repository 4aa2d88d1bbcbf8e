//! The CPU as the limit: all of it is used, or threads that could run do not get one.

use super::{Evidence, Limit, Part, advice, named};
use crate::perf::diagnosis::time::CpuSeconds;

/// A run that uses so much of all cores while records move has no more to use.
const ALL_CORES: f64 = 0.85;
/// Threads that could run wait for a CPU for so much of the time where that is the limit.
const STARVING: f64 = 0.25;
/// Parts that are work of a reader's or a writer's threads, and take longer without a CPU.
const WORK: [Part; 5] = [Part::OpenSource, Part::Reader, Part::Transformers, Part::OpenTarget, Part::Writer];

/// The run itself uses nearly all of the machine.
pub(super) fn all_used(evidence: &Evidence<'_>) -> Option<Limit> {
    let cores =
        evidence.recording.run.host.get("cores").and_then(serde_json::Value::as_u64).filter(|cores| *cores > 0)?;
    let share = cpu(evidence).used / (cores as f64 * evidence.spans.moving.max(1e-9));
    let busiest = evidence.busiest_but(&[])?.part;
    let is_limit = share >= ALL_CORES && (WORK.contains(&busiest) || matches!(busiest, Part::Slots | Part::Turn));
    is_limit.then(|| named(Part::Cpu, share, |share| advice::on_all_cores(cores, share)))
}

/// Threads wait for a CPU more than for anything else.
pub(super) fn starving(evidence: &Evidence<'_>) -> Option<Limit> {
    let share = evidence.share_of(Part::Cpu);
    let work: f64 = evidence.spent.iter().map(|spent| spent.at_source() + spent.at_target()).sum();
    let CpuSeconds { used, waited } = cpu(evidence);
    // For the disk, the network, another server.
    let waited_for_others = work - used - waited;
    let is_limit = share >= STARVING && share >= evidence.most_but(&WORK) && waited >= waited_for_others;
    is_limit.then(|| named(Part::Cpu, share, advice::on_starving))
}

/// What all threads had.
fn cpu(evidence: &Evidence<'_>) -> CpuSeconds {
    let sides = evidence.spent.iter().flat_map(|spent| [spent.reader, spent.writer]);
    sides.fold(CpuSeconds::default(), |sum, side| CpuSeconds {
        used: sum.used + side.used,
        waited: sum.waited + side.waited,
    })
}

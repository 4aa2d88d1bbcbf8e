//! What limited a run: which part, and its share of the time. Not here: what to try (`advice`).

use std::collections::HashSet;

use super::time::{Spans, Spent};
use super::{Limit, Part, PartShare, Skew};
use crate::perf::recording::Recording;

mod advice;
mod cpu;
mod stall;

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
/// A target for which tasks wait in turn is the limit if it was busy for so much of the time.
const BUSY_TARGET: f64 = 0.5;
/// Where shares of both sides differ by no more than this…
const ALIKE: f64 = 0.1;
/// …and so much of what was read lies in channels, the writer lags behind: a reader does not wait before they are full.
const LAGS_BEHIND: f64 = 0.1;

/// What there is to judge by.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub recording: &'a Recording,
    pub parts: &'a [PartShare],
    pub spent: &'a [Spent],
    pub skew: Option<&'a Skew>,
    pub spans: Spans,
}

/// What limited a run: the first of the exceptions that holds, or the part that worked, or held work up, for most of the time.
pub(super) fn limit(evidence: &Evidence<'_>) -> Limit {
    let wall = evidence.spans.wall;
    if let Some(limit) = stall::standing_still(evidence.recording, wall) {
        return limit;
    }
    if wall < TOO_SHORT {
        let sentence = format!("it took {:.0} ms: too short to tell what limits it", wall * 1000.0);
        return Limit { part: Part::None, share: 0.0, sentence };
    }
    let exception = evidence
        .tiny_channel()
        .or_else(|| cpu::all_used(evidence))
        .or_else(|| evidence.busy_target())
        .or_else(|| evidence.one_split())
        .or_else(|| cpu::starving(evidence))
        .or_else(|| evidence.waiting_for_each_other())
        .or_else(|| evidence.slots())
        .or_else(|| evidence.lagging_writer());
    exception.unwrap_or_else(|| evidence.largest_part())
}

/// A part with the sentence that is made of its share in percent.
fn named(part: Part, share: f64, words: impl FnOnce(&str) -> String) -> Limit {
    Limit { part, share, sentence: words(&percent(share)) }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share.min(1.0))
}

/// Waiting for the other side is what a side does that is not the limit; waiting for a CPU lies within the work of others.
fn is_wait(part: Part) -> bool {
    matches!(part, Part::WaitForReader | Part::WaitForWriter | Part::Cpu)
}

impl Evidence<'_> {
    fn share_of(&self, part: Part) -> f64 {
        self.parts.iter().find(|share| share.part == part).map_or(0.0, |share| share.share)
    }

    /// The largest of the parts that work or hold work up, but those that are left out.
    fn busiest_but(&self, left_out: &[Part]) -> Option<PartShare> {
        let parts = self.parts.iter().filter(|share| !is_wait(share.part) && !left_out.contains(&share.part));
        parts.max_by(|one, other| one.share.total_cmp(&other.share)).copied()
    }

    fn most_but(&self, left_out: &[Part]) -> f64 {
        self.busiest_but(left_out).map_or(0.0, |busiest| busiest.share)
    }

    fn largest_part(&self) -> Limit {
        match self.busiest_but(&[]).filter(|busiest| busiest.share >= WORTH_NAMING) {
            Some(PartShare { part, share, .. }) => named(part, share, |share| advice::on(self.recording, part, share)),
            None => named(Part::None, self.most_but(&[]), |share| {
                format!("nothing stands out: no part took more than {share} of wall")
            }),
        }
    }

    /// Records travel a few at a time although none of them takes long: then it is the handing over that takes the time, on whichever
    /// side that is measured.
    fn tiny_channel(&self) -> Option<Limit> {
        let busiest = self.busiest_but(&[])?;
        let recording = self.recording;
        let held = recording.run.plan.get("capacity").and_then(|capacity| capacity["records"].as_u64());
        let records = recording.counts().read;
        let slots = recording.tasks.iter().filter_map(|task| task.slot).collect::<HashSet<u32>>().len().max(1);
        let is_tiny = matches!(busiest.part, Part::Reader | Part::Writer)
            && busiest.seconds * slots as f64 / (records.max(1) as f64) < QUICK_RECORD
            && held.is_some_and(|held| held < FEW_RECORDS);
        is_tiny.then(|| named(Part::Channel, busiest.share, advice::on_a_tiny_channel))
    }

    /// The channel, where both sides wait for each other.
    fn waiting_for_each_other(&self) -> Option<Limit> {
        let (for_reader, for_writer) = (self.share_of(Part::WaitForReader), self.share_of(Part::WaitForWriter));
        let is_limit = for_reader >= BOTH_WAIT && for_writer >= BOTH_WAIT && self.most_but(&[]) < NOBODY_WORKS;
        is_limit.then(|| named(Part::Channel, for_reader, advice::on_waiting_for_each_other))
    }

    /// A target that takes few tasks at once: one that waits for its turn says nothing of what the others do with theirs.
    fn busy_target(&self) -> Option<Limit> {
        let at_once = self.recording.run.target_tasks.unwrap_or(1).max(1);
        let busy = self.spent.iter().map(Spent::at_target).sum::<f64>();
        let busy = busy / (f64::from(at_once) * self.spans.wall);
        let others = self.most_but(&[Part::Turn, Part::OpenTarget, Part::Writer, Part::Commit]);
        let is_limit = self.share_of(Part::Turn) >= WORTH_NAMING && busy >= BUSY_TARGET && busy >= others;
        is_limit.then(|| named(Part::Target, busy, |share| advice::on_a_busy_target(self.recording, at_once, share)))
    }

    fn one_split(&self) -> Option<Limit> {
        let skew = self.skew.filter(|skew| skew.ratio >= LONG_SPLIT && skew.idle >= IDLE_SLOTS)?;
        let share = skew.longest_seconds / self.spans.wall.max(1e-9);
        Some(named(Part::OneSplit, share, |share| advice::on_one_split(self.recording, skew, share)))
    }

    /// The slots. Who waits in front of the reader does no work: where that takes as long as the reader, more of it would only wait
    /// longer.
    fn slots(&self) -> Option<Limit> {
        let slots = self.share_of(Part::Slots);
        let is_limit = slots >= WORTH_NAMING && slots >= NEARLY * self.most_but(&[]);
        is_limit.then(|| named(Part::Slots, slots, |share| advice::on(self.recording, Part::Slots, share)))
    }

    /// The writer, where the reader seems to work as much only because its channel still had room.
    fn lagging_writer(&self) -> Option<Limit> {
        let last = self.recording.seconds.last()?;
        let (reader, writer) = (self.share_of(Part::Reader), self.share_of(Part::Writer));
        let is_limit = self.busiest_but(&[])?.part == Part::Reader
            && writer >= WORTH_NAMING
            && reader - writer <= ALIKE
            && last.queued_records as f64 >= LAGS_BEHIND * last.read_records.max(1) as f64;
        is_limit.then(|| named(Part::Writer, writer, |share| advice::on(self.recording, Part::Writer, share)))
    }
}

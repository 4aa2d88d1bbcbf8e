//! A lane: a writer task that is fed by all readers of a job, with the transformers that run before it; or, where lanes come together
//! again, a sender into the one line behind them.

use std::sync::{Arc, Mutex, PoisonError};

use transship_plugin_api::{Kind, Report};

use super::inlet::{Inlet, LaneInlet, MergedInlet, Transforming};
use super::write::{self, Turn};
use super::{Attempt, Counts, Line, Parcel, Role, TaskReport, cancelled};
use crate::cancel::Hook;
use crate::channel::{self, Receiver, Sender, Size};
use crate::error::Failure;
use crate::lanes::Lanes;
use crate::perf::{Perf, Phase, Watch};
use crate::plan::{self, TaskSpec};

/// The line in which lanes come together: where they put what they have done, and whose records they put there last.
pub struct Merging {
    state: Mutex<Merged>,
}

struct Merged {
    sender: Sender<Parcel>,
    has_schema: bool,
    /// The task and the split of the last records.
    source: Option<u32>,
}

/// A line for lanes to come together in, and its other end.
pub fn merging(line: &Line<'_>) -> (Merging, Receiver<Parcel>) {
    let (sender, receiver) = channel::bounded_within(super::capacity(&line.plan), &line.budget);
    (Merging { state: Mutex::new(Merged { sender, has_schema: false, source: None }) }, receiver)
}

impl Merging {
    /// All lanes have done all they had to.
    pub fn end(self) {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).sender.end();
    }
}

/// Runs a lane until all readers have come to their end, or something fails.
pub fn run(line: &Line<'_>, content: usize, lanes: &Arc<Lanes>, lane: usize, merging: Option<&Merging>) -> TaskReport {
    let spec = plan::lane(&line.run, content, lane);
    let attempt = Attempt::new(line, &spec, &line.throttle, 1);
    // One lane that fails fails all: its keys must not go on elsewhere.
    let closing = lanes.clone();
    let _close: Hook = attempt.cancel.on_cancel(move || closing.close());
    line.record_begin(&spec, 1, None);
    let total = Watch::start();
    let mut ended = Ended::default();
    let chain = attempt.chain(line.in_lanes()).map_err(|error| Failure::of(&error, "transformer"));
    match chain {
        Err(failure) => attempt.fail(failure),
        Ok(chain) => {
            let mut inlet = LaneInlet::new(&attempt, chain, lanes, lane);
            // Before it takes keys: a lane that held some while it waits for its turn would keep those who have theirs from the end.
            let turn = match merging {
                Some(_) => Ok(Turn::default()),
                None => Turn::take(&attempt, &mut ended.perf),
            };
            match turn.and_then(|turn| inlet.begin().map(|has_work| (has_work, turn))) {
                Err(failure) => attempt.fail(failure),
                Ok((false, _)) => ended.report = Some(Report::default()),
                Ok((true, turn)) => match merging {
                    Some(merging) => ended.pass_on(&attempt, &mut inlet, merging),
                    None => ended.write(&attempt, &mut inlet, Some(turn)),
                },
            }
            ended.counts.taken_on = inlet.taken_on;
            ended.transformed(inlet.transforming(), total);
        }
    }
    ended.into_report(&spec, attempt, total)
}

/// Runs what stands behind the lanes.
pub fn run_merged(line: &Line<'_>, content: usize, number: usize, receiver: Receiver<Parcel>) -> TaskReport {
    let spec = plan::lane(&line.run, content, number);
    let attempt = Attempt::new(line, &spec, &line.throttle, 1);
    let control = receiver.control();
    let _close: Hook = attempt.cancel.on_cancel(move || control.cancel());
    line.record_begin(&spec, 1, None);
    let total = Watch::start();
    let mut ended = Ended::default();
    match attempt.chain(line.behind_lanes()).map_err(|error| Failure::of(&error, "transformer")) {
        Err(failure) => attempt.fail(failure),
        Ok(chain) => {
            let mut inlet = MergedInlet::new(&attempt, chain, receiver);
            match inlet.is_empty() {
                Err(failure) => attempt.fail(failure),
                Ok(true) => ended.report = Some(Report::default()),
                Ok(false) => ended.write(&attempt, &mut inlet, None),
            }
            ended.counts.taken_on = inlet.taken_on;
            ended.transformed(inlet.transforming(), total);
        }
    }
    ended.into_report(&spec, attempt, total)
}

/// What became of a lane.
#[derive(Default)]
struct Ended {
    counts: Counts,
    perf: Perf,
    report: Option<Report>,
    /// What is at the target for good, whatever became of it.
    safe: Report,
    /// Whether it had a writer task.
    has_written: bool,
}

impl Ended {
    fn write(&mut self, attempt: &Attempt<'_>, inlet: &mut dyn Inlet, turn: Option<Turn>) {
        let written = write::run_with_turn(attempt, inlet, turn);
        self.safe = written.safe;
        self.perf.records.extend(written.perf.records);
        self.counts.dirty_at_writer = written.dirty;
        if let Some(report) = &written.report {
            self.counts.written = report.written;
            self.counts.written_bytes = report.bytes;
            self.counts.duplicates = report.duplicates;
        }
        self.report = written.report;
        self.has_written = true;
    }

    /// Puts everything into the line behind the lanes.
    fn pass_on(&mut self, attempt: &Attempt<'_>, inlet: &mut LaneInlet<'_>, merging: &Merging) {
        match self.pass_all_on(attempt, inlet, merging) {
            Ok(()) => self.report = Some(Report::default()),
            Err(failure) => attempt.fail(failure),
        }
    }

    fn pass_all_on(
        &mut self,
        attempt: &Attempt<'_>,
        inlet: &mut LaneInlet<'_>,
        merging: &Merging,
    ) -> Result<(), Failure> {
        let is_first = attempt.spec.number == 0;
        while let Some(parcel) = inlet.recv()?.0 {
            let size = match &parcel {
                Parcel::Batch(batch) => Size { records: batch.num_rows(), bytes: batch.bytes },
                // Each lane is told of a mark; one of them passes it on.
                Parcel::Mark(_) if !is_first => continue,
                _ => Size::default(),
            };
            let mut merged = merging.state.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(parcel, Parcel::Schema(_)) && std::mem::replace(&mut merged.has_schema, true) {
                continue;
            }
            if size.records > 0 {
                let source = attempt.sources.now();
                if merged.source.replace(source.number) != Some(source.number) {
                    merged.sender.send(Parcel::Source(source), Size::default()).map_err(|_| cancelled())?;
                }
            }
            self.counts.handed_on += size.records as u64;
            merged.sender.send(parcel, size).map_err(|_| cancelled())?;
        }
        Ok(())
    }

    fn transformed(&mut self, transforming: &Transforming<'_>, watch: Watch) {
        let (tally, time) = (transforming.chain.tally(), transforming.time);
        self.counts.added = tally.added;
        self.counts.filtered = tally.filtered;
        self.counts.duplicates += tally.duplicates;
        self.counts.dirty_at_transformers = tally.dirty;
        if !time.is_zero() {
            self.perf.add(Phase::TransformerTime, watch, time, 0, 0);
            super::tell_of_lookups(&mut self.perf, &transforming.chain, watch);
        }
    }

    fn into_report(self, spec: &TaskSpec, attempt: Attempt<'_>, total: Watch) -> TaskReport {
        let line = attempt.line;
        let role = if self.has_written { Role::Lane } else { Role::Passing };
        let mut report = TaskReport { role, attempts: 1, ..TaskReport::of(spec) };
        report.perf.end_with(Phase::TaskTotal, total, self.counts.taken_on, 0);
        report.perf.records.extend(self.perf.records);
        match attempt.into_failure().0 {
            None => {
                report.counts = self.counts;
                report.committed = self.report;
                if report.committed.is_none() {
                    report.failure = Some(Failure::new(Kind::Internal, "the lane ended without a report"));
                }
            }
            Some(failure) => {
                report.aborted = self.counts;
                report.counts.written = self.safe.written;
                report.counts.written_bytes = self.safe.bytes;
                report.counts.duplicates = self.safe.duplicates;
                report.failure = Some(failure.within(super::who(spec)));
            }
        }
        line.record_end(&report, &report.perf, report.failure.as_ref());
        report
    }
}

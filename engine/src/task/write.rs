//! The writing side of an attempt: receive, write, commit or abort.

use std::time::{Duration, Instant};

use transship_plugin_api::{CommitClass, Kind, Mark, Report, WriterTask};

use super::inlet::Inlet;
use super::{Attempt, Commit, Counts, Parcel, cancelled};
use crate::calls::Line as CallLine;
use crate::dirty::Side;
use crate::error::Failure;
use crate::gate::Pass;
use crate::host::TaskHost;
use crate::perf::{Perf, Phase, Watch};

/// What became of the writing side.
#[derive(Default)]
pub(super) struct Writing {
    /// Told at the commit; `None`: the attempt was aborted.
    pub report: Option<Report>,
    /// What is at the target for good since the last checkpoint, whatever becomes of the attempt.
    pub safe: Report,
    pub dirty: u64,
    pub perf: Perf,
    pub commit: Commit,
}

/// What went into the writer task.
#[derive(Default)]
struct Taken {
    records: u64,
    bytes: u64,
    waited: Duration,
    /// What was taken, and was dirty, up to the last checkpoint.
    checked: Checked,
}

#[derive(Default)]
struct Checked {
    records: u64,
    bytes: u64,
    dirty: u64,
    /// The sum of what the writer told at checkpoints.
    report: Report,
}

type Step<T> = Result<T, Failure>;

/// Writes what comes through the channel and commits at its end.
pub(super) fn run(attempt: &Attempt<'_>, inlet: &mut dyn Inlet) -> Writing {
    run_with_turn(attempt, inlet, None)
}

/// The same for who has had its turn at the target already.
pub(super) fn run_with_turn(attempt: &Attempt<'_>, inlet: &mut dyn Inlet, turn: Option<Turn>) -> Writing {
    let mut writing = Writing::default();
    match write(attempt, inlet, turn, &mut writing) {
        Ok(report) => writing.report = Some(report),
        Err(failure) => attempt.fail(failure),
    }
    writing
}

/// The turn at a target that takes only so many tasks, kept until this is dropped.
#[derive(Default)]
pub(super) struct Turn {
    _pass: Option<Pass>,
}

impl Turn {
    /// Waits for it.
    pub(super) fn take(attempt: &Attempt<'_>, perf: &mut Perf) -> Step<Turn> {
        let mut pass = attempt.line.target.as_ref().map(|target| target.pass(&attempt.cancel));
        if let Some(pass) = &mut pass {
            let watch = Watch::start();
            let taken = attempt.times.writer.during(Phase::WaitTurnTime, || pass.take());
            perf.add(Phase::WaitTurnTime, watch, watch.elapsed(), 0, 0);
            taken.map_err(|_| cancelled())?;
            attempt.reach.starts_now();
        }
        Ok(Turn { _pass: pass })
    }
}

fn write(attempt: &Attempt<'_>, inlet: &mut dyn Inlet, turn: Option<Turn>, writing: &mut Writing) -> Step<Report> {
    let line = attempt.line;
    let schema = match receive(attempt, inlet, &mut Taken::default())? {
        Some(Parcel::Schema(schema)) => schema,
        _ => return Err(Failure::new(Kind::Internal, "the first parcel of a channel is the schema")),
    };
    // Readers run ahead while tasks wait for their turn at a target that takes only so many.
    let _turn = match turn {
        Some(turn) => turn,
        None => Turn::take(attempt, &mut writing.perf)?,
    };
    let host = attempt.host(Side::Writer, &line.writer_name);
    let who = format!("{}, {}", super::who(attempt.spec), line.writer_name);
    let calls = line.calls.line_with(who, &attempt.cancel, host.doing.clone());
    inlet.heed(&host);

    attempt.times.writer.enter(Phase::WriteTaskInit);
    let watch = Watch::start();
    let opened = calls.call("open", || line.writer().open(&attempt.info, schema, host.clone()));
    writing.perf.end(Phase::WriteTaskInit, watch);
    let mut task = opened.map_err(|error| Failure::of(&error, &line.writer_name))?;
    let interrupt = task.cancel_handle().map(|interrupt| attempt.cancel.on_cancel(move || interrupt()));

    let result = finish(attempt, inlet, task.as_mut(), &calls, writing, &host);
    writing.dirty = host.dirty_count();
    drop(interrupt);
    // What is visible is not taken back, even if the report of it is refused.
    let visible = writing.commit == Commit::Done && line.writer_info.commit != CommitClass::Atomic;
    if result.is_err() && !visible {
        // Whatever made it fail, the source and the other tasks should know before the cleaning up takes its time.
        attempt.cancel.cancel();
        if let Err(error) = calls.call("abort", || task.abort()) {
            log::warn!("{}: {}: cannot clean up: {error}", super::who(attempt.spec), line.writer_name);
        }
    }
    attempt.times.writer.enter(Phase::WriteTaskDestroy);
    let watch = Watch::start();
    calls.call("release", || drop(task));
    writing.perf.end(Phase::WriteTaskDestroy, watch);
    attempt.times.writer.stop();
    result
}

fn finish(
    attempt: &Attempt<'_>,
    inlet: &mut dyn Inlet,
    task: &mut dyn WriterTask,
    calls: &CallLine,
    writing: &mut Writing,
    host: &TaskHost,
) -> Step<Report> {
    let name = &attempt.line.writer_name;
    let failed = |error: transship_plugin_api::Error| Failure::of(&error, name);

    let times = &attempt.times.writer;
    times.enter(Phase::WriteTaskPrepare);
    let watch = Watch::start();
    let prepared = calls.call("prepare", || task.prepare()).map_err(failed);
    writing.perf.end(Phase::WriteTaskPrepare, watch);
    // A failure is noted before the receiver is dropped, so that nobody takes the echo for the cause.
    prepared.map_err(|failure| note(attempt, failure))?;

    times.enter(Phase::WriteTaskData);
    let watch = Watch::start();
    let mut taken = Taken::default();
    let moved = move_all(attempt, inlet, task, calls, &mut taken, host);
    writing.safe = taken.checked.report.clone();
    writing.perf.end_with(Phase::WriteTaskData, watch, taken.records, taken.bytes);
    writing.perf.add(Phase::WaitReadTime, watch, taken.waited, 0, 0);
    moved.map_err(|failure| note(attempt, failure))?;

    if attempt.is_over() {
        return Err(cancelled());
    }
    times.enter(Phase::WriteTaskPost);
    let watch = Watch::start();
    writing.commit = Commit::Begun;
    let committed = calls.call("commit", || task.commit()).map_err(failed);
    writing.perf.end(Phase::WriteTaskPost, watch);
    let report = committed.map_err(|failure| note(attempt, failure))?;
    writing.commit = Commit::Done;
    let last =
        accept(report, &taken, host.dirty_count()).map_err(|failure| note(attempt, failure.within(name.clone())))?;
    Ok(sum(&taken.checked.report, last))
}

/// What was told at checkpoints and what was told after them.
fn sum(before: &Report, last: Report) -> Report {
    Report {
        written: before.written + last.written,
        duplicates: before.duplicates + last.duplicates,
        bytes: before.bytes + last.bytes,
        detail: last.detail,
    }
}

/// Ends an epoch: what was written so far is safe. A writer that has no checkpoints flushes.
fn checkpoint(
    attempt: &Attempt<'_>,
    task: &mut dyn WriterTask,
    calls: &CallLine,
    epoch: u64,
    taken: &mut Taken,
    dirty: u64,
) -> Step<()> {
    let name = &attempt.line.writer_name;
    let failed = |error: transship_plugin_api::Error| Failure::of(&error, name);
    let Some(report) = calls.call("checkpoint", || task.checkpoint(epoch)).map_err(failed)? else {
        attempt.line.has_no_checkpoints();
        attempt.epochs.forget(epoch);
        return calls.call("flush", || task.flush()).map_err(failed);
    };
    let report = accept(report, taken, dirty).map_err(|failure| failure.within(name.clone()))?;
    taken.checked =
        Checked { records: taken.records, bytes: taken.bytes, dirty, report: sum(&taken.checked.report, report) };
    attempt.epochs.make_safe(epoch, &taken.checked.report, dirty);
    Ok(())
}

fn note(attempt: &Attempt<'_>, failure: Failure) -> Failure {
    attempt.fail(failure.clone());
    failure
}

fn move_all(
    attempt: &Attempt<'_>,
    inlet: &mut dyn Inlet,
    task: &mut dyn WriterTask,
    calls: &CallLine,
    taken: &mut Taken,
    host: &TaskHost,
) -> Step<()> {
    let failed = |error: transship_plugin_api::Error| Failure::of(&error, &attempt.line.writer_name);
    while let Some(parcel) = receive(attempt, inlet, taken)? {
        if attempt.line.dirty.is_over() {
            return Err(cancelled());
        }
        match parcel {
            Parcel::Schema(_) => return Err(Failure::new(Kind::Internal, "the schema came twice")),
            Parcel::Batch(batch) => {
                let (records, bytes, share) = (batch.num_rows() as u64, batch.bytes as u64, batch.read_share);
                host.begins_batch();
                attempt.reach.writes(records, share);
                calls.call("write", || task.write(batch)).map_err(failed)?;
                taken.records += records;
                taken.bytes += bytes;
                attempt.line.progress.written(records);
                attempt.reach.written(share);
            }
            Parcel::Mark(Mark::Flush) => calls.call("flush", || task.flush()).map_err(failed)?,
            Parcel::Source(_) => {}
            Parcel::Mark(Mark::Epoch(number)) => checkpoint(attempt, task, calls, number, taken, host.dirty_count())?,
            Parcel::Mark(mark) => calls.call("mark", || task.mark(mark)).map_err(failed)?,
        }
    }
    Ok(())
}

fn receive(attempt: &Attempt<'_>, inlet: &mut dyn Inlet, taken: &mut Taken) -> Step<Option<Parcel>> {
    let started = Instant::now();
    let (parcel, waited) = match attempt.times.writer.during(Phase::WaitReadTime, || inlet.recv()) {
        Ok((parcel, waited)) => (Ok(parcel), waited),
        Err(failure) => (Err(failure), started.elapsed()),
    };
    if !waited.is_zero() {
        taken.waited += waited;
        attempt.line.progress.waited_for_reader(waited);
    }
    parcel
}

/// Takes a report only if it accounts for every record that the writer task was given since the last checkpoint.
fn accept(mut report: Report, taken: &Taken, dirty: u64) -> Step<Report> {
    let (records, dirty) = (taken.records - taken.checked.records, dirty - taken.checked.dirty);
    let counts = Counts {
        read: records,
        duplicates: report.duplicates,
        dirty_at_writer: dirty,
        written: report.written,
        ..Counts::default()
    };
    if !counts.add_up() {
        let message = format!(
            "the writer was given {} records but reports {} written, {} duplicates and {dirty} dirty: {} are not accounted for",
            records,
            report.written,
            report.duplicates,
            i128::from(records) - i128::from(report.written) - i128::from(report.duplicates) - i128::from(dirty)
        );
        return Err(Failure::new(Kind::Internal, message));
    }
    if report.bytes == 0 {
        report.bytes = taken.bytes - taken.checked.bytes;
    }
    Ok(report)
}

//! The reading side of an attempt: slot, pull, transform, throttle, send.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_schema::SchemaRef;
use serde_json::Value;
use transship_plugin_api::{Batch, DirtyRecord, Host, Item, Kind, Mark, ReaderTask};

use super::outlet::Outlet;
use super::{Attempt, Counts, Line, Parcel, cancelled};
use crate::batch::{BatchLimit, cut};
use crate::calls::Line as CallLine;
use crate::channel::Size;
use crate::dirty::Side;
use crate::error::Failure;
use crate::host::TaskHost;
use crate::perf::{Perf, Phase, Watch};
use crate::slots::Pass;
use crate::transform::{Chain, Tally};

/// How long a reader may wait for its source before it has to say that there is nothing.
const PATIENCE: Duration = Duration::from_millis(100);
/// The same while others wait for its slot.
const PATIENCE_WHEN_CONTENDED: Duration = Duration::from_millis(5);

/// What became of the reading side.
#[derive(Default)]
pub(super) struct Reading {
    pub records: u64,
    pub bytes: u64,
    pub dirty: u64,
    /// Records too large to travel.
    pub oversized: u64,
    pub transformed: Tally,
    /// Records that went into the lanes.
    pub handed_on: u64,
    pub perf: Perf,
    /// The transformers: whether what they did counts is known when the writer has committed.
    pub chain: Chain,
}

/// What the loop carries along.
struct Loop<'a> {
    attempt: &'a Attempt<'a>,
    outlet: Outlet<'a>,
    pass: Pass,
    chain: Chain,
    reading: Reading,
    /// Records sent since the writer was last asked to flush.
    unflushed: bool,
    /// When the epoch began, if epochs are ended here.
    epoch: Option<Instant>,
    /// Whether anything came in it.
    epoch_has_records: bool,
    /// Where the source can go on behind what was read, if it says so.
    position: Option<Value>,
    /// Told of the records that the reader finds dirty.
    host: Arc<TaskHost>,
    /// How many of these the progress was told of.
    dirty_told: u64,
    waited_for_writer: Duration,
    waited_for_limit: Duration,
    transforming: Duration,
    /// Told of the records that the engine itself refuses.
    refused: Arc<TaskHost>,
    /// The calls of the transformers: they run on this thread too, but are not the reader's.
    transformers: Arc<CallLine>,
}

type Step<T> = Result<T, Failure>;

/// Reads the split to its end, or until something fails; the receiving side learns of either.
pub(super) fn run(attempt: &Attempt<'_>, outlet: Outlet<'_>) -> Reading {
    let line = attempt.line;
    // With lanes epochs are those of the whole job.
    let epoch = line.plan.checkpoint.filter(|_| matches!(outlet, Outlet::Channel(_))).map(|_| Instant::now());
    let mut steps = Loop {
        attempt,
        outlet,
        epoch,
        epoch_has_records: false,
        position: None,
        host: attempt.host(Side::Reader, &line.reader_name),
        dirty_told: 0,
        pass: line.share.pass(&attempt.cancel),
        chain: Chain::default(),
        reading: Reading::default(),
        unflushed: false,
        waited_for_writer: Duration::ZERO,
        waited_for_limit: Duration::ZERO,
        transforming: Duration::ZERO,
        refused: attempt.host(Side::Reader, &line.reader_name),
        transformers: line.calls.line(format!("{}, transformers", super::who(attempt.spec)), &attempt.cancel),
    };
    let result = steps.read();
    let Loop { outlet, chain, mut reading, refused, .. } = steps;
    reading.oversized = refused.dirty_count();
    reading.transformed = chain.tally();
    reading.chain = chain;
    reading.handed_on = match result {
        Ok(()) => outlet.end(),
        Err(failure) => outlet.fail(failure.to_string()),
    };
    reading
}

impl Loop<'_> {
    fn read(&mut self) -> Step<()> {
        let attempt = self.attempt;
        let line = attempt.line;
        let host = self.host.clone();
        let who = format!("{}, {}", super::who(attempt.spec), line.reader_name);
        let calls = line.calls.line_with(who, &attempt.cancel, host.doing.clone());

        attempt.times.reader.enter(Phase::ReadTaskInit);
        let watch = Watch::start();
        let open = || line.reader().open(&attempt.spec.split, &attempt.read_options(), host.clone());
        let opened = if attempt.is_over() { Err(cancelled()) } else { calls.call("open", open).map_err(of(line)) };
        self.reading.perf.end(Phase::ReadTaskInit, watch);
        let mut task = opened.inspect_err(|failure| attempt.fail(failure.clone()))?;
        let interrupt = task.cancel_handle().map(|interrupt| attempt.cancel.on_cancel(move || interrupt()));

        // A failure is told before the task is released: that may take its time, and the others should not wait for it.
        let result = self.steps(task.as_mut(), &calls).inspect_err(|failure| attempt.fail(failure.clone()));
        self.pass.give_back();
        attempt.times.reader.enter(Phase::ReadTaskDestroy);
        let watch = Watch::start();
        calls.call("release", || drop(task));
        self.reading.perf.end(Phase::ReadTaskDestroy, watch);
        attempt.times.reader.stop();
        drop(interrupt);
        self.reading.dirty = host.dirty_count();
        result
    }

    /// All calls of a reader task between its making and its release.
    fn steps(&mut self, task: &mut dyn ReaderTask, calls: &CallLine) -> Step<()> {
        let attempt = self.attempt;
        let line = attempt.line;
        let times = &attempt.times.reader;
        times.enter(Phase::ReadTaskPrepare);
        let watch = Watch::start();
        let schema = self.prepare(task, calls);
        self.reading.perf.end(Phase::ReadTaskPrepare, watch);
        self.send(Parcel::Schema(schema?), Size::default())?;

        times.enter(Phase::ReadTaskData);
        let watch = Watch::start();
        let result = self.pull(task, calls);
        let (records, bytes) = (self.reading.records, self.reading.bytes);
        self.reading.perf.end_with(Phase::ReadTaskData, watch, records, bytes);
        self.reading.perf.add(Phase::WaitWriteTime, watch, self.waited_for_writer, 0, 0);
        if self.is_limited() {
            self.reading.perf.add(Phase::WaitLimitTime, watch, self.waited_for_limit, 0, 0);
        }
        if !self.chain.is_empty() {
            self.reading.perf.add(Phase::TransformerTime, watch, self.transforming, 0, 0);
            super::tell_of_lookups(&mut self.reading.perf, &self.chain, watch);
        }
        self.tell_of_slots(watch);
        result?;

        times.enter(Phase::ReadTaskPost);
        let watch = Watch::start();
        let done = calls.call("post", || task.post()).map_err(of(line));
        self.reading.perf.end(Phase::ReadTaskPost, watch);
        done
    }

    /// Has the reader open its split, makes the transformers, and tells what comes out of them.
    fn prepare(&mut self, task: &mut dyn ReaderTask, calls: &CallLine) -> Step<SchemaRef> {
        let (attempt, line) = (self.attempt, self.attempt.line);
        let schema = calls.call("prepare", || task.prepare()).map_err(of(line))?;
        let schema = self.transform(|chain| {
            *chain = attempt.chain(line.at_reader())?;
            chain.schema(schema)
        })?;
        // That is no time in which records are transformed.
        self.transforming = Duration::ZERO;
        Ok(schema)
    }

    /// Pulls items until the end. The slot is taken before each `next` and given back before every wait.
    fn pull(&mut self, task: &mut dyn ReaderTask, calls: &CallLine) -> Step<()> {
        loop {
            if self.attempt.line.drain.is_wished() {
                return self.end_chain();
            }
            let times = &self.attempt.times.reader;
            if self.attempt.is_over() || times.during(Phase::WaitSlotTime, || self.pass.take()).is_err() {
                return Err(cancelled());
            }
            let patience = if self.attempt.line.share.is_contended() { PATIENCE_WHEN_CONTENDED } else { PATIENCE };
            // What a transformer waits for should not wait for the next record of the source.
            let attention = self.chain.patience();
            let patience = attention.map_or(patience, |attention| patience.min(attention));
            let item = calls.call("next", || task.next(patience)).map_err(of(self.attempt.line));
            self.count_dirty();
            let item = item?;
            match item {
                Item::Batch(batch) => self.pass_on(batch)?,
                Item::Mark(Mark::Epoch(number)) => {
                    let message = format!("the reader ended epoch {number}, which only the engine may do");
                    return Err(Failure::new(Kind::Internal, message).within(&self.attempt.line.reader_name));
                }
                Item::Mark(mark) => {
                    self.flush_chain()?;
                    self.send(Parcel::Mark(mark), Size::default())?;
                }
                Item::Idle if attention.is_some() => {
                    self.pass.give_back();
                    self.transform(Chain::poll)?;
                    self.send_transformed()?;
                }
                Item::Idle => self.idle()?,
                Item::End => return self.end_chain(),
            }
            self.end_epoch_if_due(task, calls)?;
            times.during(Phase::WaitSlotTime, || self.pass.yield_now()).map_err(|_| cancelled())?;
        }
    }

    /// How long it had a slot, waited for one, and waited for something else.
    fn tell_of_slots(&mut self, watch: Watch) {
        self.pass.give_back();
        let times = self.pass.times();
        let perf = &mut self.reading.perf;
        let level = self.attempt.line.share.standing().level;
        perf.add(Phase::ScheduledTime, watch, times.scheduled, 0, 0);
        perf.note_level(level);
        perf.add(Phase::WaitSlotTime, watch, times.waiting, 0, 0);
        perf.add(Phase::BlockedTime, watch, times.blocked, 0, 0);
    }

    /// Ends the epoch once it has lasted as long as the job says. What the writer has made safe by then the source may forget.
    fn end_epoch_if_due(&mut self, task: &mut dyn ReaderTask, calls: &CallLine) -> Step<()> {
        let (Some(began), Some(interval)) = (self.epoch, self.attempt.line.plan.checkpoint) else { return Ok(()) };
        if !self.epoch_has_records || began.elapsed() < interval {
            return Ok(());
        }
        self.flush_chain()?;
        let transformed = self.chain.tally();
        let oversized = self.refused.dirty_count();
        let counts = Counts {
            read: self.reading.records + self.host.dirty_count(),
            read_bytes: self.reading.bytes,
            added: transformed.added,
            filtered: transformed.filtered,
            duplicates: transformed.duplicates,
            dirty_at_reader: self.host.dirty_count(),
            dirty_at_transformers: transformed.dirty + oversized,
            ..Counts::default()
        };
        let number = self.attempt.epochs.end(self.position.clone(), counts, self.attempt.reach.share_read());
        self.send(Parcel::Mark(Mark::Epoch(number)), Size::default())?;
        (self.epoch, self.epoch_has_records, self.unflushed) = (Some(Instant::now()), false, false);
        if let Some(position) = self.attempt.epochs.to_acknowledge() {
            calls.call("ack", || task.ack(&position)).map_err(of(self.attempt.line))?;
        }
        Ok(())
    }

    /// Records that the reader found dirty were read as well.
    fn count_dirty(&mut self) {
        let dirty = self.host.dirty_count();
        self.attempt.line.progress.read(dirty - self.dirty_told, 0);
        self.dirty_told = dirty;
    }

    fn pass_on(&mut self, mut batch: Batch) -> Step<()> {
        self.position = batch.position.take();
        self.epoch_has_records = true;
        let (records, bytes) = (batch.num_rows() as u64, batch.bytes as u64);
        if records == 0 {
            return Ok(());
        }
        self.reading.records += records;
        self.reading.bytes += bytes;
        self.unflushed = true;
        self.attempt.line.progress.read(records, bytes);
        self.attempt.reach.read(records, bytes, batch.read_share.take());
        self.attempt.line.dirty.read(records);
        if self.chain.is_empty() {
            return self.send_batch(batch);
        }
        self.chain.put(batch);
        self.send_transformed()
    }

    /// Sends what comes out of the transformers, batch by batch: those that make records longer must not fill the memory.
    fn send_transformed(&mut self) -> Step<()> {
        while let Some(batch) = self.transform(Chain::next_batch)? {
            self.send_batch(batch)?;
        }
        Ok(())
    }

    /// Calls the transformers and adds up how long that takes.
    fn transform<T>(&mut self, call: impl FnOnce(&mut Chain) -> transship_plugin_api::Result<T>) -> Step<T> {
        // Whoever asks somebody else may wait for the answer.
        if self.chain.may_wait() {
            self.pass.give_back();
        }
        let started = Instant::now();
        let times = &self.attempt.times.reader;
        let result =
            times.during(Phase::TransformerTime, || self.transformers.call("transform", || call(&mut self.chain)));
        self.transforming += started.elapsed();
        result.map_err(|error| Failure::of(&error, "transformer"))
    }

    fn flush_chain(&mut self) -> Step<()> {
        if self.chain.is_empty() {
            return Ok(());
        }
        self.chain.put_flush();
        self.send_transformed()
    }

    fn end_chain(&mut self) -> Step<()> {
        // Of a stream that is stopped nobody rests before another attempt.
        if self.attempt.line.drain.is_wished() {
            self.chain.put_end();
        } else {
            self.chain.put_flush();
        }
        self.send_transformed()
    }

    /// The source has nothing: what came so far should not wait for what comes next.
    fn idle(&mut self) -> Step<()> {
        self.pass.give_back();
        if self.unflushed {
            self.flush_chain()?;
            self.send(Parcel::Mark(Mark::Flush), Size::default())?;
            self.unflushed = false;
        }
        Ok(())
    }

    fn send_batch(&mut self, batch: Batch) -> Step<()> {
        let capacity = self.outlet.capacity();
        let limit = BatchLimit { records: capacity.records.get(), bytes: capacity.bytes.get() };
        let pieces = cut(batch, limit).map_err(|error| Failure::of(&error, &self.attempt.line.reader_name))?;
        let last = pieces.len() - 1;
        for (place, mut piece) in pieces.into_iter().enumerate() {
            if piece.bytes > self.attempt.line.plan.max_record_bytes && piece.num_rows() == 1 {
                self.refuse(&piece)?;
                continue;
            }
            let size = Size { records: piece.num_rows(), bytes: piece.bytes };
            self.throttle(size)?;
            if matches!(self.outlet, Outlet::Channel(_)) {
                let share = self.attempt.reach.sent();
                piece.read_share = (place == last).then_some(share);
            }
            self.send(Parcel::Batch(piece), size)?;
        }
        Ok(())
    }

    /// A record too large for any channel is dirty. Its value is not kept: it would not fit there either.
    fn refuse(&mut self, piece: &Batch) -> Step<()> {
        let cause = format!(
            "the record has {} bytes, more than the {} that a record may have",
            piece.bytes, self.attempt.line.plan.max_record_bytes
        );
        let record = DirtyRecord { position: Some(piece.origin.position(0)), cause: &cause, ..DirtyRecord::default() };
        self.refused.dirty(&record).map_err(of(self.attempt.line))
    }

    fn is_limited(&self) -> bool {
        !(self.attempt.line.throttle.is_unlimited() && self.attempt.limit.is_unlimited())
    }

    /// Waits for the limit of the channel, then for that of the job.
    fn throttle(&mut self, size: Size) -> Step<()> {
        if !self.is_limited() {
            return Ok(());
        }
        self.pass.give_back();
        for throttle in [self.attempt.limit, &self.attempt.line.throttle] {
            let wait = || throttle.take(size, &self.attempt.cancel).map_err(|_| cancelled());
            let waited = self.attempt.times.reader.during(Phase::WaitLimitTime, wait)?;
            self.attempt.line.progress.waited_for_limit(waited);
            self.waited_for_limit += waited;
        }
        Ok(())
    }

    fn send(&mut self, parcel: Parcel, size: Size) -> Step<()> {
        let started = Instant::now();
        let times = &self.attempt.times.reader;
        let before_wait = || {
            self.pass.give_back();
            times.enter(Phase::WaitWriteTime);
        };
        let (sent, waited) = match self.outlet.send(parcel, size, before_wait) {
            Ok(waited) => (Ok(()), waited),
            Err(failure) => (Err(failure), started.elapsed()),
        };
        if !waited.is_zero() {
            times.enter(Phase::ReadTaskData);
            self.waited_for_writer += waited;
            self.attempt.line.progress.waited_for_writer(waited);
        }
        sent
    }
}

/// What the reader answered, as a failure.
fn of<'a>(line: &'a Line<'_>) -> impl Fn(transship_plugin_api::Error) -> Failure + use<'a> {
    |error| Failure::of(&error, &line.reader_name)
}

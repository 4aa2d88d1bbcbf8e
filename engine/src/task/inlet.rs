//! Where the writing side gets its parcels from: a channel, the lanes' common queue, or the line in which lanes come together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use transship_plugin_api::{Kind, Mark};

use super::{Attempt, Parcel, cancelled};
use crate::calls::Line as CallLine;
use crate::channel::Receiver;
use crate::error::Failure;
use crate::host::{Source, TaskHost};
use crate::keys::Closed;
use crate::lanes::{Job, Lanes, Work};
use crate::perf::Phase;
use crate::transform::Chain;

/// Where parcels come from: the schema first, then batches and marks, then the end.
pub(super) trait Inlet {
    /// The next parcel, and how long it took to come; `None` is the end.
    ///
    /// # Errors
    /// When somebody gave up, or a transformer on the way failed.
    fn recv(&mut self) -> Result<(Option<Parcel>, Duration), Failure>;

    /// Tells it the writer's host, before the first batch.
    fn heed(&mut self, host: &Arc<TaskHost>) {
        let _ = host;
    }
}

impl Inlet for Receiver<Parcel> {
    fn recv(&mut self) -> Result<(Option<Parcel>, Duration), Failure> {
        // Whoever closed the channel has said why already.
        Receiver::recv(self).map_err(|_| cancelled())
    }
}

/// The transformers on a thread of their own, behind which batches come out one by one.
pub(super) struct Transforming<'a> {
    attempt: &'a Attempt<'a>,
    pub(super) chain: Chain,
    calls: Arc<CallLine>,
    /// How long they took.
    pub(super) time: Duration,
}

impl<'a> Transforming<'a> {
    fn new(attempt: &'a Attempt<'a>, chain: Chain) -> Transforming<'a> {
        let calls = attempt.line.calls.line(format!("{}, transformers", super::who(attempt.spec)), &attempt.cancel);
        Transforming { attempt, chain, calls, time: Duration::ZERO }
    }

    fn call<T>(&mut self, call: impl FnOnce(&mut Chain) -> transship_plugin_api::Result<T>) -> Result<T, Failure> {
        let started = Instant::now();
        let times = &self.attempt.times.writer;
        let result = times.during(Phase::TransformerTime, || self.calls.call("transform", || call(&mut self.chain)));
        self.time += started.elapsed();
        let failure = result.map_err(|error| Failure::of(&error, "transformer"));
        failure.inspect_err(|failure| self.attempt.fail(failure.clone()))
    }
}

/// What a lane takes, behind the transformers that run in it. Whatever it takes is followed by a flush; when the next parcel is asked
/// for, that is done, and its keys are given back.
pub(super) struct LaneInlet<'a> {
    lanes: &'a Lanes,
    lane: usize,
    transforming: Transforming<'a>,
    has_told_schema: bool,
    /// A mark that came before all records.
    first_mark: Option<Mark>,
    stage: Stage,
    work: Option<Work>,
    host: Option<Arc<TaskHost>>,
    /// When work began on each record of what was taken, as far as that is known.
    started: Option<Vec<u64>>,
    /// Records taken over from the readers.
    pub(super) taken_on: u64,
}

/// How far a lane is with what it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has nothing.
    Idle,
    /// More batches may come out.
    Giving {
        /// Whether one came out already.
        has_given: bool,
    },
    Flushed,
}

impl<'a> LaneInlet<'a> {
    pub(super) fn new(attempt: &'a Attempt<'a>, chain: Chain, lanes: &'a Lanes, lane: usize) -> LaneInlet<'a> {
        LaneInlet {
            lanes,
            lane,
            transforming: Transforming::new(attempt, chain),
            has_told_schema: false,
            first_mark: None,
            stage: Stage::Idle,
            work: None,
            host: None,
            started: None,
            taken_on: 0,
        }
    }

    /// Waits until there is something to do. `false`: all is done, and no record ever came.
    pub(super) fn begin(&mut self) -> Result<bool, Failure> {
        match self.take()? {
            (None, _) => Ok(self.lanes.schema().is_some()),
            (Some(mark), _) => {
                self.first_mark = mark;
                Ok(true)
            }
        }
    }

    /// The transformers that its records go through.
    pub(super) fn transforming(&self) -> &Transforming<'a> {
        &self.transforming
    }

    /// Gives back what is done, and takes what comes next: a mark comes back, work is begun.
    fn take(&mut self) -> Result<(Option<Option<Mark>>, Duration), Failure> {
        let mut done = self.work.take();
        if let Some(done) = &mut done {
            self.lanes.count_waits(self.lane, done, self.started.take().as_deref());
        }
        self.stage = Stage::Idle;
        let (job, waited) = self.lanes.next(self.lane, done).map_err(|Closed| cancelled())?;
        let mark = match job {
            Job::End => return Ok((None, waited)),
            Job::Mark(mark) => Some(mark),
            Job::Work(work) => {
                self.taken_on += work.records() as u64;
                self.transforming.attempt.sources.turn_to(work.source.clone());
                self.stage = Stage::Giving { has_given: false };
                self.work = Some(work);
                None
            }
        };
        Ok((Some(mark), waited))
    }

    /// The next batch of what was taken.
    fn give(&mut self, has_given: bool) -> Result<Option<Parcel>, Failure> {
        let Some(work) = &self.work else { return Ok(None) };
        if self.transforming.chain.is_empty() {
            self.stage = if has_given { Stage::Flushed } else { Stage::Giving { has_given: true } };
            return match has_given {
                true => Ok(self.flush()),
                false => Ok(Some(Parcel::Batch(work.batch().map_err(wrong)?))),
            };
        }
        if !has_given {
            let batch = work.batch().map_err(wrong)?;
            self.transforming.chain.put(batch);
            self.transforming.chain.put_flush();
        }
        let batch = self.transforming.call(Chain::next_batch)?;
        self.stage = if batch.is_some() { Stage::Giving { has_given: true } } else { Stage::Flushed };
        Ok(batch.map(Parcel::Batch).or_else(|| self.flush()))
    }

    /// Behind what was taken. Where lanes come together again it waits in a line, and needs none.
    fn flush(&self) -> Option<Parcel> {
        (!self.lanes.merges()).then_some(Parcel::Mark(Mark::Flush))
    }

    /// Work has been handed to the writer and flushed: when did each record begin? Only where they are still the same records.
    fn note_started(&mut self) {
        let (Some(host), Some(work)) = (&self.host, &self.work) else { return };
        let started = host.take_started(work.records());
        self.started = started.filter(|_| self.transforming.chain.is_empty());
    }
}

impl Inlet for LaneInlet<'_> {
    fn recv(&mut self) -> Result<(Option<Parcel>, Duration), Failure> {
        if !self.has_told_schema {
            let schema =
                self.lanes.schema().ok_or_else(|| Failure::new(Kind::Internal, "a lane began without a schema"))?;
            self.has_told_schema = true;
            let schema = self.transforming.call(|chain| chain.schema(schema))?;
            return Ok((Some(Parcel::Schema(schema)), Duration::ZERO));
        }
        if let Some(mark) = self.first_mark.take() {
            return Ok((Some(Parcel::Mark(mark)), Duration::ZERO));
        }
        let mut waited = Duration::ZERO;
        loop {
            if let Stage::Giving { has_given } = self.stage
                && let Some(parcel) = self.give(has_given)?
            {
                return Ok((Some(parcel), waited));
            }
            self.note_started();
            let (taken, time) = self.take()?;
            waited += time;
            match taken {
                None => return Ok((None, waited)),
                Some(Some(mark)) => return Ok((Some(Parcel::Mark(mark)), waited)),
                Some(None) => {}
            }
        }
    }

    fn heed(&mut self, host: &Arc<TaskHost>) {
        self.host = Some(host.clone());
    }
}

/// What comes out of all lanes, behind the transformers that follow them. Before the records of another source come, everything is
/// flushed: what the writer finds dirty must be one of those that it was given last.
pub(super) struct MergedInlet<'a> {
    receiver: Receiver<Parcel>,
    transforming: Transforming<'a>,
    /// Whose records come next, once those before are flushed.
    next_source: Option<Arc<Source>>,
    is_giving: bool,
    /// What waits behind the batches that come out of the transformers.
    mark: Option<Mark>,
    /// What was looked at already.
    first: Option<Parcel>,
    has_ended: bool,
    pub(super) taken_on: u64,
}

impl<'a> MergedInlet<'a> {
    pub(super) fn new(attempt: &'a Attempt<'a>, chain: Chain, receiver: Receiver<Parcel>) -> MergedInlet<'a> {
        let transforming = Transforming::new(attempt, chain);
        MergedInlet {
            receiver,
            transforming,
            next_source: None,
            is_giving: false,
            mark: None,
            first: None,
            has_ended: false,
            taken_on: 0,
        }
    }

    /// Waits for the first parcel. `true`: nothing ever came.
    pub(super) fn is_empty(&mut self) -> Result<bool, Failure> {
        self.first = Inlet::recv(&mut self.receiver)?.0;
        Ok(self.first.is_none())
    }

    /// The transformers behind the lanes.
    pub(super) fn transforming(&self) -> &Transforming<'a> {
        &self.transforming
    }
}

impl Inlet for MergedInlet<'_> {
    fn recv(&mut self) -> Result<(Option<Parcel>, Duration), Failure> {
        let mut waited = Duration::ZERO;
        loop {
            if self.is_giving {
                if let Some(batch) = self.transforming.call(Chain::next_batch)? {
                    return Ok((Some(Parcel::Batch(batch)), waited));
                }
                self.is_giving = false;
            }
            if let Some(mark) = self.mark.take() {
                return Ok((Some(Parcel::Mark(mark)), waited));
            }
            if let Some(source) = self.next_source.take() {
                self.transforming.attempt.sources.turn_to(source);
            }
            let (parcel, time) = match self.first.take() {
                Some(first) => (Some(first), Duration::ZERO),
                None => Inlet::recv(&mut self.receiver)?,
            };
            waited += time;
            match parcel {
                None if self.has_ended => return Ok((None, waited)),
                None => {
                    self.has_ended = true;
                    self.transforming.chain.put_flush();
                    self.is_giving = true;
                }
                Some(Parcel::Schema(schema)) => {
                    let schema = self.transforming.call(|chain| chain.schema(schema))?;
                    return Ok((Some(Parcel::Schema(schema)), waited));
                }
                Some(Parcel::Batch(batch)) => {
                    self.taken_on += batch.num_rows() as u64;
                    self.transforming.chain.put(batch);
                    self.is_giving = true;
                }
                Some(Parcel::Source(source)) => {
                    self.next_source = Some(source);
                    self.mark = Some(Mark::Flush);
                    self.transforming.chain.put_flush();
                    self.is_giving = true;
                }
                Some(Parcel::Mark(mark)) => {
                    self.mark = Some(mark);
                    self.transforming.chain.put_flush();
                    self.is_giving = true;
                }
            }
        }
    }
}

fn wrong(error: transship_plugin_api::Error) -> Failure {
    Failure::of(&error, "the lanes of \"order\"")
}

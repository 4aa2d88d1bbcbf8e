//! Delivers the events of a replay when they are due.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arrow_array::{FixedSizeBinaryArray, Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::SchemaRef;
use transship_plugin_api::{Batch, CancelHandle, Error, HostRef, Item, Origin, ReadOptions, ReaderTask, Result};

use super::config::ReplayConfig;
use super::events::{Event, Events};
use crate::pause::Pause;

/// Three numbers and an id.
pub(super) const EVENT_BYTES: usize = 3 * size_of::<i64>() + size_of::<[u8; 16]>();

/// When the events of a replay that takes no time were made: 2024-01-01 00:00:00 UTC and later. So they are the same in every run.
const FIXED_BEGINNING: i64 = 1_704_067_200_000_000;

pub(super) struct ReplayTask {
    line: Line,
    host: HostRef,
    pause: Pause,
    in_real_time: bool,
    /// Set when the first event is asked for.
    beginning: Option<Beginning>,
    schema: SchemaRef,
    /// How many events were delivered before this attempt began, and by now.
    skipped: u64,
    delivered: u64,
    /// About how many there will be.
    deliveries: Option<u64>,
}

/// The moment from which a replay counts.
#[derive(Debug, Clone, Copy)]
struct Beginning {
    instant: Instant,
    /// What had passed of the replay by then: an attempt that goes on somewhere begins with an event that is due at once.
    passed: u64,
    /// Microseconds since 1970 at the replay's own beginning.
    micros: i64,
}

impl Beginning {
    /// How much of the replay has passed by now, in nanoseconds.
    fn elapsed(self) -> u64 {
        let since = u64::try_from(self.instant.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.passed.saturating_add(since)
    }
}

impl ReplayTask {
    pub(super) fn new(
        config: &ReplayConfig,
        events: Events,
        delivered: u64,
        options: &ReadOptions,
        host: HostRef,
    ) -> ReplayTask {
        let most = options.batch_records.min(options.batch_bytes / EVENT_BYTES).max(1);
        let linger = u64::try_from(config.linger.as_nanos()).unwrap_or(u64::MAX);
        let one_by_one = linger == 0 && config.in_real_time;
        ReplayTask {
            line: Line::new(events, linger, if one_by_one { 1 } else { most }),
            host,
            pause: Pause::default(),
            in_real_time: config.in_real_time,
            beginning: None,
            schema: super::schema(),
            skipped: delivered,
            delivered,
            deliveries: config.deliveries(),
        }
    }

    fn beginning(&mut self) -> Beginning {
        *self.beginning.get_or_insert_with(|| {
            let passed = if self.skipped > 0 { self.line.events.next_due().unwrap_or(0) } else { 0 };
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let micros = match self.in_real_time {
                true => now.as_micros() as i64 - (passed / 1_000) as i64,
                false => FIXED_BEGINNING,
            };
            Beginning { instant: Instant::now(), passed, micros }
        })
    }

    fn batch(&mut self, beginning: Beginning) -> Result<Item> {
        let events = std::mem::take(&mut self.line.waiting);
        if events.is_empty() {
            return Ok(Item::End);
        }
        let longs = |value: fn(&Event) -> i64| ScalarBuffer::from(events.iter().map(value).collect::<Vec<_>>());
        let micros = events.iter().map(|event| beginning.micros.saturating_add((event.created / 1_000) as i64));
        let micros = ScalarBuffer::from(micros.collect::<Vec<_>>());
        let ids: Vec<u8> = events.iter().flat_map(|event| event.id).collect();
        let records = RecordBatch::try_new(
            self.schema.clone(),
            vec![
                Arc::new(Int64Array::new(longs(|event| event.client), None)),
                Arc::new(FixedSizeBinaryArray::try_new(16, Buffer::from_vec(ids), None)?),
                Arc::new(TimestampMicrosecondArray::new(micros, None).with_timezone("UTC")),
                Arc::new(Int64Array::new(longs(|event| event.sequence), None)),
            ],
        )?;
        let mut batch = Batch::new(records, events.len() * EVENT_BYTES, Origin::from(self.delivered));
        self.delivered += events.len() as u64;
        batch.position = Some(self.delivered.into());
        batch.read_share = self.deliveries.map(|all| (self.delivered as f64 / all as f64).min(1.0));
        Ok(Item::Batch(batch))
    }
}

impl ReaderTask for ReplayTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        for _ in 0..self.skipped {
            if self.line.events.next_by(u64::MAX).is_none() {
                return Err(Error::internal(format!("the replay has fewer than {} events", self.skipped)));
            }
        }
        Ok(self.schema.clone())
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        if self.host.is_cancelled() {
            return Err(Error::cancelled());
        }
        let beginning = self.beginning();
        if !self.in_real_time {
            self.line.look(u64::MAX);
            return self.batch(beginning);
        }
        let patience = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let until = beginning.elapsed().saturating_add(patience);
        loop {
            let now = beginning.elapsed();
            match self.line.look(now) {
                Sight::Ready => return self.batch(beginning),
                Sight::Later(_) if now >= until && self.line.waiting.is_empty() => return Ok(Item::Idle),
                Sight::Later(_) if now >= until => return self.batch(beginning),
                Sight::Later(moment) => {
                    self.pause.wait(Duration::from_nanos(moment.min(until) - now), self.host.as_ref())?;
                }
            }
        }
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.pause.cancel_handle())
    }
}

/// The events that are due, until they travel.
#[derive(Debug)]
pub(super) struct Line {
    events: Events,
    waiting: Vec<Event>,
    /// How long the oldest may wait, in nanoseconds.
    linger: u64,
    /// How many travel together at most.
    most: usize,
}

/// What there is to do at some moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// What waits shall travel now; nothing waits where there is nothing to come either.
    Ready,
    /// Look again at this moment.
    Later(u64),
}

impl Line {
    pub(super) fn new(events: Events, linger: u64, most: usize) -> Line {
        Line { events, waiting: Vec::new(), linger, most }
    }

    /// Lets what is due by now line up, and says whether it shall travel.
    pub(super) fn look(&mut self, now: u64) -> Sight {
        while self.waiting.len() < self.most
            && let Some(event) = self.events.next_by(now)
        {
            self.waiting.push(event);
        }
        let (oldest, next) = (self.waiting.first(), self.events.next_due());
        match (oldest.map(|event| event.due.saturating_add(self.linger)), next) {
            _ if self.waiting.len() == self.most => Sight::Ready,
            (_, None) => Sight::Ready,
            (Some(at_the_latest), _) if at_the_latest <= now => Sight::Ready,
            (Some(at_the_latest), _) => Sight::Later(at_the_latest),
            (None, Some(next)) => Sight::Later(next),
        }
    }

    /// What has lined up.
    #[cfg(test)]
    pub(super) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.waiting)
    }
}

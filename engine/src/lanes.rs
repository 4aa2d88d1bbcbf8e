//! What stands between the readers of a job and its lanes, where records are kept in order by key: batches come in, are taken apart by
//! key, and go out as batches for a lane. Here are the memory they take, whose records they are, and how long each waited.
//! Not here: which key goes to which lane (`keys`), and what a lane does with its records (`task`).

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use arrow_schema::SchemaRef;
use transship_plugin_api::{Batch, Error, Mark, Result};

use crate::clock::{Clock, SystemClock};
use crate::host::Source;
use crate::keys::{Closed, Gauge, Hand, KeyExtractor, KeyScheduler, Turn};
use crate::latency::Latencies;
use crate::transform::OrderSetting;

mod lot;
mod waits;
mod weight;

use lot::{Lot, Lots, Part};
use weight::Weight;

/// Everything between the readers and the lanes of a job.
pub struct Lanes {
    scheduler: KeyScheduler<Record>,
    setting: Arc<OrderSetting>,
    count: NonZeroUsize,
    /// Records that a lane takes at once, and the bytes that these may have.
    batch: (usize, usize),
    weight: Arc<Weight>,
    lots: Lots,
    /// Whether what lanes have done waits in a line behind them, so that a flush has to go there.
    merges: bool,
    /// What one record weighed lately.
    record_bytes: AtomicUsize,
    /// Whether records came since the last epoch was ended.
    has_news: AtomicBool,
    entry: Mutex<Entry>,
    /// Who feeds, by the number of its group.
    sources: Mutex<Vec<Arc<Source>>>,
    clock: SystemClock,
    /// The clock's beginning, since 1970.
    beginning: Duration,
    /// Of each lane, since somebody asked last; and what was told before.
    latencies: Vec<Mutex<Latencies>>,
    told: Mutex<Latencies>,
}

/// A record that waits: a row of a batch.
#[derive(Debug, Clone, Copy)]
struct Record {
    lot: u32,
    row: u32,
}

/// What is known once the first reader has told its columns.
#[derive(Default)]
struct Entry {
    columns: Option<Arc<Columns>>,
    watermarks: Vec<(u32, Option<i64>)>,
    passed: Option<i64>,
}

struct Columns {
    schema: SchemaRef,
    keys: KeyExtractor,
    created: Option<usize>,
}

/// A reader's way in.
pub struct Feeder<'a> {
    lanes: &'a Lanes,
    group: u32,
}

/// What a lane has to do next.
pub enum Job {
    /// Records of one source.
    Work(Work),
    /// All that came before this mark is done.
    Mark(Mark),
    /// All is done.
    End,
}

/// Records that a lane has taken.
pub struct Work {
    hand: Hand<Record>,
    /// The batches that its records are of.
    parts: Vec<Part>,
    pub source: Arc<Source>,
    /// When it was handed to the lane.
    handed: Duration,
}

/// Why records were not taken in.
pub enum Refused {
    /// Somebody gave up, and has said why.
    Closed,
    /// They are not as they should be.
    Wrong(Error),
}

impl Lanes {
    /// So many lanes, whose batches have at most so many records and bytes; so many bytes may wait.
    pub fn new(setting: Arc<OrderSetting>, count: NonZeroUsize, batch: (usize, usize), bytes: NonZeroUsize) -> Lanes {
        let records = setting.batch.map_or(batch.0, NonZeroUsize::get);
        let clock = SystemClock::new();
        Lanes {
            scheduler: KeyScheduler::new(count, setting.dispatch(count), setting.capacity),
            count,
            batch: (records, batch.1),
            weight: Arc::new(Weight::new(setting.byte_capacity.unwrap_or(bytes))),
            lots: Lots::default(),
            merges: false,
            record_bytes: AtomicUsize::new(1),
            has_news: AtomicBool::new(false),
            entry: Mutex::default(),
            sources: Mutex::default(),
            clock,
            beginning: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
            latencies: (0..count.get()).map(|_| Mutex::default()).collect(),
            told: Mutex::default(),
            setting,
        }
    }

    /// The lanes come together again.
    pub fn merging(self) -> Lanes {
        Lanes { merges: true, ..self }
    }

    /// Whether they do.
    pub fn merges(&self) -> bool {
        self.merges
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// A way in for a reader.
    pub fn feeder(&self, source: Arc<Source>) -> Feeder<'_> {
        let mut sources = unpoisoned(&self.sources);
        sources.push(source);
        let group = (sources.len() - 1) as u32;
        self.entry().watermarks.push((group, None));
        Feeder { lanes: self, group }
    }

    /// What records look like; it is known to whoever has got one.
    pub fn schema(&self) -> Option<SchemaRef> {
        self.entry().columns.as_ref().map(|columns| columns.schema.clone())
    }

    /// What a lane has to do next; it waits for that, and tells how long. `done` is what it has done.
    ///
    /// # Errors
    /// When somebody gave up.
    pub fn next(&self, lane: usize, done: Option<Work>) -> std::result::Result<(Job, Duration), Closed> {
        let weight = self.record_bytes.load(Ordering::Relaxed).max(1);
        let records = (self.batch.1 / weight).clamp(1, self.batch.0);
        let done = done.map(|work| {
            self.lots.done(work.parts);
            work.hand
        });
        let (turn, waited) = self.scheduler.next(lane, records, done, || self.clock.now())?;
        let job = match turn {
            Turn::End => Job::End,
            Turn::Mark(mark) => Job::Mark(mark),
            Turn::Work(hand) => {
                let group = hand.entries.first().map_or(0, |entry| entry.group as usize);
                let source = unpoisoned(&self.sources)[group].clone();
                let parts = self.lots.of(&hand);
                Job::Work(Work { hand, parts, source, handed: self.clock.now() })
            }
        };
        Ok((job, waited))
    }

    /// All readers have come to their end.
    pub fn end(&self) {
        self.scheduler.end();
    }

    /// Ends an epoch of all lanes, behind what was put in.
    /// One in which nothing came is not ended.
    pub fn epoch(&self, number: u64) {
        if self.has_news.swap(false, Ordering::Relaxed) {
            self.scheduler.mark(Mark::Epoch(number));
        }
    }

    /// Gives up: nothing more goes in or out.
    pub fn close(&self) {
        self.scheduler.close();
        self.weight.close();
    }

    /// What waits.
    pub fn gauge(&self) -> Gauge {
        self.scheduler.gauge()
    }

    /// How long records waited since somebody asked last, and ever.
    pub fn waits(&self) -> (Latencies, Latencies) {
        let mut told = unpoisoned(&self.told);
        let mut lately = Latencies::default();
        for of_lane in &self.latencies {
            lately.add(&std::mem::take(&mut *unpoisoned(of_lane)));
        }
        told.add(&lately);
        (lately, told.clone())
    }

    /// How they are set, in a few words.
    pub fn setting(&self) -> String {
        let lanes = if self.count() == 1 { "lane" } else { "lanes" };
        format!("{} {lanes}, at most {} records wait", self.count, self.setting.capacity)
    }

    fn entry(&self) -> MutexGuard<'_, Entry> {
        unpoisoned(&self.entry)
    }
}

impl Feeder<'_> {
    /// Tells what the records look like. All readers of a job have to agree.
    ///
    /// # Errors
    /// When they do not, or a column of the key is not there.
    pub fn schema(&self, schema: &SchemaRef) -> Result<()> {
        let setting = &self.lanes.setting;
        let mut entry = self.lanes.entry();
        if let Some(columns) = &entry.columns {
            let names = |schema: &SchemaRef| {
                let fields = schema.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type()));
                fields.collect::<Vec<_>>().join(", ")
            };
            // Whether NULLs may be there makes no difference: a batch of a lane is of one split alone.
            if names(&columns.schema) == names(schema) {
                return Ok(());
            }
            return Err(Error::schema(format!(
                "the splits have different columns, and the lanes of \"order\" take only one kind: {} and {}",
                names(&columns.schema),
                names(schema)
            )));
        }
        let keys = KeyExtractor::new(schema, setting.key(schema)?, setting.nulls_are_one)?;
        entry.columns = Some(Arc::new(Columns { schema: schema.clone(), keys, created: setting.created(schema)? }));
        Ok(())
    }

    /// Puts the records of a batch in, each as soon as there is room; tells how long that took to come. `before_wait` runs before
    /// each wait: who holds something that others wait for gives it back there.
    ///
    /// # Errors
    /// When somebody gave up, or the batch is malformed.
    pub fn batch(&self, batch: Batch, before_wait: &mut dyn FnMut()) -> std::result::Result<Duration, Refused> {
        let lanes = self.lanes;
        let columns = lanes.entry().columns.clone();
        let columns = columns.ok_or_else(|| Refused::Wrong(Error::internal("a batch came before its schema")))?;
        let rows = batch.num_rows();
        lanes.record_bytes.store(batch.bytes / rows.max(1), Ordering::Relaxed);
        let (load, waited) = lanes.weight.take(batch.bytes, before_wait).map_err(|Closed| Refused::Closed)?;
        let lot = Lot::new(batch, columns.created, load).map_err(Refused::Wrong)?;
        let keys = columns.keys.of(&lot.records).map_err(Refused::Wrong)?;
        if rows == 0 {
            return Ok(waited);
        }
        lanes.has_news.store(true, Ordering::Relaxed);
        let lot = lanes.lots.put(lot);
        let record = |row: usize| Record { lot, row: row as u32 };
        let now = || lanes.clock.now();
        let entered = lanes.scheduler.enter(rows, |row| keys.key(row), record, self.group, now, before_wait);
        entered.map(|more| waited + more).map_err(|Closed| Refused::Closed)
    }

    /// A mark behind what was put in. A watermark counts once all readers that are open have passed it. Lanes flush whenever they
    /// have done with what they took, so that a flush is nothing to them; only what is behind a merge has to be told.
    pub fn mark(&self, mark: Mark) {
        match mark {
            Mark::Watermark(micros) => self.watermark(Some(micros)),
            Mark::Flush if self.lanes.merges => self.lanes.scheduler.mark(mark),
            _ => {}
        }
    }

    fn watermark(&self, micros: Option<i64>) {
        let mut entry = self.lanes.entry();
        match micros {
            Some(_) => {
                for of_reader in &mut entry.watermarks {
                    if of_reader.0 == self.group {
                        of_reader.1 = of_reader.1.max(micros);
                    }
                }
            }
            // It has come to its end, and holds nothing back any more.
            None => entry.watermarks.retain(|(group, _)| *group != self.group),
        }
        let all = entry.watermarks.iter().map(|(_, micros)| *micros).min().flatten();
        if let Some(micros) = all.filter(|micros| entry.passed.is_none_or(|passed| passed < *micros)) {
            entry.passed = Some(micros);
            self.lanes.scheduler.mark(Mark::Watermark(micros));
        }
    }
}

impl Drop for Feeder<'_> {
    fn drop(&mut self) {
        self.watermark(None);
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

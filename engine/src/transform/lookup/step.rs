//! The transformer as a stage of the chain: records in, calls out, answers in, records out. It waits only while its queue is full, or
//! when everything has to leave.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use arrow_select::interleave::interleave_record_batch;
use slab::Slab;
use transship_plugin_api::{Answer, Batch, CancelHandle, Error, HostRef, Result, Transformer};

use super::answer::{Letter, Sorted, Ticket};
use super::assemble::{Assembly, nothing};
use super::columns::Columns;
use super::parameters::{OnFailure, OnMissing, Settings};
use super::shared::{Prepared, SharedLookup};
use crate::keys::{Hasher, Key, KeyExtractor, KeyRows};
use crate::lookup::{Call, Counters, Done, Inbox, Item, Order, Outcome, Record, Rows, Stage};
use crate::transform::step::Step;

/// Records in a batch that leaves, at most.
const MOST_RECORDS: usize = 8192;
/// While answers are waited for, somebody should look this often whether there are any.
const PATIENCE: Duration = Duration::from_millis(1);

pub(super) struct LookupStep {
    settings: Settings,
    shared: Arc<SharedLookup>,
    host: HostRef,
    inbox: Arc<Inbox<Letter>>,
    /// Once the columns are known.
    work: Option<Work>,
}

/// What is under way.
struct Work {
    settings: Settings,
    shared: Arc<SharedLookup>,
    host: HostRef,
    inbox: Arc<Inbox<Letter>>,
    prepared: Arc<Prepared>,
    /// The record's columns that make the key.
    key: Vec<usize>,
    /// Tells keys apart, where that matters: in key order, or with a cache.
    key_columns: Option<KeyExtractor>,
    columns: Columns,
    nothing: Arc<RecordBatch>,
    stage: Stage,
    sources: Slab<Source>,
    letters: Vec<Letter>,
    assembly: Assembly,
    hasher: Hasher,
    /// Records that were dropped because nothing was found for them.
    left_out: u64,
    /// Whether the last answers came while their calls were made: then a batch need not come in pieces.
    answers_at_once: bool,
    told: Counters,
    told_in_flight: usize,
}

/// A batch of which not all records have left.
struct Source {
    batch: Batch,
    records: Arc<RecordBatch>,
    keys: RecordBatch,
    key_rows: Option<KeyRows>,
    left: usize,
}

impl LookupStep {
    pub(super) fn new(settings: Settings, shared: Arc<SharedLookup>, host: HostRef) -> LookupStep {
        LookupStep { settings, shared, host, inbox: Arc::default(), work: None }
    }

    fn work(&mut self) -> Result<&mut Work> {
        self.work.as_mut().ok_or_else(|| Error::internal("a batch came before its schema: schema must be called first"))
    }
}

impl Transformer for LookupStep {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        let key = self.settings.key.find(&input)?;
        let keys: SchemaRef =
            Arc::new(Schema::new(key.iter().map(|place| input.field(*place).clone()).collect::<Vec<_>>()));
        let prepared = self.shared.prepared(&keys)?;
        let columns = Columns::new(&input, &key, &prepared.columns, self.settings.columns.as_deref())?;
        if let Some(cache) = self.settings.cache {
            self.shared.keep_cache(cache);
        }
        let tells_keys = self.settings.options.order == Order::Key || self.settings.cache.is_some();
        let key_columns = tells_keys.then(|| KeyExtractor::new(&input, key.clone(), false)).transpose()?;
        let schema = columns.schema.clone();
        let left_out = self.left_out();
        // Of a task that is told another schema between two of its batches, the calls keep their numbers.
        let stage = match self.work.take() {
            None => {
                let mut options = self.settings.options.clone();
                options.call_size = options.call_size.min(prepared.lookup.most_keys()).max(1);
                Stage::new(options)
            }
            Some(work) if work.stage.is_empty() => work.stage,
            Some(_) => return Err(Error::internal("the columns changed while records were looked up")),
        };
        let told = stage.counters();
        self.work = Some(Work {
            settings: self.settings.clone(),
            shared: self.shared.clone(),
            host: self.host.clone(),
            inbox: self.inbox.clone(),
            key,
            key_columns,
            columns,
            nothing: Arc::new(nothing(&prepared.columns)?),
            prepared,
            stage,
            sources: Slab::new(),
            letters: Vec::new(),
            assembly: Assembly::default(),
            hasher: Hasher::default(),
            left_out,
            answers_at_once: false,
            told,
            told_in_flight: 0,
        });
        Ok(schema)
    }

    fn push(&mut self, batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        let work = self.work()?;
        let result = work.push(batch, out);
        work.tell();
        result
    }

    fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        let work = self.work()?;
        let result = work.flush(out);
        work.tell();
        result
    }
}

impl Step for LookupStep {
    fn records_at_once(&self, batch: &Batch) -> usize {
        let Some(work) = &self.work else { return batch.num_rows() };
        if work.answers_at_once {
            return batch.num_rows();
        }
        // What is ready leaves between two pieces.
        work.stage.room().max(work.settings.options.capacity.div_ceil(4))
    }

    fn poll(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        let Some(work) = &mut self.work else { return Ok(()) };
        let result = work.advance(out).and_then(|()| work.give(out));
        work.tell();
        result
    }

    fn patience(&mut self) -> Option<Duration> {
        let work = self.work.as_mut()?;
        if work.stage.is_empty() {
            return None;
        }
        let due = work.stage.next_due().map(|due| due.saturating_sub(work.shared.now()));
        Some(due.unwrap_or(PATIENCE).min(PATIENCE))
    }

    fn end(&mut self) {
        if let Some(work) = &mut self.work {
            work.stage.end(work.shared.now());
        }
    }

    fn left_out(&self) -> u64 {
        self.work.as_ref().map_or(0, |work| work.left_out)
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        let (inbox, shared) = (self.inbox.clone(), self.shared.clone());
        Some(Arc::new(move || {
            inbox.close();
            shared.cancel_with_job();
        }))
    }
}

impl Drop for LookupStep {
    fn drop(&mut self) {
        self.inbox.close();
        if let Some(work) = &mut self.work {
            work.stage.give_up();
            work.shared.in_flight(work.told_in_flight, 0);
        }
    }
}

impl Work {
    fn push(&mut self, mut batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(());
        }
        let records = batch.records()?.clone();
        let keys = RecordBatch::try_new(
            self.prepared.keys.clone(),
            self.key.iter().map(|place| records.column(*place).clone()).collect(),
        )?;
        let key_rows = self.key_columns.as_ref().map(|columns| columns.of(&records)).transpose()?;
        let source = Source { batch, records: Arc::new(records), keys, key_rows, left: rows };
        let source = self.sources.insert(source);
        let mut row = 0;
        while row < rows {
            let room = self.stage.room();
            if room == 0 {
                self.wait(out)?;
                continue;
            }
            let end = rows.min(row + room);
            self.enter(source, row, end);
            row = end;
            self.advance(out)?;
        }
        self.answers_at_once = self.stage.is_empty();
        self.give(out)
    }

    fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        // Behind this mark there is nothing: when it leaves, everything has.
        while self.stage.room() == 0 {
            self.wait(out)?;
        }
        self.stage.mark();
        self.stage.set_hurry(true);
        self.advance(out)?;
        while !self.stage.is_empty() {
            self.wait(out)?;
        }
        self.stage.set_hurry(false);
        self.give(out)
    }

    /// Puts records of a batch into the queue, for which there is room.
    fn enter(&mut self, source: usize, first: usize, end: usize) {
        let Work { stage, sources, shared, hasher, settings, .. } = self;
        let now = shared.now();
        let Source { keys, key_rows, .. } = &sources[source];
        let has_nulls = keys.columns().iter().any(|column| column.null_count() > 0);
        let is_null = |row: usize| has_nulls && keys.columns().iter().any(|column| column.is_null(row));
        let record = |row: usize| Record { source: source as u32, row: row as u32 };
        // Only where keys are told apart.
        let key = |row: usize| key_rows.as_ref().map_or(Key::Alone, |rows| rows.key(row));
        let is_in_key_order = settings.options.order == Order::Key;
        if settings.cache.is_none() {
            for row in first..end {
                let hash = (is_in_key_order && !is_null(row)).then(|| hasher.hash(key(row)));
                stage.enter(record(row), hash, is_null(row).then_some(Outcome::Missing), now);
            }
            return;
        }
        shared.with_cache(|cache| {
            for row in first..end {
                let Some(bytes) = bytes_of(key(row)) else {
                    // NULL is equal to nothing, so there is nothing to be found.
                    stage.enter(record(row), None, Some(Outcome::Missing), now);
                    continue;
                };
                let hash = hasher.hash(key(row));
                match cache.get(bytes, now) {
                    Some(found) => {
                        let known = found.map_or(Outcome::Missing, Outcome::Found);
                        stage.enter(record(row), Some(hash), Some(known), now);
                    }
                    None => stage.enter_or_follow(record(row), hash, now, |other| {
                        let rows = sources[other.source as usize].key_rows.as_ref();
                        rows.and_then(|rows| bytes_of(rows.key(other.row as usize))) == Some(bytes)
                    }),
                }
            }
        });
    }

    /// Does all that can be done now, without waiting.
    fn advance(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        loop {
            self.settle()?;
            self.stage.pass_time(self.shared.now());
            self.check_failure()?;
            let mut started = false;
            while let Some(call) = self.stage.next_call(self.shared.now()) {
                self.start(call)?;
                started = true;
            }
            if started {
                // Some may have been answered while they were started.
                self.settle()?;
                self.check_failure()?;
            }
            let mut left = false;
            while let Some(item) = self.stage.pop() {
                left = true;
                if let Item::Entry(done) = item {
                    self.leave(done, out)?;
                }
            }
            // What has left made room for calls that had to wait for it.
            if !started && !left {
                return Ok(());
            }
        }
    }

    /// Waits until something happens, and does what follows from it.
    fn wait(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        let due = self.stage.next_due().map(|due| due.saturating_sub(self.shared.now()));
        self.tell();
        self.inbox.wait(due);
        self.advance(out)
    }

    /// Takes the answers that have come.
    fn settle(&mut self) -> Result<()> {
        let mut letters = std::mem::take(&mut self.letters);
        self.inbox.take(&mut letters).map_err(|_| Error::cancelled())?;
        let now = self.shared.now();
        for Letter { id, keys, outcome } in letters.drain(..) {
            let sorted = Sorted::new(outcome, keys, &self.prepared.columns)?;
            let Work { stage, sources, shared, settings, .. } = self;
            if settings.cache.is_none() {
                stage.answered(id, now, |key, _| sorted.of(key));
                continue;
            }
            shared.with_cache(|cache| {
                stage.answered(id, now, |key, record| {
                    let outcome = sorted.of(key);
                    let key_rows = sources[record.source as usize].key_rows.as_ref();
                    let bytes = key_rows.and_then(|rows| bytes_of(rows.key(record.row as usize)));
                    match (bytes, &outcome) {
                        (Some(bytes), Outcome::Found(rows)) => cache.put(bytes, Some(rows.clone()), now),
                        (Some(bytes), Outcome::Missing) => cache.put(bytes, None, now),
                        _ => {}
                    }
                    outcome
                });
            });
        }
        self.letters = letters;
        Ok(())
    }

    fn start(&mut self, call: Call) -> Result<()> {
        let Call { id, records, wanted } = call;
        let keys = self.keys_of(&records)?;
        let ticket = Ticket { id, keys: records.len(), wanted, inbox: self.inbox.clone() };
        self.prepared.lookup.start(keys, Answer::new(ticket));
        Ok(())
    }

    fn keys_of(&self, records: &[Record]) -> Result<RecordBatch> {
        let beside = |left: &Record, right: &Record| left.source == right.source && left.row + 1 == right.row;
        if let [first, ..] = records
            && records.windows(2).all(|pair| beside(&pair[0], &pair[1]))
        {
            return Ok(self.sources[first.source as usize].keys.slice(first.row as usize, records.len()));
        }
        let mut sources: Vec<u32> = Vec::new();
        let mut rows = Vec::with_capacity(records.len());
        for record in records {
            let place = sources.iter().rposition(|source| *source == record.source).unwrap_or_else(|| {
                sources.push(record.source);
                sources.len() - 1
            });
            rows.push((place, record.row as usize));
        }
        let batches: Vec<&RecordBatch> = sources.iter().map(|source| &self.sources[*source as usize].keys).collect();
        Ok(interleave_record_batch(&batches, &rows)?)
    }

    /// A record leaves the queue: with the rows that were found for it, or as the job wants it.
    fn leave(&mut self, done: Done, out: &mut Vec<Batch>) -> Result<()> {
        let Done { record, outcome } = done;
        let nothing = |work: &Work| Rows { answer: work.nothing.clone(), first: 0, count: 1 };
        let rows = match outcome {
            Outcome::Found(rows) => Some(rows),
            Outcome::Missing => match self.settings.on_missing {
                OnMissing::Null => Some(nothing(self)),
                OnMissing::Drop => {
                    self.left_out += 1;
                    None
                }
                OnMissing::Dirty => self.refuse(record, "nothing was found for this key")?,
                OnMissing::Fail => return Err(Error::data(format!("nothing was found for {}", self.name_key(record)))),
            },
            Outcome::Failed(error) => match self.settings.on_failure {
                OnFailure::Null => Some(nothing(self)),
                OnFailure::Dirty => self.refuse(record, &format!("the lookup failed: {}", error.message()))?,
                OnFailure::Fail => return Err(self.failed(record, &error)),
            },
        };
        if let Some(rows) = rows {
            self.pick(record, &rows);
        }
        let source = &mut self.sources[record.source as usize];
        source.left -= 1;
        if source.left == 0 {
            self.sources.remove(record.source as usize);
        }
        if self.assembly.len() >= MOST_RECORDS {
            self.give(out)?;
        }
        Ok(())
    }

    /// A failure that ends the task does not wait until the record may leave.
    fn check_failure(&self) -> Result<()> {
        match self.stage.first_failure() {
            Some((record, error)) if self.settings.on_failure == OnFailure::Fail => Err(self.failed(record, error)),
            _ => Ok(()),
        }
    }

    fn failed(&self, record: Record, error: &Error) -> Error {
        let message = format!("{} for {}: {}", self.shared.name(), self.name_key(record), error.message());
        Error::new(error.kind(), message).retryable(error.is_retryable())
    }

    fn pick(&mut self, record: Record, rows: &Rows) {
        let source = &self.sources[record.source as usize];
        let position = source.batch.origin.position(record.row as usize);
        for row in rows.first..rows.first + rows.count {
            self.assembly.records.pick(&source.records, record.row as usize);
            self.assembly.found.pick(&rows.answer, row as usize);
            self.assembly.positions.push(position);
        }
    }

    /// Gives what has left the queue as a batch.
    fn give(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        if self.assembly.len() > 0 {
            out.push(std::mem::take(&mut self.assembly).finish(&self.columns)?);
        }
        Ok(())
    }

    fn refuse(&mut self, record: Record, cause: &str) -> Result<Option<Rows>> {
        let key = self.key.first().copied();
        let source = &mut self.sources[record.source as usize];
        source.batch.dirty(self.host.as_ref(), record.row as usize, key, cause)?;
        Ok(None)
    }

    /// A record's key, for messages: `id = 7`.
    fn name_key(&self, record: Record) -> String {
        let keys = &self.sources[record.source as usize].keys;
        let cells = keys.schema_ref().fields().iter().zip(keys.columns()).map(|(field, column)| {
            let text = transship_plugin_api::row::cell_of_field_to_text(field, column, record.row as usize);
            format!("{} = {}", field.name(), text.as_deref().unwrap_or("NULL"))
        });
        cells.collect::<Vec<_>>().join(", ")
    }

    /// Adds to the job's figures what is new.
    fn tell(&mut self) {
        let (counters, in_flight) = (self.stage.counters(), self.stage.running());
        self.shared.count(&self.told, &counters);
        self.shared.in_flight(self.told_in_flight, in_flight);
        if let Some(answers) = self.stage.take_answers() {
            self.shared.add_answers(&answers);
        }
        (self.told, self.told_in_flight) = (counters, in_flight);
    }
}

/// A key as bytes; `None`: it has NULL in it.
fn bytes_of(key: Key<'_>) -> Option<&[u8]> {
    match key {
        Key::Bytes(bytes) | Key::Number(_, bytes) => Some(bytes),
        Key::Null | Key::Alone => None,
    }
}

//! The reader: it counts up.

use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde_json::{Value, json};
use transship_plugin_api::{
    CancelHandle, DirtyRecord, HostRef, Item, Listing, Mark, Params, ReadOptions, Reader, ReaderTask, Result, Split,
    SplitRequest,
};

use crate::fault::Faults;
use crate::journal::Journal;
use crate::listing::FaultyListing;
use crate::{table, wait};

/// How much longer than the others a long record is.
const LONG: usize = 100;

struct FaultyReader {
    config: Config,
    host: HostRef,
    /// How many splits it has told of.
    told: u64,
    /// How many listings it has given.
    listed: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Config {
    records: u64,
    pub(crate) splits: u64,
    listings: u64,
    batch: u64,
    text_bytes: usize,
    long_record: Option<i64>,
    mark_every: Option<u64>,
    mark: Mark,
    dirty_every: Option<u64>,
    idle: bool,
    hide_schema: bool,
    hide_size: bool,
    label: Option<String>,
    cause: String,
    log: Option<String>,
    pub(crate) faults: Faults,
    pub(crate) journal: Journal,
}

impl Config {
    /// The split with this number.
    pub(crate) fn split(&self, number: u64) -> Split {
        let label = self.label.clone().unwrap_or_else(|| format!("split {number}"));
        let mut split = Split::new(format!("split-{number}"), label, json!({ "number": number }));
        split.records = (!self.hide_size).then_some(self.records);
        split
    }
}

pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    let params = Params::new(parameter, "parameter")?;
    let config = Config {
        records: params.whole("records")?.unwrap_or(100),
        splits: params.whole("splits")?.unwrap_or(1),
        listings: params.whole("listings")?.unwrap_or(0),
        batch: params.whole("batch")?.unwrap_or(10).max(1),
        text_bytes: params.whole("textBytes")?.unwrap_or(8) as usize,
        long_record: params.integer("longRecord")?,
        mark_every: params.whole("markEvery")?,
        mark: params
            .choice("mark", &[("flush", Mark::Flush), ("watermark", Mark::Watermark(0))])?
            .unwrap_or(Mark::Flush),
        dirty_every: params.whole("dirtyEvery")?,
        idle: params.truth("idle")?.unwrap_or(false),
        hide_schema: params.truth("hideSchema")?.unwrap_or(false),
        hide_size: params.truth("hideSize")?.unwrap_or(false),
        label: params.text("label")?,
        cause: params.text("cause")?.unwrap_or_else(|| "the reader does not like it".into()),
        log: params.text("log")?,
        faults: Faults::read(&params)?,
        journal: Journal::read(&params)?,
    };
    config.journal.note("reader init");
    log_everywhere(config.log.as_deref());
    config.faults.at("init", host.as_ref())?;
    Ok(Box::new(FaultyReader { config, host, told: 0, listed: 0 }))
}

/// Logs a text at every level.
pub(crate) fn log_everywhere(text: Option<&str>) {
    if let Some(text) = text {
        for level in log::Level::iter() {
            log::log!(level, "{text}");
        }
    }
}

impl FaultyReader {
    fn step(&self, call: &str) -> Result<()> {
        self.config.journal.note(format!("reader {call}"));
        self.config.faults.at(call, self.host.as_ref())
    }
}

impl Reader for FaultyReader {
    fn prepare(&mut self) -> Result<Value> {
        self.step("prepare")?;
        Ok(json!({ "prepared": true }))
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        self.config.journal.note(format!("reader attach {state}"));
        self.config.faults.at("attach", self.host.as_ref())
    }

    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        self.step("schema")?;
        Ok((!self.config.hide_schema).then(table::schema))
    }

    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        self.step("splits")?;
        let some = self.told..self.config.splits.min(self.told + u64::from(request.max));
        self.told = some.end;
        Ok(some.map(|number| self.config.split(number)).collect())
    }

    fn listing(&mut self, _request: &SplitRequest) -> Result<Option<Box<dyn Listing>>> {
        self.config.journal.note(format!("reader listing {}", self.listed));
        self.config.faults.at_record("listing", self.host.as_ref(), self.listed, None)?;
        if self.listed == self.config.listings {
            return Ok(None);
        }
        self.listed += 1;
        Ok(Some(Box::new(FaultyListing::new(self.config.clone(), self.host.clone(), self.listed - 1))))
    }

    fn open(&mut self, split: &Split, _options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let number = split.detail["number"].as_u64().unwrap_or(0);
        self.config.journal.note(format!("reader open split {number}"));
        self.config.faults.at_record("open", host.as_ref(), 0, Some(number))?;
        let config = Config { faults: self.config.faults.for_task(), ..self.config.clone() };
        Ok(Box::new(FaultyReaderTask { config, host, number, passed: 0, unmarked: 0 }))
    }

    fn post(&mut self) -> Result<()> {
        self.step("post")
    }
}

impl Drop for FaultyReader {
    fn drop(&mut self) {
        self.config.journal.note("reader release");
        // Only a panic or a hang comes of it: an error has nowhere to go.
        let _ = self.config.faults.at("release", self.host.as_ref());
    }
}

struct FaultyReaderTask {
    config: Config,
    host: HostRef,
    number: u64,
    /// Records given or reported as dirty.
    passed: u64,
    /// Records since the last mark.
    unmarked: u64,
}

impl FaultyReaderTask {
    fn step(&self, call: &str) -> Result<()> {
        self.config.journal.note(format!("reader {call} split {}", self.number));
        self.config.faults.at_record(call, self.host.as_ref(), self.passed, Some(self.number))
    }

    fn text(&self, id: i64) -> String {
        let bytes = self.config.text_bytes * if self.config.long_record == Some(id) { LONG } else { 1 };
        format!("{:x<bytes$}", format!("text {id}"))
    }

    fn batch(&mut self, length: u64) -> Result<Item> {
        let first = self.passed;
        let (mut ids, mut positions) = (Vec::new(), Vec::new());
        for position in first..first + length {
            self.passed += 1;
            let id = (self.number * self.config.records + position) as i64 + 1;
            if self.config.dirty_every.is_some_and(|every| self.passed.is_multiple_of(every)) {
                let value = id.to_string();
                let record = format!("{{\"id\":{id},\"text\":\"never parsed\"}}");
                self.host.dirty(&DirtyRecord {
                    position: Some(position),
                    column: Some("id"),
                    value: Some(&value),
                    cause: &self.config.cause,
                    record: Some(&record),
                    place: Some("{\"shelf\":\"left\"}"),
                })?;
            } else {
                ids.push(id);
                positions.push(position);
            }
        }
        self.unmarked += length;
        self.config.journal.note(format!("reader gave {} split {}", ids.len(), self.number));
        Ok(Item::Batch(table::batch(&ids, &positions, |id| self.text(id))?))
    }
}

impl ReaderTask for FaultyReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        self.step("task_prepare")?;
        Ok(table::schema())
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        log_everywhere(self.config.log.as_deref());
        self.config.faults.at_record("next", self.host.as_ref(), self.passed, Some(self.number))?;
        if self.config.mark_every.is_some_and(|every| self.unmarked >= every) {
            self.unmarked = 0;
            return Ok(Item::Mark(self.config.mark));
        }
        let until_fault = self.config.faults.records_until("next", self.passed, Some(self.number));
        match self.config.batch.min(self.config.records - self.passed).min(until_fault) {
            0 if self.config.idle => {
                wait::a_moment(timeout);
                Ok(Item::Idle)
            }
            0 => Ok(Item::End),
            length => self.batch(length),
        }
    }

    fn post(&mut self) -> Result<()> {
        self.step("task_post")
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        let bell = self.config.faults.bell.clone();
        Some(Arc::new(move || bell.ring()))
    }
}

impl Drop for FaultyReaderTask {
    fn drop(&mut self) {
        let _ = self.step("task_release");
    }
}

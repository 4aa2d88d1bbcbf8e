//! One attempt at reading all pages of a URL.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use transship_plugin_api::row::RowBuilder;
use transship_plugin_api::{
    Batch, CancelHandle, DirtyRecord, Error, HostRef, Item, Origin, ReadOptions, ReaderTask, Result,
};

use super::page::Page;
use crate::client::Session;
use crate::config::ReaderConfig;
use crate::paging::{Place, Turn};
use crate::records::{Form, Raw};
use crate::types::{Column, guess_columns, schema, set_row};

/// So many records are looked at to see which columns there are.
const LOOKED_AT: usize = 1_000;
/// A batch has room for so many records at first.
const ROOM: usize = 1_024;

pub(super) struct HttpReaderTask {
    config: Arc<ReaderConfig>,
    url: Url,
    session: Session,
    host: HostRef,
    options: ReadOptions,
    columns: Vec<Column>,
    /// From `prepare` on.
    rows: Option<RowBuilder>,
    /// The numbers of the records in the batch that is being filled.
    numbers: Vec<u64>,
    /// How many records have been read, before this attempt too.
    read: u64,
    /// The page that is read, and which it is; `None` behind the last.
    page: Option<(Place, Page)>,
    /// What the records of the page before were.
    last_seen: Option<u64>,
    /// Records that were looked at to see which columns there are, each with the position behind it.
    early: VecDeque<(Raw, Position)>,
    /// Where to go on behind the last record that was read.
    position: Position,
    /// How many bytes of the answer that makes, and how many it has, if it is the only one and the server says so.
    answered: u64,
    length: Option<u64>,
}

/// Where to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Position {
    /// `None`: at the end.
    place: Option<Place>,
    /// How many records of the page are safe.
    given: u64,
    /// How many records there were before.
    read: u64,
}

impl HttpReaderTask {
    pub(super) fn new(
        config: Arc<ReaderConfig>,
        url: Url,
        session: Session,
        options: &ReadOptions,
        host: HostRef,
    ) -> Result<HttpReaderTask> {
        let start = Position { place: Some(config.paging.start()), given: 0, read: 0 };
        let position = match &options.position {
            None => start,
            Some(position) => serde_json::from_value(position.clone())
                .map_err(|error| Error::internal(format!("{position} is no position of this reader: {error}")))?,
        };
        let mut task = HttpReaderTask {
            columns: config.columns.clone().unwrap_or_default(),
            config,
            url,
            session,
            host,
            options: options.clone(),
            rows: None,
            numbers: Vec::new(),
            read: position.read,
            page: None,
            last_seen: None,
            early: VecDeque::new(),
            position: position.clone(),
            answered: 0,
            length: None,
        };
        if let Some(place) = position.place {
            task.page = Some(task.open(place, position.given)?);
        }
        Ok(task)
    }

    fn open(&self, place: Place, given: u64) -> Result<(Place, Page)> {
        let mut ask = self.config.ask(self.url.clone());
        self.config.paging.turn_to(&place, &mut ask)?;
        ask.url = self.config.settings.with_missing_query(ask.url);
        Ok((place, Page::new(ask, self.config.form.clone(), self.options.max_record_bytes, given)))
    }

    /// The next record of all pages, and the position behind it.
    fn record(&mut self) -> Result<Option<(Raw, Position)>> {
        if let Some(early) = self.early.pop_front() {
            return Ok(Some(early));
        }
        self.fresh_record()
    }

    fn fresh_record(&mut self) -> Result<Option<(Raw, Position)>> {
        loop {
            let Some((place, page)) = &mut self.page else { return Ok(None) };
            let settings = &self.config.settings;
            let raw = page.next(&self.session, &settings.retry, settings.timeout);
            if let Some(raw) = raw.map_err(|error| on_page(error, place))? {
                self.read += 1;
                self.length = page.length().filter(|length| *length > 0 && self.config.paging.is_single());
                let position = Position { place: Some(place.clone()), given: page.given(), read: self.read };
                return Ok(Some((raw, position)));
            }
            self.turn()?;
        }
    }

    /// Goes on to the next page.
    fn turn(&mut self) -> Result<()> {
        let Some((place, page)) = self.page.take() else { return Ok(()) };
        let end = page.end()?;
        if self.last_seen.replace(end.seen) == Some(end.seen) && end.records > 0 {
            let problem =
                "it has the same records as the page before: the server takes no notice of what paging asks for";
            return Err(on_page(Error::data(problem), &place));
        }
        let turn = Turn { records: end.records, around: &end.around, links: &end.links, url: &end.url };
        let next = self.config.paging.next(&place, &turn).map_err(|error| on_page(error, &place))?;
        if let Some(next) = next {
            self.page = Some(self.open(next, 0)?);
        }
        Ok(())
    }

    /// Puts a record into the batch, or tells that it is none.
    fn take(&mut self, raw: &Raw, number: u64) -> Result<()> {
        if raw.is_too_long {
            let most = self.options.max_record_bytes;
            return self.dirty(
                raw,
                number,
                None,
                None,
                &format!("has more than {most} bytes, the most that a record may have"),
            );
        }
        let record: Value = match serde_json::from_slice(&raw.text) {
            Ok(record) => record,
            Err(error) if self.config.form == Form::Lines => {
                return self.dirty(raw, number, None, None, &format!("is no JSON: {error}"));
            }
            Err(error) => return Err(self.no_json(raw, number, &error)),
        };
        let Some(rows) = &mut self.rows else { return Err(Error::internal("the task was not prepared")) };
        match set_row(&self.columns, &record, rows) {
            Ok(()) => {
                rows.end_row()?;
                self.numbers.push(number);
                Ok(())
            }
            Err(refusal) => {
                rows.drop_row();
                let name = self.columns[refusal.column].name.clone();
                self.dirty(raw, number, Some(&name), refusal.value.as_deref(), &refusal.cause)
            }
        }
    }

    fn no_json(&self, raw: &Raw, number: u64, error: &serde_json::Error) -> Error {
        let (page, url) = match &self.page {
            Some((place, page)) => (format!("page {} ", place.page + 1), page.shown()),
            None => (String::new(), crate::secret::shown(&self.url)),
        };
        let at = raw.at;
        Error::data(format!(
            "the answer of {url} {page}is no JSON in record {number}, which begins at byte {at}: {error}"
        ))
    }

    fn dirty(&self, raw: &Raw, number: u64, column: Option<&str>, value: Option<&str>, cause: &str) -> Result<()> {
        let text = String::from_utf8_lossy(&raw.text);
        // What is JSON is kept as such, anything else as its text.
        let record = match serde_json::from_str::<Value>(&text) {
            Ok(record) if record.is_object() => record.to_string(),
            _ => Value::from(text.as_ref()).to_string(),
        };
        let page = self.page.as_ref().map_or(Value::Null, |(place, _)| (place.page + 1).into());
        let place = json!({ "page": page, "byte": raw.at }).to_string();
        self.host.dirty(&DirtyRecord {
            position: Some(number),
            column,
            value,
            cause,
            record: Some(&record),
            place: Some(&place),
        })
    }

    fn batch(&mut self) -> Result<Item> {
        let numbers = std::mem::take(&mut self.numbers);
        let Some(rows) = self.rows.as_mut().filter(|rows| !rows.is_empty()) else { return Ok(Item::End) };
        let first = numbers.first().copied().unwrap_or_default();
        let in_a_row = numbers.last().is_some_and(|last| last - first + 1 == numbers.len() as u64);
        let positions = (!in_a_row).then(|| numbers.into());
        let mut batch: Batch = rows.finish_batch(Origin { first, positions })?;
        batch.position =
            Some(serde_json::to_value(&self.position).map_err(|error| Error::internal(error.to_string()))?);
        batch.read_share = self.length.map(|length| (self.answered as f64 / length as f64).min(1.0));
        Ok(Item::Batch(batch))
    }

    /// The columns that the first records have.
    fn guess(&mut self) -> Result<Vec<Column>> {
        let mut bytes = 0;
        while self.early.len() < LOOKED_AT && bytes < self.options.batch_bytes {
            let Some((raw, position)) = self.fresh_record()? else { break };
            bytes += raw.text.len();
            self.early.push_back((raw, position));
        }
        let records = self.early.iter().filter_map(|(raw, _)| serde_json::from_slice::<Value>(&raw.text).ok());
        let records: Vec<Value> = records.collect();
        let columns = guess_columns(records.iter());
        match columns.is_empty() {
            false => Ok(columns),
            true if self.early.is_empty() => {
                Err(Error::schema("there are no records to see from which columns they have: list them in column"))
            }
            true => Err(Error::schema(
                "the first records are no JSON objects, so that they have no columns: list them in column",
            )),
        }
    }
}

/// Says on which page it happened, where there are several.
fn on_page(error: Error, place: &Place) -> Error {
    if place.page == 0 { error } else { error.context(format!("page {}", place.page + 1)) }
}

impl ReaderTask for HttpReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        if self.config.columns.is_none() {
            self.columns = self.guess()?;
        }
        let schema = schema(&self.columns);
        self.rows = Some(RowBuilder::new(schema.clone(), ROOM.min(self.options.batch_records))?);
        Ok(schema)
    }

    fn next(&mut self, _timeout: Duration) -> Result<Item> {
        loop {
            let is_full = self.rows.as_ref().is_some_and(|rows| {
                rows.len() >= self.options.batch_records || rows.bytes() >= self.options.batch_bytes
            });
            if is_full {
                return self.batch();
            }
            let Some((raw, position)) = self.record()? else { return self.batch() };
            self.take(&raw, position.read)?;
            self.answered = raw.at + raw.text.len() as u64;
            self.position = position;
        }
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.session.cancel.handle())
    }
}

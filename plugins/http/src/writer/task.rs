//! One attempt at sending records: collects them until a request is full, and finds those that the server refuses.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use reqwest::{StatusCode, Url};
use transship_plugin_api::batch::dirty_row;
use transship_plugin_api::row::{ColumnText, Row, Rows, Value};
use transship_plugin_api::{Batch, Begun, CancelHandle, Error, HostRef, Origin, Report, Result, WriterTask};

use crate::client::{Ask, Body, Failure, Session, next_piece};
use crate::config::{Shape, WriterConfig};
use crate::render::Render;
use crate::template::encode;

pub(super) struct HttpWriterTask {
    config: Arc<WriterConfig>,
    session: Session,
    host: HostRef,
    render: Render,
    /// The columns whose values are in the URL.
    in_url: Vec<usize>,
    /// The records that wait for their request, all for this URL.
    url: String,
    waiting: Vec<Entry>,
    text: String,
    /// The batches that they are in.
    batches: Vec<(RecordBatch, Origin)>,
    /// When the work on those of the last batch began.
    begun: Begun,
    written: Report,
}

/// A record that waits.
struct Entry {
    /// Its JSON, in the text of all.
    text: Range<usize>,
    batch: usize,
    row: usize,
}

impl HttpWriterTask {
    pub(super) fn new(
        config: Arc<WriterConfig>,
        schema: &Schema,
        session: Session,
        host: HostRef,
    ) -> Result<HttpWriterTask> {
        let render = Render::new(schema, config.columns.as_deref(), config.formats.clone())?;
        let in_url = config.url.names().map(|name| {
            schema.index_of(name).map_err(|_| {
                let there: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                Error::schema(format!(
                    "parameter.url has {{{name}}}, but there is no such column; there are {}",
                    there.join(", ")
                ))
            })
        });
        Ok(HttpWriterTask {
            in_url: in_url.collect::<Result<_>>()?,
            config,
            session,
            host,
            render,
            url: String::new(),
            waiting: Vec::new(),
            text: String::new(),
            batches: Vec::new(),
            begun: Begun::default(),
            written: Report::default(),
        })
    }

    /// The URL for a record, or the column without a value that a URL can have.
    fn url_for(&self, schema: &Schema, row: Row<'_, '_>) -> Result<String, (usize, String)> {
        let mut values = Vec::with_capacity(self.in_url.len());
        for column in &self.in_url {
            let mut text = String::new();
            let field = schema.field(*column);
            let refused = |cause: &str| (*column, format!("{cause}, and the URL has its value in it"));
            match row.get(*column) {
                Value::Null => return Err(refused("is NULL")),
                value => ColumnText::new(field, &self.config.formats)
                    .write(value, &mut text)
                    .map_err(|_| refused("is no text"))?,
            }
            if matches!(text.as_str(), "" | "." | "..") {
                return Err(refused("is nothing but dots or empty"));
            }
            values.push((field.name().clone(), encode(&text)));
        }
        let value = |name: &str| values.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
        Ok(self.config.url.fill(|name| Cow::Borrowed(value(name))))
    }

    /// Puts a record into the next request. The one before is sent if there is no room for it.
    fn push(&mut self, schema: &Schema, row: Row<'_, '_>, batch: usize) -> Result<()> {
        let url = match self.url_for(schema, row) {
            Ok(url) => url,
            Err((column, cause)) => return self.dirty(batch, row.index(), Some(column), &cause),
        };
        if url != self.url {
            self.send()?;
            self.url = url;
        }
        let mut start = self.text.len();
        if let Err((column, cause)) = self.render.write(row, &mut self.text) {
            self.text.truncate(start);
            return self.dirty(batch, row.index(), Some(column), &cause);
        }
        if self.text.len() > self.config.most_bytes && !self.waiting.is_empty() {
            let json = self.text.split_off(start);
            self.send()?;
            start = 0;
            self.text = json;
        }
        self.waiting.push(Entry { text: start..self.text.len(), batch, row: row.index() });
        if self.waiting.len() >= self.config.most_records {
            self.send()?;
        }
        Ok(())
    }

    /// Forgets the batches of which nothing waits any more.
    fn forget_batches(&mut self) {
        let oldest = self.waiting.first().map_or(self.batches.len(), |entry| entry.batch);
        self.batches.drain(..oldest);
        self.waiting.iter_mut().for_each(|entry| entry.batch -= oldest);
    }

    /// Sends what waits.
    fn send(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            self.begun.tell(self.host.as_ref());
            self.deliver(&waiting)?;
        }
        self.text.clear();
        Ok(())
    }

    /// Sends some records in a request, and in smaller ones if that is refused.
    fn deliver(&mut self, entries: &[Entry]) -> Result<()> {
        let body = self.body(entries);
        let bytes = body.bytes.len() as u64;
        let failure = match self.request(body) {
            Ok(()) => {
                self.written.written += entries.len() as u64;
                self.written.bytes += bytes;
                return Ok(());
            }
            Err(failure) => failure,
        };
        let is_refused = failure.status.is_some_and(refuses_data);
        let is_too_large = failure.status == Some(StatusCode::PAYLOAD_TOO_LARGE);
        match entries {
            [entry] if is_refused && (self.config.bisects || self.config.shape == Shape::Record) => {
                self.dirty(entry.batch, entry.row, None, &format!("was refused: {}", failure.error))
            }
            [_, _, ..] if is_refused && (self.config.bisects || is_too_large) => {
                let (first, second) = entries.split_at(entries.len() / 2);
                self.deliver(first)?;
                self.deliver(second)
            }
            [_, _, ..] if is_refused => Err(Error::from(failure)
                .context(format!("{} records were refused (bisect finds the bad ones)", entries.len()))),
            _ => Err(failure.into()),
        }
    }

    fn body(&self, entries: &[Entry]) -> Body {
        let texts = entries.iter().map(|entry| &self.text[entry.text.clone()]);
        match &self.config.shape {
            Shape::Record => Body::json(texts.collect::<String>()),
            Shape::Lines => {
                let lines: String = texts.flat_map(|text| [text, "\n"]).collect();
                Body { bytes: lines.into(), content_type: "application/x-ndjson" }
            }
            Shape::Array(envelope) => {
                let list = format!("[{}]", texts.collect::<Vec<_>>().join(","));
                Body::json(match envelope {
                    Some(key) => format!("{{{}:{list}}}", serde_json::Value::from(key.as_str())),
                    None => list,
                })
            }
        }
    }

    fn request(&self, body: Body) -> Result<(), Failure> {
        let url = Url::parse(&self.url)
            .map_err(|error| Error::data(format!("with a record's values the URL is none: {error}")))?;
        let settings = &self.config.settings;
        let ask = Ask {
            method: self.config.method.clone(),
            url: settings.with_query(url),
            headers: settings.headers.clone(),
            body: Some(body),
        };
        let (client, patience) = (self.session.client(), settings.timeout);
        let is_good = |status: StatusCode| match &self.config.success {
            Some(good) => good.contains(&status.as_u16()),
            None => status.is_success(),
        };
        self.session.asks(&ask);
        self.session.persist(&settings.retry, self.config.is_idempotent, || async {
            let mut response = ask.ask(client, patience, is_good).await?;
            // What the server has to say is not needed, but the connection is.
            let mut read = 0;
            while read < MOST_READ
                && let Ok(Some(piece)) = next_piece(&ask.url, &mut response, patience).await
            {
                read += piece.len();
            }
            Ok(())
        })
    }

    fn dirty(&self, batch: usize, row: usize, column: Option<usize>, cause: &str) -> Result<()> {
        let (records, origin) = &self.batches[batch];
        dirty_row(self.host.as_ref(), records, row, Some(origin.position(row)), column, cause)
    }
}

/// A connection whose answer is longer is given up.
const MOST_READ: usize = 1 << 20;

/// Whether a status says that the records are at fault, and not the request.
fn refuses_data(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 409 | 413 | 422)
}

impl WriterTask for HttpWriterTask {
    fn write(&mut self, mut batch: Batch) -> Result<()> {
        let records = batch.records()?.clone();
        self.forget_batches();
        let number = self.batches.len();
        self.batches.push((records.clone(), batch.origin.clone()));
        let schema = records.schema();
        self.begun = Begun::default();
        for row in Rows::new(&records).iter() {
            self.begun.now();
            self.push(&schema, row, number)?;
        }
        self.begun.tell(self.host.as_ref());
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.send()
    }

    fn checkpoint(&mut self, _epoch: u64) -> Result<Option<Report>> {
        self.commit().map(Some)
    }

    fn commit(&mut self) -> Result<Report> {
        self.send()?;
        Ok(std::mem::take(&mut self.written))
    }

    fn abort(&mut self) -> Result<()> {
        self.waiting.clear();
        Ok(())
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.session.cancel.handle())
    }
}

//! One question to the service: a request made of keys, and what its answer holds for each of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use reqwest::{Client, StatusCode, Url};
use serde_json::Value as Json;
use transship_plugin_api::row::{Column, RowBuilder};
use transship_plugin_api::{Error, Found, Result};

use crate::client::{Ask, Body, Failure, next_piece};
use crate::config::LookupConfig;
use crate::render::Cell;
use crate::secret::shown;
use crate::template::encode;
use crate::types::{pointer_to, set_row, text_of};

/// An answer has no more bytes than this.
const MOST: usize = 64 << 20;

/// The service that is asked.
pub(super) struct Service {
    config: Arc<LookupConfig>,
    client: Client,
    cells: Vec<Cell>,
    names: Vec<String>,
    /// For each key column where its value is in what was found.
    matching: Vec<String>,
    found: SchemaRef,
}

/// The values of the key columns, as JSON; the list of those that have no NULL.
struct Keys {
    /// For each key column, its values.
    values: Vec<Vec<Json>>,
    /// The row of each of them in the batch of keys.
    rows: Vec<u32>,
}

impl Service {
    /// # Errors
    /// `Schema` if the job names key columns that there are not.
    pub(super) fn new(config: Arc<LookupConfig>, client: Client, keys: SchemaRef, found: SchemaRef) -> Result<Service> {
        let names: Vec<String> = keys.fields().iter().map(|field| field.name().clone()).collect();
        let unknown = |name: &str| {
            Error::schema(format!("the lookup has {{{name}}}, which is no key column; those are {}", names.join(", ")))
        };
        if let Some(name) = config.names().into_iter().find(|name| !names.iter().any(|known| known == name)) {
            return Err(unknown(name));
        }
        if config.names().is_empty() {
            return Err(Error::schema(format!(
                "the lookup never asks for a key: put {{{}}} into url, query or body",
                names.first().map_or("name", String::as_str)
            )));
        }
        let mut matching: Vec<String> = names.iter().map(|name| pointer_to(name)).collect();
        for (name, pointer) in config.batch.iter().flat_map(|batch| &batch.matching) {
            let place = names.iter().position(|known| known == name).ok_or_else(|| unknown(name))?;
            matching[place] = pointer.clone();
        }
        let cells = Schema::fields(&keys).iter().map(|field| Cell::of(field)).collect();
        Ok(Service { config, client, cells, names, matching, found })
    }

    /// What there is for some keys. A key with a NULL in it finds nothing.
    pub(super) async fn find(&self, keys: &RecordBatch) -> Result<Found> {
        let keys = self.keys(keys)?;
        if keys.rows.is_empty() {
            return Ok(Found::nothing(self.found.clone()));
        }
        if self.config.batch.is_none() && keys.rows.len() > 1 {
            return Err(Error::internal("more keys than one in a request"));
        }
        let ask = self.ask(&keys)?;
        match self.answer(&ask).await? {
            Some(answer) => self.found(&ask.url, &answer, &keys),
            None => Ok(Found::nothing(self.found.clone())),
        }
    }

    fn keys(&self, keys: &RecordBatch) -> Result<Keys> {
        let columns: Vec<Column<'_>> = keys.columns().iter().map(|column| Column::new(column)).collect();
        let is_whole = |row: &usize| columns.iter().all(|column| !column.get(*row).is_null());
        let rows: Vec<usize> = (0..keys.num_rows()).filter(is_whole).collect();
        let values = columns.iter().zip(&self.cells).zip(&self.names).map(|((column, cell), name)| {
            let value = |row: &usize| cell.json(column, *row, &self.config.formats);
            let values: Result<Vec<Json>, String> = rows.iter().map(value).collect();
            values.map_err(|cause| Error::data(format!("the key \"{name}\" {cause}")))
        });
        Ok(Keys { values: values.collect::<Result<_>>()?, rows: rows.iter().map(|row| *row as u32).collect() })
    }

    fn ask(&self, keys: &Keys) -> Result<Ask> {
        let place = |name: &str| self.names.iter().position(|known| known == name).unwrap_or_default();
        let is_list = self.config.batch.is_some();
        let dots = self.config.url.names().find(|name| {
            keys.values[place(name)].iter().any(|value| matches!(text_of(value).as_ref(), "" | "." | ".."))
        });
        if let Some(name) = dots {
            return Err(Error::data(format!(
                "the key \"{name}\" is nothing but dots or empty, and the URL has its value in it"
            )));
        }
        let in_text = |name: &str, write: fn(&str) -> String| -> Cow<'static, str> {
            let texts: Vec<String> = keys.values[place(name)].iter().map(|value| write(&text_of(value))).collect();
            Cow::Owned(texts.join(","))
        };
        let url = self.config.url.fill(|name| in_text(name, encode));
        let mut url =
            Url::parse(&url).map_err(|error| Error::data(format!("with the keys in it the URL is none: {error}")))?;
        if !self.config.query.is_empty() {
            let pairs =
                self.config.query.iter().map(|(name, value)| (name, value.fill(|name| in_text(name, str::to_string))));
            url.query_pairs_mut().extend_pairs(pairs);
        }
        let in_body = |name: &str| match is_list {
            true => Json::Array(keys.values[place(name)].clone()),
            false => keys.values[place(name)].first().cloned().unwrap_or(Json::Null),
        };
        let body = self.config.body.as_ref().map(|body| Body::json(body.fill(&in_body).to_string()));
        Ok(Ask { method: self.config.method.clone(), url, headers: self.config.headers.clone(), body })
    }

    /// The answer; `None`: there is nothing.
    async fn answer(&self, ask: &Ask) -> Result<Option<Json>> {
        let patience = self.config.timeout;
        let is_nothing =
            |status: StatusCode| self.config.not_found.contains(&status.as_u16()) || status == StatusCode::NO_CONTENT;
        let is_good = |status: StatusCode| status.is_success() || is_nothing(status);
        let mut response = ask.ask(&self.client, patience, is_good).await.map_err(Error::from)?;
        let status = response.status();
        let mut text = Vec::with_capacity(response.content_length().map_or(0, |length| length.min(1 << 20)) as usize);
        while let Some(piece) =
            next_piece(&ask.url, &mut response, patience).await.map_err(|failure: Failure| Error::from(failure))?
        {
            if text.len() + piece.len() > MOST {
                return Err(Error::data(format!("the answer of {} has more than {} MiB", shown(&ask.url), MOST >> 20)));
            }
            text.extend_from_slice(&piece);
        }
        if is_nothing(status) {
            return Ok(None);
        }
        let answer = serde_json::from_slice(&text);
        answer.map(Some).map_err(|error| {
            let beginning: String = String::from_utf8_lossy(&text).chars().take(60).collect();
            Error::data(format!("the answer of {} is no JSON: {error}; it begins with {beginning:?}", shown(&ask.url)))
        })
    }

    /// The rows in an answer, and which key each is for.
    fn found(&self, url: &Url, answer: &Json, keys: &Keys) -> Result<Found> {
        let records = match answer.pointer(&self.config.records) {
            None | Some(Json::Null) => &[][..],
            Some(Json::Array(records)) => records,
            Some(record @ Json::Object(_)) => std::slice::from_ref(record),
            Some(_) => {
                let records = &self.config.records;
                return Err(Error::data(format!(
                    "the answer of {} has neither an object nor a list at \"{records}\"",
                    shown(url)
                )));
            }
        };
        let owners = Owners::of(self, keys);
        let mut rows = RowBuilder::new(self.found.clone(), records.len())?;
        let (mut key_of_row, mut failed) = (Vec::new(), Vec::new());
        for record in records {
            for key in owners.of_record(record) {
                match set_row(&self.config.columns, record, &mut rows) {
                    Ok(()) => {
                        rows.end_row()?;
                        key_of_row.push(key);
                    }
                    Err(refusal) => {
                        rows.drop_row();
                        let column = &self.config.columns[refusal.column].name;
                        let value = refusal.value.unwrap_or_default();
                        failed.push((
                            key,
                            Error::data(format!(
                                "the column \"{column}\" of what was found, \"{value}\", {}",
                                refusal.cause
                            )),
                        ));
                    }
                }
            }
        }
        // A key that failed has no rows.
        if !failed.is_empty() {
            return self.without(rows, &key_of_row, failed);
        }
        Ok(Found { failed, ..Found::new(rows.finish()?.0, key_of_row) })
    }

    /// The rows of the keys that have not failed.
    fn without(&self, mut rows: RowBuilder, key_of_row: &[u32], mut failed: Vec<(u32, Error)>) -> Result<Found> {
        failed.dedup_by_key(|(key, _)| *key);
        let records = rows.finish()?.0;
        let stays: Vec<bool> = key_of_row.iter().map(|key| !failed.iter().any(|(other, _)| other == key)).collect();
        let kept = key_of_row.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(key, _)| *key).collect();
        let records = arrow_select::filter::filter_record_batch(&records, &stays.into())?;
        Ok(Found { failed, ..Found::new(records, kept) })
    }
}

/// To which keys what was found belongs.
enum Owners<'a> {
    /// There is one key.
    One(u32),
    /// The rows of the keys with these values; a key may be asked for more than once.
    ByValue(&'a [String], HashMap<Vec<String>, Vec<u32>>),
}

impl<'a> Owners<'a> {
    fn of(service: &'a Service, keys: &Keys) -> Owners<'a> {
        if service.config.batch.is_none() {
            return Owners::One(keys.rows.first().copied().unwrap_or_default());
        }
        let mut by_value: HashMap<Vec<String>, Vec<u32>> = HashMap::new();
        for (index, row) in keys.rows.iter().enumerate() {
            let value = keys.values.iter().map(|values| text_of(&values[index]).into_owned()).collect();
            by_value.entry(value).or_default().push(*row);
        }
        Owners::ByValue(&service.matching, by_value)
    }

    fn of_record(&self, record: &Json) -> Vec<u32> {
        match self {
            Owners::One(key) => vec![*key],
            Owners::ByValue(matching, by_value) => {
                let value =
                    matching.iter().map(|pointer| record.pointer(pointer).map(|value| text_of(value).into_owned()));
                let value: Option<Vec<String>> = value.collect();
                value.and_then(|value| by_value.get(&value)).cloned().unwrap_or_default()
            }
        }
    }
}

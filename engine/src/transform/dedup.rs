//! `dedup` lets the first record of every key through and drops those that follow within a window of time: what it is told in a
//! job file, and what it does with a batch. Not here: which keys were seen (`window`, `ids`), and what equal keys are (`keys`).

use std::sync::{Arc, OnceLock};

use arrow_schema::SchemaRef;
use serde_json::Value;
use transship_plugin_api::plugin::{Component, Parameter};
use transship_plugin_api::{Batch, Error, HostRef, Params, Result, Transformer};

use super::key_columns::KEY;
use super::select::keep;
use super::step::{AttemptId, Step};
use crate::clock::SystemClock;
use crate::dirty::Dirty;

mod ids;
mod key;
mod keys;
mod line;
#[cfg(test)]
#[cfg(transship_loom)]
mod loom;
mod settings;
#[cfg(test)]
#[cfg(not(transship_loom))]
mod tests;
mod texts;
mod window;

use keys::{KeyReader, Keys};
use settings::Settings;
pub(super) use window::Window;

pub(super) const NAME: &str = "dedup";

/// What it says of itself.
pub(super) fn component() -> Component {
    Component {
        names: vec![NAME.into()],
        about: "drops the records whose key has come before, within a window of time, in any task of the job".into(),
        parameters: vec![
            KEY,
            Parameter::optional(
                "window",
                "string or number",
                "10 s",
                "how long a key is remembered after the record that was let through: \"500 ms\", \"1 h\", or seconds; 0: for the \
                 whole run",
            ),
            Parameter::optional(
                "type",
                r#""auto" or "uuid""#,
                "auto",
                "uuid: texts and bytes in the key columns are UUIDs, equal however they are written; auto: only those in columns \
                 of UUIDs are",
            ),
            Parameter::optional(
                "malformed",
                r#""text" or "dirty""#,
                "text",
                "what a value that should be a UUID and is none becomes: compared as it is, or a dirty record",
            ),
            Parameter::optional(
                "nulls",
                r#""distinct" or "equal""#,
                "distinct",
                "whether a key with NULL in it is never a duplicate, or NULL equals NULL",
            ),
            Parameter::optional(
                "capacity",
                "string or integer",
                "64 MiB",
                "how much memory the remembered keys may take; beyond it the oldest is forgotten, and counted as evicted",
            ),
            Parameter::optional(
                "forgetOnFailure",
                "boolean",
                "false",
                "whether the key of a record that turns out dirty further down is forgotten, so that it may come again",
            ),
        ],
    }
}

/// Makes one of the steps that share a window; the first also makes the window.
///
/// # Errors
/// `Config` where a parameter is wrong.
pub(super) fn make(parameter: &Value, window: &OnceLock<Arc<Window>>, host: HostRef) -> Result<Box<dyn Step>> {
    let settings = Settings::read(&Params::new(parameter, "parameter")?)?;
    let window = window.get_or_init(|| Arc::new(Window::new(&settings, Arc::new(SystemClock::new()))));
    Ok(Box::new(Dedup::new(settings, window.clone(), host)))
}

/// The step of one attempt.
struct Dedup {
    settings: Settings,
    window: Arc<Window>,
    host: HostRef,
    /// What the window calls the attempt.
    attempt: u32,
    /// Known with the schema.
    reader: Option<KeyReader>,
    /// The keys of the last batch: their memory is used again.
    keys: Keys,
    duplicates: u64,
}

impl Dedup {
    fn new(settings: Settings, window: Arc<Window>, host: HostRef) -> Dedup {
        Dedup { settings, window, host, attempt: 0, reader: None, keys: Keys::default(), duplicates: 0 }
    }
}

impl Transformer for Dedup {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        self.reader = Some(KeyReader::new(&self.settings, &input, self.window.hasher())?);
        Ok(input)
    }

    fn push(&mut self, mut batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        let Some(reader) = &mut self.reader else { return Err(Error::internal("a batch came before the schema")) };
        reader.read(batch.records()?, &mut self.keys)?;
        for (row, column) in &self.keys.malformed {
            batch.dirty(self.host.as_ref(), *row, Some(*column), "it is no UUID")?;
        }
        let (kept, duplicates) = self.window.check(self.attempt, &self.keys, &batch.origin);
        self.duplicates += duplicates;
        out.extend(keep(batch, &kept)?);
        Ok(())
    }

    fn flush(&mut self, _: &mut Vec<Batch>) -> Result<()> {
        Ok(())
    }
}

impl Step for Dedup {
    fn begin(&mut self, attempt: AttemptId, dirty: &Dirty) {
        self.attempt = self.window.begin(attempt);
        self.window.watch(dirty);
    }

    fn abandon(&mut self) {
        self.window.abandon(self.attempt);
    }

    fn duplicates(&self) -> u64 {
        self.duplicates
    }
}

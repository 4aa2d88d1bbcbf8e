//! `streamreader` with `replay`: a stream of events as many clients send them, some of them twice, at their times.
//! Not here: the records of columns (`reader`).

mod config;
mod events;
mod task;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use transship_plugin_api::{
    Error, HostRef, Params, ReadOptions, Reader, ReaderTask, Result, Split, SplitRequest, fields,
};

use crate::random::fresh_seed;
use crate::types::moment;
use config::ReplayConfig;
use events::Events;
use task::ReplayTask;

/// Makes a reader from the `replay` object of its parameters.
pub(crate) fn new(params: &Params<'_>) -> Result<Box<dyn Reader>> {
    let config = ReplayConfig::parse(params)?;
    let seed = config.seed.unwrap_or_else(fresh_seed);
    Ok(Box::new(ReplayReader { config, seed, is_split: false }))
}

/// One source, hence one split: what is promised of the order of a client's events holds for one source alone.
struct ReplayReader {
    config: ReplayConfig,
    seed: u64,
    is_split: bool,
}

/// What the split says of itself. The seed is in it, so that every attempt in every process makes the same events.
#[derive(Debug, Serialize, Deserialize)]
struct Detail {
    seed: u64,
}

impl Reader for ReplayReader {
    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        Ok(Some(schema()))
    }

    fn splits(&mut self, _request: &SplitRequest) -> Result<Vec<Split>> {
        if std::mem::replace(&mut self.is_split, true) {
            return Ok(Vec::new());
        }
        let detail = serde_json::to_value(Detail { seed: self.seed });
        let detail = detail.map_err(|error| Error::internal(error.to_string()))?;
        let label = format!("events of {} clients, {} a second", self.config.clients, self.config.rate);
        let mut split = Split::new("replay", label, detail);
        split.records = self.config.deliveries();
        split.bytes = split.records.map(|records| records.saturating_mul(task::EVENT_BYTES as u64));
        Ok(vec![split])
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let detail: Detail = serde_json::from_value(split.detail.clone())
            .map_err(|error| Error::internal(format!("split \"{}\" is not of this reader: {error}", split.id)))?;
        let delivered = match &options.position {
            None => 0,
            Some(position) => position
                .as_u64()
                .ok_or_else(|| Error::internal(format!("{position} is no position in a stream of events")))?,
        };
        let events = Events::new(&self.config, detail.seed);
        Ok(Box::new(ReplayTask::new(&self.config, events, delivered, options, host)))
    }
}

/// Who sent an event, its id, when it was made, and which of its client's events it is.
fn schema() -> SchemaRef {
    let uuid = HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_string(), fields::UUID.to_string())]);
    Arc::new(Schema::new(vec![
        Field::new("client", DataType::Int64, false),
        Field::new("id", DataType::FixedSizeBinary(16), false).with_metadata(uuid),
        Field::new("created", moment(true), false),
        Field::new("sequence", DataType::Int64, false),
    ]))
}

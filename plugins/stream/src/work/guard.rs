//! Watches that the records of a key come in order and are in one hand at a time, over all tasks of the job in this process.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use transship_plugin_api::row::{Column, Value, cell_of_field_to_text};
use transship_plugin_api::{Error, Result};

use super::config::OrderConfig;

/// So many locks share the keys.
const SHARDS: usize = 64;
/// So many violations are told one by one.
const TOLD: u64 = 10;

/// What is known of each key, and what was seen that must not be. It remembers every key that ever came.
#[derive(Debug)]
pub(crate) struct Guard {
    shards: Vec<Mutex<HashMap<Key, Known>>>,
    hasher: RandomState,
    out_of_order: AtomicU64,
    at_once: AtomicU64,
}

/// A key: a whole number, or the text of anything else. `None` is NULL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Number(i64),
    Text(Option<String>),
}

#[derive(Debug, Default)]
struct Known {
    /// How many records of it are being handled now.
    visits: u32,
    /// The highest number that came.
    last: Option<i64>,
}

impl Guard {
    pub(crate) fn new() -> Guard {
        Guard {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            out_of_order: AtomicU64::new(0),
            at_once: AtomicU64::new(0),
        }
    }

    /// Whether all was as it must be.
    ///
    /// # Errors
    /// `Data`, with the number of violations.
    pub(crate) fn verdict(&self) -> Result<()> {
        match (self.out_of_order.load(Ordering::SeqCst), self.at_once.load(Ordering::SeqCst)) {
            (0, 0) => Ok(()),
            (out_of_order, at_once) => Err(Error::data(format!(
                "work.order was violated: {out_of_order} records came after a later one of their key, or a second time; \
                 {at_once} were handled while another of their key was"
            ))),
        }
    }

    fn with<T>(&self, key: &Key, look: impl FnOnce(&mut Known) -> T) -> T {
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let mut known = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get_mut(key) {
            return look(known);
        }
        look(known.entry(key.clone()).or_default())
    }

    fn enter(&self, key: &Key, sequence: Option<i64>) {
        let (is_alone, before) = self.with(key, |known| {
            known.visits += 1;
            let before = known.last;
            known.last = before.max(sequence);
            (known.visits == 1, before)
        });
        if !is_alone && self.at_once.fetch_add(1, Ordering::SeqCst) < TOLD {
            log::error!("{key} is handled by two tasks at once");
        }
        if let (Some(sequence), Some(before)) = (sequence, before)
            && sequence <= before
            && self.out_of_order.fetch_add(1, Ordering::SeqCst) < TOLD
        {
            log::error!("number {sequence} of {key} came after its number {before}");
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::Number(number) => write!(f, "key {number}"),
            Key::Text(Some(text)) => write!(f, "key \"{text}\""),
            Key::Text(None) => f.write_str("key NULL"),
        }
    }
}

/// A task's eye on the records.
#[derive(Debug)]
pub(super) struct Watch {
    guard: Arc<Guard>,
    key: usize,
    sequence: usize,
}

impl Watch {
    /// # Errors
    /// `Schema` if a column that the job names is not there, or the numbers are none.
    pub(super) fn new(guard: Arc<Guard>, order: &OrderConfig, schema: &Schema) -> Result<Watch> {
        let index = |name: &str| {
            schema
                .index_of(name)
                .map_err(|_| Error::schema(format!("work.order names the column \"{name}\", which is not there")))
        };
        let sequence = index(&order.sequence)?;
        let data_type = schema.field(sequence).data_type();
        if !data_type.is_integer() {
            let problem =
                format!("work.order.sequence is \"{}\", a column of {data_type}, not of whole numbers", order.sequence);
            return Err(Error::schema(problem));
        }
        Ok(Watch { guard, key: index(&order.key)?, sequence })
    }

    /// The work on a record begins; it ends when what this returns is dropped.
    pub(super) fn enter(&self, records: &RecordBatch, row: usize) -> Visit {
        let key = match Column::new(records.column(self.key)).get(row) {
            Value::Int(number) => Key::Number(number),
            _ => {
                let field = records.schema_ref().field(self.key);
                Key::Text(cell_of_field_to_text(field, records.column(self.key), row))
            }
        };
        let sequence = match Column::new(records.column(self.sequence)).get(row) {
            Value::Int(number) => Some(number),
            Value::UInt(number) => i64::try_from(number).ok(),
            _ => None,
        };
        self.guard.enter(&key, sequence);
        Visit { guard: self.guard.clone(), key }
    }
}

/// The work on one record.
#[derive(Debug)]
pub(super) struct Visit {
    guard: Arc<Guard>,
    key: Key,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.guard.with(&self.key, |known| known.visits -= 1);
    }
}

//! What `dedup` promises. Here: how a test runs one, with a clock that it turns by hand.

mod failure;
mod keys;
mod model;
mod parameters;
mod room;
mod time;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use serde_json::{Value, json};
use transship_plugin_api::{Batch, DirtyRecord, Host, Origin, Params, Result, Transformer};

use super::settings::Settings;
use super::window::Window;
use super::{AttemptId, Dedup, Dirty, Step};
use crate::clock::HandClock;
use crate::config::DirtyLimit;
use crate::secrets::Secrets;

/// A job with a `dedup`, and the clock on its wall.
struct Job {
    settings: Settings,
    clock: Arc<HandClock>,
    window: Arc<Window>,
    dirty: Arc<Dirty>,
    /// Where dirty records are kept.
    _folder: tempfile::TempDir,
}

/// One attempt at a task of it.
struct Attempt {
    step: Dedup,
    witness: Arc<Witness>,
    /// The position of the next record.
    next: u64,
}

/// A host that remembers which positions were dirty, and why.
#[derive(Default)]
struct Witness(Mutex<Vec<(u64, String)>>);

impl Host for Witness {
    fn log(&self, _: log::Level, _: &str, _: &str) {}

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        let (value, cause) = (record.value.unwrap_or_default(), record.cause);
        self.0.lock().unwrap().push((record.position.unwrap(), format!("{value}: {cause}")));
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Job {
    /// With a key in the column `id`, and what else is told.
    fn new(mut parameter: Value) -> Job {
        if parameter.get("key").is_none() {
            parameter["key"] = json!("id");
        }
        let settings = Settings::read(&Params::new(&parameter, "parameter").unwrap()).unwrap();
        let clock = Arc::new(HandClock::default());
        let window = Arc::new(Window::new(&settings, clock.clone()));
        let folder = tempfile::tempdir().unwrap();
        let places = vec![folder.path().join("dirty.jsonl")];
        let dirty = Arc::new(Dirty::new(DirtyLimit::default(), 0, places, Secrets::default()));
        Job { settings, clock, window, dirty, _folder: folder }
    }

    fn attempt(&self, task: u32, attempt: u32) -> Attempt {
        let witness = Arc::new(Witness::default());
        let mut step = Dedup::new(self.settings.clone(), self.window.clone(), witness.clone());
        step.begin(AttemptId { task, attempt }, &self.dirty);
        Attempt { step, witness, next: 0 }
    }

    fn at(&self, seconds: f64) {
        self.clock.turn_to(Duration::from_secs_f64(seconds));
    }

    fn figure(&self, name: &str) -> u64 {
        self.window.figures().into_iter().find(|figure| figure.name == name).unwrap().value
    }

    fn remembered(&self) -> u64 {
        self.figure("remembered")
    }
}

impl Attempt {
    /// Puts a batch of these columns through; answers which of its rows came out.
    fn push(&mut self, columns: Vec<(Field, ArrayRef)>) -> Result<Vec<usize>> {
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let schema = Arc::new(Schema::new(fields));
        let records = RecordBatch::try_new(schema.clone(), columns).unwrap();
        let (first, rows) = (self.next, records.num_rows() as u64);
        self.next += rows;
        self.step.schema(schema)?;
        let mut out = Vec::new();
        self.step.push(Batch::measured(records.clone(), Origin::from(first)), &mut out)?;
        let mut passed = Vec::new();
        for mut batch in out {
            for row in 0..batch.num_rows() {
                let position = batch.origin.position(row);
                passed.push((position - first) as usize);
                let source = records.slice((position - first) as usize, 1);
                assert_eq!(batch.records().unwrap().slice(row, 1), source, "a record is what it was");
            }
        }
        Ok(passed)
    }

    /// Which of these ids pass.
    fn passing<'a>(&mut self, ids: &[&'a str]) -> Vec<&'a str> {
        let column: ArrayRef = Arc::new(StringArray::from_iter_values(ids));
        let rows = self.push(vec![(Field::new("id", column.data_type().clone(), true), column)]).unwrap();
        rows.into_iter().map(|row| ids[row]).collect()
    }

    fn passes(&mut self, id: &str) -> bool {
        !self.passing(&[id]).is_empty()
    }
}

/// Ids that are all different.
fn ids(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("id {number}")).collect()
}

fn borrowed(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

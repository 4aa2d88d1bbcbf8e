//! What the `lookup` transformer promises, on a clock that is turned by hand: the scenarios of Flink's asynchronous operator.
//! Here: a lookup that answers as a test tells it, and a transformer that asks it.
//!
//! Not among them, because there is nothing of the kind here: FL-07 (records are moved, not reused), FL-26 and FL-27 (the older form
//! with a lock and an emitter thread), FL-33 (all that is ready leaves as one batch), FB-06 (a linger of 0 calls at once). Snapshots
//! (FL-06, FL-14, FL-34, FK-03, FK-04) are attempts here: one that is given up leaves nothing behind, the next reads again.
//! FL-19 to FL-25, FL-36, FL-38, FK-02 and FK-05 are in `lookup/tests`; FL-29 and FL-30 in `lookup/loom`.

mod attempts;
mod batches;
mod cache;
mod columns;
mod order;
mod parameters;
mod retries;
mod sharing;
mod waiting;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::{Value, json};
use transship_plugin_api::{Answer, Batch, DirtyRecord, Error, Found, Host, Lookup, Origin, Result};

use super::{SharedLookup, make};
use crate::clock::HandClock;
use crate::transform::step::Step;

/// A call that a lookup was asked.
struct Asked {
    keys: Vec<i64>,
    /// `None`: it was answered.
    answer: Option<Answer>,
}

/// What a lookup was asked, and what it does about it.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<Asked>>>);

/// Answers a call at once, or gives it back.
type Behaviour = Arc<dyn Fn(&[i64], Answer) -> Option<Answer> + Send + Sync>;

struct TestLookup {
    calls: Calls,
    behaviour: Behaviour,
    most_keys: usize,
}

impl Lookup for TestLookup {
    fn prepare(&mut self, _: SchemaRef) -> Result<SchemaRef> {
        Ok(found_columns())
    }

    fn start(&self, keys: RecordBatch, answer: Answer) {
        let keys = keys.column(0).as_primitive::<Int64Type>().values().to_vec();
        let answer = (self.behaviour)(&keys, answer);
        self.calls.lock().push(Asked { keys, answer });
    }

    fn most_keys(&self) -> usize {
        self.most_keys
    }
}

fn found_columns() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("y", DataType::Int64, false)]))
}

/// Rows for the keys of a call, some for each.
fn rows(keys: &[i64], row: impl Fn(i64) -> Vec<i64>) -> Found {
    let (mut values, mut key_of_row) = (Vec::new(), Vec::new());
    for (index, key) in keys.iter().enumerate() {
        for value in row(*key) {
            values.push(value);
            key_of_row.push(index as u32);
        }
    }
    let rows = RecordBatch::try_new(found_columns(), vec![Arc::new(Int64Array::from(values))]).unwrap();
    Found::new(rows, key_of_row)
}

fn doubled(keys: &[i64]) -> Found {
    rows(keys, |key| vec![2 * key])
}

/// DOUBLE: finds twice the key, at once.
fn double(keys: &[i64], answer: Answer) -> Option<Answer> {
    answer.complete(doubled(keys));
    None
}

/// LAZY, NOOP, HANDLES: whatever the test does with the answers.
fn later(_: &[i64], answer: Answer) -> Option<Answer> {
    Some(answer)
}

/// ERR: fails at once.
fn err(_: &[i64], answer: Answer) -> Option<Answer> {
    answer.fail(Error::io("it is down").retryable(true));
    None
}

impl Calls {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Asked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) -> usize {
        self.lock().len()
    }

    /// The keys of every call so far.
    fn keys(&self) -> Vec<Vec<i64>> {
        self.lock().iter().map(|asked| asked.keys.clone()).collect()
    }

    /// The answer to a call, to be given by the test.
    fn take(&self, call: usize) -> Answer {
        self.lock()[call].answer.take().unwrap()
    }

    /// Answers all open calls with twice the key; tells how many these were.
    fn double_all(&self) -> usize {
        let open: Vec<(Vec<i64>, Answer)> =
            self.lock().iter_mut().filter_map(|asked| Some((asked.keys.clone(), asked.answer.take()?))).collect();
        let count = open.len();
        for (keys, answer) in open {
            answer.complete(doubled(&keys));
        }
        count
    }
}

/// A host that remembers the dirty records.
#[derive(Default)]
struct Witness {
    dirty: Mutex<Vec<(u64, String)>>,
    limit: Option<usize>,
}

impl Host for Witness {
    fn log(&self, _: log::Level, _: &str, _: &str) {}

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        let mut dirty = self.dirty.lock().unwrap();
        dirty.push((record.position.unwrap(), record.cause.to_string()));
        match self.limit {
            Some(limit) if dirty.len() > limit => Err(Error::cancelled()),
            _ => Ok(()),
        }
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A transformer under test.
struct Story {
    step: Box<dyn Step>,
    clock: Arc<HandClock>,
    calls: Calls,
    host: Arc<Witness>,
    shared: Arc<SharedLookup>,
    out: Vec<Batch>,
}

/// What left: the record's `x`, what was found for it, its position.
type Left = (i64, Option<i64>, u64);

impl Story {
    fn new(parameter: Value, behaviour: impl Fn(&[i64], Answer) -> Option<Answer> + Send + Sync + 'static) -> Story {
        Story::with(parameter, behaviour, usize::MAX, Witness::default())
    }

    fn with(
        mut parameter: Value,
        behaviour: impl Fn(&[i64], Answer) -> Option<Answer> + Send + Sync + 'static,
        most_keys: usize,
        host: Witness,
    ) -> Story {
        let (calls, clock, host) = (Calls::default(), Arc::new(HandClock::default()), Arc::new(host));
        let (asked, behaviour): (Calls, Behaviour) = (calls.clone(), Arc::new(behaviour));
        let shared = Arc::new(SharedLookup::new("test", host.clone(), Arc::new(clock.clone()), move || {
            Ok(Box::new(TestLookup { calls: asked.clone(), behaviour: behaviour.clone(), most_keys }))
        }));
        let parameters = parameter.as_object_mut().unwrap();
        parameters.entry("lookup").or_insert(json!("test"));
        parameters.entry("key").or_insert(json!("x"));
        parameters.entry("batch").or_insert(json!({ "size": 1 }));
        let mut story = Story {
            step: make(&parameter, Some(&shared), host.clone()).unwrap(),
            clock,
            calls,
            host,
            shared,
            out: Vec::new(),
        };
        story.step.schema(records(&[]).schema()).unwrap();
        story
    }

    /// Puts records in; the first has this position.
    fn push(&mut self, first: u64, xs: &[i64]) -> Result<()> {
        self.step.push(Batch::measured(records(xs), Origin::from(first)), &mut self.out)
    }

    fn flush(&mut self) -> Result<()> {
        self.step.flush(&mut self.out)
    }

    /// The end of the input.
    fn end(&mut self) -> Result<()> {
        self.step.end();
        self.flush()
    }

    /// Lets time pass, and looks what has happened.
    fn turn(&mut self, millis: u64) -> Result<()> {
        self.clock.turn(Duration::from_millis(millis));
        self.step.poll(&mut self.out)
    }

    /// What has left since the last look.
    fn left(&mut self) -> Vec<Left> {
        let mut left = Vec::new();
        for mut batch in self.out.drain(..) {
            let records = batch.records().unwrap().clone();
            assert_eq!(batch.bytes, transship_plugin_api::batch::byte_size(&records), "the size is right");
            let number = |column: usize, row: usize| {
                let column = records.column(column).as_primitive::<Int64Type>();
                arrow_array::Array::is_valid(column, row).then(|| column.value(row))
            };
            for row in 0..records.num_rows() {
                left.push((number(0, row).unwrap_or(i64::MIN), number(1, row), batch.origin.position(row)));
            }
        }
        left
    }

    /// What was found, in the order in which the records left.
    fn found(&mut self) -> Vec<Option<i64>> {
        self.left().into_iter().map(|(_, found, _)| found).collect()
    }

    fn sorted(&mut self) -> Vec<Left> {
        let mut left = self.left();
        left.sort_unstable();
        left
    }

    fn figure(&self, name: &str) -> u64 {
        self.shared.figures().into_iter().find(|figure| figure.name == name).unwrap().value
    }

    fn dirty(&self) -> Vec<(u64, String)> {
        self.host.dirty.lock().unwrap().clone()
    }
}

fn records(xs: &[i64]) -> RecordBatch {
    let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]));
    // There is no key i64::MIN: it stands for NULL.
    let xs = Int64Array::from_iter(xs.iter().map(|x| (*x != i64::MIN).then_some(*x)));
    RecordBatch::try_new(schema, vec![Arc::new(xs)]).unwrap()
}

fn each_mode(modes: &[&str], story: impl Fn(&str)) {
    modes.iter().for_each(|mode| story(mode));
}

const ALL: &[&str] = &["ordered", "unordered", "key"];

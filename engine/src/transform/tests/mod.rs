//! What the built-in transformers promise. Here: how a test runs one.

mod chain;
mod columns;
mod filtering;
mod model;
mod parameters;
mod patterns;
mod rewriting;

use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema, SchemaRef};
use serde_json::{Value, json};
use transship_plugin_api::row::cell_to_text;
use transship_plugin_api::{Batch, ColumnFormats, DirtyRecord, Host, Origin, Params, Result};

use super::{Step, builtin};

/// The position of the first record of every batch.
const FIRST: u64 = 100;

/// A host that remembers what it was told.
#[derive(Default)]
struct Witness {
    dirty: Mutex<Vec<Told>>,
    cancelled: bool,
}

/// A dirty record as a host is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    position: u64,
    column: String,
    value: Option<String>,
    cause: String,
}

impl Host for Witness {
    fn log(&self, _: log::Level, _: &str, _: &str) {}

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        self.dirty.lock().unwrap().push(Told {
            position: record.position.unwrap(),
            column: record.column.unwrap_or_default().to_string(),
            value: record.value.map(String::from),
            cause: record.cause.to_string(),
        });
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled
    }
}

/// What came out of a transformer that looked at the column `value`, which stands between two others.
#[derive(Debug)]
struct Outcome {
    values: Vec<Option<String>>,
    /// The positions of the records.
    positions: Vec<u64>,
    dirty: Vec<Told>,
}

impl Outcome {
    fn texts(&self) -> Vec<&str> {
        self.values.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect()
    }

    /// Which of the records that went in came out.
    fn rows(&self) -> Vec<u64> {
        self.positions.iter().map(|position| position - FIRST).collect()
    }
}

fn make_with(name: &str, parameter: &Value, formats: &ColumnFormats) -> Result<Box<dyn Step>> {
    builtin::make(name, parameter, formats, Arc::new(Witness::default()))
}

fn make(name: &str, parameter: &Value) -> Result<Box<dyn Step>> {
    make_with(name, parameter, &ColumnFormats::default())
}

/// Why a transformer cannot be made.
fn refusal(name: &str, parameter: Value) -> String {
    match make(name, &parameter) {
        Ok(_) => panic!("{name} takes {parameter}"),
        Err(error) => error.message().to_string(),
    }
}

fn formats(column: Value) -> ColumnFormats {
    ColumnFormats::of(&Params::new(&column, "common.column").unwrap()).unwrap()
}

/// A batch whose column `value` stands between the numbers of the rows and a text.
fn batch(field: Field, column: ArrayRef) -> Batch {
    let rows = column.len();
    let numbers = Int64Array::from_iter_values(0..rows as i64);
    let notes = StringArray::from_iter_values((0..rows).map(|row| format!("note {row}")));
    let fields = vec![
        Field::new("number", arrow_schema::DataType::Int64, false),
        field,
        Field::new("note", arrow_schema::DataType::Utf8, false),
    ];
    let columns: Vec<ArrayRef> = vec![Arc::new(numbers), column, Arc::new(notes)];
    let records = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    Batch::measured(records, Origin::from(FIRST))
}

fn run_on(name: &str, paras: Value, field: Field, column: ArrayRef, formats: &ColumnFormats) -> Outcome {
    let host = Arc::new(Witness::default());
    let parameter = json!({ "columnIndex": 1, "paras": paras });
    let mut transformer = builtin::make(name, &parameter, formats, host.clone()).unwrap();
    let input = batch(field, column);
    let schema: SchemaRef = transformer.schema(input.schema()).unwrap();
    let mut out = Vec::new();
    transformer.push(input, &mut out).unwrap();
    transformer.flush(&mut out).unwrap();
    let mut outcome = Outcome { values: Vec::new(), positions: Vec::new(), dirty: host.dirty.lock().unwrap().clone() };
    for mut batch in out {
        let records = batch.records().unwrap().clone();
        assert_eq!(records.schema(), schema, "a batch is as the schema has promised");
        assert_eq!(batch.bytes, transship_plugin_api::batch::byte_size(&records), "the size is kept right");
        for row in 0..records.num_rows() {
            let position = batch.origin.position(row);
            outcome.positions.push(position);
            outcome.values.push(cell_to_text(records.column(1), row));
            let text = |column: usize| cell_to_text(records.column(column), row).unwrap();
            let number = position - FIRST;
            assert_eq!((text(0), text(2)), (number.to_string(), format!("note {number}")), "records stay whole");
        }
    }
    outcome
}

/// Runs a transformer over a column of any type.
fn run(name: &str, paras: Value, column: impl Array + 'static) -> Outcome {
    let field = Field::new("value", column.data_type().clone(), true);
    run_on(name, paras, field, Arc::new(column), &ColumnFormats::default())
}

/// Runs a transformer over texts.
fn run_texts<const N: usize>(name: &str, paras: Value, texts: [Option<&str>; N]) -> Outcome {
    run(name, paras, StringArray::from(texts.to_vec()))
}

/// What a transformer makes of a text, or why it is dirty.
fn becomes(name: &str, paras: Value, text: &str) -> Result<String, String> {
    let outcome = run_texts(name, paras, [Some(text)]);
    match &outcome.dirty[..] {
        [] => Ok(outcome.values[0].clone().unwrap()),
        [told] => {
            assert_eq!(outcome.values, []);
            Err(told.cause.clone())
        }
        more => panic!("one record was dirty more than once: {more:?}"),
    }
}

//! What a lookup costs a record beside the work of the lookup itself: one that answers at once, in each mode, with calls of several
//! sizes; answers from another thread; all keys from the cache.
//!
//! `cargo bench -p transship-engine --bench lookup`. Results are kept in `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crossbeam::channel::{Sender, unbounded};
use serde_json::{Value, json};
use transship_engine::clock::SystemClock;
use transship_engine::config::Component;
use transship_engine::transform::{Maker, SharedLookup};
use transship_plugin_api::{Answer, Batch, ColumnFormats, DirtyRecord, Found, Host, Lookup, Origin, Result};

const ROWS: usize = 8192;
const ROUNDS: usize = 50;
const RUNS: usize = 7;

struct Nobody;

impl Host for Nobody {
    fn log(&self, _: log::Level, _: &str, _: &str) {}

    fn dirty(&self, _: &DirtyRecord<'_>) -> Result<()> {
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Finds the key itself.
struct Mirror {
    /// A thread that answers, if it is not at once.
    line: Option<Sender<(RecordBatch, Answer)>>,
}

fn columns() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("found", DataType::Int64, true)]))
}

fn mirrored(columns: &SchemaRef, keys: &RecordBatch) -> Found {
    let rows = RecordBatch::try_new(columns.clone(), vec![keys.column(0).clone()]);
    Found::one_each(rows.expect("the column is as told"))
}

impl Lookup for Mirror {
    fn prepare(&mut self, _: SchemaRef) -> Result<SchemaRef> {
        Ok(columns())
    }

    fn start(&self, keys: RecordBatch, answer: Answer) {
        match &self.line {
            Some(line) => drop(line.send((keys, answer))),
            None => answer.complete(mirrored(&columns(), &keys)),
        }
    }
}

/// The best of several runs, in nanoseconds a record.
fn measure(what: &str, parameter: Value, line: Option<&Sender<(RecordBatch, Answer)>>) -> f64 {
    let mut parameter = parameter;
    parameter["lookup"] = json!("mirror");
    parameter["key"] = json!("id");
    let component = Component { name: "lookup".into(), library: None, parameter, place: String::new() };
    let line = line.cloned();
    let shared = SharedLookup::new("mirror", Arc::new(Nobody), Arc::new(SystemClock::new()), move || {
        Ok(Box::new(Mirror { line: line.clone() }))
    });
    let maker = Maker::new(&component, None, Arc::new(ColumnFormats::default())).asking(shared);
    let mut step = maker.make(Arc::new(Nobody)).expect("the parameters are right");
    let ids = Int64Array::from_iter_values(0..ROWS as i64);
    let names = StringArray::from_iter_values((0..ROWS).map(|row| format!("name {row}")));
    let columns: [(&str, ArrayRef); 2] = [("id", Arc::new(ids)), ("name", Arc::new(names))];
    let records = RecordBatch::try_from_iter(columns).expect("the columns are of one length");
    step.schema(records.schema()).expect("the key is there");
    let bytes = Batch::measured(records.clone(), Origin::from(0)).bytes;
    let mut out = Vec::new();
    let mut round = || {
        let batch = Batch::new(records.clone(), bytes, Origin::from(0));
        step.push(batch, &mut out).expect("the batch can be looked up");
        black_box(out.drain(..).map(|batch| batch.num_rows()).sum::<usize>())
    };
    let mut run = || {
        let started = Instant::now();
        let left: usize = (0..ROUNDS).map(|_| round()).sum();
        assert!(left > 0);
        started.elapsed().as_nanos() as f64 / (ROUNDS * ROWS) as f64
    };
    let mut nanos = f64::INFINITY;
    for _ in 0..RUNS {
        nanos = nanos.min(run());
    }
    println!("{what:<52} {nanos:>7.1} ns  {:>6.2} M records/s", 1_000.0 / nanos);
    nanos
}

fn main() {
    for (capacity, size) in [(100, None), (1000, Some(100)), (10_000, Some(1000)), (100, Some(1))] {
        for mode in ["unordered", "ordered", "key"] {
            let mut parameter = json!({ "mode": mode, "capacity": capacity });
            if let Some(size) = size {
                parameter["batch"] = json!({ "size": size });
            }
            let shown = size.map_or("a quarter".to_string(), |size| size.to_string());
            measure(&format!("{mode}, capacity {capacity}, calls of {shown}"), parameter, None);
        }
    }
    measure("ordered, all from the cache", json!({ "cache": { "entries": ROWS } }), None);
    let (line, calls) = unbounded::<(RecordBatch, Answer)>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for (keys, answer) in calls {
                answer.complete(mirrored(&columns(), &keys));
            }
        });
        for mode in ["unordered", "ordered", "key"] {
            let parameter = json!({ "mode": mode, "capacity": 1000 });
            measure(&format!("{mode}, capacity 1000, from another thread"), parameter, Some(&line));
        }
        drop(line);
    });
}

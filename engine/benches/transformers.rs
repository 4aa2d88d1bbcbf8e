//! What the built-in transformers cost a record, on batches of 8192 records: a number, a short text, a note. Beside them, what
//! it costs to do nothing, and the bare hash.
//!
//! `cargo bench -p transship-engine --bench transformers`. Results are kept in `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use md5::{Digest, Md5};
use serde_json::{Value, json};
use transship_engine::config::Component;
use transship_engine::transform::Maker;
use transship_plugin_api::{Batch, ColumnFormats, DirtyRecord, Host, Origin, Result};

const ROWS: usize = 8192;
const ROUNDS: usize = 300;
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

fn batch(text: impl Fn(usize) -> String) -> RecordBatch {
    let numbers = Int64Array::from_iter_values((0..ROWS as i64).map(|row| row * 7919 % 1000));
    let texts = StringArray::from_iter_values((0..ROWS).map(&text));
    let notes = StringArray::from_iter_values((0..ROWS).map(|row| format!("note {row}")));
    let columns: [(&str, ArrayRef); 3] =
        [("number", Arc::new(numbers)), ("text", Arc::new(texts)), ("note", Arc::new(notes))];
    RecordBatch::try_from_iter(columns).expect("the columns are of one length")
}

/// The best of several runs, in nanoseconds a record.
fn best(mut round: impl FnMut()) -> f64 {
    let run = |_| {
        let started = Instant::now();
        (0..ROUNDS).for_each(|_| round());
        started.elapsed().as_nanos() as f64 / (ROUNDS * ROWS) as f64
    };
    (0..RUNS).map(run).fold(f64::INFINITY, f64::min)
}

fn measure(what: &str, name: &str, column: &str, paras: Value, records: &RecordBatch) {
    let parameter = json!({ "columnName": column, "paras": paras });
    let component = Component { name: name.into(), library: None, parameter, place: String::new() };
    let maker = Maker::new(&component, None, Arc::new(ColumnFormats::default()));
    let mut transformer = maker.make(Arc::new(Nobody)).expect("the parameters are right");
    transformer.schema(records.schema()).expect("the column is there");
    let bytes = Batch::measured(records.clone(), Origin::from(0)).bytes;
    let mut out = Vec::with_capacity(1);
    let nanos = best(|| {
        out.clear();
        let batch = Batch::new(records.clone(), bytes, Origin::from(0));
        transformer.push(batch, &mut out).expect("the batch can be transformed");
        black_box(&out);
    });
    let kept = out.iter().map(Batch::num_rows).sum::<usize>() * 100 / ROWS;
    print_line(&format!("{name} {what}"), nanos, &format!("{kept} % kept"));
}

fn print_line(what: &str, nanos: f64, note: &str) {
    println!("{what:<44} {nanos:>7.1} ns  {:>8.1} M records/s  {note}", 1_000.0 / nanos);
}

fn main() {
    let ascii = batch(|row| format!("1380000{row:04}"));
    let mixed = batch(|row| format!("码头{row}🚢"));
    measure("[2, 4], ASCII", "dx_substr", "text", json!([2, 4]), &ascii);
    measure("[0, 4], mixed scripts", "dx_substr", "text", json!([0, 4]), &mixed);
    measure("[0, 4], a number as text", "dx_substr", "number", json!([0, 4]), &ascii);
    measure("[3, 4, ****], ASCII", "dx_replace", "text", json!([3, 4, "****"]), &ascii);
    measure("[2, 1, *], mixed scripts", "dx_replace", "text", json!([2, 1, "*"]), &mixed);
    measure("[l, 16, 0], ASCII", "dx_pad", "text", json!(["l", 16, "0"]), &ascii);
    measure("[l, 16, 0], mixed scripts", "dx_pad", "text", json!(["l", 16, "0"]), &mixed);
    measure("[md5, toLowerCase]", "dx_digest", "text", json!(["md5", "toLowerCase"]), &ascii);
    measure("[sha1, toLowerCase]", "dx_digest", "text", json!(["sha1", "toLowerCase"]), &ascii);
    measure("[>, 5000], numbers", "dx_filter", "number", json!([">", 5000]), &ascii);
    measure("[>, 500], numbers", "dx_filter", "number", json!([">", 500]), &ascii);
    measure("[>, 5], numbers", "dx_filter", "number", json!([">", 5]), &ascii);
    measure("[=, 13800000042], texts", "dx_filter", "text", json!(["=", "13800000042"]), &ascii);
    measure("[like, .*7], texts", "dx_filter", "text", json!(["like", ".*7"]), &ascii);
    measure("[like, (?!.*7).*], texts", "dx_filter", "text", json!(["like", "(?!.*7).*"]), &ascii);
    let mut text = String::from("13800000000");
    let nanos = best(|| {
        for _ in 0..ROWS {
            text.truncate(11);
            black_box(Md5::digest(black_box(&text)));
        }
    });
    print_line("the bare MD5", nanos, "");
}

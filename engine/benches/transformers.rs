//! What the built-in transformers cost a record, on batches of 8192 records: a number, a short text, a note. Beside them, what
//! it costs to do nothing, and the bare hash.
//!
//! `cargo bench -p transship-engine --bench transformers`. Results are kept in `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, Schema};
use md5::{Digest, Md5};
use serde_json::{Value, json};
use transship_engine::config::Component;
use transship_engine::transform::Maker;
use transship_plugin_api::fields;
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

/// Ids, one of a hundred of which has come a few batches before: a million distinct ones in all.
fn streams() -> [(&'static str, Vec<RecordBatch>); 4] {
    const DISTINCT: u128 = 1_000_000;
    let mut ids = Vec::new();
    for number in 0..DISTINCT {
        // Spread as random ones are.
        ids.push(number.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835));
        if number % 100 == 99 {
            ids.push(ids[ids.len().saturating_sub(20_000)]);
        }
    }
    let batches = |column: &dyn Fn(&[u128]) -> ArrayRef, uuids: bool| -> Vec<RecordBatch> {
        let batch = |ids: &[u128]| {
            let column = column(ids);
            let field = Field::new("id", column.data_type().clone(), false);
            let field = if uuids {
                field.with_metadata(HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_string(), fields::UUID.to_string())]))
            } else {
                field
            };
            let numbers = Int64Array::from_iter_values(0..ids.len() as i64);
            let fields = vec![field, Field::new("number", DataType::Int64, false)];
            RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![column, Arc::new(numbers)]).expect("one length")
        };
        ids.chunks(ROWS).map(batch).collect()
    };
    let hyphenated = |id: &u128| uuid::Uuid::from_u128(*id).to_string();
    [
        (
            "UUIDs of 16 bytes",
            batches(
                &|ids| {
                    let bytes = ids.iter().map(|id| id.to_be_bytes());
                    Arc::new(FixedSizeBinaryArray::try_from_iter(bytes).expect("16 bytes each"))
                },
                true,
            ),
        ),
        ("UUIDs as text", batches(&|ids| Arc::new(StringArray::from_iter_values(ids.iter().map(hyphenated))), false)),
        (
            "whole numbers",
            batches(&|ids| Arc::new(Int64Array::from_iter_values(ids.iter().map(|id| *id as i64))), false),
        ),
        (
            "texts of 36 bytes",
            batches(&|ids| Arc::new(StringArray::from_iter_values(ids.iter().map(hyphenated))), false),
        ),
    ]
}

/// Sends a stream through a `dedup` that has seen nothing yet, or (with a window that is over before the stream comes again) through
/// one that also forgets as many ids as it takes in.
fn measure_dedup(what: &str, parameter: Value, records: &[RecordBatch], passes: usize) {
    let component = Component { name: "dedup".into(), library: None, parameter, place: String::new() };
    let rows: usize = records.iter().map(RecordBatch::num_rows).sum();
    let (mut kept, mut remarks) = (0, Vec::new());
    let run = |_| {
        let maker = Maker::new(&component, None, Arc::new(ColumnFormats::default()));
        let mut transformer = maker.make(Arc::new(Nobody)).expect("the parameters are right");
        transformer.schema(records[0].schema()).expect("the column is there");
        let mut out = Vec::with_capacity(1);
        let mut pass = || {
            let (started, mut passed) = (cpu_nanos(), 0);
            for records in records {
                transformer
                    .push(Batch::new(records.clone(), 0, Origin::from(0)), &mut out)
                    .expect("it can be compared");
                passed += out.drain(..).map(|batch| batch.num_rows()).sum::<usize>();
            }
            kept = passed * 100 / rows;
            (cpu_nanos() - started) as f64 / rows as f64
        };
        let last = (0..passes).map(|_| pass()).last().unwrap_or_default();
        remarks = maker.metrics(true).map(|metrics| metrics.remarks).unwrap_or_default();
        last
    };
    let nanos = (0..RUNS).map(run).fold(f64::INFINITY, f64::min);
    print_line(&format!("dedup {what}"), nanos, &format!("{kept} % kept {}", remarks.join("; ")));
}

/// What this thread has spent of its core: a pass is too long to hope that nobody else wants it meanwhile.
fn cpu_nanos() -> u64 {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedule.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0)
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
    for (what, records) in streams() {
        let mut parameter = json!({ "key": "id" });
        if what == "UUIDs as text" {
            parameter["type"] = json!("uuid");
        }
        measure_dedup(what, parameter.clone(), &records, 1);
        parameter["window"] = json!("20 ms");
        measure_dedup(&format!("{what}, window 20 ms"), parameter, &records, 3);
    }
    let mut text = String::from("13800000000");
    let nanos = best(|| {
        for _ in 0..ROWS {
            text.truncate(11);
            black_box(Md5::digest(black_box(&text)));
        }
    });
    print_line("the bare MD5", nanos, "");
}

//! Tests of a whole trip: what is written is what is read.

use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array,
    ListArray, RecordBatch, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray, UInt64Array,
};

use super::*;

const MICROS_PER_DAY: i64 = 86_400_000_000;

fn decimals(values: &[Option<i128>], precision: u8, scale: i8) -> ArrayRef {
    let array: Decimal128Array = values.iter().collect::<arrow_array::PrimitiveArray<Decimal128Type>>();
    Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
}

/// Values that are easily damaged on the way, one column for each type.
fn torture() -> RecordBatch {
    let texts = ["", "NULL", "a\0b", "it's \"quoted\"\r\n", "00012", "𝄞 ü"];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("boolean", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true), None, Some(false)]))),
        (
            "integer",
            Arc::new(Int64Array::from(vec![
                Some(i64::MIN),
                Some(i64::MAX),
                None,
                Some(0),
                Some(-1),
                Some((1 << 53) + 1),
            ])),
        ),
        ("unsigned", Arc::new(UInt64Array::from(vec![0, 1, 2, i64::MAX as u64, 4, 5]))),
        ("real", Arc::new(Float64Array::from(vec![0.1, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, -12.0, 1e15]))),
        ("single", Arc::new(Float32Array::from(vec![0.5, 3.5, -1.25, 16_777_216.0, 0.0, 126.75]))),
        ("short decimal", decimals(&[Some(1250), Some(-1), None, Some(999_999_999_999_999), Some(0), Some(5)], 15, 2)),
        (
            "long decimal",
            decimals(&[Some(9_999_999_999_999_999), Some(10i128.pow(37)), None, Some(-1), Some(0), Some(1250)], 38, 10),
        ),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
        (
            "nullable text",
            Arc::new(StringArray::from(vec![None, Some(""), None, Some("x"), Some("NULL"), Some("\\N")])),
        ),
        (
            "bytes",
            Arc::new(BinaryArray::from(vec![Some(b"".as_ref()), Some(b"\0\xff"), None, Some(b"a"), Some(b"'"), None])),
        ),
        (
            "date",
            Arc::new(Date32Array::from(vec![Some(0), Some(-719_528), Some(2_932_896), None, Some(19_782), Some(-1)])),
        ),
        (
            "time",
            Arc::new(Time64MicrosecondArray::from(vec![
                Some(0),
                Some(MICROS_PER_DAY - 1),
                None,
                Some(1),
                Some(60),
                Some(7),
            ])),
        ),
        (
            "timestamp",
            Arc::new(TimestampMicrosecondArray::from(vec![Some(0), Some(-1), Some(1), None, Some(500_000), Some(7)])),
        ),
        (
            "instant",
            Arc::new(
                TimestampMicrosecondArray::from(vec![Some(0), Some(-1), Some(1), None, Some(500_000), Some(7)])
                    .with_timezone("UTC"),
            ),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

/// The rows of a batch as text.
fn rows_of(records: &RecordBatch) -> Vec<Vec<Option<String>>> {
    let taken = Taken { records: records.clone(), origin: Origin::default(), bytes: 0, position: None, share: None };
    taken.rows().collect()
}

/// The same values, though reals and decimals may be written otherwise.
fn same(one: &Option<String>, other: &Option<String>) -> bool {
    let number = |text: &String| crate::number::parse(text).ok();
    one == other
        || one
            .as_ref()
            .zip(other.as_ref())
            .is_some_and(|(one, other)| number(one).is_some() && number(one) == number(other))
}

#[test]
fn every_value_comes_back_from_a_table_made_for_it() {
    let place = Place::empty();
    let written = write(place.parameter(json!({"table": "t", "createTable": true})), vec![torture()]).unwrap();
    assert_eq!((written.report.written, written.dirty), (6, vec![]));
    let read = read(place.parameter(json!({"table": "t"}))).unwrap();
    assert_eq!(read.dirty, []);
    let schema = torture().schema();
    for (row, (sent, back)) in rows_of(&torture()).iter().zip(read.rows()).enumerate() {
        for (column, (sent, back)) in sent.iter().zip(&back).enumerate() {
            let name = schema.field(column).name();
            assert!(same(sent, back), "row {row} of {name} was {sent:?} and came back as {back:?}");
        }
    }
    let types = "Boolean Int64 Int64 Float64 Float64 Utf8 Utf8 Utf8 Utf8 Binary Date32 Time64(µs) Timestamp(µs) Timestamp(µs, \"UTC\")";
    assert_eq!(read.types().join(" "), types);
}

#[test]
fn every_value_comes_back_from_a_table_of_texts() {
    let place = Place::empty();
    let names: Vec<_> = torture().schema().fields().iter().map(|field| format!("\"{}\" TEXT", field.name())).collect();
    place.connection().execute_batch(&format!("CREATE TABLE t ({})", names.join(", "))).unwrap();
    let written = write(place.parameter(json!({"table": "t", "column": ["*"]})), vec![torture()]).unwrap();
    assert_eq!((written.report.written, written.dirty), (6, vec![]));
    let types = json!({"bytes": "binary", "date": "date", "time": "time", "timestamp": "timestamp", "instant": "instant",
                       "boolean": "boolean", "integer": "integer", "unsigned": "integer", "real": "number"});
    let read = read(place.parameter(json!({"table": "t", "types": types}))).unwrap();
    assert_eq!(read.dirty, []);
    for (sent, back) in rows_of(&torture()).iter().zip(read.rows()) {
        for (sent, back) in sent.iter().zip(&back) {
            assert!(same(sent, back), "{sent:?} came back as {back:?}");
        }
    }
}

#[test]
fn what_a_sqlite_table_holds_is_copied_cell_by_cell() {
    let from = Place::with(
        "CREATE TABLE t (i INTEGER, r REAL, n NUMERIC(20,2), s TEXT, b BLOB, d DATE, ts TIMESTAMP, f BOOLEAN);
         INSERT INTO t VALUES (1, 1.5, 12.50, 'x', x'00', '2024-02-29', '2024-02-29 01:02:03.250', 1),
                              (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (-1, 9e999, '7', '', x'', NULL, NULL, 0);",
    );
    let batches: Vec<_> =
        read(from.parameter(json!({"table": "t"}))).unwrap().batches.into_iter().map(|batch| batch.records).collect();
    let to = Place::empty();
    write(to.parameter(json!({"table": "t", "createTable": true})), batches).unwrap();
    let dump =
        "SELECT quote(i), quote(r), quote(n), quote(s), quote(b), quote(d), datetime(ts), quote(f), typeof(n) FROM t";
    assert_eq!(to.rows(dump), from.rows(dump));
}

#[test]
fn lists_are_written_as_json() {
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None]);
    let records = RecordBatch::try_from_iter_with_nullable([("l", Arc::new(lists) as ArrayRef, true)]).unwrap();
    let place = Place::empty();
    write(place.parameter(json!({"table": "t", "createTable": true})), vec![records]).unwrap();
    assert_eq!(place.rows("SELECT l FROM t"), [[Stored::Text("[1,null]".into())], [Stored::Null]]);
}

#[test]
fn the_job_in_the_readme_runs() {
    let (_, job) = include_str!("../../README.md").split_once("```json\n").unwrap();
    let job: Json = serde_json::from_str(job.split_once("```").unwrap().0).unwrap();
    let content = &job["job"]["content"][0];
    let from = Place::with(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, placed DATE, country TEXT);
         INSERT INTO orders VALUES (1, 'ann', '2023-12-31', 'de'), (2, 'bob', '2024-01-01', 'fr'), (3, NULL, '2024-05-01', 'es');",
    );
    let mut reader = content["reader"]["parameter"].clone();
    reader["connection"][0]["jdbcUrl"] = json!([format!("jdbc:sqlite:{}", from.path().display())]);
    let read = read_with(reader, 2, &ReadOptions::default()).unwrap();
    let to = Place::empty();
    for _ in 0..2 {
        let batches = read.batches.iter().map(|batch| batch.records.clone()).collect();
        let written = write(to.parameter(content["writer"]["parameter"].clone()), batches).unwrap();
        assert_eq!((written.report.written, written.dirty), (2, vec![]));
    }
    let rows =
        "SELECT group_concat(concat_ws(' ', id, customer, placed, country)) FROM (SELECT * FROM orders ORDER BY id)";
    assert_eq!(to.one(rows), "2 bob 2024-01-01 FR,3 2024-05-01 ES");
}

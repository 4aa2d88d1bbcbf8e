//! Records as DataX prints them.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array,
    RecordBatch, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray, UInt64Array,
};
use serde_json::{Value, json};
use transship_plugin_api::{ColumnFormats, Params};

use super::{TestHost, all_splits, batch, batches, options, reader};
use crate::text::Lines;

fn lines(delimiter: &str, columns: Vec<ArrayRef>) -> String {
    let (lines, dirty) = lines_by(json!({}), delimiter, columns);
    assert_eq!(dirty, []);
    lines
}

/// The lines, by this `common.column`, and what is dirty.
fn lines_by(common: Value, delimiter: &str, columns: Vec<ArrayRef>) -> (String, Vec<(u64, String, String)>) {
    let names = (0..columns.len()).map(|index| index.to_string());
    let mut batch = batch(RecordBatch::try_from_iter(names.zip(columns)).unwrap());
    let parameter = json!({ "common": { "column": common } });
    let formats = ColumnFormats::read(&Params::new(&parameter, "parameter").unwrap()).unwrap();
    let host = TestHost::default();
    let mut out = String::new();
    let rows = 0..batch.num_rows();
    let written = Lines::new(delimiter, formats).push(&mut batch, rows, &host, &mut out).unwrap();
    let dirty = host.dirty.into_inner().unwrap();
    assert_eq!(written as usize + dirty.len(), batch.num_rows());
    (out, dirty)
}

#[test]
fn constants_of_any_json_form_are_printed_as_datax_prints_them() {
    let parameter = json!({
        "column": [
            { "type": "long", "value": "12" },
            { "type": "string", "value": 7 },
            { "type": "bool", "value": "TRUE" },
            { "type": "double", "value": "3.25" },
            { "type": "double", "value": "3" },
            { "type": "double", "value": "1E3" },
            { "type": "date", "value": "2024-02-29 01:02:03" },
            { "value": "no type given" }
        ],
        "sliceRecordCount": "2"
    });
    let mut reader = reader(parameter);
    let split = all_splits(reader.as_mut(), 1).remove(0);
    let records = batches(reader.as_mut(), &split, &options(8192)).remove(0);
    let line = "12\t7\ttrue\t3.25\t3\t1E3\t2024-02-29 01:02:03\tno type given\n";
    assert_eq!(lines("\t", records.columns().to_vec()), line.repeat(2));
}

/// Traps 29, 35, 90.
#[test]
fn values_are_joined_by_the_whole_delimiter() {
    let columns = || -> Vec<ArrayRef> {
        vec![
            Arc::new(Int64Array::from(vec![Some(12), None])),
            Arc::new(StringArray::from(vec!["7", ""])),
            Arc::new(BooleanArray::from(vec![true, false])),
        ]
    };
    assert_eq!(lines("\t", columns()), "12\t7\ttrue\nnull\t\tfalse\n");
    assert_eq!(lines("||", columns()), "12||7||true\nnull||||false\n");
    assert_eq!(lines("", columns()), "127true\nnullfalse\n");
}

/// Traps 31, 32.
#[test]
fn numbers_keep_their_digits() {
    let decimal = Decimal128Array::from(vec![12_300]).with_precision_and_scale(10, 2).unwrap();
    assert_eq!(
        lines(",", vec![Arc::new(UInt64Array::from(vec![u64::MAX])), Arc::new(decimal)]),
        "18446744073709551615,123.00\n"
    );
}

#[test]
fn floats_are_written_plainly_as_java_does() {
    for (float, expected) in [
        (3.25, "3.25"),
        (3.0, "3.0"),
        (-1.0, "-1.0"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (0.001, "0.001"),
        (0.0005, "0.00050"),
        (0.00015, "0.00015"),
        (1e-7, "0.00000010"),
        (-1e-7, "-0.00000010"),
        (9_999_999.0, "9999999.0"),
        (1e7, "10000000"),
        (12_345_678.9, "12345678.9"),
        (1e20, "100000000000000000000"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(lines("", vec![Arc::new(Float64Array::from(vec![float]))]), format!("{expected}\n"), "{float}");
    }
    assert_eq!(lines("", vec![Arc::new(Float32Array::from(vec![0.1]))]), "0.1\n");
}

/// Trap 26.
#[test]
fn dates_and_times_show_a_fraction_only_where_there_is_one() {
    let moments = TimestampMicrosecondArray::from(vec![1_709_211_845_678_900]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(moments.clone()),
        Arc::new(moments.with_timezone("+08:00")),
        Arc::new(Date32Array::from(vec![19_782])),
        Arc::new(Time64MicrosecondArray::from(vec![86_399_999_999])),
    ];
    assert_eq!(
        lines(",", columns),
        "2024-02-29 13:04:05.6789,2024-02-29 21:04:05.6789+08:00,2024-02-29,23:59:59.999999\n"
    );
    let whole: Vec<ArrayRef> = vec![Arc::new(TimestampMicrosecondArray::from(vec![-1_000_000]))];
    assert_eq!(lines(",", whole), "1969-12-31 23:59:59\n");
}

/// Trap 25.
#[test]
fn dates_follow_the_formats_and_the_zone_of_the_job() {
    let moments = TimestampMicrosecondArray::from(vec![1_709_211_845_678_900]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(moments.clone()),
        Arc::new(moments.with_timezone("UTC")),
        Arc::new(Date32Array::from(vec![19_782])),
        Arc::new(Time64MicrosecondArray::from(vec![3_660_000_000])),
    ];
    let common = json!({
        "datetimeFormat": "yyyy/MM/dd HH:mm:ss", "dateFormat": "dd.MM.yyyy", "timeFormat": "HH:mm", "timeZone": "GMT+8"
    });
    let (text, _) = lines_by(common, ",", columns);
    assert_eq!(text, "2024/02/29 13:04:05,2024/02/29 21:04:05,29.02.2024,01:01\n");
}

/// Trap 36.
#[test]
fn bytes_are_the_text_that_they_are_in_the_encoding_or_dirty() {
    let bytes = || -> Vec<ArrayRef> { vec![Arc::new(BinaryArray::from(vec!["aä".as_bytes(), b"\xff", b"\xb2\xb4"]))] };
    let (text, dirty) = lines_by(json!({}), "", bytes());
    assert_eq!(text, "aä\n");
    assert_eq!(dirty.iter().map(|dirty| (dirty.0, dirty.1.as_str())).collect::<Vec<_>>(), [(1, "0"), (2, "0")]);
    assert!(dirty[0].2.contains("UTF-8"), "{}", dirty[0].2);
    let (text, dirty) = lines_by(json!({ "encoding": "gbk" }), "", bytes());
    assert_eq!((text.as_str(), dirty.len()), ("a盲\n泊\n", 1));
}

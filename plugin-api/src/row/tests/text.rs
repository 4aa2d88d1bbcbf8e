//! Tests of values as text and as JSON.

use std::sync::Arc;

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, DurationMillisecondArray,
    Float16Array, Float32Array, Float64Array, Int8Array, Int64Array, IntervalMonthDayNanoArray, ListArray, MapArray,
    NullArray, RecordBatch, StringArray, StructArray, Time64MicrosecondArray, Time64NanosecondArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
    builder::{Int32Builder, MapBuilder, StringBuilder},
};
use arrow_buffer::{IntervalMonthDayNano, i256};
use arrow_schema::{DataType, Field, Fields, Schema};
use serde_json::json;

use crate::row::{Column, cell_to_text, record_to_json};
use crate::{ColumnFormats, Params};

#[track_caller]
fn reads(array: impl Into<ArrayRef>, expected: &[Option<&str>]) {
    let array = array.into();
    let texts: Vec<_> = (0..array.len()).map(|row| cell_to_text(array.as_ref(), row)).collect();
    let texts: Vec<_> = texts.iter().map(|text| text.as_deref()).collect();
    assert_eq!(texts, expected);
}

fn of<A: arrow_array::Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}

#[test]
fn plain_values_and_nulls() {
    reads(of(BooleanArray::from(vec![Some(true), Some(false), None])), &[Some("true"), Some("false"), None]);
    reads(of(Int8Array::from(vec![-128, 0])), &[Some("-128"), Some("0")]);
    reads(of(Int64Array::from(vec![i64::MIN, 10])), &[Some("-9223372036854775808"), Some("10")]);
    reads(of(UInt64Array::from(vec![u64::MAX])), &[Some("18446744073709551615")]);
    reads(of(StringArray::from(vec![Some(""), Some("a\tb"), None])), &[Some(""), Some("a\tb"), None]);
    reads(of(BinaryArray::from(vec![b"\x00\xff".as_slice(), b""])), &[Some("00ff"), Some("")]);
    reads(of(NullArray::new(1)), &[None]);
}

#[test]
fn floats_are_the_shortest_text_that_reads_back() {
    reads(of(Float32Array::from(vec![0.1, 16_777_216.0])), &[Some("0.1"), Some("16777216")]);
    let half = arrow_buffer::Buffer::from_slice_ref([0x3800u16]);
    reads(of(Float16Array::new(half.into(), None)), &[Some("0.5")]);
    let values =
        vec![0.1, 1.0, -0.0, 1e16, 1e17, 5e-324, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-5, 9.9e-6];
    let expected = [
        "0.1",
        "1",
        "-0",
        "10000000000000000",
        "1e17",
        "5e-324",
        "1.7976931348623157e308",
        "NaN",
        "Infinity",
        "-Infinity",
        "0.00001",
        "9.9e-6",
    ];
    reads(of(Float64Array::from(values)), &expected.map(Some));
}

#[test]
fn decimals_have_every_digit() {
    let decimals = |values: Vec<i128>, precision, scale| {
        of(Decimal128Array::from(values).with_precision_and_scale(precision, scale).unwrap())
    };
    reads(decimals(vec![12_345, -5, 0, 100], 10, 2), &[Some("123.45"), Some("-0.05"), Some("0.00"), Some("1.00")]);
    reads(decimals(vec![-7, 0], 10, -3), &[Some("-7000"), Some("0")]);
    reads(
        decimals(vec![10i128.pow(38) - 1, i64::MAX as i128 * 10], 38, 0),
        &[Some("99999999999999999999999999999999999999"), Some("92233720368547758070")],
    );
    reads(decimals(vec![-1], 38, 38), &[Some("-0.00000000000000000000000000000000000001")]);
    let wide = Decimal256Array::from(vec![i256::MINUS_ONE, i256::from_i128(i128::MAX)])
        .with_precision_and_scale(76, 40)
        .unwrap();
    reads(
        of(wide),
        &[Some("-0.0000000000000000000000000000000000000001"), Some("0.0170141183460469231731687303715884105727")],
    );
}

#[test]
fn dates_and_times_are_iso_text() {
    reads(of(Date32Array::from(vec![0, -1, 19_782])), &[Some("1970-01-01"), Some("1969-12-31"), Some("2024-02-29")]);
    reads(of(Time64MicrosecondArray::from(vec![0, 86_399_999_999])), &[Some("00:00:00"), Some("23:59:59.999999")]);
    reads(of(Time64NanosecondArray::from(vec![1])), &[Some("00:00:00.000000001")]);
    reads(of(TimestampMicrosecondArray::from(vec![-1])), &[Some("1969-12-31T23:59:59.999999")]);
    reads(of(TimestampNanosecondArray::from(vec![1_500])), &[Some("1970-01-01T00:00:00.0000015")]);
    reads(of(TimestampSecondArray::from(vec![0]).with_timezone("+02:00")), &[Some("1970-01-01T00:00:00Z")]);
    reads(of(DurationMillisecondArray::from(vec![-90_000_500])), &[Some("-25:00:00.5")]);
    let interval = IntervalMonthDayNano::new(1, -2, 3_000_000_000);
    reads(of(IntervalMonthDayNanoArray::from(vec![interval])), &[Some("P1M-2DT3S")]);
}

#[test]
fn lists_structs_and_maps_are_json() {
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None, Some(vec![])]);
    reads(of(list), &[Some("[1,null]"), None, Some("[]")]);

    let fields = Fields::from(vec![Field::new("a", DataType::Utf8, true), Field::new("b", DataType::Boolean, true)]);
    let columns: Vec<ArrayRef> = vec![of(StringArray::from(vec!["x\"y"])), of(BooleanArray::from(vec![None]))];
    reads(of(StructArray::new(fields, columns, None)), &[Some(r#"{"a":"x\"y","b":null}"#)]);

    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    map.keys().append_value("k");
    map.values().append_value(1);
    map.append(true).unwrap();
    reads(of::<MapArray>(map.finish()), &[Some(r#"[{"key":"k","value":1}]"#)]);
}

#[test]
fn a_record_is_a_json_object_without_losing_digits() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("big", of(UInt64Array::from(vec![u64::MAX]))),
        ("float", of(Float32Array::from(vec![0.1]))),
        ("nan", of(Float64Array::from(vec![f64::NAN]))),
        ("price", of(Decimal128Array::from(vec![110]).with_precision_and_scale(5, 2).unwrap())),
        ("raw", of(BinaryArray::from(vec![b"\xff".as_slice()]))),
        ("at", of(TimestampNanosecondArray::from(vec![1]))),
        ("tags", of(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]))),
        ("none", of(StringArray::from(vec![None::<&str>]))),
        ("yes", of(BooleanArray::from(vec![true]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let record = record_to_json(&batch, 0);
    assert_eq!(
        record,
        json!({
            "big": u64::MAX, "float": 0.1, "nan": "NaN", "price": "1.10", "raw": "ff", "at": "1970-01-01T00:00:00.000000001",
            "tags": [1], "none": null, "yes": true
        })
    );
    assert!(record.to_string().contains(r#""float":0.1,"#), "{record}");
}

#[test]
fn columns_of_one_name_are_told_apart() {
    let field = |name| Field::new(name, DataType::Int8, true);
    let schema = Arc::new(Schema::new(vec![field("a"), field("a (2)"), field("a"), field("a")]));
    let columns = (1..=4).map(|value| of(Int8Array::from(vec![value]))).collect();
    let batch = RecordBatch::try_new(schema, columns).unwrap();
    assert_eq!(record_to_json(&batch, 0), json!({ "a": 1, "a (2)": 2, "a (3)": 3, "a (4)": 4 }));
}

#[test]
fn dates_and_moments_of_any_unit_follow_the_formats_of_the_job() {
    let text = |column: serde_json::Value, array: ArrayRef| {
        let parameter = json!({ "common": { "column": column } });
        let formats = ColumnFormats::read(&Params::new(&parameter, "parameter").unwrap()).unwrap();
        let mut out = String::new();
        let dated = Column::new(array.as_ref()).get(0).write_dated(&formats, &formats.zone_of("UTC"), &mut out);
        dated.then_some(out)
    };
    let micros = 1_709_211_845_678_900;
    let moment = || TimestampMicrosecondArray::from(vec![micros]);
    let nanos = || TimestampNanosecondArray::from(vec![micros * 1_000 + 1]);
    let written =
        json!({ "datetimeFormat": "HH:mm:ss", "dateFormat": "d.M.yyyy", "timeFormat": "HHmm", "timeZone": "GMT+8" });
    for (array, default, by_format) in [
        (of(moment()), "2024-02-29 13:04:05.6789", "13:04:05"),
        (of(moment().with_timezone("UTC")), "2024-02-29 13:04:05.6789+00:00", "21:04:05"),
        (of(nanos()), "2024-02-29 13:04:05.678900001", "13:04:05"),
        (of(nanos().with_timezone("UTC")), "2024-02-29 13:04:05.678900001+00:00", "21:04:05"),
        (of(TimestampSecondArray::from(vec![-1])), "1969-12-31 23:59:59", "23:59:59"),
        (of(Date32Array::from(vec![19_782])), "2024-02-29", "29.2.2024"),
        (of(Time64MicrosecondArray::from(vec![3_660_500_000])), "01:01:00.5", "0101"),
        (of(Time64NanosecondArray::from(vec![1])), "00:00:00.000000001", "0000"),
    ] {
        assert_eq!(text(json!({}), array.clone()).as_deref(), Some(default));
        assert_eq!(text(written.clone(), array).as_deref(), Some(by_format));
    }
    assert_eq!(text(json!({}), of(Int64Array::from(vec![1]))), None);
    assert_eq!(text(json!({}), of(DurationMillisecondArray::from(vec![1]))), None);
}

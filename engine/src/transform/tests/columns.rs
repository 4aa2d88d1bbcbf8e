//! Columns of every type, as the texts that a transformer sees.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::*;
use arrow_buffer::i256;
use arrow_schema::Field;
use serde_json::json;
use transship_plugin_api::ColumnFormats;

use super::{formats, run, run_on};

/// What `dx_substr` sees in a column.
fn seen(column: impl Array + 'static) -> Vec<Option<String>> {
    let outcome = run("dx_substr", json!(["0", "1000"]), column);
    assert_eq!(outcome.dirty, []);
    outcome.values
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<Option<String>> {
    texts.iter().map(|text| (*text != "NULL").then(|| text.to_string())).collect()
}

#[test]
fn numbers_keep_all_their_digits() {
    assert_eq!(seen(Int64Array::from(vec![Some(i64::MIN), None])), texts(["-9223372036854775808", "NULL"]));
    assert_eq!(seen(UInt64Array::from(vec![u64::MAX])), texts(["18446744073709551615"]));
    assert_eq!(seen(Int8Array::from(vec![-1])), texts(["-1"]));
    let decimals = Decimal128Array::from(vec![150, -5]).with_precision_and_scale(38, 2).unwrap();
    assert_eq!(seen(decimals), texts(["1.50", "-0.05"]));
    let wide = Decimal256Array::from(vec![i256::from_i128(i128::MAX)]).with_precision_and_scale(76, 0).unwrap();
    assert_eq!(seen(wide), texts(["170141183460469231731687303715884105727"]));
    assert_eq!(seen(BooleanArray::from(vec![Some(true), Some(false), None])), texts(["true", "false", "NULL"]));
}

#[test]
fn floats_have_no_exponent_and_end_as_in_datax() {
    assert_eq!(seen(Float32Array::from(vec![0.1, -2.5, 16_777_216.0])), texts(["0.1", "-2.5", "16777216"]));
    let floats = [0.1, 1.0, -100.0, 0.0, -0.0, 9_999_999.0, 1e7, 1e20, 0.001, 1e-4, 1.5e-4, 1e-7];
    let shown = [
        "0.1",
        "1.0",
        "-100.0",
        "0.0",
        "-0.0",
        "9999999.0",
        "10000000",
        "100000000000000000000",
        "0.001",
        "0.00010",
        "0.00015",
        "0.00000010",
    ];
    assert_eq!(seen(Float64Array::from(floats.to_vec())), texts(shown));
    let others = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    assert_eq!(seen(Float64Array::from(others.to_vec())), texts(["NaN", "Infinity", "-Infinity"]));
}

#[test]
fn texts_of_every_kind_are_texts() {
    assert_eq!(seen(LargeStringArray::from(vec![Some("a"), None])), texts(["a", "NULL"]));
    assert_eq!(seen(StringViewArray::from(vec![Some("a text of more than twelve bytes"), None])).len(), 2);
    let dictionary: DictionaryArray<types::Int32Type> = [Some("pier"), None, Some("pier")].into_iter().collect();
    assert_eq!(seen(dictionary), texts(["pier", "NULL", "pier"]));
    assert_eq!(seen(NullArray::new(2)), texts(["NULL", "NULL"]));
}

#[test]
fn dates_are_written_in_the_jobs_formats() {
    let day = || Date32Array::from(vec![Some(19_782), None]);
    let moment = || TimestampMicrosecondArray::from(vec![1_709_211_599_500_000]);
    let time = || Time64MicrosecondArray::from(vec![3_723_000_000]);
    assert_eq!(seen(day()), texts(["2024-02-29", "NULL"]));
    assert_eq!(seen(moment()), texts(["2024-02-29 12:59:59.5"]));
    assert_eq!(seen(time()), texts(["01:02:03"]));
    let nanos = TimestampNanosecondArray::from(vec![1_709_211_599_000_000_001]);
    assert_eq!(seen(nanos), texts(["2024-02-29 12:59:59.000000001"]));

    let formats =
        formats(json!({ "datetimeFormat": "dd/MM/yyyy HH:mm", "dateFormat": "yyyyMMdd", "timeFormat": "HHmm",
                                  "timeZone": "GMT+8" }));
    let written = |column: ArrayRef| {
        let field = Field::new("value", column.data_type().clone(), true);
        run_on("dx_substr", json!(["0", "99"]), field, column, &formats).values
    };
    assert_eq!(written(Arc::new(day())), texts(["20240229", "NULL"]));
    assert_eq!(written(Arc::new(moment())), texts(["29/02/2024 12:59"]), "a local time is never shifted");
    assert_eq!(written(Arc::new(moment().with_timezone("UTC"))), texts(["29/02/2024 20:59"]));
    assert_eq!(written(Arc::new(time())), texts(["0102"]));
}

#[test]
fn bytes_are_decoded_and_what_is_no_text_is_dirty() {
    let bytes = || BinaryArray::from(vec![Some("船".as_bytes()), None, Some(&[0xff, 0x41]), Some(b"A")]);
    let outcome = run("dx_pad", json!(["l", "2", "."]), bytes());
    assert_eq!(outcome.texts(), [".船", "..", ".A"]);
    assert_eq!(outcome.rows(), [0, 1, 3]);
    assert_eq!(outcome.dirty.len(), 1);
    assert_eq!((outcome.dirty[0].position, outcome.dirty[0].cause.as_str()), (102, "the bytes are no text in UTF-8"));

    let gbk = BinaryArray::from(vec![Some(&[0xb4, 0xac][..])]);
    let field = Field::new("value", gbk.data_type().clone(), true);
    let outcome = run_on("dx_substr", json!(["0", "1"]), field, Arc::new(gbk), &formats(json!({ "encoding": "GBK" })));
    assert_eq!(outcome.texts(), ["船"]);
}

#[test]
fn lists_are_json() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("a"), None]);
    lists.append_null();
    assert_eq!(seen(lists.finish()), texts([r#"["a",null]"#, "NULL"]));
}

#[test]
fn a_result_is_a_plain_text_whatever_the_column_was() {
    let numbers = StringArray::from(vec!["1.50"]);
    let field = transship_plugin_api::fields::number_field("value");
    // That the schema promises just this is checked on each run.
    let outcome = run_on("dx_pad", json!(["l", "6", "x"]), field, Arc::new(numbers), &ColumnFormats::default());
    assert_eq!(outcome.texts(), ["xx1.50"]);
}

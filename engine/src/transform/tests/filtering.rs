//! What `dx_filter` drops: each operator, on each kind of column, and NULL.

use std::sync::Arc;

use arrow_array::*;
use arrow_buffer::i256;
use arrow_schema::{DataType, Field};
use serde_json::{Value, json};
use transship_plugin_api::ColumnFormats;

use super::super::builtin;
use super::{Witness, batch, formats, make_with, run, run_on, run_texts};

/// The rows that stay, of a column of any type.
fn kept(operator: &str, value: impl Into<Value>, column: impl Array + 'static) -> Vec<u64> {
    let outcome = run("dx_filter", json!([operator, value.into()]), column);
    assert_eq!(outcome.dirty, []);
    outcome.rows()
}

/// The rows that each operator drops: `>`, `>=`, `<`, `<=`, `=`, `==`, `!=`.
fn dropped<A: Array + Clone + 'static>(value: &str, column: A) -> [Vec<u64>; 7] {
    let all = column.len() as u64;
    [">", ">=", "<", "<=", "=", "==", "!="].map(|operator| {
        let kept = kept(operator, value, column.clone());
        (0..all).filter(|row| !kept.contains(row)).collect()
    })
}

/// What is dropped of three values of which the second is equal to the operand, in rising order.
fn around() -> [Vec<u64>; 7] {
    [vec![2], vec![1, 2], vec![0], vec![0, 1], vec![1], vec![1], vec![0, 2]]
}

/// What is dropped of two values that the operand lies between.
fn between() -> [Vec<u64>; 7] {
    [vec![1], vec![1], vec![0], vec![0], vec![], vec![], vec![0, 1]]
}

/// Trap 41.
#[test]
fn what_matches_is_dropped() {
    assert_eq!(kept(">", "3", Int64Array::from(vec![1, 2, 3, 4, 5])), [0, 1, 2]);
    assert_eq!(kept("like", "a.*", StringArray::from(vec!["abc", "xabc"])), [1]);
}

/// Trap 41.
#[test]
fn null_has_a_rule_of_its_own_for_each_operator() {
    let nulls: [(&str, &str, bool); 18] = [
        (">", "1", true),
        ("<", "1", true),
        (">=", "1", true),
        ("<=", "1", true),
        (">", "null", true),
        ("<", "null", true),
        (">=", "null", true),
        ("<=", "null", true),
        ("=", "1", true),
        ("=", "null", false),
        ("==", "NULL", false),
        ("==", "1", true),
        ("!=", "1", false),
        ("!=", "Null", true),
        ("like", ".*", true),
        ("like", "null", true),
        ("not like", ".*", false),
        ("not like", "null", false),
    ];
    for (operator, value, stays) in nulls {
        let outcome = run_texts("dx_filter", json!([operator, value]), [None]);
        assert_eq!(outcome.rows().len(), usize::from(stays), "{operator} {value}");
    }
    for (operator, value, stays) in nulls.iter().filter(|(_, value, _)| *value == "1") {
        let numbers = run("dx_filter", json!([operator, value]), Int32Array::from(vec![None]));
        assert_eq!(numbers.rows().len(), usize::from(*stays), "{operator} {value} with a number");
    }
}

#[test]
fn null_can_be_asked_for_in_any_column() {
    let numbers = Int32Array::from(vec![Some(1), None]);
    assert_eq!(kept("=", "null", numbers.clone()), [0]);
    assert_eq!(kept("!=", "null", numbers), [1], "all that is not NULL differs from it");
    let days = Date32Array::from(vec![Some(1), None]);
    assert_eq!(kept("==", "NULL", days), [0]);
    assert_eq!(kept("=", "null", StringArray::from(vec![Some("null"), None, Some("x")])), [2], "the word as well");
}

#[test]
fn whole_numbers_of_each_size_compare_exactly() {
    assert_eq!(dropped("2", Int8Array::from(vec![1, 2, 3])), around());
    assert_eq!(dropped("-2", Int16Array::from(vec![-3, -2, -1])), around());
    assert_eq!(dropped("2", Int32Array::from(vec![1, 2, 3])), around());
    let large = 9_007_199_254_740_993;
    assert_eq!(dropped("9007199254740993", Int64Array::from(vec![large - 1, large, large + 1])), around());
    assert_eq!(dropped("2", UInt8Array::from(vec![1, 2, 3])), around());
    assert_eq!(dropped("2", UInt16Array::from(vec![1, 2, 3])), around());
    assert_eq!(dropped("2", UInt32Array::from(vec![1, 2, 3])), around());
    let largest = UInt64Array::from(vec![u64::MAX - 2, u64::MAX - 1, u64::MAX]);
    assert_eq!(dropped("18446744073709551614", largest), around());
}

#[test]
fn whole_numbers_compare_with_any_number() {
    for value in ["1.5", "15e-1", "+1.50", " 1.5 "] {
        assert_eq!(dropped(value, Int64Array::from(vec![1, 2])), between(), "{value}");
    }
    assert_eq!(dropped("-1.5", Int64Array::from(vec![-2, -1])), between());
    assert_eq!(dropped("2e0", Int64Array::from(vec![1, 2, 3])), around());
    let all_and_none = [vec![], vec![], vec![0], vec![0], vec![], vec![], vec![0]];
    for above in ["9223372036854775808", "1e300", "1e99999999999"] {
        assert_eq!(dropped(above, Int64Array::from(vec![i64::MAX])), all_and_none, "{above}");
    }
    assert_eq!(dropped("256", UInt8Array::from(vec![255])), all_and_none);
    assert_eq!(dropped("-1", UInt64Array::from(vec![0])), [vec![0], vec![0], vec![], vec![], vec![], vec![], vec![0]]);
}

#[test]
fn decimals_compare_exactly() {
    let decimals =
        |values: Vec<i128>, scale| Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap();
    assert_eq!(dropped("1.5", decimals(vec![149, 150, 151], 2)), around());
    assert_eq!(dropped("1.505", decimals(vec![150, 151], 2)), between());
    assert_eq!(dropped("-1.505", decimals(vec![-151, -150], 2)), between());
    assert_eq!(dropped("200", decimals(vec![1, 2, 3], -2)), around());
    let fine = 12_345_678_901_234_567_890_123_456_789_012_345_678;
    assert_eq!(
        dropped("1.2345678901234567890123456789012345678", decimals(vec![fine - 1, fine, fine + 1], 37)),
        around()
    );
    let wide = |values: [i128; 3]| {
        let values = values.map(i256::from_i128).to_vec();
        Decimal256Array::from(values).with_precision_and_scale(76, 1).unwrap()
    };
    assert_eq!(dropped("0.5", wide([4, 5, 6])), around());
    assert_eq!(dropped("-0.5", wide([-6, -5, -4])), around());
    let small = Decimal64Array::from(vec![4, 5, 6]).with_precision_and_scale(10, 1).unwrap();
    assert_eq!(dropped("0.5", small), around());
}

#[test]
fn floats_compare_as_floats_and_nan_with_nothing() {
    assert_eq!(dropped("0.5", Float64Array::from(vec![0.25, 0.5, f64::INFINITY])), around());
    let only_differs = [vec![], vec![], vec![], vec![], vec![], vec![], vec![0]];
    assert_eq!(dropped("1", Float64Array::from(vec![f64::NAN])), only_differs);
    assert_eq!(dropped("NaN", Float64Array::from(vec![1.0])), only_differs);
    assert_eq!(dropped("1", Float32Array::from(vec![f32::NAN])), only_differs);
    assert_eq!(
        dropped("Infinity", Float64Array::from(vec![1.0])),
        [vec![], vec![], vec![0], vec![0], vec![], vec![], vec![0]]
    );
    assert_eq!(kept("=", "0", Float64Array::from(vec![-0.0])), [0; 0]);
}

#[test]
fn a_narrow_float_is_the_number_that_it_shows() {
    let tenth = || Float32Array::from(vec![0.09, 0.1, 0.11]);
    assert_eq!(dropped("0.1", tenth()), around());
    assert_eq!(dropped("0.1000000001", Float32Array::from(vec![0.1, 0.11])), between());
    assert_eq!(dropped("0.0999999999", Float32Array::from(vec![0.09, 0.1])), between());
}

#[test]
fn numbers_kept_as_text_compare_as_numbers() {
    let dropped = |value: &str, numbers: &[&str]| {
        [">", ">=", "<", "<=", "=", "==", "!="].map(|operator| {
            let column = StringArray::from(numbers.to_vec());
            let field = transship_plugin_api::fields::number_field("value");
            let formats = ColumnFormats::default();
            let kept = run_on("dx_filter", json!([operator, value]), field, Arc::new(column), &formats).rows();
            (0..numbers.len() as u64).filter(|row| !kept.contains(row)).collect::<Vec<_>>()
        })
    };
    assert_eq!(dropped("10", &["9", "1e1", "11"]), around());
    assert_eq!(dropped("-0.5", &["-10", "-.50", "+0"]), around());
    assert_eq!(dropped("0.1", &["0.09999999999999999999999", "00.100", "0.10000000000000000000001"]), around());
    assert_eq!(dropped("1e400", &["9.9e399", "10e399", "Infinity"]), around());
    assert_eq!(dropped("0", &["-Infinity", "0e5", "1e-400"]), around());
    assert_eq!(dropped("1", &["NaN"]), [vec![], vec![], vec![], vec![], vec![], vec![], vec![0]]);
}

#[test]
fn a_number_column_with_something_else_in_it_makes_that_record_dirty() {
    let column = StringArray::from(vec![Some("1"), Some("one"), None, Some("2")]);
    let field = transship_plugin_api::fields::number_field("value");
    let outcome = run_on("dx_filter", json!([">", "1"]), field, Arc::new(column), &ColumnFormats::default());
    assert_eq!(outcome.rows(), [0, 2]);
    assert_eq!(outcome.dirty.len(), 1);
    assert_eq!(outcome.dirty[0].value.as_deref(), Some("one"));
}

#[test]
fn texts_compare_by_utf16_units() {
    assert_eq!(dropped("b", StringArray::from(vec!["a", "b", "ba"])), around());
    assert_eq!(dropped("10", StringArray::from(vec!["1", "10", "9"])), around(), "they are no numbers");
    // In UTF-16 a ship begins with D83D, which is before FF01.
    assert_eq!(dropped("\u{ff01}", StringArray::from(vec!["🚢", "\u{ff01}", "\u{ff02}"])), around());
    assert_eq!(dropped("🚢", StringArray::from(vec!["\u{d7ff}", "🚢", "\u{e000}"])), around());
}

#[test]
fn booleans_and_bytes_compare_as_texts() {
    assert_eq!(kept("=", "true", BooleanArray::from(vec![true, false])), [1]);
    assert_eq!(kept("=", json!(true), BooleanArray::from(vec![true, false])), [1]);
    assert_eq!(dropped("b", BinaryArray::from(vec![&b"a"[..], b"b", b"c"])), around());
    let outcome = run("dx_filter", json!(["=", "b"]), BinaryArray::from(vec![&b"b"[..], &[0xff], b"c"]));
    assert_eq!((outcome.rows(), outcome.dirty.len()), (vec![2], 1));
}

fn dropped_with<A: Array + Clone + 'static>(formats: &ColumnFormats, value: &str, column: A) -> [Vec<u64>; 7] {
    [">", ">=", "<", "<=", "=", "==", "!="].map(|operator| {
        let field = Field::new("value", column.data_type().clone(), true);
        let kept = run_on("dx_filter", json!([operator, value]), field, Arc::new(column.clone()), formats).rows();
        (0..column.len() as u64).filter(|row| !kept.contains(row)).collect()
    })
}

/// Trap 41.
#[test]
fn dates_compare_with_epoch_milliseconds_in_the_jobs_zone() {
    // 2020-01-01 00:00:00.000 in GMT+8 and in UTC.
    let (shanghai, utc) = ("1577808000000", "1577836800000");
    let days = || Date32Array::from(vec![18_261, 18_262, 18_263]);
    let second = 1_577_836_800_000_000;
    let locals = || TimestampMicrosecondArray::from(vec![second - 1, second + 999, second + 1_000]);
    let instants = || locals().with_timezone("UTC");
    let none = ColumnFormats::default();
    let in_shanghai = formats(json!({ "timeZone": "Asia/Shanghai" }));
    let in_utc = formats(json!({ "timeZone": "UTC" }));
    // DataX's default is GMT+8. It keeps whole milliseconds: parts of one are cut off.
    for (formats, value) in [(&none, shanghai), (&in_shanghai, shanghai), (&in_utc, utc)] {
        assert_eq!(dropped_with(formats, value, days()), around());
        assert_eq!(dropped_with(formats, value, locals()), around());
    }
    for formats in [&none, &in_shanghai, &in_utc] {
        assert_eq!(dropped_with(formats, utc, instants()), around(), "an instant is the same in all zones");
    }
}

#[test]
fn dates_compare_with_a_date_text_as_well() {
    let none = ColumnFormats::default();
    let second = 1_577_836_800;
    let seconds = || TimestampSecondArray::from(vec![second - 1, second, second + 1]);
    let millis = || TimestampMillisecondArray::from(vec![second * 1_000 - 1, second * 1_000, second * 1_000 + 1]);
    let nanos = || TimestampNanosecondArray::from([-1, 0, 1].map(|nanos| second * 1_000_000_000 + nanos).to_vec());
    for value in ["2020-01-01 00:00:00", "2020-01-01", "2020-01-01T00:00:00"] {
        assert_eq!(dropped_with(&none, value, Date32Array::from(vec![18_261, 18_262, 18_263])), around());
        assert_eq!(dropped_with(&none, value, seconds()), around());
        assert_eq!(dropped_with(&none, value, millis()), around());
        assert_eq!(dropped_with(&none, value, nanos()), around());
    }
    assert_eq!(dropped_with(&none, "2020-01-01 12:00:00", Date32Array::from(vec![18_262, 18_263])), between());
    let formats = formats(json!({ "datetimeFormat": "dd.MM.yyyy HH:mm", "timeZone": "GMT+8" }));
    assert_eq!(dropped_with(&formats, "01.01.2020 00:00", seconds()), around());
    assert_eq!(dropped_with(&formats, "01.01.2020 08:00", seconds().with_timezone("UTC")), around());
    // Without a zone in the job the clock is that of the column.
    let in_tokyo = seconds().with_timezone("Asia/Tokyo");
    assert_eq!(dropped_with(&none, "2020-01-01 09:00:00", in_tokyo), around());
    let times = Time64MicrosecondArray::from(vec![29_999_999_999, 30_600_000_000, 30_600_000_001]);
    assert_eq!(dropped_with(&none, "08:30:00", times), around());
    let times = Time32SecondArray::from(vec![30_599, 30_600, 30_601]);
    assert_eq!(dropped_with(&none, "08:30", times), around());
}

#[test]
fn a_value_that_is_no_date_is_refused_for_a_date_column() {
    let schema = batch(Field::new("value", DataType::Date32, true), Arc::new(Date32Array::from(vec![1]))).schema();
    for value in ["1.5", "soon", "2020-02-30", "99999999999999999999"] {
        let parameter = json!({ "columnName": "value", "paras": [">", value] });
        let mut filter = make_with("dx_filter", &parameter, &ColumnFormats::default()).unwrap();
        let error = filter.schema(schema.clone()).unwrap_err();
        let beginning = format!(
            "parameter.paras[1] must be epoch milliseconds or a date like 2026-01-31 23:59:59, not \"{value}\": the column \
             \"value\" holds dates"
        );
        assert!(error.message().starts_with(&beginning), "{error}");
    }
}

#[test]
fn like_looks_at_the_text_of_any_column() {
    assert_eq!(kept("like", "1.*", Int64Array::from(vec![Some(12), Some(21), None])), [1, 2]);
    assert_eq!(kept("LIKE", "2024-02-.*", Date32Array::from(vec![19_782, 1])), [1]);
    assert_eq!(kept("not like", "t.*", BooleanArray::from(vec![true, false])), [0]);
    let decimals = Decimal128Array::from(vec![150, 155]).with_precision_and_scale(9, 2).unwrap();
    assert_eq!(kept("Not Like", r"\d\.\d0", decimals), [0]);
}

#[test]
fn an_operator_may_have_blanks_around_it_but_none_missing_inside() {
    assert_eq!(kept(" >= ", "2", Int64Array::from(vec![1, 2])), [0]);
    super::refusal("dx_filter", json!({ "columnIndex": 0, "paras": ["notlike", "x"] }));
}

#[test]
fn a_batch_of_which_nothing_is_dropped_passes_as_it_is() {
    let column = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let mut input = batch(Field::new("value", DataType::Int64, true), column.clone());
    input.position = Some(json!({ "line": 7 }));
    input.bytes = 12_345;
    let parameter = json!({ "columnIndex": 1, "paras": [">", "3"] });
    let mut filter = make_with("dx_filter", &parameter, &ColumnFormats::default()).unwrap();
    filter.schema(input.schema()).unwrap();
    let mut out = Vec::new();
    filter.push(input, &mut out).unwrap();
    let passed = &mut out[0];
    assert_eq!((passed.bytes, passed.position.clone()), (12_345, Some(json!({ "line": 7 }))));
    assert!(passed.origin.positions.is_none());
    let values = passed.records().unwrap().column(1).to_data().buffers()[0].as_ptr();
    assert_eq!(values, column.to_data().buffers()[0].as_ptr(), "the column is shared");
}

#[test]
fn rows_that_follow_each_other_are_kept_without_a_copy() {
    let column = Arc::new(Int64Array::from(vec![9, 1, 2, 3, 9]));
    let parameter = json!({ "columnIndex": 1, "paras": ["=", 9] });
    let mut filter = make_with("dx_filter", &parameter, &ColumnFormats::default()).unwrap();
    let mut input = batch(Field::new("value", DataType::Int64, true), column.clone());
    input.position = Some(json!(1));
    filter.schema(input.schema()).unwrap();
    let mut out = Vec::new();
    filter.push(input, &mut out).unwrap();
    let kept = &mut out[0];
    assert_eq!((kept.num_rows(), kept.origin.position(0), kept.position.clone()), (3, 101, Some(json!(1))));
    let values = kept.records().unwrap().column(1).to_data();
    let first = values.buffers()[0].as_ptr().wrapping_add(values.offset() * 8);
    assert_eq!(first, column.to_data().buffers()[0].as_ptr().wrapping_add(8));
}

#[test]
fn a_filter_gives_up_when_the_task_is_to_end() {
    let host = Arc::new(Witness { cancelled: true, ..Witness::default() });
    let parameter = json!({ "columnIndex": 1, "paras": ["like", "a"] });
    let mut filter = builtin::make("dx_filter", &parameter, &ColumnFormats::default(), host).unwrap();
    let input = batch(Field::new("value", DataType::Utf8, true), Arc::new(StringArray::from(vec!["a"])));
    filter.schema(input.schema()).unwrap();
    let error = filter.push(input, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), transship_plugin_api::Kind::Cancelled);
}

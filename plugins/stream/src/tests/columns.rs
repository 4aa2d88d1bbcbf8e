//! What columns hold.

use std::collections::HashSet;

use arrow_schema::{DataType, TimeUnit};
use serde_json::{Value, json};
use transship_plugin_api::DatePattern;

use super::column;

/// The type of a constant column and its value, which must be the same in every record.
fn constant(r#type: &str, value: Value) -> (DataType, bool, String) {
    let (field, mut values) = column(json!({ "type": r#type, "value": value }), 3);
    assert_eq!(values.len(), 3);
    values.dedup();
    assert_eq!(values.len(), 1);
    let number = field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "transship.number");
    (field.data_type().clone(), number, values.remove(0))
}

fn plain(data_type: DataType, text: &str) -> (DataType, bool, String) {
    (data_type, false, text.into())
}

fn number(text: &str) -> (DataType, bool, String) {
    (DataType::Utf8, true, text.into())
}

/// Trap 8.
#[test]
fn constants_are_taken_in_any_json_form_and_type_case() {
    assert_eq!(constant("long", json!("12")), plain(DataType::Int64, "12"));
    assert_eq!(constant("string", json!(7)), plain(DataType::Utf8, "7"));
    assert_eq!(constant("", json!(true)), plain(DataType::Utf8, "true"));
    assert_eq!(constant("bool", json!("TRUE")), plain(DataType::Boolean, "true"));
    assert_eq!(constant("Boolean", json!(true)), plain(DataType::Boolean, "true"));
    assert_eq!(constant("BOOL", json!("1")), plain(DataType::Boolean, "false"));
    assert_eq!(constant("Int", json!(-3)), plain(DataType::Int64, "-3"));
    assert_eq!(constant("bytes", json!("aä")), plain(DataType::Binary, "61c3a4"));
    let written: Value = serde_json::from_str("1.50").unwrap();
    assert_eq!(constant("string", written.clone()), plain(DataType::Utf8, "1.50"));
    assert_eq!(constant("double", written), number("1.50"));
}

/// Traps 30, 32.
#[test]
fn longs_are_cut_at_the_point_and_may_have_any_size() {
    for (text, expected) in [
        ("1.9", "1"),
        ("-1.9", "-1"),
        ("-0.9", "0"),
        ("1e3", "1000"),
        ("12e-1", "1"),
        (".5", "0"),
        ("+5.", "5"),
        ("007", "7"),
    ] {
        assert_eq!(constant("LONG", json!(text)), plain(DataType::Int64, expected), "{text}");
    }
    assert_eq!(constant("LONG", json!("-9223372036854775808")), plain(DataType::Int64, "-9223372036854775808"));
    assert_eq!(constant("LONG", json!("9223372036854775808")), number("9223372036854775808"));
    assert_eq!(constant("LONG", json!("-1e20")), number("-100000000000000000000"));
}

/// Traps 31, 33.
#[test]
fn doubles_that_are_written_otherwise_than_floats_stay_as_written() {
    for text in ["3.25", "-0.001", "9999999.5"] {
        assert_eq!(constant("DOUBLE", json!(text)), plain(DataType::Float64, text));
    }
    assert_eq!(constant("DOUBLE", json!(3.25)), plain(DataType::Float64, "3.25"));
    for text in [
        "3",
        "3.0",
        "1.50",
        "00012",
        "+1",
        "1E3",
        "0.1234567890123456789",
        "1e400",
        "0.0001",
        "12345678.5",
        "NaN",
        "-infinity",
    ] {
        assert_eq!(constant("DOUBLE", json!(text)), number(text));
    }
}

#[test]
fn dates_follow_their_format() {
    let local = DataType::Timestamp(TimeUnit::Microsecond, None);
    let instant = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    assert_eq!(constant("DATE", json!("2024-02-29 13:04:05")), plain(local.clone(), "2024-02-29T13:04:05"));
    let with_format = |format: &str, value: &str| {
        let (field, values) = column(json!({ "type": "DATE", "value": value, "dateFormat": format }), 1);
        (field.data_type().clone(), values[0].clone())
    };
    assert_eq!(with_format("yyyyMMdd", "20240229"), (local, "2024-02-29T00:00:00".into()));
    assert_eq!(with_format("yyyy-MM-dd HH:mmX", "2024-02-29 13:04+08"), (instant, "2024-02-29T05:04:00Z".into()));
}

fn random(r#type: &str, range: &str) -> (DataType, Vec<String>) {
    let (field, values) = column(json!({ "type": r#type, "random": range }), 20_000);
    (field.data_type().clone(), values)
}

#[test]
fn random_longs_include_both_ends() {
    let (data_type, values) = random("LONG", " 3 , 6 ");
    assert_eq!(data_type, DataType::Int64);
    let seen: HashSet<_> = values.iter().map(|value| value.as_str()).collect();
    assert_eq!(seen, HashSet::from(["3", "4", "5", "6"]));
    assert_eq!(random("LONG", "7,7").1[0], "7");
    let (_, values) = random("LONG", "0,9223372036854775807");
    assert!(values.iter().all(|value| !value.starts_with('-')));
    assert!(values.iter().any(|value| value.len() == 19));
}

#[test]
fn random_doubles_reach_past_the_second_end() {
    let (data_type, values) = random("DOUBLE", "2,3");
    assert_eq!(data_type, DataType::Float64);
    let values: Vec<f64> = values.iter().map(|value| value.parse().unwrap()).collect();
    assert!(values.iter().all(|value| (2.0..4.0).contains(value)));
    assert!(values.iter().any(|value| *value < 2.1) && values.iter().any(|value| *value > 3.9));
}

#[test]
fn random_texts_are_letters_and_digits_of_every_length() {
    let (data_type, values) = random("STRING", "0,3");
    assert_eq!(data_type, DataType::Utf8);
    let lengths: HashSet<_> = values.iter().map(|value| value.len()).collect();
    assert_eq!(lengths, HashSet::from([0, 1, 2, 3]));
    let letters: HashSet<_> = values.iter().flat_map(|value| value.chars()).collect();
    assert_eq!(letters.len(), 62);
    assert!(letters.iter().all(|letter| letter.is_ascii_alphanumeric()));
    assert!(random("STRING", "5,5").1.iter().all(|value| value.len() == 5));
    assert!(random("STRING", "0,0").1.iter().all(|value| value.is_empty()));
    let (data_type, values) = random("BYTES", "2,2");
    assert_eq!(data_type, DataType::Binary);
    assert!(values.iter().all(|value| value.len() == 4 && value != "0000"));
}

#[test]
fn no_letter_is_much_likelier_than_another() {
    let (_, values) = random("STRING", "62,62");
    let mut counts = [0u32; 128];
    values.iter().flat_map(|value| value.bytes()).for_each(|letter| counts[letter as usize] += 1);
    // 20 000 of each are expected, with a standard deviation of 140.
    assert!(counts.iter().filter(|count| **count > 0).all(|count| (19_000..21_000).contains(count)), "{counts:?}");
}

#[test]
fn random_bools_are_weighed_as_datax_does() {
    let share = |range: &str| {
        let (data_type, values) = random("BOOL", range);
        assert_eq!(data_type, DataType::Boolean);
        values.iter().filter(|value| *value == "true").count() as f64 / values.len() as f64
    };
    assert_eq!((share("0,5"), share("5,5"), share("5,0")), (1.0, 1.0, 0.0));
    // Numbers from 0 to 4, of which those above 1 are true.
    assert!((0.57..0.63).contains(&share("1,3")), "{}", share("1,3"));
    assert!((0.17..0.23).contains(&share("3,1")), "{}", share("3,1"));
}

#[test]
fn random_dates_include_both_ends() {
    let column = json!({ "type": "DATE", "random": "2024-01-01,2024-01-02", "dateFormat": "yyyy-MM-dd" });
    let (field, values) = super::column(column, 20_000);
    assert_eq!(field.data_type(), &DataType::Timestamp(TimeUnit::Microsecond, None));
    assert!(values.iter().all(|value| value.starts_with("2024-01-01T") || value == "2024-01-02T00:00:00"));
    assert!(values.iter().any(|value| value.starts_with("2024-01-01T23")));
    let second = DatePattern::parse("yyyy-MM-dd'T'HH:mm:ss.SSS").unwrap();
    assert!(values.iter().filter(|value| value.len() == 23).all(|value| second.parse_micros(value).is_some()));
    assert!(values.iter().all(|value| value.len() <= 23), "no date is finer than a millisecond");
    let column = json!({ "type": "DATE", "random": "2024-01-01 00:00:00,2024-01-01 00:00:00" });
    assert_eq!(super::column(column, 1).1, ["2024-01-01T00:00:00"]);
}

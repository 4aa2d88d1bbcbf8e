//! What is sent for values, column by column.

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field};
use transship_plugin_api::Params;
use transship_plugin_api::fields::{UUID, with_infinity};

use super::*;
use crate::table::TableColumn;
use crate::writer::target::Target;

/// A column declared like this.
fn place(declared: &str) -> Place {
    let type_word = declared.split(['(', ' ']).next().unwrap().to_string();
    let mut numbers = declared.split_once('(').map_or("", |(_, rest)| rest.split(')').next().unwrap()).split(',');
    let mut number = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    let (first, second) = (number(), number());
    let column = TableColumn {
        name: "c".into(),
        type_word,
        declared: declared.into(),
        is_nullable: !declared.contains("NOT NULL"),
        charset: declared.split_once("CHARACTER SET ").map(|(_, charset)| charset.to_string()),
        length: first.map(u64::from),
        digits: first,
        scale: second,
        fraction: first.unwrap_or(0),
        ..TableColumn::default()
    };
    let common = serde_json::json!({});
    let formats = ColumnFormats::of(&Params::new(&common, "common.column").unwrap()).unwrap();
    let zone = formats.zone_of("UTC");
    let meaning = Meaning::of(&with_infinity(Field::new("c", DataType::Date32, true)));
    Place {
        target: Target::of(&column),
        meaning,
        empty_as_null: true,
        formats,
        zone,
        offset_seconds: None,
        steady_offset_seconds: None,
        has_binary_digits: false,
        always_fits: false,
    }
}

/// What is sent for a value, `!` before the cause where it is none.
fn sent(declared: &str, value: Value<'_>) -> String {
    let place = place(declared);
    let mut scratch = Scratch::default();
    match place.sent(value, &mut scratch) {
        Ok(Sent::Null) => "NULL".to_string(),
        Ok(Sent::Number(text) | Sent::Plain(text) | Sent::Text(text)) => text.to_string(),
        Ok(Sent::Bytes(bytes)) => format!("{bytes:?}"),
        Err(cause) => format!("! {}", cause.rsplit("cannot store it: ").next().unwrap_or_default()),
    }
}

#[test]
fn numbers_fit_whole_or_not_at_all() {
    let cases: &[(&str, Value<'_>, &str)] = &[
        ("tinyint", Value::Int(127), "127"),
        ("tinyint", Value::Int(128), "! it is not between -128 and 127"),
        ("bigint unsigned", Value::UInt(u64::MAX), "18446744073709551615"),
        ("bigint unsigned", Value::Int(-1), "! it is not between 0 and 18446744073709551615"),
        ("int", Value::Decimal { value: 1500, scale: 3 }, "! it is no whole number, or too large"),
        ("int", Value::Decimal { value: 15_000, scale: 3 }, "15"),
        ("int", Value::Float64(2e9), "2000000000"),
        ("int", Value::Bool(true), "1"),
        ("int", Value::Text("+0012"), "12"),
        ("int", Value::Text("1e3"), "1000"),
        ("int", Value::Text("1.9"), "! it is no whole number, or too large"),
        ("int", Value::Text("true"), "! it is no number"),
        ("int", Value::Text(""), "NULL"),
        ("int", Value::Text(" "), "! it is no number"),
        ("decimal(5,2)", Value::Text("999.990"), "999.990"),
        ("decimal(5,2)", Value::Text("0.005"), "! it has 3 digits behind the point"),
        ("decimal(5,2)", Value::Text("1e3"), "! it has 4 digits before the point"),
        ("decimal(5,2)", Value::Text("1e-3"), "! it has 3 digits behind the point"),
        ("decimal(5,2)", Value::Float64(0.1), "0.1"),
        ("decimal(5,2) unsigned", Value::Int(-1), "! it is negative"),
        ("float", Value::Float64(0.1), "0.1"),
        ("float", Value::Float64(16_777_217.0), "! a FLOAT would make 16777216 of it"),
        ("double", Value::Int(9_007_199_254_740_993), "! it has more digits than a float keeps"),
        ("double", Value::Int(1 << 60), "1152921504606846976"),
        ("double", Value::Float64(f64::NAN), "! MySQL has no NaN and no infinity"),
        ("bit(4)", Value::Int(15), "15"),
        ("bit(4)", Value::Int(16), "! it is no whole number of 4 bits"),
        ("bit(1)", Value::Text("true"), "1"),
        ("bit(16)", Value::Bytes(&[1, 2]), "258"),
        ("year(4)", Value::Int(0), "0000"),
        ("year(4)", Value::Int(24), "! it is neither 0 nor between 1901 and 2155"),
    ];
    for (declared, value, expected) in cases {
        assert_eq!(sent(declared, *value), *expected, "{value:?} for {declared}");
    }
}

#[test]
fn dates_and_times_lose_no_part() {
    let noon = 43_200 * 1_000_000;
    let cases: &[(&str, Value<'_>, &str)] = &[
        ("date", Value::Date(19_782), "2024-02-29"),
        ("date", Value::Timestamp(0), "1970-01-01"),
        ("date", Value::Timestamp(noon), "! it has a time of day, which a DATE does not keep"),
        ("date", Value::Date(-800_000), "! the year is not between 0 and 9999"),
        ("datetime(3)", Value::Timestamp(noon + 1_000), "1970-01-01 12:00:00.001"),
        ("datetime(3)", Value::Timestamp(noon + 1), "! the column keeps 3 digits of a second"),
        ("datetime", Value::Date(0), "1970-01-01 00:00:00"),
        ("datetime", Value::Text("2024-02-29 12:00:00"), "2024-02-29 12:00:00"),
        ("datetime", Value::Int(0), "1970-01-01 08:00:00"),
        ("datetime(6)", Value::Instant(1), "1970-01-01 00:00:00.000001"),
        ("time", Value::Duration(-(838 * 3600) * 1_000_000), "-838:00:00"),
        ("time(1)", Value::Time(noon + 500_000), "12:00:00.5"),
        ("time", Value::Time(1), "! the column keeps 0 digits of a second"),
        ("time", Value::Text("25:00:00"), "25:00:00"),
        ("time", Value::Text("12"), "! it is no time like 23:59:59"),
    ];
    for (declared, value, expected) in cases {
        assert_eq!(sent(declared, *value), *expected, "{value:?} for {declared}");
    }
    assert!(sent("date", Value::Text("2024-02-30")).starts_with('!'));
    assert!(sent("date", Value::Text("")).starts_with('!'));
}

#[test]
fn texts_have_room_or_are_told() {
    let cases: &[(&str, Value<'_>, &str)] = &[
        ("varchar(3)", Value::Text("äöü"), "äöü"),
        ("varchar(3)", Value::Text("äöü "), "! it has 4 characters"),
        ("tinytext(255) CHARACTER SET utf8mb4", Value::Text("x"), "x"),
        (
            "varchar(9) CHARACTER SET utf8mb3",
            Value::Text("a😀"),
            "! \"😀\" is not in the column's character set, utf8mb3",
        ),
        ("varchar(9)", Value::Bool(true), "true"),
        ("varchar(9)", Value::Bytes(b"abc"), "abc"),
        ("varchar(9)", Value::Bytes(&[0xff]), "! the bytes are no UTF-8"),
        ("varbinary(2)", Value::Bytes(&[1, 2]), "[1, 2]"),
        ("varbinary(2)", Value::Bytes(&[1, 2, 3]), "! it has 3 bytes"),
        ("varbinary(2)", Value::Text("é"), "[195, 169]"),
        ("enum('a','7')", Value::Text("7"), "7"),
        ("enum('a','7')", Value::Text("1"), "! it is none of the column's words"),
        ("int NOT NULL", Value::Null, "! it is NULL, and the column is NOT NULL"),
        ("int", Value::Null, "NULL"),
    ];
    for (declared, value, expected) in cases {
        assert_eq!(sent(declared, *value), *expected, "{value:?} for {declared}");
    }
}

#[test]
fn a_uuid_is_written_out_where_text_is_wanted() {
    let mut place = place("char(36)");
    let metadata = [(EXTENSION_TYPE_NAME_KEY.to_string(), UUID.to_string())];
    place.meaning = Meaning::of(&Field::new("u", DataType::FixedSizeBinary(16), true).with_metadata(metadata));
    let bytes = *uuid::Uuid::parse_str("6774d596-8cc8-4c20-8e98-6f2f105d62a8").unwrap().as_bytes();
    let mut scratch = Scratch::default();
    assert_eq!(place.sent(Value::Bytes(&bytes), &mut scratch), Ok(Sent::Text("6774d596-8cc8-4c20-8e98-6f2f105d62a8")));
}

#[test]
fn an_infinite_date_is_no_date_far_away() {
    for declared in ["date", "datetime(6)", "timestamp(6)"] {
        assert_eq!(sent(declared, Value::Date(i32::MAX)), "! it is infinity, and MySQL has no infinite dates");
        assert_eq!(sent(declared, Value::Timestamp(i64::MIN)), "! it is -infinity, and MySQL has no infinite dates");
        assert_eq!(sent(declared, Value::Instant(i64::MAX)), "! it is infinity, and MySQL has no infinite dates");
    }
    assert_eq!(sent("varchar(20)", Value::Instant(i64::MIN)), "-infinity");
}

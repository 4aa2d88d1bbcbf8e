//! Tests of text to values: what DataX takes, and what it should not.

use transship_plugin_api::DatePattern;
use transship_plugin_api::dates::{MICROS_PER_DAY, MICROS_PER_SECOND, days_from_civil};

use super::*;

fn at(year: i64, month: u32, day: u32, seconds: i64, micros: i64) -> i64 {
    days_from_civil(year, month, day).unwrap() * MICROS_PER_DAY + seconds * MICROS_PER_SECOND + micros
}

#[test]
fn whole_numbers_are_cut_off_behind_the_point() {
    let cases = [
        ("0", 0),
        ("-17", -17),
        ("+5", 5),
        ("00012", 12),
        ("12.7", 12),
        ("-12.7", -12),
        ("-0.9", 0),
        (".5", 0),
        ("5.", 5),
        ("1e3", 1000),
        ("1.2345E3", 1234),
        ("12345e-3", 12),
        ("1e-400", 0),
        ("0e2147483647", 0),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
        ("9223372036854775807.999", i64::MAX),
        ("0000000000000000000000000000000000000000000001", 1),
    ];
    for (text, number) in cases {
        assert_eq!(parse_long(text.as_bytes()), Ok(number), "{text}");
    }
}

#[test]
fn what_is_no_whole_number_is_none() {
    for text in [
        "",
        " ",
        " 1",
        "1 ",
        "1,000",
        "true",
        "abc",
        "0x10",
        "1e",
        "e1",
        ".",
        "-",
        "+-1",
        "1.2.3",
        "NaN",
        "Infinity",
        "1e2147483648",
        "1e12345678901",
    ] {
        let cause = parse_long(text.as_bytes()).unwrap_err();
        assert!(cause.contains("no number") || cause.contains("not a number"), "{text}: {cause}");
    }
    for text in ["9223372036854775808", "-9223372036854775809", "1e19", "18446744073709551616", "1e400"] {
        assert!(parse_long(text.as_bytes()).unwrap_err().contains("64 bits"), "{text}");
    }
}

#[test]
fn numbers_of_any_size_are_recognised() {
    for text in
        ["1E3", "+1", "00012", "1.500", "NaN", "nan", "-infinity", "Infinity", "99999999999999999999999999.9e-99"]
    {
        assert_eq!(is_number(text.as_bytes()), Ok(()), "{text}");
    }
    for text in ["", "abc", "+Infinity", "1,5", "1 ", "--1", "１"] {
        assert!(is_number(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn truths_are_the_two_words() {
    assert_eq!(parse_boolean(b"TRUE"), Ok(true));
    assert_eq!(parse_boolean(b"false"), Ok(false));
    for text in ["", "1", "yes", "true "] {
        assert!(parse_boolean(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn dates_in_the_usual_forms() {
    let cases = [
        ("2020-01-02 03:04:05", at(2020, 1, 2, 11_045, 0)),
        ("2020-1-2 3:4:5", at(2020, 1, 2, 11_045, 0)),
        ("2020-01-02T03:04:05", at(2020, 1, 2, 11_045, 0)),
        ("2020-01-02 03:04:05.678", at(2020, 1, 2, 11_045, 678_000)),
        ("2020-01-02 03:04:05.000001000", at(2020, 1, 2, 11_045, 1)),
        ("2020-01-02 03:04", at(2020, 1, 2, 11_040, 0)),
        ("2020-01-02", at(2020, 1, 2, 0, 0)),
        ("2020-02-29", at(2020, 2, 29, 0, 0)),
        ("1000-01-01", at(1000, 1, 1, 0, 0)),
        ("20200102", at(2020, 1, 2, 0, 0)),
        ("03:04:05", at(1970, 1, 1, 11_045, 0)),
        ("2020-01-02 24:00:00", at(2020, 1, 3, 0, 0)),
    ];
    for (text, micros) in cases {
        assert_eq!(parse_date(text.as_bytes()), Ok(micros), "{text}");
    }
}

#[test]
fn what_is_no_date_is_none() {
    let cases = [
        "",
        "2020",
        "2020-01",
        "2020/01/02",
        "01/02/2020",
        "-2020-01-02",
        " 2020-01-02",
        "2020-01-02 ",
        "2020-01-02x",
        "2020-13-45",
        "2020-02-30",
        "2021-02-29",
        "0000-00-00",
        "0000-00-00 00:00:00",
        "2020-01-02 25:00:00",
        "2020-01-02 24:00:01",
        "2020-01-02 23:59:60",
        "20-1-2",
        "20200102030405",
        "12345678",
        "2020-01-02  03:04:05",
        "2020-01-02 03:04:05.",
        "2020-01-02 03:04:05.0000001",
        "1577934245",
    ];
    for text in cases {
        assert!(parse_date(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn a_zone_is_not_dropped() {
    for text in ["2020-01-02T03:04:05Z", "2020-01-02 03:04:05 +0000", "2020-01-02 03:04:05+08:00"] {
        assert!(parse_date(text.as_bytes()).unwrap_err().contains("zone"), "{text}");
    }
    let pattern = DatePattern::parse("yyyy-MM-dd HH:mm:ssXXX").unwrap();
    assert_eq!(parse_date_by(&pattern, b"2020-01-02 03:04:05+08:00"), Ok(at(2020, 1, 1, 68_645, 0)));
}

#[test]
fn a_pattern_must_match_the_whole_text() {
    let pattern = DatePattern::parse("yyyy.MM.dd").unwrap();
    assert_eq!(parse_date_by(&pattern, b"2024.02.01"), Ok(at(2024, 2, 1, 0, 0)));
    for text in ["2024.02.01 10:00:00", "2024-02-01", "2024.02.30", "", "2024.02."] {
        let cause = parse_date_by(&pattern, text.as_bytes()).unwrap_err();
        assert!(cause.contains("yyyy.MM.dd") || text.is_empty(), "{cause}");
    }
}

#[test]
fn numbers_kept_as_text_are_marked() {
    let field = ColumnType::Double.field("x");
    assert_eq!(field.data_type(), &DataType::Utf8);
    assert!(transship_plugin_api::fields::is_number(&field));
    assert!(!transship_plugin_api::fields::is_number(&ColumnType::Text.field("x")));
    let instant = ColumnType::Date(Some(DatePattern::parse("yyyyMMddHHmmssZ").unwrap())).field("x");
    assert_eq!(instant.data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
}

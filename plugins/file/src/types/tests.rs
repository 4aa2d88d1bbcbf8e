//! Tests of text to values: what DataX takes, and what it should not.

use transship_plugin_api::DatePattern;

use super::*;

/// Trap 30.
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

/// Traps 29, 32, 33, 75.
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

/// Traps 31, 33, 37.
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

/// Trap 35.
#[test]
fn truths_are_the_two_words() {
    assert_eq!(parse_boolean(b"TRUE"), Ok(true));
    assert_eq!(parse_boolean(b"false"), Ok(false));
    for text in ["", "1", "yes", "true "] {
        assert!(parse_boolean(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn numbers_kept_as_text_are_marked() {
    let field = ColumnType::Double.field("x");
    assert_eq!(field.data_type(), &DataType::Utf8);
    assert!(transship_plugin_api::fields::is_number(&field));
    assert!(!transship_plugin_api::fields::is_number(&ColumnType::Text.field("x")));
    let instant = ColumnType::Date(Dates::By(DatePattern::parse("yyyyMMddHHmmssZ").unwrap())).field("x");
    assert_eq!(instant.data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
}

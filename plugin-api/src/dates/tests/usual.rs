//! Tests of dates in the usual forms: what DataX takes, and what it should not.

use crate::DatePattern;
use crate::dates::*;

fn at(year: i64, month: u32, day: u32, seconds: i64, micros: i64) -> i64 {
    days_from_civil(year, month, day).unwrap() * MICROS_PER_DAY + seconds * MICROS_PER_SECOND + micros
}

/// Trap 27.
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
        ("24:00:00", at(1970, 1, 2, 0, 0)),
        // Years as ISO 8601 has them, the year 0 being that before the year 1.
        ("0000-02-29", at(0, 2, 29, 0, 0)),
        ("-0043-03-15 12:00:00", at(-43, 3, 15, 43_200, 0)),
        ("294246-12-31 23:59:59.999999", at(294_246, 12, 31, 86_399, 999_999)),
    ];
    for (text, micros) in cases {
        assert_eq!(parse_date(text.as_bytes()), Ok(micros), "{text}");
    }
}

/// Trap 27.
#[test]
fn what_is_no_date_is_none() {
    let cases = [
        "",
        "2020",
        "2020-01",
        "2020/01/02",
        "01/02/2020",
        "-20200102",
        "-20-01-02",
        "--2020-01-02",
        "12345678-01-02",
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
        "２０２０-01-02",
        "5874897-12-31",
    ];
    for text in cases {
        assert!(parse_date(text.as_bytes()).is_err(), "{text}");
    }
}

/// Trap 27.
#[test]
fn a_zone_is_not_dropped() {
    for text in ["2020-01-02T03:04:05Z", "2020-01-02 03:04:05 +0000", "2020-01-02 03:04:05+08:00"] {
        assert!(parse_date(text.as_bytes()).unwrap_err().contains("zone"), "{text}");
    }
    let pattern = DatePattern::parse("yyyy-MM-dd HH:mm:ssXXX").unwrap();
    assert_eq!(parse_date_by(&pattern, b"2020-01-02 03:04:05+08:00"), Ok(at(2020, 1, 1, 68_645, 0)));
}

#[test]
fn an_offset_is_what_stands_behind_a_time() {
    assert_eq!(split_offset("2020-01-02 03:04:05Z"), Some(("2020-01-02 03:04:05", 0)));
    assert_eq!(split_offset("2020-01-02 03:04:05.5+08"), Some(("2020-01-02 03:04:05.5", 28_800)));
    assert_eq!(split_offset("2020-01-02 03:04:05 -03:30"), Some(("2020-01-02 03:04:05 ", -12_600)));
    for text in ["2020-01-02", "2020-01-02 03:04:05", "2020-01-02 03:04:05+8", "2020-01-02 03:04:05 CET"] {
        assert_eq!(split_offset(text), None, "{text}");
    }
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

//! Tests of dates and patterns.

mod formats;
mod usual;
mod zones;

use super::*;
use crate::error::Kind;

fn pattern(text: &str) -> DatePattern {
    DatePattern::parse_in_year(text, 2026).unwrap()
}

fn format(text: &str, micros: i64) -> String {
    let mut out = String::new();
    pattern(text).format_into(micros, &mut out);
    out
}

/// 2024-02-29 13:04:05.678901.
fn leap_day() -> i64 {
    days_from_civil(2024, 2, 29).unwrap() * MICROS_PER_DAY + (13 * 3_600 + 4 * 60 + 5) * MICROS_PER_SECOND + 678_901
}

#[test]
fn known_days_have_their_numbers() {
    for ((year, month, day), number) in [
        ((1970, 1, 1), 0),
        ((1969, 12, 31), -1),
        ((2000, 2, 29), 11_016),
        ((2000, 3, 1), 11_017),
        ((1, 1, 1), -719_162),
        ((0, 1, 1), -719_528),
        ((9999, 12, 31), 2_932_896),
    ] {
        assert_eq!(days_from_civil(year, month, day), Some(number), "{year}-{month}-{day}");
        assert_eq!(civil_from_days(number), (year, month, day), "{number}");
    }
}

#[test]
fn every_day_of_two_eras_follows_the_one_before_it() {
    let mut previous = civil_from_days(-DAYS_PER_ERA - 1);
    for number in -DAYS_PER_ERA..DAYS_PER_ERA {
        let (year, month, day) = civil_from_days(number);
        assert_eq!(days_from_civil(year, month, day), Some(number));
        let (last_year, last_month, last_day) = previous;
        let expected = if last_day < days_in_month(last_year, last_month) {
            (last_year, last_month, last_day + 1)
        } else if last_month < 12 {
            (last_year, last_month + 1, 1)
        } else {
            (last_year + 1, 1, 1)
        };
        assert_eq!((year, month, day), expected);
        previous = (year, month, day);
    }
}

/// Trap 27.
#[test]
fn days_that_no_calendar_has_are_refused() {
    for (year, month, day) in
        [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0), (2024, 1, 32)]
    {
        assert_eq!(days_from_civil(year, month, day), None, "{year}-{month}-{day}");
    }
    assert_eq!(days_from_civil(i64::MAX, 1, 1), None);
    assert_eq!(days_from_civil(i64::MIN, 1, 1), None);
}

#[test]
fn iso_text_has_fractions_only_where_there_are_any() {
    let text = |nanos, instant| {
        let mut out = String::new();
        write_timestamp(&mut out, nanos, instant);
        out
    };
    assert_eq!(text(0, false), "1970-01-01T00:00:00");
    assert_eq!(text(-1, true), "1969-12-31T23:59:59.999999999Z");
    assert_eq!(text(1_500_000_000, true), "1970-01-01T00:00:01.5Z");
    assert_eq!(text(i64::MIN as i128 * 1_000, false), "-290308-12-21T19:59:05.224192");
}

#[test]
fn lengths_of_time_count_hours_beyond_a_day() {
    let mut out = String::new();
    write_duration(&mut out, -(838 * 3_600 + 59 * 60 + 59) * 1_000_000_000);
    assert_eq!(out, "-838:59:59");
}

#[test]
fn intervals_name_only_what_they_have() {
    for ((months, days, nanos), expected) in [
        ((0, 0, 0), "PT0S"),
        ((14, 3, 500_000_000), "P14M3DT0.5S"),
        ((-1, 0, -1), "P-1MT-0.000000001S"),
        ((0, -2, 0), "P-2D"),
        ((i32::MIN, 0, i64::MIN), "P-2147483648MT-9223372036.854775808S"),
    ] {
        let mut out = String::new();
        write_interval(&mut out, months, days, nanos);
        assert_eq!(out, expected);
    }
}

#[test]
fn what_a_pattern_writes_it_reads_back() {
    for text in [
        "yyyy-MM-dd HH:mm:ss.SSSSSS",
        "yyyyMMddHHmmssSSSSSS",
        "dd/MMM/yyyy:HH:mm:ss.SSSSSS",
        "EEEE, d MMMM yyyy, h:mm:ss.SSSSSS a",
        "yyyy年MM月dd日 HH时mm分ss秒SSSSSS",
        "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
        "yyyy-MM-dd HH:mm:ss.SSSSSSSSS Z",
        "yy-M-d k:m:s.SSSSSS z",
        "yyyyDDD KK:mm:ss.SSSSSS a",
    ] {
        let pattern = pattern(text);
        for micros in [leap_day(), 0, MICROS_PER_DAY - 1, leap_day() - 12 * 3_600 * MICROS_PER_SECOND] {
            let mut out = String::new();
            pattern.format_into(micros, &mut out);
            assert_eq!(pattern.parse_micros(&out), Some(micros), "{text}: {out}");
        }
    }
}

#[test]
fn letters_stand_for_what_they_do_in_java() {
    let micros = leap_day();
    assert_eq!(format("yyyy-MM-dd HH:mm:ss", micros), "2024-02-29 13:04:05");
    assert_eq!(format("yy/M/d h:m:s a", micros), "24/2/29 1:4:5 PM");
    assert_eq!(format("E EEEE MMM MMMM", micros), "Thu Thursday Feb February");
    assert_eq!(format("yyyy''yy 'o''clock' D", micros), "2024'24 o'clock 60");
    assert_eq!(format("kk KK hh", 0), "24 00 12");
    assert_eq!(format("ss.S ss.SSS", micros), "05.6 05.678");
    assert_eq!(format("HH:mmX Z z", micros), "13:04Z +0000 UTC");
    assert_eq!(format("yyyy", days_from_civil(12_345, 1, 1).unwrap() * MICROS_PER_DAY), "12345");
}

#[test]
fn numbers_may_have_fewer_digits_unless_a_number_follows_directly() {
    let expected = days_from_civil(2024, 2, 9).map(|days| days * MICROS_PER_DAY);
    assert_eq!(pattern("yyyy-MM-dd").parse_micros("2024-2-9"), expected);
    assert_eq!(pattern("yyyyMMdd").parse_micros("20240209"), expected);
    assert_eq!(pattern("yyyyMMdd").parse_micros("2024029"), expected);
    assert_eq!(pattern("yyyyMMdd").parse_micros("2024"), None);
    assert_eq!(pattern("yyyyMMdd").parse_micros("2024-02-09"), None);
}

/// Trap 27.
#[test]
fn texts_that_are_no_such_date_are_refused() {
    let pattern = pattern("yyyy-MM-dd HH:mm:ss");
    for text in [
        "",
        "2024-02-30 00:00:00",
        "2024-13-01 00:00:00",
        "2024-00-01 00:00:00",
        "2024-01-01 24:00:00",
        "2024-01-01 00:60:00",
        "2024-01-01 00:00:60",
        "2024-01-01",
        "2024-01-01 00:00",
        "2024-01-01T00:00:00",
        " 2024-01-01 00:00:00",
        "2024-01-01 00:00:00 ",
        "2024-01-01 00:00:00.5",
        "-2024-01-01 00:00:00",
        "2024-001-01 00:00:00",
        "2024-01-01 1a:00:00",
        "二〇二四-01-01 00:00:00",
        "99999999999-01-01 00:00:00",
        "999999-01-01 00:00:00",
    ] {
        assert_eq!(pattern.parse_micros(text), None, "{text}");
    }
}

#[test]
fn a_fraction_finer_than_a_microsecond_is_refused_rather_than_cut() {
    let pattern = pattern("ss.S");
    assert_eq!(pattern.parse_micros("01.5"), Some(1_500_000));
    assert_eq!(pattern.parse_micros("01.000001"), Some(1_000_001));
    assert_eq!(pattern.parse_micros("01.000001000"), Some(1_000_001));
    assert_eq!(pattern.parse_micros("01.000000001"), None);
}

#[test]
fn offsets_turn_local_times_into_instants() {
    let pattern = pattern("yyyy-MM-dd HH:mm XXX");
    assert!(pattern.has_zone());
    for text in [
        "1970-01-01 08:30 +08:30",
        "1970-01-01 08:30 +0830",
        "1969-12-31 16:00 -08",
        "1970-01-01 00:00 Z",
        "1970-01-01 00:00 UTC",
        "1970-01-01 08:00 GMT+08:00",
    ] {
        assert_eq!(pattern.parse_micros(text), Some(0), "{text}");
    }
    for text in [
        "1970-01-01 00:00 ",
        "1970-01-01 00:00 CET",
        "1970-01-01 00:00 +8",
        "1970-01-01 00:00 +19:00",
        "1970-01-01 00:00 +08:60",
    ] {
        assert_eq!(pattern.parse_micros(text), None, "{text}");
    }
}

#[test]
fn two_digit_years_lie_around_this_year() {
    let pattern = pattern("yy");
    let year = |text| civil_from_days(pattern.parse_micros(text).unwrap() / MICROS_PER_DAY).0;
    assert_eq!((year("46"), year("99"), year("00"), year("45")), (1946, 1999, 2000, 2045));
    assert_eq!(pattern.parse_micros("1987"), days_from_civil(1987, 1, 1).map(|days| days * MICROS_PER_DAY));
}

#[test]
fn a_weekday_that_contradicts_its_date_is_refused() {
    let pattern = pattern("E yyyy-MM-dd");
    assert!(pattern.parse_micros("thu 2024-02-29").is_some());
    assert_eq!(pattern.parse_micros("Fri 2024-02-29"), None);
}

#[test]
fn the_last_day_of_the_year_depends_on_the_year() {
    let pattern = pattern("yyyy DDD");
    assert_eq!(pattern.parse_micros("2024 366"), days_from_civil(2024, 12, 31).map(|days| days * MICROS_PER_DAY));
    assert_eq!(pattern.parse_micros("2023 366"), None);
}

#[test]
fn patterns_that_mean_nothing_are_config_errors_that_say_why() {
    for (text, why) in [
        ("YYYY-MM-dd", "the year is y"),
        ("yyyy-MM-ddTHH:mm", "in quotes"),
        ("yyyy 'open", "not closed"),
        ("yyyy-MM-DD", "day of the month"),
        ("ss.SSSSSSSSSS", "nine S"),
        ("w", "known are"),
    ] {
        let error = DatePattern::parse(text).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.message().contains(text) && error.message().contains(why), "{error}");
    }
}

//! Tests of dates and times as text.

use super::*;

const DAY: i64 = MICROS_PER_DAY;
const HOUR: i64 = 3_600 * MICROS_PER_SECOND;

#[test]
fn dates_are_days_of_the_calendar() {
    assert_eq!(date(b"1970-01-01"), Some(0));
    assert_eq!(date(b"2024-02-29"), Some(19_782));
    assert_eq!(date(b"0000-01-01"), Some(-719_528));
    assert_eq!(date(b"-0043-03-15"), Some(-735_160));
    assert_eq!(date(b"10000-01-01"), Some(2_932_897));
    assert_eq!((date(b"infinity"), date(b"-Infinity")), (Some(i32::MAX), Some(i32::MIN)));
    for text in ["2023-02-29", "2024-13-01", "2024-1-1", "2024-01-01 ", "20240101", "-001-01-01", "", "0000-00-00"] {
        assert_eq!(date(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn times_may_lack_seconds_and_may_have_a_fraction() {
    assert_eq!(time(b"01:00"), Some(HOUR));
    assert_eq!(time(b"01:00:00.5"), Some(HOUR + 500_000));
    assert_eq!(time(b"23:59:59.999999000"), Some(DAY - 1));
    assert_eq!(time(b"24:00:00"), Some(DAY));
    for text in ["24:00:01", "1:00", "01:60", "01:00:60", "01:00:00.", "01:00:00.0000001", "01:00Z", "01"] {
        assert_eq!(time(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn timestamps_have_no_zone_and_instants_need_one() {
    assert_eq!(timestamp(b"1970-01-02"), Some(DAY));
    assert_eq!(timestamp(b"1970-01-02T01:00"), Some(DAY + HOUR));
    assert_eq!(timestamp(b"1969-12-31 23:59:59.999999"), Some(-1));
    assert_eq!(timestamp(b"-0043-03-15 12:00"), Some(-735_160 * DAY + 12 * HOUR));
    assert_eq!((timestamp(b"infinity"), instant(b"-infinity")), (Some(i64::MAX), Some(i64::MIN)));
    assert_eq!(timestamp(b"5874897-12-31"), None);
    assert_eq!(timestamp(b"1970-01-02 01:00:00Z"), None);
    assert_eq!(instant(b"1970-01-02 01:00:00Z"), Some(DAY + HOUR));
    assert_eq!(instant(b"1970-01-02T01:00:00.25 +01:00"), Some(DAY + 250_000));
    assert_eq!(instant(b"1970-01-02 01:00-0130"), Some(DAY + 2 * HOUR + HOUR / 2));
    assert_eq!(instant(b"1970-01-02 01:00+05"), Some(DAY - 4 * HOUR));
    for text in ["1970-01-02 01:00", "1970-01-02 01:00 CET", "1970-01-02 01:00+16:00", "1970-01-02 01:00+1"] {
        assert_eq!(instant(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn a_date_or_time_may_have_a_zone_and_be_as_fine_as_it_likes() {
    for text in [
        "2024-02-29",
        "2024-02-29T10:00",
        "2024-02-29 10:00:00.123456789+02:00",
        "2024-02-29 10:00:00 -0330",
        "2024-02-29Z",
        "10:00",
        "10:00:00.5",
        "10:00:00+01",
    ] {
        assert!(is_date_or_time(text.as_bytes()), "{text}");
    }
    for text in ["", "nonsense", "2024-02-30", "2024-02-29 ", "2024-02-29 10", "24:00", "10:00:00.", "10:00 CET"] {
        assert!(!is_date_or_time(text.as_bytes()), "{text}");
    }
}

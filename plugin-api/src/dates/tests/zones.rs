//! Tests of time zones: their names, and their clocks through the seasons.

use crate::dates::{MICROS_PER_DAY, MICROS_PER_SECOND, Zone, days_from_civil};

const HOUR: i64 = 3_600 * MICROS_PER_SECOND;

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn noon(year: i64, month: u32, day: u32) -> i64 {
    days_from_civil(year, month, day).unwrap() * MICROS_PER_DAY + 12 * HOUR
}

#[test]
fn zones_have_the_names_that_java_and_the_iana_database_give_them() {
    for (name, hours) in [
        ("GMT+8", 8.0),
        ("GMT+08:00", 8.0),
        ("GMT+0800", 8.0),
        (" GMT+8 ", 8.0),
        ("GMT", 0.0),
        ("UTC", 0.0),
        ("Z", 0.0),
        ("UTC-3", -3.0),
        ("+08:00", 8.0),
        ("-0330", -3.5),
        ("+05:45", 5.75),
        ("Etc/GMT-8", 8.0),
        ("Asia/Shanghai", 8.0),
        ("asia/shanghai", 8.0),
        ("Asia/Calcutta", 5.5),
        ("PRC", 8.0),
        ("CTT", 8.0),
        ("JST", 9.0),
        ("EST", -5.0),
    ] {
        assert_eq!(zone(name).offset_at(noon(2024, 1, 15)), (hours * 3_600.0) as i32, "{name}");
    }
}

/// Trap 25.
#[test]
fn an_unknown_zone_is_an_error_that_names_a_known_one() {
    for (name, hint) in [
        ("Asia/Shangai", "did you mean Asia/Shanghai?"),
        ("Europe/Berln", "did you mean Europe/Berlin?"),
        ("GMT+25", "which is no time zone"),
        ("+8:5", "which is no time zone"),
        ("Beijing time", "write one like Asia/Shanghai or GMT+08:00"),
    ] {
        let problem = Zone::parse(name).unwrap_err();
        assert!(problem.starts_with(&format!("\"{name}\"")) && problem.contains(hint), "{problem}");
    }
}

#[test]
fn clocks_follow_the_seasons() {
    let berlin = zone("Europe/Berlin");
    assert_eq!(berlin.local(noon(2024, 1, 15)), Some(noon(2024, 1, 15) + HOUR));
    assert_eq!(berlin.local(noon(2024, 7, 15)), Some(noon(2024, 7, 15) + 2 * HOUR));
    for instant in [noon(2024, 1, 15), noon(2024, 7, 15), noon(1900, 1, 1), noon(2300, 7, 1), 0, -1] {
        assert_eq!(berlin.local(instant).and_then(|local| berlin.instant(local)), Some(instant));
    }
}

#[test]
fn what_a_clock_shows_twice_is_the_later_moment_and_what_it_skips_is_after_the_skip() {
    let berlin = zone("Europe/Berlin");
    let half_past_two = |month, day| noon(2024, month, day) - 9 * HOUR - HOUR / 2;
    assert_eq!(berlin.instant(half_past_two(10, 27)), Some(half_past_two(10, 27) - HOUR));
    let skipped = berlin.instant(half_past_two(3, 31)).unwrap();
    assert_eq!(berlin.local(skipped), Some(half_past_two(3, 31) + HOUR));
}

#[test]
fn the_end_of_time_is_no_panic() {
    for name in ["GMT+8", "GMT-8", "Asia/Shanghai", "America/New_York"] {
        let zone = zone(name);
        for end in [i64::MIN, i64::MAX] {
            let found = [zone.local(end), zone.instant(end)];
            assert_eq!(found.iter().filter(|moment| moment.is_none()).count(), 1, "{name} {end}");
        }
    }
}

//! Dates and times as ISO 8601 text. Fractions of a second appear only where there are any, without trailing zeros.

use super::civil_from_days;
use crate::digits::{push_digits, push_signed};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;

/// Appends a day: `2024-02-29`. Years before 0 have a minus sign, those after 9999 more digits.
pub fn write_date(out: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    push_signed(out, year, 4);
    out.push('-');
    push_digits(out, month as u64, 2);
    out.push('-');
    push_digits(out, day as u64, 2);
}

/// Appends a time of day, given in nanoseconds since midnight: `23:59:59.5`. What is beyond a day keeps counting hours.
pub fn write_time(out: &mut String, nanos: i128) {
    let seconds = nanos.unsigned_abs() / NANOS_PER_SECOND as u128;
    if nanos < 0 {
        out.push('-');
    }
    push_digits(out, (seconds / 3_600) as u64, 2);
    out.push(':');
    push_digits(out, (seconds / 60 % 60) as u64, 2);
    out.push(':');
    push_digits(out, (seconds % 60) as u64, 2);
    push_fraction(out, (nanos.unsigned_abs() % NANOS_PER_SECOND as u128) as u32);
}

/// Appends a moment, given in nanoseconds since 1970-01-01: `2024-02-29T23:59:59.5`, and `Z` behind it for an instant.
pub fn write_timestamp(out: &mut String, nanos: i128, instant: bool) {
    write_date(out, nanos.div_euclid(NANOS_PER_DAY) as i64);
    out.push('T');
    write_time(out, nanos.rem_euclid(NANOS_PER_DAY));
    if instant {
        out.push('Z');
    }
}

/// Appends a length of time, given in nanoseconds: `-25:00:01.5`.
pub fn write_duration(out: &mut String, nanos: i128) {
    write_time(out, nanos);
}

/// Appends a calendar interval: `P14M3DT0.5S`.
pub fn write_interval(out: &mut String, months: i32, days: i32, nanos: i64) {
    out.push('P');
    if months != 0 {
        push_signed(out, months as i64, 1);
        out.push('M');
    }
    if days != 0 {
        push_signed(out, days as i64, 1);
        out.push('D');
    }
    if nanos != 0 || (months, days) == (0, 0) {
        out.push('T');
        if nanos < 0 {
            out.push('-');
        }
        push_digits(out, nanos.unsigned_abs() / NANOS_PER_SECOND as u64, 1);
        push_fraction(out, (nanos.unsigned_abs() % NANOS_PER_SECOND as u64) as u32);
        out.push('S');
    }
}

fn push_fraction(out: &mut String, nanos: u32) {
    if nanos == 0 {
        return;
    }
    out.push('.');
    push_digits(out, nanos as u64, 9);
    out.truncate(out.trim_end_matches('0').len());
}

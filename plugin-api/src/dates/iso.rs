//! Dates and times as ISO 8601 text. Fractions of a second appear only where there are any, without trailing zeros.

use super::{MICROS_PER_DAY, MICROS_PER_SECOND, civil_from_days};
use crate::digits::{push_digits, push_signed};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

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
    if nanos < 0 {
        out.push('-');
    }
    let (seconds, nanos) = match u64::try_from(nanos.unsigned_abs()) {
        Ok(nanos) => (nanos / NANOS_PER_SECOND as u64, nanos % NANOS_PER_SECOND as u64),
        Err(_) => {
            let (nanos, second) = (nanos.unsigned_abs(), NANOS_PER_SECOND as u128);
            ((nanos / second) as u64, (nanos % second) as u64)
        }
    };
    write_hours(out, seconds, nanos as u32);
}

fn write_hours(out: &mut String, seconds: u64, nanos: u32) {
    push_digits(out, seconds / 3_600, 2);
    out.push(':');
    push_digits(out, seconds / 60 % 60, 2);
    out.push(':');
    push_digits(out, seconds % 60, 2);
    push_fraction(out, nanos);
}

/// Appends a moment, given in nanoseconds since 1970-01-01: `2024-02-29T23:59:59.5`, and `Z` behind it for an instant.
pub fn write_timestamp(out: &mut String, nanos: i128, instant: bool) {
    Clock::of_nanos(nanos).write(out, 'T');
    if instant {
        out.push('Z');
    }
}

/// What a clock with a calendar shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// Since 1970-01-01.
    pub(super) days: i64,
    /// Since midnight.
    pub(super) seconds: u32,
    pub(super) nanos: u32,
}

impl Clock {
    #[inline]
    pub(super) fn of_micros(micros: i64) -> Clock {
        let of_day = micros.rem_euclid(MICROS_PER_DAY);
        Clock {
            days: micros.div_euclid(MICROS_PER_DAY),
            seconds: (of_day / MICROS_PER_SECOND) as u32,
            nanos: (of_day % MICROS_PER_SECOND) as u32 * 1_000,
        }
    }

    pub(super) fn of_nanos(nanos: i128) -> Clock {
        // Division of 128 bits is slow, and the moments of six centuries do without.
        let seconds = match i64::try_from(nanos) {
            Ok(nanos) => nanos.div_euclid(NANOS_PER_SECOND as i64),
            Err(_) => nanos.div_euclid(NANOS_PER_SECOND) as i64,
        };
        Clock {
            days: seconds.div_euclid(SECONDS_PER_DAY),
            seconds: seconds.rem_euclid(SECONDS_PER_DAY) as u32,
            nanos: (nanos - seconds as i128 * NANOS_PER_SECOND) as u32,
        }
    }

    /// Appends it, with this between day and time.
    #[inline]
    pub(super) fn write(self, out: &mut String, between: char) {
        write_date(out, self.days);
        out.push(between);
        write_hours(out, self.seconds as u64, self.nanos);
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

//! Dates, times and lengths of time into cells. A fraction of a second that the column does not keep is never rounded.

use transship_plugin_api::dates::{MICROS_PER_DAY, split_offset};
use transship_plugin_api::row::Value;

use super::{Put, Refusal, misfit, put_fixed};
use crate::binary::{EPOCH_DAYS, EPOCH_MICROS};
use crate::place::Place;

/// The server's first and last day, and what follows its last microsecond: 4714-11-24 BC to 5874897-12-31, and to 294276-12-31.
const FIRST_DAY: i32 = -2_451_545;
const DAYS_END: i32 = 2_145_031_949;
const FIRST_MICROS: i64 = -211_813_488_000_000_000;
const MICROS_END: i64 = 9_223_371_331_200_000_000;

const OUT_OF_RANGE: &str = "PostgreSQL has no such date";
const TOO_FINE: &str = "it has more digits of a second than the column, and would be rounded";
const HAS_TIME: &str = "it has a time of day, and the column takes a day only";

/// Days since 1970, with the infinite ones; if not of a column with infinite dates, extreme ones are only very far away.
#[inline]
pub(super) fn put_date(place: &Place, days: i32, out: &mut Vec<u8>) -> Put {
    if place.infinity && matches!(days, i32::MIN | i32::MAX) {
        return put_fixed(out, days.to_be_bytes());
    }
    let days = days.checked_sub(EPOCH_DAYS).filter(|days| (FIRST_DAY..DAYS_END).contains(days)).ok_or(OUT_OF_RANGE)?;
    put_fixed(out, days.to_be_bytes())
}

pub(super) fn date(place: &Place, value: Value<'_>) -> Result<i32, Refusal> {
    match value {
        Value::Date(days) => Ok(days),
        Value::Timestamp(i64::MAX) | Value::Instant(i64::MAX) if place.infinity => Ok(i32::MAX),
        Value::Timestamp(i64::MIN) | Value::Instant(i64::MIN) if place.infinity => Ok(i32::MIN),
        other => match local(place, other)? {
            Moment::Infinite(end) => Ok(if end < 0 { i32::MIN } else { i32::MAX }),
            Moment::At(micros) if micros.rem_euclid(MICROS_PER_DAY) != 0 => Err(HAS_TIME.into()),
            Moment::At(micros) => i32::try_from(micros.div_euclid(MICROS_PER_DAY)).map_err(|_| OUT_OF_RANGE.into()),
        },
    }
}

/// Microseconds since 1970, or no moment of the time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    At(i64),
    /// `i64::MIN` or `i64::MAX`, as the server has it, too.
    Infinite(i64),
}

/// The local time that a value is.
pub(super) fn local(place: &Place, value: Value<'_>) -> Result<Moment, Refusal> {
    match value {
        Value::Timestamp(end @ (i64::MIN | i64::MAX)) | Value::Instant(end @ (i64::MIN | i64::MAX))
            if place.infinity =>
        {
            Ok(Moment::Infinite(end))
        }
        Value::Timestamp(micros) => Ok(Moment::At(micros)),
        Value::Instant(micros) => at(place.formats.local_micros(micros)),
        Value::Date(days) => of_day(place, days),
        Value::Int(millis) => at(place.formats.local_of_millis(millis)),
        Value::Text(text) => match of_text(place, text)? {
            Parsed::Local(micros) => Ok(Moment::At(micros)),
            Parsed::Instant(micros) => at(place.formats.local_micros(micros)),
        },
        Value::Other(_) => Err(TOO_FINE.into()),
        other => Err(misfit(other)),
    }
}

/// The moment on the time line that a value is.
pub(super) fn instant(place: &Place, value: Value<'_>) -> Result<Moment, Refusal> {
    match value {
        Value::Timestamp(end @ (i64::MIN | i64::MAX)) | Value::Instant(end @ (i64::MIN | i64::MAX))
            if place.infinity =>
        {
            Ok(Moment::Infinite(end))
        }
        Value::Instant(micros) => Ok(Moment::At(micros)),
        Value::Timestamp(micros) => at(place.formats.instant_micros(micros)),
        Value::Date(days) => match of_day(place, days)? {
            Moment::At(micros) => at(place.formats.instant_micros(micros)),
            infinite => Ok(infinite),
        },
        // What DataX calls a date as a Long: milliseconds since 1970 UTC.
        Value::Int(millis) => at(millis.checked_mul(1_000)),
        Value::Text(text) => match of_text(place, text)? {
            Parsed::Local(micros) => at(place.formats.instant_micros(micros)),
            Parsed::Instant(micros) => Ok(Moment::At(micros)),
        },
        Value::Other(_) => Err(TOO_FINE.into()),
        other => Err(misfit(other)),
    }
}

fn at(micros: Option<i64>) -> Result<Moment, Refusal> {
    micros.map(Moment::At).ok_or(OUT_OF_RANGE.into())
}

fn of_day(place: &Place, days: i32) -> Result<Moment, Refusal> {
    match days {
        i32::MIN if place.infinity => Ok(Moment::Infinite(i64::MIN)),
        i32::MAX if place.infinity => Ok(Moment::Infinite(i64::MAX)),
        _ => at((days as i64).checked_mul(MICROS_PER_DAY)),
    }
}

enum Parsed {
    Local(i64),
    Instant(i64),
}

/// The usual forms, and those of the job file; all others are the server's to read.
fn of_text(place: &Place, text: &str) -> Result<Parsed, Refusal> {
    if text.trim().is_empty() {
        return Err("the text is empty, which is no date".into());
    }
    if let Ok(micros) = place.formats.parse_moment(text.as_bytes()) {
        return Ok(Parsed::Local(micros));
    }
    let (moment, offset) = split_offset(text).ok_or(Refusal::Unread)?;
    let micros = place.formats.parse_moment(moment.trim_end().as_bytes()).map_err(|_| Refusal::Unread)?;
    micros.checked_sub(offset as i64 * 1_000_000).map(Parsed::Instant).ok_or(OUT_OF_RANGE.into())
}

/// Microseconds since 1970 into a column that keeps them all.
#[inline]
pub(super) fn put_micros(place: &Place, micros: i64, out: &mut Vec<u8>) -> Put {
    let is_end = place.infinity && matches!(micros, i64::MIN | i64::MAX);
    put_moment(6, if is_end { Moment::Infinite(micros) } else { Moment::At(micros) }, out)
}

#[inline]
pub(super) fn put_moment(digits: u32, moment: Moment, out: &mut Vec<u8>) -> Put {
    let micros = match moment {
        Moment::Infinite(end) => return put_fixed(out, end.to_be_bytes()),
        Moment::At(micros) => micros,
    };
    not_finer(micros, digits)?;
    let micros = micros.checked_sub(EPOCH_MICROS).filter(|micros| (FIRST_MICROS..MICROS_END).contains(micros));
    put_fixed(out, micros.ok_or(OUT_OF_RANGE)?.to_be_bytes())
}

/// Microseconds since midnight.
pub(super) fn time(value: Value<'_>) -> Result<i64, Refusal> {
    match value {
        Value::Time(micros) => Ok(micros),
        Value::Duration(micros) if (0..=MICROS_PER_DAY).contains(&micros) => Ok(micros),
        Value::Duration(_) => {
            Err("it is no time of day: below 0 or beyond 24 hours; a column of type interval takes it".into())
        }
        Value::Timestamp(micros) if micros.div_euclid(MICROS_PER_DAY) == 0 => Ok(micros),
        Value::Timestamp(_) => Err("it has a day, and the column takes a time of day only".into()),
        Value::Text(text) => {
            let parsed = transship_plugin_api::dates::parse_date(text.as_bytes());
            parsed
                .ok()
                .filter(|micros| (0..MICROS_PER_DAY).contains(micros) && text.contains(':') && !text.contains('-'))
                .ok_or(Refusal::Unread)
        }
        Value::Other(_) => Err(TOO_FINE.into()),
        other => Err(misfit(other)),
    }
}

pub(super) fn put_time(digits: u32, micros: i64, out: &mut Vec<u8>) -> Put {
    not_finer(micros, digits)?;
    if !(0..=MICROS_PER_DAY).contains(&micros) {
        return Err("it is no time of day: below 0 or beyond 24 hours".into());
    }
    put_fixed(out, micros.to_be_bytes())
}

pub(super) fn put_interval(digits: u32, value: Value<'_>, out: &mut Vec<u8>) -> Put {
    let (months, days, micros) = match value {
        Value::Interval { months, days, nanos } => {
            if nanos % 1_000 != 0 {
                return Err(TOO_FINE.into());
            }
            (months, days, nanos / 1_000)
        }
        Value::Duration(micros) | Value::Time(micros) => (0, 0, micros),
        Value::Text(_) => return Err(Refusal::Unread),
        Value::Other(_) => return Err(TOO_FINE.into()),
        other => return Err(misfit(other)),
    };
    not_finer(micros, digits)?;
    let number = (micros as u64 as u128) << 64 | (days as u32 as u128) << 32 | months as u32 as u128;
    put_fixed(out, number.to_be_bytes())
}

/// Refuses microseconds that a column with fewer digits of a second would round.
fn not_finer(micros: i64, digits: u32) -> Put {
    if digits < 6 && micros % 10i64.pow(6 - digits) != 0 {
        return Err(TOO_FINE.into());
    }
    Ok(())
}

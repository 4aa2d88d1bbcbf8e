//! Dates and times of the binary protocol: their parts, with those left out that are zero.

use transship_plugin_api::Result;
use transship_plugin_api::dates::{MICROS_PER_DAY, MICROS_PER_SECOND, days_from_civil};

use super::{Cell, Misfit, malformed, number};
use crate::config::ZeroDate;

/// The parts of a date and time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Moment {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
}

impl Moment {
    /// `None` where the packet is malformed.
    #[inline]
    fn take(packet: &mut &[u8]) -> Option<Moment> {
        let [length] = number::bytes(packet)?;
        let mut moment = Moment::default();
        if length >= 4 {
            let [y0, y1, month, day] = number::bytes(packet)?;
            moment = Moment { year: u16::from_le_bytes([y0, y1]), month, day, ..moment };
        }
        if length >= 7 {
            let [hour, minute, second] = number::bytes(packet)?;
            moment = Moment { hour, minute, second, ..moment };
        }
        if length >= 11 {
            moment.micros = u32::from_le_bytes(number::bytes(packet)?);
        }
        matches!(length, 0 | 4 | 7 | 11).then_some(moment)
    }

    /// Days since 1970-01-01; `None` for a date that is none.
    fn days(&self) -> Option<i64> {
        days_from_civil(i64::from(self.year), u32::from(self.month), u32::from(self.day))
    }

    fn micros_of_day(&self) -> i64 {
        let seconds = (i64::from(self.hour) * 60 + i64::from(self.minute)) * 60 + i64::from(self.second);
        seconds * MICROS_PER_SECOND + i64::from(self.micros)
    }

    /// What becomes of a date that is none.
    fn without_day<T>(&self, policy: ZeroDate, has_time: bool) -> Cell<T> {
        let is_zero = (self.year, self.month, self.day) == (0, 0, 0);
        if is_zero && policy == ZeroDate::Null {
            return Ok(None);
        }
        let Moment { year, month, day, hour, minute, second, micros } = self;
        let mut value = format!("{year:04}-{month:02}-{day:02}");
        if has_time {
            value.push_str(&format!(" {hour:02}:{minute:02}:{second:02}"));
            if *micros > 0 {
                value.push_str(&format!(".{micros:06}"));
            }
        }
        let cause = match is_zero {
            true => "a zero date is no date; \"zeroDate\": \"null\" makes NULL of it",
            false => "it is no date of the calendar",
        };
        Err(Misfit { value, cause: cause.into() })
    }
}

/// A date in days since 1970-01-01.
#[inline]
pub(super) fn date(packet: &mut &[u8], policy: ZeroDate) -> Result<Cell<i32>> {
    let moment = Moment::take(packet).ok_or_else(malformed)?;
    Ok(match moment.days() {
        Some(days) => Ok(Some(days as i32)),
        None => moment.without_day(policy, false),
    })
}

/// A date and time in microseconds since 1970-01-01, with so many added.
#[inline]
pub(super) fn moment(packet: &mut &[u8], policy: ZeroDate, added_micros: i64) -> Result<Cell<i64>> {
    let moment = Moment::take(packet).ok_or_else(malformed)?;
    Ok(match moment.days() {
        Some(days) => Ok(Some(days * MICROS_PER_DAY + moment.micros_of_day() + added_micros)),
        None => moment.without_day(policy, true),
    })
}

/// An instant in microseconds since 1970-01-01 UTC, as the server counts it: the first second of that year, which no TIMESTAMP is,
/// stands for the zero date.
#[inline]
pub(super) fn instant(micros: Option<i64>, policy: ZeroDate) -> Cell<i64> {
    match micros {
        Some(0) => Moment::default().without_day(policy, true),
        Some(micros) => Ok(Some(micros)),
        None => Err(Misfit { value: String::new(), cause: "it is no TIMESTAMP".into() }),
    }
}

/// A TIME in microseconds: of either sign, and of more than a day.
#[inline]
pub(super) fn duration(packet: &mut &[u8]) -> Option<i64> {
    let [length] = number::bytes(packet)?;
    if length == 0 {
        return Some(0);
    }
    let [is_negative, d0, d1, d2, d3, hours, minutes, seconds] = number::bytes(packet)?;
    let micros = if length >= 12 { u32::from_le_bytes(number::bytes(packet)?) } else { 0 };
    let hours = i64::from(u32::from_le_bytes([d0, d1, d2, d3])) * 24 + i64::from(hours);
    let seconds = (hours * 60 + i64::from(minutes)) * 60 + i64::from(seconds);
    let micros = seconds * MICROS_PER_SECOND + i64::from(micros);
    matches!(length, 8 | 12).then_some(if is_negative != 0 { -micros } else { micros })
}

//! Reading the fields of a date: a date in the making, and what its fields look like as text.

use super::pattern::Field;
use super::{MICROS_PER_DAY, MICROS_PER_SECOND, days_from_civil, weekday};

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// The number at the front, of at most so many digits (nine, so that it fits), and how many it has.
#[inline]
pub(super) fn take_number(text: &[u8], most: usize) -> Option<(u32, usize)> {
    let mut number = 0;
    let mut length = 0;
    for byte in text.iter().take(most.min(9)) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number * 10 + digit as u32;
        length += 1;
    }
    if length == 0 { None } else { Some((number, length)) }
}

/// What has been read of a date so far.
#[derive(Debug, Default)]
pub(super) struct Moment {
    year: Option<i64>,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    weekday: Option<usize>,
    afternoon: bool,
    hour: u32,
    half_hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
    offset_minutes: i64,
}

impl Moment {
    #[inline]
    pub(super) fn set_number(
        &mut self,
        field: Field,
        number: u32,
        length: usize,
        width: usize,
        first_short_year: i64,
    ) -> Option<()> {
        let within = |low: u32, high: u32| if number >= low && number <= high { Some(number) } else { None };
        match field {
            Field::Year if width == 2 && length == 2 => {
                let first = first_short_year;
                self.year = Some(first + (number as i64 - first).rem_euclid(100));
            }
            Field::Year => self.year = Some(number as i64),
            Field::Month => self.month = Some(within(1, 12)?),
            Field::Day => self.day = Some(within(1, 31)?),
            Field::DayOfYear => self.day_of_year = Some(within(1, 366)?),
            Field::Hour => self.hour = within(0, 23)?,
            Field::HourFrom1 => self.hour = within(1, 24)? % 24,
            Field::HalfHour => self.half_hour = within(0, 11)?,
            Field::HalfHourFrom1 => self.half_hour = within(1, 12)? % 12,
            Field::Minute => self.minute = within(0, 59)?,
            Field::Second => self.second = within(0, 59)?,
            Field::Fraction => {
                let nanos = number * 10u32.pow(9 - length as u32);
                // Finer than a microsecond can't be kept, and is not thrown away silently.
                if !nanos.is_multiple_of(1_000) {
                    return None;
                }
                self.micros = nanos / 1_000;
            }
            _ => return None,
        }
        Some(())
    }

    pub(super) fn take_words<'a>(&mut self, field: Field, text: &'a [u8]) -> Option<&'a [u8]> {
        match field {
            Field::MonthName => {
                let (index, rest) = take_name(&MONTHS, text)?;
                self.month = Some(index as u32 + 1);
                Some(rest)
            }
            Field::Weekday => {
                let (index, rest) = take_name(&WEEKDAYS, text)?;
                self.weekday = Some(index);
                Some(rest)
            }
            Field::HalfDay => {
                let (word, rest) = text.split_at_checked(2)?;
                self.afternoon = word.eq_ignore_ascii_case(b"PM");
                (self.afternoon || word.eq_ignore_ascii_case(b"AM")).then_some(rest)
            }
            _ => {
                let (minutes, rest) = take_offset(text)?;
                self.offset_minutes = minutes;
                Some(rest)
            }
        }
    }

    pub(super) fn micros(&self) -> Option<i64> {
        let year = self.year.unwrap_or(1970);
        let days = match self.day_of_year {
            None => days_from_civil(year, self.month.unwrap_or(1), self.day.unwrap_or(1))?,
            Some(366) => days_from_civil(year, 2, 29).and(days_from_civil(year, 12, 31))?,
            Some(day) => days_from_civil(year, 1, 1)? + day as i64 - 1,
        };
        if self.weekday.is_some_and(|named| named != weekday(days)) {
            return None;
        }
        let hour = self.hour + self.half_hour + if self.afternoon { 12 } else { 0 };
        if hour > 23 {
            return None;
        }
        let seconds = (hour * 3_600 + self.minute * 60 + self.second) as i64 - self.offset_minutes * 60;
        days.checked_mul(MICROS_PER_DAY)?.checked_add(seconds * MICROS_PER_SECOND + self.micros as i64)
    }
}

/// The name at the front, in full or its first three letters, in any case.
fn take_name<'a>(names: &[&str], text: &'a [u8]) -> Option<(usize, &'a [u8])> {
    let starts = |name: &str| text.get(..name.len()).is_some_and(|front| front.eq_ignore_ascii_case(name.as_bytes()));
    names.iter().enumerate().find_map(|(index, name)| {
        let length = if starts(name) {
            name.len()
        } else if starts(&name[..3]) {
            3
        } else {
            return None;
        };
        Some((index, &text[length..]))
    })
}

/// The offset from UTC at the front, in minutes: `Z`, `UTC`, `GMT`, `+08`, `+0800`, `+08:00`, or `GMT+08:00`.
fn take_offset(text: &[u8]) -> Option<(i64, &[u8])> {
    let named = [&b"UTC"[..], b"GMT", b"Z"].into_iter().find_map(|name| text.strip_prefix(name));
    let rest = named.unwrap_or(text);
    let sign = match rest.first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return named.map(|rest| (0, rest)),
    };
    let (hours, length) = take_number(&rest[1..], 2)?;
    let rest = &rest[1 + length..];
    let (minutes, rest) = match take_number(rest.strip_prefix(b":").unwrap_or(rest), 2) {
        Some((minutes, 2)) => (minutes, &rest[if rest[0] == b':' { 3 } else { 2 }..]),
        _ => (0, rest),
    };
    if length != 2 || hours > 18 || minutes > 59 { None } else { Some((sign * (hours * 60 + minutes) as i64, rest)) }
}

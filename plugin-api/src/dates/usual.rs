//! Dates in the usual forms: `2020-01-02`, `2020-01-02 03:04:05`, with a `T` for the blank, with a fraction, with or
//! without leading zeros; `20200102`; `03:04:05`, which is on 1970-01-01; years before 0 and after 9999 as ISO 8601 has them,
//! `-0043-03-15` and `10000-01-01`. A day that does not exist is none.
//! Not here: the formats that a job file asks for (`formats`, `pattern`).

use std::borrow::Cow;

use super::pattern::DatePattern;
use super::{MICROS_PER_DAY, MICROS_PER_SECOND, days_from_civil};

/// Why a text is no date: continues the sentence "the value …".
pub type Cause = Cow<'static, str>;

const EMPTY: &str = "is empty, which is no date; set nullFormat to \"\" if it means NULL";
const NO_DATE: &str =
    "is not a date like 2020-01-31 or 2020-01-31 23:59:59; give the column a format if it is written in another way";
const NO_SUCH_DAY: &str = "is a day that does not exist";
const NO_SUCH_TIME: &str = "is a time that does not exist";
const ZONE: &str = "has a time zone; give the column a format with XXX or Z so that it is read as an instant";
pub(super) const TOO_FAR: &str = "is a moment too far from now to be kept";
const TOO_FINE: &str = "has parts of a second that are smaller than a microsecond";

/// The date that a text is, in microseconds since 1970-01-01 00:00:00.
///
/// # Errors
/// Why it is none.
pub fn parse_date(text: &[u8]) -> Result<i64, Cause> {
    parse_date_but(text, true)
}

/// As [`parse_date`]; `compact`: whether eight digits are a day.
pub(super) fn parse_date_but(text: &[u8], compact: bool) -> Result<i64, Cause> {
    if text.is_empty() {
        return Err(EMPTY.into());
    }
    let mut rest = Rest { text };
    if let Some(time) = rest.clone().time_to_the_end()? {
        return Ok(time);
    }
    let day = rest.day(compact)?;
    if rest.text.is_empty() {
        return Ok(day);
    }
    if !matches!(rest.text[0], b' ' | b'T') {
        return Err(NO_DATE.into());
    }
    rest.text = &rest.text[1..];
    match rest.time_to_the_end()? {
        Some(time) => day.checked_add(time).ok_or(TOO_FAR.into()),
        None => Err(NO_DATE.into()),
    }
}

/// The text before `Z`, `+08`, `+0800` or `-03:30` at the end of a date and time, and the offset in seconds.
pub fn split_offset(text: &str) -> Option<(&str, i32)> {
    if let Some(moment) = text.strip_suffix(['Z', 'z']) {
        return Some((moment, 0));
    }
    // Behind the colon of the time: the hyphens of a day are no signs.
    let time = text.find(':')?;
    let at = time + text[time..].find(['+', '-'])?;
    let digits = text[at + 1..].replace(':', "");
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i32 = digits.parse().ok()?;
    let seconds = if digits.len() == 2 { number * 3_600 } else { number / 100 * 3_600 + number % 100 * 60 };
    Some((&text[..at], if text[at..].starts_with('-') { -seconds } else { seconds }))
}

/// The date that a text is by this pattern, in microseconds since 1970-01-01 00:00:00 (UTC, where the pattern has a
/// zone).
///
/// # Errors
/// Why it is none.
pub fn parse_date_by(pattern: &DatePattern, text: &[u8]) -> Result<i64, Cause> {
    if text.is_empty() {
        return Err(EMPTY.into());
    }
    let date = std::str::from_utf8(text).ok().and_then(|text| pattern.parse_micros(text));
    date.ok_or_else(|| format!("is not a date like {}", pattern.text()).into())
}

/// What is left to read.
#[derive(Clone)]
struct Rest<'a> {
    text: &'a [u8],
}

impl Rest<'_> {
    /// `2020-01-02` or `20200102`, as microseconds.
    fn day(&mut self, compact: bool) -> Result<i64, Cause> {
        let is_before_zero = self.after(b'-').is_some();
        let (year, month, day) = match self.number(1, 8) {
            Some((date, 8)) if compact && !is_before_zero => (date / 10_000, date / 100 % 100, date % 100),
            Some((year, 4..=7)) => {
                let month = self.after(b'-').and_then(|()| self.number(1, 2));
                let day = month.and_then(|_| self.after(b'-')).and_then(|()| self.number(1, 2));
                match (month, day) {
                    (Some((month, _)), Some((day, _))) => (year, month, day),
                    _ => return Err(NO_DATE.into()),
                }
            }
            _ => return Err(NO_DATE.into()),
        };
        let year = i64::from(year);
        let days = days_from_civil(if is_before_zero { -year } else { year }, month, day).ok_or(NO_SUCH_DAY)?;
        days.checked_mul(MICROS_PER_DAY).ok_or(TOO_FAR.into())
    }

    /// `03:04`, `03:04:05` or `03:04:05.678`, if that is all that is left, as microseconds. 24:00:00 is the end of the
    /// day.
    fn time_to_the_end(&mut self) -> Result<Option<i64>, Cause> {
        let Some((hour, _)) = self.number(1, 2) else { return Ok(None) };
        if self.after(b':').is_none() {
            return Ok(None);
        }
        let Some((minute, _)) = self.number(1, 2) else { return Ok(None) };
        let mut second = 0;
        let mut fraction = 0;
        if self.after(b':').is_some() {
            let Some((read, _)) = self.number(1, 2) else { return Ok(None) };
            second = read;
            if self.after(b'.').is_some() {
                let Some(read) = self.fraction()? else { return Ok(None) };
                fraction = read;
            }
        }
        match self.text {
            [] => {}
            [b'Z' | b'z' | b'+' | b'-', ..] | [b' ', b'+' | b'-' | b'A'..=b'Z' | b'a'..=b'z', ..] => {
                return Err(ZONE.into());
            }
            _ => return Ok(None),
        }
        let end_of_day = hour == 24 && minute == 0 && second == 0 && fraction == 0;
        if (hour > 23 && !end_of_day) || minute > 59 || second > 59 {
            return Err(NO_SUCH_TIME.into());
        }
        Ok(Some(i64::from(hour * 3600 + minute * 60 + second) * MICROS_PER_SECOND + fraction))
    }

    /// The digits after a point as microseconds; digits beyond those must be zero.
    fn fraction(&mut self) -> Result<Option<i64>, Cause> {
        let digits = self.text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = self.text;
        let (fraction, rest) = text.split_at(digits);
        if fraction.is_empty() {
            return Ok(None);
        }
        self.text = rest;
        if fraction.iter().skip(6).any(|digit| *digit != b'0') {
            return Err(TOO_FINE.into());
        }
        Ok(Some((0..6).fold(0, |number, place| number * 10 + i64::from(fraction.get(place).unwrap_or(&b'0') - b'0'))))
    }

    /// As many digits as there are, if their number is within these bounds: the number they are, and how many.
    fn number(&mut self, fewest: usize, most: usize) -> Option<(u32, usize)> {
        let digits = self.text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(fewest..=most).contains(&digits) {
            return None;
        }
        let text = self.text;
        let (number, rest) = text.split_at(digits);
        self.text = rest;
        Some((number.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')), digits))
    }

    fn after(&mut self, byte: u8) -> Option<()> {
        let text = self.text;
        let (first, rest) = text.split_first()?;
        (*first == byte).then(|| self.text = rest)
    }
}

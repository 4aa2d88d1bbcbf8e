//! Dates and times as SQLite's own functions take them: `2024-02-29`, `2024-02-29 23:59:59.5`, `23:59`, with or without a
//! zone; and the words `infinity` and `-infinity`, which are the ends of the type's range. What cannot be said exactly in
//! microseconds, or what no calendar has, is nothing.

use transship_plugin_api::dates::{MICROS_PER_DAY, MICROS_PER_SECOND, days_from_civil};
use transship_plugin_api::row::Infinity;

/// The days since 1970-01-01 of `2024-02-29`.
pub(crate) fn date(text: &[u8]) -> Option<i32> {
    match day(text) {
        Some((days, [])) => i32::try_from(days).ok(),
        Some(_) => None,
        None => Infinity::parse(text).map(|end| if end == Infinity::Past { i32::MIN } else { i32::MAX }),
    }
}

/// The microseconds since midnight of `23:59`, `23:59:59` or `23:59:59.123456`; `24:00:00` is the end of the day.
pub(crate) fn time(text: &[u8]) -> Option<i64> {
    if text == b"24:00:00" {
        return Some(MICROS_PER_DAY);
    }
    match time_of_day(text)? {
        (micros, []) => Some(micros),
        _ => None,
    }
}

/// The microseconds since 1970-01-01 of a date, or of a date and a time with a blank or a `T` between them.
pub(crate) fn timestamp(text: &[u8]) -> Option<i64> {
    match day_and_time(text) {
        Some((micros, [])) => Some(micros),
        Some(_) => None,
        None => infinite_micros(text),
    }
}

/// The microseconds since 1970-01-01 UTC of a date and a time with a zone behind them: `Z`, `+01:00`, `-0330`, `+05`.
pub(crate) fn instant(text: &[u8]) -> Option<i64> {
    let Some((micros, rest)) = day_and_time(text) else { return infinite_micros(text) };
    micros.checked_sub(offset_minutes(rest)? * 60 * MICROS_PER_SECOND)
}

fn infinite_micros(text: &[u8]) -> Option<i64> {
    Infinity::parse(text).map(|end| if end == Infinity::Past { i64::MIN } else { i64::MAX })
}

/// Whether a text is any of the above, be its fraction of a second as fine as it likes, and with or without a zone.
pub(crate) fn is_date_or_time(text: &[u8]) -> bool {
    let is_end = |rest: &[u8]| rest.is_empty() || offset_minutes(rest).is_some();
    let time = match day(text) {
        Some((_, [b' ' | b'T', time @ ..])) => time,
        Some((_, rest)) => return is_end(rest),
        None => text,
    };
    match whole_seconds(time) {
        Some((_, [b'.', fraction @ ..])) => {
            let (digits, rest) = leading_digits(fraction);
            !digits.is_empty() && is_end(rest)
        }
        Some((_, rest)) => is_end(rest),
        None => false,
    }
}

/// The minutes by which a zone is ahead of UTC.
fn offset_minutes(zone: &[u8]) -> Option<i64> {
    let (sign, offset) = match zone.strip_prefix(b" ").unwrap_or(zone) {
        b"Z" | b"z" => return Some(0),
        [sign @ (b'+' | b'-'), offset @ ..] => (sign, offset),
        _ => return None,
    };
    let (hours, minutes) = match offset {
        [h1, h2] => (two(&[*h1, *h2])?, 0),
        [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => (two(&[*h1, *h2])?, two(&[*m1, *m2])?),
        _ => return None,
    };
    if hours > 15 || minutes > 59 {
        return None;
    }
    let minutes = hours * 60 + minutes;
    Some(if *sign == b'-' { -minutes } else { minutes })
}

fn day_and_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let (days, rest) = day(text)?;
    let midnight = days.checked_mul(MICROS_PER_DAY)?;
    match rest {
        [b' ' | b'T', rest @ ..] => {
            let (micros, rest) = time_of_day(rest)?;
            Some((midnight.checked_add(micros)?, rest))
        }
        rest => Some((midnight, rest)),
    }
}

/// Years have four digits, those after 9999 more, those before 0 a minus sign as well.
fn day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (is_before_zero, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (digits, rest) = leading_digits(unsigned);
    let ([b'-', m1, m2, b'-', d1, d2, rest @ ..], 4..=7) = (rest, digits.len()) else { return None };
    let year = digits.iter().fold(0i64, |year, digit| year * 10 + (digit - b'0') as i64);
    let year = if is_before_zero { -year } else { year };
    let days = days_from_civil(year, two(&[*m1, *m2])? as u32, two(&[*d1, *d2])? as u32)?;
    Some((days, rest))
}

fn time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (seconds, rest) = whole_seconds(text)?;
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => micros_behind_the_point(rest)?,
        rest => (0, rest),
    };
    Some((seconds * MICROS_PER_SECOND + fraction, rest))
}

fn whole_seconds(text: &[u8]) -> Option<(i64, &[u8])> {
    let [h1, h2, b':', m1, m2, rest @ ..] = text else { return None };
    let (hours, minutes) = (two(&[*h1, *h2])?, two(&[*m1, *m2])?);
    let (seconds, rest) = match rest {
        [b':', s1, s2, rest @ ..] => (two(&[*s1, *s2])?, rest),
        rest => (0, rest),
    };
    (hours <= 23 && minutes <= 59 && seconds <= 59).then_some((hours * 3_600 + minutes * 60 + seconds, rest))
}

/// At least one digit; from the seventh on only zeros, for what is finer than a microsecond would be lost.
fn micros_behind_the_point(text: &[u8]) -> Option<(i64, &[u8])> {
    let (digits, rest) = leading_digits(text);
    if digits.is_empty() || digits.iter().skip(6).any(|digit| *digit != b'0') {
        return None;
    }
    let micros =
        (0..6).fold(0, |micros, place| micros * 10 + digits.get(place).map_or(0, |digit| (digit - b'0') as i64));
    Some((micros, rest))
}

fn leading_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

fn two(digits: &[u8; 2]) -> Option<i64> {
    digits.iter().all(u8::is_ascii_digit).then(|| (digits[0] - b'0') as i64 * 10 + (digits[1] - b'0') as i64)
}

#[cfg(test)]
mod tests;

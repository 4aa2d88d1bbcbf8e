//! Dates and times as SQLite's own functions take them: `2024-02-29`, `2024-02-29 23:59:59.5`, `23:59`, with or without a
//! zone. What they cannot say exactly in microseconds, or what no calendar has, is nothing.

use transship_plugin_api::dates::{MICROS_PER_DAY, MICROS_PER_SECOND, days_from_civil};

/// The days since 1970-01-01 of `2024-02-29`.
pub(super) fn date(text: &[u8]) -> Option<i32> {
    match day(text)? {
        (days, []) => i32::try_from(days).ok(),
        _ => None,
    }
}

/// The microseconds since midnight of `23:59`, `23:59:59` or `23:59:59.123456`.
pub(super) fn time(text: &[u8]) -> Option<i64> {
    match time_of_day(text)? {
        (micros, []) => Some(micros),
        _ => None,
    }
}

/// The microseconds since 1970-01-01 of a date, or of a date and a time with a blank or a `T` between them.
pub(super) fn timestamp(text: &[u8]) -> Option<i64> {
    match day_and_time(text)? {
        (micros, []) => Some(micros),
        _ => None,
    }
}

/// The microseconds since 1970-01-01 UTC of a date and a time with a zone behind them: `Z`, `+01:00`, `-0330`, `+05`.
pub(super) fn instant(text: &[u8]) -> Option<i64> {
    let (micros, rest) = day_and_time(text)?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let offset_minutes = match rest {
        b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), offset @ ..] => {
            let (hours, minutes) = match offset {
                [h1, h2] => (two(&[*h1, *h2])?, 0),
                [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => (two(&[*h1, *h2])?, two(&[*m1, *m2])?),
                _ => return None,
            };
            if hours > 15 || minutes > 59 {
                return None;
            }
            let minutes = hours * 60 + minutes;
            if *sign == b'-' { -minutes } else { minutes }
        }
        _ => return None,
    };
    micros.checked_sub(offset_minutes * 60 * MICROS_PER_SECOND)
}

fn day_and_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let (days, rest) = day(text)?;
    let midnight = days * MICROS_PER_DAY;
    match rest {
        [b' ' | b'T', rest @ ..] => {
            let (micros, rest) = time_of_day(rest)?;
            Some((midnight + micros, rest))
        }
        rest => Some((midnight, rest)),
    }
}

fn day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (date, rest) = text.split_at_checked(10)?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else { return None };
    let year = two(&[*y1, *y2])? * 100 + two(&[*y3, *y4])?;
    let days = days_from_civil(year, two(&[*m1, *m2])? as u32, two(&[*d1, *d2])? as u32)?;
    Some((days, rest))
}

fn time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let [h1, h2, b':', m1, m2, rest @ ..] = text else { return None };
    let (hours, minutes) = (two(&[*h1, *h2])?, two(&[*m1, *m2])?);
    let (seconds, rest) = match rest {
        [b':', s1, s2, rest @ ..] => (two(&[*s1, *s2])?, rest),
        rest => (0, rest),
    };
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => micros_behind_the_point(rest)?,
        rest => (0, rest),
    };
    Some(((hours * 3_600 + minutes * 60 + seconds) * MICROS_PER_SECOND + fraction, rest))
}

/// At least one digit; from the seventh on only zeros, for what is finer than a microsecond would be lost.
fn micros_behind_the_point(text: &[u8]) -> Option<(i64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() || digits.iter().skip(6).any(|digit| *digit != b'0') {
        return None;
    }
    let micros =
        (0..6).fold(0, |micros, place| micros * 10 + digits.get(place).map_or(0, |digit| (digit - b'0') as i64));
    Some((micros, rest))
}

fn two(digits: &[u8; 2]) -> Option<i64> {
    digits.iter().all(u8::is_ascii_digit).then(|| (digits[0] - b'0') as i64 * 10 + (digits[1] - b'0') as i64)
}

#[cfg(test)]
mod tests;

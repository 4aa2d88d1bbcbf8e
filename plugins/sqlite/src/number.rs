//! Numbers written as text: what is one, and which SQLite number is exactly that.

use std::fmt::Write as _;

/// A number as SQLite stores it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Real(f64),
}

/// Why a text has no number that SQLite could store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotStorable {
    /// It is no number.
    NoNumber,
    /// It has more digits than a 64-bit integer or float can keep.
    Inexact,
    /// It is larger, or closer to zero, than any 64-bit float.
    OutOfRange,
    /// It is NaN, for which SQLite stores NULL.
    Nan,
}

/// Whether a text is a number, NaN and infinities included: what a `transship.number` column may hold.
pub(crate) fn is_number(text: &str) -> bool {
    Digits::parse(text).is_some() || special(text).is_some()
}

/// Whether a text is one of the words that stand for NaN and infinities. SQLite knows none of them: to it they are text.
pub(crate) fn is_word(text: &str) -> bool {
    special(text.trim()).is_some()
}

/// The SQLite number that a text stands for, from which the same number can be read again. Blanks around it do not count.
pub(crate) fn parse(text: &str) -> Result<Number, NotStorable> {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    if let Some(number) = short_integer(text.as_bytes()) {
        return Ok(Number::Integer(number));
    }
    if let Some(value) = special(text) {
        return if value.is_nan() { Err(NotStorable::Nan) } else { Ok(Number::Real(value)) };
    }
    let digits = Digits::parse(text).ok_or(NotStorable::NoNumber)?;
    if let Some(number) = digits.integer() {
        return Ok(Number::Integer(number));
    }
    float_of(text, digits).map(Number::Real)
}

/// The float that a text stands for, from which the same number can be read again. Blanks around it do not count.
pub(crate) fn real(text: &str) -> Result<f64, NotStorable> {
    match parse(text)? {
        Number::Real(real) => Ok(real),
        // Floats beyond 2^53 are whole, and their shortest text has other digits at its end than they have.
        Number::Integer(number) => exact_real(number).map_or_else(
            || {
                let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
                float_of(text, Digits::parse(text).ok_or(NotStorable::NoNumber)?)
            },
            Ok,
        ),
    }
}

fn float_of(text: &str, digits: Digits) -> Result<f64, NotStorable> {
    let value: f64 = text.parse().map_err(|_| NotStorable::NoNumber)?;
    if value.is_infinite() || value == 0.0 {
        return Err(NotStorable::OutOfRange);
    }
    let mut again = String::new();
    write_real(&mut again, value);
    let shortest = Digits::parse(&again);
    // Halfway between two shortest texts a float has both, and others may write the other one.
    let is_other_half = || {
        let figures = digits.digits.len();
        let is_as_long = shortest.as_ref().is_some_and(|shortest| shortest.digits.len() == figures);
        is_as_long && Digits::parse(&format!("{value:.*e}", figures.saturating_sub(1))).as_ref() == Some(&digits)
    };
    if shortest.as_ref() == Some(&digits) || is_other_half() { Ok(value) } else { Err(NotStorable::Inexact) }
}

/// The float that is exactly this whole number.
pub(crate) fn exact_real(number: i64) -> Option<f64> {
    let real = number as f64;
    // The cast back saturates, so that 2^63 would look like i64::MAX.
    (real as i64 == number && real < i64::MAX as f64).then_some(real)
}

/// The whole number that is exactly this float.
pub(crate) fn exact_integer(real: f64) -> Option<i64> {
    let in_range = (i64::MIN as f64..i64::MAX as f64).contains(&real);
    (in_range && real.fract() == 0.0).then_some(real as i64)
}

/// Appends the shortest text that gives the same float again, with a point or an exponent in it, as SQLite writes a real.
pub(crate) fn write_real(out: &mut String, real: f64) {
    // Writing to a string cannot fail.
    let _ = if real.is_infinite() {
        out.write_str(if real > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        write!(out, "{real:?}")
    };
}

/// The common case, done fast: an optional minus sign and at most 18 digits.
fn short_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number = 0i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + (digit - b'0') as i64;
    }
    Some(if negative { -number } else { number })
}

fn special(text: &str) -> Option<f64> {
    let words = [("nan", f64::NAN), ("infinity", f64::INFINITY), ("-infinity", f64::NEG_INFINITY)];
    words.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| value)
}

/// A decimal number in the one form that equal numbers share: its digits without zeros around them, and the power of ten
/// that the last of them counts.
#[derive(Debug, PartialEq, Eq)]
struct Digits {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Digits {
    fn parse(text: &str) -> Option<Digits> {
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let mantissa = rest.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(rest.len());
        let mut exponent = match rest.get(mantissa + 1..) {
            None => 0,
            Some(exponent) => std::str::from_utf8(exponent).ok()?.parse::<i32>().ok()? as i64,
        };
        let mut digits = Vec::new();
        let (mut point, mut any) = (false, false);
        for byte in &rest[..mantissa] {
            match byte {
                b'.' if !point => point = true,
                b'0'..=b'9' => {
                    any = true;
                    exponent -= point as i64;
                    if *byte != b'0' || !digits.is_empty() {
                        digits.push(*byte);
                    }
                }
                _ => return None,
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent += 1;
        }
        let zero = digits.is_empty();
        any.then_some(Digits { negative: negative && !zero, digits, exponent: if zero { 0 } else { exponent } })
    }

    fn integer(&self) -> Option<i64> {
        if !(0..=18).contains(&self.exponent) {
            return None;
        }
        let mut number = 0i64;
        let zeros = std::iter::repeat_n(&b'0', self.exponent as usize);
        for digit in self.digits.iter().chain(zeros) {
            let digit = (digit - b'0') as i64;
            number = number.checked_mul(10)?.checked_add(if self.negative { -digit } else { digit })?;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests;

//! Numbers in text, by the rules of Java's `BigDecimal`, which DataX reads them with: digits with or without a point, a
//! sign, an exponent, and nothing around them.

use super::Cause;

/// The parts of a number.
struct Parts<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

/// Takes a text apart, if it is a number.
fn parts(text: &[u8]) -> Option<Parts<'_>> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mantissa = digits.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(digits.len());
    let exponent = match &digits[mantissa..] {
        [] => 0,
        [_, exponent @ ..] => parse_exponent(exponent)?,
    };
    let mantissa = &digits[..mantissa];
    let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
    let (whole, fraction) = (&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default());
    let all_digits = whole.iter().chain(fraction).all(u8::is_ascii_digit);
    (all_digits && whole.len() + fraction.len() > 0).then_some(Parts { negative, whole, fraction, exponent })
}

/// An exponent has ten digits at most and fits 32 bits.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 10 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0i64, |number, digit| number * 10 + i64::from(digit - b'0'));
    (number <= i64::from(i32::MAX)).then_some(if negative { -number } else { number })
}

/// The whole number that a text is; a fraction is cut off, as DataX does.
pub(crate) fn parse_long(text: &[u8]) -> Result<i64, Cause> {
    if let Some(number) = parse_plain(text) {
        return Ok(number);
    }
    let Some(parts) = parts(text) else { return Err(no_number(text, "is not a number")) };
    let digits = parts.whole.iter().chain(parts.fraction);
    // How many of the digits stand before the point, once the exponent has moved it.
    let before_point = parts.whole.len() as i64 + parts.exponent;
    let mut number = 0i128;
    let mut count = 0;
    for digit in digits {
        if count == before_point.max(0) {
            break;
        }
        count += 1;
        number = number * 10 + i128::from(digit - b'0');
        if number > i128::from(u64::MAX) {
            return Err(out_of_range());
        }
    }
    while count < before_point && number != 0 {
        count += 1;
        number *= 10;
        if number > i128::from(u64::MAX) {
            return Err(out_of_range());
        }
    }
    i64::try_from(if parts.negative { -number } else { number }).map_err(|_| out_of_range())
}

fn out_of_range() -> Cause {
    "is beyond the range of 64 bits; read the column as double or string".into()
}

/// Up to 18 digits, with or without a sign: what nearly every number is.
fn parse_plain(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number = 0i64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(if negative { -number } else { number })
}

/// Whether a text is a number, or NaN or an infinity in any case.
pub(crate) fn is_number(text: &[u8]) -> Result<(), Cause> {
    let special = [&b"NaN"[..], b"Infinity", b"-Infinity"];
    if parts(text).is_some() || special.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        Ok(())
    } else {
        Err(no_number(text, "is not a number"))
    }
}

fn no_number(text: &[u8], cause: &'static str) -> Cause {
    if text.is_empty() {
        "is empty, which is no number; set nullFormat to \"\" if it means NULL".into()
    } else {
        cause.into()
    }
}

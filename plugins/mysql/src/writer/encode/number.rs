//! Whether a number written out fits a column without losing anything.

use crate::writer::target::Takes;

/// The parts of a number: what stands before and behind the point, without zeros that say nothing.
struct Parts {
    is_negative: bool,
    /// Digits without leading and trailing zeros…
    digits: String,
    /// …so many of which, counted from the left, stand before the point; negative: so many zeros come before them.
    before: i64,
}

/// A number as [`transship_sql::names::is_number`] knows it.
fn parts(text: &str) -> Option<Parts> {
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let significant = all.trim_start_matches('0');
    let leading = (all.len() - significant.len()) as i64;
    let digits = significant.trim_end_matches('0').to_string();
    let before = if digits.is_empty() { 0 } else { (whole.len() as i64 - leading).checked_add(exponent)? };
    Some(Parts { is_negative: is_negative && !digits.is_empty(), digits, before })
}

/// The whole number that a text is, if it is one.
pub(super) fn whole(text: &str) -> Option<i128> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let parts = parts(text)?;
    let zeros = usize::try_from(parts.before - parts.digits.len() as i64).ok().filter(|zeros| *zeros < 40)?;
    let number: i128 =
        if parts.digits.is_empty() { 0 } else { format!("{}{}", parts.digits, "0".repeat(zeros)).parse().ok()? };
    Some(if parts.is_negative { -number } else { number })
}

/// Why a number does not fit; `None` if it does, or the server is to judge.
pub(super) fn misfit(text: &str, takes: &Takes) -> Option<String> {
    match takes {
        Takes::Integer { least, greatest } => match whole(text) {
            Some(number) if (*least..=*greatest).contains(&number) => None,
            Some(_) => Some(format!("it is not between {least} and {greatest}")),
            None => Some("it is no whole number, or too large".into()),
        },
        Takes::Bits(bits) => match whole(text) {
            Some(number) if number >= 0 && number < 1i128 << bits => None,
            _ => Some(format!("it is no whole number of {bits} bits")),
        },
        Takes::Year => match whole(text) {
            Some(0 | 1901..=2155) => None,
            _ => Some("it is neither 0 nor between 1901 and 2155".into()),
        },
        Takes::Decimal { digits, scale, is_unsigned } => {
            let Some(parts) = parts(text) else { return Some("its exponent is too large".into()) };
            let (digits, scale) = (i64::from(*digits), i64::from(*scale));
            if parts.before > digits - scale {
                return Some(format!("it has {} digits before the point", parts.before));
            }
            let behind = parts.digits.len() as i64 - parts.before;
            if !parts.digits.is_empty() && behind > scale {
                return Some(format!("it has {behind} digits behind the point"));
            }
            (parts.is_negative && *is_unsigned).then(|| "it is negative".into())
        }
        _ => None,
    }
}

/// Whether a FLOAT shows the same digits.
pub(super) fn is_float(real: f64) -> bool {
    let single = real as f32;
    f64::from(single) == real || single.to_string() == real.to_string()
}

/// Whether a whole number is one of those that a float has.
pub(super) fn is_exact(text: &str, is_single: bool) -> bool {
    let Some(number) = whole(text) else { return false };
    // Floats have no others than multiples of the powers of two that are left.
    let bits = if is_single { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS };
    let magnitude = number.unsigned_abs();
    magnitude == 0 || 128 - magnitude.leading_zeros() - magnitude.trailing_zeros() <= bits
}

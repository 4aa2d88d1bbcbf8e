//! Whether a number written out fits a column without losing anything. Every number on its way to the server is looked at, so nothing
//! is copied here.

use crate::writer::target::Takes;

/// A number written out, in parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    is_negative: bool,
    /// The digits before and behind the point.
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

/// The parts of a number as [`transship_sql::names::is_number`] knows it. `None`: it is none, or its exponent is beyond all reason.
pub(super) fn parts(text: &str) -> Option<Parts<'_>> {
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if let Some((whole, fraction)) = without_exponent(unsigned) {
        return Some(Parts { is_negative, whole, fraction, exponent: 0 });
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E'])?;
    let (whole, fraction) = without_exponent(mantissa)?;
    // Rust takes the same signs and digits as everybody.
    Some(Parts { is_negative, whole, fraction, exponent: exponent.parse().ok()? })
}

fn without_exponent(unsigned: &str) -> Option<(&str, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let before = digits(unsigned);
    let (whole, rest) = unsigned.split_at(before);
    let fraction = match rest.strip_prefix('.') {
        Some(fraction) if digits(fraction) == fraction.len() => fraction,
        None if rest.is_empty() => "",
        _ => return None,
    };
    (before > 0 || !fraction.is_empty()).then_some((whole, fraction))
}

impl Parts<'_> {
    fn is_zero(&self) -> bool {
        self.whole.bytes().chain(self.fraction.bytes()).all(|digit| digit == b'0')
    }

    /// How many digits there are before the point; negative: so many zeros come behind it before other digits do.
    fn before(&self) -> i64 {
        let before = match self.whole.trim_start_matches('0').len() {
            0 if self.is_zero() => return 0,
            0 => -(zeros(self.fraction.bytes()) as i64),
            digits => digits as i64,
        };
        before.saturating_add(self.exponent)
    }

    /// How many digits that say something there are behind the point; negative: so many zeros are the last before it.
    fn behind(&self) -> i64 {
        let behind = match self.fraction.trim_end_matches('0').len() {
            0 if self.is_zero() => return 0,
            0 => -(zeros(self.whole.bytes().rev()) as i64),
            digits => digits as i64,
        };
        behind.saturating_sub(self.exponent)
    }

    /// Whether it is less than zero.
    fn is_negative(&self) -> bool {
        self.is_negative && !self.is_zero()
    }

    /// The whole number that it is, if it is one.
    pub(super) fn whole(&self) -> Option<i128> {
        let magnitude: i128 = if self.exponent != 0 {
            self.whole_of_exponent()?
        } else if self.fraction.bytes().any(|digit| digit != b'0') {
            return None;
        } else if self.whole.is_empty() {
            0
        } else if self.whole.len() < 19 {
            // Digits into 128 bits are slow.
            i128::from(self.whole.parse::<i64>().ok()?)
        } else {
            self.whole.parse().ok()?
        };
        Some(if self.is_negative { -magnitude } else { magnitude })
    }

    fn whole_of_exponent(&self) -> Option<i128> {
        let zeros = usize::try_from(-self.behind()).ok().filter(|zeros| *zeros < 40)?;
        let digits = [self.whole, self.fraction].concat();
        let digits = digits.trim_matches('0');
        if digits.is_empty() { Some(0) } else { format!("{digits}{}", "0".repeat(zeros)).parse().ok() }
    }
}

fn zeros(digits: impl Iterator<Item = u8>) -> usize {
    digits.take_while(|digit| *digit == b'0').count()
}

/// Why a number does not fit; `None` if it does, or the server is to judge.
pub(super) fn misfit(number: &Parts<'_>, takes: &Takes) -> Option<String> {
    match takes {
        Takes::Integer { least, greatest } => match number.whole() {
            Some(number) if (*least..=*greatest).contains(&number) => None,
            Some(_) => Some(format!("it is not between {least} and {greatest}")),
            None => Some("it is no whole number, or too large".into()),
        },
        Takes::Bits(bits) => match number.whole() {
            Some(number) if number >= 0 && number < 1i128 << bits => None,
            _ => Some(format!("it is no whole number of {bits} bits")),
        },
        Takes::Year => match number.whole() {
            Some(0 | 1901..=2155) => None,
            _ => Some("it is neither 0 nor between 1901 and 2155".into()),
        },
        Takes::Decimal { digits, scale, is_unsigned } => {
            let (before, behind) = (number.before(), number.behind());
            if before > i64::from(*digits) - i64::from(*scale) {
                return Some(format!("it has {before} digits before the point"));
            }
            if behind > i64::from(*scale) {
                return Some(format!("it has {behind} digits behind the point"));
            }
            (*is_unsigned && number.is_negative()).then(|| "it is negative".into())
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
pub(super) fn is_exact(number: &Parts<'_>, is_single: bool) -> bool {
    let Some(number) = number.whole() else { return false };
    // Floats have no others than multiples of the powers of two that are left.
    let bits = if is_single { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS };
    let magnitude = number.unsigned_abs();
    magnitude == 0 || 128 - magnitude.leading_zeros() - magnitude.trailing_zeros() <= bits
}

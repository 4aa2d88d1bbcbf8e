//! Numbers as text, compared exactly, however many digits they have. Nothing passes through a float.

use std::cmp::Ordering;

/// A number, in the text that it was read from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number<'a> {
    NaN,
    Infinite { negative: bool },
    Finite(Decimal<'a>),
}

/// A number with finitely many digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal<'a> {
    negative: bool,
    /// The digits from the first that is not zero on, with a point somewhere, perhaps; none for zero.
    digits: &'a [u8],
    /// The power of ten that the first of them counts.
    power: i64,
}

impl<'a> Number<'a> {
    /// Reads `-1.50`, `.5`, `1e3`, `NaN`, `Infinity`; `None` if it is none of that kind.
    pub(super) fn parse(text: &'a str) -> Option<Number<'a>> {
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        match rest.first()? {
            b'N' | b'n' => rest.eq_ignore_ascii_case(b"NaN").then_some(Number::NaN),
            b'I' | b'i' => rest.eq_ignore_ascii_case(b"Infinity").then_some(Number::Infinite { negative }),
            _ => Decimal::parse(negative, rest).map(Number::Finite),
        }
    }

    /// The order of two numbers; NaN has none.
    pub(super) fn order(&self, other: &Number<'_>) -> Option<Ordering> {
        let rank = |number: &Number<'_>| match number {
            Number::Infinite { negative: true } => -1,
            Number::Infinite { negative: false } => 1,
            _ => 0,
        };
        match (self, other) {
            (Number::NaN, _) | (_, Number::NaN) => None,
            (Number::Finite(one), Number::Finite(other)) => Some(one.order(other)),
            _ => Some(rank(self).cmp(&rank(other))),
        }
    }
}

impl<'a> Decimal<'a> {
    fn parse(negative: bool, text: &'a [u8]) -> Option<Decimal<'a>> {
        let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&text[..at], exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let mut point = None;
        let mut first = None;
        let mut digits = 0;
        for (at, byte) in mantissa.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    digits += 1;
                    if *byte != b'0' && first.is_none() {
                        first = Some(at);
                    }
                }
                b'.' if point.is_none() => point = Some(at),
                _ => return None,
            }
        }
        if digits == 0 {
            return None;
        }
        let Some(first) = first else { return Some(Decimal { negative: false, digits: &[], power: 0 }) };
        let point = point.unwrap_or(mantissa.len());
        let before_point = point as i64 - first as i64;
        let power = if first < point { before_point - 1 } else { before_point };
        Some(Decimal { negative, digits: &mantissa[first..], power: power.saturating_add(exponent) })
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    fn each_digit(&self) -> impl Iterator<Item = u8> {
        self.digits.iter().filter(|byte| **byte != b'.').map(|byte| byte - b'0')
    }

    fn order(&self, other: &Decimal<'_>) -> Ordering {
        let sign = |number: &Decimal<'_>| match number {
            number if number.is_zero() => 0,
            Decimal { negative: true, .. } => -1,
            _ => 1,
        };
        let signs = sign(self).cmp(&sign(other));
        if signs != Ordering::Equal || self.is_zero() {
            return signs;
        }
        let size = self.power.cmp(&other.power).then_with(|| self.order_of_digits(other));
        if self.negative { size.reverse() } else { size }
    }

    /// The order of the digits, the shorter number continued with zeros.
    fn order_of_digits(&self, other: &Decimal<'_>) -> Ordering {
        let (mut one, mut other) = (self.each_digit(), other.each_digit());
        loop {
            match (one.next(), other.next()) {
                (None, None) => return Ordering::Equal,
                (a, b) => match a.unwrap_or(0).cmp(&b.unwrap_or(0)) {
                    Ordering::Equal => {}
                    different => return different,
                },
            }
        }
    }

    /// The largest whole number that is not above this one times ten to the power of `scale`, and whether it is just that.
    /// What is too large for the type is its largest or smallest number.
    pub(super) fn floor(&self, scale: i8) -> (i128, bool) {
        if self.is_zero() {
            return (0, true);
        }
        let whole_digits = self.power.saturating_add(i64::from(scale)).saturating_add(1);
        let mut number: i128 = 0;
        let mut digits = self.each_digit();
        for _ in 0..whole_digits.max(0) {
            let digit = i128::from(digits.next().unwrap_or(0));
            let next = number
                .checked_mul(10)
                .and_then(|number| if self.negative { number.checked_sub(digit) } else { number.checked_add(digit) });
            match next {
                Some(next) => number = next,
                None => return (if self.negative { i128::MIN } else { i128::MAX }, false),
            }
        }
        let exact = digits.all(|digit| digit == 0);
        let floor = if self.negative && !exact { number.saturating_sub(1) } else { number };
        (floor, exact)
    }
}

/// The digits behind an `e`. What is beyond all reason is as far as can be told.
fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    const FAR: i64 = 1 << 40;
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits.iter().fold(0i64, |size, digit| (size * 10 + i64::from(digit - b'0')).min(FAR));
    Some(if negative { -size } else { size })
}

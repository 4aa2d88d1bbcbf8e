//! PostgreSQL's `numeric` in its binary form: groups of four decimal digits, the place of the first group, a sign, and how many
//! digits stand behind the point.

use arrow_buffer::i256;

use super::magnitude::{GROUPS_AT_ONCE, Magnitude};

const NEGATIVE: u16 = 0x4000;
const NOT_A_NUMBER: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const MINUS_INFINITY: u16 = 0xF000;

/// Digits before the point, and behind it, that a `numeric` can have.
const MOST_WHOLE_DIGITS: i64 = 131_072;
const MOST_FRACTION_DIGITS: i64 = 16_383;

/// The powers of ten that fit into 64 bits.
pub(crate) const POWERS: [u64; 20] = {
    let mut powers = [1u64; 20];
    let mut index = 1;
    while index < 20 {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

/// A number as it came from the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numeric<'a> {
    /// The place of the first group: its value is multiplied by 10000 to the power of this.
    weight: i32,
    sign: u16,
    /// Digits behind the point, zeros at the end included.
    pub(crate) scale: usize,
    /// Two bytes a group.
    groups: &'a [u8],
}

/// Why a number is no decimal of the type that its column promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotDecimal {
    /// It is NaN or infinite.
    NotFinite,
    /// It has more digits than the column may have.
    TooLong,
}

impl<'a> Numeric<'a> {
    /// Takes a cell apart; `None` if it is no `numeric`.
    pub(crate) fn parse(cell: &'a [u8]) -> Option<Numeric<'a>> {
        let (head, groups) = cell.split_at_checked(8)?;
        let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        if groups.len() != word(0) as usize * 2 {
            return None;
        }
        Some(Numeric { weight: word(2) as i16 as i32, sign: word(4), scale: word(6) as usize, groups })
    }

    fn is_finite(&self) -> bool {
        matches!(self.sign, 0 | NEGATIVE)
    }

    /// The whole number that this one is when the point is moved so many places to the right.
    #[inline]
    pub(crate) fn scaled(&self, scale: i8) -> Result<i128, NotDecimal> {
        self.magnitude::<2>(scale)?.with_sign(self.sign == NEGATIVE).ok_or(NotDecimal::TooLong)
    }

    /// As [`Numeric::scaled`], for more digits.
    pub(crate) fn scaled_256(&self, scale: i8) -> Result<i256, NotDecimal> {
        self.magnitude::<4>(scale)?.with_sign(self.sign == NEGATIVE).ok_or(NotDecimal::TooLong)
    }

    #[inline]
    fn magnitude<const WORDS: usize>(&self, scale: i8) -> Result<Magnitude<WORDS>, NotDecimal> {
        if !self.is_finite() {
            return Err(NotDecimal::NotFinite);
        }
        let (groups, _) = self.groups.as_chunks();
        // How many zeros are to be put behind the groups; if it is negative, taken away.
        let shift = 4 * (self.weight - groups.len() as i32 + 1) + scale as i32;
        let magnitude = match usize::try_from(shift) {
            Ok(zeros) => Magnitude::ZERO.with_groups(groups).and_then(|whole| whole.with_zeros(zeros)),
            Err(_) => without_digits(groups, shift.unsigned_abs() as usize),
        };
        magnitude.ok_or(NotDecimal::TooLong)
    }

    /// Appends the number as the server would write it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self.sign {
            0 => {}
            NEGATIVE => out.push(b'-'),
            INFINITY => return out.extend_from_slice(b"Infinity"),
            MINUS_INFINITY => return out.extend_from_slice(b"-Infinity"),
            _ => return out.extend_from_slice(b"NaN"),
        }
        let group = |place: i32| -> u16 {
            let index = self.weight - place;
            match usize::try_from(index).ok().and_then(|index| self.groups.get(index * 2..index * 2 + 2)) {
                Some(pair) => u16::from_be_bytes([pair[0], pair[1]]),
                None => 0,
            }
        };
        let first = self.weight.max(0);
        let digits = digits_of(group(first));
        let zeros = digits.iter().take(3).take_while(|digit| **digit == b'0').count();
        out.extend_from_slice(&digits[zeros..]);
        for place in (0..first).rev() {
            out.extend_from_slice(&digits_of(group(place)));
        }
        if self.scale > 0 {
            out.push(b'.');
            let end = out.len() + self.scale;
            let mut place = -1;
            while out.len() < end {
                out.extend_from_slice(&digits_of(group(place)));
                place -= 1;
            }
            out.truncate(end);
        }
    }
}

/// The number of groups without so many digits at their end, which must be zeros; else `None`.
fn without_digits<const WORDS: usize>(groups: &[[u8; 2]], digits: usize) -> Option<Magnitude<WORDS>> {
    let kept = groups.len().saturating_sub(digits / 4);
    let (kept, dropped) = groups.split_at(kept);
    if dropped.iter().any(|group| *group != [0, 0]) {
        return None;
    }
    let Some((last, whole)) = kept.split_last().filter(|_| !digits.is_multiple_of(4)) else {
        return Magnitude::ZERO.with_groups(kept);
    };
    let (last, power) = (u16::from_be_bytes(*last) as u64, POWERS[digits % 4]);
    if !last.is_multiple_of(power) {
        return None;
    }
    Magnitude::ZERO.with_groups(whole)?.times_plus(10_000 / power, last / power)
}

/// The four digits of a group.
#[inline]
fn digits_of(group: u16) -> [u8; 4] {
    let digit = |divisor: u16| b'0' + (group / divisor % 10) as u8;
    [digit(1000), digit(100), digit(10), digit(1)]
}

/// A number in decimal digits, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decimal {
    /// `digits`, an integer without leading zeros (empty for zero), divided by ten to the power of `scale`.
    Finite {
        negative: bool,
        digits: Vec<u8>,
        scale: i64,
    },
    Nan,
    Infinite {
        negative: bool,
    },
}

impl Decimal {
    /// Reads number text as PostgreSQL does: blanks around it, a sign, a point, an exponent, NaN and infinity. `None`: it is no
    /// number. Zeros behind the point are kept.
    pub(crate) fn parse(text: &str) -> Option<Decimal> {
        let text = text.trim_matches(|letter: char| letter.is_ascii_whitespace() || letter == '\u{b}');
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if unsigned.eq_ignore_ascii_case("infinity") || unsigned.eq_ignore_ascii_case("inf") {
            return Some(Decimal::Infinite { negative });
        }
        if text.eq_ignore_ascii_case("nan") {
            return Some(Decimal::Nan);
        }
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let mut digits = Vec::with_capacity(mantissa.len());
        let (mut scale, mut point, mut any) = (0i64, false, false);
        for byte in mantissa.bytes() {
            match byte {
                b'.' if !point => point = true,
                b'0'..=b'9' => {
                    any = true;
                    scale += point as i64;
                    if byte != b'0' || !digits.is_empty() {
                        digits.push(byte);
                    }
                }
                _ => return None,
            }
        }
        if !any {
            return None;
        }
        let negative = negative && !digits.is_empty();
        Some(Decimal::Finite { negative, digits, scale: scale - exponent })
    }

    /// The number without digits behind the point, or with so many zeros only, as an integer.
    pub(crate) fn whole(&self) -> Option<i128> {
        let Decimal::Finite { negative, digits, scale } = self else { return None };
        if digits.is_empty() {
            return Some(0);
        }
        let mut digits = digits.clone();
        if *scale > 0 {
            let kept = digits.len().checked_sub(usize::try_from(*scale).ok()?)?;
            if digits[kept..].iter().any(|digit| *digit != b'0') {
                return None;
            }
            digits.truncate(kept);
        } else if *scale < -40 {
            return None;
        } else {
            digits.extend(std::iter::repeat_n(b'0', -*scale as usize));
        }
        let number: i128 = std::str::from_utf8(&digits).ok()?.parse().ok()?;
        Some(if *negative { -number } else { number })
    }

    /// Whether it fits into `numeric(precision, scale)` without being rounded.
    pub(crate) fn fits(&self, precision: i64, most: i64) -> Result<(), Misfit> {
        let Decimal::Finite { digits, scale, .. } = self else {
            return if matches!(self, Decimal::Nan) { Ok(()) } else { Err(Misfit::TooLarge) };
        };
        if digits.is_empty() {
            return Ok(());
        }
        let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count() as i64;
        if scale - zeros > most {
            return Err(Misfit::TooFine);
        }
        if digits.len() as i64 - scale > precision - most {
            return Err(Misfit::TooLarge);
        }
        Ok(())
    }

    /// Appends it as a `numeric` cell, its length before it. A number with more digits than any `numeric` has is refused.
    pub(crate) fn put(&self, out: &mut Vec<u8>) -> Result<(), Misfit> {
        let (negative, digits, scale) = match self {
            Decimal::Finite { negative, digits, scale } => (*negative, digits, *scale),
            other => {
                put_special(out, other);
                return Ok(());
            }
        };
        if scale > MOST_FRACTION_DIGITS {
            return Err(Misfit::TooFine);
        }
        if !digits.is_empty() && digits.len() as i64 - scale > MOST_WHOLE_DIGITS {
            return Err(Misfit::TooLarge);
        }
        let shown = scale.max(0) as u16;
        if digits.is_empty() {
            put_groups(out, &[], 0, false, shown);
            return Ok(());
        }
        // Groups are counted from the point: fill up with zeros on both sides.
        let behind = scale.rem_euclid(4);
        let padding = if behind == 0 { 0 } else { 4 - behind } as usize;
        let lowest = -(scale + padding as i64) / 4;
        let length = digits.len() + padding;
        let leading = (4 - length % 4) % 4;
        let mut groups: Vec<u16> = Vec::with_capacity(length / 4 + 1);
        let all =
            std::iter::repeat_n(b'0', leading).chain(digits.iter().copied()).chain(std::iter::repeat_n(b'0', padding));
        let mut group = 0;
        for (index, digit) in all.enumerate() {
            group = group * 10 + (digit - b'0') as u16;
            if index % 4 == 3 {
                groups.push(group);
                group = 0;
            }
        }
        let weight = lowest + groups.len() as i64 - 1;
        let zeros = groups.iter().take_while(|group| **group == 0).count();
        put_groups(out, &groups[zeros..], (weight - zeros as i64) as i16, negative, shown);
        Ok(())
    }
}

/// Why a number cannot be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It has more digits before the point than there is room for.
    TooLarge,
    /// It has more digits behind the point than are kept.
    TooFine,
}

/// The exponent behind an `e`; one that is out of all bounds is as good as the bound.
fn exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse::<i64>().unwrap_or(if text.starts_with('-') { -1 << 40 } else { 1 << 40 }).clamp(-1 << 40, 1 << 40))
}

/// Appends `value` divided by ten to the power of `scale` as a `numeric` cell, its length before it.
pub(crate) fn put_i128(out: &mut Vec<u8>, value: i128, scale: i8) {
    match u64::try_from(value.unsigned_abs()) {
        Ok(word) => put_magnitude(out, Magnitude::of_word(word), value < 0, scale),
        Err(_) => put_magnitude(out, Magnitude::of_i128(value), value < 0, scale),
    }
}

/// As [`put_i128`], for more digits.
pub(crate) fn put_i256(out: &mut Vec<u8>, value: i256, scale: i8) {
    match value.to_i128() {
        Some(value) => put_i128(out, value, scale),
        None => put_magnitude(out, Magnitude::of_i256(value), value.is_negative(), scale),
    }
}

#[inline]
fn put_magnitude<const WORDS: usize>(out: &mut Vec<u8>, magnitude: Magnitude<WORDS>, negative: bool, scale: i8) {
    let shown = scale.max(0) as u16;
    if magnitude.is_zero() {
        return put_groups(out, &[], 0, false, shown);
    }
    // 78 digits at most, and the last group may have one only.
    let mut groups = [0u16; 24];
    let (mut start, mut rest) = (groups.len(), magnitude);
    // Groups are counted from the point: the last one is filled up with zeros.
    let behind = scale.rem_euclid(4) as usize;
    let mut lowest = -(scale as i64).div_euclid(4);
    if behind > 0 {
        lowest -= 1;
        start -= 1;
        groups[start] = (rest.take_remainder(POWERS[behind]) * POWERS[4 - behind]) as u16;
    }
    while !rest.is_zero() {
        let mut digits = rest.take_digits();
        for _ in 0..GROUPS_AT_ONCE {
            start -= 1;
            groups[start] = (digits % 10_000) as u16;
            digits /= 10_000;
        }
    }
    let weight = lowest + (groups.len() - start) as i64 - 1;
    let zeros = groups[start..].iter().take_while(|group| **group == 0).count();
    put_groups(out, &groups[start + zeros..], (weight - zeros as i64) as i16, negative, shown);
}

/// Groups, the first of which is not zero, as a cell.
fn put_groups(out: &mut Vec<u8>, groups: &[u16], weight: i16, negative: bool, scale: u16) {
    let zeros = groups.iter().rev().take_while(|group| **group == 0).count();
    let groups = &groups[..groups.len() - zeros];
    let weight = if groups.is_empty() { 0 } else { weight };
    let sign = if negative { NEGATIVE } else { 0 };
    let mut head = [0; 12];
    head[..4].copy_from_slice(&(8 + groups.len() as i32 * 2).to_be_bytes());
    head[4..6].copy_from_slice(&(groups.len() as u16).to_be_bytes());
    head[6..8].copy_from_slice(&weight.to_be_bytes());
    head[8..10].copy_from_slice(&sign.to_be_bytes());
    head[10..].copy_from_slice(&scale.to_be_bytes());
    out.extend_from_slice(&head);
    out.extend(groups.iter().flat_map(|group| group.to_be_bytes()));
}

/// What is no finite number.
fn put_special(out: &mut Vec<u8>, number: &Decimal) {
    let sign = match number {
        Decimal::Infinite { negative: false } => INFINITY,
        Decimal::Infinite { negative: true } => MINUS_INFINITY,
        _ => NOT_A_NUMBER,
    };
    out.extend_from_slice(&8i32.to_be_bytes());
    for word in [0, 0, sign, 0] {
        out.extend_from_slice(&word.to_be_bytes());
    }
}

#[cfg(test)]
mod tests;

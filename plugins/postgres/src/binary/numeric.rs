//! PostgreSQL's `numeric` in its binary form: groups of four decimal digits, the place of the first group, a sign, and how many
//! digits stand behind the point.

use arrow_buffer::i256;

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

    fn groups(&self) -> impl DoubleEndedIterator<Item = u16> + '_ {
        self.groups.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
    }

    fn is_finite(&self) -> bool {
        matches!(self.sign, 0 | NEGATIVE)
    }

    /// The whole number that this one is when the point is moved so many places to the right.
    pub(crate) fn scaled(&self, scale: i8) -> Result<i128, NotDecimal> {
        if !self.is_finite() {
            return Err(NotDecimal::NotFinite);
        }
        let count = (self.groups.len() / 2) as i32;
        // How many zeros are to be put behind the groups, or taken away.
        let shift = 4 * (self.weight - count + 1) + scale as i32;
        let magnitude = if count <= 4 {
            let number = self.groups().fold(0u64, |number, group| number * 10_000 + group as u64);
            match shift {
                _ if number == 0 => 0,
                0..20 => number as i128 * POWERS[shift as usize] as i128,
                -19..0 => {
                    let power = POWERS[-shift as usize];
                    if number % power != 0 {
                        return Err(NotDecimal::TooLong);
                    }
                    (number / power) as i128
                }
                _ => self.scaled_slowly(shift)?,
            }
        } else {
            self.scaled_slowly(shift)?
        };
        Ok(if self.sign == NEGATIVE { -magnitude } else { magnitude })
    }

    fn scaled_slowly(&self, shift: i32) -> Result<i128, NotDecimal> {
        let digits = self.digits(shift)?;
        digits.parse().map_err(|_| NotDecimal::TooLong)
    }

    /// As [`Numeric::scaled`], for more digits.
    pub(crate) fn scaled_256(&self, scale: i8) -> Result<i256, NotDecimal> {
        if !self.is_finite() {
            return Err(NotDecimal::NotFinite);
        }
        let count = (self.groups.len() / 2) as i32;
        let digits = self.digits(4 * (self.weight - count + 1) + scale as i32)?;
        let magnitude = i256::from_string(&digits).ok_or(NotDecimal::TooLong)?;
        Ok(if self.sign == NEGATIVE { magnitude.wrapping_neg() } else { magnitude })
    }

    /// The groups' digits, with so many zeros behind them, or taken away.
    fn digits(&self, shift: i32) -> Result<String, NotDecimal> {
        let mut digits: String = self.groups().map(|group| format!("{group:04}")).collect();
        if shift >= 0 {
            if digits.bytes().all(|digit| digit == b'0') {
                return Ok("0".into());
            }
            if shift > 100 {
                return Err(NotDecimal::TooLong);
            }
            digits.extend(std::iter::repeat_n('0', shift as usize));
        } else {
            let kept = digits.len().saturating_sub(-shift as usize);
            if digits[kept..].bytes().any(|digit| digit != b'0') {
                return Err(NotDecimal::TooLong);
            }
            digits.truncate(kept);
        }
        let digits = digits.trim_start_matches('0');
        Ok(if digits.is_empty() { "0".into() } else { digits.into() })
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
        out.extend_from_slice(group(first).to_string().as_bytes());
        for place in (0..first).rev() {
            push_group(out, group(place));
        }
        if self.scale > 0 {
            out.push(b'.');
            let end = out.len() + self.scale;
            let mut place = -1;
            while out.len() < end {
                push_group(out, group(place));
                place -= 1;
            }
            out.truncate(end);
        }
    }
}

fn push_group(out: &mut Vec<u8>, group: u16) {
    let digit = |divisor: u16| b'0' + (group / divisor % 10) as u8;
    out.extend_from_slice(&[digit(1000), digit(100), digit(10), digit(1)]);
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
    let magnitude = value.unsigned_abs();
    let behind = scale.rem_euclid(4) as usize;
    let padding = if behind == 0 { 0 } else { 4 - behind };
    let aligned = u64::try_from(magnitude).ok().and_then(|magnitude| magnitude.checked_mul(POWERS[padding]));
    let Some(mut rest) = aligned else {
        let digits = magnitude.to_string().into_bytes();
        let decimal = Decimal::Finite { negative: value < 0, digits, scale: scale as i64 };
        // At most 39 digits and a scale of 8 bits: less than any numeric can have.
        let _ = decimal.put(out);
        return;
    };
    if rest == 0 {
        return put_groups(out, &[], 0, false, scale.max(0) as u16);
    }
    let mut groups = [0u16; 5];
    let mut start = groups.len();
    while rest > 0 {
        start -= 1;
        groups[start] = (rest % 10_000) as u16;
        rest /= 10_000;
    }
    let lowest = -(scale as i64 + padding as i64) / 4;
    let weight = lowest + (groups.len() - start) as i64 - 1;
    put_groups(out, &groups[start..], weight as i16, value < 0, scale.max(0) as u16);
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

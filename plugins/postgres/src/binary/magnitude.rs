//! Whole numbers without a sign, of a few machine words, as far as decimals need them: to get them from groups of four decimal
//! digits, and the groups from them. Not here: what the groups mean (`numeric`).

use arrow_buffer::i256;

use super::numeric::POWERS;

/// Digits that are added or taken out at once: as many whole groups as a word has room for.
const AT_ONCE: usize = 16;
/// Groups in them.
pub(super) const GROUPS_AT_ONCE: usize = AT_ONCE / 4;

/// A number of so many words, the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Magnitude<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Magnitude<WORDS> {
    pub(super) const ZERO: Self = Magnitude([0; WORDS]);

    pub(super) fn is_zero(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Multiplies it, and adds something; `None` if there is no room for the result.
    #[inline]
    pub(super) fn times_plus(mut self, factor: u64, more: u64) -> Option<Self> {
        let mut carry = more;
        for word in &mut self.0 {
            // The product of two words and another word always fit into two.
            let product = *word as u128 * factor as u128 + carry as u128;
            *word = product as u64;
            carry = (product >> 64) as u64;
        }
        (carry == 0).then_some(self)
    }

    /// Multiplies it by ten to the power of `places`; `None` if there is no room for the result.
    pub(super) fn with_zeros(self, places: usize) -> Option<Self> {
        if self.is_zero() {
            return Some(self);
        }
        let mut shifted = self;
        for _ in 0..places / AT_ONCE {
            shifted = shifted.times_plus(POWERS[AT_ONCE], 0)?;
        }
        shifted.times_plus(POWERS[places % AT_ONCE], 0)
    }

    /// Adds groups of digits at its end; `None` if there is no room for the result.
    #[inline]
    pub(super) fn with_groups(self, groups: &[[u8; 2]]) -> Option<Self> {
        let mut extended = self;
        for some in groups.chunks(GROUPS_AT_ONCE) {
            let number = some.iter().fold(0, |number, group| number * 10_000 + u16::from_be_bytes(*group) as u64);
            extended = extended.times_plus(POWERS[some.len() * 4], number)?;
        }
        Some(extended)
    }

    /// Divides it, and returns the remainder.
    #[inline]
    pub(super) fn take_remainder(&mut self, divisor: u64) -> u64 {
        let mut rest = 0;
        for word in self.0.iter_mut().rev() {
            if rest == 0 {
                (*word, rest) = (*word / divisor, *word % divisor);
                continue;
            }
            let dividend = (rest as u128) << 64 | *word as u128;
            *word = (dividend / divisor as u128) as u64;
            rest = (dividend % divisor as u128) as u64;
        }
        rest
    }

    /// Divides it by as many digits as are taken out at once, and returns those.
    #[inline]
    pub(super) fn take_digits(&mut self) -> u64 {
        self.take_remainder(POWERS[AT_ONCE])
    }
}

impl Magnitude<1> {
    pub(super) fn of_word(word: u64) -> Self {
        Magnitude([word])
    }
}

impl Magnitude<2> {
    pub(super) fn of_i128(value: i128) -> Self {
        let value = value.unsigned_abs();
        Magnitude([value as u64, (value >> 64) as u64])
    }

    /// `None` if it is too large.
    pub(super) fn with_sign(self, negative: bool) -> Option<i128> {
        let [low, high] = self.0;
        let value = i128::try_from((high as u128) << 64 | low as u128).ok()?;
        Some(if negative { -value } else { value })
    }
}

impl Magnitude<4> {
    pub(super) fn of_i256(value: i256) -> Self {
        // That of the smallest number is itself, seen without a sign.
        let (low, high) = value.wrapping_abs().to_parts();
        let high = high as u128;
        Magnitude([low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64])
    }

    /// `None` if it is too large.
    pub(super) fn with_sign(self, negative: bool) -> Option<i256> {
        let [first, second, third, fourth] = self.0;
        let high = i128::try_from((fourth as u128) << 64 | third as u128).ok()?;
        let value = i256::from_parts((second as u128) << 64 | first as u128, high);
        Some(if negative { value.wrapping_neg() } else { value })
    }
}

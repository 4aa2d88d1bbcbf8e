//! Random numbers and letters that a seed determines, whatever the size of the pieces in which they are drawn.
//!
//! The generator is SplitMix64: the n-th number is a hash of n, so any number of them can be skipped in no time, and the
//! loops over them have nothing to wait for. It is good enough for test data, and for nothing secret.

use std::hash::{BuildHasher, RandomState};

use arrow_buffer::MutableBuffer;

/// What the counter advances by: 2^64 divided by the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    counter: u64,
}

impl Random {
    /// The sequence that belongs to a seed and a path below it: the split, the column, the purpose.
    pub(crate) fn new(seed: u64, path: &[u64]) -> Random {
        let counter = path.iter().fold(scatter(seed.wrapping_add(STEP)), |counter, step| {
            scatter(counter ^ scatter(step.wrapping_add(STEP)))
        });
        Random { counter }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.counter = self.counter.wrapping_add(STEP);
        scatter(self.counter)
    }

    /// A number from 0 to `choices` - 1.
    #[inline]
    pub(crate) fn below(&mut self, choices: u64) -> u64 {
        ((self.next() as u128 * choices as u128) >> 64) as u64
    }

    /// A number from 0 on, less than 1.
    #[inline]
    pub(crate) fn fraction(&mut self) -> f64 {
        const STEPS: f64 = (1u64 << 53) as f64;
        (self.next() >> 11) as f64 / STEPS
    }

    pub(crate) fn skip(&mut self, numbers: u64) {
        self.counter = self.counter.wrapping_add(STEP.wrapping_mul(numbers));
    }

    /// The number at this place of the sequence, counted from 0, without moving on.
    #[inline]
    fn at(&self, place: u64) -> u64 {
        scatter(self.counter.wrapping_add(STEP.wrapping_mul(place.wrapping_add(1))))
    }
}

#[inline]
fn scatter(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A seed that nobody has chosen.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().hash_one(STEP)
}

/// A sequence of random letters and digits: `A` to `Z`, `a` to `z`, `0` to `9`.
#[derive(Debug)]
pub(crate) struct Letters {
    random: Random,
    place: u64,
    /// Room for the numbers that letters are made from.
    numbers: MutableBuffer,
}

/// A random number is cut into this many letters, two of sixteen bits: no letter is noticeably likelier than another.
const LETTERS: usize = 8;
/// How many numbers are made at once.
const NUMBERS: usize = 64;

impl Letters {
    pub(crate) fn new(random: Random) -> Letters {
        Letters { random, place: 0, numbers: MutableBuffer::from_len_zeroed(NUMBERS * size_of::<u64>()) }
    }

    pub(crate) fn skip(&mut self, letters: u64) {
        self.place += letters;
    }

    /// The letters that come next. First numbers for many of them are made and then the letters, in a loop that the
    /// compiler turns into vector instructions.
    pub(crate) fn next(&mut self, count: usize) -> Vec<u8> {
        let mut next = Vec::with_capacity(count);
        let mut letters = [0u8; NUMBERS * LETTERS];
        while next.len() < count {
            let begun = (self.place % LETTERS as u64) as usize;
            let end = (begun + count - next.len()).min(letters.len());
            let numbers = &mut self.numbers.typed_data_mut::<u64>()[..end.div_ceil(LETTERS)];
            for (place, number) in (self.place / LETTERS as u64..).zip(numbers) {
                *number = self.random.at(place).to_le();
            }
            for (pair, bits) in letters.chunks_exact_mut(2).zip(self.numbers.typed_data::<u16>()).take(end.div_ceil(2))
            {
                pair.copy_from_slice(&two_letters(u16::from_le(*bits)));
            }
            next.extend_from_slice(&letters[begun..end]);
            self.place += (end - begun) as u64;
        }
        next
    }
}

#[inline]
fn two_letters(bits: u16) -> [u8; 2] {
    const CHOICES: u16 = 62;
    let number = ((bits as u32 * (CHOICES * CHOICES) as u32) >> 16) as u16;
    [letter(number / CHOICES), letter(number % CHOICES)]
}

/// The letter or digit with this number, from 0 to 61.
#[inline]
fn letter(number: u16) -> u8 {
    let gap_before_capitals = if number >= 10 { b'A' - b'9' - 1 } else { 0 };
    let gap_before_small = if number >= 36 { b'a' - b'Z' - 1 } else { 0 };
    number as u8 + b'0' + gap_before_capitals + gap_before_small
}

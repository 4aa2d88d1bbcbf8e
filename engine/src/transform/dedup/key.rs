//! One key in 24 bytes: what kind of value it is, its hash, and its bytes, or where these lie.

use std::hash::{BuildHasher, Hasher};

/// Of a longer key, the bytes lie elsewhere.
pub(super) const INLINE: usize = 16;
/// A longer key is not remembered.
pub(super) const LONGEST: usize = (1 << KIND_SHIFT) - 1;

const KIND_SHIFT: u32 = 28;

/// The hash function of a window. Its seed is another one in every process.
pub(super) type KeyHasher = foldhash::fast::RandomState;

/// Values of different kinds are never equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    Text,
    Bytes,
    Uuid,
    Whole,
    Float,
    Decimal,
    /// Numbers kept as text.
    Number,
    Date,
    Time,
    Timestamp,
    Instant,
    Duration,
    /// What has no kind of its own, as text.
    Other,
    Null,
    /// The values of several columns.
    Several,
    /// No key: see the constants of [`Key`], and [`Key::forget`].
    Mark,
}

/// A key, or a mark in the place of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// Its bytes and zeros behind them, or the address of longer ones.
    head: [u8; INLINE],
    hash: u32,
    /// The number of bytes, and the kind in the highest bits.
    length: u32,
}

impl Key {
    /// Of a record that is no duplicate of any other.
    pub(super) const UNLIKE_ANY: Key = Key::mark(0);
    /// Of a record whose key is too long to be remembered.
    pub(super) const TOO_LONG: Key = Key::mark(1);

    const fn mark(number: u32) -> Key {
        Key { head: [0; INLINE], hash: 0, length: (Kind::Mark as u32) << KIND_SHIFT | number }
    }

    /// A key of at most [`INLINE`] bytes.
    #[inline]
    pub(super) fn short(kind: Kind, head: [u8; INLINE], length: usize, hasher: &KeyHasher) -> Key {
        let length = (kind as u32) << KIND_SHIFT | length as u32;
        let number = u128::from_le_bytes(head);
        let mut state = hasher.build_hasher();
        state.write_u64(number as u64);
        state.write_u64((number >> 64) as u64);
        state.write_u32(length);
        Key { head, hash: fold(state.finish()), length }
    }

    /// A key of so many bytes that they lie at an address.
    pub(super) fn long(kind: Kind, bytes: &[u8], address: u64, hasher: &KeyHasher) -> Key {
        let length = (kind as u32) << KIND_SHIFT | bytes.len() as u32;
        let mut state = hasher.build_hasher();
        state.write(bytes);
        state.write_u32(length);
        Key { head: [0; INLINE], hash: fold(state.finish()), length }.at(address)
    }

    /// The same key, whose bytes lie elsewhere now.
    pub(super) fn at(mut self, address: u64) -> Key {
        self.head[..8].copy_from_slice(&address.to_le_bytes());
        self
    }

    /// Where its bytes lie, if they are not in here.
    #[inline]
    pub(super) fn address(&self) -> Option<u64> {
        let [a, b, c, d, e, f, g, h, ..] = self.head;
        self.is_long().then(|| u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }

    /// How many bytes it has.
    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.length & LONGEST as u32) as usize
    }

    #[inline]
    pub(super) fn is_long(&self) -> bool {
        self.len() > INLINE
    }

    /// Whether it is a mark rather than a key.
    #[inline]
    pub(super) fn is_mark(&self) -> bool {
        self.length >> KIND_SHIFT == Kind::Mark as u32
    }

    /// Makes it a mark that has the length and the address of the key.
    pub(super) fn forget(&mut self) {
        self.length |= (Kind::Mark as u32) << KIND_SHIFT;
    }

    #[inline]
    pub(super) fn hash(&self) -> u32 {
        self.hash
    }

    /// Whether a long key may be the same as another: their bytes decide.
    #[inline]
    pub(super) fn resembles(&self, other: &Key) -> bool {
        self.hash == other.hash && self.length == other.length
    }
}

/// A hash, spread over all bits of a word.
#[inline]
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn fold(hash: u64) -> u32 {
    (hash >> 32) as u32 ^ hash as u32
}

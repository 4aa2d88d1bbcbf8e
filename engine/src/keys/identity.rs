//! What tells keys apart while entries of them wait, and their hashes. Short keys, as most are, need no memory of their own.

use std::hash::BuildHasher;

use super::Key;

/// A key, kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Identity {
    Null,
    /// So many bytes, and zeros behind them.
    Short(u8, [u8; INLINE]),
    Long(Box<[u8]>),
}

/// A longer key is on the heap.
const INLINE: usize = 22;

/// Hashes keys, in another way in each run.
#[derive(Debug, Clone, Default)]
pub struct Hasher(foldhash::fast::RandomState);

impl Hasher {
    /// The hash of a key; those without a value have one in common.
    pub fn hash(&self, key: Key<'_>) -> u64 {
        match key {
            Key::Null | Key::Alone => 0,
            Key::Bytes(bytes) | Key::Number(_, bytes) => match bytes.as_array() {
                Some(number) => self.0.hash_one(u64::from_le_bytes(*number)),
                None => self.0.hash_one(bytes),
            },
        }
    }
}

impl Identity {
    /// `None`: no other entry has this key.
    pub(super) fn of(key: Key<'_>) -> Option<Identity> {
        match key {
            Key::Alone => None,
            Key::Null => Some(Identity::Null),
            Key::Bytes(bytes) | Key::Number(_, bytes) => Some(match bytes.len() {
                short @ ..=INLINE => {
                    let mut inline = [0; INLINE];
                    inline[..short].copy_from_slice(bytes);
                    Identity::Short(short as u8, inline)
                }
                _ => Identity::Long(bytes.into()),
            }),
        }
    }

    pub(super) fn is(&self, key: Key<'_>) -> bool {
        match (self, key) {
            (Identity::Null, Key::Null) => true,
            (Identity::Short(length, inline), Key::Bytes(bytes) | Key::Number(_, bytes)) => {
                inline[..usize::from(*length)] == *bytes
            }
            (Identity::Long(known), Key::Bytes(bytes) | Key::Number(_, bytes)) => **known == *bytes,
            _ => false,
        }
    }
}

/// A hash that is the same in each run.
pub(super) fn stable_hash(key: Key<'_>) -> u64 {
    match key {
        Key::Bytes(bytes) | Key::Number(_, bytes) => foldhash::fast::FixedState::with_seed(0).hash_one(bytes),
        Key::Null | Key::Alone => 0,
    }
}

//! The bytes of long keys. They come in and leave in the order of the keys, so that whole blocks are given back.

use std::collections::VecDeque;

/// The size of a block, unless a single key needs a larger one.
const BLOCK: usize = 256 << 10;

#[derive(Debug, Default)]
pub(super) struct Texts {
    blocks: VecDeque<Vec<u8>>,
    /// The number of the first block.
    first: u32,
}

impl Texts {
    /// Keeps the bytes of a key; returns their address.
    pub(super) fn push(&mut self, bytes: &[u8]) -> u64 {
        let fits = self.blocks.back().is_some_and(|block| block.capacity() - block.len() >= bytes.len());
        if !fits {
            self.blocks.push_back(Vec::with_capacity(bytes.len().max(BLOCK)));
        }
        let number = self.first.wrapping_add(self.blocks.len() as u32 - 1);
        let mut offset = 0;
        if let Some(block) = self.blocks.back_mut() {
            offset = block.len();
            block.extend_from_slice(bytes);
        }
        u64::from(number) << 32 | offset as u64
    }

    /// So many bytes at an address.
    pub(super) fn get(&self, address: u64, length: usize) -> &[u8] {
        let block = ((address >> 32) as u32).wrapping_sub(self.first) as usize;
        &self.blocks[block][address as u32 as usize..][..length]
    }

    /// Gives back what lies before the block of an address.
    pub(super) fn release_before(&mut self, address: u64) {
        while self.first != (address >> 32) as u32 && self.blocks.pop_front().is_some() {
            self.first = self.first.wrapping_add(1);
        }
    }

    /// Gives everything back.
    pub(super) fn clear(&mut self) {
        self.first = self.first.wrapping_add(self.blocks.len() as u32);
        self.blocks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_until_they_are_given_back() {
        let mut texts = Texts { first: u32::MAX - 1, ..Texts::default() };
        let long: Vec<Vec<u8>> = (0..200_u8).map(|byte| vec![byte; 17 + usize::from(byte) * 150]).collect();
        let huge = vec![7; 3 * BLOCK];
        let addresses: Vec<u64> = long.iter().map(|bytes| texts.push(bytes)).collect();
        let at = texts.push(&huge);
        for (bytes, address) in long.iter().zip(&addresses) {
            assert_eq!(texts.get(*address, bytes.len()), bytes);
        }
        assert_eq!(texts.get(at, huge.len()), huge);
        texts.release_before(addresses[150]);
        assert!(texts.blocks.len() < 10, "{}", texts.blocks.len());
        assert_eq!(texts.get(addresses[150], long[150].len()), long[150]);
        assert_eq!(texts.get(at, huge.len()), huge);
        texts.clear();
        let after = texts.push(b"after");
        assert_eq!(texts.get(after, 5), b"after");
        assert_eq!(texts.blocks.len(), 1);
    }
}

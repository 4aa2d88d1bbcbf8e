//! Bytes on their way to a file.

use crate::copy::{SLACK, copy_short};

/// Bytes, one behind another. Its memory is used again and again.
#[derive(Default)]
pub(crate) struct Buffer {
    /// Longer than what is used, so that short texts can be copied without counting their bytes.
    bytes: Vec<u8>,
    used: usize,
}

impl Buffer {
    /// An empty one with room for this many bytes.
    pub(crate) fn with_room(bytes: usize) -> Buffer {
        Buffer { bytes: vec![0; bytes + SLACK], used: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.used
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.used);
        self.bytes
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.used = self.used.min(length);
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) {
        self.make_room(1);
        self.bytes[self.used] = byte;
        self.used += 1;
    }

    #[inline]
    pub(crate) fn append(&mut self, text: &[u8]) {
        self.append_range(text, 0, text.len());
    }

    /// Appends `from[start..end]`.
    #[inline(always)]
    pub(crate) fn append_range(&mut self, from: &[u8], start: usize, end: usize) {
        self.make_room(end - start);
        copy_short(from, start..end, &mut self.bytes, self.used);
        self.used += end - start;
    }

    /// Makes it this long, and gives all of it away to be filled.
    pub(crate) fn extend_to(&mut self, length: usize) -> &mut [u8] {
        if length > self.used {
            self.make_room(length - self.used);
            self.used = length;
        }
        &mut self.bytes
    }

    #[inline(always)]
    fn make_room(&mut self, more: usize) {
        if self.used + more + SLACK > self.bytes.len() {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let size = (self.used + more + SLACK).max(self.bytes.len() * 2).max(4 << 10);
        self.bytes.resize(size, 0);
    }
}

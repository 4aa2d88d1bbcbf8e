//! Finds the few bytes that matter in a text: delimiters, quotes, line ends.

/// Up to `N` bytes to look for; unused places repeat another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needles<const N: usize>([u8; N]);

/// Where they were found. Its memory is used again and again.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Longer than what is used by a block at least: every byte of it could be one.
    places: Vec<u32>,
    count: usize,
}

/// So many bytes are looked at together.
const BLOCK: usize = 64;

impl Marks {
    /// The places, in order.
    pub(crate) fn places(&self) -> &[u32] {
        &self.places[..self.count]
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Room for the marks of another block. There is not room for all of a text at once: that would take four times its size, of
    /// which marks fill a tenth.
    #[inline(always)]
    fn room(&mut self) -> &mut [u32; BLOCK] {
        if self.places.len() < self.count + BLOCK {
            self.grow();
        }
        self.places[self.count..].first_chunk_mut().expect("there is room for a block")
    }

    #[cold]
    fn grow(&mut self) {
        self.places.resize((self.places.len() * 2).max(16 * BLOCK), 0);
    }
}

impl<const N: usize> Needles<N> {
    /// `None` if there are none or too many.
    pub(crate) fn new(bytes: &[u8]) -> Option<Needles<N>> {
        let mut needles = [*bytes.first()?; N];
        needles.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Needles(needles))
    }

    /// Finds these bytes in `text`, and adds their places, counted from `offset` at the front of `text`.
    pub(crate) fn find(self, text: &[u8], offset: usize, marks: &mut Marks) {
        let is_one = |byte: u8| self.0.iter().fold(false, |found, needle| found | (byte == *needle));
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let mut front = offset as u32;
        for block in blocks {
            // This loop and the next compile to vector instructions: no branch a byte, one bit each in the end.
            let mut hits = [0u8; BLOCK];
            for (hit, byte) in hits.iter_mut().zip(block) {
                *hit = u8::from(is_one(*byte));
            }
            let mut bits = 0u64;
            for (part, eight) in hits.as_chunks::<8>().0.iter().enumerate() {
                // Multiplying by this gathers the lowest bit of each of eight bytes in the topmost byte.
                bits |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * part);
            }
            let room = marks.room();
            let mut count = 0;
            while bits != 0 {
                room[count % BLOCK] = front + bits.trailing_zeros();
                count += 1;
                bits &= bits - 1;
            }
            marks.count += count;
            front += BLOCK as u32;
        }
        let room = marks.room();
        let mut count = 0;
        for (place, byte) in (front..).zip(rest) {
            if is_one(*byte) {
                room[count] = place;
                count += 1;
            }
        }
        marks.count += count;
    }

    /// Whether any of these bytes is in `text`.
    pub(crate) fn is_any_in(self, text: &[u8]) -> bool {
        let hits = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(false, |hit, byte| hit | self.0.iter().fold(false, |found, needle| found | (byte == needle)))
        };
        let (blocks, rest) = text.as_chunks::<256>();
        blocks.iter().any(|block| hits(block)) || hits(rest)
    }
}

//! Finds the few bytes that matter in a text: delimiters, quotes, line ends.

/// Up to `N` bytes to look for; unused places repeat another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needles<const N: usize>([u8; N]);

/// Where they were found. Its memory is used again and again.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Longer than what is used: every byte could be one.
    places: Vec<u32>,
    count: usize,
}

impl Marks {
    /// The places, in order.
    pub(crate) fn places(&self) -> &[u32] {
        &self.places[..self.count]
    }
}

impl<const N: usize> Needles<N> {
    /// `None` if there are none or too many.
    pub(crate) fn new(bytes: &[u8]) -> Option<Needles<N>> {
        let mut needles = [*bytes.first()?; N];
        needles.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Needles(needles))
    }

    /// Finds these bytes in `text`.
    pub(crate) fn find(self, text: &[u8], marks: &mut Marks) {
        if marks.places.len() < text.len() {
            marks.places.resize(text.len(), 0);
        }
        let places = &mut marks.places[..text.len()];
        let is_one = |byte: u8| self.0.iter().fold(false, |found, needle| found | (byte == *needle));
        let mut count = 0;
        let (blocks, rest) = text.as_chunks::<64>();
        for (number, block) in blocks.iter().enumerate() {
            // This loop and the next compile to vector instructions: no branch a byte, one bit each in the end.
            let mut hits = [0u8; 64];
            for (hit, byte) in hits.iter_mut().zip(block) {
                *hit = u8::from(is_one(*byte));
            }
            let mut bits = 0u64;
            for (part, eight) in hits.as_chunks::<8>().0.iter().enumerate() {
                // Multiplying by this gathers the lowest bit of each of eight bytes in the topmost byte.
                bits |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * part);
            }
            while bits != 0 {
                places[count] = (number * 64) as u32 + bits.trailing_zeros();
                count += 1;
                bits &= bits - 1;
            }
        }
        for (place, byte) in rest.iter().enumerate() {
            if is_one(*byte) {
                places[count] = (blocks.len() * 64 + place) as u32;
                count += 1;
            }
        }
        marks.count = count;
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

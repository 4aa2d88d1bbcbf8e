//! Copies short texts, most of which have a few bytes: asking the system's `memcpy` for each would take longer than the
//! copying.

use std::ops::Range;

/// How many bytes behind the end of what is copied may be overwritten.
pub(crate) const SLACK: usize = 32;

/// Copies `from[range]` to `into[at..]`. What stands behind it in `into` is lost, up to [`SLACK`] bytes.
#[inline]
pub(crate) fn copy_short(from: &[u8], range: Range<usize>, into: &mut [u8], at: usize) {
    let length = range.len();
    if length <= SLACK
        && let Some(source) = from.get(range.start..).and_then(|from| from.first_chunk::<SLACK>())
        && let Some(target) = into.get_mut(at..).and_then(|into| into.first_chunk_mut::<SLACK>())
    {
        // A fixed number of bytes is two vector moves, without a call or a loop.
        *target = *source;
    } else {
        into[at..at + length].copy_from_slice(&from[range]);
    }
}

/// Copies a text to the front of `into`, and not a byte more.
#[inline]
pub(crate) fn copy_exactly(from: &[u8], into: &mut [u8]) {
    let into = &mut into[..from.len()];
    // The first and the last so many bytes, which may overlap, are the whole.
    fn both_ends<const N: usize>(from: &[u8], into: &mut [u8]) -> bool {
        let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else { return false };
        if let Some(target) = into.first_chunk_mut::<N>() {
            *target = *first;
        }
        if let Some(target) = into.last_chunk_mut::<N>() {
            *target = *last;
        }
        true
    }
    match from.len() {
        0..4 => into.iter_mut().zip(from).for_each(|(target, byte)| *target = *byte),
        4..8 => drop(both_ends::<4>(from, into)),
        8..16 => drop(both_ends::<8>(from, into)),
        16..=32 => drop(both_ends::<16>(from, into)),
        _ => into.copy_from_slice(from),
    }
}

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

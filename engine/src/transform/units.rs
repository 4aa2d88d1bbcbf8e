//! Positions in a text as Java counts them: in UTF-16 units. A character beyond U+FFFF counts two.

use super::cause::Cause;

/// Where a position is in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At this byte.
    At(usize),
    /// Between the units of this character.
    Inside(char),
    /// Behind the end: the text has only so many units.
    Beyond(usize),
}

/// Finds the place of a position.
#[inline]
pub(super) fn place(text: &str, position: usize, ascii: bool) -> Place {
    if ascii || text.is_ascii() {
        return if position <= text.len() { Place::At(position) } else { Place::Beyond(text.len()) };
    }
    place_among_characters(text, position)
}

fn place_among_characters(text: &str, position: usize) -> Place {
    let mut units = 0;
    for (byte, character) in text.char_indices() {
        if units == position {
            return Place::At(byte);
        }
        units += character.len_utf16();
        if units > position {
            return Place::Inside(character);
        }
    }
    if units == position { Place::At(text.len()) } else { Place::Beyond(units) }
}

/// The byte of a position that must be within the text.
#[inline]
pub(super) fn start(text: &str, position: usize, ascii: bool) -> Result<usize, Cause> {
    match place(text, position, ascii) {
        Place::At(byte) => Ok(byte),
        Place::Inside(character) => Err(Cause::Inside { position, character }),
        Place::Beyond(length) => Err(Cause::Beyond { position, length }),
    }
}

/// The byte of a position, or the end of the text where it lies behind.
#[inline]
pub(super) fn end(text: &str, position: usize, ascii: bool) -> Result<usize, Cause> {
    match place(text, position, ascii) {
        Place::At(byte) => Ok(byte),
        Place::Inside(character) => Err(Cause::Inside { position, character }),
        Place::Beyond(_) => Ok(text.len()),
    }
}

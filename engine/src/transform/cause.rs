//! Why a record is dirty to a built-in transformer.

use std::fmt;

use transship_plugin_api::Encoding;

/// Why a value cannot be rewritten or compared. Small and without an allocation: it is made in the loop over records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The position lies behind the end of the text, which has so many units.
    Beyond { position: usize, length: usize },
    /// The position lies between the two units of this character: half of it is no text.
    Inside { position: usize, character: char },
    /// Bytes that are no text in the job's encoding.
    NoText(Encoding),
    /// A text that is no number, in a column of numbers.
    NoNumber,
    /// A pattern that tries too many ways to match the value.
    Endless,
}

/// Rows that are dirty, and why.
pub(super) type DirtyRows = Vec<(usize, Cause)>;

/// Leaves one cause for each row, the first that was found, in the order of the rows.
pub(super) fn told_once(dirty: &mut DirtyRows) {
    dirty.sort_by_key(|(row, _)| *row);
    dirty.dedup_by_key(|(row, _)| *row);
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Beyond { position, length } => {
                write!(f, "position {position} is behind the end of the value, which has a length of {length}")
            }
            Cause::Inside { position, character } => write!(
                f,
                "position {position} is in the middle of \"{character}\", which counts two (lengths are in UTF-16 units, as \
                 in DataX)"
            ),
            Cause::NoText(encoding) => write!(f, "the bytes are no text in {}", encoding.name()),
            Cause::NoNumber => f.write_str("the value is no number, in a column of numbers"),
            Cause::Endless => f.write_str(
                "there are too many ways in which the pattern could match this value: write it without repetitions inside \
                 repetitions",
            ),
        }
    }
}

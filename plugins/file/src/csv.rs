//! Cuts text into records and fields. `fast` does what most files hold, `library` (csv-core) the rest of the standard
//! dialects, `extended` the dialects that the library lacks: delimiters of several bytes, backslash escapes.
//! Not here: what fields mean (`columns`, `types`), where the text comes from (`source`).

mod extended;
mod fast;
mod library;
mod marks;
mod records;
mod run;

pub(crate) use self::marks::{Marks, Needles};
pub(crate) use self::records::{Advanced, Records, TooLong};
pub(crate) use self::run::{Field, LONGEST_RECORD, Problem, Run};

use self::extended::Extended;
use self::fast::Fast;
use crate::dialect::Dialect;

/// Cuts records out of text, in one dialect.
pub(crate) struct Cutter {
    dialect: Dialect,
    way: Way,
}

enum Way {
    Fast(Box<Fast>),
    Extended(Extended),
}

/// What became of an attempt to cut one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// It ends here.
    Record { end: usize, lines: u32 },
    /// It is no record: a comment or an empty line that ends here.
    Nothing { end: usize, lines: u32 },
    /// Its end is not in the text yet.
    Unfinished,
}

impl Cutter {
    pub(crate) fn new(dialect: Dialect) -> Cutter {
        let way = if dialect.is_standard() {
            Way::Fast(Box::new(Fast::new(&dialect)))
        } else {
            Way::Extended(Extended::new(&dialect))
        };
        Cutter { dialect, way }
    }

    /// Cuts the records at the front of `text`, as far as they are complete, and at least one if there is one. `last`
    /// says that the text ends where `text` does. Returns how much is used up.
    pub(crate) fn cut(&mut self, text: &[u8], last: bool, run: &mut Run) -> usize {
        run.clear();
        match &mut self.way {
            Way::Fast(fast) => fast.cut(text, last, run),
            Way::Extended(extended) => extended.cut(text, last, run),
        }
        if let Some(longest) = self.dialect.longest_field {
            run.refuse_longer_than(longest, text);
        }
        run.used
    }
}

#[cfg(test)]
mod tests;

//! White space and comments between the parts of a text.

use super::grammar::Parser;
use super::{Broken, Note};

/// Which comments DataX takes in a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DataxTakes {
    /// One `//` line: at the start of the file, after `{`, and after a comma inside an object.
    OneLine,
    /// None: everywhere else.
    NoComment,
}

impl Parser<'_, '_> {
    /// Goes past white space and comments.
    pub(super) fn blanks(&mut self, mut datax_takes: DataxTakes) -> Result<(), Broken> {
        loop {
            self.cursor.take_while(is_blank);
            let at = self.cursor.at();
            let is_line = self.cursor.rest().starts_with("//");
            if !self.comment()? {
                return Ok(());
            }
            if !(is_line && datax_takes == DataxTakes::OneLine) {
                self.refused_comment.get_or_insert(at);
            }
            datax_takes = DataxTakes::NoComment;
        }
    }

    /// Goes past a comment, if one stands here.
    fn comment(&mut self) -> Result<bool, Broken> {
        let start = self.cursor.at();
        if self.cursor.eat('#') || self.cursor.eat_text("//") {
            self.cursor.take_while(|letter| !is_line_break(letter));
            return Ok(true);
        }
        if !self.cursor.eat_text("/*") {
            return Ok(false);
        }
        if !self.cursor.eat_through("*/") {
            let message = "the comment that opens here with /* is never closed: write */ at its end";
            return Err(Broken::new(start, message));
        }
        Ok(true)
    }

    /// That DataX would refuse the text because of a comment: once, however many there are.
    pub(super) fn note_refused_comment(&mut self) {
        if let Some(at) = self.refused_comment {
            let message = "DataX would refuse this file because of the comment here: it takes a // comment only on one line, \
                           at the start of the file, after a { or after a comma inside { }";
            self.notes.push(Note { at, message: message.into() });
        }
    }
}

/// White space of JSON, and every other blank that comes along when people paste: no-break and full-width spaces, spaces of no
/// width, byte-order marks.
pub(super) fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\u{8}' | '\u{180e}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Whether a line ends here.
pub(super) fn is_line_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r')
}

//! Strings in double or single quotes, and their escapes.

use super::grammar::Parser;
use super::{Broken, Note, blanks};

/// Whether a string may begin like this.
pub(super) fn may_begin_with(letter: char) -> bool {
    matches!(letter, '"' | '\'')
}

impl Parser<'_, '_> {
    /// The content of the string that begins here, with every `${env:…}` and `${file:…}` filled. What is fetched is taken as it
    /// is: it has no escapes and is not looked through again.
    pub(super) fn string(&mut self) -> Result<String, Broken> {
        self.quoted(true)
    }

    /// The content of a string that is a key. Nothing is fetched into keys: keys are printed, secrets are not.
    pub(super) fn quoted_key(&mut self) -> Result<String, Broken> {
        self.quoted(false)
    }

    fn quoted(&mut self, fills_references: bool) -> Result<String, Broken> {
        let start = self.cursor.at();
        let quote = self.cursor.next().unwrap_or_default();
        let mut content = String::new();
        loop {
            content.push_str(self.cursor.take_while(|letter| letter != quote && letter != '\\' && letter != '$'));
            if fills_references && let Some(fetched) = self.reference_in_string(quote)? {
                content.push_str(&fetched);
                continue;
            }
            let at = self.cursor.at();
            match self.cursor.next() {
                Some('\\') if self.cursor.peek().is_some() => content.push(self.escape(at)?),
                Some('$') => content.push('$'),
                Some(letter) if letter == quote => return Ok(content),
                _ => {
                    let message = format!(
                        "the string that opens here is never closed: write `{quote}` at its end, \
                         and `\\{quote}` for a quote inside it"
                    );
                    return Err(Broken::new(start, message));
                }
            }
        }
    }

    /// The character that an escape stands for. The backslash, at `at`, is behind the cursor.
    pub(super) fn escape(&mut self, at: usize) -> Result<char, Broken> {
        Ok(match self.cursor.next() {
            Some(letter @ ('"' | '\'' | '\\' | '/')) => letter,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some(digit @ '0'..='7') => char::from(digit as u8 - b'0'),
            Some('x') => char::from(self.hexadecimal(2).ok_or_else(|| too_short(at, "\\x", "two"))? as u8),
            Some('u') => self.unicode(at)?,
            Some(letter) if blanks::is_line_break(letter) => {
                let message = "a backslash at the end of a line is no escape: remove it (a string may go over several lines), \
                               or write \\\\ for a backslash";
                return Err(Broken::new(at, message));
            }
            Some(letter) if !letter.is_control() => {
                return Err(Broken::new(
                    at,
                    format!("\\{letter} is no escape: write \\\\{letter} for a backslash and {letter}"),
                ));
            }
            _ => return Err(Broken::new(at, "a backslash here is no escape: write \\\\ for a backslash")),
        })
    }

    /// What follows `\u`: one unit of UTF-16, or the two of a pair.
    fn unicode(&mut self, at: usize) -> Result<char, Broken> {
        let first = self.hexadecimal(4).ok_or_else(|| too_short(at, "\\u", "four"))?;
        if let Some(letter) = char::from_u32(first) {
            return Ok(letter);
        }
        let before_second = self.cursor;
        if (0xd800..0xdc00).contains(&first)
            && self.cursor.eat_text("\\u")
            && let Some(second @ 0xdc00..0xe000) = self.hexadecimal(4)
            && let Some(letter) = char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
        {
            return Ok(letter);
        }
        self.cursor = before_second;
        let message =
            format!("\\u{first:04x} is half of a character and is read as \u{fffd}: the other half is missing");
        self.notes.push(Note { at, message });
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// A number of so many hexadecimal digits.
    fn hexadecimal(&mut self, length: usize) -> Option<u32> {
        let mut number = 0;
        for _ in 0..length {
            number = number * 16 + self.cursor.peek()?.to_digit(16)?;
            self.cursor.next();
        }
        Some(number)
    }
}

fn too_short(at: usize, escape: &str, digits: &str) -> Broken {
    Broken::new(
        at,
        format!(
            "{escape} needs {digits} hexadecimal digits after it: write them, or \\{escape} for a backslash and {}",
            &escape[1..]
        ),
    )
}

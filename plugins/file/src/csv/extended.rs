//! Cuts records of the dialects that the CSV library lacks, byte by byte: delimiters of several bytes, and backslash
//! escapes. It understands the standard dialects too, which lets tests compare it with the library.

use super::Cut;
use super::library::{lines_between, lines_of};
use super::run::{Field, Problem, Run};
use crate::dialect::{Dialect, Escape, Terminator, is_blank};

/// How much text is cut in one go, unless a record is longer.
const ENOUGH: usize = 64 << 10;

pub(crate) struct Extended {
    dialect: Dialect,
}

/// The text ends before the end of the record.
struct Unfinished;

/// A part of a record that cannot be read.
enum Broken {
    TextAfterQuote,
    Unclosed,
    BadEscape,
}

impl Extended {
    pub(crate) fn new(dialect: &Dialect) -> Extended {
        Extended { dialect: dialect.clone() }
    }

    /// See [`Cutter::cut`](super::Cutter::cut).
    pub(crate) fn cut(&self, text: &[u8], last: bool, run: &mut Run) {
        while run.used < text.len() && (run.records.is_empty() || run.used < ENOUGH) {
            let (start, first_field, side) = (run.used, run.fields.len(), run.side.len());
            match self.record(text, start, last, run) {
                Ok(Cut::Record { end, lines }) => {
                    run.finish_record(start, end, first_field, run.lines);
                    run.used = end;
                    run.lines += lines;
                }
                Ok(Cut::Nothing { end, lines }) => {
                    run.used = end;
                    run.lines += lines;
                }
                Ok(Cut::Unfinished) | Err(Unfinished) => {
                    run.take_back(first_field, side);
                    return;
                }
            }
        }
    }

    /// Cuts the record at `start`.
    fn record(&self, text: &[u8], start: usize, last: bool, run: &mut Run) -> Result<Cut, Unfinished> {
        if self.dialect.ends_record(text[start]) && self.dialect.skip_empty {
            let end = self.end_of_terminator(text, start, last)?;
            run.empty_lines += 1;
            return Ok(Cut::Nothing { end, lines: 1 });
        }
        if let Some(end) = self.comment(text, start, last)? {
            return Ok(Cut::Nothing { end, lines: lines_of(text, start, end, &self.dialect) });
        }
        let first_field = run.fields.len();
        let mut at = start;
        let mut problem = None;
        loop {
            let (end, broken) = self.field(text, at, last, run)?;
            let field = (run.fields.len() - first_field) as u32 - 1;
            problem = problem.or(broken.map(|broken| match broken {
                Broken::TextAfterQuote => Problem::TextAfterQuote { field },
                Broken::Unclosed => {
                    Problem::UnclosedQuote { field, line: lines_between(text, start, at, &self.dialect) }
                }
                Broken::BadEscape => Problem::BadEscape { field },
            }));
            at = end;
            if self.delimiter_at(text, at, last)? {
                at += self.dialect.delimiter.len();
            } else {
                break;
            }
        }
        let end = if at < text.len() { self.end_of_terminator(text, at, last)? } else { at };
        if let Some(problem) = problem {
            run.problems.push((run.records.len() as u32, problem));
        }
        Ok(Cut::Record { end, lines: lines_of(text, start, end, &self.dialect) })
    }

    /// Cuts the field at `at` and adds it: the place of the delimiter or terminator behind it.
    fn field(&self, text: &[u8], at: usize, last: bool, run: &mut Run) -> Result<(usize, Option<Broken>), Unfinished> {
        let start = self.past_blanks(text, at, last)?;
        if self.dialect.qualifier.is_some() && text.get(start).copied() == self.dialect.qualifier {
            return self.qualified_field(text, start, last, run);
        }
        let escapes = self.dialect.qualifier.is_none() && self.dialect.escape == Escape::Backslash;
        let mut end = start;
        let mut broken = None;
        let content = run.side.len();
        let mut escaped_to = content;
        let mut copied = start;
        loop {
            match text.get(end) {
                None if last => break,
                None => return Err(Unfinished),
                Some(_) if self.delimiter_at(text, end, last)? => break,
                Some(byte) if self.dialect.ends_record(*byte) => break,
                Some(b'\\') if escapes => {
                    run.side.extend_from_slice(&text[copied..end]);
                    end = match self.unescape(text, end, last, &mut run.side)? {
                        Ok(end) => end,
                        Err(end) => {
                            broken = broken.or(Some(Broken::BadEscape));
                            end
                        }
                    };
                    copied = end;
                    escaped_to = run.side.len();
                }
                Some(_) => end += 1,
            }
        }
        if copied == start && escaped_to == content {
            run.fields.push(Field::plain(start, end));
        } else {
            run.side.extend_from_slice(&text[copied..end]);
            if self.dialect.trim {
                let blanks = run.side[content..].iter().rev().take_while(|byte| is_blank(**byte)).count();
                run.side.truncate(run.side.len() - blanks);
            }
            run.fields.push(Field::aside(content, run.side.len(), false));
        }
        Ok((end, broken))
    }

    /// Cuts the qualified field whose opening quote is at `open`.
    fn qualified_field(
        &self,
        text: &[u8],
        open: usize,
        last: bool,
        run: &mut Run,
    ) -> Result<(usize, Option<Broken>), Unfinished> {
        let quote = text[open];
        let content = run.side.len();
        let mut broken = None;
        let mut at = open + 1;
        let close = loop {
            let Some(byte) = text.get(at) else {
                if last {
                    break None;
                }
                return Err(Unfinished);
            };
            if *byte == b'\\' && self.dialect.escape == Escape::Backslash {
                at = match self.unescape(text, at, last, &mut run.side)? {
                    Ok(end) => end,
                    Err(end) => {
                        broken = broken.or(Some(Broken::BadEscape));
                        end
                    }
                };
            } else if *byte == quote {
                let doubled = match text.get(at + 1) {
                    None if !last => return Err(Unfinished),
                    next => next == Some(&quote) && self.dialect.escape == Escape::Doubled,
                };
                if !doubled {
                    break Some(at);
                }
                run.side.push(quote);
                at += 2;
            } else {
                run.side.push(*byte);
                at += 1;
            }
        };
        run.fields.push(Field::aside(content, run.side.len(), true));
        let Some(close) = close else { return Ok((text.len(), Some(Broken::Unclosed))) };
        let mut end = close + 1;
        loop {
            match text.get(end) {
                None if last => break,
                None => return Err(Unfinished),
                Some(_) if self.delimiter_at(text, end, last)? => break,
                Some(byte) if self.dialect.ends_record(*byte) => break,
                Some(byte) => {
                    if !is_blank(*byte) {
                        broken = broken.or(Some(Broken::TextAfterQuote));
                    }
                    end += 1;
                }
            }
        }
        Ok((end, broken))
    }

    /// Decodes the escape at `at`: the place behind it, as an error if it is no valid one.
    fn unescape(
        &self,
        text: &[u8],
        at: usize,
        last: bool,
        content: &mut Vec<u8>,
    ) -> Result<Result<usize, usize>, Unfinished> {
        let Some(letter) = text.get(at + 1) else {
            // A backslash at the very end escapes nothing.
            return if last { Ok(Ok(at + 1)) } else { Err(Unfinished) };
        };
        let plain = match letter {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 0x08,
            b'f' => 0x0c,
            b'e' => 0x1b,
            b'v' => 0x0b,
            b'a' => 0x07,
            b'u' | b'U' => return self.unescape_utf16(text, at, last, content),
            b'x' | b'X' => return self.unescape_number(text, at + 2, 16, 2, last, content),
            b'o' | b'O' => return self.unescape_number(text, at + 2, 8, 3, last, content),
            b'd' | b'D' => return self.unescape_number(text, at + 2, 10, 3, last, content),
            b'0'..=b'7' => return self.unescape_number(text, at + 1, 8, 3, last, content),
            other => *other,
        };
        content.push(plain);
        Ok(Ok(at + 2))
    }

    fn unescape_number(
        &self,
        text: &[u8],
        at: usize,
        radix: u32,
        digits: usize,
        last: bool,
        content: &mut Vec<u8>,
    ) -> Result<Result<usize, usize>, Unfinished> {
        let Some(number) = number(text, at, radix, digits, last)? else { return Ok(Err(at)) };
        match char::from_u32(number) {
            Some(character) => {
                content.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                Ok(Ok(at + digits))
            }
            None => Ok(Err(at + digits)),
        }
    }

    /// `\uXXXX`, or a pair of them for characters beyond 16 bits.
    fn unescape_utf16(
        &self,
        text: &[u8],
        at: usize,
        last: bool,
        content: &mut Vec<u8>,
    ) -> Result<Result<usize, usize>, Unfinished> {
        let Some(first) = number(text, at + 2, 16, 4, last)? else { return Ok(Err(at + 2)) };
        let mut units = vec![first as u16];
        let mut end = at + 6;
        if (0xd800..0xdc00).contains(&first) {
            if text.len() < end + 6 && !last {
                return Err(Unfinished);
            }
            if let [b'\\', b'u' | b'U', ..] = text[end..]
                && let Some(second) = number(text, end + 2, 16, 4, last)?
            {
                units.push(second as u16);
                end += 6;
            }
        }
        match String::from_utf16(&units) {
            Ok(characters) => {
                content.extend_from_slice(characters.as_bytes());
                Ok(Ok(end))
            }
            Err(_) => Ok(Err(end)),
        }
    }

    /// The place behind the comment at `start`, if there is one.
    fn comment(&self, text: &[u8], start: usize, last: bool) -> Result<Option<usize>, Unfinished> {
        let Some(comment) = self.dialect.comment else { return Ok(None) };
        let at = self.past_blanks(text, start, last)?;
        let is_comment = text.get(at) == Some(&comment)
            && Some(comment) != self.dialect.qualifier
            && !self.dialect.ends_record(comment)
            && !self.delimiter_at(text, at, last)?;
        if !is_comment {
            return Ok(None);
        }
        match text[at..].iter().position(|byte| self.dialect.ends_record(*byte)) {
            Some(length) => self.end_of_terminator(text, at + length, last).map(Some),
            None if last => Ok(Some(text.len())),
            None => Err(Unfinished),
        }
    }

    /// Where the blanks at `at` end that trimming drops.
    fn past_blanks(&self, text: &[u8], at: usize, last: bool) -> Result<usize, Unfinished> {
        if !self.dialect.trim {
            return Ok(at);
        }
        let mut start = at;
        loop {
            match text.get(start) {
                Some(byte) if is_blank(*byte) && !self.delimiter_at(text, start, last)? => start += 1,
                None if !last => return Err(Unfinished),
                _ => return Ok(start),
            }
        }
    }

    fn delimiter_at(&self, text: &[u8], at: usize, last: bool) -> Result<bool, Unfinished> {
        let delimiter = &self.dialect.delimiter[..];
        if text.get(at).is_some_and(|byte| *byte != delimiter[0]) {
            return Ok(false);
        }
        let rest = text.get(at..).unwrap_or_default();
        if rest.len() < delimiter.len() && !last && delimiter.starts_with(rest) {
            return Err(Unfinished);
        }
        Ok(rest.starts_with(delimiter))
    }

    fn end_of_terminator(&self, text: &[u8], at: usize, last: bool) -> Result<usize, Unfinished> {
        if text[at] != b'\r' || self.dialect.terminator != Terminator::Line {
            return Ok(at + 1);
        }
        match text.get(at + 1) {
            Some(b'\n') => Ok(at + 2),
            None if !last => Err(Unfinished),
            _ => Ok(at + 1),
        }
    }
}

/// The number that these digits are, if they are digits.
fn number(text: &[u8], at: usize, radix: u32, digits: usize, last: bool) -> Result<Option<u32>, Unfinished> {
    let rest = text.get(at..).unwrap_or_default();
    if rest.len() < digits && !last {
        return Err(Unfinished);
    }
    let Some(digits) = rest.get(..digits) else { return Ok(None) };
    Ok(digits.iter().try_fold(0, |number, digit| Some(number * radix + char::from(*digit).to_digit(radix)?)))
}

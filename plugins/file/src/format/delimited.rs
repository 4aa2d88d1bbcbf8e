//! Fields with a delimiter between them, enclosed or escaped where they need it.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::{Buffer, Cause, Dressed};
use crate::config::{Delimited, Quoting};
use crate::csv::{Marks, Needles};
use crate::dialect::{Escape, is_blank};
use crate::render::Cells;

/// How a value is dressed so that it can stand between delimiters.
pub(crate) struct Dressing {
    format: Delimited,
    special: Special,
}

/// What a value must not contain as it is.
struct Special {
    /// The bytes that are special by themselves or begin something that is.
    bytes: Vec<u8>,
    /// To find them in a whole column; `None` if they are too many.
    needles: Option<Needles<8>>,
    /// Which bytes are special by themselves.
    single: [bool; 256],
    /// The special things of several bytes.
    sequences: Vec<Vec<u8>>,
}

impl Dressing {
    pub(crate) fn new(format: &Delimited) -> Dressing {
        Dressing { special: Special::of(format), format: format.clone() }
    }

    /// Dresses a column. Most need nothing and are left as they are; `first` says that it is the first of its records.
    pub(crate) fn dress<'a>(&self, cells: Cells<'a>, first: bool) -> Dressed<'a> {
        let mut specials = self.special.all_in(&cells);
        let can_stay = specials.is_none() && cells.unwritable.is_empty() && cells.nulls.is_none();
        if can_stay && !self.has_any_to_dress(&cells, first) {
            return Dressed { offsets: cells.offsets, bytes: cells.bytes, unwritable: Vec::new() };
        }
        let rows = cells.offsets.len() - 1;
        // What most columns get: a few quotes.
        let mut out = Buffer::with_room(cells.all_bytes().len() + 2 * rows);
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        let mut unwritable: Vec<(usize, Cause)> = Vec::new();
        let mut no_text = cells.unwritable.iter().peekable();
        for row in 0..rows {
            if let Some((_, cause)) = no_text.next_if(|(other, _)| *other == row) {
                unwritable.push((row, Cow::Borrowed(cause)));
            } else if cells.is_null(row) {
                out.append(&self.format.null);
            } else {
                let has_special = specials.as_mut().is_some_and(|specials| specials.are_in(&cells, row));
                if let Err(cause) = self.write(cells.text(row), first, has_special, &mut out) {
                    unwritable.push((row, cause));
                }
            }
            offsets.push(out.len() as i32);
        }
        Dressed { offsets: Cow::Owned(offsets), bytes: Cow::Owned(out.into_bytes()), unwritable }
    }

    /// Writes a name in a header.
    pub(crate) fn write_name(&self, name: &str, first: bool, out: &mut Buffer) -> Result<(), Cause> {
        self.write(name.as_bytes(), first, true, out)
    }

    /// Writes a value, dressed if it needs it; `may_be_special` is false if nothing special is in it.
    #[inline]
    fn write(&self, text: &[u8], first: bool, may_be_special: bool, out: &mut Buffer) -> Result<(), Cause> {
        match self.format.quoting {
            Quoting::None if may_be_special && self.special.is_in(text) => {
                return Err(self.why_unwritable(text).into());
            }
            Quoting::None => out.append(text),
            Quoting::Qualifier { qualifier, escape, always, comment } => {
                if always
                    || needs_enclosing(&self.format, text, first, comment)
                    || (may_be_special && self.special.is_in(text))
                {
                    enclose(text, qualifier, escape, out);
                } else {
                    out.append(text);
                }
            }
            Quoting::Backslash { comment } => {
                if first && text.first() == Some(&comment) && !self.special.bytes.contains(&comment) {
                    out.push(b'\\');
                }
                for byte in text {
                    // Of a delimiter of several bytes the first alone, wherever it stands: then nothing in the value
                    // can be taken for a delimiter, not even together with the one behind it.
                    if self.special.bytes.contains(byte) {
                        out.push(b'\\');
                    }
                    out.push(*byte);
                }
            }
        }
        Ok(())
    }

    fn why_unwritable(&self, text: &[u8]) -> String {
        let what = if is_in_or_at_end(text, &self.format.delimiter) { "the field delimiter" } else { "a line end" };
        format!("contains {what}, which this format cannot express; use fileFormat csv, or another delimiter")
    }

    /// Whether a column has any value that has to be dressed although it contains nothing special.
    fn has_any_to_dress(&self, cells: &Cells<'_>, first: bool) -> bool {
        let bytes = cells.all_bytes();
        let (always, comment) = match self.format.quoting {
            Quoting::None => return false,
            Quoting::Backslash { comment } => return first && memchr(comment, bytes).is_some(),
            Quoting::Qualifier { always, comment, .. } => (always, comment),
        };
        let null = &self.format.null;
        let has_empty = || cells.offsets.windows(2).any(|ends| ends[0] == ends[1]);
        let may_have = (first && memchr(comment, bytes).is_some())
            || ((first || null.is_empty()) && has_empty())
            || memchr::memchr2(b' ', b'\t', bytes).is_some()
            || (!null.is_empty() && memmem::find(bytes, null).is_some());
        let has = |row: usize| needs_enclosing(&self.format, cells.text(row), first, comment);
        always || (may_have && (0..cells.offsets.len() - 1).any(has))
    }
}

impl Special {
    fn of(format: &Delimited) -> Special {
        let mut special = Special { bytes: Vec::new(), needles: None, sequences: Vec::new(), single: [false; 256] };
        special.add(&format.delimiter);
        special.add(&format.terminator);
        let ends_lines = format.terminator.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
        if ends_lines || !matches!(format.quoting, Quoting::None) {
            // Whoever reads lines takes either for the end of one.
            special.add(b"\n");
            special.add(b"\r");
        }
        match format.quoting {
            Quoting::None => {}
            Quoting::Qualifier { qualifier, escape, .. } => {
                special.add(&[qualifier]);
                if escape == Escape::Backslash {
                    special.add(b"\\");
                }
            }
            Quoting::Backslash { .. } => special.add(b"\\"),
        }
        special.needles = Needles::new(&special.bytes);
        special
    }

    fn add(&mut self, sequence: &[u8]) {
        match sequence {
            [] => return,
            [byte] => self.single[usize::from(*byte)] = true,
            several => self.sequences.push(several.to_vec()),
        }
        if !self.bytes.contains(&sequence[0]) {
            self.bytes.push(sequence[0]);
        }
    }

    /// Where special bytes are in a column, so that values without any need not be looked through; `None`: nowhere.
    fn all_in(&self, cells: &Cells<'_>) -> Option<Specials> {
        let Some(needles) = self.needles else { return Some(Specials::Anywhere) };
        let bytes = cells.all_bytes();
        if !needles.is_any_in(bytes) {
            return None;
        }
        let mut marks = Marks::default();
        needles.find(bytes, 0, &mut marks);
        Some(Specials::At { marks, next: 0 })
    }

    fn is_in(&self, text: &[u8]) -> bool {
        text.iter().any(|byte| self.single[usize::from(*byte)])
            || self.sequences.iter().any(|sequence| is_in_or_at_end(text, sequence))
    }
}

/// Where special bytes are in a column.
enum Specials {
    /// It was not possible to find out.
    Anywhere,
    At {
        marks: Marks,
        next: usize,
    },
}

impl Specials {
    /// Whether any are in this row; rows are asked for in order.
    #[inline]
    fn are_in(&mut self, cells: &Cells<'_>, row: usize) -> bool {
        let Specials::At { marks, next } = self else { return true };
        let base = cells.offsets[0];
        let (start, end) = (cells.offsets[row] - base, cells.offsets[row + 1] - base);
        let places = marks.places();
        while places.get(*next).is_some_and(|place| (*place as i32) < start) {
            *next += 1;
        }
        places.get(*next).is_some_and(|place| (*place as i32) < end)
    }
}

/// Whether a sequence is in a text, or would be found too early if it followed the text: in `a;` before `;;`.
fn is_in_or_at_end(text: &[u8], sequence: &[u8]) -> bool {
    let tail = &text[text.len().saturating_sub(sequence.len() - 1)..];
    memmem::find(text, sequence).is_some() || memmem::find(&[tail, sequence].concat(), sequence) != Some(tail.len())
}

/// Whether a value without anything special in it has to be enclosed to be read again as it is: a reader drops blanks
/// at the ends, takes a line without any character for none and a comment for a comment; and NULL is not the word for
/// it.
fn needs_enclosing(format: &Delimited, text: &[u8], first: bool, comment: u8) -> bool {
    match text {
        [] => first || format.null.is_empty(),
        [start, .., end] if is_blank(*start) || is_blank(*end) => true,
        [only] if is_blank(*only) => true,
        [start, ..] if first && *start == comment => true,
        _ => text == format.null,
    }
}

fn enclose(text: &[u8], qualifier: u8, escape: Escape, out: &mut Buffer) {
    out.push(qualifier);
    let mut rest = text;
    let escaped = |byte: &u8| *byte == qualifier || (escape == Escape::Backslash && *byte == b'\\');
    while let Some(place) = rest.iter().position(escaped) {
        out.append(&rest[..place]);
        out.push(match escape {
            Escape::Doubled => qualifier,
            Escape::Backslash => b'\\',
        });
        out.push(rest[place]);
        rest = &rest[place + 1..];
    }
    out.append(rest);
    out.push(qualifier);
}

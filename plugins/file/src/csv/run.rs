//! Records as they were cut: where the fields of each lie in the text, nothing copied.

use std::ops::Range;

use crate::dialect::is_blank;

/// Some records of a text, one after another, with their fields.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub records: Vec<Record>,
    pub fields: Vec<Field>,
    /// The content of fields that is not in the text as it stands: quotes halved, escapes decoded.
    pub side: Vec<u8>,
    /// What is wrong with some of the records, in order; their fields mean nothing.
    pub problems: Vec<(u32, Problem)>,
    /// How much of the text is used up, comments and empty lines included.
    pub used: usize,
    /// How many lines are used up.
    pub lines: u32,
    /// How many of them were empty and no records.
    pub empty_lines: u32,
}

/// A record: its place in the text, and which of the run's fields are its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub start: u32,
    pub end: u32,
    pub first_field: u32,
    /// Lines between the front of the text and its own.
    pub line: u32,
}

/// A field: its place in the text or, where it had to be rewritten, in the side text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    start: u32,
    end_and_marks: u32,
}

const QUALIFIED: u32 = 1 << 31;
const ASIDE: u32 = 1 << 30;

/// A longer record cannot be read. The buffer that it is in may have up to twice as much, and places in it leave two
/// bits for marks.
pub(crate) const LONGEST_RECORD: usize = 1 << 28;

impl Field {
    /// A field as it stands in the text; blanks around it may have to be trimmed.
    pub(crate) fn plain(start: usize, end: usize) -> Field {
        Field { start: start as u32, end_and_marks: end as u32 }
    }

    /// The content of a qualified field, which stands in the text.
    pub(crate) fn qualified(start: usize, end: usize) -> Field {
        Field { start: start as u32, end_and_marks: end as u32 | QUALIFIED }
    }

    /// Content in the side text, which is never trimmed.
    pub(crate) fn aside(start: usize, end: usize, qualified: bool) -> Field {
        Field { start: start as u32, end_and_marks: end as u32 | ASIDE | if qualified { QUALIFIED } else { 0 } }
    }

    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    pub(crate) fn end(self) -> usize {
        (self.end_and_marks & !(QUALIFIED | ASIDE)) as usize
    }

    pub(crate) fn is_qualified(self) -> bool {
        self.end_and_marks & QUALIFIED != 0
    }

    pub(crate) fn is_aside(self) -> bool {
        self.end_and_marks & ASIDE != 0
    }

    /// Whether it is as it stands in the text, so that blanks around it may have to be trimmed.
    pub(crate) fn is_plain(self) -> bool {
        self.end_and_marks & (QUALIFIED | ASIDE) == 0
    }
}

impl Field {
    /// Where its content stands: in this text, which is the run's or the side text.
    #[inline(always)]
    pub(crate) fn place<'a>(self, text: &'a [u8], side: &'a [u8], trim: bool) -> (&'a [u8], Range<usize>) {
        let from = if self.is_aside() { side } else { text };
        let (mut start, mut end) = (self.start(), self.end());
        if trim && self.is_plain() && start < end && (from[start] <= b' ' || from[end - 1] <= b' ') {
            while start < end && is_blank(from[start]) {
                start += 1;
            }
            while end > start && is_blank(from[end - 1]) {
                end -= 1;
            }
        }
        (from, start..end)
    }

    /// Its content.
    #[inline]
    pub(crate) fn content<'a>(self, text: &'a [u8], side: &'a [u8], trim: bool) -> &'a [u8] {
        let (from, range) = self.place(text, side, trim);
        &from[range]
    }
}

/// Why a record cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Something other than blanks between a closing quote and the next delimiter, in this field (from 0).
    TextAfterQuote { field: u32 },
    /// The quote that opens this field, in this line after the record's first, is never closed.
    UnclosedQuote { field: u32, line: u32 },
    /// A `\u`, `\x`, `\o` or `\d` that is followed by no number, or by that of no character.
    BadEscape { field: u32 },
    /// This field is longer than the safety switch allows.
    TooLong { field: u32 },
}

impl Run {
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.fields.clear();
        self.side.clear();
        self.problems.clear();
        self.used = 0;
        self.lines = 0;
        self.empty_lines = 0;
    }

    /// The fields of a record.
    pub(crate) fn fields_of(&self, record: usize) -> &[Field] {
        let first = self.records[record].first_field as usize;
        let next = self.records.get(record + 1).map_or(self.fields.len(), |next| next.first_field as usize);
        &self.fields[first..next]
    }

    /// Whether a record has no character, not even a blank.
    pub(crate) fn is_empty_line(&self, record: usize) -> bool {
        let start = self.records[record].start as usize;
        matches!(self.fields_of(record), [only] if only.is_plain() && only.start() == start && only.end() == start)
    }

    /// Adds the record whose fields are those since `first_field`.
    pub(super) fn finish_record(&mut self, start: usize, end: usize, first_field: usize, line: u32) {
        self.records.push(Record { start: start as u32, end: end as u32, first_field: first_field as u32, line });
    }

    /// Takes back the fields of a record that turned out to be unfinished or odd.
    pub(super) fn take_back(&mut self, first_field: usize, side: usize) {
        self.fields.truncate(first_field);
        self.side.truncate(side);
    }

    /// Marks records with a field of more characters than this.
    pub(super) fn refuse_longer_than(&mut self, longest: usize, text: &[u8]) {
        for record in 0..self.records.len() {
            let too_long = self.fields_of(record).iter().position(|field| {
                let from = if field.is_aside() { &self.side } else { text };
                field.end() - field.start() > longest && characters(&from[field.start()..field.end()]) > longest
            });
            if let Some(field) = too_long
                && let Err(place) = self.problems.binary_search_by_key(&(record as u32), |(record, _)| *record)
            {
                self.problems.insert(place, (record as u32, Problem::TooLong { field: field as u32 }));
            }
        }
    }
}

/// UTF-8 has one byte a character that is no continuation.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

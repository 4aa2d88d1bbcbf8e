//! Cuts one record with csv-core, and adds what DataX's dialect has on top of it: blanks around a qualified field, and
//! the errors that csv-core takes in its stride.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use memchr::memchr;

use super::Cut;
use super::run::{Field, Problem, Run};
use crate::dialect::{Dialect, Terminator, is_blank};

pub(crate) struct Library {
    reader: Reader,
    dialect: Dialect,
}

impl Library {
    pub(crate) fn new(dialect: &Dialect) -> Library {
        let terminator = match dialect.terminator {
            Terminator::Line => csv_core::Terminator::CRLF,
            Terminator::Byte(byte) => csv_core::Terminator::Any(byte),
        };
        let reader = ReaderBuilder::new()
            .delimiter(dialect.delimiter[0])
            .quote(dialect.qualifier.unwrap_or_default())
            .quoting(dialect.qualifier.is_some())
            .terminator(terminator)
            .build();
        Library { reader, dialect: dialect.clone() }
    }

    /// Cuts the record at `start`, which is neither empty nor a comment. Its fields are added to the run.
    pub(crate) fn record(&mut self, text: &[u8], start: usize, last: bool, run: &mut Run) -> Cut {
        let (first_field, side) = (run.fields.len(), run.side.len());
        self.reader.reset();
        let mut at = start;
        let mut problem = None;
        loop {
            let field = (run.fields.len() - first_field) as u32;
            let Some(end) = self.field(text, at, last, run) else {
                run.take_back(first_field, side);
                return Cut::Unfinished;
            };
            problem =
                problem.or(end.problem.map(|kind| kind.in_field(field, lines_between(text, start, at, &self.dialect))));
            at = end.next;
            if end.ends_record {
                break;
            }
        }
        if self.dialect.terminator == Terminator::Line && at > start && text[at - 1] == b'\r' {
            match text.get(at) {
                Some(b'\n') => at += 1,
                None if !last => {
                    run.take_back(first_field, side);
                    return Cut::Unfinished;
                }
                _ => {}
            }
        }
        if let Some(problem) = problem {
            run.problems.push((run.records.len() as u32, problem));
        }
        Cut::Record { end: at, lines: lines_of(text, start, at, &self.dialect) }
    }

    /// Cuts the field at `at` and adds it. `None`: its end is not in the text yet.
    fn field(&mut self, text: &[u8], at: usize, last: bool, run: &mut Run) -> Option<FieldEnd> {
        let delimiter = self.dialect.delimiter[0];
        let is_skipped = |byte: &&u8| self.dialect.trim && is_blank(**byte) && **byte != delimiter;
        let blanks = text[at..].iter().take_while(is_skipped).count();
        let qualified = self.dialect.qualifier.is_some() && text.get(at + blanks).copied() == self.dialect.qualifier;
        let start = if qualified { at + blanks } else { at };
        let content = run.side.len();
        let (next, ends_record) = self.read_field(text, start, last, &mut run.side)?;
        let ended_by_mark = next > start && (text[next - 1] == delimiter || self.dialect.ends_record(text[next - 1]));
        if !qualified {
            run.side.truncate(content);
            let end = if ended_by_mark { next - 1 } else { next };
            run.fields.push(Field::plain(start, end));
            return Some(FieldEnd { next, ends_record, problem: None });
        }
        let problem = match closing_quote(text, start, next, text[start]) {
            // A delimiter or line end inside the quotes ends nothing.
            None => Some(Kind::Unclosed),
            Some(close) => {
                let after = &text[close + 1..if ended_by_mark && next - 1 > close { next - 1 } else { next }];
                // csv-core takes what follows the closing quote for content.
                run.side.truncate(run.side.len() - after.len());
                after.iter().any(|byte| !is_blank(*byte)).then_some(Kind::TextAfterQuote)
            }
        };
        run.fields.push(Field::aside(content, run.side.len(), true));
        Some(FieldEnd { next, ends_record, problem })
    }

    /// Lets csv-core read a field into `content`: where the next one begins, and whether the record ends here.
    fn read_field(&mut self, text: &[u8], start: usize, last: bool, content: &mut Vec<u8>) -> Option<(usize, bool)> {
        let mut at = start;
        let mut written = content.len();
        content.resize(written + 64, 0);
        let ends_record = loop {
            let input = &text[at..];
            if input.is_empty() && !last {
                return None;
            }
            let (result, read, count) = self.reader.read_field(input, &mut content[written..]);
            at += read;
            written += count;
            match result {
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => content.resize(content.len() * 2, 0),
                ReadFieldResult::Field { record_end } => break record_end,
                ReadFieldResult::End => break true,
            }
        };
        content.truncate(written);
        Some((at, ends_record))
    }
}

struct FieldEnd {
    next: usize,
    ends_record: bool,
    problem: Option<Kind>,
}

#[derive(Clone, Copy)]
enum Kind {
    TextAfterQuote,
    Unclosed,
}

impl Kind {
    fn in_field(self, field: u32, line: u32) -> Problem {
        match self {
            Kind::TextAfterQuote => Problem::TextAfterQuote { field },
            Kind::Unclosed => Problem::UnclosedQuote { field, line },
        }
    }
}

/// The quote that closes the one at `open`, if it stands before `end`: the first that is not one of a pair.
fn closing_quote(text: &[u8], open: usize, end: usize, quote: u8) -> Option<usize> {
    let mut at = open + 1;
    loop {
        let place = at + memchr(quote, &text[at..end])?;
        if text.get(place + 1) != Some(&quote) {
            return Some(place);
        }
        at = place + 2;
    }
}

/// How many lines end between two places.
pub(super) fn lines_between(text: &[u8], from: usize, to: usize, dialect: &Dialect) -> u32 {
    let text = &text[from..to];
    let ends = |place: &usize| dialect.ends_record(text[*place]);
    let second_of_pair = |place: &usize| {
        dialect.terminator == Terminator::Line && text[*place] == b'\n' && *place > 0 && text[*place - 1] == b'\r'
    };
    (0..text.len()).filter(|place| ends(place) && !second_of_pair(place)).count() as u32
}

/// How many lines a record, comment or empty line has: the last line of a text may have no end.
pub(super) fn lines_of(text: &[u8], from: usize, to: usize, dialect: &Dialect) -> u32 {
    let has_end = to > from && dialect.ends_record(text[to - 1]);
    lines_between(text, from, to, dialect) + u32::from(!has_end)
}

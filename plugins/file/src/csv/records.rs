//! Reads a text through one buffer and has it cut into records, run by run.

use std::io;
use std::ops::Range;

use super::library::lines_between;
use super::run::LONGEST_RECORD;
use super::{Cutter, Run};
use crate::copy::SLACK;
use crate::dialect::Dialect;
use crate::source::{LEAST_ROOM, Text};
use crate::split::Borders;

/// How much is read at once. It stays in the second cache while it is cut and copied.
const BUFFER: usize = 256 << 10;

/// From here on a buffer grows by a part of itself.
const LARGE: usize = 8 << 20;

/// How much of a broken record is shown.
const SHOWN: usize = 4 << 10;

/// The records of one text.
pub(crate) struct Records {
    text: Text,
    cutter: Cutter,
    dialect: Dialect,
    /// It has a little more than fits into it, so that whoever copies from it may copy too much.
    buffer: Vec<u8>,
    /// The part of the buffer that is not used up.
    next: usize,
    filled: usize,
    /// The place of the buffer's front in the text.
    offset: u64,
    last: bool,
    longest: usize,
    run: Run,
    /// Where the current run's text begins in the buffer, and the number of its first line.
    base: usize,
    line: u64,
    /// How many empty lines were passed over so far.
    empty_lines: u64,
    /// A record that is being passed over.
    passing: Option<(Borders, TooLong)>,
}

/// What [`Records::advance`] came to.
#[derive(Debug)]
pub(crate) enum Advanced {
    /// A run with at least one record.
    Run,
    /// A record that is longer than allowed; it is passed over.
    TooLong(TooLong),
    /// A part of such a record: there may be much more of it.
    Passing,
    End,
}

/// A record that was passed over.
#[derive(Debug, Clone)]
pub(crate) struct TooLong {
    pub line: u64,
    pub place: u64,
    pub bytes: u64,
    /// Its front.
    pub shown: Vec<u8>,
    /// Whether the text ended before the quote that it is in was closed.
    pub unclosed: bool,
}

impl Records {
    /// The records of a text whose first line has this number.
    pub(crate) fn new(text: Text, dialect: &Dialect, line: u64, longest: usize) -> Records {
        Records {
            text,
            cutter: Cutter::new(dialect.clone()),
            dialect: dialect.clone(),
            buffer: vec![0; BUFFER + SLACK],
            next: 0,
            filled: 0,
            offset: 0,
            last: false,
            longest: longest.min(LONGEST_RECORD),
            run: Run::default(),
            base: 0,
            line,
            empty_lines: 0,
            passing: None,
        }
    }

    /// Goes on with another text of the same dialect, from its first line on: its memory is used again.
    pub(crate) fn begin(&mut self, text: Text, line: u64) {
        self.text = text;
        self.run.clear();
        (self.next, self.filled, self.offset, self.base) = (0, 0, 0, 0);
        (self.last, self.line, self.empty_lines, self.passing) = (false, line, 0, None);
    }

    /// Goes on at this place of the text, which is the front of the record in this line, as long as `keep_going` says
    /// so.
    pub(crate) fn skip_to(&mut self, place: u64, line: u64, keep_going: impl Fn() -> bool) -> io::Result<()> {
        while self.offset + (self.next as u64) < place && keep_going() {
            self.next = self.filled;
            self.fill()?;
            // The last read brings more than is passed over.
            let left = usize::try_from(place - self.offset).unwrap_or(usize::MAX);
            self.next = self.filled.min(left);
            if self.last && self.filled < left {
                let message =
                    format!("is shorter than it was: it ends before byte {place}, where reading should go on");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
            }
        }
        self.line = line;
        Ok(())
    }

    /// Goes on to the next run of records.
    pub(crate) fn advance(&mut self) -> io::Result<Advanced> {
        if let Some((borders, record)) = self.passing.take() {
            return self.pass_over(borders, record);
        }
        loop {
            self.line += u64::from(self.run.lines);
            self.base = self.next;
            self.next += self.cutter.cut(&self.buffer[self.base..self.filled], self.last, &mut self.run);
            self.empty_lines += u64::from(self.run.empty_lines);
            if !self.run.records.is_empty() {
                return Ok(Advanced::Run);
            }
            if self.last {
                return Ok(Advanced::End);
            }
            if self.filled - self.next > self.longest {
                return self.begin_to_pass_over();
            }
            self.fill()?;
        }
    }

    /// The current run, and the text that its places count from; a little more than its records is in it.
    pub(crate) fn run(&self) -> (&Run, &[u8]) {
        (&self.run, &self.buffer[self.base..])
    }

    /// How many empty lines were no records so far.
    pub(crate) fn empty_lines(&self) -> u64 {
        self.empty_lines
    }

    /// The bytes of this part of the current run's text as they are in the file, if they are still known.
    pub(crate) fn bytes_in_file(&self, part: Range<usize>) -> Option<Vec<u8>> {
        let text = &self.buffer[self.base + part.start..self.base + part.end];
        self.text.bytes_in_file(text, self.place_in_file(part.start)..self.place_in_file(part.end))
    }

    /// The number of the line that a record of the current run begins in.
    pub(crate) fn line(&self, record: usize) -> u64 {
        self.line + u64::from(self.run.records[record].line)
    }

    /// The place in the text at which the current run's text begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset + self.base as u64
    }

    /// The place in the file of this place in the current run's text.
    pub(crate) fn place_in_file(&self, at: usize) -> u64 {
        let at = self.base + at;
        let anchor = self.text.anchor(self.offset + at as u64);
        let known = usize::try_from(anchor.saturating_sub(self.offset)).unwrap_or(at).min(at);
        self.text.place(self.offset + at as u64, &self.buffer[known..at])
    }

    /// The place in the text, the place in the file, and the line at which this record of the current run begins; for
    /// one behind the last, those at which reading goes on.
    pub(crate) fn place(&self, record: usize) -> (u64, u64, u64) {
        let (at, line) = match self.run.records.get(record) {
            Some(about) => (about.start as usize, self.line + u64::from(about.line)),
            None => (self.next - self.base, self.line + u64::from(self.run.lines)),
        };
        (self.offset() + at as u64, self.place_in_file(at), line)
    }

    /// About how many bytes of the file were read for what stands before this place of it, which may be a packed one.
    pub(crate) fn used_for(&self, place: u64) -> u64 {
        self.text.used_for(place)
    }

    /// The fields of a record of the current run, as text.
    pub(crate) fn texts(&self, record: usize) -> Vec<String> {
        let (run, text) = self.run();
        let fields = run.fields_of(record).iter().map(|field| {
            let content = field.content(text, &run.side, self.dialect.trim);
            String::from_utf8_lossy(content).into_owned()
        });
        fields.collect()
    }

    /// How many lines end in this part of the text.
    pub(crate) fn lines_in(&self, text: &[u8]) -> u32 {
        lines_between(text, 0, text.len(), &self.dialect)
    }

    /// Fills the buffer, which first gets larger if nearly all of it is an unfinished record: so each byte is looked at a few
    /// times at most, however long the record is, and the buffer is not much longer than the longest one.
    fn fill(&mut self) -> io::Result<()> {
        let anchor = self.text.anchor(self.offset + self.next as u64);
        let keep_from = usize::try_from(anchor.saturating_sub(self.offset)).unwrap_or(self.next).min(self.next);
        self.buffer.copy_within(keep_from..self.filled, 0);
        self.filled -= keep_from;
        self.next -= keep_from;
        self.base = self.next;
        self.offset += keep_from as u64;
        self.text.forget_before(self.offset);
        let size = self.buffer.len() - SLACK;
        if self.filled > size - size / 4 {
            // In few steps while it is small: of each, what is let go of stays in the heap.
            let more = if size < LARGE { (size * 3).min(LARGE - size) } else { size / 4 };
            self.buffer.reserve_exact(more);
            self.buffer.resize(size + more + SLACK, 0);
        }
        let end = self.buffer.len() - SLACK;
        while end - self.filled >= LEAST_ROOM {
            let count = self.text.read(&mut self.buffer[self.filled..end])?;
            self.filled += count;
            if count == 0 {
                self.last = true;
                break;
            }
        }
        Ok(())
    }

    /// Begins to pass over the record at `next`, which is too long.
    fn begin_to_pass_over(&mut self) -> io::Result<Advanced> {
        self.line += u64::from(self.run.lines);
        self.run.clear();
        let Some(borders) = Borders::new(&self.dialect) else {
            let message = format!("the record in line {} is longer than {} bytes", self.line, self.longest);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        };
        let shown = self.buffer[self.next..self.filled].iter().take(SHOWN).copied().collect();
        let place = self.place_in_file(self.next - self.base);
        self.pass_over(borders, TooLong { line: self.line, place, bytes: 0, shown, unclosed: false })
    }

    /// Passes over what is in the buffer of a record that is too long.
    fn pass_over(&mut self, mut borders: Borders, mut record: TooLong) -> io::Result<Advanced> {
        let border = borders.next_border(&self.buffer[self.next..self.filled]);
        let passed = border.unwrap_or(self.filled - self.next);
        self.next += passed;
        record.bytes += passed as u64;
        if border.is_none() && !self.last {
            self.passing = Some((borders, record));
            self.fill()?;
            return Ok(Advanced::Passing);
        }
        record.unclosed = border.is_none() && borders.is_inside();
        self.line += borders.lines;
        Ok(Advanced::TooLong(record))
    }
}

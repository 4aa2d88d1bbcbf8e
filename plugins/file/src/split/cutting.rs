//! Cuts one large plain file into ranges that begin and end between two records, one range at a time: the next is looked
//! for only when it is asked for.
//! Not here: which files are cut (`split`), what a border between two records is (`borders`).

use std::fs::File;
use std::io::{self, Read};

use super::Borders;
use crate::dialect::Dialect;
use crate::find::FoundFile;
use crate::source::Piece;

const CHUNK: usize = 1 << 20;

/// A file that is being cut.
pub(crate) struct Cutting {
    path: String,
    file: File,
    size: u64,
    range: u64,
    borders: Borders,
    /// Where the next range begins: its byte and its line.
    start: u64,
    line: u64,
    /// How much of the file was read.
    read: u64,
    chunk: Vec<u8>,
    /// What of the chunk is not walked over yet.
    next: usize,
    filled: usize,
    finished: bool,
}

impl Cutting {
    /// Begins to cut a file into ranges of about this size at most.
    pub(crate) fn begin(found: &FoundFile, range: u64, dialect: &Dialect) -> io::Result<Option<Cutting>> {
        let Some(borders) = Borders::new(dialect) else { return Ok(None) };
        let mut cutting = Cutting {
            path: found.path.clone(),
            file: File::open(&found.path)?,
            size: found.size,
            range: range.max(1),
            borders,
            start: 0,
            line: 1,
            read: 0,
            chunk: vec![0; CHUNK],
            next: 0,
            filled: 0,
            finished: false,
        };
        // A byte-order mark is no part of the first field, which may begin with a quote behind it.
        cutting.fill()?;
        if cutting.chunk[..cutting.filled].starts_with(&[0xef, 0xbb, 0xbf]) {
            cutting.next = 3;
        }
        Ok(Some(cutting))
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The next range; `None` once the file is used up, or if `keep_going` says no.
    pub(crate) fn next_range(&mut self, keep_going: &dyn Fn() -> bool) -> io::Result<Option<Piece>> {
        if self.finished {
            return Ok(None);
        }
        let end = match self.target() {
            Some(target) => self.border_from(target, keep_going)?,
            None => None,
        };
        if !keep_going() {
            return Ok(None);
        }
        // A border at the very end leaves nothing for another range.
        let end = end.filter(|end| *end < self.size);
        self.finished = end.is_none();
        let piece =
            Piece { path: self.path.clone(), start: self.start, end: Some(end.unwrap_or(self.size)), line: self.line };
        if let Some(end) = end {
            self.start = end;
            self.line = self.borders.lines + 1;
        }
        Ok(Some(piece))
    }

    /// Where the next range should end; `None`: with the file. The last two are halves of what is left, so that none is tiny.
    fn target(&self) -> Option<u64> {
        match self.size - self.start {
            left if left <= self.range => None,
            left if left <= self.range.saturating_mul(2) => Some(self.start + left / 2),
            _ => Some(self.start + self.range),
        }
    }

    /// The first border from this place on.
    fn border_from(&mut self, target: u64, keep_going: &dyn Fn() -> bool) -> io::Result<Option<u64>> {
        let mut at = self.walked();
        // A line that ends right there is looked at again.
        let target = target - 1;
        while at < target && keep_going() {
            if self.next == self.filled && !self.fill()? {
                return Ok(None);
            }
            let step = usize::try_from(target - at).unwrap_or(usize::MAX).min(self.filled - self.next);
            self.borders.pass(&self.chunk[self.next..self.next + step]);
            self.next += step;
            at += step as u64;
        }
        while keep_going() {
            match self.borders.next_border(&self.chunk[self.next..self.filled]) {
                Some(border) => {
                    self.next += border;
                    return Ok(Some(self.walked()));
                }
                None => {
                    self.next = self.filled;
                    if !self.fill()? {
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    /// The place in the file up to which it was walked over.
    fn walked(&self) -> u64 {
        self.read - (self.filled - self.next) as u64
    }

    /// Reads the next chunk; `false` at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        self.next = 0;
        self.filled = self.file.read(&mut self.chunk)?;
        self.read += self.filled as u64;
        Ok(self.filled > 0)
    }
}

//! Cuts a large plain file into byte ranges that begin and end between two records, one range at a time: the next is
//! looked for only when it is asked for.
//! Not here: which files there are (`find`), reading the ranges (`reader`).

mod borders;

use std::fs::File;
use std::io::{self, Read};

use crate::compression::Compression;
use crate::dialect::Dialect;
use crate::encoding::Encoding;
use crate::find::FoundFile;
use crate::source::Piece;

pub(crate) use self::borders::Borders;

/// Ranges smaller than this are not worth a task of their own.
const SMALLEST_RANGE: u64 = 32 << 20;

/// Ranges larger than this make channels wait for each other at the end.
const LARGEST_RANGE: u64 = 1 << 30;

/// How many ranges there should be for each channel, so that channels end together.
const RANGES_PER_CHANNEL: u64 = 4;

const CHUNK: usize = 1 << 20;

/// How many bytes a range of this file should have; `None`: it is to be read as a whole.
pub(crate) fn range_size(file: &FoundFile, wanted: Option<u64>, channels: u32) -> Option<u64> {
    let size = match wanted {
        Some(0) => return None,
        Some(bytes) => bytes,
        None if channels < 2 => return None,
        None => (file.size / (u64::from(channels) * RANGES_PER_CHANNEL)).clamp(SMALLEST_RANGE, LARGEST_RANGE),
    };
    // A last range of a few bytes is left with the one before it.
    (file.size > size + size / 4).then_some(size)
}

/// Whether files of this kind can be cut: their bytes are their text, and borders can be told from it.
pub(crate) fn can_cut(file: &FoundFile, dialect: &Dialect, encoding: Encoding, compression: Compression) -> bool {
    let bytes_are_text = matches!(encoding, Encoding::Utf8 | Encoding::Ascii | Encoding::Latin1);
    bytes_are_text && compression.of(&file.path) == Compression::None && Borders::new(dialect).is_some()
}

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
    /// Begins to cut a file into ranges of about this size.
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

    /// The next range; `None` once the file is used up, or if `keep_going` says no.
    pub(crate) fn next_range(&mut self, keep_going: &dyn Fn() -> bool) -> io::Result<Option<Piece>> {
        if self.finished {
            return Ok(None);
        }
        let target = self.start + self.range;
        let end = if target + self.range / 4 >= self.size { None } else { self.border_from(target, keep_going)? };
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

    /// The first border behind this place.
    fn border_from(&mut self, target: u64, keep_going: &dyn Fn() -> bool) -> io::Result<Option<u64>> {
        let mut at = self.walked();
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

#[cfg(test)]
mod tests;

//! Walks over the bytes of a standard dialect, chunk by chunk, far faster than cutting records: all it knows is whether
//! it is inside quotes, and how many lines it has passed.
//! Not here: where to cut a file (`split`).

use memchr::{memchr, memchr_iter, memchr2};

use crate::dialect::{Dialect, Escape, Terminator, is_blank};

/// Where the walk is, between two chunks. It begins at the front of a record.
#[derive(Debug, Clone)]
pub(crate) struct Borders {
    qualifier: Option<u8>,
    delimiter: u8,
    terminator: Terminator,
    trim: bool,
    state: State,
    /// Whether the last byte was `\r`, so that a `\n` belongs to the same line end.
    after_return: bool,
    /// Lines passed.
    pub lines: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside quotes; a quote opens a field here, or does not.
    Outside {
        field_start: bool,
    },
    Inside,
    /// Behind a quote inside quotes: another one makes a pair, anything else shows that it was the closing one.
    AfterQuote,
}

impl Borders {
    /// A walk that begins in front of a record. `None` for dialects in which borders cannot be told from so little.
    pub(crate) fn new(dialect: &Dialect) -> Option<Borders> {
        let quotes_matter = dialect.qualifier.is_some() || dialect.escape == Escape::Backslash;
        if dialect.comment.is_some() || dialect.escape == Escape::Backslash || quotes_matter && !dialect.is_standard() {
            return None;
        }
        Some(Borders {
            qualifier: dialect.qualifier,
            delimiter: dialect.delimiter[0],
            terminator: dialect.terminator,
            trim: dialect.trim,
            state: State::Outside { field_start: true },
            after_return: false,
            lines: 0,
        })
    }

    /// Whether the walk is inside quotes.
    pub(crate) fn is_inside(&self) -> bool {
        self.state == State::Inside
    }

    /// Goes over the whole chunk.
    pub(crate) fn pass(&mut self, chunk: &[u8]) {
        if chunk.is_empty() {
            return;
        }
        self.count_lines(chunk);
        let Some(qualifier) = self.qualifier else { return };
        let mut at = 0;
        loop {
            match self.state {
                State::AfterQuote => {
                    let Some(byte) = chunk.get(at) else { return };
                    if *byte == qualifier {
                        self.state = State::Inside;
                        at += 1;
                    } else {
                        self.state = State::Outside { field_start: false };
                    }
                }
                State::Inside => {
                    let Some(quote) = memchr(qualifier, &chunk[at..]) else { return };
                    self.state = State::AfterQuote;
                    at += quote + 1;
                }
                State::Outside { field_start } => match memchr(qualifier, &chunk[at..]) {
                    Some(quote) if self.is_field_start(&chunk[at..at + quote], field_start) => {
                        self.state = State::Inside;
                        at += quote + 1;
                    }
                    // A quote in the middle of a field, which stays one after it.
                    Some(quote) => {
                        self.state = State::Outside { field_start: false };
                        at += quote + 1;
                    }
                    None => {
                        self.state = State::Outside { field_start: self.is_field_start(&chunk[at..], field_start) };
                        return;
                    }
                },
            }
        }
    }

    /// Goes on to the next border between two records: its place in the chunk. `None`: it is not in this chunk, and the
    /// walk has gone over all of it. A `\r` at the very end of a chunk is no border yet: a `\n` may follow.
    pub(crate) fn next_border(&mut self, chunk: &[u8]) -> Option<usize> {
        let mut at = 0;
        if self.after_return && matches!(self.state, State::Outside { .. }) && !chunk.is_empty() {
            let end = usize::from(chunk[0] == b'\n');
            self.pass(&chunk[..end]);
            self.after_return = false;
            return Some(end);
        }
        while at < chunk.len() {
            // Line ends inside quotes are passed over with the quotes; the first one outside is the border.
            let line = match self.terminator {
                Terminator::Line => memchr2(b'\n', b'\r', &chunk[at..]),
                Terminator::Byte(byte) => memchr(byte, &chunk[at..]),
            };
            let Some(line) = line.map(|line| at + line) else {
                self.pass(&chunk[at..]);
                return None;
            };
            self.pass(&chunk[at..line]);
            let outside = match self.state {
                State::Outside { .. } | State::AfterQuote => true,
                State::Inside => false,
            };
            let pair =
                chunk[line] == b'\r' && self.terminator == Terminator::Line && chunk.get(line + 1) == Some(&b'\n');
            let end = line + if pair { 2 } else { 1 };
            self.pass(&chunk[line..end]);
            at = end;
            let undecided = self.after_return && end == chunk.len();
            if outside && !undecided {
                self.after_return = false;
                return Some(end);
            }
        }
        None
    }

    /// Whether a quote right behind these bytes, which lie outside quotes, opens a field.
    fn is_field_start(&self, before: &[u8], at_front: bool) -> bool {
        for byte in before.iter().rev() {
            if *byte == self.delimiter || self.ends_record(*byte) {
                return true;
            }
            if !(self.trim && is_blank(*byte)) {
                return false;
            }
        }
        at_front
    }

    fn ends_record(&self, byte: u8) -> bool {
        match self.terminator {
            Terminator::Line => byte == b'\n' || byte == b'\r',
            Terminator::Byte(terminator) => byte == terminator,
        }
    }

    fn count_lines(&mut self, chunk: &[u8]) {
        match self.terminator {
            Terminator::Byte(byte) => self.lines += memchr_iter(byte, chunk).count() as u64,
            Terminator::Line => {
                self.lines += memchr_iter(b'\n', chunk).count() as u64;
                if self.after_return && chunk[0] == b'\n' {
                    self.lines -= 1;
                }
                // Few files have any `\r`, and then each is followed by `\n`, which was counted.
                for place in memchr_iter(b'\r', chunk) {
                    self.lines += u64::from(chunk.get(place + 1) != Some(&b'\n'));
                }
                self.after_return = chunk[chunk.len() - 1] == b'\r';
            }
        }
    }
}

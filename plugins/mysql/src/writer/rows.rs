//! Records as the server takes them: lines of a file for `LOAD DATA`, or lists of values for `INSERT`.

use std::ops::Range;

use memchr::memchr3;

use super::encode::Sent;

/// A value of more bytes than this is not like others.
const LARGE: usize = 1 << 20;

/// What is kept of a buffer for the next records.
const LARGEST_KEPT: usize = 8 << 20;

/// The form of what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Fields with tabs between them, lines with line feeds behind them.
    Lines,
    /// `(1,'a'),(2,'b')`.
    Values,
}

/// Records that are written out, one behind the other.
#[derive(Debug)]
pub(super) struct Rows {
    form: Form,
    bytes: Vec<u8>,
    /// Where each one ends.
    ends: Vec<usize>,
    /// Where the one that is being written begins.
    begin: usize,
    /// How many values that one has.
    values: usize,
}

impl Rows {
    pub(super) fn new(form: Form) -> Rows {
        Rows { form, bytes: Vec::new(), ends: Vec::new(), begin: 0, values: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(LARGEST_KEPT);
        self.ends.clear();
        self.begin = 0;
        self.values = 0;
    }

    /// The size of all records.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The records of a range.
    pub(super) fn range(&self, range: Range<usize>) -> &[u8] {
        let start = range.start.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = range.end.checked_sub(1).map_or(0, |last| self.ends[last]);
        let bytes = &self.bytes[start..end.max(start)];
        // The comma before the first belongs to the one before it.
        match self.form {
            Form::Values if start > 0 => bytes.strip_prefix(b",").unwrap_or(bytes),
            _ => bytes,
        }
    }

    /// The next value of the record.
    #[inline]
    pub(super) fn push(&mut self, sent: Sent<'_>) {
        match self.form {
            Form::Lines => self.push_field(sent),
            Form::Values => self.push_value(sent),
        }
        self.values += 1;
    }

    /// The record has all its values.
    pub(super) fn end_row(&mut self) {
        self.bytes.push(if self.form == Form::Lines { b'\n' } else { b')' });
        self.ends.push(self.bytes.len());
        self.begin = self.bytes.len();
        self.values = 0;
    }

    /// Forgets the record that was begun.
    pub(super) fn drop_row(&mut self) {
        self.bytes.truncate(self.begin);
        self.values = 0;
    }

    #[inline]
    fn push_field(&mut self, sent: Sent<'_>) {
        if self.values > 0 {
            self.bytes.push(b'\t');
        }
        match sent {
            Sent::Null => self.bytes.extend_from_slice(b"\\N"),
            Sent::Number(text) | Sent::Plain(text) => self.bytes.extend_from_slice(text.as_bytes()),
            Sent::Text(text) => push_escaped(&mut self.bytes, text.as_bytes()),
            Sent::Bytes(bytes) => push_escaped(&mut self.bytes, bytes),
        }
    }

    fn push_value(&mut self, sent: Sent<'_>) {
        let opening: &[u8] = match (self.values > 0, self.ends.is_empty()) {
            (true, _) => b",",
            (false, true) => b"(",
            (false, false) => b",(",
        };
        self.bytes.extend_from_slice(opening);
        match sent {
            Sent::Null => self.bytes.extend_from_slice(b"NULL"),
            Sent::Number(text) => self.bytes.extend_from_slice(text.as_bytes()),
            Sent::Plain(text) => {
                self.bytes.push(b'\'');
                self.bytes.extend_from_slice(text.as_bytes());
                self.bytes.push(b'\'');
            }
            Sent::Text(text) => {
                self.bytes.push(b'\'');
                push_quoted(&mut self.bytes, text.as_bytes());
                self.bytes.push(b'\'');
            }
            Sent::Bytes(bytes) => {
                self.bytes.extend_from_slice(b"_binary'");
                push_quoted(&mut self.bytes, bytes);
                self.bytes.push(b'\'');
            }
        }
    }
}

/// A field of a file: what ends fields and lines, and what escapes, has a backslash before it.
#[inline]
fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    make_room(out, text, |byte| matches!(byte, b'\\' | b'\t' | b'\n'));
    let mut rest = text;
    while let Some(at) = memchr3(b'\\', b'\t', b'\n', rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(match rest[at] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            _ => b"\\\\",
        });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// A text in single quotes: these, backslashes and NUL have a backslash before them.
fn push_quoted(out: &mut Vec<u8>, text: &[u8]) {
    make_room(out, text, |byte| matches!(byte, b'\\' | b'\'' | 0));
    let mut rest = text;
    while let Some(at) = memchr3(b'\\', b'\'', 0, rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(match rest[at] {
            b'\'' => b"\\'",
            0 => b"\\0",
            _ => b"\\\\",
        });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// For a large value as much room as it needs: growing by doubling would take twice as much.
#[inline]
fn make_room(out: &mut Vec<u8>, text: &[u8], is_escaped: impl Fn(&u8) -> bool) {
    if text.len() >= LARGE {
        // And some for what ends the record.
        out.reserve_exact(text.len() + text.iter().filter(|byte| is_escaped(byte)).count() + 1024);
    }
}

#[cfg(test)]
mod tests;

//! Finds the rows and cells in what `COPY … TO STDOUT (FORMAT binary)` sends.

use bytes::{Buf, Bytes};
use transship_plugin_api::{Error, Result};

/// The signature, flags, and the length of an extension.
const HEADER_BYTES: usize = 19;
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// A stream of rows, cut into messages anywhere. Servers send one row a message, but nothing says that they have to.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    data: Bytes,
    header_seen: bool,
    ended: bool,
    /// The cells of the row found last; `None` is NULL.
    cells: Vec<Option<(usize, usize)>>,
    /// Where the row found last ends in the data.
    end: usize,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A row: look at its cells, then go on.
    Row,
    /// The rest of the data is no whole row.
    NeedsMore,
    /// There are no more rows.
    End,
}

impl Rows {
    /// Adds what the server sent.
    pub(crate) fn feed(&mut self, message: Bytes) {
        self.pass();
        if self.data.is_empty() {
            self.data = message;
        } else {
            self.data = [&self.data[..], &message[..]].concat().into();
        }
    }

    /// Finds the next row.
    pub(crate) fn next(&mut self, columns: usize) -> Result<Found> {
        self.pass();
        if self.ended {
            return Ok(Found::End);
        }
        if !self.header_seen {
            let Some(header) = self.data.get(..HEADER_BYTES) else { return Ok(Found::NeedsMore) };
            if !header.starts_with(SIGNATURE) {
                return Err(malformed("it does not begin as binary COPY data does"));
            }
            let extension = u32::from_be_bytes([header[15], header[16], header[17], header[18]]) as usize;
            if self.data.len() < HEADER_BYTES + extension {
                return Ok(Found::NeedsMore);
            }
            self.data.advance(HEADER_BYTES + extension);
            self.header_seen = true;
        }
        let data = &self.data[..];
        let Some(count) = data.get(..2) else { return Ok(Found::NeedsMore) };
        let count = i16::from_be_bytes([count[0], count[1]]);
        if count == -1 {
            self.ended = true;
            return Ok(Found::End);
        }
        if count as usize != columns {
            return Err(malformed(format_args!("a row has {count} columns in the place of {columns}")));
        }
        self.cells.clear();
        let mut at = 2;
        for _ in 0..columns {
            let Some(length) = data.get(at..at + 4) else { return Ok(Found::NeedsMore) };
            let length = i32::from_be_bytes([length[0], length[1], length[2], length[3]]);
            at += 4;
            match length {
                -1 => self.cells.push(None),
                0.. if at + length as usize <= data.len() => {
                    self.cells.push(Some((at, at + length as usize)));
                    at += length as usize;
                }
                0.. => return Ok(Found::NeedsMore),
                _ => return Err(malformed(format_args!("a cell has the length {length}"))),
            }
        }
        self.end = at;
        Ok(Found::Row)
    }

    /// The cells of the row found last.
    #[inline]
    pub(crate) fn cells(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let data = &self.data[..];
        self.cells.iter().map(move |cell| cell.map(|(begin, end)| &data[begin..end]))
    }

    /// A cell of the row found last, without a copy.
    pub(crate) fn share(&self, cell: &[u8]) -> Bytes {
        self.data.slice_ref(cell)
    }

    /// How many bytes the row found last took.
    pub(crate) fn row_bytes(&self) -> usize {
        self.end
    }

    /// Leaves the row that was found last, and gives its memory back if nothing follows it yet.
    #[inline]
    pub(crate) fn pass(&mut self) {
        self.data.advance(std::mem::take(&mut self.end));
        if self.data.is_empty() {
            self.data = Bytes::new();
        }
    }
}

fn malformed(problem: impl std::fmt::Display) -> Error {
    Error::io(format!("the server's rows cannot be read: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two columns: (1, NULL), ("ab", "").
    fn stream() -> Vec<u8> {
        let mut data = super::super::HEADER.to_vec();
        data.extend_from_slice(b"\0\x02\0\0\0\x01x\xff\xff\xff\xff");
        data.extend_from_slice(b"\0\x02\0\0\0\x02ab\0\0\0\0");
        data.extend_from_slice(&super::super::TRAILER);
        data
    }

    fn read(messages: impl Iterator<Item = Vec<u8>>) -> Vec<Vec<Option<Vec<u8>>>> {
        let (mut rows, mut found) = (Rows::default(), Vec::new());
        for message in messages {
            rows.feed(message.into());
            while rows.next(2).unwrap() == Found::Row {
                found.push(rows.cells().map(|cell| cell.map(<[u8]>::to_vec)).collect());
            }
        }
        assert_eq!(rows.next(2).unwrap(), Found::End);
        found
    }

    #[test]
    fn rows_are_found_however_the_stream_is_cut() {
        let whole = vec![vec![Some(b"x".to_vec()), None], vec![Some(b"ab".to_vec()), Some(Vec::new())]];
        for size in 1..stream().len() + 1 {
            assert_eq!(read(stream().chunks(size).map(<[u8]>::to_vec)), whole, "in pieces of {size} bytes");
        }
    }

    #[test]
    fn a_stream_that_breaks_off_has_not_ended() {
        let mut rows = Rows::default();
        let stream = stream();
        rows.feed(stream[..stream.len() - 2].to_vec().into());
        while rows.next(2).unwrap() == Found::Row {}
        assert_eq!(rows.next(2).unwrap(), Found::NeedsMore);
    }

    #[test]
    fn other_data_is_refused() {
        let mut rows = Rows::default();
        rows.feed(Bytes::from_static(b"1\t2\n1\t2\n1\t2\n1\t2\n1\t2\n"));
        rows.next(2).unwrap_err();
        let mut rows = Rows::default();
        rows.feed(stream().into());
        assert!(rows.next(3).unwrap_err().message().contains("2 columns in the place of 3"));
    }
}

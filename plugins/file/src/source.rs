//! The text of a file in UTF-8, whatever its packing and encoding, and where in the file each byte of it came from.
//! Not here: what the text means (`csv`).

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error, Result};

use crate::compression::{self, Bytes, Compression, Entries, NotPacked};
use crate::encoding::{Decoder, Encoding, Stopped, UNDECODABLE};

/// A file, or a range of its bytes that begins and ends between two records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    pub path: String,
    #[serde(default)]
    pub start: u64,
    /// `None`: all of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// The number of the line at `start`, from 1.
    #[serde(default = "first_line")]
    pub line: u64,
}

fn first_line() -> u64 {
    1
}

impl Piece {
    /// All of a file.
    pub(crate) fn whole(path: impl Into<String>) -> Piece {
        Piece { path: path.into(), start: 0, end: None, line: 1 }
    }

    /// An error about this file.
    pub(crate) fn error(&self, error: &io::Error) -> Error {
        let message = format!("{}: {error}", self.path);
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Error::data(message)
            }
            io::ErrorKind::Unsupported => Error::unsupported(message),
            _ => Error::io(message),
        }
    }
}

/// The texts in a piece: one, or as many as a zip file has entries.
pub(crate) struct Texts {
    piece: Piece,
    encoding: Encoding,
    next: Next,
}

enum Next {
    Only(Bytes),
    Entries(Entries),
    Nothing,
}

impl Texts {
    pub(crate) fn open(piece: &Piece, compression: Compression, encoding: Encoding) -> Result<Texts> {
        let path = Path::new(&piece.path);
        let next = match compression.of(&piece.path) {
            Compression::None | Compression::BySuffix => open_range(piece).map(Next::Only),
            Compression::Gzip => compression::gzip(path).map(Next::Only),
            Compression::Bzip2 => compression::bzip2(path).map(Next::Only),
            Compression::Zip => Entries::open(path).map(Next::Entries),
        };
        let next = next.map_err(|error| piece.error(&error))?;
        Ok(Texts { piece: piece.clone(), encoding, next })
    }

    /// The next text: the name of its zip entry, if it is one, and its content.
    pub(crate) fn next(&mut self) -> Result<Option<(Option<String>, Text)>> {
        let (entry, bytes) = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Only(bytes) => (None, bytes),
            Next::Entries(mut entries) => match entries.next().map_err(|error| self.piece.error(&error))? {
                Some((name, bytes)) => {
                    self.next = Next::Entries(entries);
                    (Some(name), bytes)
                }
                None => return Ok(None),
            },
            Next::Nothing => return Ok(None),
        };
        let text = Text::new(bytes, self.encoding, self.piece.start).map_err(|error| self.piece.error(&error))?;
        Ok(Some((entry, text)))
    }
}

/// So much of a file is read first, so that of a small one nothing is left to be read.
const FRONT: usize = 8 << 10;

fn open_range(piece: &Piece) -> io::Result<Bytes> {
    let mut file = File::open(&piece.path)?;
    // A range is looked at too: it would be read as garbage before the range at the front says what is wrong.
    let front = read_front(&mut file)?;
    compression::refuse_packed(&front)?;
    let is_range = piece.start > 0 || piece.end.is_some();
    if is_range {
        file.seek(SeekFrom::Start(piece.start))?;
    }
    Ok(match piece.end {
        // What is no file on a disk cannot be read twice.
        None if !is_range => Box::new(NotPacked(io::Cursor::new(front).chain(file))),
        None => Box::new(NotPacked(file)),
        Some(end) => Box::new(NotPacked(ByteRange { file, at: piece.start, end })),
    })
}

/// The front of a file, long enough to tell how it is packed unless that is all of it.
fn read_front(file: &mut File) -> io::Result<Vec<u8>> {
    let mut front = vec![0; FRONT];
    let mut filled = 0;
    while filled < compression::HEAD {
        match file.read(&mut front[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    front.truncate(filled);
    Ok(front)
}

/// A range of a file that must still be there.
struct ByteRange {
    file: File,
    at: u64,
    end: u64,
}

impl Read for ByteRange {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(into.len());
        let count = self.file.read(&mut into[..left])?;
        self.at += count as u64;
        if count == 0 && left > 0 {
            let message = format!(
                "is shorter than it was: it ends at byte {}, but its records up to byte {} were to be read; \
                 has it been changed meanwhile?",
                self.at, self.end
            );
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        Ok(count)
    }
}

/// How many bytes whoever reads must have room for: any character fits, and what a decoder wants beyond it.
pub(crate) const LEAST_ROOM: usize = 16;

/// A text in UTF-8. A byte-order mark is no part of it. Bytes that could not be decoded are [`UNDECODABLE`] in it.
pub(crate) struct Text {
    bytes: Bytes,
    /// Bytes read ahead to see whether there is a byte-order mark.
    head: VecDeque<u8>,
    /// Where the text begins in the file (or in the unpacked bytes).
    start: u64,
    decoding: Option<Decoding>,
}

struct Decoding {
    encoding: Encoding,
    decoder: Decoder,
    raw: Vec<u8>,
    /// What of `raw` is decoded next, up to where characters are known to be complete, and what is filled.
    next: usize,
    ready: usize,
    filled: usize,
    /// Whether no character goes on behind `ready`.
    complete: bool,
    last: bool,
    finished: bool,
    /// How much was decoded so far, and from how many bytes.
    decoded: u64,
    read: u64,
    /// The bytes that were decoded lately, from the `forgotten`th on: as far back as the anchors go.
    decoded_bytes: Vec<u8>,
    forgotten: u64,
    /// Places in the text whose place in the file is known, in order.
    anchors: VecDeque<(u64, u64)>,
}

impl Text {
    fn new(mut bytes: Bytes, encoding: Encoding, start: u64) -> io::Result<Text> {
        let mut head = Vec::new();
        if start == 0 {
            (&mut bytes).take(3).read_to_end(&mut head)?;
        }
        let mark = match encoding {
            _ if head.starts_with(&[0xef, 0xbb, 0xbf]) && encoding == Encoding::Utf8 => 3,
            Encoding::Utf16(_) if head.starts_with(&[0xfe, 0xff]) || head.starts_with(&[0xff, 0xfe]) => 2,
            Encoding::Utf8 | Encoding::Ascii if head.starts_with(&[0xfe, 0xff]) || head.starts_with(&[0xff, 0xfe]) => {
                let message = format!(
                    "begins with the byte-order mark of UTF-16, but is read as {}; set \"encoding\" to \"UTF-16\"",
                    encoding.name()
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            _ => 0,
        };
        let decoding = Decoder::new(encoding, &head).map(|decoder| Decoding {
            encoding,
            decoder,
            raw: vec![0; 64 << 10],
            next: 0,
            ready: 0,
            filled: 0,
            complete: true,
            last: false,
            finished: false,
            decoded: 0,
            read: 0,
            decoded_bytes: Vec::new(),
            forgotten: 0,
            anchors: VecDeque::from([(0, 0)]),
        });
        Ok(Text { bytes, head: head.split_off(mark).into(), start: start + mark as u64, decoding })
    }

    /// Reads some of the text, at least a byte unless it has ended. `into` has [`LEAST_ROOM`] or more.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.decoding {
            None => read_some(&mut self.head, &mut self.bytes, into),
            Some(decoding) => decoding.read(&mut self.head, &mut self.bytes, into),
        }
    }

    /// The place in the file of a place in the text. `known` is the text from the latest anchor before it (see
    /// [`Text::anchor`]) up to it.
    pub(crate) fn place(&self, at: u64, known: &[u8]) -> u64 {
        let Some(decoding) = &self.decoding else { return self.start + at };
        let (_, place) = decoding.anchor(at);
        self.start + place + decoding.encoding.encoded_length(known)
    }

    /// About how many bytes of the file were read for what stands before this place in the unpacked bytes.
    pub(crate) fn used_for(&self, place: u64) -> u64 {
        self.bytes.used_for(place)
    }

    /// The bytes of the file between these places, of which `text` was made; `None` if they are no longer known.
    pub(crate) fn bytes_in_file(&self, text: &[u8], places: Range<u64>) -> Option<Vec<u8>> {
        let Some(decoding) = &self.decoding else { return Some(text.to_vec()) };
        let index = |place: u64| usize::try_from(place.checked_sub(self.start + decoding.forgotten)?).ok();
        decoding.decoded_bytes.get(index(places.start)?..index(places.end)?).map(<[u8]>::to_vec)
    }

    /// The latest place in the text, not after this one, whose place in the file is known without looking at the text.
    pub(crate) fn anchor(&self, at: u64) -> u64 {
        self.decoding.as_ref().map_or(at, |decoding| decoding.anchor(at).0)
    }

    /// Forgets what [`Text::anchor`] needs for places before this one.
    pub(crate) fn forget_before(&mut self, at: u64) {
        if let Some(decoding) = &mut self.decoding {
            while decoding.anchors.get(1).is_some_and(|(decoded, _)| *decoded <= at) {
                decoding.anchors.pop_front();
            }
            decoding.forget_bytes();
        }
    }
}

fn read_some(head: &mut VecDeque<u8>, bytes: &mut Bytes, into: &mut [u8]) -> io::Result<usize> {
    if !head.is_empty() {
        return head.read(into);
    }
    loop {
        match bytes.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

impl Decoding {
    fn read(&mut self, head: &mut VecDeque<u8>, bytes: &mut Bytes, into: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written == 0 && !self.finished {
            if self.next == self.ready && !self.last {
                self.fill(head, bytes)?;
            }
            let room = into.len() - 1;
            let (stopped, read, decoded) =
                self.decoder.decode(&self.raw[self.next..self.ready], &mut into[..room], self.last);
            // In ISO-8859-1 nothing is undecodable, so nobody will ask.
            if self.encoding != Encoding::Latin1 {
                self.decoded_bytes.extend_from_slice(&self.raw[self.next..self.next + read]);
            }
            self.next += read;
            self.read += read as u64;
            written = decoded;
            if stopped == Stopped::Malformed {
                into[written] = UNDECODABLE;
                written += 1;
            }
            self.finished = self.last && stopped == Stopped::InputEmpty;
            self.decoded += written as u64;
            if self.complete || stopped != Stopped::InputEmpty {
                self.anchors.push_back((self.decoded, self.read));
            }
        }
        Ok(written)
    }

    /// Reads more bytes, and notes how many of them are complete characters: the place of a character that lies across
    /// two reads could not be told exactly.
    fn fill(&mut self, head: &mut VecDeque<u8>, bytes: &mut Bytes) -> io::Result<()> {
        self.raw.copy_within(self.next..self.filled, 0);
        self.filled -= self.next;
        self.next = 0;
        loop {
            let count = read_some(head, bytes, &mut self.raw[self.filled..])?;
            self.filled += count;
            self.last = count == 0;
            self.ready =
                if self.last { self.filled } else { complete_characters(self.encoding, &self.raw[..self.filled]) };
            self.complete = self.ready > 0;
            if !self.complete && self.filled == self.raw.len() {
                self.ready = self.filled;
            }
            if self.ready > 0 || self.last {
                return Ok(());
            }
        }
    }

    /// Forgets the bytes before the first anchor.
    fn forget_bytes(&mut self) {
        let Some((_, read)) = self.anchors.front() else { return };
        let count = usize::try_from(read - self.forgotten).unwrap_or(usize::MAX).min(self.decoded_bytes.len());
        self.decoded_bytes.drain(..count);
        self.forgotten += count as u64;
    }

    fn anchor(&self, at: u64) -> (u64, u64) {
        let after = self.anchors.partition_point(|(decoded, _)| *decoded <= at);
        self.anchors[after.saturating_sub(1)]
    }
}

/// How many of these bytes are complete characters for certain. In every encoding but UTF-16 a line feed is a character
/// of its own wherever it stands.
fn complete_characters(encoding: Encoding, bytes: &[u8]) -> usize {
    match encoding {
        Encoding::Latin1 | Encoding::Ascii | Encoding::Utf8 => bytes.len(),
        Encoding::Utf16(_) => {
            let pairs = bytes.len() & !1;
            let may_go_on = |byte: u8| (0xd8..=0xdb).contains(&byte);
            match bytes[..pairs] {
                [.., first, second] if may_go_on(first) || may_go_on(second) => pairs - 2,
                _ => pairs,
            }
        }
        Encoding::Other(_) => memchr::memrchr(b'\n', bytes).map_or(0, |last| last + 1),
    }
}

#[cfg(test)]
mod tests;

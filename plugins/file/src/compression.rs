//! Packed files: what the names in a job mean, and the plain bytes of a gzip, bzip2 or zip file. All members of a file
//! are read, and one that is cut short or damaged is an error that names the byte.
//! Not here: packing (`output`), what packed files begin with (`compression/magic`), the entries of a zip file
//! (`compression/zip`).

mod magic;
mod zip;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

pub(crate) use self::magic::{HEAD, refuse_packed};
pub(crate) use self::zip::Entries;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Bzip2,
    Zip,
    /// As the end of the file's name says.
    BySuffix,
}

impl Compression {
    /// How this file is packed; never `BySuffix`.
    pub(crate) fn of(self, path: &str) -> Compression {
        let ends_with = |suffix: &str| {
            path.len() > suffix.len()
                && path.is_char_boundary(path.len() - suffix.len())
                && path[path.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
        };
        match self {
            Compression::BySuffix if ends_with(".gz") => Compression::Gzip,
            Compression::BySuffix if ends_with(".bz2") => Compression::Bzip2,
            Compression::BySuffix if ends_with(".zip") => Compression::Zip,
            Compression::BySuffix => Compression::None,
            told => told,
        }
    }
}

/// The plain bytes of a file, to be read on any thread.
pub(crate) type Bytes = Box<dyn Plain>;

/// Plain bytes that know what they were made of.
pub(crate) trait Plain: Read + Send {
    /// About how many bytes of the file the plain ones before this place were made of; they have been read.
    fn used_for(&self, place: u64) -> u64;
}

/// Bytes that are in the file as they stand.
pub(crate) struct NotPacked<R>(pub R);

impl<R: Read> Read for NotPacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl<R: Read + Send> Plain for NotPacked<R> {
    fn used_for(&self, place: u64) -> u64 {
        place
    }
}

/// `part / whole` of a number, and all of it where there is no whole.
fn share(number: u64, part: u64, whole: u64) -> u64 {
    if part >= whole { number } else { (u128::from(number) * u128::from(part) / u128::from(whole)) as u64 }
}

/// The plain bytes of a gzip file.
pub(crate) fn gzip(path: &Path) -> io::Result<Bytes> {
    Ok(Box::new(Members::<GzDecoder<Packed>>::open(path)?))
}

/// The plain bytes of a bzip2 file.
pub(crate) fn bzip2(path: &Path) -> io::Result<Bytes> {
    Ok(Box::new(Members::<BzDecoder<Packed>>::open(path)?))
}

/// A file that knows how many of its bytes were used.
struct Packed {
    file: BufReader<File>,
    used: u64,
}

impl Packed {
    fn new(file: File) -> Packed {
        Packed { file: BufReader::with_capacity(256 << 10, file), used: 0 }
    }
}

impl Read for Packed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        self.used += count as u64;
        Ok(count)
    }
}

impl BufRead for Packed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.used += count as u64;
        self.file.consume(count);
    }
}

/// Unpacks one member of a file.
trait Member: Read {
    const FORMAT: &'static str;
    /// What every member begins with.
    const MAGIC: &'static [u8];

    /// How many plain bytes are unpacked at a time, as the front of a file says; 0: some come as soon as any are read.
    fn block(front: &[u8]) -> u64;
    fn start(packed: Packed) -> Self;
    fn packed(&self) -> &Packed;
    fn finish(self) -> Packed;
}

impl Member for GzDecoder<Packed> {
    const FORMAT: &'static str = "gzip";
    const MAGIC: &'static [u8] = &[0x1f, 0x8b];

    fn block(_front: &[u8]) -> u64 {
        0
    }
    fn start(packed: Packed) -> Self {
        GzDecoder::new(packed)
    }
    fn packed(&self) -> &Packed {
        self.get_ref()
    }
    fn finish(self) -> Packed {
        self.into_inner()
    }
}

impl Member for BzDecoder<Packed> {
    const FORMAT: &'static str = "bzip2";
    const MAGIC: &'static [u8] = b"BZh";

    fn block(front: &[u8]) -> u64 {
        match front {
            [b'B', b'Z', b'h', level @ b'1'..=b'9', ..] => u64::from(level - b'0') * 100_000,
            _ => 0,
        }
    }
    fn start(packed: Packed) -> Self {
        BzDecoder::new(packed)
    }
    fn packed(&self) -> &Packed {
        self.get_ref()
    }
    fn finish(self) -> Packed {
        self.into_inner()
    }
}

/// Unpacks a file of any number of members, one after another. Zero bytes after the last one are padding, as tapes have
/// it; anything else there is an error.
struct Members<M> {
    /// `None` once everything is read.
    member: Option<M>,
    unpacked: u64,
    /// How many bytes of the file were used by then.
    used: u64,
    block: u64,
    /// How many bytes were unpacked, and how many used for them, before the latest were used.
    before: (u64, u64),
}

impl<M: Member> Members<M> {
    fn open(path: &Path) -> io::Result<Self> {
        let mut packed = Packed::new(File::open(path)?);
        magic::refuse_unless(M::FORMAT, M::MAGIC, packed.fill_buf()?)?;
        let block = M::block(packed.fill_buf()?);
        Ok(Members { member: Some(M::start(packed)), unpacked: 0, used: 0, block, before: (0, 0) })
    }

    fn damaged(&self, error: &io::Error) -> io::Error {
        let used = self.member.as_ref().map_or(0, |member| member.packed().used);
        let what = match error.kind() {
            io::ErrorKind::UnexpectedEof => "is cut short: it ends in the middle of a member".to_owned(),
            _ => format!("is damaged: {error}"),
        };
        let message = format!(
            "the {} data {what}, at byte {used} of the file ({} bytes were unpacked before)",
            M::FORMAT,
            self.unpacked
        );
        io::Error::new(error.kind(), message)
    }

    /// Goes on to the next member; `false` if there is none.
    fn next_member(&mut self) -> io::Result<bool> {
        let Some(member) = self.member.take() else { return Ok(false) };
        let mut packed = member.finish();
        let mut padding = false;
        loop {
            let ahead = packed.fill_buf()?;
            if ahead.is_empty() {
                self.used = packed.used;
                return Ok(false);
            }
            let zeros = ahead.iter().take_while(|byte| **byte == 0).count();
            if zeros == ahead.len() {
                packed.consume(zeros);
                padding = true;
                continue;
            }
            let another = zeros == 0 && !padding && ahead[0] == M::MAGIC[0];
            if another {
                self.member = Some(M::start(packed));
                return Ok(true);
            }
            let message = format!(
                "something else follows the {} data, at byte {} of the file",
                M::FORMAT,
                packed.used + zeros as u64
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
    }
}

impl<M: Member> Read for Members<M> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(into) {
                Ok(0) if into.is_empty() => return Ok(0),
                Ok(0) => {
                    if !self.next_member()? {
                        break;
                    }
                }
                Ok(count) => {
                    let used = member.packed().used;
                    if used > self.used {
                        self.before = (self.unpacked, self.used);
                        self.used = used;
                    }
                    self.unpacked += count as u64;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                Err(error) => return Err(self.damaged(&error)),
            }
        }
        Ok(0)
    }
}

impl<M: Member + Send> Plain for Members<M> {
    fn used_for(&self, place: u64) -> u64 {
        if self.member.is_none() && place >= self.unpacked {
            return self.used;
        }
        // Of a block, all packed bytes are used before the first plain one comes.
        let (unpacked, used) = self.before;
        let used = used + share(self.used - used, self.unpacked - unpacked, self.block);
        share(used, place, self.unpacked)
    }
}

//! The entries of a zip file, one after another; each is read as a file of its own.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::{Bytes, Plain, magic, share};

/// What is left to read of a zip file.
pub(crate) struct Entries {
    path: PathBuf,
    entries: std::vec::IntoIter<Entry>,
    /// How many bytes the file has, how many all entries unpacked, and how many those before the next one.
    size: u64,
    unpacked_size: u64,
    unpacked: u64,
}

struct Entry {
    name: String,
    start: u64,
    packed_size: u64,
    size: u64,
    checksum: u32,
    method: CompressionMethod,
    encrypted: bool,
}

impl Entries {
    /// Reads the directory at the end of a zip file.
    pub(crate) fn open(path: &Path) -> io::Result<Entries> {
        let mut file = BufReader::new(File::open(path)?);
        let head = file.fill_buf()?.to_vec();
        let size = file.get_ref().metadata()?.len();
        // Something may stand before the zip data, so only what has none is asked how it begins.
        let mut archive = ZipArchive::new(file)
            .map_err(|error| magic::refuse_unless("zip", b"PK", &head).err().unwrap_or_else(|| damaged(error)))?;
        let mut entries = Vec::with_capacity(archive.len());
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(damaged)?;
            if entry.is_dir() {
                continue;
            }
            entries.push(Entry {
                name: String::from_utf8_lossy(entry.name_raw()).into_owned(),
                start: entry.data_start().ok_or_else(|| io::Error::other("an entry of the zip file has no data"))?,
                packed_size: entry.compressed_size(),
                size: entry.size(),
                checksum: entry.crc32(),
                method: entry.compression(),
                encrypted: entry.encrypted(),
            });
        }
        let unpacked_size = entries.iter().map(|entry| entry.size).fold(0, u64::saturating_add);
        Ok(Entries { path: path.to_owned(), entries: entries.into_iter(), size, unpacked_size, unpacked: 0 })
    }

    /// The next entry: its name and its plain bytes.
    pub(crate) fn next(&mut self) -> io::Result<Option<(String, Bytes)>> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        if entry.encrypted {
            let message = format!("the entry {} is encrypted; unpack the zip file first", entry.name);
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(entry.start))?;
        let packed = BufReader::with_capacity(256 << 10, file.take(entry.packed_size));
        let plain: Box<dyn Read + Send> = match entry.method {
            CompressionMethod::Stored => Box::new(packed),
            CompressionMethod::Deflated => Box::new(DeflateDecoder::new(packed)),
            other => {
                let message = format!("the entry {} is packed with {other:?}; only deflate is known", entry.name);
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
        };
        let name = entry.name.clone();
        let file = (self.size, self.unpacked, self.unpacked_size);
        self.unpacked = self.unpacked.saturating_add(entry.size);
        Ok(Some((name, Box::new(Checked { plain, checksum: Crc::new(), unpacked: 0, entry, file }))))
    }
}

fn damaged(error: zip::result::ZipError) -> io::Error {
    let message = format!("the zip data is cut short or damaged: {error}");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The plain bytes of an entry, whose number and checksum must be those in the directory.
struct Checked {
    plain: Box<dyn Read + Send>,
    checksum: Crc,
    unpacked: u64,
    entry: Entry,
    /// Of the file: its bytes, the plain ones of the entries before, and those of all.
    file: (u64, u64, u64),
}

impl Checked {
    fn damaged(&self, what: &str) -> io::Error {
        let message = format!(
            "the zip entry {} is damaged: {what}, after {} bytes of it (it begins at byte {} of the file)",
            self.entry.name, self.unpacked, self.entry.start
        );
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

impl Read for Checked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.plain.read(into).map_err(|error| self.damaged(&error.to_string()))?;
        self.checksum.update(&into[..count]);
        self.unpacked += count as u64;
        if count == 0 && !into.is_empty() {
            if self.unpacked != self.entry.size {
                return Err(self.damaged(&format!("it should have {} bytes", self.entry.size)));
            }
            if self.checksum.sum() != self.entry.checksum {
                return Err(self.damaged("its checksum is wrong"));
            }
        }
        Ok(count)
    }
}

impl Plain for Checked {
    /// The file's bytes are divided by the plain ones: so those of its directory count too.
    fn used_for(&self, place: u64) -> u64 {
        let (size, before, all) = self.file;
        share(size, before.saturating_add(place), all)
    }
}

//! The file that a task writes: packed if asked for, under a name that nobody looks for until the job commits.
//! Not here: what is in it (`format`), when it gets its name (`writer`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use transship_plugin_api::{Error, Result};

use crate::compression::Compression;

/// A file under construction. It is removed when it is dropped, unless it was finished.
pub(crate) struct Output {
    path: PathBuf,
    /// `None` once it is finished.
    sink: Option<Sink>,
}

enum Sink {
    Plain(File),
    Gzip(GzEncoder<File>),
    Bzip2(BzEncoder<File>),
}

impl Output {
    /// Makes the file, which must not exist.
    pub(crate) fn create(path: &Path, compression: Compression) -> Result<Output> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|error| failed("cannot create", path, &error))?;
        let sink = match compression {
            Compression::Gzip => Sink::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Compression::Bzip2 => Sink::Bzip2(BzEncoder::new(file, bzip2::Compression::default())),
            Compression::None | Compression::Zip | Compression::BySuffix => Sink::Plain(file),
        };
        Ok(Output { path: path.to_owned(), sink: Some(sink) })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.act("cannot write to", |sink| sink.write_all(bytes))
    }

    /// Hands everything to the file; a packed file gets a little longer by it.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.act("cannot write to", |sink| {
            sink.flush()?;
            sink.file().sync_data()
        })
    }

    /// Completes the file and waits until it is on the disk: its size.
    pub(crate) fn finish(&mut self) -> Result<u64> {
        let Some(sink) = self.sink.take() else { return Err(Error::internal("a file was finished twice")) };
        let finish = || {
            let file = match sink {
                Sink::Plain(file) => file,
                Sink::Gzip(encoder) => encoder.finish()?,
                Sink::Bzip2(encoder) => encoder.finish()?,
            };
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        finish().map_err(|error: io::Error| {
            let _ = fs::remove_file(&self.path);
            failed("cannot finish", &self.path, &error)
        })
    }

    fn act(&mut self, verb: &str, action: impl FnOnce(&mut Sink) -> io::Result<()>) -> Result<()> {
        match &mut self.sink {
            Some(sink) => action(sink).map_err(|error| failed(verb, &self.path, &error)),
            None => Err(Error::internal("a finished file was written to")),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.sink.take().is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Sink {
    fn file(&self) -> &File {
        match self {
            Sink::Plain(file) => file,
            Sink::Gzip(encoder) => encoder.get_ref(),
            Sink::Bzip2(encoder) => encoder.get_ref(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Plain(file) => file.write(bytes),
            Sink::Gzip(encoder) => encoder.write(bytes),
            Sink::Bzip2(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(file) => file.flush(),
            Sink::Gzip(encoder) => encoder.flush(),
            Sink::Bzip2(encoder) => encoder.flush(),
        }
    }
}

/// An error of a file, with its name.
pub(crate) fn failed(verb: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(format!("{verb} {}: {error}", path.display()))
}

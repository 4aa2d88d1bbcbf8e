//! What an output is, and which files it may take the place of: those that transship wrote itself. Not here: which file is which.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::dirty::is_dirty_file;
use crate::error::{Error, Result};
use crate::perf::recording::is_recording;
use crate::perf::trace::is_trace;
use crate::report::is_page;

/// So many bytes tell who wrote a file.
const BEGINNING: u64 = 4096;

/// What an output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Records,
    Page,
    Trace,
    Dirty,
}

impl Kind {
    /// The option that names the file.
    pub(super) fn option(self) -> &'static str {
        match self {
            Kind::Records => "--perf",
            Kind::Page => "--report",
            Kind::Trace => "--trace",
            Kind::Dirty => "--dirty",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Kind::Records => "perf records",
            Kind::Page => "a page of transship",
            Kind::Trace => "a trace of transship",
            Kind::Dirty => "dirty records",
        }
    }

    /// Whether what transship writes there begins like this.
    fn begins(self, beginning: &[u8]) -> bool {
        match self {
            Kind::Records => is_recording(beginning),
            Kind::Page => is_page(beginning),
            Kind::Trace => is_trace(beginning),
            Kind::Dirty => is_dirty_file(beginning),
        }
    }

    /// Refuses a file that holds something else, which would be lost. One that cannot be read may hold anything.
    pub(super) fn refuse_other(self, path: &Path) -> Result<()> {
        let holds_something = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
        if !holds_something || beginning_of(path).is_ok_and(|beginning| self.begins(&beginning)) {
            return Ok(());
        }
        Err(Error::Job(format!(
            "{} {}: this file is there, and not as {}: it would be destroyed; name another file, or remove this one",
            self.option(),
            path.display(),
            self.words()
        )))
    }
}

fn beginning_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    File::open(path)?.take(BEGINNING).read_to_end(&mut beginning)?;
    Ok(beginning)
}

//! The journal: a line for each call, in the order in which the calls of all objects of a run were made.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use transship_plugin_api::{Params, Result};

/// Where calls are noted; nowhere, if the job names no file.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    path: Option<PathBuf>,
}

impl Journal {
    pub(crate) fn read(params: &Params<'_>) -> Result<Journal> {
        Ok(Journal { path: params.text("journal")?.map(PathBuf::from) })
    }

    /// Appends a line. One write of a file that is opened for appending: lines of several threads do not mix.
    pub(crate) fn note(&self, line: impl AsRef<str>) {
        let Some(path) = &self.path else { return };
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(format!("{}\n", line.as_ref()).as_bytes()));
        if let Err(error) = written {
            log::error!("the journal {} cannot be written: {error}", path.display());
        }
    }
}

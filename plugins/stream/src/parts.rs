//! The file that several tasks write together: each writes a part beside it, and the job's commit makes them the file.
//! Nothing is to be seen under the file's name before that.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use transship_plugin_api::{Error, Report, Result};

/// The key of a report's detail that names the part.
const PART: &str = "part";

/// A file to be written by the tasks of one run.
#[derive(Debug, Clone)]
pub(crate) struct SharedFile {
    target: PathBuf,
    run: String,
}

impl SharedFile {
    /// `target` is an absolute path that ends in a file name.
    pub(crate) fn new(target: &Path, run: &str) -> SharedFile {
        SharedFile { target: target.into(), run: run.into() }
    }

    /// Makes the directory, and checks that the name is not taken by one.
    pub(crate) fn prepare(&self) -> Result<()> {
        let directory = self.directory();
        fs::create_dir_all(directory).map_err(|error| at(directory, "can't make the directory", error))?;
        if self.target.is_dir() {
            return Err(Error::io(format!("{} is a directory, not a file to write", self.target.display())));
        }
        Ok(())
    }

    /// The part of an attempt. Its name begins with a point, so that it is hidden from whoever lists the directory.
    pub(crate) fn part(&self, attempt: &str) -> PathBuf {
        self.directory().join(format!("{}{attempt}.part", self.prefix()))
    }

    /// What an attempt says of its part.
    pub(crate) fn report(part: &Path, written: u64, bytes: u64) -> Report {
        Report { written, bytes, detail: serde_json::json!({ PART: part }), ..Report::default() }
    }

    /// Puts the parts together under the file's name, in place of what was there. Done once, it does nothing more.
    pub(crate) fn commit(&self, reports: &[Report]) -> Result<()> {
        let parts = reports.iter().map(part_of).collect::<Result<Vec<_>>>()?;
        if let Some(missing) = parts.iter().find(|part| !part.exists()) {
            let bytes: u64 = reports.iter().map(|report| report.bytes).sum();
            return match fs::metadata(&self.target) {
                Ok(file) if file.len() == bytes => self.remove_parts(),
                _ => {
                    Err(Error::io(format!("{} is gone, so {} can't be made", missing.display(), self.target.display())))
                }
            };
        }
        let whole = match parts.as_slice() {
            [only] => only.clone(),
            parts => self.concatenate(parts)?,
        };
        fs::rename(&whole, &self.target).map_err(|error| at(&self.target, "can't put the file in place", error))?;
        sync_directory(self.directory())?;
        self.remove_parts()
    }

    /// Removes every part of this run.
    pub(crate) fn remove_parts(&self) -> Result<()> {
        let directory = self.directory();
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(|error| at(directory, "can't list the directory", error))?,
        };
        let prefix = self.prefix();
        for entry in entries {
            let entry = entry.map_err(|error| at(directory, "can't list the directory", error))?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    fn concatenate(&self, parts: &[PathBuf]) -> Result<PathBuf> {
        let path = self.directory().join(format!("{}whole", self.prefix()));
        let mut whole = File::create(&path).map_err(|error| at(&path, "can't make the file", error))?;
        for part in parts {
            let copied = File::open(part).and_then(|mut part| io::copy(&mut part, &mut whole));
            copied.map_err(|error| at(part, "can't copy the part", error))?;
        }
        whole.sync_all().map_err(|error| at(&path, "can't write the file", error))?;
        Ok(path)
    }

    fn directory(&self) -> &Path {
        self.target.parent().unwrap_or(Path::new("/"))
    }

    fn prefix(&self) -> String {
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        format!(".{name}.{}.", self.run)
    }
}

fn part_of(report: &Report) -> Result<PathBuf> {
    match report.detail.get(PART).and_then(|part| part.as_str()) {
        Some(part) => Ok(part.into()),
        None => Err(Error::internal(format!("a report without the path of its part: {}", report.detail))),
    }
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path, "can't remove the file", error)),
        _ => Ok(()),
    }
}

/// Makes a rename outlast a power failure.
fn sync_directory(directory: &Path) -> Result<()> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|error| at(directory, "can't sync the directory", error))
}

/// An error about a file: what couldn't be done, to which, and why.
pub(crate) fn at(path: &Path, what: &str, error: io::Error) -> Error {
    Error::io(format!("{}: {what}: {error}", path.display())).with_source(error)
}

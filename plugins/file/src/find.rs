//! From the `path` of a job to files, folder by folder, as they are asked for: a file stands for itself, a folder for all
//! files below it, a wildcard for every file whose whole path it matches.
//! Not here: opening files (`source`), putting them together to splits or cutting them (`split`).

mod first;
mod folder;
mod pattern;
mod places;
mod walk;

use std::io;
use std::path::Path;

use transship_plugin_api::Error;

pub(crate) use self::first::FirstFiles;
pub(crate) use self::places::Places;
pub(crate) use self::walk::{Done, Next, Walk, Work};

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub path: String,
    pub size: u64,
}

/// How the unfinished files of the writer begin and end. They are nobody's data yet, so no directory or wildcard finds
/// them.
pub(crate) const UNFINISHED: (&str, &str) = (".transship-", ".tmp");

fn is_unfinished(name: &str) -> bool {
    name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1)
}

/// What stands ahead of the names in a folder.
fn prefix_of(folder: &str) -> String {
    let slash = if folder.is_empty() || folder.ends_with('/') { "" } else { "/" };
    format!("{folder}{slash}")
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot {verb} {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::NotFound => Error::config(message),
        _ => Error::io(message),
    }
}

#[cfg(test)]
mod tests;

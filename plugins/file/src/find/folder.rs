//! Reads one folder: the files and folders in it, in the order of their paths, and how large files are.
//! Not here: which folder is next (`walk`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use transship_plugin_api::{Error, Result};

use super::places::Places;
use super::walk::Step;
use super::{FoundFile, cannot, is_unfinished};

/// How many entries of a folder are read before somebody asks whether that is still wanted.
const ENTRIES_BETWEEN_LOOKS: usize = 1024;

/// So many files are asked for their size in one go: less than a millisecond's work on a disk.
pub(super) const MEASURED_AT_ONCE: usize = 250;

/// A folder that is to be read.
#[derive(Debug)]
pub(crate) struct Folder {
    /// The number of the place that it was found for.
    place: usize,
    /// What the paths in it begin with; empty: the working directory.
    prefix: String,
    /// The folder that it is in, if that was read too.
    within: Option<Arc<Within>>,
    /// Whether its name is a link, so that its real path has to be looked up.
    is_link: bool,
}

/// The real paths of a folder and of those that it was found in, so that a link back to one of them is not followed for
/// ever.
#[derive(Debug)]
struct Within {
    real: PathBuf,
    within: Option<Arc<Within>>,
}

/// Files in a folder whose size is not known yet.
#[derive(Debug)]
pub(crate) struct Names {
    prefix: Arc<str>,
    names: Vec<String>,
}

/// A name in a folder; folders have a slash at its end, so that names are sorted as paths are.
struct Entry {
    name: String,
    is_link: bool,
}

impl Folder {
    /// The folder at which the walk of a place begins.
    pub(super) fn top(place: usize, prefix: &str) -> Folder {
        Folder { place, prefix: prefix.to_owned(), within: None, is_link: true }
    }

    /// What is in it, in order.
    pub(super) fn read(self, places: &Places, keep_going: &dyn Fn() -> bool) -> Result<Vec<Step>> {
        let Some(within) = self.enter()? else { return Ok(Vec::new()) };
        let prefix: Arc<str> = self.prefix.as_str().into();
        let mut steps = Vec::new();
        let mut names = Vec::new();
        let tell = |names: &mut Vec<String>, steps: &mut Vec<Step>| {
            if !names.is_empty() {
                steps.push(Step::Names(Names { prefix: prefix.clone(), names: std::mem::take(names) }));
            }
        };
        for entry in self.entries(places, keep_going)? {
            if entry.name.ends_with('/') {
                tell(&mut names, &mut steps);
                steps.push(Step::Folder(Folder {
                    place: self.place,
                    prefix: self.prefix.clone() + &entry.name,
                    within: Some(within.clone()),
                    is_link: entry.is_link,
                }));
            } else {
                names.push(entry.name);
                if names.len() == MEASURED_AT_ONCE {
                    tell(&mut names, &mut steps);
                }
            }
        }
        tell(&mut names, &mut steps);
        Ok(steps)
    }

    /// Its real path and those around it; `None` if it is one of those.
    fn enter(&self) -> Result<Option<Arc<Within>>> {
        let name = self.path().file_name();
        let real = match (&self.within, name) {
            (Some(within), Some(name)) if !self.is_link => within.real.join(name),
            _ => fs::canonicalize(self.path()).map_err(|error| cannot("find", self.path(), &error))?,
        };
        let mut around = self.within.as_ref();
        while let Some(within) = around {
            if within.real == real {
                log::warn!("{} leads back to {}: not followed", self.path().display(), real.display());
                return Ok(None);
            }
            around = within.within.as_ref();
        }
        Ok(Some(Arc::new(Within { real, within: self.within.clone() })))
    }

    /// The files and folders in it that may be wanted, sorted.
    fn entries(&self, places: &Places, keep_going: &dyn Fn() -> bool) -> Result<Vec<Entry>> {
        let cannot_list = |error| cannot("list", self.path(), &error);
        let mut entries = Vec::new();
        let mut path = self.prefix.clone();
        for (number, entry) in fs::read_dir(self.path()).map_err(cannot_list)?.enumerate() {
            // A folder may have millions of files, and be far away.
            if number % ENTRIES_BETWEEN_LOOKS == 0 && !keep_going() {
                return Err(Error::cancelled());
            }
            let entry = entry.map_err(cannot_list)?;
            let mut kind = entry.file_type().map_err(|error| cannot("find", &entry.path(), &error))?;
            let is_link = kind.is_symlink();
            if is_link {
                kind = fs::metadata(entry.path()).map_err(|error| cannot("find", &entry.path(), &error))?.file_type();
            }
            if !kind.is_dir() && !kind.is_file() {
                continue;
            }
            let mut name = entry.file_name().into_string().map_err(|_| not_text(&entry.path()))?;
            path.truncate(self.prefix.len());
            path.push_str(&name);
            let is_wanted = if kind.is_dir() {
                name.push('/');
                path.push('/');
                places.may_find_below(self.place, &path)
            } else {
                !is_unfinished(&name) && places.finds(self.place, &path)
            };
            if is_wanted {
                entries.push(Entry { name, is_link });
            }
        }
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn path(&self) -> &Path {
        Path::new(if self.prefix.is_empty() { "." } else { &self.prefix })
    }
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The files, with their sizes.
    pub(super) fn measure(self) -> Result<Vec<FoundFile>> {
        let mut files = Vec::with_capacity(self.names.len());
        for name in self.names {
            let path = [&self.prefix, name.as_str()].concat();
            let about = fs::metadata(&path).map_err(|error| cannot("find", Path::new(&path), &error))?;
            if about.is_file() {
                files.push(FoundFile { path, size: about.len() });
            }
        }
        Ok(files)
    }
}

/// Paths travel in splits, which are JSON.
fn not_text(path: &Path) -> Error {
    Error::unsupported(format!("the name of the file {} is not UTF-8; rename it", path.display()))
}

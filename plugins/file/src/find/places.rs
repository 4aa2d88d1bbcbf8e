//! The entries of `path`, looked at one by one: which of them are files, folders and wildcards, and which of them finds a
//! file first.
//! Not here: reading folders (`folder`).

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use transship_plugin_api::{Error, Result};

use super::folder::Folder;
use super::pattern::Pattern;
use super::walk::Step;
use super::{FoundFile, cannot, is_unfinished, prefix_of};

/// Where files are to be found.
#[derive(Debug)]
pub(crate) struct Places {
    places: Vec<Place>,
    /// The first place of each file that is named as it is, if there are several places.
    named: HashMap<String, usize>,
    /// The places that are folders and wildcards.
    folders: Vec<usize>,
    /// As the job has them, for messages.
    told: String,
}

#[derive(Debug)]
enum Place {
    /// This file. What is no regular file, a pipe, say, is found by its name alone.
    File { file: FoundFile, is_regular: bool },
    /// All files whose paths begin like this.
    Folder { prefix: String },
    /// The files that match, whose paths all begin like this.
    Matching { pattern: Pattern, prefix: String },
}

impl Places {
    /// Looks at what a job names, but into no folder.
    ///
    /// # Errors
    /// Where something does not exist that is named as it is, or a wildcard has no meaning.
    pub(crate) fn of(paths: &[String]) -> Result<Places> {
        let places = paths.iter().map(|path| Place::of(path)).collect::<Result<Vec<_>>>()?;
        let mut named = HashMap::new();
        let mut folders = Vec::new();
        for (number, place) in places.iter().enumerate() {
            match place {
                Place::File { file, .. } if places.len() > 1 => {
                    named.entry(file.path.clone()).or_insert(number);
                }
                Place::File { .. } => {}
                Place::Folder { .. } | Place::Matching { .. } => folders.push(number),
            }
        }
        Ok(Places { places, named, folders, told: paths.join(", ") })
    }

    /// Whether there is any folder to look into.
    pub(crate) fn have_folders(&self) -> bool {
        !self.folders.is_empty()
    }

    /// The error that there is no file in any of them.
    pub(crate) fn nothing_found(&self) -> Error {
        Error::config(format!("no file found at {}", self.told))
    }

    /// What a walk does for this place; `None` if there is no such place.
    pub(super) fn step(&self, number: usize) -> Option<Step> {
        Some(match self.places.get(number)? {
            Place::File { file, is_regular } => {
                let is_new = !self.is_found_before(number, &file.path, *is_regular);
                Step::Found(is_new.then(|| file.clone()).into_iter().collect())
            }
            Place::Folder { prefix } | Place::Matching { prefix, .. } => Step::Folder(Folder::top(number, prefix)),
        })
    }

    /// Whether a place finds this file, and none before it does.
    pub(super) fn finds(&self, number: usize, path: &str) -> bool {
        self.places[number].takes(path) && !self.is_found_before(number, path, true)
    }

    /// Whether a place may find files whose paths begin like this.
    pub(super) fn may_find_below(&self, number: usize, prefix: &str) -> bool {
        match &self.places[number] {
            Place::Matching { pattern, .. } => pattern.may_take_below(prefix),
            Place::File { .. } | Place::Folder { .. } => true,
        }
    }

    /// Whether a place before this one finds the same path. It is not remembered which files were found, since there may be
    /// millions.
    fn is_found_before(&self, number: usize, path: &str, is_regular: bool) -> bool {
        let finds = |folder: &usize| {
            let (place, name) = (&self.places[*folder], path.rsplit('/').next().unwrap_or(path));
            is_regular && !is_unfinished(name) && place.leads_to(path) && place.takes(path)
        };
        self.named.get(path).is_some_and(|first| *first < number)
            || self.folders.iter().take_while(|folder| **folder < number).any(finds)
    }
}

impl Place {
    fn of(path: &str) -> Result<Place> {
        if !is_literal(path) {
            let pattern = Pattern::parse(path)?;
            let prefix = prefix_of(pattern.folder(path));
            return Ok(Place::Matching { pattern, prefix });
        }
        let about = fs::metadata(path).map_err(|error| cannot("find", Path::new(path), &error))?;
        Ok(match about.is_dir() {
            true => Place::Folder { prefix: prefix_of(path) },
            false => {
                let file = FoundFile { path: path.to_owned(), size: about.len() };
                Place::File { file, is_regular: about.is_file() }
            }
        })
    }

    /// Whether a path is one that it stands for.
    fn takes(&self, path: &str) -> bool {
        match self {
            Place::File { file, .. } => file.path == path,
            Place::Folder { prefix } => path.starts_with(prefix),
            Place::Matching { pattern, .. } => pattern.takes(path),
        }
    }

    /// Whether a walk from its folder on would spell this path like that.
    fn leads_to(&self, path: &str) -> bool {
        match self {
            Place::File { .. } => true,
            Place::Folder { prefix } | Place::Matching { prefix, .. } => path
                .strip_prefix(prefix.as_str())
                .is_some_and(|rest| rest.split('/').all(|name| !matches!(name, "" | "." | ".."))),
        }
    }
}

/// A path is taken as it stands unless it has `*` or `?`, or `[` and no such file exists.
fn is_literal(path: &str) -> bool {
    !path.contains(['*', '?']) && (!path.contains('[') || Path::new(path).exists())
}

//! Unfinished files of runs that were killed: while a run writes, it holds a lock on a hidden file beside its own, which the
//! system takes away from a process that ends, however it ends. So a lock that can be taken shows that its run is dead.
//! Not here: removing what the same run left (`writer`).

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use transship_plugin_api::Result;
use uuid::Uuid;

use super::{list, remove};
use crate::find::UNFINISHED;
use crate::output::failed;

/// What stands behind the id of the run in the name of its lock.
const LOCK: &str = "lock";

/// The sign that a run is alive. Where its process ends before the run does, because others go on with it, there is no
/// sign any more, and nobody may take the run for dead.
pub(super) struct Claim {
    path: PathBuf,
    /// The lock is held as long as it is open.
    _file: File,
}

impl Claim {
    /// Takes the lock of this run; `None` where the file system has no locks.
    pub(super) fn take(directory: &Path, run: &str) -> Result<Option<Claim>> {
        let path = directory.join(name_of(run, LOCK));
        loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            let file = file.map_err(|error| failed("cannot create", &path, &error))?;
            if let Err(error) = file.lock_shared() {
                log::debug!("{}: no locks here: {error}", path.display());
                remove(&path)?;
                return Ok(None);
            }
            // Another run may have found it before it was locked, and have removed it.
            if path.exists() {
                return Ok(Some(Claim { path, _file: file }));
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The name of a hidden file of a run.
pub(super) fn name_of(run: &str, what: &str) -> String {
    format!("{}{run}-{what}{}", UNFINISHED.0, UNFINISHED.1)
}

/// Removes the unfinished files of dead runs, and says so; those of which nobody can tell are only named.
pub(super) fn clear_away(directory: &Path) -> Result<()> {
    let mut untold = Vec::new();
    for (run, names) in hidden_files(directory)? {
        let paths = names.iter().map(|name| directory.join(name));
        match state_of(&directory.join(name_of(&run, LOCK))) {
            State::Alive => {}
            State::Unknown => untold.extend(paths),
            State::Dead(lock) => {
                let mut removed = 0;
                for path in paths {
                    removed += usize::from(remove(&path)?);
                }
                drop(lock);
                if removed > 0 {
                    log::warn!(
                        "removed {removed} unfinished file(s) from {}, which a run that was killed had left",
                        directory.display()
                    );
                }
            }
        }
    }
    if let Some(first) = untold.first() {
        log::warn!(
            "{} is an unfinished file ({} in all) of a run that may be dead or go on elsewhere; remove it if it is dead",
            first.display(),
            untold.len()
        );
    }
    Ok(())
}

/// The names of hidden files by the run that made them, without the locks: a run of which there is nothing else has an
/// empty list.
fn hidden_files(directory: &Path) -> Result<BTreeMap<String, Vec<String>>> {
    let mut runs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in list(directory)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((run, what)) = parts_of(&name) else { continue };
        let names = runs.entry(run.to_owned()).or_default();
        if what != LOCK {
            names.push(name);
        }
    }
    runs.values_mut().for_each(|names| names.sort());
    Ok(runs)
}

/// The run in the name of a hidden file, and what stands behind it.
fn parts_of(name: &str) -> Option<(&str, &str)> {
    let inner = name.strip_prefix(UNFINISHED.0)?.strip_suffix(UNFINISHED.1)?;
    let (run, what) = inner.split_at_checked(uuid::fmt::Hyphenated::LENGTH)?;
    Uuid::try_parse(run).ok()?;
    Some((run, what.strip_prefix('-')?))
}

enum State {
    Alive,
    /// Its lock is held as long as its files are being removed.
    Dead(Claim),
    Unknown,
}

/// What the lock tells of its run.
fn state_of(lock: &Path) -> State {
    let file = match OpenOptions::new().write(true).open(lock) {
        Ok(file) => file,
        Err(_) => return State::Unknown,
    };
    match file.try_lock() {
        Ok(()) => State::Dead(Claim { path: lock.to_owned(), _file: file }),
        Err(TryLockError::WouldBlock) => State::Alive,
        Err(TryLockError::Error(_)) => State::Unknown,
    }
}

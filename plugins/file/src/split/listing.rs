//! The listing of a job's files by several walkers at once: they share one walk, so that splits cross folders and are the
//! same, in the same order, however many there are.
//! Not here: the order of the walk (`find/walk`), which files share a split (`packs`).

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use transship_plugin_api::{Error, HostRef, Listing, Result, Split, SplitRequest};

use super::packs::{Packs, Portion};
use super::{Cutting, detail, range_size};
use crate::config::ReaderConfig;
use crate::find::{Done, FoundFile, Next, Places, Walk, Work};
use crate::source::Piece;

/// What walkers share.
pub(crate) struct Listed {
    config: Arc<ReaderConfig>,
    host: HostRef,
    places: Arc<Places>,
    progress: Mutex<Progress>,
    /// Somebody has found something, or it is over.
    changed: Condvar,
}

struct Progress {
    walk: Walk,
    packs: Packs,
    /// Whether everything is found, or looking for it failed: that was told.
    over: bool,
}

/// One of those who list.
pub(crate) struct Walker {
    listed: Arc<Listed>,
    /// The file that it is cutting into ranges.
    cutting: Option<Cutting>,
}

/// What a walker has to do next.
enum Turn {
    /// Make splits of these; nothing is left to be found if there are none.
    Portions(Vec<Portion>),
    Work(Work),
}

impl Listed {
    /// All files of these places, of which a walk may have been begun.
    pub(crate) fn new(config: Arc<ReaderConfig>, host: HostRef, places: Arc<Places>, walk: Walk) -> Arc<Listed> {
        let progress = Progress { walk, packs: Packs::default(), over: false };
        Arc::new(Listed { config, host, places, progress: Mutex::new(progress), changed: Condvar::new() })
    }

    pub(crate) fn walker(self: &Arc<Listed>) -> Walker {
        Walker { listed: self.clone(), cutting: None }
    }

    /// Whether there are folders to look into, which several walkers may share.
    pub(crate) fn has_folders(&self) -> bool {
        self.places.have_folders()
    }

    /// Whether there is nothing left to be found.
    pub(crate) fn is_over(&self) -> bool {
        self.progress().over
    }

    /// Finds out what is next, and waits for it if it is what another walker is at work on.
    fn turn(&self, request: &SplitRequest) -> Result<Turn> {
        let mut progress = self.progress();
        loop {
            if self.host.is_cancelled() {
                return Err(Error::cancelled());
            }
            let portions = self.portions(&mut progress, request)?;
            if !portions.is_empty() || progress.over {
                // Whoever waits for what this walker has found may now find that it is over.
                self.changed.notify_all();
                return Ok(Turn::Portions(portions));
            }
            if let Some(work) = progress.walk.work() {
                return Ok(Turn::Work(work));
            }
            progress = self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What is certain by now, as much as is asked for.
    fn portions(&self, progress: &mut Progress, request: &SplitRequest) -> Result<Vec<Portion>> {
        let range = |file: &FoundFile| range_size(file, &self.config, request.channels);
        let mut portions = Vec::new();
        while !progress.over && portions.len() < request.max.max(1) as usize {
            if let Some(portion) = progress.packs.next(request.channels, &range) {
                let is_cut = matches!(portion, Portion::Ranges(..));
                portions.push(portion);
                // Cutting it takes time: another walker may go on meanwhile.
                if is_cut {
                    break;
                }
                continue;
            }
            match progress.walk.next() {
                Next::File(file) => progress.packs.add(file),
                Next::NotYet => break,
                Next::End if progress.packs.files() == 0 => {
                    // Said here and now, so that no other walker says it too.
                    progress.over = true;
                    return Err(self.places.nothing_found());
                }
                Next::End => progress.over = !progress.packs.complete(),
            }
        }
        Ok(portions)
    }

    fn put(&self, done: Done) {
        self.progress().walk.put(done);
        self.changed.notify_all();
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the walk for all.
    fn end(&self) {
        self.progress().over = true;
        self.changed.notify_all();
    }
}

impl Listing for Walker {
    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        let listed = self.listed.clone();
        let mut failing = Failing { listed: &listed, has_failed: true };
        let splits = self.next_splits(request);
        failing.has_failed = splits.is_err();
        splits
    }
}

/// A walker at work. If it fails, or panics, the others have nothing more to look for, and need not be told why.
struct Failing<'a> {
    listed: &'a Listed,
    has_failed: bool,
}

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        if self.has_failed {
            self.listed.end();
        }
    }
}

impl Walker {
    fn next_splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        loop {
            if let Some(range) = self.next_range()? {
                return Ok(vec![range]);
            }
            match self.listed.turn(request)? {
                Turn::Portions(portions) if portions.is_empty() => return Ok(Vec::new()),
                Turn::Portions(portions) => {
                    let splits = self.make(portions)?;
                    if !splits.is_empty() {
                        return Ok(splits);
                    }
                }
                Turn::Work(work) => self.listed.put(work.run(&|| !self.listed.host.is_cancelled())?),
            }
        }
    }

    /// The splits of whole files among these; of a file that is to be cut it takes hold.
    fn make(&mut self, portions: Vec<Portion>) -> Result<Vec<Split>> {
        let mut splits = Vec::new();
        for portion in portions {
            match portion {
                Portion::Files(files) => splits.push(detail::of_files(&files)?),
                Portion::Ranges(file, bytes) => {
                    let cutting = Cutting::begin(&file, bytes, &self.listed.config.dialect);
                    self.cutting = cutting.map_err(|error| Piece::whole(&file.path).error(&error))?;
                }
            }
        }
        Ok(splits)
    }

    /// The next range of the file that it is cutting.
    fn next_range(&mut self) -> Result<Option<Split>> {
        let Some(cutting) = &mut self.cutting else { return Ok(None) };
        let host = &self.listed.host;
        let range = cutting.next_range(&|| !host.is_cancelled());
        match range.map_err(|error| Piece::whole(cutting.path()).error(&error))? {
            Some(piece) => detail::of_range(piece).map(Some),
            None if host.is_cancelled() => Err(Error::cancelled()),
            None => {
                self.cutting = None;
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests;

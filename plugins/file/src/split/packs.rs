//! Which files share a split: each of a few has its own, of many the small ones are read together.
//! Not here: what a split looks like (`detail`).

use std::collections::VecDeque;

use crate::find::FoundFile;

/// So many files are worth a split each, whatever their size.
const FEW_FILES: u64 = 64;

/// How much is read together at most.
#[derive(Debug, Clone, Copy)]
struct Size {
    bytes: u64,
    files: usize,
}

/// Opening more files than this one after another makes a task long, however small they are.
const USUAL: Size = Size { bytes: 64 << 20, files: 1_000 };

/// The first splits of a job have fewer bytes, so that channels have something to do soon.
const EARLY: Size = Size { bytes: 32 << 20, ..USUAL };
const EARLY_SPLITS: u64 = 200;

/// The very first are still smaller, where there are several channels: the job may have no more than that.
const FIRST: Size = Size { bytes: 8 << 20, files: 250 };
const FIRST_SPLITS_PER_CHANNEL: u64 = 4;

/// Files on their way into splits, in order.
#[derive(Default)]
pub(super) struct Packs {
    /// Files that are in no split yet.
    waiting: VecDeque<FoundFile>,
    /// How many of them go into the next split, as far as was looked, and how many bytes these have.
    packed: usize,
    bytes: u64,
    /// How many files there were so far, and whether that is all.
    files: u64,
    complete: bool,
    /// How many splits were made.
    splits: u64,
}

/// What one split, or several of one file, are to be made of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Portion {
    /// These files as they are.
    Files(Vec<FoundFile>),
    /// Ranges of a file, of at most about this many bytes.
    Ranges(FoundFile, u64),
}

impl Packs {
    /// How many files there were so far.
    pub(super) fn files(&self) -> u64 {
        self.files
    }

    pub(super) fn add(&mut self, file: FoundFile) {
        self.files += 1;
        self.waiting.push_back(file);
    }

    /// Says that there will be no more files: whether any are left for splits.
    pub(super) fn complete(&mut self) -> bool {
        self.complete = true;
        !self.waiting.is_empty()
    }

    /// The next portion, as soon as it is certain. `range` says of how many bytes ranges of a file are to be, if it is to be cut.
    pub(super) fn next(&mut self, channels: u32, range: &dyn Fn(&FoundFile) -> Option<u64>) -> Option<Portion> {
        let first = self.waiting.front()?;
        if self.packed == 0
            && let Some(bytes) = range(first)
        {
            self.splits += first.size.div_ceil(bytes.max(1));
            return self.waiting.pop_front().map(|file| Portion::Ranges(file, bytes));
        }
        let most = self.most(channels);
        if self.files <= FEW_FILES {
            // With the next file there may be too many for a split each, but a large one has its own in either case.
            return (self.complete || first.size >= most.bytes).then(|| self.take(1));
        }
        let mut is_full = self.complete;
        for file in self.waiting.iter().skip(self.packed) {
            let is_too_much = self.packed > 0 && (self.bytes + file.size > most.bytes || range(file).is_some());
            if !is_too_much {
                self.packed += 1;
                self.bytes += file.size;
            }
            if is_too_much || self.bytes >= most.bytes || self.packed == most.files {
                is_full = true;
                break;
            }
        }
        is_full.then(|| self.take(self.packed))
    }

    fn take(&mut self, files: usize) -> Portion {
        (self.packed, self.bytes) = (0, 0);
        self.splits += 1;
        Portion::Files(self.waiting.drain(..files).collect())
    }

    fn most(&self, channels: u32) -> Size {
        match self.splits {
            splits if channels > 1 && splits < u64::from(channels) * FIRST_SPLITS_PER_CHANNEL => FIRST,
            0..EARLY_SPLITS => EARLY,
            _ => USUAL,
        }
    }
}

#[cfg(test)]
mod tests;

//! The walk over all places: what is found so far, and which folder is to be read next. The files come in the same order
//! whoever reads which folder when: in that of the places, and sorted by path in each.
//! Not here: reading folders (`folder`), waiting for those who do (`split/listing`).

use std::collections::VecDeque;
use std::sync::Arc;

use transship_plugin_api::Result;

use super::folder::{Folder, MEASURED_AT_ONCE, Names};
use super::{FoundFile, Places};

/// Folders further on are not read while so many files of those before wait to be asked for.
const READ_AHEAD: usize = 4_000;

/// A walk, as far as it got. What takes time is handed out as [`Work`], to be done by whoever likes.
pub(crate) struct Walk {
    places: Arc<Places>,
    next_place: usize,
    /// What is known of the rest, in order.
    steps: VecDeque<Step>,
    /// How many files are in the steps, as far as they are known.
    waiting: usize,
    works: u64,
}

/// A part of the walk.
#[derive(Debug)]
pub(super) enum Step {
    Folder(Folder),
    Names(Names),
    /// Somebody is at work on it.
    Taken(u64),
    Found(VecDeque<FoundFile>),
}

/// Something to do for a walk, beside others.
pub(crate) struct Work {
    number: u64,
    step: Step,
    places: Arc<Places>,
}

/// What came of it.
pub(crate) struct Done {
    number: u64,
    /// How many files the work was known to have before it was done.
    files_before: usize,
    steps: Vec<Step>,
}

/// What a walk has to say.
pub(crate) enum Next {
    File(FoundFile),
    /// There is work to be done first.
    NotYet,
    End,
}

impl Walk {
    pub(crate) fn new(places: Arc<Places>) -> Walk {
        Walk { places, next_place: 0, steps: VecDeque::new(), waiting: 0, works: 0 }
    }

    /// The next file.
    pub(crate) fn next(&mut self) -> Next {
        loop {
            match self.steps.front_mut() {
                Some(Step::Found(files)) => match files.pop_front() {
                    Some(file) => {
                        self.waiting -= 1;
                        return Next::File(file);
                    }
                    None => {
                        self.steps.pop_front();
                    }
                },
                Some(_) => return Next::NotYet,
                None => {
                    if !self.begin_next_place() {
                        return Next::End;
                    }
                }
            }
        }
    }

    /// The next file, where nobody else does any of the work.
    pub(crate) fn find_next(&mut self) -> Result<Option<FoundFile>> {
        loop {
            match self.next() {
                Next::File(file) => return Ok(Some(file)),
                Next::End => return Ok(None),
                Next::NotYet => {
                    let Some(work) = self.work() else { return Ok(None) };
                    let done = work.run(&|| true)?;
                    self.put(done);
                }
            }
        }
    }

    /// Puts files back in front of all others.
    pub(super) fn put_back(&mut self, files: Vec<FoundFile>) {
        self.waiting += files.len();
        self.steps.push_front(Step::Found(files.into()));
    }

    /// The first thing to do that nobody is at, if it is worth doing by now.
    pub(crate) fn work(&mut self) -> Option<Work> {
        let (mut index, mut ahead) = (0, 0);
        loop {
            let is_ahead = match self.steps.get(index) {
                Some(Step::Folder(_)) => index > 0 && self.waiting >= READ_AHEAD,
                Some(Step::Names(_)) => ahead >= READ_AHEAD,
                Some(Step::Taken(_) | Step::Found(_)) => false,
                None if index > 0 && self.waiting >= READ_AHEAD => true,
                None => {
                    if self.begin_next_place() {
                        continue;
                    }
                    return None;
                }
            };
            if is_ahead {
                return None;
            }
            match &mut self.steps[index] {
                Step::Taken(_) => ahead += MEASURED_AT_ONCE,
                Step::Found(files) => ahead += files.len(),
                step => {
                    self.works += 1;
                    let step = std::mem::replace(step, Step::Taken(self.works));
                    return Some(Work { number: self.works, step, places: self.places.clone() });
                }
            }
            index += 1;
        }
    }

    /// Puts what came of a work in its place.
    pub(crate) fn put(&mut self, done: Done) {
        let is_it = |step: &Step| matches!(step, Step::Taken(number) if *number == done.number);
        // There are few steps before it and may be many behind it.
        let Some(index) = self.steps.iter().position(is_it) else { return };
        let before: Vec<Step> = self.steps.drain(..index).collect();
        self.steps.pop_front();
        self.waiting = self.waiting + done.steps.iter().map(Step::files).sum::<usize>() - done.files_before;
        for step in before.into_iter().chain(done.steps).rev() {
            self.steps.push_front(step);
        }
    }

    fn begin_next_place(&mut self) -> bool {
        let Some(step) = self.places.step(self.next_place) else { return false };
        self.next_place += 1;
        self.waiting += step.files();
        self.steps.push_back(step);
        true
    }
}

impl Step {
    /// How many files it is known to have.
    fn files(&self) -> usize {
        match self {
            Step::Names(names) => names.len(),
            Step::Found(files) => files.len(),
            Step::Folder(_) | Step::Taken(_) => 0,
        }
    }
}

impl Work {
    /// Does it: reads a folder, or looks how large some files are.
    pub(crate) fn run(self, keep_going: &dyn Fn() -> bool) -> Result<Done> {
        let files_before = self.step.files();
        let steps = match self.step {
            Step::Folder(folder) => folder.read(&self.places, keep_going)?,
            Step::Names(names) => vec![Step::Found(names.measure()?.into())],
            other => vec![other],
        };
        Ok(Done { number: self.number, files_before, steps })
    }
}

//! The queue of splits: loaders put in what they find, and whoever starts tasks takes it out. It is bounded in splits and in the bytes
//! of their descriptions, so that a listing of millions of files is never in memory as a whole. Not here: where loaders look
//! (`splits/load`), and what a split is.
//!
//! - Whoever may still put something in is a [`Loader`], also between finding a part of the source and putting its splits in. All has
//!   been put in when the last loader has ended, and at no other time: the end can be declared neither too early nor twice.
//! - The end is state: what is queued is taken first. A loader that fails or vanishes, and [`Queue::stop`], end the queue at once: what
//!   is queued is dropped and everybody woken. Of several such ends the first counts, and it is the answer to every further call.
//! - A split whose description is larger than all room travels alone. No wait has a time limit: `splits/loom.rs` shows that no wake-up
//!   is lost.
//!
//! Nothing is lent: a split that was taken does not come back, a large file is cut by its reader, and one that need not be read is not
//! listed. And there is no limit in splits per second: the job's limits are those of records and bytes.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use crate::sync::{Arc, Condvar, Mutex, MutexGuard, lock, wait};

mod load;
#[cfg(test)]
#[cfg(transship_loom)]
mod loom;
#[cfg(test)]
#[cfg(not(transship_loom))]
mod tests;

pub use load::{Parts, load};

/// How many loaders look for splits at once, where nothing is said of it.
pub const LOADERS: NonZeroUsize = NonZeroUsize::new(4).expect("four is not zero");

/// How much a queue holds at most, and how little a batch waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// In splits.
    pub splits: NonZeroUsize,
    /// In bytes of their descriptions; a split that is larger by itself travels alone.
    pub bytes: usize,
    /// With so many splits [`Queue::next_batch`] waits for no more.
    pub batch: NonZeroUsize,
}

impl Default for Limits {
    fn default() -> Limits {
        let splits = NonZeroUsize::new(1000).expect("a thousand is not zero");
        let batch = NonZeroUsize::new(100).expect("a hundred is not zero");
        Limits { splits, bytes: 16 << 20, batch }
    }
}

/// The side that takes splits out. Clones take from the same queue.
pub struct Queue<T, E> {
    shared: Arc<Shared<T, E>>,
}

/// Somebody who may still put something in. One that is dropped without [`end`](Loader::end) or [`fail`](Loader::fail) has vanished:
/// what it was about to put in is missing.
pub struct Loader<T, E> {
    shared: Arc<Shared<T, E>>,
    has_ended: bool,
}

/// Several splits at once.
#[derive(Debug, PartialEq, Eq)]
pub struct Batch<T> {
    pub splits: Vec<T>,
    /// Whether it is known that none follow.
    pub is_last: bool,
}

/// Why nothing more comes although the end did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop<E> {
    /// A loader could not go on.
    Failed(E),
    /// A loader panicked.
    Vanished,
    /// Nobody wants more.
    Unwanted,
}

/// The answer to a loader when nothing more is taken from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

struct Shared<T, E> {
    limits: Limits,
    most_loaders: usize,
    state: Mutex<State<T, E>>,
    /// Loaders wait here for room, or for somebody who waits for a split.
    room: Condvar,
    /// Takers wait here for a split or the end.
    news: Condvar,
}

struct State<T, E> {
    queue: VecDeque<(T, usize)>,
    /// The sum of the sizes in the queue.
    bytes: usize,
    loaders: usize,
    stage: Stage<E>,
    waiting_loaders: usize,
    waiting_takers: usize,
}

enum Stage<E> {
    Open,
    Ended,
    Stopped(Stop<E>),
}

/// A queue that is filled by at most so many loaders at once, and the first of them.
pub fn bounded<T, E>(limits: Limits, most_loaders: NonZeroUsize) -> (Queue<T, E>, Loader<T, E>) {
    let state = State {
        queue: VecDeque::new(),
        bytes: 0,
        loaders: 1,
        stage: Stage::Open,
        waiting_loaders: 0,
        waiting_takers: 0,
    };
    let shared = Arc::new(Shared {
        limits,
        most_loaders: most_loaders.get(),
        state: Mutex::new(state),
        room: Condvar::new(),
        news: Condvar::new(),
    });
    (Queue { shared: shared.clone() }, Loader { shared, has_ended: false })
}

impl<T, E: Clone> Queue<T, E> {
    /// Takes the next split, once there is one; `None` is the end, and the answer to every further call.
    ///
    /// # Errors
    /// When a loader could not go on, or nobody wants more.
    pub fn next(&self) -> Result<Option<T>, Stop<E>> {
        let mut state = self.shared.lock();
        loop {
            if let Some(split) = state.take()? {
                self.shared.wake_loaders(state);
                return Ok(Some(split));
            }
            if state.has_ended() {
                return Ok(None);
            }
            state = self.shared.wait_for_news(state);
        }
    }

    /// Takes as many splits as there are, at most so many. It waits until they are a batch's worth, or all that there will be: an
    /// empty batch is the last.
    ///
    /// # Errors
    /// As [`next`](Queue::next); what was collected by then is lost.
    pub fn next_batch(&self, most: NonZeroUsize) -> Result<Batch<T>, Stop<E>> {
        let enough = most.min(self.shared.limits.batch).get();
        let mut splits = Vec::new();
        let mut state = self.shared.lock();
        loop {
            while splits.len() < most.get()
                && let Some(split) = state.take()?
            {
                splits.push(split);
            }
            let is_last = state.has_ended() && state.queue.is_empty();
            if is_last || splits.len() >= enough {
                self.shared.wake_loaders(state);
                return Ok(Batch { splits, is_last });
            }
            state = self.shared.wait_for_news(state);
        }
    }

    /// Why nothing more comes, if it is not the end.
    pub fn stopped(&self) -> Option<Stop<E>> {
        match &self.shared.lock().stage {
            Stage::Stopped(stop) => Some(stop.clone()),
            Stage::Open | Stage::Ended => None,
        }
    }

    /// Whether all was put in and taken out.
    pub fn is_finished(&self) -> bool {
        let state = self.shared.lock();
        state.has_ended() && state.queue.is_empty()
    }

    /// How many splits are queued.
    pub fn queued(&self) -> usize {
        self.shared.lock().queue.len()
    }
}

impl<T, E> Queue<T, E> {
    /// Takes nothing more, and sends the loaders away.
    pub fn stop(&self) {
        self.shared.stop(Stop::Unwanted);
    }
}

impl<T, E> Loader<T, E> {
    /// Puts splits in, each with the size of its description in bytes, as there is room.
    ///
    /// # Errors
    /// When nothing more is taken.
    pub fn put(&self, splits: impl IntoIterator<Item = (T, usize)>) -> Result<(), Stopped> {
        let limits = self.shared.limits;
        let mut splits = splits.into_iter().peekable();
        while let Some(bytes) = splits.peek().map(|(_, bytes)| *bytes) {
            let mut state = self.shared.wait_until(|state| state.has_room_for(bytes, limits))?;
            let mut put = 0;
            while let Some((split, bytes)) = splits.next_if(|(_, bytes)| state.has_room_for(*bytes, limits)) {
                state.bytes += bytes;
                state.queue.push_back((split, bytes));
                put += 1;
            }
            let waiting = state.waiting_takers;
            drop(state);
            match (waiting, put) {
                (0, _) => {}
                (_, 1) => self.shared.news.notify_one(),
                _ => self.shared.news.notify_all(),
            }
        }
        Ok(())
    }

    /// Waits until there is room: before then nothing need be looked for.
    ///
    /// # Errors
    /// When nothing more is taken.
    pub fn wait_for_room(&self) -> Result<(), Stopped> {
        let limits = self.shared.limits;
        self.shared.wait_until(|state| state.has_room_for(1, limits)).map(drop)
    }

    /// Waits until somebody waits for a split and there is none.
    ///
    /// # Errors
    /// When nothing more is taken.
    pub fn wait_for_taker(&self) -> Result<(), Stopped> {
        self.shared.wait_until(|state| state.waiting_takers > 0 && state.queue.is_empty()).map(drop)
    }

    /// Another loader beside this one, unless there are enough or nothing more is taken.
    pub fn another(&self) -> Option<Loader<T, E>> {
        let mut state = self.shared.lock();
        if !state.is_open() || state.loaders >= self.shared.most_loaders {
            return None;
        }
        state.loaders += 1;
        drop(state);
        Some(Loader { shared: self.shared.clone(), has_ended: false })
    }

    /// Says that this loader finds no more, and whether that is the end of all: one loader of a queue is told so, at most.
    pub fn end(mut self) -> bool {
        self.has_ended = true;
        let mut state = self.shared.lock();
        state.loaders -= 1;
        let is_end = state.loaders == 0 && state.is_open();
        if is_end {
            state.stage = Stage::Ended;
            drop(state);
            self.shared.news.notify_all();
        }
        is_end
    }

    /// Gives up, for this reason. What is queued is dropped.
    pub fn fail(mut self, error: E) {
        self.has_ended = true;
        self.shared.stop(Stop::Failed(error));
    }
}

impl<T, E> Shared<T, E> {
    fn lock(&self) -> MutexGuard<'_, State<T, E>> {
        let state = lock(&self.state);
        #[cfg(test)]
        state.check(self.limits);
        state
    }

    /// Waits until this holds, as a loader.
    fn wait_until(&self, holds: impl Fn(&State<T, E>) -> bool) -> Result<MutexGuard<'_, State<T, E>>, Stopped> {
        let mut state = self.lock();
        while state.is_open() && !holds(&state) {
            state.waiting_loaders += 1;
            state = wait(&self.room, state);
            state.waiting_loaders -= 1;
        }
        if state.is_open() { Ok(state) } else { Err(Stopped) }
    }

    /// Waits for a split or the end. Loaders that look only when somebody waits are told of it; so are those that wait for the room
    /// which this taker has made.
    fn wait_for_news<'a>(&'a self, mut state: MutexGuard<'a, State<T, E>>) -> MutexGuard<'a, State<T, E>> {
        state.waiting_takers += 1;
        if state.waiting_loaders > 0 {
            self.room.notify_all();
        }
        let mut state = wait(&self.news, state);
        state.waiting_takers -= 1;
        state
    }

    /// Tells loaders of the room that there is now. They are few, and each of them needs another amount.
    fn wake_loaders(&self, state: MutexGuard<'_, State<T, E>>) {
        let wait = state.waiting_loaders > 0;
        drop(state);
        if wait {
            self.room.notify_all();
        }
    }

    fn stop(&self, stop: Stop<E>) {
        let mut state = self.lock();
        if matches!(state.stage, Stage::Stopped(_)) {
            return;
        }
        state.stage = Stage::Stopped(stop);
        let dropped = std::mem::take(&mut state.queue);
        state.bytes = 0;
        drop(state);
        self.room.notify_all();
        self.news.notify_all();
        drop(dropped);
    }
}

impl<T, E> State<T, E> {
    fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open)
    }

    fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended)
    }

    fn has_room_for(&self, bytes: usize, limits: Limits) -> bool {
        let fits = self.bytes.checked_add(bytes).is_some_and(|sum| sum <= limits.bytes);
        self.queue.is_empty() || (fits && self.queue.len() < limits.splits.get())
    }

    fn take(&mut self) -> Result<Option<T>, Stop<E>>
    where
        E: Clone,
    {
        if let Stage::Stopped(stop) = &self.stage {
            return Err(stop.clone());
        }
        let taken = self.queue.pop_front().map(|(split, bytes)| {
            self.bytes -= bytes;
            split
        });
        Ok(taken)
    }

    /// What holds whenever nobody has the lock.
    #[cfg(test)]
    fn check(&self, limits: Limits) {
        assert_eq!(self.bytes, self.queue.iter().map(|(_, bytes)| bytes).sum::<usize>());
        assert!(self.queue.len() <= limits.splits.get(), "{} splits are queued", self.queue.len());
        assert!(self.bytes <= limits.bytes || self.queue.len() == 1, "only a single split may exceed the bytes");
        assert!(!matches!(self.stage, Stage::Stopped(_)) || self.queue.is_empty(), "a stopped queue holds nothing");
        assert!(!self.has_ended() || self.loaders == 0, "the end came while a loader could still put something in");
    }
}

impl<T, E> Clone for Queue<T, E> {
    fn clone(&self) -> Queue<T, E> {
        Queue { shared: self.shared.clone() }
    }
}

impl<T, E> Drop for Loader<T, E> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.shared.stop(Stop::Vanished);
        }
    }
}

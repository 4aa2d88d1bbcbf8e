//! How many tasks are open at once, over all contents of a run: each has a connection, a thread or two and a channel, whether it has
//! a slot or waits for one.
//!
//! Each content is guaranteed some open tasks, so that a small table need not wait until a task of a huge one has ended. Beyond
//! that contents open tasks in turn until there are as many as slots. No content has more than its own limit, all together no more
//! than the limit of the run, and of splits that share a limit (those of one connection) no more are open than that says.
//! Not here: who of those that are open may work (`slots`).

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use slab::Slab;
use transship_plugin_api::Limit;

use crate::cancel::{Cancel, Cancelled, Hook};

#[cfg(test)]
mod tests;

/// What is open, and what may be. Clones share it.
#[derive(Clone)]
pub struct Openings {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// So many should be open: one for each slot.
    wanted: usize,
    /// More never are.
    most: usize,
    open: usize,
    contents: Slab<Content>,
    /// How many are open of those that share a limit, by its name.
    limited: HashMap<String, u32>,
    /// How many were opened so far.
    opened: u64,
}

struct Content {
    guaranteed: usize,
    most: usize,
    open: usize,
    /// The limits of the tasks that it would like to open, while it waits.
    asks: Option<Vec<Option<Limit>>>,
    /// When it opened its last one, as a number.
    last: u64,
    /// It opens no more. Tasks that are open keep its place, so that no other content gets its number.
    is_over: bool,
}

/// A content that opens tasks.
pub struct Opener {
    openings: Openings,
    content: usize,
}

/// What became of the wish to open a task.
pub enum Answer {
    /// The task at this place may be opened.
    Open(usize, Opening),
    /// None of these before others of their connections have ended: ask with more of them, if there are any.
    AllLimited,
}

/// A task that is open, until this is dropped.
#[must_use = "the task counts as ended when this is dropped"]
pub struct Opening {
    openings: Openings,
    content: usize,
    limit: Option<String>,
}

impl Openings {
    /// Tasks for so many slots; never more than `most` of them.
    pub fn new(slots: usize, most: usize) -> Openings {
        let state = State {
            wanted: slots,
            most: most.max(1),
            open: 0,
            contents: Slab::new(),
            limited: HashMap::new(),
            opened: 0,
        };
        Openings { inner: Arc::new(Inner { state: Mutex::new(state), changed: Condvar::new() }) }
    }

    /// A content joins, behind those that are there. It has at most so many tasks open; so many are guaranteed to it.
    pub fn opener(&self, guaranteed: usize, most: NonZeroUsize) -> Opener {
        let content = Content { guaranteed, most: most.get(), open: 0, asks: None, last: 0, is_over: false };
        Opener { openings: self.clone(), content: self.state().contents.insert(content) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Opener {
    /// Waits until one of these tasks may be opened. Of a content one thread at a time may ask. `has_more`: it could offer others.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub fn open(&self, tasks: &[Option<&Limit>], has_more: bool, cancel: &Cancel) -> Result<Answer, Cancelled> {
        let inner = Arc::downgrade(&self.openings.inner);
        let _wake: Hook = cancel.on_cancel(move || {
            if let Some(inner) = inner.upgrade() {
                let _state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
                inner.changed.notify_all();
            }
        });
        let mut state = self.openings.state();
        state.contents[self.content].asks = Some(tasks.iter().map(|limit| limit.cloned()).collect());
        let answer = loop {
            if cancel.is_cancelled() {
                break Err(Cancelled);
            }
            match state.open_one_of(self.content) {
                Some((place, limit)) => {
                    let opening = Opening { openings: self.openings.clone(), content: self.content, limit };
                    break Ok(Answer::Open(place, opening));
                }
                None if has_more && state.within_limits(self.content).is_none() => break Ok(Answer::AllLimited),
                None => {
                    state = self.openings.inner.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        state.contents[self.content].asks = None;
        // Those behind it may have waited for this one alone.
        self.openings.inner.changed.notify_all();
        answer
    }

    /// How many tasks it may have open from now on.
    pub fn set_most(&self, most: NonZeroUsize) {
        self.openings.state().contents[self.content].most = most.get();
        self.openings.inner.changed.notify_all();
    }
}

impl Drop for Opener {
    fn drop(&mut self) {
        let mut state = self.openings.state();
        state.contents[self.content].is_over = true;
        state.forget_if_over(self.content);
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let mut state = self.openings.state();
        state.open -= 1;
        state.contents[self.content].open -= 1;
        state.forget_if_over(self.content);
        if let Some(limit) = &self.limit
            && let Some(open) = state.limited.get_mut(limit)
        {
            *open -= 1;
            if *open == 0 {
                state.limited.remove(limit);
            }
        }
        drop(state);
        self.openings.inner.changed.notify_all();
    }
}

impl State {
    /// Opens one of the tasks that a content asks for, if it is its turn: the task's place, and the name of its limit.
    fn open_one_of(&mut self, number: usize) -> Option<(usize, Option<String>)> {
        if self.next()? != number {
            return None;
        }
        let place = self.within_limits(number)?;
        let asks = self.contents[number].asks.take().unwrap_or_default();
        let limit = asks.into_iter().nth(place).flatten().map(|limit| limit.name);
        if let Some(name) = &limit {
            *self.limited.entry(name.clone()).or_default() += 1;
        }
        self.open += 1;
        self.opened += 1;
        let content = &mut self.contents[number];
        content.open += 1;
        content.last = self.opened;
        Some((place, limit))
    }

    /// The content whose turn it is to open a task.
    fn next(&self) -> Option<usize> {
        if self.open >= self.most {
            return None;
        }
        let asking = || {
            self.contents
                .iter()
                .filter(|(number, content)| content.open < content.most && self.within_limits(*number).is_some())
        };
        let first = |(_, content): &(usize, &Content)| content.last;
        let needs = asking().filter(|(_, content)| content.open < content.guaranteed).min_by_key(first);
        let in_turn = || asking().filter(|_| self.open < self.wanted).min_by_key(first);
        needs.or_else(in_turn).map(|(number, _)| number)
    }

    fn forget_if_over(&mut self, content: usize) {
        if self.contents[content].is_over && self.contents[content].open == 0 {
            self.contents.remove(content);
        }
    }

    /// The first task that a content asks for whose limit has room.
    fn within_limits(&self, content: usize) -> Option<usize> {
        let has_room = |limit: &Option<Limit>| {
            limit.as_ref().is_none_or(|limit| self.limited.get(&limit.name).copied().unwrap_or(0) < limit.open.max(1))
        };
        self.contents[content].asks.as_ref()?.iter().position(has_room)
    }
}

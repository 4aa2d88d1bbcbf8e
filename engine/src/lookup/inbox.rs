//! Answers on their way from other threads to the one that waits for them. `loom.rs` shows that no wake-up is lost.

use std::mem;
use std::time::Duration;

use crate::sync::{Condvar, Mutex, lock, wait, wait_timeout};

/// Letters from any thread to one.
pub struct Inbox<T> {
    state: Mutex<State<T>>,
    news: Condvar,
}

struct State<T> {
    letters: Vec<T>,
    /// Nobody reads them any more.
    closed: bool,
    /// Somebody waits for one.
    awaited: bool,
}

/// The work was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl<T> Inbox<T> {
    pub fn new() -> Inbox<T> {
        Inbox { state: Mutex::new(State { letters: Vec::new(), closed: false, awaited: false }), news: Condvar::new() }
    }

    /// Puts a letter in; into a closed one it falls on the floor.
    pub fn put(&self, letter: T) {
        let mut state = lock(&self.state);
        if state.closed {
            // Foreign memory may be freed with it: not under the lock.
            drop(state);
            drop(letter);
            return;
        }
        state.letters.push(letter);
        let awaited = mem::take(&mut state.awaited);
        drop(state);
        if awaited {
            self.news.notify_one();
        }
    }

    /// All letters that there are, appended to these.
    ///
    /// # Errors
    /// When it is closed.
    pub fn take(&self, letters: &mut Vec<T>) -> Result<(), Closed> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(Closed);
        }
        letters.append(&mut state.letters);
        Ok(())
    }

    /// Waits until there is a letter, it is closed, or this much time has passed.
    pub fn wait(&self, most: Option<Duration>) {
        let mut state = lock(&self.state);
        if !state.letters.is_empty() || state.closed {
            return;
        }
        state.awaited = true;
        match most {
            // It may end early: whoever waits looks again.
            Some(most) => drop(wait_timeout(&self.news, state, most)),
            None => drop(wait(&self.news, state)),
        }
    }

    /// Gives up: who waits is woken, and nothing more is taken in.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        let letters = mem::take(&mut state.letters);
        drop(state);
        self.news.notify_all();
        drop(letters);
    }
}

impl<T> Default for Inbox<T> {
    fn default() -> Inbox<T> {
        Inbox::new()
    }
}

//! The running slots of a run, shared over its contents by the time that each has used. A reader takes a slot before it is asked
//! for records and gives it back before any wait; who has had one for a quantum passes it on if somebody else waits.
//!
//! Which content comes next says `slots/levels`: those that have used little first, so that a small table does not wait for a huge
//! one. Within a content it is the task that has used least; and before all others whoever has waited for the longest gap.
//! Who does not say a word for long (a query that hangs) keeps nobody else waiting: another slot stands in.
//! Not here: how many tasks are open at once (`openings`).

use std::time::Duration;

use crate::cancel::{Cancel, Cancelled, Hook};
use crate::clock::Clock;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, lock, wait, wait_timeout};

mod levels;
#[cfg(test)]
#[cfg(transship_loom)]
mod loom;
#[cfg(test)]
#[cfg(not(transship_loom))]
mod tests;
mod turns;

pub use turns::{Standing, Times};

use turns::Turns;

/// How slots are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How long a slot is kept while others wait for one.
    pub quantum: Duration,
    /// No task that is open waits for longer between two slices.
    pub longest_gap: Duration,
}

/// So many slots. Clones share them.
#[derive(Clone)]
pub struct Slots {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    /// How many wait: read without the lock, so that who is waited for by nobody keeps its slot at the price of a load.
    waiting: AtomicUsize,
    quantum: Duration,
    clock: Box<dyn Clock>,
}

struct State {
    turns: Turns,
    /// Where each contender that waits can be woken.
    wakers: Vec<(usize, Arc<Condvar>)>,
}

/// A content among those that share the slots.
pub struct Share {
    slots: Slots,
    content: usize,
}

/// One contender for slots, with its wish to end. It may be without a slot at times.
pub struct Pass {
    slots: Slots,
    contender: usize,
    cancel: Cancel,
    woken: Arc<Condvar>,
    /// When its slice began, if it has a slot.
    slice: Option<Duration>,
    _wake: Hook,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { quantum: Duration::from_millis(100), longest_gap: Duration::from_secs(15) }
    }
}

impl Slots {
    /// So many slots (at least one).
    pub fn new(slots: usize, rules: Rules, clock: impl Clock + 'static) -> Slots {
        let state = State { turns: Turns::new(slots, rules), wakers: Vec::new() };
        let inner = Inner {
            state: Mutex::new(state),
            waiting: AtomicUsize::new(0),
            quantum: rules.quantum,
            clock: Box::new(clock),
        };
        Slots { inner: Arc::new(inner) }
    }

    /// A content joins. Of two in the same level one of twice the weight gets twice the time.
    pub fn share(&self, weight: u32) -> Share {
        let content = self.state().turns.add_content(weight);
        Share { slots: self.clone(), content }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.inner.state)
    }

    /// Gives slots that are free to those whose turn it is, and wakes them.
    fn hand_out(&self, state: &mut State, now: Duration) {
        while let Some(contender) = state.turns.next(now) {
            if let Some(place) = state.wakers.iter().position(|(waiting, _)| *waiting == contender) {
                state.wakers.swap_remove(place).1.notify_one();
            }
        }
        self.inner.waiting.store(state.turns.waiting(), Ordering::Relaxed);
    }
}

impl Share {
    /// A contender of this content, without a slot as yet.
    pub fn pass(&self, cancel: &Cancel) -> Pass {
        let slots = self.slots.clone();
        let contender = slots.state().turns.add_contender(self.content, slots.inner.clock.now());
        let woken = Arc::new(Condvar::new());
        let (inner, waker) = (slots.inner.clone(), woken.clone());
        let wake = cancel.on_cancel(move || {
            let _state = lock(&inner.state);
            waker.notify_all();
        });
        Pass { slots, contender, cancel: cancel.clone(), woken, slice: None, _wake: wake }
    }

    /// Whether somebody waits for a slot.
    pub fn is_contended(&self) -> bool {
        self.slots.inner.waiting.load(Ordering::Relaxed) > 0
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        self.slots.state().turns.standing(self.content)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.slots.state().turns.end_content(self.content);
    }
}

impl Pass {
    /// Takes a slot as soon as it is its turn, or keeps the one it has.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub fn take(&mut self) -> Result<(), Cancelled> {
        if self.slice.is_some() {
            return Ok(());
        }
        let now = self.now();
        let slots = self.slots.clone();
        let mut state = slots.state();
        state.turns.want(self.contender, now);
        self.wait_for_turn(state, now)
    }

    /// Waits until it has a slot. It is among those that wait.
    fn wait_for_turn(&mut self, mut state: MutexGuard<'_, State>, mut now: Duration) -> Result<(), Cancelled> {
        state.wakers.push((self.contender, self.woken.clone()));
        self.slots.hand_out(&mut state, now);
        while !self.cancel.is_cancelled() && !state.turns.is_running(self.contender) {
            state = match state.turns.until_silent(now) {
                Some(patience) => wait_timeout(&self.woken, state, patience),
                None => wait(&self.woken, state),
            };
            now = self.now();
            self.slots.hand_out(&mut state, now);
        }
        state.wakers.retain(|(waiting, _)| *waiting != self.contender);
        if self.cancel.is_cancelled() {
            // It may have been its turn already: then it is somebody else's.
            state.turns.go_away(self.contender, now);
            self.slots.hand_out(&mut state, now);
            return Err(Cancelled);
        }
        self.slice = Some(now);
        Ok(())
    }

    /// Gives the slot back, if it has one: before any wait.
    pub fn give_back(&mut self) {
        if self.slice.take().is_none() {
            return;
        }
        let now = self.now();
        let mut state = self.slots.state();
        state.turns.go_away(self.contender, now);
        self.slots.hand_out(&mut state, now);
    }

    /// Between two pieces of work: passes the slot on if it has had it for a quantum and somebody waits for one, until it is its
    /// turn again.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub fn yield_now(&mut self) -> Result<(), Cancelled> {
        let Some(slice) = self.slice else { return Ok(()) };
        let now = self.now();
        if now.saturating_sub(slice) < self.slots.inner.quantum {
            return Ok(());
        }
        let slots = self.slots.clone();
        let mut state = slots.state();
        if state.turns.waiting() == 0 && !state.turns.is_crowded(now) {
            // Nobody waits. What it has used still counts, for when somebody comes.
            state.turns.charge(self.contender, now);
            self.slice = Some(now);
            return Ok(());
        }
        self.slice = None;
        state.turns.pass_on(self.contender, now);
        self.wait_for_turn(state, now)
    }

    /// How long it did what, up to when it last took or gave back a slot.
    pub fn times(&self) -> Times {
        self.slots.state().turns.times(self.contender)
    }

    fn now(&self) -> Duration {
        self.slots.inner.clock.now()
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let now = self.now();
        let mut state = self.slots.state();
        state.turns.remove_contender(self.contender, now);
        self.slots.hand_out(&mut state, now);
    }
}

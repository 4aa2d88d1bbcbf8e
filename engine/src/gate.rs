//! A number of slots, taken first come, first served. Readers take one before each `next`; writer tasks take one of their
//! target's before they open. Nobody holds a reader's slot while waiting for anything else.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::cancel::{Cancel, Cancelled, Hook};

/// So many slots. Clones share them.
#[derive(Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    changed: Condvar,
    /// How many wait: read without the lock, so that a reader whom nobody waits for keeps its slot at the price of a load.
    waiting: AtomicUsize,
}

struct State {
    free: usize,
    queue: VecDeque<u64>,
    next_ticket: u64,
}

/// A slot, held until dropped.
#[must_use = "the slot is given back when this is dropped"]
pub struct Slot {
    gate: Gate,
}

/// One contender for the slots of a gate, with its wish to end. It may be without a slot at times.
pub struct Pass {
    gate: Gate,
    cancel: Cancel,
    slot: Option<Slot>,
    _wake: Hook,
}

impl Gate {
    /// A gate with this many slots (at least one).
    pub fn new(slots: usize) -> Gate {
        let state = State { free: slots.max(1), queue: VecDeque::new(), next_ticket: 0 };
        Gate {
            inner: Arc::new(Inner { state: Mutex::new(state), changed: Condvar::new(), waiting: AtomicUsize::new(0) }),
        }
    }

    /// A contender, without a slot as yet.
    pub fn pass(&self, cancel: &Cancel) -> Pass {
        let inner = Arc::downgrade(&self.inner);
        let wake = cancel.on_cancel(move || {
            if let Some(inner) = inner.upgrade() {
                let _state = lock(&inner.state);
                inner.changed.notify_all();
            }
        });
        Pass { gate: self.clone(), cancel: cancel.clone(), slot: None, _wake: wake }
    }

    /// Whether somebody waits for a slot.
    pub fn contended(&self) -> bool {
        self.inner.waiting.load(Ordering::Relaxed) > 0
    }

    /// How many slots are free.
    pub fn free(&self) -> usize {
        lock(&self.inner.state).free
    }

    fn take(&self, cancel: &Cancel) -> Result<Slot, Cancelled> {
        let mut state = lock(&self.inner.state);
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.queue.push_back(ticket);
        self.inner.waiting.fetch_add(1, Ordering::Relaxed);
        while !cancel.is_cancelled() && (state.free == 0 || state.queue.front() != Some(&ticket)) {
            state = self.inner.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.inner.waiting.fetch_sub(1, Ordering::Relaxed);
        state.queue.retain(|queued| *queued != ticket);
        // Whoever is first in the queue now may be able to go as well.
        self.inner.changed.notify_all();
        if cancel.is_cancelled() {
            return Err(Cancelled);
        }
        state.free -= 1;
        Ok(Slot { gate: self.clone() })
    }
}

impl Pass {
    /// Takes a slot, or keeps the one it has.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub fn take(&mut self) -> Result<(), Cancelled> {
        if self.slot.is_none() {
            self.slot = Some(self.gate.take(&self.cancel)?);
        }
        Ok(())
    }

    /// Gives the slot back, if it has one: before any wait.
    pub fn give_back(&mut self) {
        self.slot = None;
    }

    /// Gives the slot back only if somebody waits for one: between two pieces of work.
    pub fn yield_now(&mut self) {
        if self.gate.contended() {
            self.give_back();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.gate.inner.state).free += 1;
        self.gate.inner.changed.notify_all();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_served_in_the_order_of_asking() {
        let gate = Gate::new(1);
        let cancel = Cancel::new();
        let mut holder = gate.pass(&cancel);
        holder.take().unwrap();
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for name in 0..3 {
                let (gate, cancel, order) = (&gate, &cancel, &order);
                scope.spawn(move || {
                    let mut pass = gate.pass(cancel);
                    pass.take().unwrap();
                    order.lock().unwrap().push(name);
                });
                // The next one asks only once this one stands in the queue.
                while gate.inner.waiting.load(Ordering::Relaxed) != name + 1 {
                    std::thread::yield_now();
                }
            }
            holder.give_back();
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
        assert_eq!(gate.free(), 1);
    }

    #[test]
    fn cancelling_wakes_a_waiting_contender_and_loses_no_slot() {
        let gate = Gate::new(1);
        let (running, waiting) = (Cancel::new(), Cancel::new());
        let mut holder = gate.pass(&running);
        holder.take().unwrap();
        std::thread::scope(|scope| {
            let answer = scope.spawn(|| gate.pass(&waiting).take());
            while !gate.contended() {
                std::thread::yield_now();
            }
            waiting.cancel();
            assert_eq!(answer.join().unwrap(), Err(Cancelled));
        });
        assert!(!gate.contended());
        drop(holder);
        assert_eq!(gate.free(), 1);
    }

    #[test]
    fn a_slot_is_given_back_when_its_holder_panics() {
        let gate = Gate::new(1);
        let cancel = Cancel::new();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut pass = gate.pass(&cancel);
            pass.take().unwrap();
            panic!("in the middle of the work");
        }));
        assert!(outcome.is_err());
        assert_eq!(gate.free(), 1);
    }

    #[test]
    fn a_contender_keeps_its_slot_while_nobody_waits() {
        let gate = Gate::new(1);
        let mut pass = gate.pass(&Cancel::new());
        pass.take().unwrap();
        pass.yield_now();
        assert_eq!(gate.free(), 0);
        pass.take().unwrap();
        pass.give_back();
        assert_eq!(gate.free(), 1);
    }
}

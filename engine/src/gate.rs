//! The turns at a target that takes only so many writer tasks at once, first come, first served. A task takes its turn before it opens and
//! keeps it until its end. Not here: the slots that readers share (`slots`).

use std::collections::VecDeque;
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
        Gate { inner: Arc::new(Inner { state: Mutex::new(state), changed: Condvar::new() }) }
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

    /// How many slots are free.
    pub fn free(&self) -> usize {
        lock(&self.inner.state).free
    }

    fn take(&self, cancel: &Cancel) -> Result<Slot, Cancelled> {
        let mut state = lock(&self.inner.state);
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.queue.push_back(ticket);
        while !cancel.is_cancelled() && (state.free == 0 || state.queue.front() != Some(&ticket)) {
            state = self.inner.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
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

    fn in_line(gate: &Gate) -> usize {
        lock(&gate.inner.state).queue.len()
    }

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
                while in_line(gate) != name + 1 {
                    std::thread::yield_now();
                }
            }
            drop(holder);
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
            while in_line(&gate) == 0 {
                std::thread::yield_now();
            }
            waiting.cancel();
            assert_eq!(answer.join().unwrap(), Err(Cancelled));
        });
        assert_eq!(in_line(&gate), 0);
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
}

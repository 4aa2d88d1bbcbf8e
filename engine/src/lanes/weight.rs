//! The bytes of the batches that wait. A batch weighs until the last of its records is done.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::keys::Closed;
use crate::sync::{Condvar, Mutex, lock, wait};

/// How much waits, and how much may.
pub(super) struct Weight {
    capacity: NonZeroUsize,
    state: Mutex<State>,
    lighter: Condvar,
}

#[derive(Default)]
struct State {
    bytes: usize,
    is_closed: bool,
}

/// Bytes that count until this is dropped.
pub(super) struct Load {
    weight: Arc<Weight>,
    bytes: usize,
}

impl Weight {
    pub(super) fn new(capacity: NonZeroUsize) -> Weight {
        Weight { capacity, state: Mutex::new(State::default()), lighter: Condvar::new() }
    }

    /// Waits until there is room for so many bytes; what is larger than all waits until nothing else is there.
    pub(super) fn take(
        self: &Arc<Weight>,
        bytes: usize,
        before_wait: &mut dyn FnMut(),
    ) -> Result<(Load, Duration), Closed> {
        let mut waiting: Option<Instant> = None;
        let mut state = lock(&self.state);
        while !state.is_closed && state.bytes > 0 && state.bytes.saturating_add(bytes) > self.capacity.get() {
            before_wait();
            waiting.get_or_insert_with(Instant::now);
            state = wait(&self.lighter, state);
        }
        if state.is_closed {
            return Err(Closed);
        }
        state.bytes += bytes;
        Ok((Load { weight: self.clone(), bytes }, waiting.map_or(Duration::ZERO, |since| since.elapsed())))
    }

    pub(super) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.lighter.notify_all();
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        lock(&self.weight.state).bytes -= self.bytes;
        self.weight.lighter.notify_all();
    }
}

//! What threads meet on: std's, or loom's under `cfg(transship_loom)`, so that the very code that runs is model-checked.
//! Not here: anything that decides (`channel`, `throttle`).

use std::sync::PoisonError;
use std::time::Duration;

#[cfg(transship_loom)]
pub use loom::{
    sync::{Arc, Condvar, Mutex, MutexGuard, atomic},
    thread,
};
#[cfg(not(transship_loom))]
pub use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, atomic},
    thread,
};

/// Locks. A panic of another holder is not passed on: whoever keeps state behind such a lock changes it in one piece and
/// calls no foreign code meanwhile, so that the state is whole whatever happened.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification. It may also return without one: ask for the state again.
pub fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification, at most this long (under loom, where no time passes, for a notification alone).
pub fn wait_timeout<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>, timeout: Duration) -> MutexGuard<'a, T> {
    condvar.wait_timeout(guard, timeout).unwrap_or_else(PoisonError::into_inner).0
}

//! A wait that the engine can end.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use transship_plugin_api::{CancelHandle, Error, Host, Result};

/// How often a waiting task asks the host whether it shall stop, should nobody call its cancel handle.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Lets a task wait until a time has come or the engine wants it to stop.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    cancelled: Arc<(Mutex<bool>, Condvar)>,
}

impl Pause {
    /// Waits this long.
    ///
    /// # Errors
    /// `Cancelled`, at once, when the engine wants the task to stop.
    pub(crate) fn wait(&self, time: Duration, host: &dyn Host) -> Result<()> {
        let started = Instant::now();
        let (cancelled, changed) = &*self.cancelled;
        let mut guard = cancelled.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if *guard || host.is_cancelled() {
                return Err(Error::cancelled());
            }
            let left = time.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            guard = changed.wait_timeout(guard, left.min(ASK_EVERY)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the present wait and every later one.
    pub(crate) fn cancel_handle(&self) -> CancelHandle {
        let shared = self.cancelled.clone();
        Arc::new(move || {
            *shared.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            shared.1.notify_all();
        })
    }
}

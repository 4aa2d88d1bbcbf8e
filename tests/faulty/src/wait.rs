//! Waits that end in each of the ways a plugin's wait may end: on a wish to cancel, on an interrupt, when a file appears, or
//! never.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use transship_plugin_api::Host;

/// How often a wait looks at what it waits for.
const LOOK: Duration = Duration::from_millis(2);

/// Rung by `cancel`; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bell {
    inner: Arc<(Mutex<bool>, Condvar)>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        *self.inner.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.inner.1.notify_all();
    }

    /// Waits for the bell and looks at nothing else.
    pub(crate) fn wait(&self) {
        let mut rung = self.inner.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            rung = self.inner.1.wait(rung).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Waits for so long.
pub(crate) fn for_so_long(time: Duration) {
    let (mutex, condition) = (Mutex::new(()), Condvar::new());
    let waiting = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody rings.
    let _ = condition.wait_timeout_while(waiting, time, |()| true);
}

/// Waits until the engine wants the work to end.
pub(crate) fn until_cancelled(host: &dyn Host) {
    until(|| host.is_cancelled());
}

/// Waits for a file; whether it is there (`false`: the work was cancelled first).
pub(crate) fn until_file(path: &Path, host: &dyn Host) -> bool {
    until(|| path.exists() || host.is_cancelled());
    path.exists()
}

/// Waits for so long, or until the engine wants the work to end.
pub(crate) fn millis(millis: u64, host: &dyn Host) {
    let start = std::time::Instant::now();
    until(|| start.elapsed() >= Duration::from_millis(millis) || host.is_cancelled());
}

/// Waits for ever.
pub(crate) fn for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Waits a moment, or until the time is up.
pub(crate) fn a_moment(time: Duration) {
    std::thread::park_timeout(time);
}

fn until(over: impl Fn() -> bool) {
    while !over() {
        std::thread::park_timeout(LOOK);
    }
}

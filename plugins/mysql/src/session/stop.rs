//! Whether the work on a connection is to end: asked between two looks at a socket, set from any thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use transship_plugin_api::{CancelHandle, Error, HostRef, Result};

/// Between two looks, while nothing comes from the server.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Ends the work on a connection.
#[derive(Clone)]
pub(crate) struct Stop {
    host: Option<HostRef>,
    stopped: Arc<AtomicBool>,
}

impl Stop {
    pub(crate) fn new(host: HostRef) -> Stop {
        Stop { host: Some(host), stopped: Arc::new(AtomicBool::new(false)) }
    }

    /// For the last words on a connection, when all else is to end.
    pub(super) fn deaf() -> Stop {
        Stop { host: None, stopped: Arc::new(AtomicBool::new(false)) }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.host.as_ref().is_some_and(|host| host.is_cancelled())
    }

    /// An error once the work is to end.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// Tells the engine what is about to be waited for.
    pub(super) fn doing(&self, what: &str) {
        if let Some(host) = &self.host {
            host.doing(what);
        }
    }

    pub(crate) fn cancel_handle(&self) -> CancelHandle {
        let stopped = self.stopped.clone();
        Arc::new(move || stopped.store(true, Ordering::Relaxed))
    }

    /// Waits so long, or until the work is to end.
    pub(crate) fn wait(&self, pause: Duration) -> Result<()> {
        let mut left = pause;
        while !left.is_zero() {
            self.check()?;
            let step = left.min(BETWEEN_LOOKS);
            std::thread::park_timeout(step);
            left = left.saturating_sub(step);
        }
        self.check()
    }
}

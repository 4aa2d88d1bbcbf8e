//! Ends what waits for a server, from any thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::sync::watch;
use transship_plugin_api::{CancelHandle, HostRef};

/// Between two looks at the host, for calls that have no cancel handle.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Ends the work on a connection.
#[derive(Clone)]
pub(crate) struct Stop {
    host: HostRef,
    stopped: Arc<watch::Sender<bool>>,
}

impl Stop {
    pub(crate) fn new(host: HostRef) -> Stop {
        Stop { host, stopped: Arc::new(watch::Sender::new(false)) }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        *self.stopped.borrow() || self.host.is_cancelled()
    }

    /// Tells the engine what is about to be waited for.
    pub(super) fn doing(&self, what: &str) {
        self.host.doing(what);
    }

    pub(crate) fn cancel_handle(&self) -> CancelHandle {
        let stopped = self.stopped.clone();
        Arc::new(move || {
            stopped.send_replace(true);
        })
    }

    /// What the work comes to; `None` once it is to stop.
    pub(super) async fn race<F: Future>(&self, work: F) -> Option<F::Output> {
        let mut work = pin!(work);
        let mut signal = self.stopped.subscribe();
        let mut stopped = pin!(signal.wait_for(|stopped| *stopped));
        loop {
            let look = pin!(tokio::time::sleep(BETWEEN_LOOKS));
            // The work first: what is there already is taken even if it is to stop.
            match select(work.as_mut(), select(stopped.as_mut(), look)).await {
                Either::Left((output, _)) => return Some(output),
                Either::Right((Either::Left(_), _)) => return None,
                Either::Right((Either::Right(_), _)) if self.host.is_cancelled() => return None,
                Either::Right((Either::Right(_), _)) => {}
            }
        }
    }
}

//! SIGINT and SIGTERM: the first ends the run in good order, the second ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::JoinHandle;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, iterator};

use crate::cancel::Cancel;

/// Listens to signals until dropped.
pub(super) struct Signals {
    received: Arc<AtomicI32>,
    handle: iterator::Handle,
    listener: Option<JoinHandle<()>>,
}

impl Signals {
    /// Cancels the work when a signal comes.
    pub(super) fn listen(cancel: &Cancel) -> std::io::Result<Signals> {
        let received = Arc::new(AtomicI32::new(0));
        // The second signal is dealt with in the handler itself: whatever the first has set going may hang.
        let armed = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 128 + signal, armed.clone())?;
            flag::register(signal, armed.clone())?;
        }
        let mut signals = iterator::Signals::new([SIGINT, SIGTERM])?;
        let handle = signals.handle();
        let (first, cancel) = (received.clone(), cancel.clone());
        let listener = std::thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                first.store(signal, Ordering::SeqCst);
                cancel.cancel();
            }
        })?;
        Ok(Signals { received, handle, listener: Some(listener) })
    }

    /// The signal that came, if one did.
    pub(super) fn received(&self) -> Option<i32> {
        match self.received.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

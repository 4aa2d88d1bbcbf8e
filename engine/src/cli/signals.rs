//! SIGINT, SIGTERM and SIGHUP: the first ends the run in good order, a later one ends the process at once. Before anything runs the
//! first ends the process too: there is nothing to put in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{flag, iterator};

use crate::cancel::{Cancel, Drain};

/// Two signals closer together than this are one wish: `timeout` signals a process and then its whole group.
const ONE_WISH: Duration = Duration::from_millis(100);

/// Listens to signals until dropped.
pub(super) struct Signals {
    received: Arc<AtomicI32>,
    /// Whether the next signal ends the process. It does so in the handler itself: whatever the first has set going may hang.
    armed: Arc<AtomicBool>,
    /// Whether the first signal only ends the reading.
    drains: Arc<AtomicBool>,
    drain: Drain,
    handle: iterator::Handle,
    listener: Option<JoinHandle<()>>,
}

impl Signals {
    /// Listens. Until [`Signals::cancel_first`] a signal ends the process.
    pub(super) fn listen(cancel: &Cancel) -> std::io::Result<Signals> {
        let received = Arc::new(AtomicI32::new(0));
        let armed = Arc::new(AtomicBool::new(true));
        let mut heeded = vec![SIGINT, SIGTERM];
        // Whoever has it ignored (nohup) does not want the run to end with the terminal.
        if !is_ignored(SIGHUP) {
            heeded.push(SIGHUP);
        }
        for signal in &heeded {
            flag::register_conditional_shutdown(*signal, 128 + signal, armed.clone())?;
        }
        // A file that may not grow further is an error of writing, not the end of the process.
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        let mut signals = iterator::Signals::new(&heeded)?;
        let handle = signals.handle();
        let (first, cancel, arm) = (received.clone(), cancel.clone(), armed.clone());
        let (drains, drain) = (Arc::new(AtomicBool::new(false)), Drain::default());
        let (is_to_drain, draining) = (drains.clone(), drain.clone());
        let listener = std::thread::Builder::new().name("signals".into()).spawn(move || {
            let mut coming = signals.forever();
            let Some(signal) = coming.next() else { return };
            first.store(signal, Ordering::SeqCst);
            if is_to_drain.load(Ordering::SeqCst) {
                draining.wish();
                let since = Instant::now();
                // A second one, unless it belongs to the first, ends the work as without draining.
                if coming.find(|_| since.elapsed() > ONE_WISH).is_none() {
                    return;
                }
            }
            std::thread::scope(|scope| {
                let arming = std::thread::Builder::new().name("second signal".into()).spawn_scoped(scope, || {
                    std::thread::park_timeout(ONE_WISH);
                    arm.store(true, Ordering::SeqCst);
                });
                if arming.is_err() {
                    arm.store(true, Ordering::SeqCst);
                }
                cancel.cancel();
                if let Ok(arming) = arming {
                    // The others are heard until then, and have no more to say.
                    let _ = arming.join();
                }
            });
        })?;
        Ok(Signals { received, armed, drains, drain, handle, listener: Some(listener) })
    }

    /// From here on the first signal cancels the work.
    pub(super) fn cancel_first(&self) {
        self.armed.store(false, Ordering::SeqCst);
    }

    /// The first signal ends the reading alone, and what was read is written; the second cancels the work.
    pub(super) fn drain_first(&self) {
        self.drains.store(true, Ordering::SeqCst);
    }

    /// The wish that a first signal may be.
    pub(super) fn drain(&self) -> &Drain {
        &self.drain
    }

    /// The signal that came, if one did.
    pub(super) fn received(&self) -> Option<i32> {
        match self.received.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }
}

/// Whether the process was started with this signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim).unwrap_or_default();
    u64::from_str_radix(mask, 16).is_ok_and(|mask| mask >> (signal - 1) & 1 == 1)
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

//! Waiting for a state, never for a time to pass.

use std::time::{Duration, Instant};

/// How often a state is looked at.
const LOOK: Duration = Duration::from_millis(3);
/// After this the state is taken never to come.
const LIMIT: Duration = Duration::from_secs(60);

/// Waits until there is something, and gives it.
///
/// # Panics
/// After a minute.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < LIMIT, "waited in vain for {what}");
        std::thread::park_timeout(LOOK);
    }
}

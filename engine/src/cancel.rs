//! The wish that work ends, passed to everything that works or waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

type Action = Arc<dyn Fn() + Send + Sync>;

/// Says whether work should end, and wakes those who wait. Clones share one wish; a child also ends with its parent.
#[derive(Clone, Default)]
pub struct Cancel {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    cancelled: AtomicBool,
    next_hook: AtomicU64,
    hooks: Mutex<Vec<(u64, Action)>>,
    /// Keeps a child registered with its parent for as long as the child lives.
    _parent: Option<Hook>,
}

/// The wish that nothing more is read, and that what was read is written. Clones share one wish.
#[derive(Clone, Default)]
pub struct Drain(Cancel);

impl Drain {
    /// Makes the wish.
    pub fn wish(&self) {
        self.0.cancel();
    }

    /// Whether it was made.
    pub fn is_wished(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Runs an action when the wish is made; at once, if it was made already.
    pub fn on_wish(&self, action: impl Fn() + Send + Sync + 'static) -> Hook {
        self.0.on_cancel(action)
    }
}

/// Keeps an action registered with a [`Cancel`]; dropping it takes the action back.
#[must_use = "the action is taken back when this is dropped"]
pub struct Hook {
    owner: Weak<Inner>,
    id: u64,
}

/// The answer to someone who waited for something while the work was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl Cancel {
    /// A wish not yet made.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// One that ends with this one, and can end alone.
    pub fn child(&self) -> Cancel {
        let child = Arc::new_cyclic(|weak: &Weak<Inner>| {
            let weak = weak.clone();
            let parent = self.on_cancel(move || {
                if let Some(inner) = weak.upgrade() {
                    Cancel { inner }.cancel();
                }
            });
            Inner { _parent: Some(parent), ..Inner::default() }
        });
        let child = Cancel { inner: child };
        // The parent may have been cancelled while the child could not be reached yet.
        if self.is_cancelled() {
            child.cancel();
        }
        child
    }

    /// Makes the wish. Every registered action runs once, on this thread.
    pub fn cancel(&self) {
        if self.inner.cancelled.swap(true, Ordering::SeqCst) {
            return;
        }
        let hooks: Vec<Action> = self.hooks().iter().map(|(_, action)| action.clone()).collect();
        for action in hooks {
            action();
        }
    }

    /// Whether the wish was made.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.load(Ordering::SeqCst)
    }

    /// Runs an action when the wish is made; at once, if it was made already.
    pub fn on_cancel(&self, action: impl Fn() + Send + Sync + 'static) -> Hook {
        let action: Action = Arc::new(action);
        let id = self.inner.next_hook.fetch_add(1, Ordering::Relaxed);
        self.hooks().push((id, action.clone()));
        // Registered first, asked second: whichever way a concurrent `cancel` falls, the action runs (perhaps twice).
        if self.is_cancelled() {
            action();
        }
        Hook { owner: Arc::downgrade(&self.inner), id }
    }

    /// Lets this much time pass, or less if the wish is made meanwhile.
    pub fn pause(&self, time: Duration) {
        let woken = Arc::new((Mutex::new(()), Condvar::new()));
        let wake = woken.clone();
        let _hook = self.on_cancel(move || {
            let _guard = wake.0.lock().unwrap_or_else(PoisonError::into_inner);
            wake.1.notify_all();
        });
        // Counted from the start: a moment far enough in the future may not exist.
        let start = Instant::now();
        let mut guard = woken.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_cancelled() && start.elapsed() < time {
            let rest = time.saturating_sub(start.elapsed());
            guard = woken.1.wait_timeout(guard, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn hooks(&self) -> std::sync::MutexGuard<'_, Vec<(u64, Action)>> {
        self.inner.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        if let Some(inner) = self.owner.upgrade() {
            Cancel { inner }.hooks().retain(|(id, _)| *id != self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn counter() -> (Arc<AtomicUsize>, impl Fn() + Send + Sync + 'static) {
        let count = Arc::new(AtomicUsize::new(0));
        let clone = count.clone();
        (count, move || {
            clone.fetch_add(1, Ordering::SeqCst);
        })
    }

    #[test]
    fn an_action_runs_once_however_often_the_wish_is_made() {
        let cancel = Cancel::new();
        let (count, action) = counter();
        let _hook = cancel.on_cancel(action);
        cancel.cancel();
        cancel.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn an_action_that_comes_late_runs_at_once() {
        let cancel = Cancel::new();
        cancel.cancel();
        let (count, action) = counter();
        let _hook = cancel.on_cancel(action);
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_dropped_hook_is_not_called() {
        let cancel = Cancel::new();
        let (count, action) = counter();
        drop(cancel.on_cancel(action));
        cancel.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_child_ends_with_its_parent_but_not_the_other_way_round() {
        let parent = Cancel::new();
        let first = parent.child();
        let second = parent.child();
        first.cancel();
        assert!(first.is_cancelled() && !parent.is_cancelled() && !second.is_cancelled());
        parent.cancel();
        assert!(second.is_cancelled());
        assert!(parent.child().is_cancelled(), "born after the wish");
    }

    #[test]
    fn a_dropped_child_leaves_nothing_behind_in_its_parent() {
        let parent = Cancel::new();
        drop(parent.child());
        assert!(parent.hooks().is_empty());
    }

    #[test]
    fn a_pause_ends_with_the_wish_however_long_it_was_meant_to_be() {
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            let pausing = scope.spawn(|| cancel.pause(Duration::MAX));
            while cancel.hooks().is_empty() {
                std::thread::yield_now();
            }
            cancel.cancel();
            pausing.join().unwrap();
        });
        assert!(cancel.hooks().is_empty());
        Cancel::new().pause(Duration::ZERO);
    }
}

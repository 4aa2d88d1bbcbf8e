//! The queue as its two sides see it (`queue`, `batches`), and how loaders fill it (`loading`). The scenarios are those of the bounded split
//! queue (PQ), the split source (PS) and the batching of it (PB). What must hold under every schedule is in `loom.rs`.
//!
//! Without a test here: PQ-07 and PQ-08 limit splits per second, which nobody does; PS-02 skips splits at hand-out, where readers do not
//! list them in the first place; PS-03 cuts files, which the reader of files does; PS-08 limits parts of a source, of which any number
//! may be. PQ-05 is a model in `loom.rs`.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use super::*;

mod batches;
mod loading;
mod queue;

type Error = &'static str;

fn number(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

/// A queue of at most so many splits, whose batches wait for `batch` of them, and its first loader.
fn queue_of(splits: usize, batch: usize, loaders: usize) -> (Queue<u32, Error>, Loader<u32, Error>) {
    bounded(Limits { splits: number(splits), bytes: 1 << 20, batch: number(batch) }, number(loaders))
}

/// Splits that take a byte each.
fn some(splits: impl IntoIterator<Item = u32>) -> impl Iterator<Item = (u32, usize)> {
    splits.into_iter().map(|split| (split, 1))
}

/// Lets other threads work until something holds.
fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(10), "what was waited for did not come");
        thread::yield_now();
    }
}

impl<T, E: Clone> Queue<T, E> {
    fn waiting_loaders(&self) -> usize {
        self.shared.lock().waiting_loaders
    }

    fn waiting_takers(&self) -> usize {
        self.shared.lock().waiting_takers
    }

    /// All that comes until the end.
    fn rest(&self) -> Result<Vec<T>, Stop<E>> {
        let mut all = Vec::new();
        while let Some(split) = self.next()? {
            all.push(split);
        }
        Ok(all)
    }
}

//! How far one open task is in its split.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::lock;
use super::work::Extent;

/// How far an open task is in its split. Its reader and its writer add to it; anybody may ask.
///
/// A split is as far as what was written of it: what waits in a channel has yet to be moved. Where nothing waits, it is as far as
/// what was read and has gone through the transformers, so that records which they drop count as well. During an attempt it only
/// grows.
#[derive(Debug, Default)]
pub struct Reach {
    extent: Extent,
    records: AtomicU64,
    bytes: AtomicU64,
    /// How much was read, handed on or dropped, and written: shares of the split, from 0 to 1.
    read: Share,
    handled: Share,
    written: Share,
    batches_sent: AtomicU64,
    batches_written: AtomicU64,
    start: Mutex<Start>,
    /// The batch that is being written.
    batch: Mutex<BatchAtWriter>,
}

/// A batch that is being written.
#[derive(Debug, Clone, Copy, Default)]
struct BatchAtWriter {
    rows: u64,
    /// How much of the split is there before it, and with it.
    before: f64,
    with: f64,
}

/// When an attempt began, and how much of the split was safe by then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub at: Instant,
    pub share: f64,
}

impl Default for Start {
    fn default() -> Start {
        Start { at: Instant::now(), share: 0.0 }
    }
}

impl Reach {
    pub(super) fn of(extent: Extent) -> Reach {
        Reach { extent, ..Reach::default() }
    }

    /// Another attempt begins, behind so much that is safe.
    pub fn begin(&self, records: u64, bytes: u64, share: f64) {
        self.records.store(records, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        for batches in [&self.batches_sent, &self.batches_written] {
            batches.store(0, Ordering::Relaxed);
        }
        for part in [&self.read, &self.handled, &self.written] {
            part.set(share);
        }
        *lock(&self.start) = Start { at: Instant::now(), share: self.written.get() };
    }

    /// A batch was read, and those before it were handed on; `share`: how much of the split that makes, if the reader says so.
    pub fn read(&self, records: u64, bytes: u64, share: Option<f64>) {
        self.handled.raise(self.read.get());
        let records = self.records.fetch_add(records, Ordering::Relaxed) + records;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if let Some(share) = share.or_else(|| self.extent.share(records, bytes)) {
            self.read.raise(share);
        }
    }

    /// How much of the split was read.
    pub fn share_read(&self) -> f64 {
        self.read.get()
    }

    /// A batch goes to the writer; answers how much of the split is there with it.
    pub fn sent(&self) -> f64 {
        // What was dropped before it is not taken back while it waits.
        self.written.raise(self.share());
        self.batches_sent.fetch_add(1, Ordering::Relaxed);
        self.read.get()
    }

    /// A batch of so many rows goes into the target now; `share`: how much of the split is there with it.
    pub fn writes(&self, rows: u64, share: Option<f64>) {
        let before = self.written.get();
        *lock(&self.batch) = BatchAtWriter { rows, before, with: share.unwrap_or(before) };
    }

    /// The writer tells that it has begun with so many rows of the batch: but for the last of them they are written.
    pub fn rows_begun(&self, begun: u64) {
        let BatchAtWriter { rows, before, with } = *lock(&self.batch);
        if rows > 0 && with > before {
            let part = begun.saturating_sub(1).min(rows) as f64 / rows as f64;
            self.written.raise(before + (with - before) * part);
        }
    }

    /// What the task waited for so far tells nothing of how fast it is: it is judged from now on.
    pub fn starts_now(&self) {
        *lock(&self.start) = Start { at: Instant::now(), share: self.share() };
    }

    /// A batch was written; `share`: how much of the split is there with it.
    pub fn written(&self, share: Option<f64>) {
        if let Some(share) = share {
            self.written.raise(share);
        }
        self.batches_written.fetch_add(1, Ordering::Relaxed);
    }

    /// How much of the split is moved, from 0 to 1.
    pub fn share(&self) -> f64 {
        let batches_written = self.batches_written.load(Ordering::Relaxed);
        let written = self.written.get();
        match batches_written < self.batches_sent.load(Ordering::Relaxed) {
            true => written,
            false => written.max(self.handled.get()),
        }
    }

    pub(super) fn start(&self) -> Start {
        *lock(&self.start)
    }

    /// Whether it is known how far it is: there is a size, or the reader has told.
    pub(super) fn is_known(&self) -> bool {
        self.extent.share(0, 0).is_some() || self.read.get() > 0.0 || self.share() > 0.0
    }
}

/// A share from 0 to 1, as the bits of an `f64`: of such numbers the larger one has the larger bits.
#[derive(Debug, Default)]
struct Share(AtomicU64);

impl Share {
    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    fn set(&self, share: f64) {
        self.0.store(Share::bits(share), Ordering::Relaxed);
    }

    fn raise(&self, share: f64) {
        self.0.fetch_max(Share::bits(share), Ordering::Relaxed);
    }

    fn bits(share: f64) -> u64 {
        // Neither NaN nor the sign of a zero may count as much.
        if share > 0.0 { share.min(1.0).to_bits() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A split of ten records.
    fn ten() -> Reach {
        Reach::of(Extent { bytes: None, records: Some(10) })
    }

    #[test]
    fn a_batch_counts_once_it_is_written() {
        let reach = ten();
        reach.read(5, 0, None);
        assert_eq!(reach.share(), 0.0, "read, and in the transformers");
        let share = reach.sent();
        assert_eq!(reach.share(), 0.0, "on its way");
        reach.written(Some(share));
        assert_eq!(reach.share(), 0.5);
    }

    #[test]
    fn rows_that_a_writer_has_done_count_before_the_whole_batch_does() {
        let reach = ten();
        reach.read(8, 0, None);
        let share = reach.sent();
        reach.writes(8, Some(share));
        let shares = [0, 1, 3, 5].map(|begun| {
            reach.rows_begun(begun);
            reach.share()
        });
        assert_eq!(shares, [0.0, 0.0, 0.2, 0.4]);
        reach.written(Some(share));
        assert_eq!(reach.share(), 0.8);
    }

    #[test]
    fn it_is_known_how_far_a_task_is_if_its_split_has_a_size_or_its_reader_tells() {
        let unknown = Reach::of(Extent::default());
        assert!(ten().is_known() && !unknown.is_known());
        unknown.read(1, 0, Some(0.1));
        assert!(unknown.is_known());
    }

    #[test]
    fn what_transformers_drop_counts_once_more_was_read() {
        let reach = ten();
        reach.read(3, 0, None);
        reach.read(2, 0, None);
        assert_eq!(reach.share(), 0.3);
        let share = reach.sent();
        assert_eq!(reach.share(), 0.3, "what was dropped is not taken back");
        reach.written(Some(share));
        assert_eq!(reach.share(), 0.5);
    }

    #[test]
    fn an_attempt_never_goes_back_whatever_its_reader_says() {
        let reach = ten();
        for told in [0.5, 0.4, f64::NAN, -1.0, f64::INFINITY] {
            let before = reach.share();
            reach.read(1, 0, Some(told));
            let share = reach.sent();
            reach.written(Some(share));
            assert!((before..=1.0).contains(&reach.share()), "{told}: {before}, then {}", reach.share());
        }
        assert_eq!(reach.share(), 1.0);
    }

    #[test]
    fn another_attempt_goes_on_behind_what_is_safe() {
        let reach = ten();
        reach.read(8, 0, None);
        reach.begin(4, 0, 0.4);
        assert_eq!((reach.share(), reach.start().share), (0.4, 0.4));
        reach.read(6, 0, None);
        let share = reach.sent();
        reach.written(Some(share));
        assert_eq!(reach.share(), 1.0);
        reach.begin(0, 0, 0.0);
        assert_eq!((reach.share(), reach.start().share), (0.0, 0.0));
    }
}

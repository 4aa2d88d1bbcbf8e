//! How far one open task is in its split.

use std::sync::atomic::{AtomicU64, Ordering};

use super::work::Extent;

/// How far an open task is in its split. Its reader and its writer add to it; anybody may ask.
///
/// A split is as far as what was written of it: what waits in a channel has yet to be moved. Where nothing waits, it is as far as
/// what was read, so that records which a transformer drops count as well.
#[derive(Debug, Default)]
pub struct Reach {
    extent: Extent,
    records: AtomicU64,
    bytes: AtomicU64,
    /// Shares of the split, from 0 to 1, as bits of an `f64`.
    read: AtomicU64,
    written: AtomicU64,
    batches_sent: AtomicU64,
    batches_written: AtomicU64,
}

impl Reach {
    pub(super) fn of(extent: Extent) -> Reach {
        Reach { extent, ..Reach::default() }
    }

    /// Another attempt begins.
    pub fn begin(&self) {
        for counter in
            [&self.records, &self.bytes, &self.read, &self.written, &self.batches_sent, &self.batches_written]
        {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// A batch was read; `share`: how much of the split that makes, if the reader says so.
    pub fn read(&self, records: u64, bytes: u64, share: Option<f64>) {
        let records = self.records.fetch_add(records, Ordering::Relaxed) + records;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let share = share.or_else(|| self.extent.share(records, bytes));
        if let Some(share) = share {
            store(&self.read, share);
        }
    }

    /// A batch goes to the writer; answers how much of the split is there with it.
    pub fn sent(&self) -> f64 {
        self.batches_sent.fetch_add(1, Ordering::Relaxed);
        load(&self.read)
    }

    /// A batch was written; `share`: how much of the split is there with it.
    pub fn written(&self, share: Option<f64>) {
        if let Some(share) = share {
            store(&self.written, share);
        }
        self.batches_written.fetch_add(1, Ordering::Relaxed);
    }

    /// How much of the split is moved, from 0 to 1.
    pub fn share(&self) -> f64 {
        let written = self.batches_written.load(Ordering::Relaxed);
        let waits = written < self.batches_sent.load(Ordering::Relaxed);
        load(if waits { &self.written } else { &self.read })
    }
}

fn store(share: &AtomicU64, value: f64) {
    let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
    share.store(value.to_bits(), Ordering::Relaxed);
}

fn load(share: &AtomicU64) -> f64 {
    f64::from_bits(share.load(Ordering::Relaxed))
}

//! How far a job is: counters that its threads add to and anybody may read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::metrics::StageMetrics;

/// The counters of a job.
#[derive(Debug, Default)]
pub struct Progress {
    read_records: AtomicU64,
    read_bytes: AtomicU64,
    written_records: AtomicU64,
    tasks_known: AtomicU64,
    tasks_done: AtomicU64,
    all_tasks_known: AtomicBool,
    source_bytes: AtomicU64,
    source_bytes_done: AtomicU64,
    wait_for_reader_nanos: AtomicU64,
    wait_for_writer_nanos: AtomicU64,
    /// What its transformers last told of a second; none that nobody has taken.
    second: Mutex<Option<Vec<StageMetrics>>>,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub read_records: u64,
    pub read_bytes: u64,
    pub written_records: u64,
    pub tasks_known: u64,
    pub tasks_done: u64,
    pub all_tasks_known: bool,
    /// Bytes of the splits known so far, as the reader tells them, and of those that are done.
    pub source_bytes: u64,
    pub source_bytes_done: u64,
    pub wait_for_reader_nanos: u64,
    pub wait_for_writer_nanos: u64,
}

impl Progress {
    pub fn read(&self, records: u64, bytes: u64) {
        self.read_records.fetch_add(records, Ordering::Relaxed);
        self.read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn written(&self, records: u64) {
        self.written_records.fetch_add(records, Ordering::Relaxed);
    }

    pub fn task_known(&self, source_bytes: Option<u64>) {
        self.tasks_known.fetch_add(1, Ordering::Relaxed);
        self.source_bytes.fetch_add(source_bytes.unwrap_or(0), Ordering::Relaxed);
    }

    pub fn task_done(&self, source_bytes: Option<u64>) {
        self.tasks_done.fetch_add(1, Ordering::Relaxed);
        self.source_bytes_done.fetch_add(source_bytes.unwrap_or(0), Ordering::Relaxed);
    }

    pub fn no_more_tasks(&self) {
        self.all_tasks_known.store(true, Ordering::Relaxed);
    }

    pub fn waited_for_reader(&self, time: std::time::Duration) {
        self.wait_for_reader_nanos.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    pub fn waited_for_writer(&self, time: std::time::Duration) {
        self.wait_for_writer_nanos.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// What transformers counted and measured, and how long records waited, in the second that has passed.
    pub fn second(&self, stages: Vec<StageMetrics>) {
        *self.second.lock().unwrap_or_else(PoisonError::into_inner) = Some(stages);
    }

    /// Takes what was told of the last second.
    pub fn take_second(&self) -> Option<Vec<StageMetrics>> {
        self.second.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub fn snapshot(&self) -> Snapshot {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            read_records: load(&self.read_records),
            read_bytes: load(&self.read_bytes),
            written_records: load(&self.written_records),
            tasks_known: load(&self.tasks_known),
            tasks_done: load(&self.tasks_done),
            all_tasks_known: self.all_tasks_known.load(Ordering::Relaxed),
            source_bytes: load(&self.source_bytes),
            source_bytes_done: load(&self.source_bytes_done),
            wait_for_reader_nanos: load(&self.wait_for_reader_nanos),
            wait_for_writer_nanos: load(&self.wait_for_writer_nanos),
        }
    }
}

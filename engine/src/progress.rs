//! How far a job is: counters that its threads add to and anybody may read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::metrics::StageMetrics;
use crate::slots::{Share, Standing};

/// The counters of a job.
#[derive(Default)]
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
    has_begun: AtomicBool,
    has_ended: AtomicBool,
    /// How it shares the slots of the run.
    share: OnceLock<Arc<Share>>,
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
    pub has_begun: bool,
    pub has_ended: bool,
    /// How it shares the slots of the run.
    pub standing: Standing,
}

impl Progress {
    /// The job has begun.
    pub fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// The job has come to its end, whatever that was.
    pub fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// It has this share of the slots.
    pub fn shares_slots(&self, share: &Arc<Share>) {
        let _ = self.share.set(share.clone());
    }

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
            has_begun: self.has_begun.load(Ordering::Relaxed),
            has_ended: self.has_ended.load(Ordering::Relaxed),
            standing: self.share.get().map(|share| share.standing()).unwrap_or_default(),
        }
    }
}

impl Snapshot {
    /// Several jobs together.
    pub fn sum(all: &[Snapshot]) -> Snapshot {
        let add = |of: fn(&Snapshot) -> u64| all.iter().map(of).sum();
        let standing = |of: fn(&Standing) -> usize| all.iter().map(|one| of(&one.standing)).sum();
        Snapshot {
            read_records: add(|one| one.read_records),
            read_bytes: add(|one| one.read_bytes),
            written_records: add(|one| one.written_records),
            tasks_known: add(|one| one.tasks_known),
            tasks_done: add(|one| one.tasks_done),
            all_tasks_known: all.iter().all(|one| one.all_tasks_known),
            source_bytes: add(|one| one.source_bytes),
            source_bytes_done: add(|one| one.source_bytes_done),
            wait_for_reader_nanos: add(|one| one.wait_for_reader_nanos),
            wait_for_writer_nanos: add(|one| one.wait_for_writer_nanos),
            has_begun: all.iter().any(|one| one.has_begun),
            has_ended: all.iter().all(|one| one.has_ended),
            standing: Standing {
                scheduled: all.iter().map(|one| one.standing.scheduled).sum(),
                level: all.iter().map(|one| one.standing.level).max().unwrap_or(0),
                running: standing(|one| one.running),
                waiting: standing(|one| one.waiting),
                blocked: standing(|one| one.blocked),
            },
        }
    }
}

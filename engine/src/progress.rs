//! How far a job is: counters that its threads add to and anybody may read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use transship_plugin_api::Split;

use crate::metrics::StageMetrics;
use crate::slots::{Share, Standing};

mod reach;
mod work;

pub use reach::Reach;
pub use work::{OpenTask, Unit, Work};

use work::{Extent, Ledger};

/// The counters of a job.
#[derive(Default)]
pub struct Progress {
    read_records: AtomicU64,
    read_bytes: AtomicU64,
    written_records: AtomicU64,
    all_tasks_known: AtomicBool,
    /// Its splits: those known, open and done.
    ledger: Mutex<Ledger>,
    wait_for_reader_nanos: AtomicU64,
    wait_for_writer_nanos: AtomicU64,
    wait_for_limit_nanos: AtomicU64,
    has_begun: AtomicBool,
    has_ended: AtomicBool,
    /// How it shares the slots of the run.
    share: OnceLock<Arc<Share>>,
    /// How many of its records were found to be dirty.
    dirty_records: OnceLock<Arc<AtomicU64>>,
    /// What its transformers told of the last second…
    second: Mutex<Option<Arc<Vec<StageMetrics>>>>,
    /// …and, when it had ended, of the whole job.
    whole: OnceLock<Arc<Vec<StageMetrics>>>,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub read_records: u64,
    pub read_bytes: u64,
    pub written_records: u64,
    /// Dirty records, those of attempts that were tried again included.
    pub dirty_records: u64,
    pub tasks_known: u64,
    pub tasks_done: u64,
    /// Those that have begun and not ended, whether their readers still read or only their writers write.
    pub open_tasks: u64,
    pub all_tasks_known: bool,
    /// Bytes of the splits known so far, as the reader tells them, and of those that are done.
    pub source_bytes: u64,
    pub source_bytes_done: u64,
    pub wait_for_reader_nanos: u64,
    pub wait_for_writer_nanos: u64,
    /// How long readers waited because of a speed limit.
    pub wait_for_limit_nanos: u64,
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

    /// Its dirty records are counted here.
    pub fn counts_dirty(&self, counter: Arc<AtomicU64>) {
        let _ = self.dirty_records.set(counter);
    }

    pub fn read(&self, records: u64, bytes: u64) {
        self.read_records.fetch_add(records, Ordering::Relaxed);
        self.read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn written(&self, records: u64) {
        self.written_records.fetch_add(records, Ordering::Relaxed);
    }

    /// There is one task more, for this split.
    pub fn task_known(&self, split: &Split) {
        self.ledger().add(Extent::of(split));
    }

    /// The task with this number begins; it is done when the answer is dropped.
    pub fn open_task(&self, number: u32, split: &Split) -> OpenedTask<'_> {
        let reach = self.ledger().open(number, split.label.clone(), Extent::of(split));
        OpenedTask { progress: self, number, reach }
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

    pub fn waited_for_limit(&self, time: std::time::Duration) {
        self.wait_for_limit_nanos.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// What transformers counted and measured, and how long records waited, in the second that has passed.
    pub fn second(&self, stages: Vec<StageMetrics>) {
        *lock(&self.second) = Some(Arc::new(stages));
    }

    /// The same of the whole job, which has ended.
    pub fn whole(&self, stages: &[StageMetrics]) {
        let _ = self.whole.set(Arc::new(stages.to_vec()));
    }

    /// What was told of the last second, unless it was `seen` before; then it is.
    pub fn new_second(&self, seen: &mut Option<Arc<Vec<StageMetrics>>>) -> Option<Arc<Vec<StageMetrics>>> {
        let told = lock(&self.second).clone()?;
        let is_new = seen.as_ref().is_none_or(|seen| !Arc::ptr_eq(seen, &told));
        is_new.then(|| seen.insert(told).clone())
    }

    /// What was told last, of a second or of the whole job.
    pub fn stages(&self) -> Option<Arc<Vec<StageMetrics>>> {
        self.whole.get().cloned().or_else(|| lock(&self.second).clone())
    }

    /// How much of its work is done.
    pub fn work(&self) -> Work {
        let may_grow = !self.all_tasks_known.load(Ordering::Relaxed);
        self.ledger().work(may_grow)
    }

    pub fn snapshot(&self) -> Snapshot {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (known, done, open_tasks) = {
            let ledger = self.ledger();
            (*ledger.known(), *ledger.done(), ledger.open_count())
        };
        Snapshot {
            read_records: load(&self.read_records),
            read_bytes: load(&self.read_bytes),
            written_records: load(&self.written_records),
            dirty_records: self.dirty_records.get().map_or(0, |counter| load(counter)),
            tasks_known: known.splits,
            tasks_done: done.splits,
            open_tasks,
            all_tasks_known: self.all_tasks_known.load(Ordering::Relaxed),
            source_bytes: known.bytes,
            source_bytes_done: done.bytes,
            wait_for_reader_nanos: load(&self.wait_for_reader_nanos),
            wait_for_writer_nanos: load(&self.wait_for_writer_nanos),
            wait_for_limit_nanos: load(&self.wait_for_limit_nanos),
            has_begun: self.has_begun.load(Ordering::Relaxed),
            has_ended: self.has_ended.load(Ordering::Relaxed),
            standing: self.share.get().map(|share| share.standing()).unwrap_or_default(),
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }
}

/// A task under way.
pub struct OpenedTask<'a> {
    progress: &'a Progress,
    number: u32,
    /// How far it is.
    pub reach: Arc<Reach>,
}

impl Drop for OpenedTask<'_> {
    fn drop(&mut self) {
        self.progress.ledger().close(self.number);
    }
}

impl Snapshot {
    /// Open tasks of which all is read.
    pub fn only_writing(&self) -> u64 {
        let Standing { running, waiting, blocked, .. } = self.standing;
        self.open_tasks.saturating_sub((running + waiting + blocked) as u64)
    }

    /// Several jobs together.
    pub fn sum(all: &[Snapshot]) -> Snapshot {
        let add = |of: fn(&Snapshot) -> u64| all.iter().map(of).sum();
        let standing = |of: fn(&Standing) -> usize| all.iter().map(|one| of(&one.standing)).sum();
        Snapshot {
            read_records: add(|one| one.read_records),
            read_bytes: add(|one| one.read_bytes),
            written_records: add(|one| one.written_records),
            dirty_records: add(|one| one.dirty_records),
            tasks_known: add(|one| one.tasks_known),
            tasks_done: add(|one| one.tasks_done),
            open_tasks: add(|one| one.open_tasks),
            all_tasks_known: all.iter().all(|one| one.all_tasks_known),
            source_bytes: add(|one| one.source_bytes),
            source_bytes_done: add(|one| one.source_bytes_done),
            wait_for_reader_nanos: add(|one| one.wait_for_reader_nanos),
            wait_for_writer_nanos: add(|one| one.wait_for_writer_nanos),
            wait_for_limit_nanos: add(|one| one.wait_for_limit_nanos),
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

/// Locks std's mutex, also under loom: what is counted here is no part of any model.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

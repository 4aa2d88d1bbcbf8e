//! What an attempt that goes on has spent its time with so far. Records are made of phases that have ended (`Perf`); whoever looks at a
//! run in its midst, or after it was killed, wants to know of those that have not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::Phase;

/// What both sides of an attempt spend their time with.
#[derive(Debug)]
pub struct Times {
    began: Instant,
    pub reader: Meter,
    pub writer: Meter,
}

/// What one thread spends its time with: it is in one phase at a time.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Spent>);

#[derive(Debug, Default)]
struct Spent {
    /// In which phase it is, and since when.
    now: Option<(Phase, Instant)>,
    nanos: BTreeMap<Phase, u64>,
}

/// The attempts of a job that go on. Clones tell of the same.
#[derive(Debug, Default, Clone)]
pub struct Attempts(Arc<Mutex<Vec<Weak<Times>>>>);

impl Meter {
    /// The thread enters this phase, and leaves the one in which it was.
    pub fn enter(&self, phase: Phase) {
        self.turn_to(Some(phase));
    }

    /// Nothing more is done.
    pub fn stop(&self) {
        self.turn_to(None);
    }

    /// Does something that is a phase of its own within another one.
    pub fn during<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let before = self.turn_to(Some(phase));
        let done = work();
        self.turn_to(before);
        done
    }

    fn turn_to(&self, next: Option<Phase>) -> Option<Phase> {
        let now = Instant::now();
        let mut spent = lock(&self.0);
        let before = std::mem::replace(&mut spent.now, next.map(|phase| (phase, now)));
        if let Some((phase, since)) = before {
            *spent.nanos.entry(phase).or_default() += now.duration_since(since).as_nanos() as u64;
        }
        before.map(|(phase, _)| phase)
    }

    /// In which phase it is, and for how long.
    fn now(&self) -> Option<(Phase, Duration)> {
        lock(&self.0).now.map(|(phase, since)| (phase, since.elapsed()))
    }

    /// The nanoseconds of each phase so far, that in which it is included; nested as in perf records: what is waited and transformed
    /// while data moves is a part of moving it.
    fn so_far(&self) -> BTreeMap<Phase, u64> {
        let spent = lock(&self.0);
        let mut nanos = spent.nanos.clone();
        if let Some((phase, since)) = spent.now {
            *nanos.entry(phase).or_default() += since.elapsed().as_nanos() as u64;
        }
        drop(spent);
        for (whole, parts) in NESTED {
            let inner: u64 = parts.iter().filter_map(|part| nanos.get(part)).sum();
            if let Some(whole) = nanos.get_mut(&whole) {
                *whole += inner;
            }
        }
        nanos
    }
}

/// Phases that consist of others and what is left of them.
const NESTED: [(Phase, &[Phase]); 2] = [
    (Phase::ReadTaskData, &[Phase::WaitWriteTime, Phase::WaitLimitTime, Phase::WaitSlotTime, Phase::TransformerTime]),
    (Phase::WriteTaskData, &[Phase::WaitReadTime, Phase::TransformerTime]),
];

impl Attempts {
    /// An attempt begins.
    pub fn begin(&self) -> Arc<Times> {
        let times = Arc::new(Times { began: Instant::now(), reader: Meter::default(), writer: Meter::default() });
        let mut all = lock(&self.0);
        all.retain(|times| times.strong_count() > 0);
        all.push(Arc::downgrade(&times));
        times
    }

    /// What all of them have spent so far, in nanoseconds, their readers and their writers; of each, `TASK_TOTAL` is its age.
    pub fn so_far(&self) -> (BTreeMap<Phase, u64>, BTreeMap<Phase, u64>) {
        let all = self.all();
        (sum(&all, |times| &times.reader), sum(&all, |times| &times.writer))
    }

    /// In which phase each side of each is now, and for how long.
    pub fn now(&self) -> Vec<(Phase, Duration)> {
        let sides = |times: &Arc<Times>| [times.reader.now(), times.writer.now()];
        self.all().iter().flat_map(sides).flatten().collect()
    }

    fn all(&self) -> Vec<Arc<Times>> {
        lock(&self.0).iter().filter_map(Weak::upgrade).collect()
    }
}

fn sum(all: &[Arc<Times>], side: fn(&Times) -> &Meter) -> BTreeMap<Phase, u64> {
    let mut sum = BTreeMap::new();
    for times in all {
        let mut nanos = side(times).so_far();
        if !nanos.is_empty() {
            nanos.insert(Phase::TaskTotal, times.began.elapsed().as_nanos() as u64);
        }
        for (phase, nanos) in nanos {
            *sum.entry(phase).or_default() += nanos;
        }
    }
    sum
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_that_goes_on_counts_and_is_nested_as_in_records() {
        let open = Attempts::default();
        let times = open.begin();
        times.reader.enter(Phase::ReadTaskInit);
        times.reader.enter(Phase::ReadTaskData);
        times.reader.during(Phase::TransformerTime, || {
            let inner = open.so_far().0;
            assert!(inner[&Phase::TransformerTime] > 0, "{inner:?}");
        });
        let (reader, writer) = open.so_far();
        assert!(reader[&Phase::ReadTaskData] > reader[&Phase::TransformerTime], "{reader:?}");
        let parts = reader[&Phase::ReadTaskInit] + reader[&Phase::ReadTaskData];
        assert!(parts <= reader[&Phase::TaskTotal], "{reader:?}");
        assert!(writer.is_empty(), "it has not begun");
        times.reader.stop();
        let stopped = open.so_far().0;
        assert_eq!(stopped[&Phase::ReadTaskData], open.so_far().0[&Phase::ReadTaskData], "it has stopped");
        drop(times);
        assert!(open.so_far().0.is_empty(), "it has ended");
    }
}

//! How much of a job's work is done: whole splits by their size, and parts of those that are open.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use transship_plugin_api::Split;

use super::reach::Reach;

/// How large a split is, as its reader says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    pub bytes: Option<u64>,
    pub records: Option<u64>,
}

/// What work is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Bytes of the source: all splits known so far have a size in bytes.
    Bytes,
    /// Records of the source: all have a number of records.
    Records,
    /// Splits, one like the other.
    #[default]
    Splits,
}

/// How much of a job is done at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Work {
    pub unit: Unit,
    /// In that unit.
    pub done: f64,
    /// Of the splits known so far.
    pub known: f64,
    /// Whether more splits may be found.
    pub may_grow: bool,
    /// The size of the largest split that nobody has begun.
    pub largest_waiting: f64,
    /// Those under way.
    pub open: Vec<OpenTask>,
}

/// A task under way.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTask {
    pub number: u32,
    /// What a person calls its split.
    pub label: String,
    /// The size of its split.
    pub size: f64,
    /// How much of it is moved, from 0 to 1; `None`: nobody knows.
    pub share: Option<f64>,
    /// How long its attempt has lasted…
    pub lasts: Duration,
    /// …and how much of the split was safe when that began.
    pub began_at: f64,
}

/// All splits of a job, by their sizes.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    known: Sizes,
    done: Sizes,
    open: BTreeMap<u32, Open>,
    /// Those that nobody has begun, by size.
    waiting: BTreeMap<Extent, u64>,
}

#[derive(Debug)]
struct Open {
    label: String,
    extent: Extent,
    reach: Arc<Reach>,
}

/// Sizes added up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    pub splits: u64,
    pub bytes: u64,
    records: u64,
    /// How many of them have a size in bytes, and a number of records.
    with_bytes: u64,
    with_records: u64,
}

impl Extent {
    pub(super) fn of(split: &Split) -> Extent {
        Extent { bytes: split.bytes, records: split.records }
    }

    /// How much of it so many records, with so many bytes in memory, are.
    pub(super) fn share(&self, records: u64, bytes: u64) -> Option<f64> {
        let of = |part: u64, whole: u64| (whole > 0).then(|| (part as f64 / whole as f64).min(1.0));
        self.records.and_then(|all| of(records, all)).or_else(|| self.bytes.and_then(|all| of(bytes, all)))
    }

    fn size(&self, unit: Unit) -> f64 {
        match unit {
            Unit::Bytes => self.bytes.unwrap_or(0) as f64,
            Unit::Records => self.records.unwrap_or(0) as f64,
            Unit::Splits => 1.0,
        }
    }
}

impl Sizes {
    fn add(&mut self, extent: Extent) {
        self.splits += 1;
        self.bytes += extent.bytes.unwrap_or(0);
        self.records += extent.records.unwrap_or(0);
        self.with_bytes += u64::from(extent.bytes.is_some());
        self.with_records += u64::from(extent.records.is_some());
    }

    /// The finest unit that all of them are known in.
    fn unit(&self) -> Unit {
        if self.with_bytes == self.splits && self.bytes > 0 {
            Unit::Bytes
        } else if self.with_records == self.splits && self.records > 0 {
            Unit::Records
        } else {
            Unit::Splits
        }
    }

    fn size(&self, unit: Unit) -> f64 {
        match unit {
            Unit::Bytes => self.bytes as f64,
            Unit::Records => self.records as f64,
            Unit::Splits => self.splits as f64,
        }
    }
}

impl Ledger {
    pub(super) fn known(&self) -> &Sizes {
        &self.known
    }

    pub(super) fn done(&self) -> &Sizes {
        &self.done
    }

    pub(super) fn open_count(&self) -> u64 {
        self.open.len() as u64
    }

    pub(super) fn add(&mut self, extent: Extent) {
        self.known.add(extent);
        *self.waiting.entry(extent).or_default() += 1;
    }

    pub(super) fn open(&mut self, number: u32, label: String, extent: Extent) -> Arc<Reach> {
        if let Some(count) = self.waiting.get_mut(&extent) {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(&extent);
            }
        }
        let reach = Arc::new(Reach::of(extent));
        self.open.insert(number, Open { label, extent, reach: reach.clone() });
        reach
    }

    pub(super) fn close(&mut self, number: u32) {
        if let Some(closed) = self.open.remove(&number) {
            self.done.add(closed.extent);
        }
    }

    pub(super) fn work(&self, may_grow: bool) -> Work {
        let unit = self.known.unit();
        let open: Vec<OpenTask> = self.open.iter().map(|(number, open)| open.look(*number, unit)).collect();
        Work {
            unit,
            done: self.done.size(unit) + open.iter().map(OpenTask::moved).sum::<f64>(),
            known: self.known.size(unit),
            may_grow,
            largest_waiting: self.waiting.keys().map(|extent| extent.size(unit)).fold(0.0, f64::max),
            open,
        }
    }
}

impl Open {
    fn look(&self, number: u32, unit: Unit) -> OpenTask {
        let start = self.reach.start();
        OpenTask {
            number,
            label: self.label.clone(),
            size: self.extent.size(unit),
            share: self.reach.is_known().then(|| self.reach.share()),
            lasts: start.at.elapsed(),
            began_at: start.share,
        }
    }
}

impl OpenTask {
    /// How much of its split is moved, in the unit of the job.
    fn moved(&self) -> f64 {
        self.size * self.share.unwrap_or(0.0)
    }
}

impl Work {
    /// From 0 to 1; `None` while nobody knows: there is nothing to be done yet, or nothing is done and no open task can tell how far it is.
    pub fn share(&self) -> Option<f64> {
        let is_told = self.open.is_empty() || self.open.iter().any(|task| task.share.is_some());
        (self.known > 0.0 && (self.done > 0.0 || is_told)).then(|| (self.done / self.known).clamp(0.0, 1.0))
    }

    /// Several jobs together: in their unit if they have one in common, otherwise each counts as much as another.
    pub fn sum(all: Vec<Work>) -> Work {
        let has_one_unit = all.windows(2).all(|pair| pair[0].unit == pair[1].unit);
        let all_know_something = all.iter().all(|work| work.known > 0.0);
        let scale = |work: &Work| match has_one_unit && all_know_something {
            true => 1.0,
            false => 1.0 / work.known.max(1.0),
        };
        let mut sum = Work { unit: all.first().map(|work| work.unit).unwrap_or_default(), ..Work::default() };
        for work in all {
            let scale = scale(&work);
            sum.done += work.done * scale;
            // A job that knows nothing yet has all its work before it.
            sum.known += if work.known > 0.0 { work.known * scale } else { 1.0 };
            sum.may_grow |= work.may_grow;
            sum.largest_waiting = sum.largest_waiting.max(work.largest_waiting * scale);
            sum.open.extend(work.open.into_iter().map(|task| OpenTask { size: task.size * scale, ..task }));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEBIBYTE: u64 = 1 << 20;

    fn of_bytes(bytes: u64) -> Extent {
        Extent { bytes: Some(bytes), records: None }
    }

    fn work(ledger: &Ledger) -> Work {
        ledger.work(false)
    }

    /// Trap 21.
    #[test]
    fn splits_count_by_their_size_not_by_their_number() {
        let mut ledger = Ledger::default();
        for extent in [of_bytes(1000), of_bytes(10), of_bytes(10)] {
            ledger.add(extent);
        }
        for number in [1, 2] {
            ledger.open(number, "small".into(), of_bytes(10));
            ledger.close(number);
        }
        let Work { unit, done, known, largest_waiting, .. } = work(&ledger);
        assert_eq!((unit, done, known, largest_waiting), (Unit::Bytes, 20.0, 1020.0, 1000.0));
    }

    #[test]
    fn an_open_task_counts_as_far_as_its_records_are_written() {
        let mut ledger = Ledger::default();
        ledger.add(of_bytes(MEBIBYTE));
        let reach = ledger.open(0, "all".into(), of_bytes(MEBIBYTE));
        reach.read(100, 1 << 18, None);
        let sent = reach.sent();
        assert_eq!(work(&ledger).share(), Some(0.0));
        reach.written(Some(sent));
        assert_eq!(work(&ledger).share(), Some(0.25));
        reach.begin(0, 0, 0.0);
        assert_eq!(work(&ledger).share(), Some(0.0), "another attempt");
    }

    #[test]
    fn no_split_is_further_than_its_end_whatever_was_estimated() {
        let mut ledger = Ledger::default();
        ledger.add(of_bytes(10));
        let reach = ledger.open(0, "all".into(), of_bytes(10));
        reach.read(100, 1000, None);
        let sent = reach.sent();
        reach.written(Some(sent));
        assert_eq!(work(&ledger).share(), Some(1.0));
    }

    #[test]
    fn the_unit_is_one_that_all_splits_are_known_in() {
        let mut ledger = Ledger::default();
        assert_eq!(work(&ledger).share(), None);
        ledger.add(Extent { bytes: Some(5), records: Some(2) });
        assert_eq!(work(&ledger).unit, Unit::Bytes);
        ledger.add(Extent { bytes: None, records: Some(2) });
        assert_eq!(work(&ledger).unit, Unit::Records);
        ledger.add(Extent::default());
        assert_eq!((work(&ledger).unit, work(&ledger).known), (Unit::Splits, 3.0));
    }

    #[test]
    fn jobs_of_different_units_count_one_like_the_other() {
        let half = |unit, known: f64| Work { unit, known, done: known / 2.0, ..Work::default() };
        let same = Work::sum(vec![half(Unit::Bytes, 100.0), half(Unit::Bytes, 300.0)]);
        assert_eq!((same.done, same.known), (200.0, 400.0));
        let different = Work::sum(vec![half(Unit::Bytes, 100.0), half(Unit::Records, 8.0), Work::default()]);
        assert_eq!((different.done, different.known), (1.0, 3.0), "the third has not begun");
    }
}

//! How loaders look through the parts of a source.

use super::*;

/// What a call of a source does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Gives so many splits.
    Splits(usize),
    Fail(Error),
    Panic,
    /// Gives a split once another loader has found that there are no more parts.
    SplitAfterOthers,
}

/// A source in parts: each of them is what its calls do, one after another.
pub(super) struct Fake {
    parts: Mutex<VecDeque<Vec<Step>>>,
    /// What asking for a part does, once so many were given.
    fault: Option<(usize, Step)>,
    on_demand: bool,
    next_split: AtomicUsize,
    /// How many parts were begun.
    begun: AtomicUsize,
    /// How often somebody asked for a part.
    wanted: AtomicUsize,
    /// How often somebody was told that there are no more.
    ends: AtomicUsize,
    /// How often a part was asked for splits.
    pub(super) asked: AtomicUsize,
    /// How often the end of all was told.
    done: AtomicUsize,
}

impl Fake {
    pub(super) fn new<const N: usize>(parts: [Vec<Step>; N]) -> Fake {
        Fake {
            parts: Mutex::new(parts.into()),
            fault: None,
            on_demand: false,
            next_split: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            wanted: AtomicUsize::new(0),
            ends: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
        }
    }

    /// The same, asked only while somebody waits.
    pub(super) fn on_demand<const N: usize>(parts: [Vec<Step>; N]) -> Fake {
        Fake { on_demand: true, ..Fake::new(parts) }
    }

    fn run(&self, step: Step) -> Result<Vec<(u32, usize)>, Error> {
        let splits = match step {
            Step::Splits(splits) => splits,
            Step::Fail(error) => return Err(error),
            Step::Panic => panic!("as it was told to"),
            Step::SplitAfterOthers => {
                until(|| self.ends.load(Ordering::Relaxed) > 0);
                1
            }
        };
        let first = self.next_split.fetch_add(splits, Ordering::Relaxed) as u32;
        Ok(some(first..first + splits as u32).collect())
    }
}

impl Parts for Fake {
    type Split = u32;
    type Part = VecDeque<Step>;
    type Error = Error;

    fn next(&self) -> Result<Option<VecDeque<Step>>, Error> {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let mut parts = self.parts.lock().unwrap();
        if let Some((after, step)) = self.fault
            && self.begun.load(Ordering::Relaxed) >= after
        {
            drop(parts);
            return self.run(step).map(|_| None);
        }
        let part = parts.pop_front();
        let counter = if part.is_some() { &self.begun } else { &self.ends };
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(part.map(VecDeque::from))
    }

    fn may_have_more(&self) -> bool {
        self.ends.load(Ordering::Relaxed) == 0
    }

    fn is_on_demand(&self, _: &VecDeque<Step>) -> bool {
        self.on_demand
    }

    fn splits(&self, part: &mut VecDeque<Step>) -> Result<Vec<(u32, usize)>, Error> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        part.pop_front().map_or(Ok(Vec::new()), |step| self.run(step))
    }

    fn are_done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Fills a queue from a source, on threads of their own.
pub(super) fn fill<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, source: &'env Fake, loader: Loader<u32, Error>) {
    scope.spawn(move || {
        let fill_from = || load(loader, source, |another| fill(scope, source, another));
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(fill_from));
    });
}

/// All that a source gives through a queue of few splits, in ascending order.
fn all_of(source: &Fake, loaders: usize) -> Result<Vec<u32>, Stop<Error>> {
    let (queue, loader) = queue_of(3, 1, loaders);
    let mut all = thread::scope(|scope| {
        fill(scope, source, loader);
        queue.rest()
    })?;
    all.sort_unstable();
    Ok(all)
}

#[test]
fn all_splits_of_all_parts_come_once_and_the_end_is_told_once() {
    for loaders in [1, 2, 4] {
        let parts = [[Step::Splits(5); 2].to_vec(), vec![], [Step::Splits(1); 7].to_vec(), vec![Step::Splits(3)]];
        let source = Fake::new(parts);
        assert_eq!(all_of(&source, loaders).unwrap(), (0..20).collect::<Vec<_>>());
        assert_eq!(source.done.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn one_loader_keeps_the_order_of_the_source() {
    let (queue, loader) = queue_of(3, 1, 1);
    let source = Fake::new([vec![Step::Splits(4); 3], vec![Step::Splits(1); 5]]);
    thread::scope(|scope| {
        fill(scope, &source, loader);
        assert_eq!(queue.rest().unwrap(), (0..17).collect::<Vec<_>>());
    });
}

#[test]
fn each_part_is_looked_through_before_another_is_begun() {
    let (queue, loader) = queue_of(2, 1, 2);
    let source = Fake::new([(); 10].map(|()| vec![Step::Splits(1); 100]));
    thread::scope(|scope| {
        fill(scope, &source, loader);
        until(|| queue.waiting_loaders() == 2);
        for _ in 0..50 {
            queue.next().unwrap();
        }
        assert!(source.begun.load(Ordering::Relaxed) <= 2, "two loaders have two parts at hand");
        queue.stop();
    });
}

#[test]
fn no_part_is_begun_while_the_queue_is_full() {
    let (queue, full) = queue_of(1, 1, 2);
    full.put(some([0])).unwrap();
    let source = Fake::new([vec![Step::Splits(1)]]);
    thread::scope(|scope| {
        fill(scope, &source, full.another().unwrap());
        until(|| queue.waiting_loaders() == 1);
        assert_eq!(source.wanted.load(Ordering::Relaxed), 0);
        full.end();
        assert_eq!(queue.rest().unwrap(), [0, 0]);
    });
}

#[test]
fn a_source_on_demand_is_asked_only_while_somebody_waits() {
    let (queue, loader) = queue_of(100, 1, 1);
    let source = Fake::on_demand([vec![Step::Splits(2); 3]]);
    thread::scope(|scope| {
        fill(scope, &source, loader);
        for (taken, asked) in [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3)] {
            assert_eq!(queue.next(), Ok(Some(taken)));
            until(|| queue.waiting_loaders() == 1);
            assert_eq!(source.asked.load(Ordering::Relaxed), asked);
        }
        queue.stop();
    });
}

/// PS-07.
#[test]
fn a_source_that_cannot_say_its_parts_is_a_failure_and_is_not_asked_again() {
    for loaders in [1, 2, 4] {
        for (step, stop) in [(Step::Fail("broken"), Stop::Failed("broken")), (Step::Panic, Stop::Vanished)] {
            let source = Fake { fault: Some((0, step)), ..Fake::new([]) };
            assert_eq!(all_of(&source, loaders), Err(stop.clone()));
            assert_eq!(source.wanted.load(Ordering::Relaxed), 1);
            let source = Fake { fault: Some((2, step)), ..Fake::new([(); 9].map(|()| vec![Step::Splits(1); 9])) };
            assert_eq!(all_of(&source, loaders), Err(stop));
            assert_eq!(source.done.load(Ordering::Relaxed), 0);
        }
    }
}

/// PS-07b.
#[test]
fn a_part_that_cannot_be_looked_through_is_a_failure() {
    for loaders in [1, 2, 4] {
        for (step, stop) in [(Step::Fail("offline"), Stop::Failed("offline")), (Step::Panic, Stop::Vanished)] {
            let source = Fake::new([vec![Step::Splits(1); 9], vec![Step::Splits(2), step], vec![Step::Splits(1); 9]]);
            assert_eq!(all_of(&source, loaders), Err(stop));
            assert_eq!(source.done.load(Ordering::Relaxed), 0);
        }
    }
}

/// PS-09.
#[test]
fn the_end_is_not_declared_while_a_loader_has_a_part_at_hand() {
    let source = Fake::new([vec![Step::SplitAfterOthers]]);
    assert_eq!(all_of(&source, 2).unwrap(), [0]);
    assert_eq!(source.done.load(Ordering::Relaxed), 1);
}

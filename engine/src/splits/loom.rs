//! What must hold under every schedule of the threads, tried exhaustively by the model checker:
//! `RUSTFLAGS="--cfg transship_loom" cargo test -p transship-engine --lib --release loom`
//!
//! A wake-up that could be lost is found as a deadlock. That nothing but what fits is queued, and that the end comes only when no loader
//! has anything at hand, is asserted whenever the lock is taken, in every model here.

use super::*;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::thread;

type Error = &'static str;

fn number(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

fn queue_of(splits: usize, loaders: usize) -> (Queue<u32, Error>, Loader<u32, Error>) {
    bounded(Limits { splits: number(splits), bytes: 10, batch: number(1) }, number(loaders))
}

/// Every schedule.
fn every_schedule(story: impl Fn() + Send + Sync + 'static) {
    ::loom::model::Builder::new().check(story);
}

/// Every schedule in which threads that could have gone on are interrupted at most so often. How a waiting thread is woken is not an
/// interruption and stays exhaustive.
fn schedules_with_interruptions(most: usize, story: impl Fn() + Send + Sync + 'static) {
    let mut model = ::loom::model::Builder::new();
    model.preemption_bound = Some(most);
    model.check(story);
}

/// Parts of one split each.
struct Fake {
    left: AtomicUsize,
    done: AtomicUsize,
    on_demand: bool,
}

impl Fake {
    fn new(parts: usize, on_demand: bool) -> Arc<Fake> {
        Arc::new(Fake { left: AtomicUsize::new(parts), done: AtomicUsize::new(0), on_demand })
    }
}

impl Parts for Fake {
    type Split = u32;
    type Part = Option<u32>;
    type Error = Error;

    fn next(&self) -> Result<Option<Option<u32>>, Error> {
        let take = |left: usize| left.checked_sub(1);
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
        Ok(left.ok().map(|left| Some(left as u32 - 1)))
    }

    fn may_have_more(&self) -> bool {
        self.left.load(Ordering::SeqCst) > 0
    }

    fn is_on_demand(&self, _: &Option<u32>) -> bool {
        self.on_demand
    }

    fn splits(&self, part: &mut Option<u32>) -> Result<Vec<(u32, usize)>, Error> {
        Ok(part.take().into_iter().map(|split| (split, 1)).collect())
    }

    fn are_done(&self) {
        self.done.fetch_add(1, Ordering::SeqCst);
    }
}

fn rest(queue: &Queue<u32, Error>) -> Result<Vec<u32>, Stop<Error>> {
    let mut all = Vec::new();
    while let Some(split) = queue.next()? {
        all.push(split);
    }
    all.sort_unstable();
    Ok(all)
}

/// MC-23: nothing is lent here, so that the loaders' hands stand for what is borrowed there.
#[test]
fn the_queue_is_not_finished_while_a_split_is_queued_or_in_a_loaders_hand() {
    schedules_with_interruptions(3, || {
        let (queue, loader) = queue_of(1, 2);
        let put = Arc::new(AtomicUsize::new(0));
        let loaders = [loader.another().unwrap(), loader].map(|loader| {
            let put = put.clone();
            thread::spawn(move || {
                loader.put([(1, 1)]).unwrap();
                put.fetch_add(1, Ordering::SeqCst);
                loader.end();
            })
        });
        let observer = {
            let (queue, put) = (queue.clone(), put.clone());
            thread::spawn(move || {
                if queue.is_finished() {
                    assert_eq!((put.load(Ordering::SeqCst), queue.queued(), queue.next()), (2, 0, Ok(None)));
                }
            })
        };
        assert_eq!(rest(&queue).unwrap(), [1, 1]);
        assert!(queue.is_finished());
        for thread in loaders.into_iter().chain([observer]) {
            thread.join().unwrap();
        }
    });
}

/// MC-24: two loaders, the second started by the first, and more parts than one of them can have at hand.
#[test]
fn the_end_is_declared_once_and_only_when_all_is_put_in() {
    for parts in 0..=2 {
        schedules_with_interruptions(3, move || {
            let (queue, loader) = queue_of(1, 2);
            let source = Fake::new(parts, false);
            let filling = {
                let source = source.clone();
                thread::spawn(move || {
                    let second = std::cell::Cell::new(None);
                    load(loader, &*source, |another| {
                        let source = source.clone();
                        second.set(Some(thread::spawn(move || load(another, &*source, |_| unreachable!()))));
                    });
                    if let Some(second) = second.take() {
                        second.join().unwrap();
                    }
                })
            };
            assert_eq!(rest(&queue).unwrap(), (0..parts as u32).collect::<Vec<_>>());
            filling.join().unwrap();
            assert_eq!((source.done.load(Ordering::SeqCst), queue.is_finished()), (1, true));
        });
    }
}

/// A loader that waits to be asked, and takers that wait for splits, do not wait for each other.
#[test]
fn who_is_asked_only_on_demand_is_asked() {
    every_schedule(|| {
        let (queue, loader) = queue_of(1, 1);
        let source = Fake::new(1, true);
        let filling = thread::spawn(move || load(loader, &*source, |_| unreachable!()));
        assert_eq!(rest(&queue).unwrap(), [0]);
        filling.join().unwrap();
    });
}

/// Two takers: each split wakes one of them, the end both.
#[test]
fn two_takers_share_what_comes() {
    schedules_with_interruptions(3, || {
        let (queue, loader) = queue_of(2, 1);
        let other = {
            let queue = queue.clone();
            thread::spawn(move || rest(&queue).unwrap().len())
        };
        let filling = thread::spawn(move || {
            loader.put([(1, 1), (2, 1)]).unwrap();
            loader.put([(3, 1)]).unwrap();
            loader.end();
        });
        assert_eq!(rest(&queue).unwrap().len() + other.join().unwrap(), 3);
        filling.join().unwrap();
    });
}

/// MC-10 of this queue: of a failure and an end of two loaders the failure is told, whenever it comes.
#[test]
fn a_failure_is_never_an_end() {
    every_schedule(|| {
        let (queue, loader) = queue_of(1, 2);
        let failing = loader.another().unwrap();
        let ending = thread::spawn(move || {
            let _ = loader.put([(1, 1)]);
            assert!(!loader.end());
        });
        let failing = thread::spawn(move || failing.fail("broken"));
        assert_eq!(rest(&queue), Err(Stop::Failed("broken")));
        assert_eq!(queue.next(), Err(Stop::Failed("broken")));
        ending.join().unwrap();
        failing.join().unwrap();
    });
}

/// A loader that waits for room and a taker that waits for splits end when nobody wants more.
#[test]
fn a_stop_wakes_everybody() {
    schedules_with_interruptions(3, || {
        let (queue, loader) = queue_of(1, 1);
        let filling = thread::spawn(move || {
            let _ = loader.put([(1, 1), (2, 1)]);
            let _ = loader.wait_for_taker();
            loader.end();
        });
        let taking = {
            let queue = queue.clone();
            thread::spawn(move || while let Ok(Some(_)) = queue.next() {})
        };
        queue.stop();
        taking.join().unwrap();
        filling.join().unwrap();
    });
}

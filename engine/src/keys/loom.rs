//! What must hold under every schedule of readers and lanes; how to run it says `channel/loom.rs`.

use super::*;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, thread};

/// Schedules in which threads that could have gone on are interrupted at most so often.
fn schedules(interruptions: usize, story: impl Fn() + Send + Sync + 'static) {
    let mut model = ::loom::model::Builder::new();
    model.preemption_bound = Some(interruptions);
    model.check(story);
}

fn lanes(count: usize, capacity: usize) -> Arc<KeyScheduler<usize>> {
    let number = |number| NonZeroUsize::new(number).unwrap();
    Arc::new(KeyScheduler::new(number(count), Dispatch::Free, number(capacity)))
}

fn enter(scheduler: &KeyScheduler<usize>, key: &'static [u8], value: usize) -> Result<(), Closed> {
    scheduler.enter(1, |_| Key::Bytes(key), |_| value, 0, || Duration::ZERO, &mut || ()).map(drop)
}

/// Works as a lane until the end; nobody else has a key meanwhile. What it did, in order.
fn work(scheduler: &KeyScheduler<usize>, lane: usize, is_held: &[AtomicBool]) -> Result<Vec<usize>, Closed> {
    let mut worked = Vec::new();
    let mut done = None;
    loop {
        match scheduler.next(lane, 1, done.take(), || Duration::ZERO)?.0 {
            Turn::Work(hand) => {
                for entry in &hand.entries {
                    let key = entry.value / 10;
                    assert!(!is_held[key].swap(true, Ordering::SeqCst), "a key is in two hands");
                    worked.push(entry.value);
                    is_held[key].store(false, Ordering::SeqCst);
                }
                done = Some(hand);
            }
            Turn::Mark(_) => worked.push(99),
            Turn::End => return Ok(worked),
        }
    }
}

/// MC-20, MC-21, MC-22: entries of one key are worked on in order and never by two lanes, what comes while a lane finds its key empty
/// is not lost, and after the end everything is done.
#[test]
fn a_key_is_never_in_two_hands_and_nothing_is_lost() {
    schedules(2, || {
        let scheduler = lanes(2, 4);
        let is_held: Arc<[AtomicBool; 2]> = Arc::new(std::array::from_fn(|_| AtomicBool::new(false)));
        let workers: Vec<_> = (0..2)
            .map(|lane| {
                let (scheduler, is_held) = (scheduler.clone(), is_held.clone());
                thread::spawn(move || work(&scheduler, lane, &is_held[..]).unwrap())
            })
            .collect();
        for (key, value) in [(&b"a"[..], 0), (b"b", 10), (b"a", 1)] {
            enter(&scheduler, key, value).unwrap();
        }
        scheduler.end();
        let worked: Vec<Vec<usize>> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        let mut all: Vec<usize> = worked.concat();
        for lane in &worked {
            let place = |value| lane.iter().position(|worked| *worked == value);
            assert!(place(1).is_none() || place(0) < place(1), "overtaken: {worked:?}");
        }
        all.sort_unstable();
        assert_eq!(all, [0, 1, 10]);
    });
}

/// A reader that waits for room goes on when a lane has taken something.
#[test]
fn a_full_queue_lets_its_reader_go_on() {
    schedules(3, || {
        let scheduler = lanes(1, 1);
        let reader = {
            let scheduler = scheduler.clone();
            thread::spawn(move || {
                for value in 0..3 {
                    enter(&scheduler, b"a", value).unwrap();
                }
                scheduler.end();
            })
        };
        let is_held = [AtomicBool::new(false)];
        assert_eq!(work(&scheduler, 0, &is_held).unwrap(), [0, 1, 2]);
        reader.join().unwrap();
    });
}

/// Each lane is told of a mark once, when all before it is done and before anything behind it.
#[test]
fn nothing_passes_a_mark() {
    schedules(2, || {
        let scheduler = lanes(2, 4);
        let is_held: Arc<[AtomicBool; 2]> = Arc::new(std::array::from_fn(|_| AtomicBool::new(false)));
        let workers: Vec<_> = (0..2)
            .map(|lane| {
                let (scheduler, is_held) = (scheduler.clone(), is_held.clone());
                thread::spawn(move || work(&scheduler, lane, &is_held[..]).unwrap())
            })
            .collect();
        enter(&scheduler, b"a", 0).unwrap();
        scheduler.mark(Mark::Flush);
        enter(&scheduler, b"b", 10).unwrap();
        scheduler.end();
        for lane in workers.into_iter().map(|worker| worker.join().unwrap()) {
            let mark = lane.iter().position(|worked| *worked == 99).unwrap();
            assert_eq!(lane.iter().filter(|worked| **worked == 99).count(), 1);
            assert!(
                lane[..mark].iter().all(|worked| *worked == 0) && lane[mark + 1..].iter().all(|worked| *worked == 10)
            );
        }
    });
}

/// Who gives up wakes everybody.
#[test]
fn closing_ends_every_wait() {
    schedules(3, || {
        let scheduler = lanes(1, 1);
        let lane = {
            let scheduler = scheduler.clone();
            thread::spawn(move || work(&scheduler, 0, &[AtomicBool::new(false)]).is_err())
        };
        let reader = {
            let scheduler = scheduler.clone();
            thread::spawn(move || enter(&scheduler, b"a", 0).and_then(|()| enter(&scheduler, b"a", 1)).is_ok())
        };
        scheduler.close();
        assert!(lane.join().unwrap());
        reader.join().unwrap();
    });
}

//! Readers and lanes on threads: backpressure, and nothing lost, doubled or overtaken under load.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::keys::{Closed, Dispatch, Key, KeyScheduler, Turn};

fn number(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

const KEYS: usize = 50;

/// KA-09, KA-10: whatever the policy.
#[test]
fn each_key_is_worked_on_in_order_by_one_lane_at_a_time() {
    for dispatch in [Dispatch::Free, Dispatch::Modulo(number(6)), Dispatch::Hash(number(6))] {
        let scheduler: KeyScheduler<(usize, usize)> = KeyScheduler::new(number(6), dispatch, number(100));
        let is_held: [AtomicBool; KEYS] = std::array::from_fn(|_| AtomicBool::new(false));
        let last: [AtomicUsize; KEYS] = std::array::from_fn(|_| AtomicUsize::new(0));
        let worked = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for lane in 0..6 {
                let (scheduler, is_held, last, worked) = (&scheduler, &is_held, &last, &worked);
                scope.spawn(move || {
                    let mut done = None;
                    loop {
                        match scheduler.next(lane, 16, done.take(), || Duration::ZERO).unwrap().0 {
                            Turn::End => break,
                            Turn::Mark(_) => {}
                            Turn::Work(hand) => {
                                for entry in &hand.entries {
                                    let (key, sequence) = entry.value;
                                    assert!(!is_held[key].swap(true, Ordering::SeqCst), "two lanes have one key");
                                    assert_eq!(last[key].swap(sequence, Ordering::SeqCst) + 1, sequence, "overtaken");
                                    is_held[key].store(false, Ordering::SeqCst);
                                    worked.fetch_add(1, Ordering::SeqCst);
                                }
                                done = Some(hand);
                            }
                        }
                    }
                });
            }
            scope.spawn(|| {
                let keys: Vec<[u8; 8]> = (0..KEYS).map(|key| key.to_le_bytes()).collect();
                let key = |index: usize| Key::Number((index % KEYS) as i128, &keys[index % KEYS]);
                let value = |index: usize| (index % KEYS, index / KEYS + 1);
                scheduler.enter(20_000, key, value, 0, || Duration::ZERO, &mut || ()).unwrap();
                scheduler.end();
            });
        });
        assert_eq!(worked.load(Ordering::SeqCst), 20_000, "{dispatch:?}");
    }
}

/// KA-20: who puts in waits for room, and nothing is lost by that.
#[test]
fn a_full_queue_makes_its_reader_wait() {
    let scheduler: KeyScheduler<usize> = KeyScheduler::new(number(1), Dispatch::Free, number(8));
    let waits = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut before_wait = || {
                waits.fetch_add(1, Ordering::SeqCst);
            };
            scheduler.enter(100, |_| Key::Alone, |index| index, 0, || Duration::ZERO, &mut before_wait).unwrap();
            scheduler.end();
        });
        // No lane takes anything before the reader has had to wait.
        while waits.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(scheduler.gauge().waiting, 8);
        let mut taken = Vec::new();
        let mut done = None;
        while let Turn::Work(hand) = scheduler.next(0, 3, done.take(), || Duration::ZERO).unwrap().0 {
            assert!(scheduler.gauge().waiting <= 8);
            taken.extend(hand.entries.iter().map(|entry| entry.value));
            done = Some(hand);
        }
        assert_eq!(taken, (0..100).collect::<Vec<_>>());
    });
}

#[test]
fn after_closing_nobody_gets_or_gives_anything() {
    let scheduler: KeyScheduler<usize> = KeyScheduler::new(number(1), Dispatch::Free, number(8));
    scheduler.enter(1, |_| Key::Null, |_| 1, 0, || Duration::ZERO, &mut || ()).unwrap();
    scheduler.close();
    assert!(matches!(scheduler.next(0, 1, None, || Duration::ZERO), Err(Closed)));
    assert_eq!(scheduler.enter(1, |_| Key::Null, |_| 2, 0, || Duration::ZERO, &mut || ()), Err(Closed));
}

//! Threads that share slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::super::{Pass, Rules, Share, Slots};
use crate::cancel::Cancel;
use crate::clock::{HandClock, SystemClock};

fn one_slot() -> (Slots, Share, Arc<HandClock>) {
    let clock = Arc::new(HandClock::default());
    let slots = Slots::new(1, Rules::default(), clock.clone());
    let share = slots.share(1);
    (slots, share, clock)
}

fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}

/// PF-07.
#[test]
fn a_slot_is_passed_on_after_a_quantum_and_not_before() {
    let (_slots, share, clock) = one_slot();
    let cancel = Cancel::new();
    let mut first = share.pass(&cancel);
    first.take().unwrap();
    let second_has_run = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut second = share.pass(&cancel);
            second.take().unwrap();
            second_has_run.store(true, Ordering::SeqCst);
        });
        wait_until(|| share.is_contended());
        for _ in 0..100 {
            first.yield_now().unwrap();
        }
        assert!(!second_has_run.load(Ordering::SeqCst), "no time has passed");
        clock.turn(Rules::default().quantum * 2);
        first.yield_now().unwrap();
        assert!(second_has_run.load(Ordering::SeqCst), "its turn came before that of the first came again");
    });
}

/// PF-08, PP-03.
#[test]
fn who_waits_for_something_else_holds_no_slot() {
    let (_slots, share, _) = one_slot();
    let cancel = Cancel::new();
    let mut first = share.pass(&cancel);
    first.take().unwrap();
    first.give_back();
    let mut second = share.pass(&cancel);
    second.take().unwrap();
    second.give_back();
    first.take().unwrap();
    assert_eq!(share.standing().running, 1);
}

/// PF-09, PF-10, PP-10.
#[test]
fn a_slot_is_back_exactly_once_however_its_holder_ended() {
    let (_slots, share, _) = one_slot();
    let (staying, leaving) = (Cancel::new(), Cancel::new());
    let mut first = share.pass(&staying);
    first.take().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| share.pass(&leaving).take().is_err());
        wait_until(|| share.is_contended());
        leaving.cancel();
        assert!(waiting.join().unwrap(), "cancelled while it waits");
    });
    assert!(!share.is_contended());
    // Cancelled before it asks: it may be granted at once, and is given back.
    first.give_back();
    assert!(share.pass(&leaving).take().is_err());
    // Cancelled while it has one.
    let mut holding = share.pass(&staying);
    holding.take().unwrap();
    drop(holding);
    // A panic while it has one.
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut holding = share.pass(&staying);
        holding.take().unwrap();
        panic!("as planned");
    }));
    assert!(panicked.is_err());
    first.take().unwrap();
    let standing = share.standing();
    assert_eq!((standing.running, standing.waiting, standing.blocked), (1, 0, 0));
}

/// PP-02, PP-07.
#[test]
fn many_threads_share_few_slots_and_all_come_to_their_end() {
    const QUANTUM: Rules = Rules { quantum: Duration::ZERO, longest_gap: Duration::from_secs(15) };
    let slots = Slots::new(2, QUANTUM, SystemClock::new());
    let shares = [slots.share(1), slots.share(1)];
    let cancel = Cancel::new();
    let running = AtomicUsize::new(0);
    let work = |mut pass: Pass| {
        for _ in 0..500 {
            pass.take().unwrap();
            assert!(running.fetch_add(1, Ordering::SeqCst) < 2, "more run than there are slots");
            running.fetch_sub(1, Ordering::SeqCst);
            pass.yield_now().unwrap();
        }
    };
    std::thread::scope(|scope| {
        for share in &shares {
            for _ in 0..3 {
                let pass = share.pass(&cancel);
                scope.spawn(|| work(pass));
            }
        }
    });
    assert!(shares.iter().all(|share| share.standing().running == 0));
}

//! What must hold under every schedule of those that share slots; how to run it says `channel/loom.rs`.

use super::*;
use crate::clock::HandClock;
use crate::sync::atomic::AtomicUsize;
use crate::sync::thread;

/// Schedules in which threads that could have gone on are interrupted at most so often.
fn schedules(interruptions: usize, story: impl Fn() + Send + Sync + 'static) {
    let mut model = ::loom::model::Builder::new();
    model.preemption_bound = Some(interruptions);
    model.check(story);
}

fn slots(count: usize) -> Slots {
    // Each yield is due, for no time has to pass.
    Slots::new(count, Rules { quantum: Duration::ZERO, longest_gap: Duration::MAX }, HandClock::default())
}

/// MC-15: two contenders of one slot never have it at once, both come to their end, and the slot is free then.
#[test]
fn one_slot_is_had_by_one_at_a_time_and_is_free_at_the_end() {
    schedules(3, || {
        let slots = slots(1);
        let share = Arc::new(slots.share(1));
        let holders = Arc::new(AtomicUsize::new(0));
        let other = {
            let (share, holders) = (share.clone(), holders.clone());
            thread::spawn(move || work(&share, &holders))
        };
        work(&share, &holders);
        other.join().unwrap();
        assert_eq!(slots.state().turns.running(), 0);
    });
}

fn work(share: &Share, holders: &AtomicUsize) {
    let mut pass = share.pass(&Cancel::new());
    pass.take().unwrap();
    for _ in 0..2 {
        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two have the slot");
        holders.fetch_sub(1, Ordering::SeqCst);
        pass.yield_now().unwrap();
    }
}

/// MC-16, PF-10: one is cancelled while it waits, or just when it is its turn: the slot goes on to the next.
#[test]
fn a_slot_granted_to_one_that_is_cancelled_goes_on() {
    schedules(2, || {
        let slots = slots(1);
        let share = Arc::new(slots.share(1));
        let mut first = share.pass(&Cancel::new());
        first.take().unwrap();
        let leaving = Cancel::new();
        let leaver = {
            let (share, leaving) = (share.clone(), leaving.clone());
            thread::spawn(move || {
                let mut pass = share.pass(&leaving);
                if pass.take().is_ok() {
                    pass.give_back();
                }
            })
        };
        let canceller = thread::spawn(move || leaving.cancel());
        first.give_back();
        first.take().unwrap();
        drop(first);
        leaver.join().unwrap();
        canceller.join().unwrap();
        assert_eq!(slots.state().turns.running(), 0);
    });
}

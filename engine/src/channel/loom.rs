//! What must hold under every schedule of the threads, tried exhaustively by the model checker:
//! `RUSTFLAGS="--cfg transship_loom" cargo test -p transship-engine --lib --release loom`
//!
//! A wake-up that could be lost is found as a deadlock, an item or a channel that leaks as a leaked `Arc`. That items and
//! bytes are within the limits and are the sums of what is queued (MC-03, MC-04) is asserted whenever the lock is taken, in
//! every model here.

use super::*;
use crate::sync::thread;

const ONE: Size = Size { records: 1, bytes: 1 };

fn capacity(records: usize, bytes: usize) -> Capacity {
    Capacity { records: NonZeroUsize::new(records).unwrap(), bytes: NonZeroUsize::new(bytes).unwrap() }
}

/// Every schedule.
fn every_schedule(story: impl Fn() + Send + Sync + 'static) {
    ::loom::model::Builder::new().check(story);
}

/// Every schedule in which threads that could have gone on are interrupted at most so often: for models of which all
/// schedules would take minutes or hours. How a waiting thread is woken is not an interruption and stays exhaustive.
fn schedules_with_interruptions(most: usize, story: impl Fn() + Send + Sync + 'static) {
    let mut model = ::loom::model::Builder::new();
    model.preemption_bound = Some(most);
    model.check(story);
}

/// Items that loom misses if they are neither received nor dropped.
fn items(numbers: std::ops::Range<usize>) -> Vec<Arc<usize>> {
    numbers.map(Arc::new).collect()
}

fn drain(receiver: &mut Receiver<Arc<usize>>) -> Result<Vec<usize>, RecvError> {
    let mut received = Vec::new();
    while let Some(item) = receiver.recv()?.0 {
        received.push(*item);
    }
    Ok(received)
}

/// MC-01, MC-02: nobody sleeps for ever, nothing is lost, doubled or overtaken.
#[test]
fn all_items_arrive_in_order() {
    every_schedule(|| {
        let (mut sender, mut receiver) = bounded(capacity(1, 10));
        let reader = thread::spawn(move || {
            for item in items(0..3) {
                sender.send(item, ONE).unwrap();
            }
            sender.end();
        });
        assert_eq!(drain(&mut receiver).unwrap(), [0, 1, 2]);
        reader.join().unwrap();
    });
}

/// MC-02, MC-13: the same with batches of different sizes, as a batch is cut that does not fit in whole.
#[test]
fn pieces_of_different_sizes_arrive_in_order() {
    every_schedule(|| {
        let (mut sender, mut receiver) = bounded(capacity(2, 10));
        let reader = thread::spawn(move || {
            for (item, records) in items(0..4).into_iter().zip([2, 1, 1, 2]) {
                sender.send(item, Size { records, bytes: records }).unwrap();
            }
            sender.end();
        });
        assert_eq!(drain(&mut receiver).unwrap(), [0, 1, 2, 3]);
        reader.join().unwrap();
    });
}

/// MC-03, MC-04, MC-12: an item larger than the channel passes, alone, and so does what follows; a mark keeps its place.
#[test]
fn an_item_larger_than_the_channel_passes_alone() {
    every_schedule(|| {
        let (mut sender, mut receiver) = bounded(capacity(9, 2));
        let control = receiver.control();
        let reader = thread::spawn(move || {
            for (item, bytes) in items(0..4).into_iter().zip([1, 3, 1, 0]) {
                sender.send(item, Size { records: bytes, bytes }).unwrap();
            }
            sender.end();
        });
        assert_eq!(drain(&mut receiver).unwrap(), [0, 1, 2, 3]);
        reader.join().unwrap();
        assert_eq!(control.queued(), Size::default());
    });
}

/// MC-05: the end comes right after the last item, and again.
#[test]
fn the_end_follows_the_last_item() {
    every_schedule(|| {
        let (mut sender, mut receiver) = bounded(capacity(2, 10));
        let reader = thread::spawn(move || {
            sender.send(7, ONE).unwrap();
            sender.end();
        });
        for expected in [Some(7), None, None] {
            assert_eq!(receiver.recv().unwrap().0, expected);
        }
        assert_eq!(receiver.control().stage(), Stage::Finished);
        reader.join().unwrap();
    });
}

/// MC-06: an end without any item wakes the receiver.
#[test]
fn an_end_alone_wakes_the_receiver() {
    every_schedule(|| {
        let (sender, mut receiver) = bounded::<u8>(capacity(1, 1));
        let reader = thread::spawn(move || sender.end());
        assert_eq!(receiver.recv().unwrap().0, None);
        reader.join().unwrap();
    });
}

/// MC-07: a receiver that goes wakes the sender; what was not accepted comes back, what was is dropped.
#[test]
fn a_receiver_that_goes_sends_the_sender_away() {
    for taken in [0, 1] {
        every_schedule(move || {
            let (mut sender, mut receiver) = bounded(capacity(1, 1));
            let reader = thread::spawn(move || {
                let refused = items(0..3).into_iter().find_map(|item| sender.send(item, ONE).err());
                let refused = refused.expect("three items cannot all be accepted");
                assert_eq!(refused.refusal, Refusal::Gone);
                *refused.item
            });
            for number in 0..taken {
                assert_eq!(receiver.recv().unwrap().0.as_deref(), Some(&number));
            }
            let control = receiver.control();
            drop(receiver);
            let refused = reader.join().unwrap();
            assert!(refused == taken || refused == taken + 1, "at most one was queued when the receiver went");
            assert_eq!((control.stage(), control.queued()), (Stage::Gone, Size::default()));
        });
    }
}

/// MC-08: a sender that vanishes is a failure, never an end.
#[test]
fn a_sender_that_vanishes_is_never_an_end() {
    every_schedule(|| {
        let (mut sender, mut receiver) = bounded(capacity(2, 10));
        let reader = thread::spawn(move || {
            for item in items(0..1) {
                sender.send(item, ONE).unwrap();
            }
        });
        assert_eq!(drain(&mut receiver), Err(RecvError::Failed("reader vanished".into())));
        reader.join().unwrap();
    });
}

/// MC-09, MC-15: cancelled by a third thread at any point, both sides finish or are told so, and all bytes are returned.
#[test]
fn cancelling_at_any_point_ends_both_sides() {
    schedules_with_interruptions(3, || {
        let budget = Budget::new(10);
        let (mut sender, mut receiver) = bounded_within(capacity(1, 10), &budget);
        let control = sender.control();
        let reader = thread::spawn(move || {
            for item in items(0..2) {
                sender.send(item, ONE).map_err(|error| error.refusal)?;
            }
            sender.end();
            Ok(())
        });
        let canceller = thread::spawn(move || control.cancel());
        let received = drain(&mut receiver);
        let sent = reader.join().unwrap();
        canceller.join().unwrap();
        match received {
            Ok(received) => assert_eq!((received, sent), (vec![0, 1], Ok(()))),
            Err(error) => {
                assert_eq!(error, RecvError::Cancelled);
                assert!(matches!(sent, Ok(()) | Err(Refusal::Cancelled)));
            }
        }
        assert_eq!(budget.held(), 0);
    });
}

/// MC-10: of a failure and a cancellation that race the receiver sees one, and goes on seeing it.
#[test]
fn of_two_ends_that_race_the_first_counts() {
    every_schedule(|| {
        let (sender, mut receiver) = bounded::<u8>(capacity(1, 1));
        let control = sender.control();
        let reader = thread::spawn(move || sender.fail("broken"));
        let canceller = thread::spawn(move || control.cancel());
        let seen = receiver.recv().unwrap_err();
        assert!(seen == RecvError::Cancelled || seen == RecvError::Failed("broken".into()));
        reader.join().unwrap();
        canceller.join().unwrap();
        assert_eq!(receiver.recv().unwrap_err(), seen);
    });
}

/// MC-10: an end told to the receiver stays the end, and a cancelled channel never ends well.
#[test]
fn of_end_and_cancel_that_race_the_receiver_sees_one() {
    every_schedule(|| {
        let (sender, mut receiver) = bounded::<u8>(capacity(1, 1));
        let control = sender.control();
        let reader = thread::spawn(move || sender.end());
        let canceller = thread::spawn(move || control.cancel());
        let seen = receiver.recv();
        reader.join().unwrap();
        canceller.join().unwrap();
        match seen {
            Ok((None, _)) => assert_eq!(receiver.recv().unwrap().0, None),
            Ok((Some(_), _)) => unreachable!("nothing was sent"),
            Err(error) => assert_eq!((error, receiver.recv()), (RecvError::Cancelled, Err(RecvError::Cancelled))),
        }
    });
}

/// MC-11: two channels share a budget of two. They never hold more than that and the one item that an empty channel may
/// always take; all items pass, whichever sender has to wait.
#[test]
fn two_channels_share_a_budget() {
    schedules_with_interruptions(2, || {
        let budget = Budget::new(2);
        let mut threads = Vec::new();
        for _ in 0..2 {
            let (mut sender, mut receiver) = bounded_within(capacity(2, 2), &budget);
            threads.push(thread::spawn(move || {
                for item in items(0..2) {
                    sender.send(item, ONE).unwrap();
                }
                sender.end();
            }));
            threads.push(thread::spawn(move || assert_eq!(drain(&mut receiver).unwrap(), [0, 1])));
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(budget.peak() <= 3, "peak {}", budget.peak());
        assert_eq!(budget.held(), 0);
    });
}

/// MC-11: what one channel sets free wakes the sender of the other, which nothing else would wake here.
#[test]
fn bytes_set_free_wake_the_sender_of_the_other_channel() {
    every_schedule(|| {
        let budget = Budget::new(2);
        let (mut first, mut first_receiver) = bounded_within(capacity(2, 2), &budget);
        let (mut second, mut second_receiver) = bounded_within(capacity(2, 2), &budget);
        first.send(1, ONE).unwrap();
        second.send(2, ONE).unwrap();
        let reader = thread::spawn(move || {
            second.send(3, ONE).unwrap();
            second.end();
        });
        let writer = thread::spawn(move || assert_eq!(first_receiver.recv().unwrap().0, Some(1)));
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!((budget.held(), budget.peak()), (2, 2));
        for expected in [Some(2), Some(3), None] {
            assert_eq!(second_receiver.recv().unwrap().0, expected);
        }
        assert_eq!(budget.held(), 0);
        drop(first);
    });
}

/// MC-11: a sender that waits for the budget goes on once its own channel is empty, although nobody sets enough free.
#[test]
fn an_empty_channel_ends_the_wait_for_the_budget() {
    every_schedule(|| {
        let budget = Budget::new(2);
        let (mut hoarder, _keep) = bounded_within(capacity(2, 2), &budget);
        hoarder.send(0, Size { records: 1, bytes: 2 }).unwrap();
        let (mut sender, mut receiver) = bounded_within(capacity(2, 2), &budget);
        let reader = thread::spawn(move || {
            for item in items(0..3) {
                sender.send(item, ONE).unwrap();
            }
            sender.end();
        });
        assert_eq!(drain(&mut receiver).unwrap(), [0, 1, 2]);
        reader.join().unwrap();
        assert_eq!((budget.held(), budget.peak()), (2, 3));
    });
}

/// MC-15, MC-16: bytes granted to a sender that is cancelled at the same moment are returned, once.
#[test]
fn bytes_granted_to_a_cancelled_sender_are_returned_once() {
    every_schedule(|| {
        let budget = Budget::new(2);
        let (mut first, mut first_receiver) = bounded_within(capacity(2, 2), &budget);
        let (mut second, second_receiver) = bounded_within(capacity(2, 2), &budget);
        let control = second.control();
        first.send(1, ONE).unwrap();
        second.send(2, ONE).unwrap();
        let reader = thread::spawn(move || second.send(3, ONE).map_err(|error| error.refusal).map(|_| second.end()));
        let canceller = thread::spawn(move || control.cancel());
        first_receiver.recv().unwrap();
        assert!(matches!(reader.join().unwrap(), Ok(()) | Err(Refusal::Cancelled)));
        canceller.join().unwrap();
        assert_eq!(second_receiver.control().stage(), Stage::Cancelled);
        assert_eq!(budget.held(), 0);
    });
}

/// MC-15: also when a sender vanishes while it is owed bytes by another channel.
#[test]
fn a_sender_that_vanishes_returns_its_bytes() {
    schedules_with_interruptions(2, || {
        let budget = Budget::new(1);
        let (mut first, mut first_receiver) = bounded_within(capacity(2, 2), &budget);
        let (mut second, mut second_receiver) = bounded_within(capacity(2, 2), &budget);
        let vanishing = thread::spawn(move || {
            for item in items(0..2) {
                first.send(item, ONE).unwrap();
            }
        });
        let reader = thread::spawn(move || {
            for item in items(0..2) {
                second.send(item, ONE).unwrap();
            }
            second.end();
        });
        let failing = thread::spawn(move || assert!(drain(&mut first_receiver).is_err()));
        assert_eq!(drain(&mut second_receiver).unwrap(), [0, 1]);
        for thread in [vanishing, reader, failing] {
            thread.join().unwrap();
        }
        assert_eq!(budget.held(), 0);
    });
}

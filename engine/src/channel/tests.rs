//! The channel as its two ends and a third party see it. The scenarios named DX are those of the DataX channel, with a batch
//! in place of its local buffer. What must hold under every schedule is in `loom.rs`.

use std::thread;
use std::time::{Duration, Instant};

use super::*;

fn capacity(records: usize, bytes: usize) -> Capacity {
    Capacity { records: NonZeroUsize::new(records).unwrap(), bytes: NonZeroUsize::new(bytes).unwrap() }
}

fn size(records: usize, bytes: usize) -> Size {
    Size { records, bytes }
}

const ONE: Size = Size { records: 1, bytes: 1 };
const MARK: Size = Size { records: 0, bytes: 0 };

/// Lets other threads work until something holds.
fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(10), "what was waited for did not come");
        thread::yield_now();
    }
}

/// The quickest of several rounds: what the code takes on a machine that also does other things.
fn quickest(round: impl Fn() -> Duration) -> Duration {
    (0..10).map(|_| round()).min().unwrap()
}

fn drain<T>(receiver: &mut Receiver<T>) -> Result<Vec<T>, RecvError> {
    let mut items = Vec::new();
    while let Some(item) = receiver.recv()?.0 {
        items.push(item);
    }
    Ok(items)
}

/// DX-01: nothing is kept back in a buffer of the channel's own.
#[test]
fn an_item_is_there_as_soon_as_it_is_sent() {
    let (mut sender, mut receiver) = bounded(capacity(512, 1000));
    assert!(receiver.has_run_dry());
    sender.send("first", size(31, 31)).unwrap();
    assert!(!receiver.has_run_dry());
    assert_eq!(receiver.recv().unwrap(), (Some("first"), Duration::ZERO));
    assert!(receiver.has_run_dry());
}

/// PP-03: whoever holds something that others wait for gives it back before it waits for room.
#[test]
fn a_sender_gives_way_before_it_waits_and_not_otherwise() {
    let (mut sender, mut receiver) = bounded(capacity(1, 100));
    let control = sender.control();
    sender.send_giving_way("first", ONE, || panic!("there was room")).unwrap();
    thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let mut given_way = 0;
            sender.send_giving_way("second", ONE, || given_way += 1).unwrap();
            sender.end();
            given_way
        });
        until(|| control.waiting_senders() == 1);
        assert_eq!(drain(&mut receiver).unwrap(), ["first", "second"]);
        assert!(sending.join().unwrap() > 0);
    });
}

/// DX-02: 512 records in batches of 32 fit; the 17th batch waits for room, and is told for how long.
#[test]
fn a_batch_beyond_the_records_waits_for_room() {
    let (mut sender, mut receiver) = bounded(capacity(512, 1 << 20));
    let control = sender.control();
    for batch in 0..16 {
        assert_eq!(sender.send(batch, size(32, 32)).unwrap(), Duration::ZERO, "there was room");
    }
    thread::scope(|scope| {
        let late = scope.spawn(move || sender.send(16, size(32, 32)).unwrap());
        until(|| control.waiting_senders() == 1);
        assert_eq!(control.queued(), size(512, 512));
        assert_eq!(receiver.recv().unwrap().0, Some(0));
        assert!(late.join().unwrap() > Duration::ZERO, "the wait was measured");
    });
}

/// DX-03: with 1000 bytes, three batches of 300 fit; the fourth waits for room.
#[test]
fn a_batch_beyond_the_bytes_waits_for_room() {
    let (mut sender, mut receiver) = bounded(capacity(512, 1000));
    let control = sender.control();
    for batch in 0..3 {
        assert_eq!(sender.send(batch, size(1, 300)).unwrap(), Duration::ZERO);
    }
    thread::scope(|scope| {
        let late = scope.spawn(move || sender.send(3, size(1, 300)));
        until(|| control.waiting_senders() == 1);
        assert_eq!(control.queued(), size(3, 900));
        assert_eq!(receiver.recv().unwrap().0, Some(0));
        late.join().unwrap().unwrap();
    });
}

/// DX-04: an item as large as the channel passes, and so does a larger one; each is alone inside.
#[test]
fn an_item_as_large_as_the_channel_or_larger_travels_alone() {
    for large in [size(1, 1000), size(1, 1001), size(513, 1), size(usize::MAX, usize::MAX)] {
        let (mut sender, mut receiver) = bounded(capacity(512, 1000));
        let control = sender.control();
        thread::scope(|scope| {
            scope.spawn(move || {
                sender.send("small", ONE).unwrap();
                sender.send("large", large).unwrap();
                sender.send("after", ONE).unwrap();
                sender.end();
            });
            until(|| control.waiting_senders() == 1);
            assert_eq!(control.queued(), ONE, "the large one waits for an empty channel");
            assert_eq!(receiver.recv().unwrap().0, Some("small"));
            // As large as the channel it waits inside; larger, outside, until the receiver has come back for it.
            let inside = if capacity(512, 1000).fits(large) { large } else { Size::default() };
            until(|| control.waiting_senders() == 1 && control.queued() == inside);
            assert_eq!(drain(&mut receiver).unwrap(), ["large", "after"]);
        });
    }
}

/// DX-05: the receiver learns of the end at once, not at its next look: 100 empty tasks take far less than a second.
#[test]
fn an_empty_task_ends_without_delay() {
    let start = Instant::now();
    for _ in 0..100 {
        let (sender, mut receiver) = bounded::<u8>(capacity(1, 1));
        let control = sender.control();
        thread::scope(|scope| {
            let answer = scope.spawn(move || receiver.recv().unwrap().0);
            until(|| control.waiting_receivers() == 1);
            sender.end();
            assert_eq!(answer.join().unwrap(), None);
        });
    }
    assert!(start.elapsed() < Duration::from_secs(1), "took {:?}", start.elapsed());
}

/// DX-06: a reader that dies after ten records: the writer is told so, and the ten are discarded.
#[test]
fn a_sender_that_vanishes_is_a_failure_and_what_it_sent_is_dropped() {
    let (mut sender, mut receiver) = bounded(capacity(512, 1000));
    let control = sender.control();
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            for record in 0..10 {
                sender.send(record, ONE).unwrap();
            }
            panic!("the reader dies here, as part of the test");
        });
        assert!(reader.join().is_err());
    });
    assert_eq!(control.queued(), Size::default());
    let failed = RecvError::Failed("reader vanished".into());
    assert_eq!(receiver.recv(), Err(failed.clone()));
    assert_eq!(receiver.recv(), Err(failed), "and again");
}

/// DX-06: the same, seen by a writer that waits: it is woken at once.
#[test]
fn a_sender_that_vanishes_wakes_a_waiting_receiver() {
    let woken_after = quickest(|| {
        let (sender, mut receiver) = bounded::<u8>(capacity(1, 1));
        let control = sender.control();
        thread::scope(|scope| {
            let answer = scope.spawn(move || receiver.recv());
            until(|| control.waiting_receivers() == 1);
            let vanished = Instant::now();
            drop(sender);
            assert!(matches!(answer.join().unwrap(), Err(RecvError::Failed(_))));
            vanished.elapsed()
        })
    });
    assert!(woken_after < Duration::from_millis(100), "took {woken_after:?}");
}

/// DX-07: a writer that dies wakes a reader that waits for room; its item comes back.
#[test]
fn a_receiver_that_vanishes_sends_a_waiting_sender_away() {
    let woken_after = quickest(|| {
        let (mut sender, receiver) = bounded(capacity(1, 1));
        let control = sender.control();
        sender.send("inside", ONE).unwrap();
        thread::scope(|scope| {
            let answer = scope.spawn(move || {
                let first = sender.send("outside", ONE).unwrap_err();
                let second = sender.send("later", ONE).unwrap_err();
                [first, second].map(|error| (error.item, error.refusal))
            });
            until(|| control.waiting_senders() == 1);
            let vanished = Instant::now();
            drop(receiver);
            assert_eq!(answer.join().unwrap(), [("outside", Refusal::Gone), ("later", Refusal::Gone)]);
            vanished.elapsed()
        })
    });
    assert!(woken_after < Duration::from_millis(100), "took {woken_after:?}");
}

/// DX-08: as many failed tasks as once left their threads behind in an embedding process leave nothing behind here: both
/// threads are joined, and nobody holds the channel any more.
#[test]
fn thousands_of_failed_tasks_leave_nothing_behind() {
    for round in 0..3904 {
        let (mut sender, mut receiver) = bounded(capacity(4, 1000));
        let control = sender.control();
        thread::scope(|scope| {
            let writer = scope.spawn(move || drain(&mut receiver));
            scope.spawn(move || {
                for record in 0..round % 10 {
                    sender.send(record, ONE).unwrap();
                }
            });
            assert!(matches!(writer.join().unwrap(), Err(RecvError::Failed(_))));
        });
        assert_eq!(Arc::strong_count(&control.shared), 1);
    }
}

/// DX-09: a writer that stops early is told from one that has taken everything, also when the reader had ended before.
#[test]
fn a_writer_that_stops_early_is_not_a_good_end() {
    let (mut sender, mut receiver) = bounded(capacity(4, 1000));
    let control = sender.control();
    sender.send(1, ONE).unwrap();
    sender.end();
    assert_eq!(control.stage(), Stage::Ended);
    assert_eq!(receiver.recv().unwrap().0, Some(1));
    drop(receiver);
    assert_eq!(control.stage(), Stage::Gone, "it has not asked whether there is more");
}

/// DX-10: the end is the answer for ever, and the channel stays well ended when both ends are dropped.
#[test]
fn after_the_end_comes_the_end() {
    let (sender, mut receiver) = bounded::<u8>(capacity(4, 1000));
    let control = sender.control();
    sender.end();
    for _ in 0..3 {
        assert_eq!(receiver.recv().unwrap().0, None);
    }
    drop(receiver);
    assert_eq!(control.stage(), Stage::Finished);
}

/// DX-11: what goes in comes out, for every number of records around the sizes of a batch and of the channel.
#[test]
fn all_that_is_sent_is_received_in_order() {
    for records in [0usize, 1, 31, 32, 33, 512, 513, 100_000] {
        let (mut sender, mut receiver) = bounded(capacity(512, 64 << 10));
        let received = thread::scope(|scope| {
            scope.spawn(move || {
                let all: Vec<usize> = (0..records).collect();
                for batch in all.chunks(32) {
                    sender.send(batch.to_vec(), size(batch.len(), batch.len() * 8)).unwrap();
                }
                sender.end();
            });
            drain(&mut receiver).unwrap().concat()
        });
        assert_eq!(received, (0..records).collect::<Vec<_>>());
    }
}

/// DX-12: five tasks under one budget never hold more than it, and one item each.
#[test]
fn several_channels_keep_within_their_budget() {
    const ITEM: usize = 100;
    let budget = Budget::new(1000);
    thread::scope(|scope| {
        for _ in 0..5 {
            let (mut sender, mut receiver) = bounded_within(capacity(1000, 1000), &budget);
            scope.spawn(move || {
                for number in 0..2000 {
                    sender.send(number, size(1, ITEM)).unwrap();
                }
                sender.end();
            });
            scope.spawn(move || assert_eq!(drain(&mut receiver).unwrap(), (0..2000).collect::<Vec<_>>()));
        }
    });
    assert!(budget.peak() <= 1000 + 5 * ITEM as u128, "peak {}", budget.peak());
    assert_eq!(budget.held(), 0);
}

/// DX-14, for the waits of the channel (those for the rate are in `throttle`): a cancelled wait is over within 10 ms.
#[test]
fn cancelling_wakes_both_sides_at_once() {
    let budget = Budget::new(1);
    let woken_after = quickest(|| {
        let (mut for_room, _keep_receiver) = bounded(capacity(1, 10));
        let (mut for_bytes, _keep_other_receiver) = bounded_within(capacity(10, 10), &budget);
        let (_keep_sender, mut for_news) = bounded::<()>(capacity(1, 10));
        let (room, bytes, news) = (for_room.control(), for_bytes.control(), for_news.control());
        thread::scope(|scope| {
            for sender in [&mut for_room, &mut for_bytes] {
                sender.send((), ONE).unwrap();
                scope.spawn(move || assert_eq!(sender.send((), ONE).unwrap_err().refusal, Refusal::Cancelled));
            }
            scope.spawn(|| assert_eq!(for_news.recv(), Err(RecvError::Cancelled)));
            until(|| room.waiting_senders() + bytes.waiting_senders() + news.waiting_receivers() == 3);
            let start = Instant::now();
            for control in [&room, &bytes, &news] {
                control.cancel();
            }
            start
        })
        .elapsed()
    });
    assert!(woken_after < Duration::from_millis(10), "took {woken_after:?}");
    assert_eq!(budget.held(), 0);
}

/// DX-15: whether batches fit a channel can be asked before there is one.
#[test]
fn a_capacity_tells_which_items_fit() {
    let (sender, _receiver) = bounded::<u8>(capacity(512, 1000));
    assert!(sender.capacity().fits(size(512, 1000)));
    assert!(!sender.capacity().fits(size(513, 1000)));
    assert!(!sender.capacity().fits(size(512, 1001)));
}

#[test]
fn marks_keep_their_place_and_do_not_pile_up() {
    let (mut sender, mut receiver) = bounded(capacity(2, 10));
    let control = sender.control();
    sender.send("mark", MARK).unwrap();
    sender.send("record", ONE).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            sender.send("another mark", MARK).unwrap();
            sender.end();
        });
        until(|| control.waiting_senders() == 1);
        assert_eq!(drain(&mut receiver).unwrap(), ["mark", "record", "another mark"]);
    });
}

#[test]
fn a_sender_can_say_why_it_gives_up() {
    let (sender, mut receiver) = bounded::<u8>(capacity(2, 10));
    let control = sender.control();
    sender.fail("orders.csv is gone");
    control.cancel();
    assert_eq!(receiver.recv(), Err(RecvError::Failed("orders.csv is gone".into())), "the first end counts");
}

#[test]
fn cancelling_counts_until_the_receiver_knows_of_the_end() {
    let (mut sender, mut receiver) = bounded(capacity(2, 10));
    let control = sender.control();
    sender.send(1, ONE).unwrap();
    sender.end();
    control.cancel();
    assert_eq!(receiver.recv(), Err(RecvError::Cancelled), "what was queued is not worked off first");

    let (sender, mut receiver) = bounded::<u8>(capacity(2, 10));
    let control = sender.control();
    sender.end();
    assert_eq!(receiver.recv().unwrap().0, None);
    control.cancel();
    assert_eq!(receiver.recv().unwrap().0, None, "it has ended well already");
}

#[test]
fn a_channel_that_has_ended_has_not_run_dry() {
    let (sender, receiver) = bounded::<u8>(capacity(2, 10));
    assert!(receiver.has_run_dry());
    sender.end();
    assert!(!receiver.has_run_dry(), "the next call answers at once, with the end");
}

#[test]
fn the_wait_of_a_receiver_is_measured() {
    let (mut sender, mut receiver) = bounded(capacity(2, 10));
    let control = sender.control();
    thread::scope(|scope| {
        let waited = scope.spawn(move || receiver.recv().unwrap().1);
        until(|| control.waiting_receivers() == 1);
        sender.send(1, ONE).unwrap();
        assert!(waited.join().unwrap() > Duration::ZERO);
    });
}

/// Freeing an item may run a plugin's code: it must find the channel unlocked, whoever drops the item.
#[test]
fn items_are_dropped_outside_the_lock() {
    struct Curious(Option<Control<Curious>>);
    impl Drop for Curious {
        fn drop(&mut self) {
            if let Some(control) = &self.0 {
                assert_eq!(control.queued(), Size::default());
            }
        }
    }
    for end in [|control: &Control<Curious>, _| control.cancel(), |_: &Control<Curious>, receiver| drop(receiver)] {
        let (mut sender, receiver) = bounded(capacity(2, 10));
        let control = sender.control();
        sender.send(Curious(Some(control.clone())), ONE).unwrap();
        end(&control, receiver);
    }
}

/// The bytes that one channel sets free wake the sender of another.
#[test]
fn a_shared_budget_wakes_the_sender_of_another_channel() {
    let budget = Budget::new(2);
    let (mut first, mut first_receiver) = bounded_within(capacity(10, 10), &budget);
    let (mut second, mut second_receiver) = bounded_within(capacity(10, 10), &budget);
    let control = second.control();
    first.send(1, ONE).unwrap();
    second.send(2, ONE).unwrap();
    thread::scope(|scope| {
        let late = scope.spawn(move || second.send(3, ONE).map(|waited| (waited, second)));
        until(|| control.waiting_senders() == 1);
        assert_eq!(first_receiver.recv().unwrap().0, Some(1));
        let (waited, second) = late.join().unwrap().unwrap();
        assert!(waited > Duration::ZERO);
        second.end();
        assert_eq!(drain(&mut second_receiver).unwrap(), [2, 3]);
    });
    assert_eq!((budget.held(), budget.peak()), (0, 2));
}

/// Whatever others hold, a task whose channel is empty goes on, one item at a time.
#[test]
fn an_empty_channel_takes_an_item_beyond_the_budget() {
    let budget = Budget::new(2);
    let (mut hoarder, _keep) = bounded_within(capacity(10, 10), &budget);
    hoarder.send(1, size(1, 2)).unwrap();
    let (mut sender, mut receiver) = bounded_within(capacity(10, 10), &budget);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..100 {
                sender.send(number, ONE).unwrap();
            }
            sender.end();
        });
        assert_eq!(drain(&mut receiver).unwrap(), (0..100).collect::<Vec<_>>());
    });
    assert_eq!((budget.held(), budget.peak()), (2, 3));
}

/// A need that does not fit does not keep smaller ones behind it waiting.
#[test]
fn bytes_set_free_go_to_every_sender_whose_item_fits() {
    let budget = Budget::new(10);
    let (mut hoarder, mut hoarded) = bounded_within(capacity(10, 10), &budget);
    let (mut large, _keep_large) = bounded_within(capacity(10, 20), &budget);
    let (mut small, _keep_small) = bounded_within(capacity(10, 20), &budget);
    for bytes in [4, 4] {
        hoarder.send((), size(1, bytes)).unwrap();
    }
    large.send((), ONE).unwrap();
    small.send((), ONE).unwrap();
    let (large_control, small_control) = (large.control(), small.control());
    thread::scope(|scope| {
        let large = scope.spawn(|| large.send((), size(1, 5)));
        until(|| large_control.waiting_senders() == 1);
        let small = scope.spawn(|| small.send((), size(1, 4)));
        until(|| small_control.waiting_senders() == 1);
        hoarded.recv().unwrap();
        small.join().unwrap().unwrap();
        assert_eq!(large_control.waiting_senders(), 1);
        assert_eq!(budget.held(), 10);
        large_control.cancel();
        assert_eq!(large.join().unwrap().unwrap_err().refusal, Refusal::Cancelled);
    });
    assert_eq!(budget.held(), 9);
}

/// A size is what a plugin says it is: sums of absurd sizes stay sums.
#[test]
fn absurd_sizes_do_not_wrap_around() {
    let budget = Budget::new(10);
    let (mut first, first_receiver) = bounded_within(capacity(10, usize::MAX), &budget);
    let (mut second, second_receiver) = bounded_within(capacity(10, usize::MAX), &budget);
    first.send((), size(1, usize::MAX)).unwrap();
    second.send((), size(1, usize::MAX)).unwrap();
    assert_eq!(budget.held(), 2 * usize::MAX as u128);
    drop((first_receiver, second_receiver));
    assert_eq!(budget.held(), 0);
}

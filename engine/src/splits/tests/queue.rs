//! One split after another, and what ends the queue.

use super::*;

/// PQ-01.
#[test]
fn what_is_put_in_is_taken_in_order_and_then_all_is_finished() {
    let (queue, loader) = queue_of(4, 1, 1);
    loader.put(some([1, 2, 3])).unwrap();
    assert_eq!(queue.next_batch(number(100)).unwrap(), Batch { splits: vec![1, 2, 3], is_last: false });
    assert!(!queue.is_finished(), "a loader may still put something in");
    assert!(loader.end());
    assert!(queue.is_finished());
}

/// PQ-02.
#[test]
fn a_loader_waits_while_the_queue_is_full_and_goes_on_as_it_is_emptied() {
    let (queue, loader) = queue_of(4, 1, 1);
    thread::scope(|scope| {
        scope.spawn(move || {
            loader.put(some(1..=6)).unwrap();
            loader.end();
        });
        until(|| queue.waiting_loaders() == 1);
        assert_eq!(queue.queued(), 4);
        assert_eq!(queue.next(), Ok(Some(1)));
        until(|| queue.queued() == 4 && queue.waiting_loaders() == 1);
        assert_eq!(queue.next_batch(number(2)).unwrap().splits, [2, 3]);
        assert!(!queue.is_finished());
        assert_eq!(queue.rest().unwrap(), [4, 5, 6]);
        assert!(queue.is_finished());
    });
}

/// PQ-03.
#[test]
fn a_taker_who_waits_is_woken_by_a_split_and_by_the_end() {
    let (queue, loader) = queue_of(4, 1, 1);
    loader.put(some([1, 2, 3])).unwrap();
    let two = number(2);
    assert_eq!(queue.next_batch(two).unwrap().splits, [1, 2]);
    assert_eq!(queue.next_batch(two).unwrap().splits, [3]);
    thread::scope(|scope| {
        let taking = scope.spawn(|| (queue.next_batch(two), queue.next_batch(two), queue.next()));
        until(|| queue.waiting_takers() == 1);
        loader.put(some([4])).unwrap();
        until(|| queue.queued() == 0 && queue.waiting_takers() == 1);
        loader.end();
        let (first, second, again) = taking.join().unwrap();
        assert_eq!(first.unwrap().splits, [4]);
        assert_eq!(second.unwrap(), Batch { splits: vec![], is_last: true });
        assert_eq!(again, Ok(None));
    });
}

/// PQ-04.
#[test]
fn after_the_end_what_is_queued_is_taken_and_nothing_joins_it() {
    let (queue, loader) = queue_of(4, 1, 2);
    loader.put(some(1..=4)).unwrap();
    assert!(loader.end());
    assert!(!queue.is_finished());
    let batch = queue.next_batch(number(100)).unwrap();
    assert_eq!(batch, Batch { splits: vec![1, 2, 3, 4], is_last: true });
    assert!(queue.is_finished());
    assert_eq!(queue.next(), Ok(None));
}

/// PQ-06.
#[test]
fn a_loader_that_fails_leaves_nobody_waiting() {
    let (queue, failing) = queue_of(2, 1, 2);
    let waiting = failing.another().unwrap();
    thread::scope(|scope| {
        let putting = scope.spawn(move || waiting.put(some(1..=6)));
        until(|| queue.waiting_loaders() == 1);
        failing.fail("no more");
        assert_eq!(putting.join().unwrap(), Err(Stopped));
    });
    assert_eq!(queue.next(), Err(Stop::Failed("no more")));
    assert!(!queue.is_finished());
}

/// PQ-09.
#[test]
fn several_loaders_together_put_in_no_more_than_there_is_room_for() {
    let (queue, first) = queue_of(1000, 1, 4);
    let others: Vec<_> = std::iter::from_fn(|| first.another()).collect();
    assert_eq!(others.len(), 3);
    thread::scope(|scope| {
        for (number, loader) in others.into_iter().chain([first]).enumerate() {
            let from = number as u32 * 2000;
            scope.spawn(move || {
                loader.put(some(from..from + 2000)).unwrap();
                loader.end();
            });
        }
        until(|| queue.waiting_loaders() == 4);
        assert_eq!(queue.queued(), 1000);
        // How many there are is looked at whenever the lock is taken.
        let mut all = queue.rest().unwrap();
        all.sort_unstable();
        assert_eq!(all, (0..8000).collect::<Vec<_>>());
    });
}

/// PS-01.
#[test]
fn the_count_of_what_is_queued_follows_what_is_put_in_and_taken() {
    let (queue, loader) = queue_of(10, 1, 1);
    for count in 1..=10 {
        loader.put(some([count as u32])).unwrap();
        assert_eq!(queue.queued(), count);
    }
    for (most, taken, left) in [(1, 1, 9), (4, 4, 5), (20, 5, 0)] {
        assert_eq!(queue.next_batch(number(most)).unwrap().splits.len(), taken);
        assert_eq!(queue.queued(), left);
    }
}

/// PS-04.
#[test]
fn the_first_failure_is_told_again_and_again_and_what_was_queued_is_not() {
    let (queue, loader) = queue_of(10, 1, 2);
    let other = loader.another().unwrap();
    loader.put(some(1..=5)).unwrap();
    assert_eq!(queue.next(), Ok(Some(1)));
    loader.fail("test");
    assert_eq!(queue.queued(), 0);
    assert_eq!(queue.next(), Err(Stop::Failed("test")));
    assert_eq!(queue.next_batch(number(3)), Err(Stop::Failed("test")));
    assert_eq!(other.put(some([6])), Err(Stopped));
    assert_eq!((other.wait_for_room(), other.wait_for_taker()), (Err(Stopped), Err(Stopped)));
    assert!(other.another().is_none());
    other.fail("another");
    queue.stop();
    assert_eq!(queue.next(), Err(Stop::Failed("test")));
}

/// PS-05.
#[test]
fn a_taker_gets_the_split_that_it_waited_for() {
    let (queue, loader) = queue_of(10, 100, 1);
    thread::scope(|scope| {
        let taking = scope.spawn(|| queue.next());
        until(|| queue.waiting_takers() == 1);
        loader.put(some([7])).unwrap();
        assert_eq!(taking.join().unwrap(), Ok(Some(7)));
    });
}

/// PS-06.
#[test]
fn a_loader_waits_for_room_in_bytes_and_a_larger_split_travels_alone() {
    const ALL: usize = 1 << 20;
    let (queue, loader) = queue_of(100, 1, 1);
    for _ in 0..2 {
        loader.put([(1, ALL / 2), (2, ALL / 2)]).unwrap();
        assert_eq!(queue.next_batch(number(100)).unwrap().splits, [1, 2]);
    }
    thread::scope(|scope| {
        scope.spawn(move || {
            loader.put([(1, ALL), (2, 1), (3, 2 * ALL), (4, 1)]).unwrap();
            loader.end();
        });
        for split in 1..=3 {
            until(|| queue.queued() == 1 && queue.waiting_loaders() == 1);
            assert_eq!(queue.next(), Ok(Some(split)));
        }
        assert_eq!(queue.rest().unwrap(), [4]);
    });
}

#[test]
fn who_wants_no_more_sends_all_loaders_away() {
    let (queue, putting) = queue_of(1, 1, 3);
    let (looking, serving) = (putting.another().unwrap(), putting.another().unwrap());
    assert!(putting.another().is_none(), "three are enough");
    putting.put(some([1])).unwrap();
    thread::scope(|scope| {
        let refused = [
            scope.spawn(move || putting.put(some([2]))),
            scope.spawn(move || looking.wait_for_room()),
            scope.spawn(move || serving.wait_for_taker()),
        ];
        until(|| queue.waiting_loaders() == 3);
        queue.stop();
        for loader in refused {
            assert_eq!(loader.join().unwrap(), Err(Stopped));
        }
    });
    assert_eq!((queue.next(), queue.queued()), (Err(Stop::Unwanted), 0));
}

#[test]
fn a_stop_wakes_every_taker() {
    let (queue, loader) = queue_of(1, 1, 1);
    thread::scope(|scope| {
        let takers = [scope.spawn(|| queue.next()), scope.spawn(|| queue.next())];
        until(|| queue.waiting_takers() == 2);
        queue.stop();
        for taker in takers {
            assert_eq!(taker.join().unwrap(), Err(Stop::Unwanted));
        }
    });
    assert!(!loader.end(), "a queue that was stopped does not end");
}

#[test]
fn several_splits_at_once_reach_all_who_wait() {
    let (queue, loader) = queue_of(10, 1, 1);
    thread::scope(|scope| {
        let takers = [scope.spawn(|| queue.next()), scope.spawn(|| queue.next())];
        until(|| queue.waiting_takers() == 2);
        loader.put(some([1, 2])).unwrap();
        let mut taken: Vec<_> = takers.into_iter().map(|taker| taker.join().unwrap().unwrap().unwrap()).collect();
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
    });
}

#[test]
fn a_loader_that_vanishes_is_never_an_end() {
    let (queue, loader) = queue_of(10, 1, 1);
    loader.put(some([1])).unwrap();
    drop(loader);
    assert_eq!(queue.next(), Err(Stop::Vanished));
    assert!(!queue.is_finished());
}

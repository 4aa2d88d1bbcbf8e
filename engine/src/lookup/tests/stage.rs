//! Entries and calls, told the time by hand.

use std::sync::Arc;
use std::time::Duration;

use transship_plugin_api::Error;

use super::super::{Backoff, Call, Item, Options, Order, Outcome, Record, Retry, RetryOn, Stage};

fn options(order: Order) -> Options {
    Options {
        order,
        capacity: 4,
        timeout: Some(Duration::from_millis(1000)),
        retry: None,
        call_size: 1,
        linger: Duration::ZERO,
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn record(row: u32) -> Record {
    Record { source: 0, row }
}

fn calls(stage: &mut Stage, now: u64) -> Vec<Call> {
    std::iter::from_fn(|| stage.next_call(ms(now))).collect()
}

fn left(stage: &mut Stage) -> Vec<u32> {
    let mut rows = Vec::new();
    while let Some(item) = stage.pop() {
        if let Item::Entry(done) = item {
            rows.push(done.record.row);
        }
    }
    rows
}

fn missing(stage: &mut Stage, call: &Call, now: u64) {
    stage.answered(call.id, ms(now), |_, _| Outcome::Missing);
}

fn failed() -> Outcome {
    Outcome::Failed(Arc::new(Error::io("it is down")))
}

fn with_retry(order: Order, most: u32) -> Options {
    let on = RetryOn { errors: true, missing: true, ..RetryOn::default() };
    let backoff = Backoff::Exponential { first: ms(100), factor: 2.0, cap: ms(10_000) };
    Options { retry: Some(Retry { most, backoff, jitter: 0.0, on }), timeout: Some(ms(60_000)), ..options(order) }
}

/// FL-36.
#[test]
fn an_answer_to_an_earlier_attempt_is_ignored() {
    let mut stage = Stage::new(with_retry(Order::Ordered, 3));
    stage.enter(record(0), None, None, ms(0));
    let first = calls(&mut stage, 0);
    stage.answered(first[0].id, ms(1), |_, _| failed());
    stage.pass_time(ms(101));
    let second = calls(&mut stage, 101);
    assert_eq!(second.len(), 1);
    missing(&mut stage, &first[0], 102);
    assert_eq!((left(&mut stage).len(), stage.counters().late), (0, 1));
    missing(&mut stage, &second[0], 103);
    assert_eq!(stage.counters().retries, 1, "and this one rests now");
    assert_eq!(stage.next_due(), Some(ms(103 + 200)));
}

/// FL-38.
#[test]
fn pauses_of_two_records_do_not_concern_each_other() {
    let mut stage = Stage::new(with_retry(Order::Unordered, 3));
    let mut open = Vec::new();
    for row in 0..2 {
        stage.enter(record(row), None, None, ms(0));
        open.extend(calls(&mut stage, 0));
    }
    // The second fails 50 ms after the first, each time.
    let (mut now, mut begun) = ([0, 50], [Vec::new(), Vec::new()]);
    for attempt in 0..3 {
        let order = [0, 1];
        for row in order {
            let call = open.remove(0);
            stage.answered(call.id, ms(now[row]), |_, _| failed());
        }
        for row in order {
            now[row] += 100 << attempt;
            stage.pass_time(ms(now[row]));
            let again = calls(&mut stage, now[row]);
            assert_eq!(again.len(), 1, "the other one is not due");
            assert_eq!(again[0].records, [record(row as u32)]);
            begun[row].push(now[row]);
            open.extend(again);
        }
    }
    assert_eq!(begun, [[100, 300, 700], [150, 350, 750]]);
}

/// FK-02.
/// FK-05.
#[test]
fn of_a_key_one_is_looked_up_at_a_time_and_no_more_than_the_capacity_in_all() {
    let (odd, even) = (Some(1), Some(0));
    let mut stage = Stage::new(Options { capacity: 2, ..options(Order::Key) });
    for (row, key) in [(1, odd), (2, even), (3, odd), (4, even), (5, odd), (6, None)] {
        stage.enter(record(row), key, None, ms(0));
    }
    let rows = |calls: &[Call]| calls.iter().map(|call| call.records[0].row).collect::<Vec<_>>();
    let mut open = calls(&mut stage, 0);
    assert_eq!((rows(&open), stage.running()), (vec![1, 2], 2), "6 is a key of its own, but there are two already");
    missing(&mut stage, &open.remove(0), 1);
    open.extend(calls(&mut stage, 1));
    assert_eq!((rows(&open), stage.running()), (vec![2, 6], 2), "6 has waited longer for its turn than 3");
    missing(&mut stage, &open.remove(0), 2);
    open.extend(calls(&mut stage, 2));
    assert_eq!((rows(&open), left(&mut stage)), (vec![6, 3], vec![1, 2]));
    while !open.is_empty() {
        missing(&mut stage, &open.remove(0), 3);
        open.extend(calls(&mut stage, 3));
        assert!(stage.running() <= 2);
    }
    assert_eq!((left(&mut stage), stage.running(), stage.active()), (vec![6, 3, 4, 5], 0, 0));
}

#[test]
fn what_is_known_already_does_not_pass_what_is_looked_up_for_the_same_key() {
    let mut stage = Stage::new(options(Order::Key));
    stage.enter(record(1), Some(7), None, ms(0));
    for row in 2..20 {
        stage.enter(record(row), Some(7), Some(Outcome::Missing), ms(0));
    }
    stage.enter(record(20), Some(8), Some(Outcome::Missing), ms(0));
    assert_eq!(left(&mut stage), [20]);
    let call = calls(&mut stage, 0).remove(0);
    missing(&mut stage, &call, 1);
    assert_eq!(left(&mut stage), (1..20).collect::<Vec<_>>());
}

/// In key order many may wait for their turn: a lookup that is slow for one key must not use up the time of the others.
#[test]
fn in_key_order_time_passes_only_for_those_that_are_looked_up() {
    let mut stage = Stage::new(Options { capacity: 2, ..options(Order::Key) });
    for row in 0..4 {
        stage.enter(record(row), Some(u64::from(row) / 2), None, ms(0));
    }
    let open = calls(&mut stage, 0);
    stage.pass_time(ms(999));
    missing(&mut stage, &open[0], 999);
    let second = calls(&mut stage, 999);
    assert_eq!((second.len(), second[0].records[0]), (1, record(1)));
    stage.pass_time(ms(1000));
    assert_eq!(left(&mut stage), [0, 2], "the other one that was called at the start is over time");
    calls(&mut stage, 1000);
    stage.pass_time(ms(1998));
    assert!(left(&mut stage).is_empty());
    stage.pass_time(ms(2000));
    assert_eq!(left(&mut stage), [1, 3]);
}

#[test]
fn a_call_of_several_keys_is_wanted_until_the_last_of_them_is_over_time() {
    let mut stage = Stage::new(Options { call_size: 2, ..options(Order::Unordered) });
    stage.enter(record(0), None, None, ms(0));
    stage.enter(record(1), None, None, ms(500));
    let call = calls(&mut stage, 500).remove(0);
    let wanted = || call.wanted.load(std::sync::atomic::Ordering::Relaxed);
    stage.pass_time(ms(1000));
    assert_eq!((left(&mut stage), wanted(), stage.alarms()), (vec![0], true, 1));
    // A new record gets the id of the one that has left; the answer to the old one is not its answer.
    stage.enter(record(2), None, None, ms(1000));
    missing(&mut stage, &call, 1001);
    assert_eq!((left(&mut stage), stage.counters().late), (vec![1], 1));
    stage.pass_time(ms(1999));
    assert!(left(&mut stage).is_empty());
    stage.pass_time(ms(2000));
    assert_eq!((left(&mut stage), stage.alarms(), stage.counters().timeouts), (vec![2], 0, 2));
}

/// Of 100 000 records that were answered at once none leaves an alarm behind, though the first of all still waits.
#[test]
fn alarms_of_records_that_are_done_do_not_pile_up() {
    let mut stage = Stage::new(options(Order::Unordered));
    stage.enter(record(0), None, None, ms(0));
    let _slow = calls(&mut stage, 0);
    for row in 1..100_000 {
        stage.enter(record(row), None, None, ms(1));
        let call = calls(&mut stage, 1).remove(0);
        missing(&mut stage, &call, 1);
        stage.pass_time(ms(1));
        assert_eq!(left(&mut stage), [row]);
    }
    assert_eq!(stage.alarms(), 1);
    assert!(stage.alarms_kept() < 200);
}

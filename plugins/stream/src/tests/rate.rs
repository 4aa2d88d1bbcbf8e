//! Readers that make so many records a second.

use std::time::{Duration, Instant};

use serde_json::json;
use transship_plugin_api::{Item, Kind, ReaderTask};

use super::{all_splits, host, options, reader};
use crate::pace::Pace;

fn task(rate: &str, records: u64, batch_records: usize) -> Box<dyn ReaderTask> {
    let parameter =
        json!({ "column": [{ "type": "LONG", "sequence": "1" }], "sliceRecordCount": records, "rate": rate });
    let mut reader = reader(parameter);
    let split = all_splits(reader.as_mut(), 1).remove(0);
    let mut task = reader.open(&split, &options(batch_records), host()).unwrap();
    task.prepare().unwrap();
    task
}

#[test]
fn the_first_record_is_due_at_once_and_the_others_at_their_time() {
    let pace = Pace::new(10.0);
    let due = [0, 99, 101, 1_000].map(|millis| pace.due(Duration::from_millis(millis)));
    assert_eq!(due, [1, 1, 2, 11]);
    assert_eq!(Pace::new(0.5).due(Duration::from_secs(4)), 3);
}

#[test]
fn when_a_record_is_said_to_be_due_it_is() {
    for rate in [0.001, 0.3, 3.0, 7.7, 1_000.0, 123_456.7] {
        let pace = Pace::new(rate);
        for records in 0..2_000 {
            assert!(pace.due(pace.due_after(records)) > records, "{records} at {rate}");
        }
    }
    assert_eq!(Pace::new(1e-300).due_after(u64::MAX), Duration::MAX);
}

#[test]
fn a_task_is_idle_while_nothing_is_due() {
    // The second record is due after a million seconds.
    let mut task = task("0.000001", 2, 10);
    assert!(matches!(task.next(Duration::ZERO).unwrap(), Item::Batch(batch) if batch.num_rows() == 1));
    assert!(matches!(task.next(Duration::ZERO).unwrap(), Item::Idle));
    let asked = Instant::now();
    assert!(matches!(task.next(Duration::from_millis(20)).unwrap(), Item::Idle));
    assert!(asked.elapsed() >= Duration::from_millis(20));
}

#[test]
fn a_task_waits_for_the_next_record_within_its_timeout() {
    let started = Instant::now();
    let mut task = task("200", 5, 10);
    let mut seen = 0;
    loop {
        match task.next(Duration::from_secs(60)).unwrap() {
            Item::Batch(batch) => seen += batch.num_rows(),
            Item::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, 5);
    // The fifth record is due four intervals of 5 ms after the first.
    assert!(started.elapsed() >= Duration::from_millis(20));
}

#[test]
fn what_is_due_comes_in_full_batches() {
    let mut task = task("1e15", 25, 10);
    let mut sizes = Vec::new();
    // A nanosecond makes a million of them due.
    while let Item::Batch(batch) = task.next(Duration::from_secs(60)).unwrap() {
        sizes.push(batch.num_rows());
    }
    assert_eq!(sizes.iter().sum::<usize>(), 25);
    assert!(sizes.iter().all(|size| *size <= 10));
}

#[test]
fn a_wait_ends_when_the_task_is_cancelled() {
    let mut task = task("0.000001", 2, 10);
    let cancel = task.cancel_handle().unwrap();
    assert!(matches!(task.next(Duration::ZERO).unwrap(), Item::Batch(_)));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| task.next(Duration::from_secs(100_000)));
        cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().kind(), Kind::Cancelled);
    });
    cancel();
}

#[test]
fn a_timeout_without_end_is_no_overflow() {
    let mut task = task("1000", 2, 10);
    assert!(matches!(task.next(Duration::MAX).unwrap(), Item::Batch(_)));
    assert!(matches!(task.next(Duration::MAX).unwrap(), Item::Batch(_)));
    assert!(matches!(task.next(Duration::MAX).unwrap(), Item::End));
}

//! A service that takes its time: how long it takes, and what it sees.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use serde_json::{Value, json};
use transship_plugin_api::{Kind, Params, Writer, WriterTask};

use super::guard::{Guard, Watch};
use super::{ServiceTimes, WorkConfig};
use crate::tests::{TestHost, batch, cancelled_host, host, run, task};

fn records(keys: &[&str], sequence: &[i64]) -> RecordBatch {
    let keys: ArrayRef = Arc::new(StringArray::from(keys.to_vec()));
    RecordBatch::try_from_iter([("key", keys), ("number", Arc::new(Int64Array::from(sequence.to_vec())) as ArrayRef)])
        .unwrap()
}

fn prepared(parameter: Value) -> Box<dyn Writer> {
    let mut writer = crate::writer::new(&parameter, host()).unwrap();
    writer.prepare(&run(), None).unwrap();
    writer
}

fn opened(writer: &mut dyn Writer, number: u32) -> Box<dyn WriterTask> {
    let mut task = writer.open(&task(number), records(&[], &[]).schema(), host()).unwrap();
    task.prepare().unwrap();
    task
}

fn watching() -> Box<dyn Writer> {
    prepared(json!({ "work": { "order": { "key": "key", "sequence": "number" } } }))
}

#[test]
fn times_are_normally_distributed_and_a_seed_makes_the_same() {
    let config = |seed: u64| {
        let work = json!({ "mean": "10 ms", "deviation": "1 ms", "seed": seed });
        WorkConfig::parse(&Params::new(&work, "work").unwrap()).unwrap()
    };
    let times = |seed, number| {
        let mut times = ServiceTimes::new(&config(seed), &task(number));
        (0..10_000).map(|_| times.next().as_secs_f64() * 1e3).collect::<Vec<_>>()
    };
    let drawn = times(1, 1);
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    let deviation = (drawn.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / drawn.len() as f64).sqrt();
    assert!((9.95..10.05).contains(&mean) && (0.97..1.03).contains(&deviation), "{mean} {deviation}");
    let within = drawn.iter().filter(|time| (9.0..11.0).contains(*time)).count();
    assert!((6_600..7_050).contains(&within), "{within} of 10000 within one deviation");
    assert_eq!(drawn, times(1, 1));
    assert!(drawn != times(1, 2) && drawn != times(2, 1));
}

#[test]
fn no_time_is_less_than_nothing() {
    let work = json!({ "deviation": "1 ms", "seed": 1 });
    let config = WorkConfig::parse(&Params::new(&work, "work").unwrap()).unwrap();
    let mut times = ServiceTimes::new(&config, &task(1));
    let drawn: Vec<Duration> = (0..1_000).map(|_| times.next()).collect();
    let none = drawn.iter().filter(|time| time.is_zero()).count();
    assert!((440..560).contains(&none), "{none}");
}

#[test]
fn records_are_worked_on_one_after_another_and_then_written() {
    let mut writer = prepared(json!({ "work": { "mean": "2 ms" } }));
    let mut task = opened(writer.as_mut(), 1);
    let started = Instant::now();
    task.write(batch(records(&["a"; 10], &[0; 10]))).unwrap();
    assert!(started.elapsed() >= Duration::from_millis(20));
    task.flush().unwrap();
    let report = task.commit().unwrap();
    assert_eq!(report.written, 10);
    writer.commit(&[report]).unwrap();
}

#[test]
fn the_engine_is_told_when_the_work_on_each_record_began() {
    let told = |work: Value| {
        let host = Arc::new(TestHost::default());
        let mut writer = prepared(json!({ "work": work }));
        let mut task = writer.open(&task(1), records(&[], &[]).schema(), host.clone()).unwrap();
        task.prepare().unwrap();
        for _ in 0..2 {
            task.write(batch(records(&["a"; 3], &[0; 3]))).unwrap();
        }
        host.started.lock().unwrap().clone()
    };
    let one_by_one = told(json!({ "mean": "2 ms" }));
    assert_eq!(one_by_one.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
    let moments: Vec<u64> = one_by_one.iter().flat_map(|(_, moments)| moments.clone()).collect();
    assert!(moments.len() == 6 && moments.windows(2).all(|pair| pair[1] >= pair[0] + 2_000), "{moments:?}");
    let at_once = told(json!({}));
    assert_eq!(at_once.iter().map(|(row, moments)| (*row, moments.len())).collect::<Vec<_>>(), [(0, 3), (0, 3)]);
}

#[test]
fn work_may_go_before_any_other_target() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = prepared(json!({ "work": {}, "path": folder.path(), "fileName": "out.txt" }));
    let mut task = opened(writer.as_mut(), 1);
    task.write(batch(records(&["a", "b"], &[1, 2]))).unwrap();
    let report = task.commit().unwrap();
    writer.commit(&[report]).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("out.txt")).unwrap(), "a\t1\nb\t2\n");
}

#[test]
fn the_work_ends_when_the_task_is_cancelled() {
    let mut writer = prepared(json!({ "work": { "mean": "1 h" } }));
    let mut task = opened(writer.as_mut(), 1);
    let cancel = task.cancel_handle().unwrap();
    std::thread::scope(|scope| {
        let working = scope.spawn(|| task.write(batch(records(&["a"], &[0]))));
        cancel();
        assert_eq!(working.join().unwrap().unwrap_err().kind(), Kind::Cancelled);
    });
}

#[test]
fn work_that_takes_no_time_can_be_cancelled_as_well() {
    let mut writer = prepared(json!({ "work": {} }));
    let mut task = writer.open(&task(1), records(&[], &[]).schema(), cancelled_host()).unwrap();
    assert_eq!(task.write(batch(records(&["a"], &[0]))).unwrap_err().kind(), Kind::Cancelled);
}

#[test]
fn records_that_come_in_order_pass_whatever_task_they_are_in() {
    let mut writer = watching();
    let (mut one, mut other) = (opened(writer.as_mut(), 1), opened(writer.as_mut(), 2));
    one.write(batch(records(&["a", "b", "a"], &[1, 7, 2]))).unwrap();
    other.write(batch(records(&["a", "b"], &[3, 9]))).unwrap();
    writer.commit(&[one.commit().unwrap(), other.commit().unwrap()]).unwrap();
}

#[test]
fn records_out_of_order_fail_the_job() {
    for (keys, numbers) in [(["a", "b", "a"], [2, 1, 1]), (["a", "b", "a"], [1, 5, 1])] {
        let mut writer = watching();
        let mut task = opened(writer.as_mut(), 1);
        task.write(batch(records(&keys, &numbers))).unwrap();
        let report = task.commit().unwrap();
        let error = writer.commit(&[report]).unwrap_err();
        assert_eq!(error.kind(), Kind::Data);
        assert!(error.message().contains("1 records came after a later one of their key"), "{error}");
    }
}

#[test]
fn two_records_of_a_key_in_two_hands_are_noticed() {
    let guard = Arc::new(Guard::new());
    let order = super::config::OrderConfig { key: "key".into(), sequence: "number".into() };
    let records = records(&["a", "b", "a"], &[1, 1, 2]);
    let watch = Watch::new(guard.clone(), &order, &records.schema()).unwrap();
    drop(watch.enter(&records, 0));
    let first = watch.enter(&records, 1);
    let second = watch.enter(&records, 2);
    guard.verdict().unwrap();
    let third = watch.enter(&records, 2);
    drop((first, second, third));
    let error = guard.verdict().unwrap_err();
    assert!(error.message().contains("1 were handled while another of their key was"), "{error}");
}

#[test]
fn columns_that_are_not_there_or_no_numbers_are_refused() {
    let refused = |key: &str, sequence: &str, expected: &str| {
        let mut writer = prepared(json!({ "work": { "order": { "key": key, "sequence": sequence } } }));
        let Err(error) = writer.open(&task(1), records(&[], &[]).schema(), host()) else { panic!("{key} {sequence}") };
        assert!(error.message().contains(expected), "{error}");
    };
    refused("client", "number", "names the column \"client\", which is not there");
    refused("key", "key", "work.order.sequence is \"key\", a column of Utf8, not of whole numbers");
}

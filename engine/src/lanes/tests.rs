//! Between readers and lanes: batches taken apart and made anew, marks, memory, and waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use serde_json::{Value, json};
use transship_plugin_api::Origin;

use super::*;
use crate::transform::OrderSetting;

fn number(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

fn lanes(count: usize, parameter: Value) -> Lanes {
    let setting = Arc::new(OrderSetting::of(&parameter).unwrap());
    Lanes::new(setting, number(count), (8192, 2 << 20), number(1 << 20))
}

fn source(number: u32) -> Arc<Source> {
    let split = format!("file {number}");
    Arc::new(Source { task: String::new(), number, attempt: 1, split, unit: "line".into() })
}

fn schema() -> SchemaRef {
    let made = DataType::Timestamp(TimeUnit::Microsecond, None);
    Arc::new(Schema::new(vec![Field::new("key", DataType::Int64, false), Field::new("made", made, false)]))
}

fn batch(keys: &[i64], first: u64) -> Batch {
    let made = TimestampMicrosecondArray::from(vec![1_000_000; keys.len()]);
    let columns = vec![Arc::new(Int64Array::from(keys.to_vec())) as _, Arc::new(made) as _];
    Batch::measured(RecordBatch::try_new(schema(), columns).unwrap(), Origin::from(first))
}

/// The keys of some work, and the positions of its records.
fn taken(work: &Work) -> (Vec<i64>, Vec<u64>) {
    let mut batch = work.batch().unwrap();
    let origin = batch.origin.clone();
    let keys = batch.records().unwrap().column(0).as_primitive::<Int64Type>().values().to_vec();
    let positions = (0..keys.len()).map(|row| origin.position(row)).collect();
    (keys, positions)
}

fn work(lanes: &Lanes, lane: usize, done: Option<Work>) -> Work {
    match lanes.next(lane, done).unwrap().0 {
        Job::Work(work) => work,
        Job::Mark(mark) => panic!("a mark: {mark:?}"),
        Job::End => panic!("the end"),
    }
}

#[test]
fn records_are_put_together_by_key_and_keep_their_place() {
    let lanes = lanes(1, json!({ "key": "key" }));
    let feeder = lanes.feeder(source(1));
    feeder.schema(&schema()).unwrap();
    for (keys, first) in [([1, 2, 1, 3], 100), ([2, 1, 9, 9], 200)] {
        assert!(feeder.batch(batch(&keys, first), &mut || ()).is_ok());
    }
    drop(feeder);
    lanes.end();
    // One lane takes all that is ready, in the order in which it came.
    let first = work(&lanes, 0, None);
    assert_eq!(taken(&first), (vec![1, 2, 1, 3, 2, 1, 9, 9], vec![100, 101, 102, 103, 200, 201, 202, 203]));
    assert_eq!(first.source.split, "file 1");
    assert!(matches!(lanes.next(0, Some(first)).unwrap().0, Job::End));
}

#[test]
fn a_lane_takes_its_share_of_the_keys_and_nobody_gets_one_that_is_held() {
    let lanes = lanes(2, json!({ "key": "key" }));
    let feeder = lanes.feeder(source(1));
    feeder.schema(&schema()).unwrap();
    assert!(feeder.batch(batch(&[1, 2, 3, 4, 1, 3], 0), &mut || ()).is_ok());
    let (first, second) = (work(&lanes, 0, None), work(&lanes, 1, None));
    assert_eq!(taken(&first), (vec![1, 2, 1], vec![0, 1, 4]));
    assert_eq!(taken(&second), (vec![3, 4, 3], vec![2, 3, 5]), "the other half, although it came later");
    assert!(feeder.batch(batch(&[1, 5], 10), &mut || ()).is_ok());
    let third = work(&lanes, 1, Some(second));
    assert_eq!(taken(&third).0, [5], "none that is held");
    drop(first);
}

#[test]
fn records_of_different_splits_are_never_in_one_batch() {
    let lanes = lanes(1, json!({ "key": "key" }));
    let feeders = [lanes.feeder(source(1)), lanes.feeder(source(2))];
    for (feeder, first) in feeders.iter().zip([10, 20]) {
        feeder.schema(&schema()).unwrap();
        assert!(feeder.batch(batch(&[7, 8], first), &mut || ()).is_ok());
    }
    let first = work(&lanes, 0, None);
    assert_eq!((taken(&first), first.source.number), ((vec![7, 8], vec![10, 11]), 1));
    let second = work(&lanes, 0, Some(first));
    assert_eq!((taken(&second), second.source.number), ((vec![7, 8], vec![20, 21]), 2));
}

#[test]
fn a_watermark_passes_when_all_readers_have_passed_it() {
    let lanes = lanes(1, json!({ "key": "key" }));
    let (early, late) = (lanes.feeder(source(1)), lanes.feeder(source(2)));
    early.schema(&schema()).unwrap();
    early.mark(Mark::Watermark(50));
    late.mark(Mark::Watermark(20));
    late.mark(Mark::Flush);
    assert!(matches!(lanes.next(0, None).unwrap().0, Job::Mark(Mark::Watermark(20))));
    // Who has come to its end holds nothing back.
    drop(late);
    assert!(matches!(lanes.next(0, None).unwrap().0, Job::Mark(Mark::Watermark(50))));
    drop(early);
    lanes.end();
    assert!(matches!(lanes.next(0, None).unwrap().0, Job::End));
}

#[test]
fn readers_that_disagree_about_the_columns_are_refused() {
    let lanes = lanes(1, json!({ "key": "key" }));
    let feeder = lanes.feeder(source(1));
    feeder.schema(&schema()).unwrap();
    feeder.schema(&schema()).unwrap();
    let other = Arc::new(Schema::new(vec![Field::new("key", DataType::Utf8, false)]));
    let error = feeder.schema(&other).unwrap_err();
    assert!(error.message().contains("the splits have different columns"), "{error}");
    let nowhere = lanes_error(json!({ "key": "nobody" }));
    assert!(nowhere.starts_with("parameter.key is \"nobody\", and there is no such column"), "{nowhere}");
    let no_time = lanes_error(json!({ "key": "key", "created": "key" }));
    assert!(no_time.starts_with("parameter.created is the column \"key\", which is Int64"), "{no_time}");
}

fn lanes_error(parameter: Value) -> String {
    let lanes = lanes(1, parameter);
    let error = lanes.feeder(source(1)).schema(&schema()).unwrap_err();
    error.message().to_string()
}

/// Bytes are given back when the last record of a batch is done, and who has to wait for them gives way before.
#[test]
fn batches_weigh_until_their_last_record_is_done() {
    let bytes = batch(&[1, 2, 3], 0).bytes;
    let lanes = lanes(1, json!({ "key": "key", "byteCapacity": bytes, "batch": 2 }));
    let feeder = lanes.feeder(source(1));
    feeder.schema(&schema()).unwrap();
    assert!(feeder.batch(batch(&[1, 2, 3], 0), &mut || ()).is_ok());
    let waits = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut gives_way = || {
                waits.fetch_add(1, Ordering::SeqCst);
            };
            assert!(feeder.batch(batch(&[4], 3), &mut gives_way).is_ok());
        });
        while waits.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        let first = work(&lanes, 0, None);
        let second = work(&lanes, 0, Some(first));
        assert_eq!(taken(&second).0, [3]);
        let third = work(&lanes, 0, Some(second));
        assert_eq!(taken(&third).0, [4]);
    });
}

#[test]
fn every_record_is_counted_with_what_it_waited_for() {
    let lanes = lanes(1, json!({ "key": "key", "created": "made" }));
    let feeder = lanes.feeder(source(1));
    feeder.schema(&schema()).unwrap();
    assert!(feeder.batch(batch(&[1, 1, 2], 0), &mut || ()).is_ok());
    let mut first = work(&lanes, 0, None);
    lanes.count_waits(0, &mut first, None);
    let (lately, ever) = lanes.waits();
    assert_eq!([&lately.start, &lately.key, &lately.lane, &ever.start].map(|waits| waits.distribution().count), [3; 4]);
    // It was made one second after 1970 began: that is the longest wait there is.
    assert!(lately.start.distribution().min > 900 * 86_400 * 1_000_000);
    let (lately, ever) = lanes.waits();
    assert_eq!((lately.start.distribution().count, ever.start.distribution().count), (0, 3));
}

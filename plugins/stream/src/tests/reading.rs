//! Splits, batches, seeds and positions.

use arrow_array::Array;
use serde_json::{Value, json};
use transship_plugin_api::{Item, Kind, ReadOptions, Split, SplitRequest};

use super::{all_splits, batches, cancelled_host, host, options, read, reader, values};

/// Columns of every kind of source.
fn mixed(records: u64, seed: Value) -> Value {
    json!({
        "column": [
            { "type": "LONG", "sequence": "1,1" },
            { "type": "LONG", "random": "0,1000000" },
            { "type": "DOUBLE", "random": "0,9" },
            { "type": "BOOL", "random": "1,3" },
            { "type": "STRING", "random": "0,40" },
            { "type": "STRING", "random": "7,7" },
            { "type": "BYTES", "random": "1,20" },
            { "type": "DATE", "random": "2020-01-01 00:00:00,2024-01-01 00:00:00" },
            { "type": "STRING", "value": "same", "name": "constant" },
            { "type": "BOOL", "value": true }
        ],
        "sliceRecordCount": records,
        "seed": seed
    })
}

#[test]
fn there_are_as_many_splits_as_channels_each_of_so_many_records() {
    let mut reader = reader(mixed(10, json!("7")));
    let splits = all_splits(reader.as_mut(), 3);
    let ids: Vec<_> = splits.iter().map(|split| split.id.as_str()).collect();
    assert_eq!(ids, ["slice-0", "slice-1", "slice-2"]);
    for split in &splits {
        assert_eq!((split.records, read(reader.as_mut(), split, &options(4)).len()), (Some(10), 10));
    }
}

#[test]
fn sequences_go_on_from_split_to_split() {
    let mut reader = reader(json!({ "column": [{ "type": "LONG", "sequence": "100, -2" }], "sliceRecordCount": 3 }));
    let splits = all_splits(reader.as_mut(), 2);
    assert_eq!(values(reader.as_mut(), &splits[0]), ["100", "98", "96"]);
    assert_eq!(values(reader.as_mut(), &splits[1]), ["94", "92", "90"]);
}

#[test]
fn a_sequence_that_would_overflow_is_a_config_error() {
    let mut reader =
        reader(json!({ "column": [{ "type": "LONG", "sequence": "0,3000000000000000000" }], "sliceRecordCount": 2 }));
    let error = reader.splits(&SplitRequest { channels: 4, max: 1 }).unwrap_err();
    assert_eq!(error.kind(), Kind::Config);
    assert!(error.message().contains("parameter.column[0].sequence"), "{error}");
    let mut reader = super::reader(
        json!({ "column": [{ "type": "LONG", "sequence": "0,3000000000000000000" }], "sliceRecordCount": 2 }),
    );
    let splits = all_splits(reader.as_mut(), 2);
    assert_eq!(values(reader.as_mut(), &splits[1]), ["6000000000000000000", "9000000000000000000"]);
}

#[test]
fn batches_are_cut_by_records_and_by_bytes() {
    let mut reader = reader(json!({ "column": [{ "random": "96,96" }], "sliceRecordCount": 100 }));
    let splits = all_splits(reader.as_mut(), 1);
    let sizes = |batch_records, batch_bytes, reader: &mut dyn transship_plugin_api::Reader| {
        let options = ReadOptions { batch_records, batch_bytes, ..ReadOptions::default() };
        batches(reader, &splits[0], &options).iter().map(|batch| batch.num_rows()).collect::<Vec<_>>()
    };
    assert_eq!(sizes(40, 1 << 20, reader.as_mut()), [40, 40, 20]);
    assert_eq!(sizes(8192, 3000, reader.as_mut()), [30, 30, 30, 10]);
    assert_eq!(sizes(8192, 10, reader.as_mut()), [1; 100]);
}

#[test]
fn a_seed_makes_the_same_records_whatever_the_batches_are() {
    let mut first = reader(mixed(1_000, json!(42)));
    let splits = all_splits(first.as_mut(), 2);
    let expected: Vec<_> = splits.iter().map(|split| read(first.as_mut(), split, &options(8192))).collect();
    assert_ne!(expected[0], expected[1]);
    for batch_records in [1, 7, 333] {
        let mut again = reader(mixed(1_000, json!(42)));
        let splits = all_splits(again.as_mut(), 2);
        for (split, expected) in splits.iter().zip(&expected) {
            assert_eq!(&read(again.as_mut(), split, &options(batch_records)), expected);
        }
    }
    let mut other = reader(mixed(1_000, json!(43)));
    let splits = all_splits(other.as_mut(), 2);
    assert_ne!(read(other.as_mut(), &splits[0], &options(8192)), expected[0]);
}

#[test]
fn columns_of_one_kind_differ() {
    let column = json!({ "type": "STRING", "random": "20,20" });
    let mut reader = reader(json!({ "column": [column, column], "sliceRecordCount": 1, "seed": 1 }));
    let splits = all_splits(reader.as_mut(), 1);
    let row = &read(reader.as_mut(), &splits[0], &options(1))[0];
    assert_ne!(row[0], row[1]);
}

#[test]
fn without_a_seed_a_split_still_makes_the_same_records_in_every_attempt_and_process() {
    let parameter = json!({ "column": [{ "random": "30,30" }], "sliceRecordCount": 5 });
    let mut first = reader(parameter.clone());
    let split = all_splits(first.as_mut(), 1).remove(0);
    let expected = values(first.as_mut(), &split);
    assert_eq!(values(first.as_mut(), &split), expected);
    let sent: Split = serde_json::from_str(&serde_json::to_string(&split).unwrap()).unwrap();
    let mut elsewhere = reader(parameter);
    assert_eq!(values(elsewhere.as_mut(), &sent), expected);
    let own = all_splits(elsewhere.as_mut(), 1).remove(0);
    assert_ne!(values(elsewhere.as_mut(), &own), expected);
}

#[test]
fn every_batch_carries_its_origin_and_the_position_behind_it_from_which_reading_goes_on() {
    let mut reader = reader(mixed(100, json!(9)));
    let split = all_splits(reader.as_mut(), 2).remove(1);
    let expected = read(reader.as_mut(), &split, &options(100));
    let mut task = reader.open(&split, &options(30), host()).unwrap();
    task.prepare().unwrap();
    let mut seen = 0;
    while let Item::Batch(batch) = task.next(Default::default()).unwrap() {
        assert_eq!(batch.origin.position(0), seen as u64);
        seen += batch.num_rows();
        assert_eq!(batch.read_share, Some(seen as f64 / 100.0));
        let position = batch.position.clone().unwrap();
        let rest = ReadOptions { position: Some(position), ..options(7) };
        assert_eq!(read(reader.as_mut(), &split, &rest), expected[seen..]);
    }
    assert_eq!(seen, 100);
}

#[test]
fn positions_and_splits_of_something_else_are_refused() {
    let mut reader = reader(mixed(10, json!(9)));
    let mut split = all_splits(reader.as_mut(), 1).remove(0);
    for position in [json!(11), json!("x"), json!(-1)] {
        assert!(reader.open(&split, &ReadOptions { position: Some(position), ..options(7) }, host()).is_err());
    }
    split.detail = json!({ "file": "x" });
    assert!(reader.open(&split, &options(1), host()).is_err());
}

#[test]
fn constants_are_made_once_and_shared_by_all_batches() {
    let mut reader = reader(json!({ "column": [{ "value": "same" }], "sliceRecordCount": 25 }));
    let split = all_splits(reader.as_mut(), 1).remove(0);
    let batches = batches(reader.as_mut(), &split, &options(10));
    let buffers: Vec<_> = batches.iter().map(|batch| batch.column(0).to_data().buffers()[1].as_ptr()).collect();
    assert_eq!(buffers, [buffers[0]; 3]);
    assert_eq!(batches.iter().map(|batch| batch.num_rows()).collect::<Vec<_>>(), [10, 10, 5]);
}

#[test]
fn columns_are_named_or_numbered() {
    let mut reader = reader(
        json!({ "column": [{ "value": 1 }, { "value": 2, "name": "two" }, { "value": 3, "name": "" }], "sliceRecordCount": 1 }),
    );
    let schema = reader.schema().unwrap().unwrap();
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["col0", "two", "col2"]);
}

#[test]
fn a_value_wins_over_other_sources() {
    let both = json!({ "type": "LONG", "value": 5, "random": "not even looked at", "sequence": "1,1" });
    assert_eq!(super::column(both, 2).1, ["5", "5"]);
}

#[test]
fn a_cancelled_task_makes_nothing_more() {
    let mut reader = reader(mixed(10, json!(9)));
    let split = all_splits(reader.as_mut(), 1).remove(0);
    let mut task = reader.open(&split, &options(1), cancelled_host()).unwrap();
    task.prepare().unwrap();
    assert_eq!(task.next(Default::default()).unwrap_err().kind(), Kind::Cancelled);
}

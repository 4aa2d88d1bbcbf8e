//! What splits and batches tell of how much there is to read, and how much of it is read.

use super::split::table_with;
use super::*;

/// The records that splits are said to have.
fn told(place: &Place, parameter: Json, channels: u32) -> Vec<Option<u64>> {
    let mut reader = new_reader(&place.parameter(parameter), &RecordingHost::shared()).unwrap();
    reader.prepare().unwrap();
    all_splits(reader.as_mut(), channels).unwrap().into_iter().map(|split| split.records).collect()
}

/// For each split the largest difference between what batches said and how many of its records had been read by then.
fn worst(place: &Place, parameter: Json, channels: u32) -> Vec<f64> {
    let parameter = place.parameter(parameter);
    let host = RecordingHost::shared();
    let mut reader = new_reader(&parameter, &host).unwrap();
    reader.prepare().unwrap();
    let options = ReadOptions { batch_records: 100, ..ReadOptions::default() };
    let splits = all_splits(reader.as_mut(), channels).unwrap();
    let of_split = |split: &Split| {
        let mut task = reader.open(split, &options, host.clone()).unwrap();
        task.prepare().unwrap();
        let batches = drain(task.as_mut()).unwrap();
        let all: usize = batches.iter().map(|batch| batch.records.num_rows()).sum();
        let mut read = 0;
        let differences = batches.iter().map(|batch| {
            read += batch.records.num_rows();
            (batch.share.unwrap() - read as f64 / all as f64).abs()
        });
        differences.fold(0.0, f64::max)
    };
    splits.iter().map(of_split).collect()
}

#[test]
fn the_share_is_that_of_the_records_whatever_the_gaps_between_rowids() {
    let dense = table_with(&[(1, 10_001)]);
    let clusters = table_with(&[(0, 3_000), (4_000_000_000_000, 4_000_000_001_000)]);
    let sparse = table_with(&[(1, 20_001)]);
    sparse.connection().execute_batch("DELETE FROM t WHERE id % 7 <> 0").unwrap();
    for (place, tolerance) in [(dense, 1e-9), (clusters, 0.03), (sparse, 0.03)] {
        for (channels, splits) in [(1, 1), (3, 3)] {
            let worst = worst(&place, json!({"table": "t", "splitPk": "id", "splitFactor": 1}), channels);
            assert_eq!(worst.len(), splits);
            assert!(worst.iter().all(|worst| *worst <= tolerance), "{worst:?} off");
        }
    }
}

#[test]
fn an_attempt_that_goes_on_tells_the_share_of_the_whole_split() {
    let place = table_with(&[(1, 1_001)]);
    let options = ReadOptions { batch_records: 100, position: Some(json!({"rowid": 500})), ..ReadOptions::default() };
    let read = read_with(place.parameter(json!({"table": "t"})), 1, &options).unwrap();
    let shares: Vec<_> = read.batches.iter().map(|batch| batch.share.unwrap()).collect();
    assert_eq!(shares, [0.6, 0.7, 0.8, 0.9, 1.0]);
}

#[test]
fn rows_that_come_in_another_order_tell_no_share() {
    let place = table_with(&[(1, 1_001)]);
    let of = |parameter: Json| read_with(place.parameter(parameter), 2, &ReadOptions::default()).unwrap();
    for parameter in [
        json!({"table": "t", "where": "n > 10"}),
        json!({"table": "t", "splitPk": "k"}),
        json!({"querySql": "SELECT * FROM t"}),
    ] {
        let read = of(parameter);
        assert!(!read.batches.is_empty() && read.batches.iter().all(|batch| batch.share.is_none()));
    }
}

#[test]
fn the_splits_of_a_table_add_up_to_it() {
    let sum = |told: Vec<Option<u64>>| told.into_iter().map(|records| records.unwrap()).sum::<u64>();
    let place = table_with(&[(0, 3_000), (4_000_000_000_000, 4_000_000_001_000)]);
    place.connection().execute_batch("CREATE TABLE w (k TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID").unwrap();
    place.connection().execute_batch("INSERT INTO w SELECT k || id, n FROM t").unwrap();
    let by = |table: &str, key: &str| json!({"table": table, "splitPk": key, "splitFactor": 1});
    for (channels, parameter) in [(1, by("t", "id")), (4, by("t", "id")), (5, by("t", "k")), (5, by("w", "k"))] {
        let told = told(&place, parameter.clone(), channels);
        assert!(told.len() >= channels as usize, "{parameter}: {told:?}");
        let sum = sum(told);
        assert!((3_900..=4_200).contains(&sum), "{parameter}: {sum}");
    }
    let counted = told(&place, json!({"table": "w", "splitPk": "k", "splitFactor": 1, "where": "n < 1000"}), 4);
    assert_eq!(sum(counted), 1_000);
}

#[test]
fn the_records_of_all_splits_of_a_table_are_known_or_those_of_none() {
    // More numbers than the file has room for rows.
    let place = Place::with("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, n INTEGER)");
    let rows = (0..500).map(|row| format!("({}, 'k', {row})", row * 1_000_003)).collect::<Vec<_>>().join(", ");
    place.connection().execute_batch(&format!("INSERT INTO t VALUES {rows}")).unwrap();
    for (channels, splits) in [(1, 1), (4, 4)] {
        let told = told(&place, json!({"table": "t", "splitPk": "id", "splitFactor": 1}), channels);
        assert_eq!(told, vec![None; splits]);
    }
    let worst = worst(&place, json!({"table": "t", "splitPk": "id", "splitFactor": 1}), 2);
    assert!(worst.iter().all(|worst| *worst < 0.03), "the rowids tell how much is read nevertheless: {worst:?}");
    assert_eq!(told(&place, json!({"table": "t", "where": "n > 1"}), 1), [None]);
}

//! Tests of splits: whatever the data, every row is in exactly one of them.

use proptest::collection::vec;
use proptest::prelude::*;
use rusqlite::params;

use super::*;

/// Tables whose keys are compared in different ways.
const TABLES: [&str; 6] = [
    "CREATE TABLE t (k, n INTEGER)",
    "CREATE TABLE t (k TEXT COLLATE NOCASE, n INTEGER)",
    "CREATE TABLE t (k INTEGER, n INTEGER)",
    "CREATE TABLE t (k REAL, n INTEGER)",
    "CREATE TABLE t (k BLOB, n INTEGER PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE u (k TEXT COLLATE RTRIM, n INTEGER); CREATE VIEW t AS SELECT k, n FROM u",
];

fn key() -> impl Strategy<Value = Stored> {
    prop_oneof![
        2 => Just(Stored::Null),
        4 => any::<i64>().prop_map(Stored::Integer),
        4 => (-3i64..3).prop_map(Stored::Integer),
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(i64::MAX - 1)].prop_map(Stored::Integer),
        2 => prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(9.3e18), Just(0.1)].prop_map(Stored::Real),
        4 => "[aAbB'\"% é\u{0}]{0,3}".prop_map(Stored::Text),
        1 => "\\PC{0,6}".prop_map(Stored::Text),
        2 => vec(any::<u8>(), 0..4).prop_map(Stored::Blob),
    ]
}

/// The numbers `n` that all splits together yield, in order.
fn numbers_read(parameter: Json, channels: u32) -> Vec<u64> {
    let read = read_with(parameter, channels, &ReadOptions { batch_records: 7, ..ReadOptions::default() }).unwrap();
    assert_eq!(read.dirty, [], "nothing is dirty here");
    let mut ids: Vec<_> = read.splits.iter().map(|split| split.id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), read.splits.len(), "ids are unique");
    let mut numbers: Vec<u64> = read.rows().iter().map(|row| row[0].as_ref().unwrap().parse().unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

fn fill(place: &Place, table: &str, keys: &[Stored]) {
    let mut connection = place.connection();
    let transaction = connection.transaction().unwrap();
    {
        let mut insert = transaction.prepare(&format!("INSERT INTO {table} (k, n) VALUES (?, ?)")).unwrap();
        for (number, key) in keys.iter().enumerate() {
            insert.execute(params![key, number as i64]).unwrap();
        }
    }
    transaction.commit().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Traps 48, 50, 51.
    #[test]
    fn splits_by_key_hold_each_row_once(
        schema in 0..TABLES.len(),
        indexed: bool,
        keys in vec(key(), 0..80),
        channels in 1u32..=64,
    ) {
        let place = Place::with(TABLES[schema]);
        let table = if TABLES[schema].contains("VIEW") { "u" } else { "t" };
        if indexed {
            place.connection().execute_batch(&format!("CREATE INDEX i ON {table} (k)")).unwrap();
        }
        fill(&place, table, &keys);
        let parameter = place.parameter(json!({"table": "t", "column": ["n"], "splitPk": "K", "splitFactor": 1}));
        let all: Vec<_> = (0..keys.len() as u64).collect();
        prop_assert_eq!(numbers_read(parameter, channels), all);
    }

    /// Trap 51.
    #[test]
    fn splits_by_rowid_hold_each_row_once(
        rowids in proptest::collection::btree_set(prop_oneof![any::<i64>(), -50i64..50, Just(i64::MIN), Just(i64::MAX)], 0..80),
        channels in 1u32..=64,
    ) {
        let place = Place::with("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)");
        let rows: Vec<_> = rowids.iter().enumerate().map(|(number, rowid)| format!("({rowid}, {number})")).collect();
        if !rows.is_empty() {
            place.connection().execute_batch(&format!("INSERT INTO t VALUES {}", rows.join(", "))).unwrap();
        }
        let parameter = place.parameter(json!({"table": "t", "column": ["n"], "splitPk": "id", "splitFactor": 1}));
        let all: Vec<_> = (0..rowids.len() as u64).collect();
        prop_assert_eq!(numbers_read(parameter, channels), all);
    }
}

/// A table of rows with these rowids.
pub(super) fn table_with(rowids: &[(i64, i64)]) -> Place {
    let place = Place::with("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, n INTEGER)");
    let connection = place.connection();
    for (first, behind) in rowids {
        let numbers = "WITH RECURSIVE i(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM i WHERE i < ?2 - 1)";
        let insert = format!("INSERT INTO t {numbers} SELECT i, printf('k%05d', i), i FROM i");
        connection.execute(&insert, params![first, behind]).unwrap();
    }
    place
}

fn sizes(place: &Place, parameter: Json, channels: u32) -> Vec<usize> {
    let parameter = place.parameter(parameter);
    let host = RecordingHost::shared();
    let mut reader = new_reader(&parameter, &host).unwrap();
    reader.prepare().unwrap();
    let splits = all_splits(reader.as_mut(), channels).unwrap();
    let size = |split: &Split| {
        let mut task = reader.open(split, &ReadOptions::default(), host.clone()).unwrap();
        task.prepare().unwrap();
        drain(task.as_mut()).unwrap().iter().map(|batch| batch.records.num_rows()).sum()
    };
    splits.iter().map(size).collect()
}

#[test]
fn a_gap_between_rowids_does_not_unbalance_the_splits() {
    let place = table_with(&[(0, 1000), (4_000_000_000_000, 4_000_000_001_000)]);
    assert_eq!(sizes(&place, json!({"table": "t", "splitPk": "id", "splitFactor": 1}), 4), [500; 4]);
    assert_eq!(sizes(&place, json!({"table": "t", "splitPk": "rowid", "splitFactor": 2}), 2), [500; 4]);
}

#[test]
fn splits_by_key_are_about_as_large_as_each_other() {
    let place = table_with(&[(0, 2000)]);
    let sizes = sizes(&place, json!({"table": "t", "splitPk": "k", "splitFactor": 1}), 8);
    // The last is that of the rows without a key.
    assert_eq!((sizes.len(), sizes[8]), (9, 0));
    assert!(sizes[..8].iter().all(|size| (230..270).contains(size)), "{sizes:?}");
}

/// Traps 52, 53.
#[test]
fn a_large_table_is_split_without_being_asked_and_a_small_one_is_not() {
    let large = table_with(&[(0, 100_001)]);
    let split = |place: &Place, parameter: Json, channels| sizes(place, parameter, channels).len();
    assert_eq!(split(&large, json!({"table": "t"}), 1), 1);
    assert_eq!(split(&large, json!({"table": "t"}), 2), 10);
    assert_eq!(split(&large, json!({"table": "t", "splitFactor": 1}), 2), 2);
    // Several tables share the channels, and no factor applies.
    assert_eq!(split(&large, json!({"table": ["t", "t"]}), 4), 4);
    let small = table_with(&[(0, 100_000)]);
    assert_eq!(split(&small, json!({"table": "t"}), 2), 1);
}

#[test]
fn splits_are_planned_without_preparing_and_are_the_same_every_time() {
    let place = table_with(&[(5, 100)]);
    let plan = || {
        let parameter = place.parameter(json!({"table": "t", "splitPk": "k", "splitFactor": 1}));
        let mut reader = new_reader(&parameter, &RecordingHost::shared()).unwrap();
        all_splits(reader.as_mut(), 3).unwrap()
    };
    assert_eq!(plan(), plan());
    let labels: Vec<_> = plan().into_iter().map(|split| split.label).collect();
    assert_eq!(
        labels,
        ["t, k below 'k00037'", "t, k from 'k00037' below 'k00069'", "t, k from 'k00069'", "t, k is NULL"]
    );
}

#[test]
fn a_row_of_a_split_is_told_by_its_rowid() {
    let place = table_with(&[(10, 20)]);
    place.connection().execute_batch("UPDATE t SET n = 'x' WHERE id = 17").unwrap();
    let parameter = place.parameter(json!({"table": "t", "splitPk": "k", "splitFactor": 1, "column": ["n"]}));
    let read = read_with(parameter, 3, &ReadOptions::default()).unwrap();
    assert_eq!(read.positions().len(), 9);
    assert_eq!(read.dirty[0].position, Some(17));
}

#[test]
fn a_table_is_not_looked_at_before_the_splits_of_the_last_one_are_given_away() {
    let first = Place::with("CREATE TABLE a (n INTEGER); CREATE TABLE b (n INTEGER)");
    let second = Place::with("CREATE TABLE c (n INTEGER)");
    let connection = json!([
        {"jdbcUrl": [first.path()], "table": ["a", "b"]},
        {"jdbcUrl": [second.path()], "table": ["c"]},
    ]);
    let mut reader = new_reader(&json!({"connection": connection}), &RecordingHost::shared()).unwrap();
    reader.prepare().unwrap();
    let request = SplitRequest { channels: 2, max: 100 };
    // Each of these is there once the reader is prepared, and gone when it is its turn.
    first.connection().execute_batch("DROP TABLE b").unwrap();
    second.connection().execute_batch("DROP TABLE c").unwrap();
    let splits = reader.splits(&request).unwrap();
    assert_eq!(splits.iter().map(|split| split.detail["source"].as_u64()).collect::<Vec<_>>(), [Some(0)]);
    assert!(reader.splits(&request).unwrap_err().message().contains("table b does not exist"));
    assert!(reader.splits(&request).unwrap_err().message().contains("table c does not exist"));
    assert_eq!(reader.splits(&request).unwrap(), []);
}

#[test]
fn splits_of_a_limited_connection_say_so() {
    let (first, second) = (Place::with("CREATE TABLE a (n INTEGER)"), Place::with("CREATE TABLE b (n INTEGER)"));
    let connection = json!([
        {"jdbcUrl": ["/nowhere/x.db", first.path()], "table": ["a"], "maxConnections": 2},
        {"jdbcUrl": [second.path()], "table": ["b"]},
    ]);
    let mut reader = new_reader(&json!({"connection": connection}), &RecordingHost::shared()).unwrap();
    reader.prepare().unwrap();
    let splits = all_splits(&mut *reader, 2).unwrap();
    let limits: Vec<_> = splits.iter().map(|split| split.limit.clone()).collect();
    let name = format!("file://{}", first.path().display());
    assert_eq!(limits, [Some(transship_plugin_api::Limit { name, open: 2 }), None]);
}

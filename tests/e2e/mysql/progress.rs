//! What the splits of a table are said to have: together about as much as the table.

use transship_tests::{Database, Job, Scratch, Value, json};

use super::{reader, writer};

const ROWS: u64 = 150_000;

/// Rows that are worth splitting; of `k` and `plain`, which has no index, each third is missing.
fn table(database: &Database) {
    database.run(&format!(
        "CREATE TABLE t (id int PRIMARY KEY, k int, plain int, filling text, KEY (k)); CREATE TABLE copy LIKE t; \
         INSERT INTO t SELECT seq, IF(seq MOD 3 > 0, seq, NULL), IF(seq MOD 3 > 0, seq, NULL), REPEAT('x', 60) FROM seq_1_to_{ROWS}; \
         ANALYZE TABLE t"
    ));
}

/// The splits of a plan.
fn splits(scratch: &Scratch, database: &Database, channels: u32, parameter: Value) -> Vec<Value> {
    let job = Job::new(reader(database, parameter), writer(database, json!({ "table": ["copy"], "column": ["*"] })))
        .channels(channels);
    scratch.job("job.json", &job);
    let run = scratch.transship(["plan", "job.json", "--json"]).run().succeeds();
    let plan: Value = serde_json::from_str(&run.stdout).unwrap();
    plan["tasks"].as_array().unwrap().iter().map(|task| task["split"].clone()).collect()
}

/// All of a member of the splits together; each of them has it.
fn sum(splits: &[Value], member: &str) -> u64 {
    splits.iter().map(|split| split[member].as_u64().unwrap_or_else(|| panic!("no {member} in {split}"))).sum()
}

#[test]
fn the_splits_of_a_table_add_up_to_it() {
    let (database, scratch) = (Database::mysql(), Scratch::new());
    table(&database);
    for (channels, more, least) in
        [(1, json!({}), 1), (4, json!({}), 4), (4, json!({ "splitPk": "k" }), 5), (4, json!({ "splitPk": "plain" }), 5)]
    {
        let mut parameter = json!({ "table": ["t"], "column": ["*"] });
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let splits = splits(&scratch, &database, channels, parameter);
        assert!(splits.len() >= least, "{more} with {channels} channels: {} splits", splits.len());
        let records = sum(&splits, "records");
        // InnoDB itself only estimates.
        assert!(records.abs_diff(ROWS) < ROWS / 5, "{more} with {channels} channels: {records}");
        assert!(sum(&splits, "bytes") > ROWS * 60, "{more} with {channels} channels");
    }
}

#[test]
fn rows_that_a_condition_leaves_out_are_not_counted() {
    let (database, scratch) = (Database::mysql(), Scratch::new());
    table(&database);
    let parameter = |key: Value| json!({ "table": ["t"], "column": ["*"], "where": "plain <= 1000", "splitPk": key });
    let counted = splits(&scratch, &database, 4, parameter(json!("plain")));
    assert_eq!(sum(&counted, "records"), 667);
    for (channels, key) in [(1, Value::Null), (4, json!("id"))] {
        let estimated = splits(&scratch, &database, channels, parameter(key));
        assert!(estimated.iter().all(|split| split["records"].is_null()), "{estimated:?}");
    }
}

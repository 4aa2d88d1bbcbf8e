//! What the splits of a table are said to have: together about as much as the table.

use transship_tests::{Database, Job, Scratch, Value, json};

use super::{reader, writer};

/// Rows in some 5,000 pages, so that they are worth splitting; of `k` each third is missing.
const ROWS: u64 = 400_000;

fn table(database: &Database) {
    database.run(&format!(
        "CREATE TABLE t (id int PRIMARY KEY, k int, filling text); CREATE TABLE copy (LIKE t); \
         INSERT INTO t SELECT n, CASE WHEN n % 3 > 0 THEN n END, repeat('x', 60) FROM generate_series(1, {ROWS}) AS n; \
         ANALYZE t"
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

fn is_about(number: u64, expected: u64) -> bool {
    number.abs_diff(expected) <= expected / 20
}

#[test]
fn the_splits_of_a_table_add_up_to_it() {
    let (database, scratch) = (Database::postgres(), Scratch::new());
    table(&database);
    let bytes: u64 = database.value("SELECT pg_table_size('t')").parse().unwrap();
    for (channels, more, least) in [
        (1, json!({}), 1),
        (4, json!({}), 4),
        (4, json!({ "splitPk": "id" }), 4),
        (4, json!({ "splitPk": "k" }), 5),
        // So many parts that their bounds are looked for in all rows, and fewer in a sample.
        (64, json!({ "splitPk": "k" }), 64),
        (2, json!({ "splitPk": "k", "splitFactor": 1 }), 3),
    ] {
        let mut parameter = json!({ "table": ["t"], "column": ["*"] });
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let splits = splits(&scratch, &database, channels, parameter);
        assert!(splits.len() >= least, "{more} with {channels} channels: {} splits", splits.len());
        let records = sum(&splits, "records");
        assert!(is_about(records, ROWS), "{more} with {channels} channels: {records}");
        assert!(is_about(sum(&splits, "bytes"), bytes), "{more} with {channels} channels");
        if more["splitPk"] == "k" {
            let nulls = splits.iter().find(|split| split["label"].as_str().unwrap().contains("NULL")).unwrap();
            let nulls = nulls["records"].as_u64().unwrap();
            assert!(nulls.abs_diff(ROWS / 3) < ROWS / 10, "{more} with {channels} channels: {nulls} without a key");
        }
    }
}

#[test]
fn rows_that_a_condition_leaves_out_are_not_counted() {
    let (database, scratch) = (Database::postgres(), Scratch::new());
    table(&database);
    let parameter = |key: Value| json!({ "table": ["t"], "column": ["*"], "where": "id <= 1000", "splitPk": key });
    let counted = splits(&scratch, &database, 64, parameter(json!("id")));
    assert_eq!(sum(&counted, "records"), 1_000);
    let by_pages = splits(&scratch, &database, 4, parameter(Value::Null));
    assert!(by_pages.iter().all(|split| split["records"].is_null()), "{by_pages:?}");
    assert!(sum(&by_pages, "bytes") > 0, "all pages are looked at");
}

#[test]
fn a_table_that_was_never_looked_at_has_bytes_alone() {
    let (database, scratch) = (Database::postgres(), Scratch::new());
    database.run("CREATE TABLE t (id int) WITH (autovacuum_enabled = false); CREATE TABLE copy (id int); CREATE TABLE empty (id int)");
    database.run("INSERT INTO t SELECT generate_series(1, 1000)");
    let found = splits(&scratch, &database, 1, json!({ "table": ["t", "empty"], "column": ["*"] }));
    assert!(found[0]["records"].is_null() && found[0]["bytes"].as_u64().unwrap() > 30_000, "{found:?}");
    assert_eq!((&found[1]["records"], &found[1]["bytes"]), (&json!(0), &json!(0)), "nothing is in no pages");
}

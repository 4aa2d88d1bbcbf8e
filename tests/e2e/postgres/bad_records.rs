//! Records that the server refuses: exactly these are dirty, wherever they stand, and all others are written.

use transship_tests::Database;
use transship_tests::{Job, Scratch, Value, json};

use super::{reader, writer};

/// How many records each job has.
const RECORDS: usize = 30_000;
/// The first ones, neighbours, some around the end of the first COPY, the last ones: counted from 1.
const BAD: [usize; 12] = [1, 2, 3, 4000, 8191, 8192, 8193, 8194, 12_345, 25_000, 29_999, 30_000];

/// What is wrong with the records.
struct Fault {
    /// The column `v` of the target, and whatever else stands there.
    column: &'static str,
    /// The value of a bad record; a good one has its number.
    value: &'static str,
    /// The column that is told.
    told: Option<&'static str>,
    cause: &'static str,
}

const FAULTS: [Fault; 7] = [
    Fault { column: "int CHECK (v > 0)", value: "-g", told: Some("v"), cause: "violates check constraint" },
    Fault { column: "int CHECK (v < id + 1)", value: "g + 1", told: None, cause: "violates check constraint" },
    Fault { column: "tiny", value: "-1", told: Some("v"), cause: "value for domain tiny" },
    // One key that is there already, and one that the same COPY brings. The first record that has it is good.
    Fault { column: "int UNIQUE", value: "-1", told: Some("v"), cause: "Key (v)=(-1) already exists" },
    Fault { column: "int UNIQUE", value: "greatest(g - 5, 4)", told: Some("v"), cause: "already exists" },
    Fault { column: "int REFERENCES parents", value: "-7", told: Some("v"), cause: "Key (v)=(-7) is not present" },
    Fault { column: "int", value: "-99", told: None, cause: "no such number" },
];

/// A target with one row, and all that faults are about.
fn make_tables(database: &Database, fault: &Fault, more: &str) {
    database.run(&format!(
        "DROP TABLE IF EXISTS target; DROP TABLE IF EXISTS parents; DROP DOMAIN IF EXISTS tiny; \
         CREATE DOMAIN tiny AS int CHECK (value >= 0); \
         CREATE TABLE parents AS SELECT g AS id FROM generate_series(0, {RECORDS}) g; ALTER TABLE parents ADD PRIMARY KEY (id); \
         CREATE TABLE target (id int, v {}{more}); \
         CREATE OR REPLACE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no such number'; END $$",
        fault.column
    ));
    match fault.value {
        "-99" => database
            .run("CREATE TRIGGER no BEFORE INSERT ON target FOR EACH ROW WHEN (new.v = -99) EXECUTE FUNCTION no()"),
        "-1" if fault.column.contains("UNIQUE") => database.run("INSERT INTO target VALUES (0, -1)"),
        _ => {}
    }
}

/// Writes records of which these are bad, and looks at what becomes of them.
fn check(database: &Database, fault: &Fault, bad: &[usize], more: &str, parameter: Value) {
    let numbers = bad.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let query = format!(
        "select g as id, case when g in ({numbers}) then {} else g end as v{more} from generate_series(1, {RECORDS}) g",
        fault.value
    );
    let before = database.value("SELECT count(*) FROM target").parse::<usize>().unwrap();
    let scratch = Scratch::new();
    let job = Job::new(reader(database, json!({ "querySql": [query] })), writer(database, parameter));
    let run = scratch.run(&job.channels(1)).succeeds();
    let name = fault.column;
    let mut dirty = scratch.dirty_records();
    dirty.sort_by_key(|record| record["position"].as_u64());
    let found: Vec<_> = dirty.iter().map(|record| record["position"].as_u64().unwrap() as usize + 1).collect();
    assert_eq!(found, bad, "{name}: {run}");
    for record in &dirty {
        assert_eq!(record["record"]["id"], record["position"].as_u64().unwrap() + 1, "{name}: {record}");
        assert_eq!(record.get("column").and_then(Value::as_str), fault.told, "{name}: {record}");
        assert!(record["cause"].as_str().unwrap().contains(fault.cause), "{name}: {record}");
    }
    let (count, sum) = (RECORDS - bad.len(), RECORDS * (RECORDS + 1) / 2 - bad.iter().sum::<usize>());
    let rows = database.value("SELECT count(*), count(DISTINCT id), sum(id) FROM target");
    assert_eq!(rows, format!("{}\t{}\t{sum}", count + before, count + before), "{name}: {run}");
    assert_eq!(run.summary()["counts"]["written"], count, "{name}: {run}");
}

fn bad_for(fault: &Fault) -> &'static [usize] {
    // Of the keys that the same COPY brings, the first record that has one is good.
    if fault.value.starts_with("greatest") { &BAD[3..] } else { &BAD }
}

#[test]
fn bad_records_are_told_exactly_wherever_they_stand() {
    let database = Database::postgres();
    for fault in &FAULTS {
        make_tables(&database, fault, "");
        check(&database, fault, bad_for(fault), "", json!({ "table": ["target"], "column": ["*"] }));
    }
}

/// A type without a binary form here makes text of all.
#[test]
fn bad_records_are_told_exactly_when_sent_as_text() {
    let database = Database::postgres();
    for fault in &FAULTS {
        make_tables(&database, fault, ", address inet");
        check(
            &database,
            fault,
            bad_for(fault),
            ", '10.0.0.1'::text",
            json!({ "table": ["target"], "column": ["*"], "batchSize": 9000 }),
        );
    }
}

/// A right to read, which a condition of COPY needs, must not be needed for writing.
#[test]
fn whoever_may_only_insert_loses_no_record_to_a_bad_one() {
    let database = Database::postgres();
    // The column is known only if the check is.
    let fault = &Fault { told: None, ..FAULTS[0] };
    make_tables(&database, fault, "");
    let role = format!("{}_inserts", database.name());
    database.run(&format!("CREATE ROLE {role}; GRANT INSERT ON target TO {role}"));
    let parameter = json!({ "table": ["target"], "column": ["*"], "session": [format!("SET ROLE {role}")] });
    check(&database, fault, &BAD, "", parameter);
    database.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

/// Each second record.
#[test]
fn as_many_bad_records_as_good_ones_are_told() {
    let database = Database::postgres();
    let odd: Vec<_> = (1..=RECORDS).filter(|number| number % 2 == 1).collect();
    let fault = &FAULTS[0];
    make_tables(&database, fault, "");
    check(&database, fault, &odd, "", json!({ "table": ["target"], "column": ["*"] }));
}

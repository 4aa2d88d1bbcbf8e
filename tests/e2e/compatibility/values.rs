//! Traps of values: what a text file holds, through the types of a job, to another file, a table or the screen.

use rusqlite::Connection;
use transship_tests::records::text;
use transship_tests::{Job, Scratch, Value, json, plugin};

use super::{constants, file, printed, printer, run, sorted};

/// The records of a text file, read with these types and printed; and of those that are dirty the values.
fn read(lines: &str, types: &[&str]) -> (Vec<String>, Vec<String>) {
    let scratch = Scratch::new();
    scratch.write("in.txt", lines);
    let run = run(&scratch, &Job::new(file("in.txt", types), printer())).succeeds();
    let dirty = scratch.dirty_records().iter().map(|record| text(record, "/value").to_string()).collect();
    (sorted(&run), dirty)
}

/// The values of a table into which a text file, read with these types, was written; the table's columns are declared so.
fn stored(lines: &str, types: &[&str], declared: &str) -> Vec<String> {
    let scratch = Scratch::new();
    scratch.write("in.txt", lines);
    let database = Connection::open(scratch.path("t.db")).unwrap();
    database.execute_batch(&format!("create table t ({declared})")).unwrap();
    let mut reader = file("in.txt", types);
    reader["parameter"]["nullFormat"] = json!("\\N");
    let writer = plugin("sqlitewriter", json!({ "path": "t.db", "table": "t", "column": ["*"] }));
    scratch.run(&Job::new(reader, writer)).succeeds();
    let columns: Vec<String> = declared.split(", ").map(|column| format!("quote({})", &column[..1])).collect();
    let mut statement = database.prepare(&format!("select {} from t", columns.join(" || ' ' || "))).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Trap 27.
#[test]
fn a_date_keeps_its_time_or_is_dirty() {
    let (good, dirty) = read(
        "2024-02-29T13:04:05\n2024-02-29 13:04\n2024-02-29 24:00:00\n2024-02-30\n2024-02-29 25:00:00\n0000-00-00\n\
         2024-02-29 13:04:05+08:00\n2024-02-29 or so\n",
        &["date"],
    );
    assert_eq!(good, ["2024-02-29 13:04:00", "2024-02-29 13:04:05", "2024-03-01 00:00:00"]);
    assert_eq!(
        dirty,
        ["2024-02-30", "2024-02-29 25:00:00", "0000-00-00", "2024-02-29 13:04:05+08:00", "2024-02-29 or so"]
    );
}

/// Trap 28.
#[test]
fn days_that_java_has_left_out_of_its_calendar_are_days() {
    let (good, dirty) = read("1000-01-01\n1582-10-10\n1500-02-29\n", &["date"]);
    assert_eq!(good, ["1000-01-01 00:00:00", "1582-10-10 00:00:00"]);
    assert_eq!(dirty, ["1500-02-29"], "which only the Julian calendar has");
}

/// Traps 29, 30.
#[test]
fn a_long_is_cut_at_the_point_and_an_empty_text_is_none() {
    let (good, dirty) = read("1.9,a\n-1.9,b\n1e3,c\n,d\n12x,e\n", &["long", "string"]);
    assert_eq!(good, ["-1\tb", "1\ta", "1000\tc"]);
    assert_eq!(dirty, ["", "12x"]);
}

/// Traps 31, 32.
#[test]
fn numbers_of_any_size_arrive_as_they_are_written() {
    let numbers = "1.50\n1E3\n00012\n18446744073709551615\n0.1234567890123456789\n";
    let mut written: Vec<&str> = numbers.lines().collect();
    written.sort();
    assert_eq!(read(numbers, &["double"]).0, written);
    let quoted: Vec<String> = numbers.lines().map(|number| format!("'{number}'")).collect();
    assert_eq!(stored(numbers, &["double"], "a text"), quoted);
    let constant = constants(1, json!([{ "type": "long", "value": "18446744073709551615" }]));
    assert_eq!(printed(&Job::new(constant, printer())), ["18446744073709551615"]);
}

/// Trap 33.
#[test]
fn infinities_and_nan_are_doubles_in_any_case_of_letters() {
    let (good, dirty) = read("Infinity\n-infinity\nNAN\nInf\n", &["double"]);
    assert_eq!((good, dirty), (["-infinity", "Infinity", "NAN"].map(String::from).to_vec(), vec!["Inf".to_string()]));
}

/// Trap 34.
#[test]
fn null_is_null_in_every_type_and_every_column() {
    let types = ["long", "double", "boolean", "date", "string"];
    let null = "\\N,\\N,\\N,\\N,\\N\n";
    assert_eq!(stored(null, &types, "a date, b blob, c integer, d real, e boolean"), ["NULL NULL NULL NULL NULL"]);
}

/// Trap 35.
#[test]
fn a_boolean_is_a_word_in_a_text_and_one_or_zero_in_a_number() {
    let values = stored("true,TRUE\nfalse,False\n", &["boolean", "boolean"], "a integer, b text");
    assert_eq!(values, ["1 'true'", "0 'false'"]);
    let (good, dirty) = read("true\n1\n", &["boolean"]);
    assert_eq!((good, dirty), (vec!["true".to_string()], vec!["1".to_string()]));
}

/// Trap 36.
#[test]
fn bytes_that_are_no_text_are_dirty_and_stay_as_they_are_in_a_blob() {
    let scratch = Scratch::new();
    let database = Connection::open(scratch.path("t.db")).unwrap();
    database
        .execute_batch("create table t (a blob); insert into t values (x'6162'), (x'ff00'); create table u (a blob)")
        .unwrap();
    let reader = || plugin("sqlitereader", json!({ "path": "t.db", "table": "t" }));
    let printing = run(&scratch, &Job::new(reader(), printer())).succeeds();
    assert_eq!(printing.stdout, "ab\n");
    let dirty: Vec<Value> = scratch.dirty_records();
    assert_eq!((dirty.len(), text(&dirty[0], "/column")), (1, "a"), "{printing}");
    let other = json!({ "path": "u.db", "table": "t", "createTable": true });
    scratch.run(&Job::new(reader(), plugin("sqlitewriter", other))).succeeds();
    let copy = Connection::open(scratch.path("u.db")).unwrap();
    let bytes: String = copy.query_row("select group_concat(hex(a)) from t", [], |row| row.get(0)).unwrap();
    assert_eq!(bytes, "6162,FF00");
}

/// Trap 37.
#[test]
fn digits_of_other_scripts_are_no_number_and_the_record_is_kept() {
    let (good, dirty) = read("１２,１２\n12,１２\n", &["long", "string"]);
    assert_eq!((good, dirty), (vec!["12\t１２".to_string()], vec!["１２".to_string()]));
}

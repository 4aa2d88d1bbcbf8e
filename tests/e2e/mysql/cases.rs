//! DataX job files as they stand, but for the address and the login, against a database with the tables that they name.

use serde_json::Value;
use transship_tests::{Database, Scratch};

use super::sorted;

/// The tables of the cases.
const TABLES: &str = include_str!("berths.sql");

/// A database with the tables of the cases, and one of the job files for it.
fn case(name: &str) -> (Database, Scratch) {
    let database = Database::mysql();
    database.run(TABLES);
    let scratch = Scratch::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
    let mut file = std::fs::read(format!("{folder}/{name}.json")).unwrap();
    // Not all of them are UTF-8.
    for (there, here) in [
        ("127.0.0.1:3306", database.address().to_string()),
        ("/ts_cases", format!("/{}", database.name())),
        ("\"ts_case\"", Value::from(database.username()).to_string()),
        ("\"placeholder\"", Value::from(database.password()).to_string()),
    ] {
        while let Some(at) = file.windows(there.len()).position(|window| window == there.as_bytes()) {
            file.splice(at..at + there.len(), here.bytes());
        }
    }
    scratch.write("job.json", file);
    for part in ["part-a.csv", "part-b.csv"] {
        let content = std::fs::read(format!("{folder}/in/parts/{part}")).unwrap();
        scratch.write(format!("ts-cases/in/parts/{part}"), content);
    }
    (database, scratch)
}

#[test]
fn case_09_a_file_in_gbk_finds_its_row_where_the_encoding_is_named() {
    let (_database, scratch) = case("09-job-file-in-gbk");
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    assert_eq!(run.stdout, "1\tGULL\n");
    let run = scratch.transship(["run", "job.json", "--job-encoding", "GBK"]).run().succeeds();
    assert_eq!(run.stdout, "1\tGULL\n5\tIBIS\n");
}

/// Trap 54.
#[test]
fn case_14_beside_queries_other_keys_are_ignored_and_each_query_is_a_task() {
    let (_database, scratch) = case("14-querysql-with-leftover-keys");
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    assert_eq!(sorted(&run.stdout), ["1\tGULL", "2\tTERN", "3\tPETREL", "4\tAUK", "5\tIBIS", "6\tSKUA"]);
    run.says(["\"where\" is ignored beside \"querySql\"", "\"splitPk\" is ignored beside \"querySql\""]);
    run.says([": 2 done on 3 channels\n"]);
}

/// Trap 55.
#[test]
fn case_16_the_condition_stands_in_parentheses_and_the_split_column_in_any_case() {
    let (_database, scratch) = case("16-splitpk-and-where");
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    let expected = [
        "1\tGULL\t1200.50",
        "2\tTERN\t980.00",
        "3\tPETREL\t15000.25",
        "4\tAUK\t0.00",
        "5\tIBIS\t77.10",
        "6\tSKUA\t431.00",
    ];
    assert_eq!(sorted(&run.stdout), expected);
}

/// Trap 66.
#[test]
fn case_17_update_mode_session_and_statements_around_the_load() {
    let (database, scratch) = case("17-mysqlwriter-modes-session-sql");
    scratch.transship(["run", "job.json"]).run().succeeds();
    assert_eq!(database.rows("SELECT * FROM shard_all ORDER BY visit_no"), ["1\tp1", "2\tp2", "3\tp3!"]);
}

#[test]
fn case_19_without_a_mode_that_is_known_rows_are_inserted() {
    let (database, scratch) = case("19-misspelt-and-foreign-keys");
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    assert_eq!(database.rows("SELECT * FROM shard_all ORDER BY visit_no"), ["2\tp2", "3\tp3"]);
    run.says(["did you mean \"writeMode\"?"]);
}

#[test]
fn case_26_transformers_get_what_the_table_has() {
    let (_database, scratch) = case("26-transformers");
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{run}");
    assert_eq!(lines[0], "1\t00ULL\t13****01111\tAC7938D40CFC2307E2BF325D28E7884E");
    assert!(lines[1].ends_with("D41D8CD98F00B204E9800998ECF8427E"), "{run}");
}

#[test]
fn case_33_the_untouched_template_is_refused_with_what_is_missing_first() {
    let (_database, scratch) = case("33-untouched-template");
    scratch.transship(["run", "job.json"]).run().fails_with(2).says(["username is required"]);
}

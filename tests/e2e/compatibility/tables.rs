//! Traps of relational databases, as far as SQLite has them: which rows are read, which statements run when, and what a job of
//! DataX's generic plugins means.

use rusqlite::Connection;
use transship_tests::records::{number, text};
use transship_tests::{Job, Scratch, Value, json, plugin};

use super::{constants, printer, run, sorted};

fn database(scratch: &Scratch, sql: &str) -> Connection {
    let database = Connection::open(scratch.path("t.db")).unwrap();
    database.execute_batch(sql).unwrap();
    database
}

fn reader(parameter: Value) -> Value {
    plugin("sqlitereader", parameter)
}

/// What such a reader gives of a database that this SQL has made.
fn read(sql: &str, parameter: Value) -> Vec<String> {
    let scratch = Scratch::new();
    database(&scratch, sql);
    sorted(&run(&scratch, &Job::new(reader(parameter), printer()).channels(3)).succeeds())
}

fn splits(sql: &str, parameter: Value, channels: u32) -> Vec<String> {
    let scratch = Scratch::new();
    database(&scratch, sql);
    scratch.job("job.json", &Job::new(reader(parameter), printer()).channels(channels));
    let run = scratch.transship(["plan", "job.json", "--json"]).run().succeeds();
    let plan: Value = serde_json::from_str(&run.stdout).unwrap();
    let label = |task: &Value| task["split"]["label"].as_str().unwrap().to_string();
    plan["tasks"].as_array().unwrap().iter().map(label).collect()
}

const NAMES: &str = "create table t (k text collate nocase, n integer);
    insert into t values ('a', 1), ('A', 2), ('b', 3), ('B', 4), (null, 5), ('Z', 6), ('z', 7), ('''\"\\', 8), (null, 9)";

/// Traps 48, 50, 51.
#[test]
fn a_table_cut_by_a_text_column_gives_each_row_once_whatever_its_collation() {
    let read = read(NAMES, json!({ "path": "t.db", "table": "t", "column": ["n"], "splitPk": "k", "splitFactor": 1 }));
    assert_eq!(read, ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

/// Trap 49.
#[test]
fn rows_that_come_beyond_both_ends_while_a_job_waits_are_read_too() {
    let scratch = Scratch::new();
    let source =
        database(&scratch, "create table t (k integer, n text); insert into t values (10, 'x'), (20, 'y'), (30, 'z')");
    let parameter = json!({ "path": "t.db", "table": "t", "column": ["k"], "splitPk": "k", "splitFactor": 1 });
    let writer = plugin("sqlitewriter", json!({ "path": "u.db", "table": "t", "createTable": true }));
    scratch.job("job.json", &Job::new(reader(parameter), writer).channels(3));
    let prepared = scratch.transship(["prepare", "job.json"]).run().succeeds();
    scratch.write("prepared.json", &prepared.stdout);
    source.execute_batch("insert into t values (1, 'early'), (99, 'late'), (null, 'none')").unwrap();
    let prepared: Value = serde_json::from_str(&prepared.stdout).unwrap();
    let mut commit = vec!["commit".to_string(), "job.json".into(), "--prepared".into(), "prepared.json".into()];
    for task in prepared["tasks"].as_array().unwrap() {
        let number = number(task, "/number").to_string();
        let report =
            scratch.transship(["task", "job.json", "--prepared", "prepared.json", "--task", &number]).run().succeeds();
        scratch.write(format!("{number}.report"), &report.stdout);
        commit.push(format!("{number}.report"));
    }
    scratch.transship(commit).run().succeeds();
    let copy = Connection::open(scratch.path("u.db")).unwrap();
    let keys: String = copy
        .query_row("select group_concat(coalesce(k, 'null')) from (select k from t order by k)", [], |row| row.get(0))
        .unwrap();
    assert_eq!(keys, "null,1,10,20,30,99");
}

/// Trap 52.
#[test]
fn a_table_is_not_cut_where_there_are_no_more_channels_than_tables() {
    let tables =
        "create table a (n); create table b (n); insert into a values (1), (2), (3); insert into b select * from a";
    let parameter = json!({ "path": "t.db", "table": ["a", "b"], "splitPk": "n" });
    assert_eq!(splits(tables, parameter.clone(), 2), ["a", "b"]);
    assert_eq!(splits(tables, json!({ "path": "t.db", "table": "a", "splitPk": "n" }), 1), ["a"]);
    assert!(splits(tables, parameter, 3).len() > 2);
}

/// Trap 53.
#[test]
fn the_split_factor_counts_once_and_only_for_a_single_table() {
    let numbers = "create table a (n); insert into a with recursive i(i) as (select 1 union all select i + 1 from i where i < 500)
                   select i from i; create table b as select * from a";
    let of_one = |factor: u32| {
        let parameter = json!({ "path": "t.db", "table": "a", "splitPk": "n", "splitFactor": factor });
        // One more is that of the rows without a key.
        splits(numbers, parameter, 2).len() - 1
    };
    assert_eq!([1, 5].map(of_one), [2, 10]);
    let each = |table: &str| json!({ "jdbcUrl": ["jdbc:sqlite:t.db"], "table": [table] });
    let of_two = json!({ "connection": [each("a"), each("b")], "splitPk": "n", "splitFactor": 5 });
    assert_eq!(splits(numbers, of_two, 4).len(), 2 * (2 + 1), "DataX: 10 of the one and 50 of the other");
}

/// Traps 54, 55.
#[test]
fn a_condition_holds_for_a_table_as_a_whole_and_not_for_a_query() {
    let rows = "create table t (k integer, n integer); insert into t values (1, 1), (2, 2), (3, 3), (4, 4), (null, 5)";
    let condition = "n = 1 or n = 4 or k is null";
    let table =
        json!({ "path": "t.db", "table": "t", "column": ["n"], "splitPk": "k", "splitFactor": 1, "where": condition });
    assert_eq!(read(rows, table), ["1", "4", "5"]);
    let query =
        json!({ "path": "t.db", "querySql": "select n from t", "column": ["k"], "splitPk": "k", "where": "n = 1" });
    assert_eq!(read(rows, query), ["1", "2", "3", "4", "5"]);
}

/// Trap 57.
#[test]
fn a_url_may_be_a_text_or_a_list_for_reader_and_writer() {
    for url in [json!("jdbc:sqlite:t.db"), json!(["jdbc:sqlite:t.db"])] {
        let scratch = Scratch::new();
        let database = database(&scratch, "create table t (n); insert into t values (1), (2); create table u (n)");
        let connection = |table: &str| json!([{ "jdbcUrl": url, "table": [table] }]);
        let reader = plugin(
            "rdbmsreader",
            json!({ "username": "x", "password": "y", "connection": connection("t"), "column": ["n"] }),
        );
        let writer = plugin(
            "rdbmswriter",
            json!({ "username": "x", "password": "y", "connection": connection("u"), "column": ["n"] }),
        );
        scratch.run(&Job::new(reader, writer)).succeeds();
        assert_eq!(database.query_row("select count(*) from u", [], |row| row.get(0)), Ok(2), "{url}");
    }
}

/// Trap 58.
#[test]
fn null_stays_null_whatever_a_column_is_declared_as() {
    let nulls =
        "create table t (a boolean, b bit, c year, d varchar(5)); insert into t values (null, null, null, null)";
    assert_eq!(
        read(nulls, json!({ "path": "t.db", "table": "t", "mandatoryEncoding": "gbk" })),
        ["null\tnull\tnull\tnull"]
    );
}

/// Traps 61, 62.
#[test]
fn columns_are_passed_to_the_database_as_they_are_written() {
    let rows = "create table t (a json, b decimal(20, 10)); insert into t values ('{\"n\": 1.50}', '1.5')";
    let columns = json!(["a", "json_extract(a, '$.n')", "cast(b as text)", "'it''s'", "7"]);
    assert_eq!(
        read(rows, json!({ "path": "t.db", "table": "t", "column": columns })),
        ["{\"n\": 1.50}\t1.5\t1.5\tit's\t7"]
    );
}

/// Trap 63.
#[test]
fn what_is_no_year_boolean_or_date_is_dirty_and_the_job_goes_on() {
    for declared in ["tinyint", "year", "bit", "boolean", "date", "datetime", "timestamp", "time"] {
        let scratch = Scratch::new();
        let database = database(&scratch, &format!("create table t (x {declared})"));
        let writer = plugin("sqlitewriter", json!({ "path": "t.db", "table": "t", "column": ["x"] }));
        scratch.run(&Job::new(constants(1, json!([{ "value": "nonsense" }])), writer)).succeeds();
        let dirty = scratch.dirty_records();
        assert_eq!(dirty.iter().map(|record| text(record, "/value")).collect::<Vec<_>>(), ["nonsense"], "{declared}");
        assert!(text(&dirty[0], "/cause").starts_with(&format!("column \"x\" {declared} cannot store it: ")));
        assert_eq!(database.query_row("select count(*) from t", [], |row| row.get(0)), Ok(0), "{declared}");
    }
}

/// Trap 69.
#[test]
fn the_session_is_set_before_any_statement_of_the_job() {
    let scratch = Scratch::new();
    let tables = "create table p (n integer primary key); create table t (n references p on delete cascade);
                  insert into p values (1), (2); insert into t values (1)";
    let database = database(&scratch, tables);
    let writer = |session: Value| {
        let pre_sql = ["delete from p where n = 1"];
        plugin(
            "sqlitewriter",
            json!({ "path": "t.db", "table": "t", "column": ["n"], "preSql": pre_sql, "session": session }),
        )
    };
    let rows_after = |session: Value| -> String {
        let reader = constants(1, json!([{ "type": "long", "value": 2 }]));
        scratch.run(&Job::new(reader, writer(session))).succeeds();
        database.query_row("select group_concat(n) from t", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(rows_after(json!([])), "1,2");
    database.execute_batch("insert into p values (1)").unwrap();
    assert_eq!(
        rows_after(json!(["pragma foreign_keys = on"])),
        "2,2",
        "what hung on the row that preSql deleted is gone too"
    );
}

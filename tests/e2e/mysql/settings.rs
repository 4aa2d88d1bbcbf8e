//! What the settings of a server, and of a job's session, do to jobs: limits of packets and patience, files, modes of SQL.

use std::sync::{Mutex, MutexGuard};

use transship_tests::{Database, Job, Scratch, System, json, plugin};

use super::{lines, reader, run_job, writer};

/// A database of a server whose global settings are not those of other tests.
struct Set {
    database: Database,
    name: &'static str,
    before: String,
    _alone: MutexGuard<'static, ()>,
}

impl Set {
    /// Sets one of them, until this is dropped. One test does that at a time.
    fn global(name: &'static str, value: &str) -> Set {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let database = Database::encrypted(System::MySql);
        let before = database.value(&format!("SELECT @@global.{name}"));
        database.run(&format!("SET GLOBAL {name} = {value}"));
        Set { database, name, before, _alone: alone }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        self.database.run(&format!("SET GLOBAL {} = {}", self.name, self.before));
    }
}

/// Four times what the buffers between server and job hold, written more slowly than the server would wait.
#[test]
fn a_server_does_not_lose_its_patience_with_a_slow_writer() {
    let set = Set::global("net_write_timeout", "1");
    let database = &set.database;
    database.run(
        "CREATE TABLE s (id int, v varchar(1000)); INSERT INTO s SELECT seq, REPEAT('x', 1000) FROM seq_1_to_40000",
    );
    let scratch = Scratch::new();
    let slow = json!({ "path": ".", "fileName": "out", "recordNumBeforeSleep": 100, "sleepTime": 3 });
    let job = Job::new(reader(database, json!({ "table": ["s"], "column": ["*"] })), plugin("streamwriter", slow));
    run_job(&scratch, &job).succeeds().says(["written 40000"]);
}

/// The other way round: the source has nothing to give for longer than the server waits for the next command.
#[test]
fn a_server_does_not_lose_its_patience_with_a_slow_reader() {
    for (name, load) in [("wait_timeout", true), ("net_read_timeout", true), ("wait_timeout", false)] {
        let set = Set::global(name, "1");
        let database = &set.database;
        database.run("CREATE TABLE t (v varchar(10))");
        let scratch = Scratch::new();
        let slow = json!({ "sliceRecordCount": 6, "rate": 2, "column": [{ "type": "string", "value": "x" }] });
        let parameter = json!({ "table": ["t"], "column": ["v"], "loadData": load });
        let job = Job::new(plugin("streamreader", slow), writer(database, parameter));
        run_job(&scratch, &job).succeeds().says(["written 6"]);
    }
}

#[test]
fn where_the_server_takes_no_files_rows_are_written_by_statements_and_the_job_says_so() {
    let set = Set::global("local_infile", "0");
    let database = &set.database;
    database.run("CREATE TABLE t (id int PRIMARY KEY, v varchar(10))");
    let scratch = Scratch::new();
    scratch.write("in.csv", (1..=5000).map(|id| format!("{id},it's\n")).collect::<String>());
    scratch.job("job.json", &Job::new(lines("in.csv"), writer(database, json!({ "table": ["t"], "column": ["*"] }))));
    let run = scratch.transship(["run", "job.json"]).env("TRANSSHIP_LOG", "info").run().succeeds();
    run.says(["local_infile is off, so rows are written by INSERT", "written 5000"]);
    assert_eq!(database.value("SELECT count(*), count(DISTINCT v) FROM t"), "5000\t1");
}

/// A statement must not be longer; a file may be.
#[test]
fn a_row_that_is_longer_than_the_server_takes_is_dirty_and_says_what_to_do_or_goes_by_file() {
    let set = Set::global("max_allowed_packet", "1048576");
    let database = &set.database;
    for (load, column) in [(true, "longtext"), (true, "longblob"), (false, "longtext"), (false, "longblob")] {
        database.run(&format!("CREATE OR REPLACE TABLE t (id int PRIMARY KEY, v {column})"));
        let scratch = Scratch::new();
        scratch
            .write("in.csv", format!("1,short\n2,{}\n3,{}\n4,short\n", "x".repeat(2_000_000), "y".repeat(1_000_000)));
        let parameter = json!({ "table": ["t"], "column": ["*"], "loadData": load });
        let run = run_job(&scratch, &Job::new(lines("in.csv"), writer(database, parameter))).succeeds();
        let lengths = database.rows("SELECT id, length(v) FROM t ORDER BY id");
        if load {
            run.says(["dirty 0"]);
            assert_eq!(lengths, ["1\t5", "2\t2000000", "3\t1000000", "4\t5"], "{column}");
        } else {
            run.says(["dirty 1", "raise max_allowed_packet"]);
            assert_eq!(lengths, ["1\t5", "3\t1000000", "4\t5"], "{column}");
        }
    }
}

/// DataX's own example sets ANSI mode; others make an empty text NULL, or a backslash an ordinary letter.
#[test]
fn whatever_the_mode_of_the_session_values_stay_what_they_are_and_bad_ones_are_dirty() {
    let database = Database::mysql();
    for mode in ["''", "'ANSI'", "'TRADITIONAL'", "'NO_BACKSLASH_ESCAPES,EMPTY_STRING_IS_NULL'", "'ORACLE'"] {
        for load in [true, false] {
            database.run("CREATE OR REPLACE TABLE t (id int PRIMARY KEY, v varchar(9), n tinyint, b varbinary(9))");
            let scratch = Scratch::new();
            scratch.write("in.csv", "1,,1,x\n2,a\\b'c\",2,it's\n3,0123456789,3,x\n4,x,400,x\n0,\"q\",5,\\\n");
            let parameter = json!({
                "table": ["t"], "column": ["*"], "session": [format!("set session sql_mode = {mode}")], "loadData": load,
            });
            let file = json!({ "path": "in.csv", "fieldDelimiter": ",", "column": ["*"], "nullFormat": "\\N",
                "csvReaderConfig": { "useTextQualifier": false } });
            let job = Job::new(plugin("txtfilereader", file), writer(&database, parameter));
            let run = run_job(&scratch, &job).succeeds();
            run.says(["written 3", "dirty 2"]);
            let rows = database.rows("SELECT id, ifnull(v, 'NULL'), n, hex(b) FROM t ORDER BY id");
            assert_eq!(rows, ["0\t\"q\"\t5\t5C", "1\t\t1\t78", "2\ta\\\\b'c\"\t2\t69742773"], "{mode} loadData {load}");
        }
    }
}

#[test]
fn rows_that_a_trigger_or_a_foreign_key_refuses_are_dirty_and_all_others_are_stored() {
    let database = Database::mysql();
    for load in [true, false] {
        database.run(
            "DROP TABLE IF EXISTS t, parent; CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1), (2); \
             CREATE TABLE t (id int PRIMARY KEY, parent int, v varchar(20), FOREIGN KEY (parent) REFERENCES parent (id));
             DELIMITER //
             CREATE TRIGGER checks BEFORE INSERT ON t FOR EACH ROW
             BEGIN
               IF NEW.v = 'bad' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not this one'; END IF;
               SET NEW.v = UPPER(NEW.v);
             END//
             DELIMITER ;
",
        );
        let scratch = Scratch::new();
        let rows = (1..=3000).map(|id| match id {
            700 => "700,1,bad\n".to_string(),
            1500 => "1500,3,orphan\n".to_string(),
            _ => format!("{id},{},good\n", 1 + id % 2),
        });
        scratch.write("in.csv", rows.collect::<String>());
        let parameter = json!({ "table": ["t"], "column": ["*"], "loadData": load });
        let run = run_job(&scratch, &Job::new(lines("in.csv"), writer(&database, parameter))).succeeds();
        run.says(["written 2998", "dirty 2"]);
        let dirty = scratch.dirty_records();
        let causes: Vec<_> = dirty.iter().map(|record| record["cause"].as_str().unwrap()).collect();
        assert!(causes[0].contains("not this one") && causes[1].contains("foreign key constraint fails"), "{causes:?}");
        assert_eq!(database.value("SELECT count(*), count(DISTINCT BINARY v), min(v) FROM t"), "2998\t1\tGOOD");
    }
}

/// Instead of an empty or half-filled table, others see the old one until the new one is there.
#[test]
fn a_table_is_loaded_aside_and_swapped_in_at_once() {
    let database = Database::mysql();
    database.run("CREATE TABLE orders (id int PRIMARY KEY, v varchar(9)); INSERT INTO orders VALUES (7, 'old')");
    let job = |content: &str, scratch: &Scratch| {
        scratch.write("in.csv", content);
        let parameter = json!({
            "table": ["orders_new"], "column": ["*"],
            "preSql": ["drop table if exists orders_new", "create table orders_new like orders"],
            "postSql": ["drop table if exists orders_old", "rename table orders to orders_old, orders_new to orders",
                        "drop table orders_old"],
        });
        Job::new(lines("in.csv"), writer(&database, parameter)).with("job.setting.errorLimit.record", 0)
    };
    let scratch = Scratch::new();
    run_job(&scratch, &job("1,new\n2,new\n", &scratch)).succeeds();
    assert_eq!(database.rows("SELECT * FROM orders ORDER BY id"), ["1\tnew", "2\tnew"]);
    // A job that fails leaves the table as it was.
    let scratch = Scratch::new();
    run_job(&scratch, &job("3,newer\n3,twice\n", &scratch)).fails_with(6);
    assert_eq!(database.rows("SELECT * FROM orders ORDER BY id"), ["1\tnew", "2\tnew"]);
}

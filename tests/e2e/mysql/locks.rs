//! Others in the way: deadlocks, locks that are held for long, connections that somebody ends.

use transship_tests::records::json_lines;
use transship_tests::{Database, Job, Scratch, Value, json, plugin, until};

use super::{lines, reader, writer};

/// Statements of jobs that have been running for so long that they wait for a lock. The server's own list of those who wait is not
/// renewed while many look at it.
const WAITERS: &str = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND time_ms > 400 \
                       AND (info LIKE 'LOAD DATA%' OR info LIKE 'INSERT INTO%' OR info LIKE 'REPLACE INTO%')";

/// The number of the connection that waits for a lock in a database, if there is one.
fn waiter(database: &Database) -> Option<String> {
    database.rows(WAITERS).first().cloned()
}

fn is_busy(database: &Database, with: &str) -> bool {
    let sql = format!(
        "SELECT count(*) FROM information_schema.processlist WHERE db = '{}' AND info LIKE '%{with}%' \
         AND id <> connection_id()",
        database.name()
    );
    database.value(&sql) != "0"
}

/// Ten thousand rows, and procedures that wait until a job waits, or until it has written rows with the value 1, which who reads what
/// is uncommitted sees; for half a minute at most.
fn contested(database: &Database) {
    database.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT seq, 0 FROM seq_1_to_10000");
    database.run(&format!(
        "DELIMITER //
         CREATE PROCEDURE until_somebody_waits()
         BEGIN
           DECLARE looks INT DEFAULT 0;
           WHILE looks < 1500 AND NOT EXISTS ({WAITERS}) DO
             SET looks = looks + 1;
             DO SLEEP(0.02);
           END WHILE;
         END//
         CREATE PROCEDURE until_rows_are_written(least INT)
         BEGIN
           DECLARE looks INT DEFAULT 0;
           WHILE looks < 300 AND (SELECT count(*) FROM t WHERE v = 1) < least DO
             SET looks = looks + 1;
             DO SLEEP(0.02);
           END WHILE;
         END//
         DELIMITER ;
"
    ));
}

#[test]
fn the_loser_of_a_deadlock_writes_its_batch_again() {
    let database = Database::mysql();
    contested(&database);
    let scratch = Scratch::new();
    scratch.write("in.csv", (1..=1000).map(|id| format!("{id},1\n")).collect::<String>());
    let parameter = json!({ "table": ["t"], "column": ["*"], "writeMode": "update" });
    scratch.job("job.json", &Job::new(lines("in.csv"), writer(&database, parameter)));
    // Who has changed more rows wins.
    let run = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            database.run(
                "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; BEGIN; UPDATE t SET v = 9 WHERE id > 900; CALL until_rows_are_written(900); UPDATE t SET v = 9 WHERE id <= 900; COMMIT",
            );
        });
        until("the other's locks", || is_busy(&database, "until_rows_are_written").then_some(()));
        let run = scratch.transship(["run", "job.json"]).run();
        other.join().unwrap();
        run
    });
    run.succeeds().says(["Deadlock found", "attempt 1", "written 1000"]);
    assert_eq!(database.rows("SELECT v, count(*) FROM t GROUP BY v ORDER BY v"), ["1\t1000", "9\t9000"]);
}

/// In a transaction of the whole task a deadlock takes back all of it, so it is the task that is tried again.
#[test]
fn a_task_that_lost_a_deadlock_says_that_nothing_is_stored_and_another_attempt_writes_each_row_once() {
    for attempts in [1, 3] {
        let database = Database::mysql();
        contested(&database);
        database.run("DELETE FROM t WHERE id <= 1000");
        let scratch = Scratch::new();
        scratch.write("in.csv", (1..=1000).map(|id| format!("{id},1\n")).collect::<String>());
        let parameter = json!({ "table": ["t"], "column": ["*"] });
        let job = Job::new(lines("in.csv"), writer(&database, parameter))
            .with("core.container.task.failOver.maxRetryTimes", attempts)
            .with("core.container.task.failOver.retryIntervalInMsec", 1);
        scratch.job("job.json", &job);
        let run = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                database.run(
                    "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; BEGIN; UPDATE t SET v = 9 WHERE id > 1000; INSERT INTO t VALUES (1000, 9); CALL until_rows_are_written(999); \
                     UPDATE t SET v = 9 WHERE id < 1000; ROLLBACK",
                );
            });
            until("the other's locks", || is_busy(&database, "until_rows_are_written").then_some(()));
            let run = scratch.transship(["run", "job.json"]).run();
            other.join().unwrap();
            run
        });
        let whole = database.rows("SELECT v, count(*) FROM t GROUP BY v ORDER BY v");
        if attempts == 1 {
            run.fails_with(1).says(["Deadlock found", "nothing of this task is stored"]);
            assert_eq!(whole, ["0\t9000"]);
        } else {
            run.succeeds().says(["Deadlock found", "written 1000"]);
            assert_eq!(whole, ["0\t9000", "1\t1000"]);
        }
    }
}

#[test]
fn rows_that_others_hold_too_long_are_waited_for_again_also_within_a_transaction() {
    for load in [true, false] {
        let database = Database::mysql();
        contested(&database);
        database.run("DELETE FROM t");
        let scratch = Scratch::new();
        scratch.write("in.csv", (1..=5000).map(|id| format!("{id},1\n")).collect::<String>());
        let parameter = json!({
            "table": ["t"], "column": ["*"], "session": ["set innodb_lock_wait_timeout = 1"], "loadData": load,
        });
        scratch.job("job.json", &Job::new(lines("in.csv"), writer(&database, parameter)));
        // The row is in the second batch.
        let run = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                database.run("BEGIN; INSERT INTO t VALUES (3000, 9); SELECT SLEEP(2.5) AS holding; ROLLBACK");
            });
            until("the other's lock", || is_busy(&database, "SLEEP(2.5)").then_some(()));
            let run = scratch.transship(["run", "job.json"]).run();
            other.join().unwrap();
            run
        });
        run.succeeds().says(["Lock wait timeout", "attempt 1 of 10 to write a batch", "written 5000"]);
        assert_eq!(database.rows("SELECT v, count(*) FROM t GROUP BY v"), ["1\t5000"], "loadData {load}");
    }
}

#[test]
fn the_statement_that_waits_for_a_lock_is_named_without_its_values() {
    for (load, words) in [(true, "LOAD DATA"), (false, "INSERT INTO")] {
        let database = Database::mysql();
        contested(&database);
        database.run("DELETE FROM t");
        let scratch = Scratch::new();
        scratch.write("in.csv", (1..=3000).map(|id| format!("{id},4711\n")).collect::<String>());
        let parameter = json!({ "table": ["t"], "column": ["*"], "loadData": load });
        scratch.job("job.json", &Job::new(lines("in.csv"), writer(&database, parameter)));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                database.run("BEGIN; INSERT INTO t VALUES (2500, 9); SELECT SLEEP(4) AS holding; ROLLBACK");
            });
            until("the other's lock", || is_busy(&database, "SLEEP(4)").then_some(()));
            scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
            other.join().unwrap();
        });
        let lines = json_lines(&scratch.read("perf.jsonl"));
        let call = lines.iter().find_map(|line| line["longest_call"].as_object()).expect("a call that lasted");
        let doing = call["doing"].as_str().expect("what it did");
        assert!(doing.starts_with(words) && doing.contains("t") && !doing.contains("4711"), "{call:?}");
    }
}

/// Runs a job that waits for a row that somebody holds, whose connection is ended meanwhile.
fn killed_while_writing(database: &Database, parameter: Value, attempts: u32) -> transship_tests::Finished {
    let scratch = Scratch::new();
    scratch.write("in.csv", (1..=3000).map(|id| format!("{id},1\n")).collect::<String>());
    let job = Job::new(lines("in.csv"), writer(database, parameter))
        .with("core.container.task.failOver.maxRetryTimes", attempts)
        .with("core.container.task.failOver.retryIntervalInMsec", 1);
    scratch.job("job.json", &job);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            database.run("BEGIN; INSERT INTO t VALUES (2500, 9); CALL until_somebody_waits(); DO SLEEP(1); ROLLBACK");
        });
        until("the other's lock", || is_busy(database, "until_somebody_waits").then_some(()));
        let mut run = scratch.transship(["run", "job.json"]).start();
        run.wait_until("the job to wait", || waiter(database).is_some());
        database.run(&format!("KILL {}", waiter(database).unwrap()));
        let run = run.finish();
        other.join().unwrap();
        run
    })
}

#[test]
fn a_connection_that_is_ended_while_it_writes_is_told_with_what_is_stored() {
    let table = || {
        let database = Database::mysql();
        contested(&database);
        database.run("DELETE FROM t");
        database
    };
    let database = table();
    let run = killed_while_writing(&database, json!({ "table": ["t"], "column": ["*"] }), 1);
    run.fails_with(1).says(["writing into t", "nothing of this task is stored"]);
    assert_eq!(database.value("SELECT count(*) FROM t"), "0");
    let database = table();
    let run = killed_while_writing(&database, json!({ "table": ["t"], "column": ["*"] }), 3);
    run.succeeds().says(["written 3000"]);
    assert_eq!(database.value("SELECT count(*), sum(v) FROM t"), "3000\t3000");
    // A batch that was not committed can be written again in any mode.
    for mode in ["insert", "replace"] {
        let database = table();
        let parameter = json!({ "table": ["t"], "column": ["*"], "transaction": "batch", "writeMode": mode });
        let run = killed_while_writing(&database, parameter, 1);
        run.succeeds().says(["attempt 1", "written 3000"]);
        assert_eq!(database.value("SELECT count(*), sum(v) FROM t"), "3000\t3000", "{mode}");
    }
}

#[test]
fn a_connection_that_is_ended_while_it_reads_fails_the_task_or_is_read_again() {
    for attempts in [1, 3] {
        let database = Database::mysql();
        database.run("CREATE TABLE s (v varchar(200)); INSERT INTO s SELECT REPEAT('x', 200) FROM seq_1_to_200000");
        database.run("CREATE TABLE t LIKE s; CREATE TABLE once (n int)");
        let scratch = Scratch::new();
        // Slow enough to be caught.
        let job = Job::new(
            reader(&database, json!({ "table": ["s"], "column": ["v"] })),
            writer(&database, json!({ "table": ["t"], "column": ["v"] })),
        );
        let job = job
            .with("job.setting.speed.byte", 20_000_000)
            .with("core.transport.channel.speed.byte", 20_000_000)
            .with("core.container.task.failOver.maxRetryTimes", attempts)
            .with("core.container.task.failOver.retryIntervalInMsec", 1);
        scratch.job("job.json", &job);
        let mut run = scratch.transship(["run", "job.json"]).start();
        let select = format!(
            "SELECT id FROM information_schema.processlist WHERE db = '{}' AND info LIKE 'SELECT `v` FROM%'",
            database.name()
        );
        run.wait_until("the query", || !database.rows(&select).is_empty());
        database.run(&format!("KILL {}", database.rows(&select)[0]));
        let run = run.finish();
        if attempts == 1 {
            run.fails_with(1).says(["reading s: "]);
            assert_eq!(database.value("SELECT count(*) FROM t"), "0");
        } else {
            run.succeeds().says(["reading s: ", "attempt 1", "written 200000"]);
            assert_eq!(database.value("SELECT count(*) FROM t"), "200000");
        }
    }
}

#[test]
fn a_signal_ends_a_query_in_the_middle_of_its_rows() {
    let database = Database::mysql();
    let scratch = Scratch::new();
    let query = "select a.seq, 'in the middle' from seq_1_to_100000 a, seq_1_to_100000 b";
    let job =
        Job::new(reader(&database, json!({ "querySql": [query] })), plugin("streamwriter", json!({ "print": false })));
    scratch.job(
        "job.json",
        &job.with("job.setting.speed.record", 10_000).with("core.transport.channel.speed.record", 10_000),
    );
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_until("the query", || is_busy(&database, "in the middle"));
    run.signal(transship_tests::Signal::Terminate);
    run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
    until("the end of the query", || (!is_busy(&database, "in the middle")).then_some(()));
}

//! Failure: whatever breaks, the job ends soon, says so, and leaves nothing half done.

use transship_tests::middle::with_cuts;
use transship_tests::{Database, Finished, Job, Scratch, Signal, json, plugin, until};

use super::{lines, printer, reader, run_job, writer};

fn is_busy(database: &Database, with: &str) -> bool {
    let sql = format!(
        "SELECT count(*) FROM information_schema.processlist WHERE db = '{}' AND info LIKE '%{with}%' \
         AND id <> connection_id()",
        database.name()
    );
    database.value(&sql) != "0"
}

#[test]
fn a_signal_stops_a_reader_that_waits_for_the_server() {
    let database = Database::mysql();
    let scratch = Scratch::new();
    scratch.job("job.json", &Job::new(reader(&database, json!({ "querySql": ["select sleep(600)"] })), printer()));
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_until("a query on the server", || is_busy(&database, "sleep(600)"));
    run.signal(Signal::Terminate);
    run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
    // The server has been told, and does not sleep on.
    until("the end of the query", || (!is_busy(&database, "sleep(600)")).then_some(()));
}

#[test]
fn a_signal_stops_a_writer_that_waits_for_a_lock() {
    let database = Database::mysql();
    database.run("CREATE TABLE target (a int)");
    let scratch = Scratch::new();
    let generated = json!({ "sliceRecordCount": 1000, "column": [{ "type": "long", "value": "1" }] });
    let parameter = json!({ "table": ["target"], "column": ["a"], "postSql": ["select sleep(600)"] });
    scratch.job("job.json", &Job::new(plugin("streamreader", generated), writer(&database, parameter)));
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_until("postSql on the server", || is_busy(&database, "sleep(600)"));
    run.signal(Signal::Terminate);
    run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
}

#[test]
fn a_connection_that_breaks_while_reading_fails_the_job_and_says_so() {
    let database = Database::mysql();
    database
        .run("CREATE TABLE s (id int, v varchar(100)); INSERT INTO s SELECT seq, REPEAT('x', 90) FROM seq_1_to_100000");
    let scratch = Scratch::new();
    let run = with_cuts(database.address(), 1 << 20, usize::MAX, |address| {
        let connection = json!([{ "jdbcUrl": [database.url_at(address)], "table": ["s"] }]);
        let job = Job::new(
            reader(&database, json!({ "connection": connection, "column": ["*"] })),
            plugin("streamwriter", json!({ "print": false })),
        );
        run_job(&scratch, &job)
    });
    run.fails_with(1).says([database.name(), ": reading s: the server closed the connection"]);
}

/// Writes fifty thousand rows through connections that break.
fn written_with_cuts(database: &Database, cuts: usize, mode: &str) -> Finished {
    database.run("CREATE TABLE target (id int PRIMARY KEY, v varchar(100))");
    let scratch = Scratch::new();
    let content: String = (0..50_000).map(|id| format!("{id},{}\n", "x".repeat(90))).collect();
    scratch.write("in.csv", content);
    with_cuts(database.address(), 1 << 20, cuts, |address| {
        let connection = json!([{ "jdbcUrl": database.url_at(address), "table": ["target"] }]);
        let parameter = json!({ "connection": connection, "column": ["*"], "writeMode": mode });
        run_job(&scratch, &Job::new(lines("in.csv"), writer(database, parameter)))
    })
}

#[test]
fn a_connection_that_breaks_while_writing_leaves_nothing_of_the_task() {
    let database = Database::mysql();
    written_with_cuts(&database, usize::MAX, "insert").fails_with(1);
    until("the end of the transaction", || (database.value("SELECT count(*) FROM target") == "0").then_some(()));
}

#[test]
fn a_batch_whose_connection_broke_is_written_again_where_that_does_no_harm() {
    let database = Database::mysql();
    // The first connection prepares; the next two break in the middle of their work.
    written_with_cuts(&database, 3, "replace").succeeds().says(["written 50000"]);
    assert_eq!(database.value("SELECT count(*), sum(length(v)) FROM target"), "50000\t4500000");
}

#[test]
fn rows_that_others_hold_are_waited_for() {
    let database = Database::mysql();
    database.run("CREATE TABLE target (id int PRIMARY KEY, v int); INSERT INTO target VALUES (1, 0)");
    let scratch = Scratch::new();
    scratch.write("in.csv", "1,1\n2,2\n");
    let parameter = json!({
        "table": ["target"], "column": ["*"], "writeMode": "update",
        "session": ["set session innodb_lock_wait_timeout = 1"],
    });
    scratch.job("job.json", &Job::new(lines("in.csv"), writer(&database, parameter)));
    let run = std::thread::scope(|scope| {
        let holder = scope.spawn(|| {
            database.run("BEGIN; UPDATE target SET v = 9 WHERE id = 1; SELECT SLEEP(3) AS holding; COMMIT");
        });
        until("the lock", || is_busy(&database, "SLEEP(3)").then_some(()));
        let run = scratch.transship(["run", "job.json"]).run();
        holder.join().unwrap();
        run
    });
    run.succeeds().says(["Lock wait timeout", "attempt 1"]);
    assert_eq!(database.rows("SELECT * FROM target ORDER BY id"), ["1\t1", "2\t2"]);
}

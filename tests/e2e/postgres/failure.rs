//! Failure: whatever breaks, the job ends soon, says so, and leaves nothing half done.

use transship_tests::Database;
use transship_tests::middle::with_cuts;
use transship_tests::{Job, Scratch, Signal, json, plugin, until};

use super::{reader, writer};

fn is_busy(database: &Database, with: &str) -> bool {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND state = 'active' AND query LIKE '%{with}%' \
         AND pid <> pg_backend_pid()",
        database.name()
    );
    database.value(&sql) != "0"
}

#[test]
fn a_signal_stops_a_reader_that_waits_for_the_server() {
    let database = Database::postgres();
    let scratch = Scratch::new();
    let job = Job::new(
        reader(&database, json!({ "querySql": ["select pg_sleep(600)::text"] })),
        plugin("streamwriter", json!({ "print": false })),
    );
    scratch.job("job.json", &job);
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_until("a query on the server", || is_busy(&database, "COPY%pg_sleep"));
    run.signal(Signal::Terminate);
    run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
    // The server has been told, and does not sleep on.
    until("the end of the query", || (!is_busy(&database, "COPY%pg_sleep")).then_some(()));
}

#[test]
fn a_signal_stops_a_writer_that_waits_for_a_lock() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int)");
    let scratch = Scratch::new();
    let generated = json!({ "sliceRecordCount": 100_000, "column": [{ "type": "long", "value": "1" }] });
    let job = Job::new(
        plugin("streamreader", generated),
        writer(&database, json!({ "table": ["target"], "column": ["a"], "postSql": ["select pg_sleep(600)"] })),
    );
    scratch.job("job.json", &job);
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_until("postSql on the server", || is_busy(&database, "pg_sleep(600)"));
    run.signal(Signal::Terminate);
    run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
}

#[test]
fn a_connection_cut_while_reading_fails_the_job() {
    let database = Database::postgres();
    database.run("CREATE TABLE source AS SELECT g, repeat('x', 100) AS t FROM generate_series(1, 200000) g");
    let scratch = Scratch::new();
    with_cuts(database.address(), 5_000_000, usize::MAX, |address| {
        let connection = json!([{ "jdbcUrl": [database.url_at(address)], "table": ["source"] }]);
        let reader = reader(&database, json!({ "connection": connection, "column": ["*"] }));
        let out = json!({ "path": ".", "fileName": "out", "writeMode": "truncate" });
        scratch.run(&Job::new(reader, plugin("txtfilewriter", out))).fails_with(1).says(["the connection is lost"]);
    });
    assert_eq!(scratch.files(), ["job.json"]);
}

#[test]
fn a_connection_cut_while_writing_leaves_nothing() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int, t text)");
    with_cuts(database.address(), 5_000_000, usize::MAX, |address| {
        let connection = json!([{ "jdbcUrl": database.url_at(address), "table": ["target"] }]);
        let columns =
            json!([{ "type": "long", "value": "1" }, { "type": "string", "value": "some text that is rather long" }]);
        let reader = plugin("streamreader", json!({ "sliceRecordCount": 1_000_000, "column": columns }));
        let writer = writer(&database, json!({ "connection": connection, "column": ["*"] }));
        Scratch::new().run(&Job::new(reader, writer)).fails_with(1).says(["the connection is lost"]);
    });
    assert_eq!(database.value("SELECT count(*) FROM target"), "0");
}

#[test]
fn a_server_that_ends_the_connection_says_why() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int)");
    let scratch = Scratch::new();
    let job = Job::new(
        reader(
            &database,
            json!({ "querySql": ["select g, pg_sleep(0.001) is null from generate_series(1, 1000000) g"] }),
        ),
        plugin("streamwriter", json!({ "print": false })),
    );
    scratch.job("job.json", &job);
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_until("a query on the server", || is_busy(&database, "COPY%pg_sleep"));
    let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()";
    database.run(kill);
    run.finish().fails_with(1).says(["terminating connection due to administrator command"]);
}

#[test]
fn a_failed_job_leaves_nothing_of_the_task_that_failed() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int CHECK (a <> 500))");
    let scratch = Scratch::new();
    let job = Job::new(
        reader(&database, json!({ "querySql": ["select generate_series(1, 1000)"] })),
        writer(&database, json!({ "table": ["target"], "column": ["a"] })),
    )
    .with("job.setting.errorLimit.record", 0);
    scratch.run(&job).fails_with(6);
    assert_eq!(database.value("SELECT count(*) FROM target"), "0");
}

#[test]
fn deadlocks_are_tried_again() {
    let database = Database::postgres();
    database
        .run("CREATE TABLE target (id int PRIMARY KEY, v int); CREATE TABLE odd (a int); CREATE TABLE even (a int)");
    // Two tasks that upsert the same keys in opposite orders, in small steps.
    let queries = json!([
        "select g % 300, g from generate_series(1, 20000) g",
        "select 299 - g % 300, g from generate_series(1, 20000) g",
    ]);
    let parameter = json!({ "table": ["target"], "column": ["*"], "writeMode": "update", "batchSize": 50 });
    let job = Job::new(reader(&database, json!({ "querySql": queries })), writer(&database, parameter)).channels(2);
    let run = Scratch::new().run(&job);
    // One may have to wait for the other to commit; none may be lost.
    let run = run.succeeds();
    assert_eq!(run.summary()["counts"]["written"], 40_000, "{run}");
    assert_eq!(database.value("SELECT count(*) FROM target"), "300");
}

/// Of the attempt that was cut off nothing stays, so that the next one doubles nothing.
#[test]
fn a_writer_that_lost_its_connection_is_tried_again_where_the_job_says_so() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (id int, t text)");
    let query = "select g, repeat('x', 100) from generate_series(1, 100000) g";
    // The first connection makes the table ready, the second one writes.
    let run = with_cuts(database.address(), 3_000_000, 2, |address| {
        let connection = json!([{ "jdbcUrl": database.url_at(address), "table": ["target"] }]);
        let job = Job::new(
            reader(&database, json!({ "querySql": [query] })),
            writer(&database, json!({ "connection": connection, "column": ["*"] })),
        );
        let job = job.with("core.container.task.failOver.maxRetryTimes", 2);
        Scratch::new().run(&job.with("core.container.task.failOver.retryIntervalInMsec", 1)).succeeds()
    });
    run.says(["the connection is lost"]);
    assert_eq!(run.summary()["counts"]["written"], 100_000, "{run}");
    assert_eq!(database.value("SELECT count(*), count(DISTINCT id) FROM target"), "100000\t100000");
}

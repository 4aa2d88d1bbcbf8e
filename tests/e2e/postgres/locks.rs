//! Other sessions in the way: locks that come late or never, and deadlocks.

use transship_tests::Database;
use transship_tests::records::json_lines;
use transship_tests::{Job, Scratch, Signal, json, plugin, until};

use super::{reader, writer};

/// Does something while another session has run these statements in a transaction, which it ends, undone, when it is told to, or
/// when the work is over.
fn beside<T>(database: &Database, statements: &str, work: impl FnOnce(&Release<'_>) -> T) -> T {
    database.run("CREATE TABLE other_session (may_end bool)");
    std::thread::scope(|scope| {
        let release = Release { database };
        scope.spawn(|| {
            database.run(&format!(
                "BEGIN; {statements}; DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM other_session) LOOP \
                 PERFORM pg_sleep(0.005); END LOOP; END $$; ROLLBACK"
            ));
        });
        until("the other session", || (database.value(WAITS) == "1").then_some(()));
        work(&release)
    })
}

/// Whether the other session has run its statements.
const WAITS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' \
                     AND query LIKE 'DO%other_session%'";

/// Ends the other session, also where a test fails.
struct Release<'a> {
    database: &'a Database,
}

impl Release<'_> {
    fn now(&self) {
        self.database.run("INSERT INTO other_session VALUES (true)");
    }
}

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.now();
    }
}

/// The numbers up to this one into the table `target`, with these parameters in addition.
fn numbers(database: &Database, most: u32, session: &[&str]) -> Job {
    Job::new(
        reader(database, json!({ "querySql": [format!("select generate_series(1, {most})")] })),
        writer(database, json!({ "table": ["target"], "column": ["id"], "session": session })),
    )
}

#[test]
fn a_lock_that_comes_late_is_tried_for_again() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (id int PRIMARY KEY)");
    let scratch = Scratch::new();
    scratch.job("job.json", &numbers(&database, 1000, &["set lock_timeout = '10ms'"]));
    let run = beside(&database, "LOCK TABLE target IN EXCLUSIVE MODE", |release| {
        let mut run = scratch.transship(["run", "job.json", "--json"]).start();
        run.wait_for_stderr("lock timeout");
        release.now();
        run.finish().succeeds()
    });
    run.says(["attempt 1 of 10 failed"]);
    assert_eq!(run.summary()["counts"]["written"], 1000, "{run}");
    assert_eq!(database.value("SELECT count(*) FROM target"), "1000");
}

#[test]
fn a_lock_that_never_comes_is_told() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (id int PRIMARY KEY)");
    let scratch = Scratch::new();
    scratch.job("job.json", &numbers(&database, 10, &["set lock_timeout = '1ms'"]));
    beside(&database, "LOCK TABLE target IN EXCLUSIVE MODE", |_| {
        let run = scratch.transship(["run", "job.json"]).run().ends_with(1);
        run.says(["after 10 attempts", "writing into target", "canceling statement due to lock timeout"]);
    });
    assert_eq!(database.value("SELECT count(*) FROM target"), "0");
}

#[test]
fn the_statement_that_waits_for_a_lock_is_named() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (id int PRIMARY KEY)");
    let scratch = Scratch::new();
    scratch.job("job.json", &numbers(&database, 10, &[]));
    beside(&database, "LOCK TABLE target IN EXCLUSIVE MODE", |release| {
        let mut run = scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).start();
        let is_told = || scratch.lines("perf.jsonl").iter().any(|line| line.contains("longest_call"));
        run.wait_until("a call that lasts", is_told);
        release.now();
        run.finish().succeeds();
    });
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let call = lines.iter().find_map(|line| line["longest_call"].as_object()).unwrap();
    assert!(call["who"].as_str().unwrap().ends_with("postgresqlwriter"), "{call:?}");
    let doing = call["doing"].as_str().expect("what it did");
    assert!(doing.starts_with("LOCK TABLE") || doing.starts_with("COPY"), "{call:?}");
    assert!(doing.contains("target"), "{call:?}");
}

#[test]
fn a_signal_ends_a_writer_that_waits_for_a_lock() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (id int PRIMARY KEY)");
    let scratch = Scratch::new();
    scratch.job("job.json", &numbers(&database, 10, &[]));
    let waits = "SELECT count(*) FROM pg_locks WHERE relation = 'target'::regclass AND NOT granted";
    beside(&database, "LOCK TABLE target IN EXCLUSIVE MODE", |_| {
        let mut run = scratch.transship(["run", "job.json"]).start();
        run.wait_until("a writer that waits", || database.value(waits) == "1");
        run.signal(Signal::Terminate);
        run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
        // The server does not go on waiting for it.
        until("the end of the waiting", || (database.value(waits) == "0").then_some(()));
    });
    assert_eq!(database.value("SELECT count(*) FROM target"), "0");
}

/// The writer holds row 1, the other session row 2; then each wants the other's. The writer is the one that is refused.
#[test]
fn a_deadlock_with_another_session_loses_and_doubles_nothing() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE target (id int PRIMARY KEY, who text DEFAULT 'the writer'); \
         CREATE FUNCTION meet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
           IF new.id = 2 AND new.who = 'the writer' THEN \
             PERFORM pg_try_advisory_xact_lock(42); \
             FOR attempt IN 1..200 LOOP \
               EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) OR NOT granted AND locktype = 'transactionid'); \
               PERFORM pg_sleep(0.005); \
             END LOOP; \
           END IF; RETURN new; END $$; \
         CREATE TRIGGER meet BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION meet()",
    );
    let held =
        "SELECT count(*) FROM pg_locks WHERE relation = 'target'::regclass AND mode = 'RowExclusiveLock' AND granted";
    let scratch = Scratch::new();
    let job = Job::new(
        reader(&database, json!({ "querySql": ["select generate_series(1, 3)"] })),
        writer(
            &database,
            json!({ "table": ["target"], "column": ["id"], "batchSize": 1, "session": ["set deadlock_timeout = '20ms'"] }),
        ),
    );
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            database.run(
                "BEGIN; SET LOCAL deadlock_timeout = '1min'; SET LOCAL lock_timeout = '500ms'; \
                 INSERT INTO target VALUES (2, 'the other'); \
                 DO $$ BEGIN \
                   FOR attempt IN 1..6000 LOOP \
                     EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 42); \
                     PERFORM pg_sleep(0.005); \
                   END LOOP; \
                   INSERT INTO target VALUES (1, 'the other'); \
                 EXCEPTION WHEN lock_not_available THEN NULL; END $$; \
                 ROLLBACK",
            );
        });
        until("the other session", || (database.value(held) != "0").then_some(()));
        scratch.run(&job)
    });
    let run = run.succeeds();
    run.says(["deadlock detected"]);
    assert_eq!(run.summary()["counts"]["written"], 3, "{run}");
    let rows = database.rows("SELECT id, who FROM target ORDER BY id");
    assert_eq!(rows, ["1\tthe writer", "2\tthe writer", "3\tthe writer"]);
}

#[test]
fn time_limits_of_the_server_do_not_apply_and_those_of_the_job_do() {
    let database = Database::postgres();
    database.run(&format!(
        "CREATE TABLE target (id int); ALTER DATABASE {0} SET statement_timeout = '100ms'; \
         ALTER DATABASE {0} SET idle_in_transaction_session_timeout = '100ms'; ALTER DATABASE {0} SET lock_timeout = '1ms'",
        database.name()
    ));
    // Meanwhile the writer and the connection with the snapshot have nothing to do, in their transactions.
    let slow = "select g from generate_series(1, 5) g where pg_sleep(0.1) is not null";
    let job = |session: &[&str]| {
        Job::new(
            reader(&database, json!({ "querySql": [slow], "session": session })),
            writer(&database, json!({ "table": ["target"], "column": ["id"] })),
        )
    };
    Scratch::new().run(&job(&[])).succeeds();
    let run = Scratch::new().run(&job(&["set statement_timeout = '100ms'"])).fails_with(1);
    run.says(["reading query 1", "canceling statement due to statement timeout"]);
    assert_eq!(database.value("SELECT count(*) FROM target"), "5");
}

#[test]
fn nothing_is_left_connected_after_a_signal() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int)");
    let job = Job::new(
        reader(&database, json!({ "querySql": ["select 1 from pg_sleep(600)"] })),
        writer(&database, json!({ "table": ["target"], "column": ["a"] })),
    );
    let ours =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'transship'";
    let sleeps =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY%pg_sleep%'";
    let scratch = Scratch::new();
    scratch.job("job.json", &job);
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_until("a query on the server", || database.value(sleeps) == "1");
    run.signal(Signal::Terminate);
    run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
    until("the end of all connections", || (database.value(ours) == "0").then_some(()));
}

#[test]
fn a_stream_of_records_stops_when_the_server_ends_the_writer() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int)");
    let endless = json!({ "sliceRecordCount": 1_000_000_000, "column": [{ "type": "long", "value": "1" }] });
    let job =
        Job::new(plugin("streamreader", endless), writer(&database, json!({ "table": ["target"], "column": ["a"] })));
    let writes =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY%FROM STDIN%'";
    let scratch = Scratch::new();
    scratch.job("job.json", &job);
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_until("a COPY on the server", || database.value(writes) == "1");
    database.run(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    let run = run.finish().fails_with(1);
    // What the server says last does not always arrive, since the writer is still sending.
    let error = run.error();
    assert!(error.contains("terminating connection") || error.contains("the connection is lost"), "{run}");
    assert_eq!(database.value("SELECT count(*) FROM target"), "0");
}

/// Nobody knows what has become of a commit whose answer is lost, so it is not tried again.
#[test]
fn a_connection_lost_at_the_commit_is_told_and_not_tried_again() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE target (id int); \
         CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
           PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$; \
         CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON target DEFERRABLE INITIALLY DEFERRED \
           FOR EACH ROW WHEN (new.id = 1) EXECUTE FUNCTION leave()",
    );
    let job = numbers(&database, 1, &[]).with("core.container.task.failOver.maxRetryTimes", 3);
    let run = Scratch::new().run(&job).fails_with(1);
    run.says(["whether the records of this task have been committed is not known"]);
    assert_eq!(database.value("SELECT count(*) FROM target"), "0");
}

/// A constraint that is looked at only at the commit: then it is too late to find out which record broke it.
#[test]
fn a_deferred_constraint_fails_the_task_as_a_whole() {
    let database = Database::postgres();
    database
        .run("CREATE TABLE target (id int PRIMARY KEY, parent int REFERENCES target DEFERRABLE INITIALLY DEFERRED)");
    // Children before their parents, as such a constraint allows.
    let query =
        |last: &str| format!("select g, case g when 1 then {last} else g - 1 end from generate_series(1000, 1, -1) g");
    let job = |last: &str| {
        Job::new(
            reader(&database, json!({ "querySql": [query(last)] })),
            writer(&database, json!({ "table": ["target"], "column": ["*"], "batchSize": 10 })),
        )
    };
    let run = Scratch::new().run(&job("-1")).fails_with(1);
    run.says(["committing", "violates foreign key constraint", "(-1)"]);
    assert_eq!(database.value("SELECT count(*) FROM target"), "0");
    Scratch::new().run(&job("null")).succeeds();
    assert_eq!(database.value("SELECT count(*) FROM target"), "1000");
}

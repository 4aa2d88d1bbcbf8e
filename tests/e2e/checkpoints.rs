//! `job.setting.checkpoint`: what was written is safe and visible while the job goes on, and what is safe is neither lost nor written
//! twice, however the job ends.

use rusqlite::Connection;
use transship_tests::records::number;
use transship_tests::{Database, Job, Scratch, Signal, Value, faulty, faulty_transformer, json, plugin};

/// Numbers from 1 on without end, a few thousand in a second.
fn endless() -> Value {
    let replay = json!({ "rate": 2000, "clients": 10, "duplicates": 0 });
    plugin("streamreader", json!({ "replay": replay }))
}

fn sqlite(table: &str) -> Value {
    let create = format!("create table if not exists {table} (id integer, text text)");
    plugin("sqlitewriter", json!({ "path": "out.db", "table": table, "column": ["id", "text"], "preSql": [create] }))
}

fn count(scratch: &Scratch, sql: &str) -> i64 {
    let Ok(database) = Connection::open(scratch.path("out.db")) else { return 0 };
    database.query_row(sql, [], |row| row.get(0)).unwrap_or(0)
}

/// A job that reads numbered lines, a few at a time, and writes them to SQLite.
fn lines_to_sqlite(scratch: &Scratch, lines: u32) -> Job {
    let text: String = (1..=lines).map(|line| format!("{line},line {line}\n")).collect();
    scratch.write("in.csv", text);
    let column =
        json!([{ "index": 0, "type": "long", "name": "id" }, { "index": 1, "type": "string", "name": "text" }]);
    Job::new(plugin("txtfilereader", json!({ "path": "in.csv", "column": column })), sqlite("lines"))
        .channels(1)
        .with("core.transport.channel.capacity", 10)
        .with("job.setting.checkpoint", "1 us")
}

#[test]
fn records_of_an_endless_stream_are_visible_while_it_runs_and_stay_when_it_is_stopped() {
    let scratch = Scratch::new();
    let writer = plugin(
        "sqlitewriter",
        json!({ "path": "out.db", "table": "events", "column": ["*"],
                "preSql": ["create table events (client integer, id text, created text, sequence integer)"] }),
    );
    scratch.job("job.json", &Job::new(endless(), writer).channels(1).with("job.setting.checkpoint", "50 ms"));
    let mut run = scratch.transship(["run", "job.json", "--json"]).start();
    run.wait_until("events at the target", || count(&scratch, "select count(*) from events") > 100);
    run.signal(Signal::Terminate);
    let run = run.finish().fails_with(143);
    let there = count(&scratch, "select count(*) from events");
    assert_eq!(number(&run.summary(), "/counts/written"), there as u64, "{run}");
    assert!(there > 100);
}

#[test]
fn without_checkpoints_nothing_is_visible_before_the_end() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "push", "after": 500, "how": "hang_until_cancelled", "marker": "hanging" });
    let job = lines_to_sqlite(&scratch, 1000).with("job.setting.checkpoint", Value::Null);
    scratch.job("job.json", &job.transformer(faulty_transformer(json!({ "fail": fail }))));
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_for_file("hanging");
    assert_eq!(count(&scratch, "select count(*) from lines"), 0);
    run.signal(Signal::Terminate);
    run.finish().fails_with(143);
}

#[test]
fn another_attempt_goes_on_behind_what_is_safe() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "push", "after": 500, "how": "error:io", "times": 1, "counter": "counter" });
    let job = lines_to_sqlite(&scratch, 1000)
        .transformer(faulty_transformer(json!({ "fail": fail })))
        .with("core.container.task.failOver.maxRetryTimes", 2)
        .with("core.container.task.failOver.retryIntervalInMsec", 1);
    let run = scratch.run(&job).succeeds();
    let summary = run.summary();
    assert_eq!(number(&summary, "/tasks/0/attempts"), 2, "{run}");
    assert_eq!(["/counts/read", "/counts/written"].map(|what| number(&summary, what)), [1000, 1000], "{run}");
    assert!(number(&summary, "/aborted/read") < 500, "what was safe was not read again: {run}");
    assert_eq!(count(&scratch, "select count(*) from lines"), 1000);
    assert_eq!(count(&scratch, "select count(distinct id) from lines"), 1000);
}

#[test]
fn what_is_safe_of_a_task_that_fails_is_told() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "push", "after": 500, "how": "error:io" });
    let job = lines_to_sqlite(&scratch, 1000).transformer(faulty_transformer(json!({ "fail": fail })));
    let run = scratch.run(&job).fails_with(1);
    let written = number(&run.summary(), "/counts/written");
    assert!(written > 0 && written <= 500, "{run}");
    assert_eq!(count(&scratch, "select count(*) from lines"), written as i64);
    run.says(["of tasks that failed what was safe at their last checkpoint"]);
}

#[test]
fn dirty_records_count_for_the_epoch_that_they_are_in() {
    let scratch = Scratch::new();
    let text: String = (1..=300)
        .map(|line| format!("{},line\n", if line % 10 == 0 { "x".into() } else { line.to_string() }))
        .collect();
    let job = lines_to_sqlite(&scratch, 1);
    scratch.write("in.csv", text);
    let run = scratch.run(&job).succeeds();
    let counts =
        ["/counts/read", "/counts/written", "/counts/dirty_at_reader"].map(|what| number(&run.summary(), what));
    assert_eq!(counts, [300, 270, 30], "{run}");
}

#[test]
fn lanes_come_to_checkpoints_together() {
    let scratch = Scratch::new();
    let database = Database::postgres();
    database.run("create table events (client bigint, id uuid, created timestamptz, sequence bigint)");
    let writer = json!({ "column": ["*"], "connection": [{ "table": ["events"], "jdbcUrl": database.url() }] });
    let writer = plugin("postgresqlwriter", database.parameter(writer));
    let order = json!({ "name": "order", "parameter": { "key": "client", "lanes": 3 } });
    let job = Job::new(endless(), writer).transformer(order).channels(1).with("job.setting.checkpoint", "50 ms");
    scratch.job("job.json", &job);
    let mut run = scratch.transship(["run", "job.json", "--json", "--drain"]).start();
    run.wait_until("events at the target", || database.value("select count(*) > 100 from events") == "t");
    run.signal(Signal::Terminate);
    let run = run.finish().succeeds();
    let written = number(&run.summary(), "/counts/written");
    assert_eq!(database.value("select count(*) from events"), written.to_string(), "{run}");
    let all_in_order = "select count(distinct (client, sequence)) = count(*) from events";
    assert_eq!(database.value(all_in_order), "t");
}

#[test]
fn a_writer_that_shows_nothing_before_the_end_has_no_checkpoints_and_says_so() {
    let scratch = Scratch::new();
    let job = faulty(json!({}), json!({ "commit": "atomic" })).with("job.setting.checkpoint", "1 s");
    scratch
        .run(&job)
        .succeeds()
        .says(["job.setting.checkpoint is ignored: this writer makes nothing visible before the whole job is done"]);
    let job = faulty(json!({}), json!({})).with("job.setting.checkpoint", "1 us");
    scratch.run(&job).succeeds().says(["faultywriter has no checkpoints: what it writes is flushed instead"]);
}

#[test]
fn a_stream_in_which_nothing_comes_has_no_epochs() {
    let scratch = Scratch::new();
    let order = json!({ "name": "order", "parameter": { "key": "id", "lanes": 2 } });
    let job = faulty(json!({ "records": 0, "splits": 2 }), json!({})).transformer(order);
    scratch.run(&job.with("job.setting.checkpoint", "1 us")).succeeds();
}

#[test]
fn a_task_that_begins_again_is_counted_once() {
    let scratch = Scratch::new();
    let database = Connection::open(scratch.path("in.db")).unwrap();
    let fill = "create table lines (id integer, text text);
                with recursive n (id) as (select 1 union all select id + 1 from n where id < 1000)
                insert into lines select id, 'line ' || id from n";
    database.execute_batch(fill).unwrap();
    // This reader cannot go on in the middle, and this writer may write the same records again.
    let reader = plugin("sqlitereader", json!({ "path": "in.db", "table": ["lines"], "column": ["id", "text"] }));
    let writer = plugin(
        "sqlitewriter",
        json!({ "path": "out.db", "table": "lines", "column": ["id", "text"], "writeMode": "replace",
                "preSql": ["create table lines (id integer primary key, text text)"] }),
    );
    let fail = json!({ "at": "push", "after": 500, "how": "error:io", "times": 1, "counter": "counter" });
    let job = Job::new(reader, writer)
        .channels(1)
        .transformer(faulty_transformer(json!({ "fail": fail })))
        .with("core.transport.channel.capacity", 10)
        .with("job.setting.checkpoint", "1 us")
        .with("core.container.task.failOver.maxRetryTimes", 2)
        .with("core.container.task.failOver.retryIntervalInMsec", 1);
    let run = scratch.run(&job).succeeds();
    let counts = ["/counts/read", "/counts/written"].map(|what| number(&run.summary(), what));
    assert_eq!((counts, count(&scratch, "select count(*) from lines")), ([1000, 1000], 1000), "{run}");
}

//! Traps of a run: what is touched before a mistake is found, when a job ends, how much passes through a channel, and what is
//! counted and told.

use rusqlite::Connection;
use transship_tests::records::number;
use transship_tests::{Job, Scratch, Value, faulty, faulty_reader, faulty_transformer, json, plugin};

use super::{constants, file, printer, run};

/// A database whose table `t` has one row, 1, and a table `log` for what happens besides.
fn database(scratch: &Scratch) -> Connection {
    let database = Connection::open(scratch.path("t.db")).unwrap();
    let sql = "create table t (id integer check (id < 100)); insert into t values (1); create table log (what text)";
    database.execute_batch(sql).unwrap();
    database
}

/// A writer into it that first deletes what is there, and in the end says so in `log`.
fn replacing() -> Value {
    plugin(
        "sqlitewriter",
        json!({
            "path": "t.db", "table": "t", "column": ["id"],
            "preSql": ["delete from t"], "postSql": ["insert into log values ('post')"],
        }),
    )
}

fn rows(database: &Connection, query: &str) -> Vec<String> {
    let mut statement = database.prepare(query).unwrap();
    statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap).collect()
}

fn ids(database: &Connection) -> Vec<String> {
    rows(database, "select cast(id as text) from t order by id")
}

/// Traps 11, 38.
#[test]
fn a_mistake_in_a_transformer_is_found_while_the_target_is_untouched() {
    for (transformer, code) in [
        (plugin("dx_substr", json!({ "columnIndex": 0, "paras": ["0"] })), 2),
        (plugin("dx_pad", json!({ "columnIndex": 0, "paras": ["l", "many", "x"] })), 2),
        (plugin("dx_filter", json!({ "columnIndex": 0, "paras": ["=>", "5"] })), 2),
        (plugin("dx_filter", json!({ "columnIndex": 0, "paras": ["like", "(unclosed"] })), 2),
        (plugin("dx_groovy", json!({ "code": "return record" })), 2),
        (plugin("dx_nothing", json!({})), 3),
        (plugin("dx_substr", json!({ "columnIndex": 7, "paras": ["0", "1"] })), 1),
        (plugin("dx_filter", json!({ "columnIndex": 0, "paras": [">", "many"] })), 1),
    ] {
        let scratch = Scratch::new();
        let database = database(&scratch);
        let reader = constants(3, json!([{ "type": "long", "value": 5 }]));
        let run = scratch.run(&Job::new(reader, replacing()).transformer(transformer.clone()));
        assert_eq!(run.code(), Some(code), "{transformer}: {run}");
        assert_eq!(ids(&database), ["1"], "{transformer}: {run}");
        assert_eq!(scratch.dirty_records(), [] as [Value; 0], "{transformer}: {run}");
    }
}

/// Trap 11.
#[test]
fn the_writer_is_prepared_before_the_splits_and_its_post_comes_before_that_of_the_reader() {
    let scratch = Scratch::new();
    scratch.run(&faulty(json!({}), json!({}))).succeeds();
    let journal = scratch.lines("journal");
    let at = |beginning: &str| journal.iter().position(|line| line.starts_with(beginning)).expect(beginning);
    assert!(at("writer prepare") < at("reader splits"), "{journal:#?}");
    assert!(at("writer post") < at("reader post"), "{journal:#?}");
}

/// Trap 12.
#[test]
fn post_sql_is_left_out_where_the_error_limit_fails_a_job_whose_rows_are_there() {
    let fail = |limit: Value| {
        let scratch = Scratch::new();
        let database = database(&scratch);
        scratch.write("in.txt", "5\nsix\n7\n");
        let job = Job::new(file("in.txt", &["long"]), replacing()).with("job.setting.errorLimit", limit);
        let run = scratch.run(&job);
        (run.code(), ids(&database), rows(&database, "select what from log"))
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    assert_eq!(fail(json!({ "record": 1 })), (Some(0), texts(&["5", "7"]), texts(&["post"])));
    // A percentage is looked at when all is read: this writer's tasks have committed by then.
    assert_eq!(fail(json!({ "percentage": 0.1 })), (Some(6), texts(&["5", "7"]), texts(&[])));
    // A number of records ends the job as soon as it is exceeded, and nothing of the task stays.
    assert_eq!(fail(json!({ "record": 0 })), (Some(6), texts(&[]), texts(&[])));
}

/// Trap 14.
#[test]
fn tasks_start_in_the_order_of_their_splits_and_keep_the_order_of_their_records() {
    let scratch = Scratch::new();
    let names: Vec<String> = (10..40).map(|number| format!("in/{number}.txt")).collect();
    for name in names.iter().rev() {
        scratch.write(name, format!("{name} first\n{name} second\n"));
    }
    let run = run(&scratch, &Job::new(file("in", &["string"]), printer())).succeeds();
    let expected: String = names.iter().map(|name| format!("{name} first\n{name} second\n")).collect();
    assert_eq!(run.stdout, expected);
}

/// Trap 16.
#[test]
fn an_exchanger_with_more_records_than_its_channel_holds_is_no_endless_wait() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "records": 1000, "batch": 100 }), json!({}))
        .with("core.transport.exchanger.bufferSize", 64)
        .with("core.transport.channel.capacity", 8);
    scratch.run(&job).succeeds();
    assert_eq!(scratch.ids(), (1..=1000).collect::<Vec<_>>());
}

/// Trap 18.
#[test]
fn every_dirty_record_of_both_sides_is_kept_whatever_the_collector_is_told() {
    for most in [-1, 0, 1, 3] {
        let scratch = Scratch::new();
        // Ten of the hundred records of each task are dirty at the reader, and one in nine of the others at the writer.
        let job = faulty(json!({ "splits": 3, "dirtyEvery": 10 }), json!({ "dirtyEvery": 9 }))
            .with("core.statistics.collector.plugin.maxDirtyNumber", most);
        let summary = scratch.run(&job).succeeds().summary();
        let counted = ["/counts/dirty_at_reader", "/counts/dirty_at_writer"].map(|pointer| number(&summary, pointer));
        assert_eq!(counted, [30, 30]);
        let of = |side: &str| scratch.dirty_records().iter().filter(|record| record["side"] == side).count() as u64;
        assert_eq!(["reader", "writer"].map(of), counted);
    }
}

/// Trap 19.
#[test]
fn what_is_counted_as_written_is_what_is_at_the_target_however_many_tasks_there_are() {
    for splits in [1, 7] {
        let scratch = Scratch::new();
        let job = faulty(json!({ "splits": splits, "records": 20 }), json!({ "dirtyEvery": 10 })).channels(3);
        let summary = scratch.run(&job).succeeds().summary();
        let counted = ["read", "written", "dirty_at_writer"].map(|what| number(&summary, &format!("/counts/{what}")));
        assert_eq!(counted, [20 * splits, 18 * splits, 2 * splits]);
        assert_eq!(scratch.ids().len() as u64, 18 * splits);
    }
}

/// Trap 21.
#[test]
fn speed_is_what_was_read_in_the_time_in_which_data_moved() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "records": 2000, "dirtyEvery": 10 }), json!({}));
    let run = scratch.run(&job).succeeds();
    let summary = run.summary();
    let (read, seconds) = (number(&summary, "/counts/read"), summary["moving_seconds"].as_f64().unwrap());
    assert_eq!(read, 2000, "dirty ones are read too");
    let told = run.stderr.lines().find_map(|line| line.trim().strip_prefix("record speed    : ")).unwrap();
    let told: u64 = told.strip_suffix(" records/s").unwrap().replace(',', "").parse().unwrap();
    assert_eq!(told, (read as f64 / seconds.max(0.001)) as u64, "{run}");
}

/// Trap 23.
#[test]
fn a_dry_run_makes_the_plugins_and_shows_the_plan_and_moves_nothing() {
    let scratch = Scratch::new();
    let database = database(&scratch);
    let job = |writer: Value| {
        let reader = constants(3, json!([{ "type": "long", "value": 5 }]));
        Job::new(reader, writer).with("job.setting.dryRun", true)
    };
    let dry = run(&scratch, &job(replacing())).succeeds();
    dry.says(["delete from t", "slice 0, 3 records", "dry run (job.setting.dryRun): nothing was moved"]);
    assert_eq!((ids(&database), rows(&database, "select what from log")), (vec!["1".to_string()], vec![]));
    assert_eq!(scratch.files(), ["job.json", "t.db"]);
    // DataX does not get as far as to look at the parameters.
    run(&scratch, &job(plugin("sqlitewriter", json!({ "path": "t.db" })))).fails_with(2);
    let journaled = faulty(json!({}), json!({})).with("job.setting.dryRun", true);
    run(&scratch, &journaled).succeeds();
    assert_eq!(
        (scratch.calls("writer init"), scratch.calls("writer prepare"), scratch.calls("reader open")),
        (1, 0, 0)
    );
}

/// Traps 24, 45.
#[test]
fn filtered_records_are_counted_as_read_and_as_filtered() {
    let scratch = Scratch::new();
    scratch.write("in.txt", "1\n2\n3\nfour\n5\n");
    let writer = plugin("streamwriter", json!({ "path": "out", "fileName": "out.txt" }));
    let job = Job::new(file("in.txt", &["long"]), writer)
        .transformer(plugin("dx_filter", json!({ "columnIndex": 0, "paras": ["<", "3"] })))
        .transformer(plugin("dx_pad", json!({ "columnIndex": 0, "paras": ["l", "3", "0"] })));
    let run = scratch.run(&job).succeeds();
    assert_eq!(scratch.lines("out/out.txt"), ["003", "005"]);
    run.says(["read 5 + added 0 = written 2 + filtered 2 + duplicates 0 + dirty 1\n"]);

    // The same among transformers that drop and that find dirty ones.
    let scratch = Scratch::new();
    let job = Job::new(faulty_reader(json!({ "dirtyEvery": 10 })), plugin("faultywriter", json!({ "target": "out" })))
        .transformer(faulty_transformer(json!({ "dropEvery": 9, "dirtyEvery": 8 })))
        .transformer(faulty_transformer(json!({ "dropEvery": 7 })));
    let summary = scratch.run(&job).succeeds().summary();
    let counts = |what: &str| number(&summary, &format!("/counts/{what}"));
    assert_eq!(counts("written"), scratch.ids().len() as u64);
    assert!(counts("filtered") > 0 && counts("dirty_at_transformers") > 0, "{summary:#}");
    let dirty = counts("dirty_at_reader") + counts("dirty_at_transformers");
    assert_eq!(counts("read"), counts("written") + counts("filtered") + dirty);
}

/// Trap 91.
#[test]
fn what_lies_about_among_the_plugins_stops_no_job() {
    let scratch = Scratch::new();
    for name in [".DS_Store", "README.md", "mysqlreader/plugin.json", "libtransship_notes.txt", "libother.so"] {
        scratch.write(format!("plugins/{name}"), "this is no plugin");
    }
    std::fs::create_dir(scratch.path("plugins/empty")).unwrap();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    scratch.transship(["run", "job.json"]).plugins_in("plugins").run().succeeds();
    assert_eq!(scratch.ids().len(), 100);
}

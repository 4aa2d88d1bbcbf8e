//! The plugin in plain C, `plugin-api/examples/minimal.c`, with the real program.

use transship_tests::records::{number, text};
use transship_tests::{
    Finished, Job, Scratch, faulty_reader, faulty_transformer, faulty_writer, json, plugin, plugins,
};

fn run(scratch: &Scratch, job: &Job) -> Finished {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json", "--json"]).plugins_in(plugins::minimal()).run()
}

fn c_reader(records: u64) -> serde_json::Value {
    plugin("minimalreader", json!({ "records": records }))
}

fn c_writer() -> serde_json::Value {
    plugin("minimalwriter", json!({ "path": "out.tsv" }))
}

/// The lines of all files that the writer has made, in the order of their numbers.
fn lines(scratch: &Scratch) -> Vec<String> {
    let files = scratch.files().into_iter().filter(|name| name.starts_with("out.tsv."));
    let mut lines: Vec<String> = files.flat_map(|name| scratch.lines(name)).collect();
    lines.sort_by_key(|line| line.split('\t').next().and_then(|id| id.parse::<u64>().ok()));
    lines
}

/// What the reader gives: each third name is NULL.
fn expected(id: u64) -> String {
    if id % 3 == 2 { format!("{id}\t\\N") } else { format!("{id}\tname {id}") }
}

#[test]
fn from_c_to_c() {
    let scratch = Scratch::new();
    let run = run(&scratch, &Job::new(c_reader(2500), c_writer()).channels(2)).succeeds();
    assert_eq!(lines(&scratch), (0..2500).map(expected).collect::<Vec<_>>());
    let summary = run.summary();
    assert_eq!((number(&summary, "/counts/written"), summary["tasks"].as_array().unwrap().len()), (2500, 3));
    assert!(scratch.files().iter().all(|name| !name.ends_with(".part")), "{run}");
}

#[test]
fn batches_from_c_may_be_cut() {
    let scratch = Scratch::new();
    let job = Job::new(c_reader(1500), c_writer()).with("core.transport.channel.byteCapacity", 333);
    run(&scratch, &job).succeeds();
    assert_eq!(lines(&scratch), (0..1500).map(expected).collect::<Vec<_>>());
}

#[test]
fn from_c_to_rust() {
    let scratch = Scratch::new();
    run(&scratch, &Job::new(c_reader(50), faulty_writer(json!({})))).succeeds();
    assert_eq!(scratch.ids(), (0..50).collect::<Vec<_>>());
}

#[test]
fn from_rust_through_a_transformer_to_c() {
    let scratch = Scratch::new();
    let job = Job::new(faulty_reader(json!({})), c_writer()).transformer(faulty_transformer(json!({ "dropEvery": 2 })));
    run(&scratch, &job).succeeds();
    assert_eq!(lines(&scratch).first().map(String::as_str), Some("1\ttext 1xx"));
    assert_eq!(lines(&scratch).len(), 50);
}

#[test]
fn what_a_writer_in_c_refuses_is_dirty_with_its_place() {
    let scratch = Scratch::new();
    scratch.write("in.csv", "1\x01good\n2\x01a\tb\n3\x01good\n");
    let reader = json!({
        "path": ["in.csv"], "fieldDelimiter": "\u{1}",
        "column": [{ "index": 0, "type": "long" }, { "index": 1, "type": "string" }],
    });
    let run = run(&scratch, &Job::new(plugin("txtfilereader", reader), c_writer())).succeeds();
    let dirty = scratch.dirty_records();
    assert_eq!(dirty.len(), 1, "{run}");
    assert_eq!((text(&dirty[0], "/side"), text(&dirty[0], "/plugin")), ("writer", "minimalwriter"));
    assert_eq!((number(&dirty[0], "/position"), text(&dirty[0], "/value")), (2, "a\tb"));
    assert_eq!(lines(&scratch).len(), 2);
}

#[test]
fn from_c_to_sqlite() {
    let scratch = Scratch::new();
    let writer = json!({
        "connection": [{ "jdbcUrl": "jdbc:sqlite:out.db", "table": ["t"] }],
        "column": ["id", "name"],
        "preSql": ["create table t (id integer, name text)"],
    });
    run(&scratch, &Job::new(c_reader(1200), plugin("sqlitewriter", writer))).succeeds();
    let database = rusqlite::Connection::open(scratch.path("out.db")).unwrap();
    let sums: (i64, i64, i64) = database
        .query_row("select count(*), count(name), sum(id) from t", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(sums, (1200, 800, 1199 * 1200 / 2));
}

#[test]
fn a_failing_source_leaves_no_file_of_the_writer_in_c() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "next", "after": 50, "how": "error:io" });
    let run = run(&scratch, &Job::new(faulty_reader(json!({ "fail": fail })), c_writer())).fails_with(1);
    assert_eq!(scratch.files(), ["job.json", "journal"], "{run}");
}

#[test]
fn a_target_that_cannot_be_made_is_told() {
    let scratch = Scratch::new();
    let job = Job::new(c_reader(10), plugin("minimalwriter", json!({ "path": "no/such/folder/out.tsv" })));
    let run = run(&scratch, &job).fails_with(1);
    assert!(
        run.error().starts_with("task 0 (records 0 to 10): minimalwriter: cannot create no/such/folder/out.tsv."),
        "{run}"
    );
}

#[test]
fn wrong_parameters_of_a_plugin_in_c_are_an_error_of_the_job_file() {
    let scratch = Scratch::new();
    let run = run(&scratch, &Job::new(plugin("minimalreader", json!({ "recrods": 5 })), c_writer())).fails_with(2);
    assert_eq!(
        run.error(),
        "job.json:12:11: job.content[0].reader.parameter.records is required, a whole number from 0 on"
    );
    run.says(["job.content[0].reader.parameter.recrods is not known here and is ignored; did you mean \"records\"?"]);
}

//! The real readers: something fails while they read, or they cannot read on. The run says so, and never takes the end of what
//! could be read for the end of what there was.

use std::io::Write;
use std::process::{Command, Stdio};

use transship_tests::{Finished, Job, Running, Scratch, Value, faulty_writer, json, plugin};

const RECORDS: i64 = 20_000;

/// A reader of records `id`, `text`, and what makes its source.
type Source = (&'static str, fn() -> Value, fn(&Scratch));

const SOURCES: [Source; 3] = [
    (
        "txtfilereader",
        || {
            plugin(
                "txtfilereader",
                json!({ "path": ["in.csv"], "column": [{ "index": 0, "type": "long" }, { "index": 1, "type": "string" }] }),
            )
        },
        |scratch| drop(scratch.write("in.csv", csv(1..=RECORDS))),
    ),
    (
        "sqlitereader",
        || plugin("sqlitereader", json!({ "path": "in.db", "table": "t", "column": ["id", "text"] })),
        |scratch| {
            let database = rusqlite::Connection::open(scratch.path("in.db")).unwrap();
            let fill = format!(
                "create table t (id integer primary key, text text);
                 insert into t with recursive n(i) as (select 1 union all select i + 1 from n where i < {RECORDS}) select i, 'text ' || i from n"
            );
            database.execute_batch(&fill).unwrap();
        },
    ),
    (
        "streamreader",
        || {
            let column = json!([{ "type": "LONG", "sequence": "1,1" }, { "value": "text", "type": "STRING" }]);
            plugin("streamreader", json!({ "sliceRecordCount": RECORDS, "column": column }))
        },
        |_| {},
    ),
];

fn csv(ids: impl IntoIterator<Item = i64>) -> String {
    ids.into_iter().map(|id| format!("{id},text {id}\n")).collect()
}

#[test]
fn the_same_jobs_without_a_fault_read_everything() {
    for (name, reader, fill) in SOURCES {
        let scratch = Scratch::new();
        fill(&scratch);
        let run = scratch.run(&Job::new(reader(), faulty_writer(json!({})))).succeeds();
        assert_eq!(scratch.ids(), (1..=RECORDS as u64).collect::<Vec<_>>(), "{name}: {run}");
    }
}

#[test]
fn a_writer_that_fails_at_half_ends_every_reader() {
    for (name, reader, fill) in SOURCES {
        for how in ["error:io", "panic"] {
            let scratch = Scratch::new();
            fill(&scratch);
            let before = scratch.files();
            let fail = json!({ "at": "write", "after": 8000, "how": how, "message": "half is enough" });
            let run = scratch.run(&Job::new(reader(), faulty_writer(json!({ "fail": fail }))));
            assert_eq!(run.code(), Some(1), "{name} {how}: {run}");
            let run = run.fails_with(1);
            assert!(
                run.error().starts_with("task 0 (") && run.error().contains("): faultywriter: "),
                "{name} {how}: {run}"
            );
            run.says(["half is enough"]);
            assert_eq!(scratch.ids(), [0; 0], "{name} {how}: {run}");
            let after = scratch.files().into_iter().filter(|name| !["job.json", "journal"].contains(&name.as_str()));
            assert_eq!(after.collect::<Vec<_>>(), before, "{name} {how}: {run}");
        }
    }
}

/// Packs a text, and keeps this much of the outcome.
fn cut_gzip(scratch: &Scratch, name: &str, text: &str, keep: impl Fn(usize) -> usize) {
    let mut packer = Command::new("gzip").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = packer.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(text.as_bytes()).unwrap());
        let packed = packer.wait_with_output().unwrap().stdout;
        scratch.write(name, &packed[..keep(packed.len())]);
    });
}

fn read_files(paths: &[&str], more: Value) -> Value {
    let mut parameter =
        json!({ "path": paths, "column": [{ "index": 0, "type": "long" }, { "index": 1, "type": "string" }] });
    parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    plugin("txtfilereader", parameter)
}

#[test]
fn a_gzip_that_was_cut_off_is_no_short_success() {
    let text = csv(1..=RECORDS);
    // How many bytes are kept, or missing at the end.
    let cuts = [
        ("half", 20_000, 0),
        ("all but the last byte", usize::MAX, 1),
        ("all but the trailer", usize::MAX, 8),
        ("the header", 10, 0),
    ];
    for (what, most, missing) in cuts {
        let scratch = Scratch::new();
        cut_gzip(&scratch, "in.csv.gz", &text, |all| (all - missing).min(most));
        let job = Job::new(
            read_files(&["in.csv.gz"], json!({ "compress": "gzip" })),
            faulty_writer(json!({ "commit": "atomic" })),
        );
        let run = scratch.run(&job);
        assert_eq!(run.code(), Some(1), "{what}: {run}");
        let run = run.fails_with(1);
        assert!(run.error().contains("in.csv.gz") && run.error().contains("txtfilereader"), "{what}: {run}");
        assert_eq!(scratch.ids(), [0; 0], "{what}: {run}");
    }
    let scratch = Scratch::new();
    cut_gzip(&scratch, "in.csv.gz", &text, |all| all);
    let job = Job::new(read_files(&["in.csv.gz"], json!({ "compress": "gzip" })), faulty_writer(json!({})));
    scratch.run(&job).succeeds();
    assert_eq!(scratch.ids().len(), RECORDS as usize);
}

/// A job over two files whose writer waits at the first record until the file `go` is there.
fn start_waiting(scratch: &Scratch) -> Running {
    scratch.write("1.csv", csv(1..=100));
    scratch.write("2.csv", csv(101..=200));
    let fail = json!({ "at": "write", "how": "wait_for_file", "file": "go", "marker": "waiting" });
    let job = Job::new(
        read_files(&["1.csv", "2.csv"], json!({})),
        faulty_writer(json!({ "commit": "atomic", "fail": fail })),
    );
    scratch.job("job.json", &job);
    let mut run = scratch.transship(["run", "job.json"]).start();
    run.wait_for_file("waiting");
    run
}

fn go_on(scratch: &Scratch, run: Running) -> Finished {
    scratch.write("go", "");
    run.finish()
}

#[test]
fn a_file_that_vanishes_before_its_turn_fails_the_job() {
    let scratch = Scratch::new();
    let run = start_waiting(&scratch);
    std::fs::remove_file(scratch.path("2.csv")).unwrap();
    let run = go_on(&scratch, run).fails_with(1);
    assert!(run.error().contains("2.csv") && run.error().contains("No such file"), "{run}");
    assert_eq!(scratch.ids(), [0; 0]);
}

#[test]
fn a_source_that_is_not_there_is_named() {
    let scratch = Scratch::new();
    scratch.write("file", "no database, but long enough to be taken for one by its size alone".repeat(20));
    rusqlite::Connection::open(scratch.path("empty.db")).unwrap().execute_batch("create table t (id integer)").unwrap();
    let cases = [
        ("a missing file", read_files(&["missing.csv"], json!({})), "missing.csv"),
        ("a missing folder", read_files(&["no/such/*.csv"], json!({})), "no/such"),
        ("a missing database", plugin("sqlitereader", json!({ "path": "missing.db", "table": "t" })), "missing.db"),
        ("a file that is no database", plugin("sqlitereader", json!({ "path": "file", "table": "t" })), "file"),
        ("a missing table", plugin("sqlitereader", json!({ "path": "empty.db", "table": "nosuch" })), "nosuch"),
        (
            "a missing column",
            plugin("sqlitereader", json!({ "path": "empty.db", "table": "t", "column": ["idd"] })),
            "idd",
        ),
        ("a broken query", plugin("sqlitereader", json!({ "path": "empty.db", "querySql": "selct 1" })), "selct"),
    ];
    for (what, reader, place) in cases {
        let name = reader["name"].as_str().unwrap().to_string();
        let run = scratch.run(&Job::new(reader, faulty_writer(json!({}))));
        assert_eq!(run.code(), Some(1), "{what}: {run}");
        let run = run.fails_with(1);
        assert!(run.error().contains(&name) && run.error().contains(place), "{what}: {run}");
        assert!(!scratch.path("out").exists() && !scratch.path("missing.db").exists(), "{what}: {run}");
    }
}

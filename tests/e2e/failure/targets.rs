//! The real writers, while something else fails: whatever was at the target before is there afterwards, and nothing else.

use std::collections::BTreeMap;

use transship_tests::{Finished, Job, Scratch, Signal, Value, faulty_reader, faulty_transformer, json, plugin};

/// A writer that takes the faulty reader's records, and what is at its target.
struct Target {
    name: &'static str,
    writer: fn() -> Value,
    /// Puts something there that a failed job must not touch.
    fill: fn(&Scratch),
    /// How many records of the faulty reader are there.
    records: fn(&Scratch) -> usize,
}

const TARGETS: [Target; 3] = [
    Target {
        name: "txtfilewriter",
        writer: || plugin("txtfilewriter", json!({ "path": "out", "fileName": "ids", "writeMode": "truncate" })),
        fill: |scratch| drop(scratch.write("out/ids", "old\n")),
        records: visible_records,
    },
    Target {
        name: "streamwriter",
        writer: || plugin("streamwriter", json!({ "path": "out", "fileName": "ids" })),
        fill: |scratch| drop(scratch.write("out/ids", "old\n")),
        records: visible_records,
    },
    Target {
        name: "sqlitewriter",
        writer: || {
            let create = "create table if not exists ids (id integer, text text)";
            plugin("sqlitewriter", json!({ "path": "out.db", "table": "ids", "column": ["*"], "preSql": [create] }))
        },
        fill: |scratch| {
            let database = rusqlite::Connection::open(scratch.path("out.db")).unwrap();
            database
                .execute_batch("create table ids (id integer, text text); insert into ids values (0, 'old')")
                .unwrap();
        },
        records: |scratch| rows(scratch).iter().filter(|text| text.starts_with("text ")).count(),
    },
];

/// The records in the files of the folder `out`, but for those whose names say that they are parts.
fn visible_records(scratch: &Scratch) -> usize {
    let lines = visible_files(scratch).into_iter().flat_map(|name| scratch.lines(name));
    lines.filter(|line| line.contains("text ")).count()
}

fn visible_files(scratch: &Scratch) -> Vec<String> {
    scratch.files().into_iter().filter(|name| name.starts_with("out/") && !name.starts_with("out/.")).collect()
}

/// The texts in the table; none if there is no table.
fn rows(scratch: &Scratch) -> Vec<String> {
    let Ok(database) = rusqlite::Connection::open(scratch.path("out.db")) else { return Vec::new() };
    let Ok(mut statement) = database.prepare("select text from ids order by id") else { return Vec::new() };
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// What is at the target: files, and for a database its rows instead of its bytes.
fn state(scratch: &Scratch) -> BTreeMap<String, Vec<u8>> {
    let is_ours = |name: &str| ["job.json", "journal", "hanging", "hanging.cancelled", "out.db"].contains(&name);
    let mut state: BTreeMap<_, _> = scratch.snapshot().into_iter().filter(|(name, _)| !is_ours(name)).collect();
    state.insert("rows".into(), rows(scratch).join("\n").into_bytes());
    state
}

/// Runs a job to each target in turn, once onto nothing and once onto something that is there already.
fn onto_every_target(what: &str, code: i32, run: impl Fn(&Scratch, Value) -> Finished) {
    for target in &TARGETS {
        for filled in [false, true] {
            let scratch = Scratch::new();
            if filled {
                (target.fill)(&scratch);
            }
            let before = state(&scratch);
            let run = run(&scratch, (target.writer)());
            let name = target.name;
            assert_eq!(run.code(), Some(code), "{what} to {name}: {run}");
            let run = run.fails_with(code);
            assert_eq!(state(&scratch), before, "{what} to {name} changed the target (filled before: {filled}): {run}");
            assert_eq!((target.records)(&scratch), 0, "{what} to {name}: {run}");
        }
    }
}

fn fault(at: &str, how: &str) -> Value {
    json!({ "fail": { "at": at, "after": 5000, "how": how, "marker": "hanging" }, "records": 10_000, "batch": 1000 })
}

#[test]
fn the_same_jobs_without_a_fault_fill_every_target() {
    for target in &TARGETS {
        for filled in [false, true] {
            let scratch = Scratch::new();
            if filled {
                (target.fill)(&scratch);
            }
            let job = Job::new(faulty_reader(json!({ "records": 10_000, "batch": 1000 })), (target.writer)());
            let run = scratch.run(&job).succeeds();
            assert_eq!((target.records)(&scratch), 10_000, "{}: {run}", target.name);
        }
    }
}

#[test]
fn planning_and_checking_touch_no_target() {
    for target in &TARGETS {
        for filled in [false, true] {
            let scratch = Scratch::new();
            if filled {
                (target.fill)(&scratch);
            }
            scratch.job("job.json", &Job::new(faulty_reader(json!({})), (target.writer)()));
            let (before, files) = (state(&scratch), scratch.files());
            for command in ["plan", "check"] {
                let run = scratch.transship([command, "job.json"]).run().succeeds();
                assert_eq!(state(&scratch), before, "{} of {}: {run}", command, target.name);
                assert_eq!(
                    scratch.files().into_iter().filter(|name| name != "journal").collect::<Vec<_>>(),
                    files,
                    "{run}"
                );
            }
        }
    }
}

#[test]
fn a_reader_that_fails_at_half_changes_no_target() {
    for how in ["error:io", "panic"] {
        onto_every_target(how, 1, |scratch, writer| {
            let run = scratch.run(&Job::new(faulty_reader(fault("next", how)), writer));
            run.says(["error: task 0 (split 0): faultyreader: "]);
            run
        });
    }
}

#[test]
fn a_transformer_that_fails_at_half_changes_no_target() {
    for how in ["error:data", "panic"] {
        onto_every_target(how, 1, |scratch, writer| {
            let job = Job::new(faulty_reader(json!({ "records": 10_000 })), writer);
            let run = scratch.run(&job.transformer(faulty_transformer(json!({ "fail": fault("push", how)["fail"] }))));
            run.says(["error: task 0 (split 0): transformer: faultytransformer: "]);
            run
        });
    }
}

/// Trap 12.
#[test]
fn too_many_dirty_records_change_no_target() {
    onto_every_target("too many dirty records", 6, |scratch, writer| {
        let reader = faulty_reader(json!({ "records": 10_000, "dirtyEvery": 1000 }));
        scratch.job("job.json", &Job::new(reader, writer).with("job.setting.errorLimit.record", 3));
        scratch.transship(["run", "job.json", "--dirty", "/dev/null"]).run()
    });
}

#[test]
fn a_signal_at_half_changes_no_target() {
    for (signal, code) in [(Signal::Terminate, 143), (Signal::Interrupt, 130)] {
        onto_every_target("a signal", code, |scratch, writer| {
            scratch.job("job.json", &Job::new(faulty_reader(fault("next", "hang_until_cancelled")), writer));
            let mut run = scratch.transship(["run", "job.json"]).start();
            run.wait_for_file("hanging");
            run.signal(signal);
            run.finish()
        });
    }
}

#[test]
fn a_run_that_is_killed_shows_nothing_of_its_records() {
    for target in &TARGETS {
        let scratch = Scratch::new();
        (target.fill)(&scratch);
        scratch.job("job.json", &Job::new(faulty_reader(fault("next", "hang")), (target.writer)()));
        let mut run = scratch.transship(["run", "job.json"]).start();
        run.wait_for_file("hanging");
        run.signal(Signal::Kill);
        let run = run.finish();
        assert_eq!(run.code(), None);
        if target.name == "sqlitewriter" {
            assert_eq!(rows(&scratch), ["old"], "{run}");
        } else {
            // Parts may be left, under names that say so.
            assert_eq!(scratch.read("out/ids"), "old\n", "{run}");
            assert_eq!(visible_files(&scratch), ["out/ids"], "{run}");
        }
        // The next run is not disturbed by what the killed one has left.
        let run = scratch.run(&Job::new(faulty_reader(json!({ "records": 500 })), (target.writer)())).succeeds();
        assert_eq!((target.records)(&scratch), 500, "{}: {run}", target.name);
    }
}

#[test]
fn a_target_that_cannot_be_written_is_named_and_nothing_is_made() {
    let cases = [
        (
            "a folder below a file",
            plugin("txtfilewriter", json!({ "path": "file/out", "fileName": "ids", "writeMode": "truncate" })),
            "file/out",
        ),
        (
            "a folder that is a file",
            plugin("txtfilewriter", json!({ "path": "file", "fileName": "ids", "writeMode": "append" })),
            "file",
        ),
        ("a folder below a file", plugin("streamwriter", json!({ "path": "file/out", "fileName": "ids" })), "file/out"),
        ("a file that is a folder", plugin("streamwriter", json!({ "path": ".", "fileName": "folder" })), "folder"),
        (
            "a folder below a file",
            plugin("sqlitewriter", json!({ "path": "file/out.db", "table": "ids", "createTable": true })),
            "file",
        ),
        (
            "a folder instead of a file",
            plugin("sqlitewriter", json!({ "path": "folder", "table": "ids", "createTable": true })),
            "folder",
        ),
        (
            "a file that is no database",
            plugin("sqlitewriter", json!({ "path": "file", "table": "ids", "createTable": true })),
            "file",
        ),
        (
            "a missing table",
            plugin("sqlitewriter", json!({ "path": "out.db", "table": "ids", "column": ["*"] })),
            "ids",
        ),
    ];
    for (what, writer, place) in cases {
        let scratch = Scratch::new();
        scratch.write(
            "file",
            "a file that is large enough to be taken for a header of something, or so one would think".repeat(20),
        );
        std::fs::create_dir(scratch.path("folder")).unwrap();
        let before = state(&scratch);
        let name = writer["name"].as_str().unwrap().to_string();
        let run = scratch.run(&Job::new(faulty_reader(json!({})), writer));
        assert_eq!(run.code(), Some(1), "{what} of {name}: {run}");
        let run = run.fails_with(1);
        assert!(run.error().contains(&name) && run.error().contains(place), "{what} of {name}: {run}");
        assert_eq!(state(&scratch), before, "{what} of {name}: {run}");
    }
}

#[test]
fn a_table_is_created_behind_transformers_too() {
    let scratch = Scratch::new();
    let writer = plugin("sqlitewriter", json!({ "path": "out.db", "table": "ids", "createTable": true }));
    let job = Job::new(faulty_reader(json!({})), writer).transformer(faulty_transformer(json!({ "dropEvery": 10 })));
    scratch.run(&job).succeeds();
    assert_eq!(rows(&scratch).len(), 90);
}

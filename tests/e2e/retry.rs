//! Another attempt at a failed task: made where the job asks for it and where it doubles nothing; the target is exact, and
//! what came to nothing is counted apart.

use transship_tests::records::{number, text};
use transship_tests::{Job, Scratch, Value, faulty, faulty_reader, json, plugin};

/// With so many attempts at each task, and no pause between them.
fn attempts(job: Job, attempts: u32) -> Job {
    job.with("core.container.task.failOver.maxRetryTimes", attempts)
        .with("core.container.task.failOver.retryIntervalInMsec", 1)
}

/// Fails the first two times that half of a split has passed.
fn twice(at: &str, how: &str) -> Value {
    json!({ "at": at, "after": 50, "how": how, "times": 2, "counter": "counter" })
}

#[test]
fn a_reader_that_works_the_third_time_gives_every_record_once() {
    for class in ["task", "atomic"] {
        for how in ["error:io", "error:connect", "panic"] {
            let scratch = Scratch::new();
            let job = faulty(json!({ "splits": 2, "fail": twice("next", how) }), json!({ "commit": class }));
            let run = scratch.run(&attempts(job, 3)).succeeds();
            assert_eq!(scratch.ids(), (1..=200).collect::<Vec<_>>(), "{class} {how}: {run}");
            assert_eq!(scratch.files(), ["counter", "job.json", "journal", "out"], "{class} {how}: {run}");
            run.says(["attempt 1 of 3 failed", "attempt 2 of 3 failed", "task 0 (split 0): faultyreader: "]);
        }
    }
}

#[test]
fn a_writer_that_works_the_third_time_gets_every_record_once() {
    for (at, how) in [("write", "error:io"), ("write", "panic"), ("commit_task", "error:io")] {
        let scratch = Scratch::new();
        let mut fail = twice(at, how);
        // Of a commit it has to be sure that nothing came of it.
        fail["retryable"] = json!(true);
        let run = scratch.run(&attempts(faulty(json!({}), json!({ "fail": fail })), 3)).succeeds();
        assert_eq!(scratch.ids(), (1..=100).collect::<Vec<_>>(), "{at} {how}: {run}");
        assert_eq!(scratch.calls("writer open attempt"), 3);
        assert_eq!(scratch.calls("writer open attempt 3"), 1, "each attempt knows its number");
    }
}

/// Trap 15.
#[test]
fn a_commit_whose_outcome_is_not_known_is_not_repeated_where_that_could_double_records() {
    for (class, attempts_made) in [("task", 1), ("atomic", 3)] {
        let scratch = Scratch::new();
        let writer = json!({ "commit": class, "fail": twice("commit_task", "error:io") });
        let run = scratch.run(&attempts(faulty(json!({}), writer), 3));
        assert_eq!(run.code(), Some(i32::from(class == "task")), "{class}: {run}");
        assert_eq!(scratch.calls("writer open attempt"), attempts_made, "{class}: {run}");
    }
    // Nor one that came to a good end and was told of wrongly.
    let scratch = Scratch::new();
    let run = scratch.run(&attempts(faulty(json!({}), json!({ "commit": "task", "lie": 1 })), 3)).fails_with(1);
    assert_eq!(scratch.calls("writer open attempt"), 1, "{run}");
}

#[test]
fn attempts_that_came_to_nothing_are_counted_apart() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "dirtyEvery": 10, "fail": twice("next", "error:io") }), json!({ "commit": "atomic" }));
    let run = scratch.run(&attempts(job, 3)).succeeds();
    let summary = run.summary();
    assert_eq!((number(&summary, "/counts/read"), number(&summary, "/counts/written")), (100, 90), "{run}");
    assert_eq!(number(&summary, "/counts/dirty_at_reader"), 10, "{run}");
    assert_eq!((number(&summary, "/aborted/read"), number(&summary, "/aborted/dirty_at_reader")), (100, 10), "{run}");
    assert_eq!(number(&summary, "/tasks/0/attempts"), 3);
    run.says(["= written 90 + filtered 0 + duplicates 0 + dirty 10\n", "aborted attempts: 100 records read, 10 dirty"]);
    // Every dirty record of every attempt is kept, and says which attempt it was.
    let of_attempt =
        |attempt: u64| scratch.dirty_records().iter().filter(|record| record["attempt"] == attempt).count();
    assert_eq!([1, 2, 3].map(of_attempt), [5, 5, 10]);
}

#[test]
fn dirty_records_of_aborted_attempts_do_not_exhaust_the_limit() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "dirtyEvery": 10, "fail": twice("next", "error:io") }), json!({}));
    scratch.run(&attempts(job, 3).with("job.setting.errorLimit.record", 10)).succeeds();
    assert_eq!(scratch.ids().len(), 90);
}

#[test]
fn the_last_failure_is_told_when_no_attempt_works() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "fail": { "at": "next", "after": 50, "how": "error:io" } }), json!({}));
    let run = scratch.run(&attempts(job, 3)).fails_with(1);
    assert_eq!(run.error(), "task 0 (split 0): faultyreader: next failed: as it was told to");
    assert_eq!(scratch.calls("reader open"), 3);
    assert_eq!(scratch.ids(), [0; 0]);
    assert_eq!(number(&run.summary(), "/aborted/read"), 150);
}

/// Trap 15.
#[test]
fn a_task_is_not_tried_again_unless_the_job_asks_for_it() {
    let scratch = Scratch::new();
    scratch.run(&faulty(json!({ "fail": twice("next", "error:io") }), json!({}))).fails_with(1);
    assert_eq!(scratch.calls("reader open"), 1);
}

#[test]
fn what_another_attempt_cannot_help_is_not_tried_again() {
    for (how, opened) in [("error:config", 1), ("error:schema", 1), ("error:unsupported", 1), ("error:io", 3)] {
        let scratch = Scratch::new();
        let fail = json!({ "at": "next", "how": how });
        scratch.run(&attempts(faulty(json!({ "fail": fail }), json!({})), 3)).fails_with(1);
        assert_eq!(scratch.calls("reader open"), opened, "{how}");
    }
}

#[test]
fn a_plugin_may_say_that_another_attempt_helps() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "next", "how": "error:schema", "retryable": true });
    scratch.run(&attempts(faulty(json!({ "fail": fail }), json!({})), 3)).fails_with(1);
    assert_eq!(scratch.calls("reader open"), 3);
}

/// Trap 15.
#[test]
fn a_target_that_shows_records_as_written_is_not_written_twice() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "fail": twice("next", "error:io") }), json!({ "commit": "append" }));
    let run = scratch.run(&attempts(job, 3)).fails_with(1);
    run.says(["not tried again", "faultywriter", "would double them"]);
    assert_eq!(scratch.calls("reader open"), 1);
    let ids = scratch.ids();
    assert!(ids.iter().zip(1..).all(|(id, expected)| *id == expected), "each record at most once: {ids:?}");
}

/// Trap 15.
#[test]
fn a_target_where_writing_again_does_no_harm_is_written_again() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "fail": twice("next", "error:io") }), json!({ "commit": "append", "idempotent": true }));
    scratch.run(&attempts(job, 3)).succeeds();
    let mut ids = scratch.ids();
    ids.dedup();
    assert_eq!(ids, (1..=100).collect::<Vec<_>>());
}

#[test]
fn a_failed_task_leaves_those_that_were_done_as_their_class_promises() {
    // Six tasks, two at a time. The reader of split 3 fails once two others are committed.
    let fail = json!([
        { "at": "next", "split": 3, "after": 50, "how": "wait_for_file", "file": "committed" },
        { "at": "next", "split": 3, "after": 50, "how": "error:io" },
    ]);
    let marker = json!({ "at": "task_release", "how": "go_on", "marker": "committed" });
    for (class, visible) in [("task", true), ("atomic", false)] {
        let scratch = Scratch::new();
        let job = faulty(json!({ "splits": 6, "fail": fail }), json!({ "commit": class, "fail": marker })).channels(2);
        let run = scratch.run(&job).fails_with(1);
        assert_eq!(run.error(), "task 3 (split 3): faultyreader: next failed: as it was told to");
        let summary = run.summary();
        let tasks = summary["tasks"].as_array().unwrap();
        let done: u64 =
            tasks.iter().filter(|task| !task["committed"].is_null()).map(|task| number(task, "/counts/written")).sum();
        assert!(done >= 100, "the reports of other tasks are there: {run}");
        assert_eq!(number(&summary, "/counts/written"), done, "{run}");
        assert_eq!(scratch.ids().len() as u64, if visible { done } else { 0 }, "{class}: {run}");
        let failed: Vec<&Value> = tasks.iter().filter(|task| task["failure"]["kind"] == "io").collect();
        assert_eq!(failed.len(), 1, "{run}");
        assert_eq!((text(failed[0], "/split"), number(failed[0], "/counts/read")), ("split 3", 0), "{run}");
        assert_eq!(number(failed[0], "/aborted/read"), 50, "{run}");
    }
}

/// Trap 15.
#[test]
fn real_targets_get_every_record_once() {
    let fail = json!({ "at": "next", "after": 5000, "how": "error:io", "times": 2, "counter": "counter" });
    let reader = || faulty_reader(json!({ "splits": 2, "records": 10_000, "batch": 1000, "fail": fail }));

    let scratch = Scratch::new();
    let writer = plugin("sqlitewriter", json!({ "path": "out.db", "table": "ids", "createTable": true }));
    scratch.run(&attempts(Job::new(reader(), writer), 3)).succeeds();
    let database = rusqlite::Connection::open(scratch.path("out.db")).unwrap();
    let count: (i64, i64) = database
        .query_row("select count(*), count(distinct id) from ids", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(count, (20_000, 20_000));

    for writer in [
        plugin("txtfilewriter", json!({ "path": "out", "fileName": "ids", "writeMode": "truncate" })),
        plugin("streamwriter", json!({ "path": "out", "fileName": "ids" })),
    ] {
        let scratch = Scratch::new();
        let run = scratch.run(&attempts(Job::new(reader(), writer), 3)).succeeds();
        let files = scratch.files().into_iter().filter(|name| name.starts_with("out/"));
        let mut lines: Vec<String> = files.flat_map(|name| scratch.lines(name)).collect();
        assert_eq!(lines.len(), 20_000, "{run}");
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 20_000, "{run}");
    }
}

#[test]
fn what_was_printed_is_not_printed_twice() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "next", "after": 50, "how": "error:io", "times": 1, "counter": "counter" });
    let job = Job::new(faulty_reader(json!({ "fail": fail })), plugin("streamwriter", json!({ "print": true })));
    scratch.job("job.json", &attempts(job, 3));
    let run = scratch.transship(["run", "job.json"]).run().fails_with(1);
    run.says(["not tried again", "streamwriter"]);
    let mut lines: Vec<&str> = run.stdout.lines().collect();
    lines.dedup();
    assert!(lines.len() <= 50 && lines.len() == run.stdout.lines().count(), "{run}");
}

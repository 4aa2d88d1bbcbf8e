//! A call that does not return: it ends with the job if it heeds the wish to cancel, and is named and left behind if it does not.

use std::time::Duration;

use transship_tests::records::text;
use transship_tests::{Job, Running, Scratch, Value, faulty, faulty_transformer, json};

/// Two tasks run at once. The one of split 1 fails as soon as a call of the other hangs.
fn job(reader_hangs: Option<Value>, writer_hangs: Option<Value>) -> Job {
    let mut faults = vec![
        json!({ "at": "next", "split": 1, "how": "wait_for_file", "file": "hanging" }),
        json!({ "at": "next", "split": 1, "how": "error:io", "message": "the cause" }),
    ];
    faults.extend(reader_hangs);
    let writer = writer_hangs.map_or(json!({}), |fault| json!({ "fail": fault }));
    faulty(json!({ "splits": 2, "markEvery": 20, "fail": faults }), writer).channels(2)
}

fn hang(at: &str, how: &str) -> Value {
    json!({ "at": at, "how": how, "marker": "hanging" })
}

fn reader_hang(at: &str, how: &str) -> Value {
    json!({ "at": at, "how": how, "marker": "hanging", "split": 0 })
}

#[test]
fn a_call_that_heeds_the_wish_to_cancel_ends_with_the_job() {
    for how in ["hang_until_cancelled", "hang_until_interrupted"] {
        let reader = ["task_prepare", "next", "task_post"].map(|at| (at, job(Some(reader_hang(at, how)), None)));
        let writer = ["task_prepare", "write", "flush", "commit_task"].map(|at| (at, job(None, Some(hang(at, how)))));
        for (at, job) in reader.into_iter().chain(writer) {
            let scratch = Scratch::new();
            let run = scratch.run(&job).fails_with(1);
            assert_eq!(run.error(), "task 1 (split 1): faultyreader: next failed: the cause", "{at} {how}: {run}");
            run.does_not_say(["ignores that the work was cancelled"]);
            assert_eq!(scratch.calls("writer abort_task"), scratch.calls("writer task_prepare"), "{at} {how}: {run}");
            assert_eq!(scratch.ids(), [0; 0], "{at} {how}: {run}");
        }
    }
}

/// A run in which a call hangs for ever, the call, and who is called.
struct Hanging {
    scratch: Scratch,
    run: Running,
    at: &'static str,
    who: &'static str,
}

fn start(at: &'static str, who: &'static str, job: &Job) -> Hanging {
    let scratch = Scratch::new();
    scratch.job("job.json", job);
    let run = scratch.transship(["run", "job.json"]).start();
    Hanging { scratch, run, at, who }
}

#[test]
fn a_call_that_ignores_the_wish_to_cancel_is_named_and_left_behind() {
    let transformer = faulty_transformer(json!({ "fail": { "at": "push", "how": "hang", "marker": "hanging" } }));
    let after_a_failure = |at: &str| {
        let fail = json!([{ "at": "write", "after": 50, "how": "error:io", "message": "the cause" }, { "at": at, "how": "hang" }]);
        faulty(json!({}), json!({ "fail": fail }))
    };
    let after_a_failure_of_the_reader = |at: &str| {
        let fail = json!([{ "at": "next", "after": 50, "how": "error:io", "message": "the cause" }, { "at": at, "how": "hang" }]);
        faulty(json!({ "fail": fail }), json!({}))
    };
    // Each of them takes the five seconds of grace: they run at the same time. A commit, which nobody wants to stop halfway,
    // has more time and is not among them.
    let runs = [
        start("next", "faultyreader", &job(Some(reader_hang("next", "hang")), None)),
        start("prepare", "faultyreader", &job(Some(reader_hang("task_prepare", "hang")), None)),
        start("post", "faultyreader", &job(Some(reader_hang("task_post", "hang")), None)),
        start("write", "faultywriter", &job(None, Some(hang("write", "hang")))),
        start("transform", "transformers", &job(None, None).transformer(transformer)),
        start("abort", "faultywriter", &after_a_failure("abort_task")),
        start("release", "faultywriter", &after_a_failure("task_release")),
        start("abort", "faultywriter", &after_a_failure("abort")),
        start("release", "faultyreader", &after_a_failure_of_the_reader("task_release")),
    ];
    for Hanging { scratch, run, at, who } in runs {
        let run = run.finish().fails_with(1);
        run.says([who, format!("`{at}`").as_str(), "has lasted", "ignores that the work was cancelled"]);
        run.says(["the cause"]);
        assert!(run.elapsed() > Duration::from_secs(4), "it had its time to end: {run}");
        assert_eq!(scratch.ids(), [0; 0], "{at}: {run}");
    }
}

#[test]
fn a_failure_wakes_a_task_that_waits_for_its_turn_at_the_target() {
    let scratch = Scratch::new();
    // The writer takes one task at a time, and the first one holds its place until the other's reader has failed.
    let faults = json!([
        { "at": "next", "split": 1, "after": 50, "how": "wait_for_file", "file": "hanging" },
        { "at": "next", "split": 1, "after": 50, "how": "error:io", "message": "the cause" },
    ]);
    let writer =
        json!({ "maxOpenTasks": 1, "fail": { "at": "write", "how": "hang_until_cancelled", "marker": "hanging" } });
    let job = faulty(json!({ "splits": 3, "fail": faults }), writer).channels(3);
    let run = scratch.run(&job).fails_with(1);
    assert_eq!(text(&run.summary(), "/cause/message"), "next failed: the cause");
    assert_eq!(scratch.calls("writer abort_task"), scratch.calls("writer task_prepare"), "{run}");
    assert_eq!(scratch.ids(), [0; 0], "{run}");
}

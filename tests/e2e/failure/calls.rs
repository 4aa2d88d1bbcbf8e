//! A call fails or panics: each one in turn, at the reader, in between, and at the writer.

use transship_tests::records::text;
use transship_tests::{Finished, Job, Scratch, Value, faulty, faulty_transformer, json};

/// A call that shall fail, and where the message has to say that it did.
type Call = (&'static str, &'static str);

const READER_CALLS: [Call; 7] = [
    ("prepare", "faultyreader: "),
    ("schema", "faultyreader: "),
    ("splits", "looking for splits: faultyreader: "),
    ("open", "task 0 (split 0): faultyreader: "),
    ("task_prepare", "task 0 (split 0): faultyreader: "),
    ("next", "task 0 (split 0): faultyreader: "),
    ("task_post", "task 0 (split 0): faultyreader: "),
];

const TRANSFORMER_CALLS: [Call; 3] = [
    ("schema", "faultytransformer: "),
    ("push", "task 0 (split 0): transformer: faultytransformer: "),
    ("flush", "task 0 (split 0): transformer: faultytransformer: "),
];

const WRITER_CALLS: [Call; 8] = [
    ("prepare", "faultywriter: "),
    ("open", "task 0 (split 0): faultywriter: "),
    ("task_prepare", "task 0 (split 0): faultywriter: "),
    ("write", "task 0 (split 0): faultywriter: "),
    ("flush", "task 0 (split 0): faultywriter: "),
    ("mark", "task 0 (split 0): faultywriter: "),
    ("commit_task", "task 0 (split 0): faultywriter: "),
    ("commit", "commit: faultywriter: "),
];

/// Calls that come once records flow fail when half of them have passed.
fn fault(at: &str, how: &str) -> Value {
    let after = if ["next", "push", "write"].contains(&at) { 50 } else { 0 };
    json!({ "at": at, "how": how, "after": after })
}

fn with_reader_fault(at: &str, how: &str) -> Job {
    faulty(json!({ "fail": fault(at, how) }), json!({ "commit": "atomic" }))
}

fn with_transformer_fault(at: &str, how: &str) -> Job {
    let job = faulty(json!({}), json!({ "commit": "atomic" }));
    job.transformer(faulty_transformer(json!({ "fail": fault(at, how) })))
}

fn with_writer_fault(at: &str, how: &str) -> Job {
    let mark = if at == "mark" { "watermark" } else { "flush" };
    faulty(json!({ "markEvery": 20, "mark": mark }), json!({ "commit": "atomic", "fail": fault(at, how) }))
}

/// Each of the calls answers with an error.
fn check_errors(calls: &[Call], job: fn(&str, &str) -> Job) {
    for (at, place) in calls {
        let scratch = Scratch::new();
        let run = scratch.run(&job(at, "error:io")).fails_with(1);
        assert_eq!(run.error(), format!("{place}{at} failed: as it was told to"), "{run}");
        check_failure(&scratch, &run, at, "io");
    }
}

/// Each of the calls panics.
fn check_panics(calls: &[Call], job: fn(&str, &str) -> Job) {
    for (at, place) in calls {
        let scratch = Scratch::new();
        let run = scratch.run(&job(at, "panic")).fails_with(1);
        assert!(run.error().starts_with(&format!("{place}panic at ")), "{at}: {run}");
        assert!(run.error().ends_with(&format!(": {at} panicked: as it was told to")), "{at}: {run}");
        check_failure(&scratch, &run, at, "internal");
    }
}

fn check_failure(scratch: &Scratch, run: &Finished, at: &str, kind: &str) {
    assert_eq!(scratch.files(), ["job.json", "journal"], "{at}: something was left at the target\n{run}");
    assert_eq!(text(&run.summary(), "/cause/kind"), kind, "{at}: {run}");
    check_order(scratch, at);
}

/// Whatever was opened is ended once, and nothing happens that belongs to a good end.
fn check_order(scratch: &Scratch, at: &str) {
    let journal = scratch.lines("journal");
    let calls = |beginning| scratch.calls(beginning);
    let (prepared, opened) = (calls("writer prepare"), calls("writer task_prepare"));
    assert_eq!(calls("writer abort of"), prepared, "{at}: the job's abort: {journal:#?}");
    // A task that has committed is the business of the job's abort.
    let aborted = if at == "commit" { 0 } else { opened };
    assert_eq!(calls("writer abort_task"), aborted, "{at}: the task's abort: {journal:#?}");
    assert_eq!(calls("writer task_release"), opened, "{at}: the task's release: {journal:#?}");
    assert_eq!(calls("reader task_release"), calls("reader task_prepare"), "{at}: {journal:#?}");
    assert_eq!((calls("reader release"), calls("writer release")), (1, 1), "{at}: {journal:#?}");
    assert_eq!(calls("writer commit of"), usize::from(at == "commit"), "{at}: {journal:#?}");
    assert_eq!((calls("reader post"), calls("writer post")), (0, 0), "{at}: {journal:#?}");
}

#[test]
fn an_error_in_any_call_of_a_reader_fails_the_job() {
    check_errors(&READER_CALLS, with_reader_fault);
}

#[test]
fn a_panic_in_any_call_of_a_reader_fails_the_job() {
    check_panics(&READER_CALLS, with_reader_fault);
}

#[test]
fn an_error_in_any_call_of_a_transformer_fails_the_job() {
    check_errors(&TRANSFORMER_CALLS, with_transformer_fault);
}

#[test]
fn a_panic_in_any_call_of_a_transformer_fails_the_job() {
    check_panics(&TRANSFORMER_CALLS, with_transformer_fault);
}

#[test]
fn an_error_in_a_schema_that_is_known_only_in_the_task_is_told_with_the_task() {
    let scratch = Scratch::new();
    let transformer = faulty_transformer(json!({ "fail": fault("schema", "error:schema") }));
    let job = faulty(json!({ "hideSchema": true }), json!({ "commit": "atomic" })).transformer(transformer);
    let run = scratch.run(&job).fails_with(1);
    assert_eq!(run.error(), "task 0 (split 0): transformer: faultytransformer: schema failed: as it was told to");
    check_failure(&scratch, &run, "schema", "schema");
}

#[test]
fn an_error_in_any_call_of_a_writer_fails_the_job() {
    check_errors(&WRITER_CALLS, with_writer_fault);
}

#[test]
fn a_panic_in_any_call_of_a_writer_fails_the_job() {
    check_panics(&WRITER_CALLS, with_writer_fault);
}

#[test]
fn every_kind_of_error_is_told_as_it_came() {
    for kind in ["connect", "io", "schema", "data", "unsupported", "cancelled", "internal"] {
        let scratch = Scratch::new();
        let run = scratch.run(&with_reader_fault("next", &format!("error:{kind}"))).fails_with(1);
        assert_eq!(run.error(), "task 0 (split 0): faultyreader: next failed: as it was told to", "{kind}: {run}");
        assert_eq!(text(&run.summary(), "/cause/kind"), kind, "{run}");
    }
}

#[test]
fn wrong_parameters_are_an_error_of_the_job_file_and_other_trouble_at_the_start_is_a_failure() {
    for (role, job) in [("reader", with_reader_fault as fn(&str, &str) -> Job), ("writer", with_writer_fault)] {
        let scratch = Scratch::new();
        let run = scratch.run(&job("init", "error:config")).fails_with(2);
        let message = format!(": job.content[0].{role}: init failed: as it was told to");
        assert!(run.error().starts_with("job.json:") && run.error().ends_with(&message), "{run}");
        for (how, message) in
            [("error:io", "init failed: as it was told to"), ("panic", "init panicked: as it was told to")]
        {
            let run = scratch.run(&job("init", how)).fails_with(1);
            assert!(
                run.error().starts_with(&format!("faulty{role}: ")) && run.error().ends_with(message),
                "{how}: {run}"
            );
        }
        assert_eq!((scratch.calls("reader prepare"), scratch.calls("writer prepare")), (0, 0));
    }
}

#[test]
fn a_transformer_that_cannot_be_made_stops_the_job_before_anything_is_touched() {
    let scratch = Scratch::new();
    let run = scratch.run(&with_transformer_fault("init", "error:config")).fails_with(2);
    assert_eq!(run.error(), "job.json:25:11: job.content[0].transformer[0]: init failed: as it was told to");
    assert_eq!((scratch.calls("reader prepare"), scratch.calls("writer prepare")), (0, 0));
}

#[test]
fn a_failure_after_the_commit_is_told_as_one_and_takes_nothing_back() {
    let fail = |at: &str| json!({ "at": at, "how": "error:io" });
    let cases = [
        ("faultyreader", faulty(json!({ "fail": fail("post") }), json!({ "commit": "atomic" }))),
        ("faultywriter", faulty(json!({}), json!({ "commit": "atomic", "fail": fail("post") }))),
    ];
    for (who, job) in cases {
        let scratch = Scratch::new();
        let run = scratch.run(&job).fails_with(1);
        assert_eq!(run.error(), format!("after the commit: {who}: post failed: as it was told to"));
        assert_eq!(scratch.ids(), (1..=100).collect::<Vec<_>>(), "{run}");
        assert_eq!(scratch.calls("writer abort of"), 0, "what is committed stays");
    }
}

#[test]
fn trouble_with_cleaning_up_is_told_beside_the_cause() {
    for how in ["error:io", "panic"] {
        let scratch = Scratch::new();
        let fail = json!([
            { "at": "write", "after": 50, "how": "error:data", "message": "the cause" },
            { "at": "abort_task", "how": how, "message": "first" },
            { "at": "abort", "how": how, "message": "second" },
        ]);
        let run = scratch.run(&faulty(json!({}), json!({ "fail": fail }))).fails_with(1);
        assert_eq!(run.error(), "task 0 (split 0): faultywriter: write failed: the cause");
        run.says([
            "task 0 (split 0): faultywriter: cannot clean up: ",
            "first",
            "faultywriter: cannot clean up: ",
            "second",
        ]);
        assert_eq!(scratch.ids(), [0; 0]);
    }
}

#[test]
fn a_panic_while_something_is_released_is_logged_and_harms_nothing() {
    for at in ["task_release", "release"] {
        let scratch = Scratch::new();
        let fail = json!({ "at": at, "how": "panic" });
        let run = scratch.run(&faulty(json!({ "fail": fail }), json!({ "fail": fail }))).succeeds();
        run.says([format!("{at} panicked: as it was told to").as_str()]);
        assert_eq!(scratch.ids().len(), 100, "{at}: {run}");
    }
}

#[test]
fn a_panic_where_a_writer_says_what_it_is_is_an_error() {
    let scratch = Scratch::new();
    let run = scratch.run(&with_writer_fault("info", "panic")).fails_with(1);
    assert!(run.error().starts_with("faultywriter: panic at "), "{run}");
    scratch.job("plan.json", &with_writer_fault("plan", "panic"));
    let run = scratch.transship(["plan", "plan.json"]).run().succeeds();
    assert!(run.stdout.contains("the plan is not known: panic at "), "{run}");
}

#[test]
fn a_writer_that_was_never_prepared_is_not_asked_to_clean_up() {
    let scratch = Scratch::new();
    scratch.run(&with_reader_fault("prepare", "error:io")).fails_with(1);
    assert_eq!(scratch.calls("writer abort of"), 0, "{:#?}", scratch.lines("journal"));
}

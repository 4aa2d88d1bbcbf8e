//! How far a run is, while it runs: a few lines on a terminal, a line of JSON for each thing that happens.

use std::fmt::Write;

use transship_tests::records::{json_lines, number, text};
use transship_tests::{Job, Scratch, Value, faulty, faulty_transformer, json, plugin};

/// Runs a job with `--json=events` and gives the events.
fn events(scratch: &Scratch, job: &Job, code: i32) -> Vec<Value> {
    scratch.job("job.json", job);
    json_lines(&scratch.transship(["run", "job.json", "--json=events"]).run().ends_with(code).stdout)
}

fn of_kind<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["event"] == kind)
}

/// Files of lines that are all alike, so that bytes are as good as records to tell how much is done.
fn lines(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "{number:08},some words that make the line longer");
        text
    })
}

/// Trap 21.
#[test]
fn progress_is_within_five_points_of_the_truth_on_skewed_splits() {
    let scratch = Scratch::new();
    let mut all = 40_000;
    scratch.write("in/a.csv", lines(all));
    for number in 0..8 {
        scratch.write(format!("in/b{number}.csv"), lines(500));
        all += 500;
    }
    let reader = plugin("txtfilereader", json!({ "path": ["in/*"], "fieldDelimiter": ",", "column": ["*"] }));
    let job = Job::new(reader, plugin("streamwriter", json!({ "print": false })))
        .channels(2)
        .with("job.setting.speed.record", 12_000)
        .with("core.transport.channel.flowControlInterval", 20);
    let events = events(&scratch, &job, 0);
    let progress: Vec<_> = of_kind(&events, "progress").collect();
    assert!(progress.len() >= 2, "a job of several seconds tells how far it is: {events:?}");
    for event in &progress {
        let told = event["share"].as_f64().unwrap_or_else(|| panic!("{event}"));
        let truth = number(event, "/written_records") as f64 / all as f64;
        assert!((told - truth).abs() <= 0.05, "{told} instead of {truth}: {event}");
        assert_eq!(text(event, "/unit"), "bytes");
    }
    let last = progress.last().unwrap();
    assert_eq!(text(last, "/limit"), "speed-limited", "{last}");
    assert!(last["left_seconds"].as_f64().is_some_and(|left| left < 10.0), "{last}");
}

#[test]
fn a_batch_counts_as_far_as_a_slow_writer_tells() {
    let reader = plugin("streamreader", json!({ "sliceRecordCount": 200, "column": [{ "value": 1 }] }));
    let job = Job::new(reader, plugin("streamwriter", json!({ "print": false, "work": { "mean": "20 ms" } })));
    let events = events(&Scratch::new(), &job, 0);
    let progress: Vec<_> = of_kind(&events, "progress").collect();
    // All records are in one batch.
    assert!(progress.len() >= 2 && progress.iter().all(|event| event["written_records"] == 0), "{events:?}");
    let shares: Vec<f64> = progress.iter().map(|event| event["share"].as_f64().unwrap_or(0.0)).collect();
    assert!(shares.is_sorted() && shares[0] > 0.0 && shares[0] < *shares.last().unwrap(), "{shares:?}");
    let last = progress.last().unwrap();
    assert_eq!((number(last, "/tasks/open"), text(last, "/limit")), (1, "writer-bound"), "all is read: {last}");
}

#[test]
fn how_much_is_done_is_not_told_while_nobody_knows() {
    let slow = json!({ "at": "next", "how": "delay", "millis": 300 });
    let job = faulty(json!({ "records": 100, "hideSize": true, "fail": slow }), json!({}));
    let events = events(&Scratch::new(), &job, 0);
    let progress: Vec<_> = of_kind(&events, "progress").collect();
    assert!(!progress.is_empty() && progress.iter().all(|event| event.get("share").is_none()), "{events:?}");
    assert!(progress.iter().all(|event| event["slowest"].get("share").is_none()), "{events:?}");
}

#[test]
fn each_thing_that_happens_is_a_line_of_json_and_the_summary_is_the_last() {
    let scratch = Scratch::new();
    let slow = json!({ "at": "next", "how": "delay", "millis": 150 });
    let job = faulty(json!({ "records": 100, "splits": 2, "fail": slow }), json!({}));
    let events = events(&scratch, &job, 0);
    let progress = of_kind(&events, "progress").next().unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!(text(progress, "/job"), "job");
    assert_eq!((number(progress, "/tasks/known"), text(progress, "/unit")), (2, "records"));
    assert_eq!(text(progress, "/limit"), "reader-bound");
    assert!(text(progress, "/slowest/split").starts_with("split "), "{progress}");
    let last = events.last().unwrap();
    assert_eq!((text(last, "/event"), text(last, "/summary/outcome")), ("summary", "done"));
    assert!(events.iter().all(|event| number(event, "/micros") > 1_000_000_000_000_000), "{events:?}");
}

#[test]
fn what_goes_wrong_is_an_event_with_the_exit_code() {
    let scratch = Scratch::new();
    let fails = json!({ "at": "write", "how": "error:io", "message": "the disk is gone" });
    let found = events(&scratch, &faulty(json!({}), json!({ "fail": fails })), 1);
    let summary = of_kind(&found, "summary").next().unwrap();
    assert_eq!(text(summary, "/summary/outcome"), "failed");
    let error = of_kind(&found, "error").next().unwrap();
    assert!(text(error, "/message").contains(text(summary, "/summary/cause/message")), "{error} {summary}");
    assert_eq!(number(error, "/exit_code"), 1);

    let refused = events(&scratch, &faulty(json!({}), json!({})).with("job.setting.speed.channel", "many"), 2);
    assert_eq!((refused.len(), text(&refused[0], "/event"), number(&refused[0], "/exit_code")), (1, "error", 2));
}

#[test]
fn a_dry_run_is_an_event_as_well() {
    let events = events(&Scratch::new(), &faulty(json!({}), json!({})).with("job.setting.dryRun", true), 0);
    assert_eq!(text(&events[0], "/plan/reader"), "faultyreader");
}

/// What was read waits in a slow transformer, and what that has let through for a slow writer. Whatever of it counts, nothing is undone.
#[test]
fn the_share_that_is_done_never_falls_and_is_not_all_before_the_end() {
    let scratch = Scratch::new();
    let delays = |at: &str, millis: u64| json!({ "fail": { "at": at, "how": "delay", "millis": millis } });
    let job = faulty(json!({ "records": 400, "batch": 100 }), delays("write", 700));
    let found = events(&scratch, &job.transformer(faulty_transformer(delays("push", 1300))), 0);
    let shares = |pointer: &str| -> Vec<f64> {
        of_kind(&found, "progress").filter_map(|event| event.pointer(pointer)?.as_f64()).collect()
    };
    for pointer in ["/share", "/slowest/share"] {
        let shares = shares(pointer);
        assert!(shares.len() >= 4, "{pointer}: {shares:?}");
        assert!(shares.is_sorted() && shares.iter().all(|share| *share <= 0.99), "{pointer}: {shares:?}");
    }
}

#[test]
fn what_has_yet_to_be_committed_is_not_all_done() {
    let scratch = Scratch::new();
    let commits = json!({ "fail": { "at": "commit_task", "how": "delay", "millis": 2500 } });
    let found = events(&scratch, &faulty(json!({}), commits), 0);
    let last = of_kind(&found, "progress").last().unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(number(last, "/written_records"), 100, "{last}");
    let share = |pointer: &str| last.pointer(pointer).and_then(Value::as_f64);
    assert_eq!([share("/share"), share("/slowest/share")], [Some(0.99); 2], "{last}");
}

#[test]
fn the_first_rate_of_a_job_that_begins_later_is_none_of_the_time_before() {
    let scratch = Scratch::new();
    let delays = |millis: u64| json!({ "at": "next", "how": "delay", "millis": millis });
    scratch.job("first.json", &faulty(json!({ "fail": delays(200) }), json!({})));
    scratch.job("second.json", &faulty(json!({ "records": 700, "fail": delays(40) }), json!({ "target": "other" })));
    let run = scratch.transship(["run", "first.json", "second.json", "--in-order", "--json=events"]).run().succeeds();
    let found = json_lines(&run.stdout);
    let of_second = of_kind(&found, "progress").filter(|event| event["job"] == "second");
    let rates: Vec<u64> = of_second.map(|event| number(event, "/records_per_second")).collect();
    assert!(rates.len() >= 2 && 2 * rates[0] >= rates[1], "{rates:?}");
}

#[test]
fn what_was_asked_for_as_json_and_cannot_be_printed_is_an_error() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    scratch.job("dry.json", &faulty(json!({}), json!({})).with("job.setting.dryRun", true));
    for json in ["--json", "--json=events"] {
        for job in ["job.json", "dry.json"] {
            let run = scratch.transship(["run", job, json]).within("\"$@\" > /dev/full").run().fails_with(1);
            run.says(["error: cannot print the result: No space left on device"]);
        }
    }
}

/// A job of two slow splits whose labels hold a secret, and what would do something to a terminal.
fn with_hostile_labels(writer: Value) -> Job {
    let slow = json!({ "at": "next", "split": 1, "how": "delay", "millis": 300 });
    let label = "part \u{1b}]0;owned\u{7} of hunter2";
    let reader = json!({ "records": 100, "splits": 2, "label": label, "password": "hunter2", "fail": slow });
    faulty(reader, writer).channels(2)
}

#[test]
fn events_hold_no_secrets() {
    let scratch = Scratch::new();
    let fails = json!({ "at": "commit", "how": "error:io", "message": "hunter2 was refused" });
    let found = events(&scratch, &with_hostile_labels(json!({ "fail": fails })), 1);
    assert!(!found.iter().any(|event| event.to_string().contains("hunter2")), "{found:?}");
    let progress = of_kind(&found, "progress").next().unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(text(progress, "/slowest/split"), "part \u{1b}]0;owned\u{7} of ***");
    for (kind, pointer) in [("summary", "/summary/cause/message"), ("error", "/message")] {
        let event = of_kind(&found, kind).next().unwrap_or_else(|| panic!("no {kind} in {found:?}"));
        assert!(text(event, pointer).contains("*** was refused"), "{event}");
    }
}

/// What a run shows on a terminal.
fn screen(scratch: &Scratch, job: &Job) -> String {
    scratch.job("job.json", job);
    // `script` runs it on a terminal of its own.
    let run = scratch.transship(["run", "job.json"]).within("script -qec \"'$1' run job.json\" /dev/null").run();
    run.succeeds().stdout
}

#[test]
fn on_a_terminal_a_bar_tells_how_much_is_done_and_which_task_is_the_slowest() {
    let slow = json!({ "at": "next", "split": 1, "how": "delay", "millis": 300 });
    let job = faulty(json!({ "records": 100, "splits": 2, "fail": slow }), json!({})).channels(2);
    let screen = screen(&Scratch::new(), &job);
    for words in ["% done", "records, ", "tasks 1 of 2", "reader-bound", "slowest: task 1 (split 1), "] {
        assert!(screen.contains(words), "no {words:?} in {screen:?}");
    }
}

#[test]
fn what_others_have_written_does_nothing_to_the_terminal_and_tells_no_secret_there() {
    let screen = screen(&Scratch::new(), &with_hostile_labels(json!({})));
    assert!(screen.contains(r"(part \u001b]0;owned\u0007 of ***), "), "{screen:?}");
    for words in ["hunter2", "\u{1b}]0;"] {
        assert!(!screen.contains(words), "{words:?} is in {screen:?}");
    }
}

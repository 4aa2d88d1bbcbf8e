//! Splits are looked for in the background: tasks start with the first of them, a listing is not waited for, and whatever becomes of
//! it, the job ends.

use transship_tests::{Job, Running, Scratch, Signal, Value, faulty, json};

/// A reader of some listings, each of so many splits of ten records, and a writer of its records.
fn listings(listings: u64, splits: u64, fail: Value) -> Job {
    let reader = json!({ "listings": listings, "splits": splits, "records": 10, "fail": fail });
    faulty(reader, json!({})).channels(2)
}

fn start(scratch: &Scratch, job: &Job, options: &[&str]) -> Running {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json", "--json"].iter().chain(options)).start()
}

/// A fault of this listing, once it has told of so many splits.
fn fault(listing: u64, after: u64, how: &str) -> Value {
    json!({ "at": "list", "split": listing, "after": after, "how": how, "marker": format!("at {listing}") })
}

fn waits_for(file: &str, mut fault: Value) -> Value {
    fault["file"] = json!(file);
    fault
}

#[test]
fn records_are_written_while_a_listing_goes_on() {
    let scratch = Scratch::new();
    let slow = waits_for("go", fault(0, 2, "wait_for_file"));
    let mut run = start(&scratch, &listings(1, 5, slow), &[]);
    run.wait_until("two tasks that are done", || scratch.calls("writer commit_task") == 2);
    scratch.write("go", "");
    run.finish().succeeds();
    assert_eq!(scratch.ids(), (1..=50).collect::<Vec<_>>());
    assert_eq!((scratch.calls("reader listing"), scratch.calls("reader splits")), (2, 0));
}

#[test]
fn listings_run_beside_each_other() {
    let scratch = Scratch::new();
    // Each of them goes on only when the other one has come as far.
    let faults = [waits_for("at 1", fault(0, 1, "wait_for_file")), waits_for("at 0", fault(1, 1, "wait_for_file"))];
    scratch.run(&listings(3, 4, json!(faults))).succeeds();
    assert_eq!(scratch.ids(), (1..=120).collect::<Vec<_>>());
    assert_eq!((scratch.calls("reader listing"), scratch.calls("reader list_release")), (4, 3));
}

#[test]
fn one_channel_keeps_the_order_of_the_listings() {
    let scratch = Scratch::new();
    scratch.run(&listings(4, 3, json!([])).channels(1)).succeeds();
    let written: Vec<u64> = scratch.lines("out").iter().map(|line| line.parse().unwrap()).collect();
    assert_eq!(written, (1..=120).collect::<Vec<_>>());
}

#[test]
fn a_listing_without_splits_is_no_end() {
    let scratch = Scratch::new();
    let run = scratch.run(&listings(5, 0, json!([]))).succeeds();
    assert_eq!((scratch.calls("reader list "), scratch.ids().len()), (5, 0), "{run}");
}

#[test]
fn a_listing_that_fails_fails_the_job_once() {
    for (after, how, words) in [
        (0, "error:io", "list failed: as it was told to"),
        (3, "error:connect", "list failed: as it was told to"),
        (0, "panic", "list panicked: as it was told to"),
        (3, "panic", "list panicked: as it was told to"),
    ] {
        let scratch = Scratch::new();
        // Another listing is under way, and a task.
        let faults = json!([
            waits_for("at 1", fault(0, after, "wait_for_file")),
            fault(0, after, how),
            fault(1, 1, "hang_until_cancelled"),
            { "at": "next", "split": 10, "how": "hang_until_cancelled" },
        ]);
        let run = scratch.run(&listings(2, 10, faults)).fails_with(1);
        let error = run.error();
        assert!(error.starts_with("looking for splits: faultyreader: ") && error.ends_with(words), "{how}: {run}");
        assert_eq!(run.stderr.matches(words).count(), 1, "{how}: {run}");
        run.does_not_say(["ignores that the work was cancelled"]);
        assert_eq!(scratch.calls("reader list_release"), 2, "{how}: {run}");
    }
}

#[test]
fn a_listing_that_fails_ends_the_tasks_that_are_open() {
    let scratch = Scratch::new();
    // Both channels are busy, and none asks for another split.
    let faults = json!([
        waits_for("in task", fault(0, 3, "wait_for_file")),
        fault(0, 3, "error:io"),
        { "at": "next", "how": "hang_until_cancelled", "marker": "in task" },
    ]);
    let run = scratch.run(&listings(1, 10, faults)).fails_with(1);
    assert_eq!(run.error(), "looking for splits: faultyreader: list failed: as it was told to", "{run}");
    assert_eq!(scratch.ids(), [0; 0], "{run}");
}

#[test]
fn a_reader_that_cannot_say_its_listings_fails_the_job_once() {
    for after in [0, 2] {
        let scratch = Scratch::new();
        let faults = json!([{ "at": "listing", "after": after, "how": "error:connect" }]);
        let run = scratch.run(&listings(4, 10, faults)).fails_with(1);
        let error = "looking for splits: faultyreader: listing failed: as it was told to";
        assert_eq!(run.error(), error, "{run}");
        assert_eq!(run.stderr.matches("listing failed").count(), 1, "{run}");
        assert_eq!(scratch.calls("reader listing"), after + 1, "{run}");
    }
}

#[test]
fn a_signal_stops_a_job_in_any_listing() {
    let in_listing = json!({ "at": "listing", "how": "hang_until_cancelled", "marker": "at 0" });
    for hangs in [in_listing, fault(0, 0, "hang_until_cancelled"), fault(0, 3, "hang_until_cancelled")] {
        let scratch = Scratch::new();
        let mut run = start(&scratch, &listings(3, 10, hangs), &[]);
        run.wait_for_file("at 0");
        run.signal(Signal::Terminate);
        let run = run.finish().fails_with(143);
        assert_eq!((run.error(), &run.summary()["outcome"]), ("stopped by SIGTERM", &json!("cancelled")), "{run}");
        run.does_not_say(["ignores that the work was cancelled"]);
    }
}

#[test]
fn a_listing_that_ignores_a_signal_is_named_and_left_behind() {
    let scratch = Scratch::new();
    let mut run = start(&scratch, &listings(1, 10, fault(0, 3, "hang")), &[]);
    run.wait_for_file("at 0");
    run.signal(Signal::Terminate);
    run.finish().fails_with(143).says(["faultyreader", "splits", "ignores that the work was cancelled"]);
}

#[test]
fn a_signal_drains_a_job_in_the_middle_of_its_listings() {
    let scratch = Scratch::new();
    // One is in a call, one has no end: its loader waits for room.
    let slow = waits_for("go", fault(0, 2, "wait_for_file"));
    let job = listings(2, 1_000_000_000, slow);
    let mut run = start(&scratch, &job, &["--drain"]);
    run.wait_for_file("at 0");
    run.wait_until("tasks that are done", || scratch.calls("writer commit_task") > 2);
    run.signal(Signal::Terminate);
    scratch.write("go", "");
    let run = run.finish().succeeds();
    let summary = run.summary();
    assert_eq!(summary["drained"], true, "{run}");
    assert_eq!(summary["counts"]["written"], json!(scratch.ids().len()), "{run}");
    assert_eq!(scratch.calls("reader list_release"), 2, "{run}");
}

#[test]
fn a_job_that_fails_ends_although_its_listing_has_no_end() {
    let scratch = Scratch::new();
    let fails = json!({ "at": "next", "split": 1, "how": "error:io" });
    let run = scratch.run(&listings(1, 1_000_000_000, fails)).fails_with(1);
    assert_eq!(run.error(), "task 1 (split 1): faultyreader: next failed: as it was told to");
}

#[test]
fn a_plan_of_a_source_without_an_end_ends_at_its_most() {
    for listed in [0, 3] {
        let scratch = Scratch::new();
        scratch.job("job.json", &listings(listed, 1_000_000_000, json!([])));
        let run = scratch.transship(["plan", "job.json"]).run().succeeds();
        assert!(run.stdout.contains("more than 10000") || run.stdout.contains("10,000"), "{run}");
        // A person waits for what is shown and counted, and for nothing that nobody asked for.
        assert!(scratch.calls("reader list ") + scratch.calls("reader splits") < 2_000, "{run}");
        assert!(scratch.calls("reader listing") <= 1, "it stays with the first");
    }
}

#[test]
fn a_plan_lists_in_the_same_order_every_time() {
    let scratch = Scratch::new();
    scratch.job("job.json", &listings(6, 3, json!([])).channels(4));
    let run = scratch.transship(["plan", "job.json", "--json"]).run().succeeds();
    let plan: Value = serde_json::from_str(&run.stdout).unwrap();
    let labels: Vec<&str> = plan["tasks"].as_array().unwrap().iter().map(label).collect();
    assert_eq!(labels, (0..18).map(|number| format!("split {number}")).collect::<Vec<_>>());
}

fn label(task: &Value) -> &str {
    task["split"]["label"].as_str().unwrap()
}

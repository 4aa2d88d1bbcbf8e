//! The files that a command writes beside its targets destroy nothing: no input, no other output, nothing that somebody else has put there.

use transship_tests::records::{json_lines, text};
use transship_tests::{Job, Scratch, Signal, Value, faulty, json};

fn job() -> Job {
    faulty(json!({ "splits": 2 }), json!({}))
}

/// A folder with a job, the records of a run of it, and links to both.
fn with_records() -> Scratch {
    let scratch = Scratch::new();
    scratch.job("job.json", &job());
    scratch.transship(["run", "job.json", "--perf", "rec.jsonl"]).run().succeeds();
    for (target, link) in [("job.json", "link"), ("rec.jsonl", "rec-link"), ("to-come", "dangling")] {
        std::os::unix::fs::symlink(target, scratch.path(link)).unwrap();
    }
    std::fs::hard_link(scratch.path("rec.jsonl"), scratch.path("rec-hard")).unwrap();
    scratch
}

#[test]
fn what_would_destroy_an_input_or_another_output_is_refused_before_anything_is_written() {
    let scratch = with_records();
    let before = scratch.snapshot();
    let cases: [(&[&str], &str); 13] = [
        (
            &["run", "job.json", "--perf", "job.json"],
            "--perf job.json: this is the job file job.json, which would be destroyed",
        ),
        (&["run", "job.json", "--report", "link"], "--report link: this is the job file job.json"),
        (
            &["run", "link", "--trace", "../{folder}/job.json"],
            "--trace ../{folder}/job.json: this is the job file link",
        ),
        (&["run", "job.json", "--dirty", "job.json"], "--dirty job.json: this is the job file job.json"),
        (&["run", "job.json", "--perf", "x", "--report", "x"], "--report x: this is the file of --perf as well"),
        (&["run", "job.json", "--report", "x", "--trace", "./x"], "--trace ./x: this is the file of --report as well"),
        (
            &["run", "job.json", "--perf", "to-come", "--dirty", "dangling"],
            "--dirty dangling: this is the file of --perf as well",
        ),
        (
            &["run", "job.json", "--perf", "rec.jsonl", "--trace", "rec-hard"],
            "--trace rec-hard: this is the file of --perf as well",
        ),
        (&["perf", "rec.jsonl", "--report", "rec.jsonl"], "--report rec.jsonl: this is the perf records rec.jsonl"),
        (&["perf", "rec.jsonl", "--trace", "rec-link"], "--trace rec-link: this is the perf records rec.jsonl"),
        (
            &["perf", "job.json", "rec.jsonl", "--report", "rec-hard"],
            "--report rec-hard: this is the perf records rec.jsonl",
        ),
        (&["perf", "rec.jsonl", "--report", "x", "--trace", "x"], "--trace x: this is the file of --report as well"),
        (
            &["run", "job.json", "--perf", "/dev/null", "--report", "x"],
            "--perf /dev/null: it cannot be read again, and --report is made of it: let --perf name a file, or leave it out",
        ),
    ];
    let folder = scratch.folder().file_name().unwrap().to_string_lossy();
    for (arguments, expected) in cases {
        let arguments = arguments.iter().map(|argument| argument.replace("{folder}", &folder));
        let run = scratch.transship(arguments).run().fails_with(2);
        assert!(run.error().contains(&expected.replace("{folder}", &folder)), "{expected}\n{run}");
        assert!(scratch.snapshot() == before, "something has changed: {expected}\n{run}");
    }
}

#[test]
fn what_is_none_of_its_own_files_is_refused_and_its_own_are_replaced() {
    let scratch = with_records();
    scratch.write("data.csv", "1,a\n");
    scratch.write("page.html", "<!doctype html><title>mine</title>");
    let before = scratch.snapshot();
    for arguments in [
        &["run", "job.json", "--perf", "data.csv"][..],
        &["run", "job.json", "--report", "data.csv"],
        &["run", "job.json", "--report", "page.html"],
        &["run", "job.json", "--trace", "rec.jsonl"],
        &["run", "job.json", "--dirty", "data.csv"],
        &["perf", "rec.jsonl", "--report", "data.csv"],
        &["perf", "rec.jsonl", "--trace", "job.json"],
    ] {
        let run = scratch.transship(arguments).run().fails_with(2);
        run.says([arguments[2], "it would be destroyed; name another file, or remove this one"]);
        assert!(scratch.snapshot() == before, "something has changed\n{run}");
    }
    scratch.job("dirty.json", &faulty(json!({ "dirtyEvery": 10 }), json!({})));
    let all =
        ["run", "dirty.json", "--perf", "p.jsonl", "--report", "r.html", "--trace", "t.json", "--dirty", "d.jsonl"];
    for time in 1..=2 {
        scratch.transship(all).run().succeeds();
        assert_eq!(scratch.lines("d.jsonl").len(), 10 * time, "those of all runs are kept");
    }
    let ends = json_lines(&scratch.read("p.jsonl")).iter().filter(|line| line["type"] == "end").count();
    assert_eq!(ends, 1, "the records of the last run are there");
}

#[test]
fn standard_input_is_read_and_no_output() {
    let scratch = with_records();
    let told = scratch.transship(["perf", "-"]).within("\"$@\" < rec.jsonl").run().succeeds();
    assert!(told.stdout.starts_with("job job (faultyreader to faultywriter)"), "{told}");
    scratch.transship(["perf", "-", "-"]).within("\"$@\" < rec.jsonl").run().fails_with(2).says(["only once"]);
    for option in ["--perf", "--report", "--trace", "--dirty"] {
        let run = scratch.transship(["run", "job.json", option, "-"]).run().fails_with(2);
        run.says([format!("{option} -: - stands for standard input").as_str(), "/dev/stdout"]);
    }
    assert!(!scratch.path("-").exists());
}

#[test]
fn a_trace_is_made_also_where_the_page_cannot_be_and_what_is_missing_is_told() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job());
    let run = scratch.transship(["run", "job.json", "--perf", "p.jsonl", "--report", "/dev/full", "--trace", "t.json"]);
    run.run().succeeds().says(["warning: cannot write the report to /dev/full"]);
    assert!(scratch.read("t.json").contains("traceEvents"));
    let run =
        scratch.transship(["run", "job.json", "--perf", "p.jsonl", "--report", "/dev/full", "--trace", "/dev/full"]);
    run.run().succeeds().says(["cannot write the report to /dev/full", "cannot write the trace to /dev/full"]);
    let told = scratch.transship(["perf", "p.jsonl", "--report", "/dev/full", "--trace", "again.json"]).run();
    told.fails_with(1).says(["cannot write the report to /dev/full"]);
    assert!(scratch.read("again.json").contains("traceEvents"));
}

#[test]
fn pipes_and_devices_may_stand_in_for_several_outputs() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job());
    let arguments = ["run", "job.json", "--perf", "/dev/null", "--dirty", "/dev/null"];
    scratch.transship(arguments).run().succeeds();
    scratch.transship(["run", "job.json", "--report", "/dev/null", "--trace", "/dev/null"]).run().succeeds();
    assert_eq!(scratch.files(), ["job.json", "journal", "out"]);
}

#[test]
fn records_beside_a_page_take_no_name_that_somebody_has_and_go_with_the_end_of_the_run() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job());
    scratch.write("r.html.perf.jsonl", "somebody's");
    scratch.transship(["run", "job.json", "--report", "r.html", "--trace", "t.json"]).run().succeeds();
    assert_eq!(scratch.read("r.html.perf.jsonl"), "somebody's");
    assert_eq!(scratch.files(), ["job.json", "journal", "out", "r.html", "r.html.perf.jsonl", "t.json"]);
}

#[test]
fn what_was_made_for_a_run_that_did_not_begin_goes_again_and_what_was_there_stays() {
    let scratch = Scratch::new();
    scratch.write("bad.json", "{}");
    scratch.write("empty.json", "");
    for arguments in [
        &["run", "bad.json", "--report", "r.html", "--trace", "empty.json", "--perf", "p.jsonl"][..],
        &["run", "-", "-", "--report", "r.html", "--trace", "empty.json"],
        &["run", "bad.json", "--report", "r.html", "--trace", "no/such/folder/t.json"],
    ] {
        let run = scratch.transship(arguments).run().fails_with(2);
        assert_eq!(scratch.files(), ["bad.json", "empty.json"], "{run}");
    }
}

#[test]
fn where_the_page_cannot_be_written_the_records_are_kept_and_that_is_told() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job());
    std::fs::create_dir(scratch.path("temporary")).unwrap();
    let temporary = scratch.path("temporary");
    let run = scratch.transship(["run", "job.json", "--report", "/dev/full"]);
    let run = run.env("TMPDIR", &temporary.display().to_string()).run().succeeds();
    run.says(["warning: cannot write the report to /dev/full: No space left on device"]);
    let records: Vec<String> = scratch.files().into_iter().filter(|name| name.ends_with(".perf.jsonl")).collect();
    assert_eq!(records.len(), 1, "{records:?}");
    run.says([format!("the perf records are kept in {}", scratch.path(&records[0]).display()).as_str()]);
    let lines = json_lines(&scratch.read(&records[0]));
    assert_eq!(text(lines.last().unwrap(), "/type"), "end", "nothing is missing");
}

#[test]
fn a_run_that_ends_without_a_call_that_hangs_says_where_its_records_are_and_leaves_no_empty_file() {
    let pages = ["--report", "r.html", "--trace", "t.json"];
    let start = |reader: Value, more: &[&str]| {
        let scratch = Scratch::new();
        scratch.job("job.json", &faulty(reader, json!({})));
        let arguments = ["run", "job.json", "--quiet"].iter().chain(&pages).chain(more);
        let mut run = scratch.transship(arguments).start();
        run.wait_for_file("hanging");
        run.signal(Signal::Terminate);
        (scratch, run)
    };
    let hangs = |at: &str| json!({ "fail": { "at": at, "how": "hang", "marker": "hanging" } });
    // Each takes the time that a plugin has to heed the signal: they run at once.
    let runs = [
        start(hangs("next"), &[]),
        start(hangs("next"), &["--perf", "p.jsonl"]),
        start(hangs("init"), &[]),
        start(hangs("init"), &["--perf", "p.jsonl"]),
    ];
    let [beside, kept, nothing, nothing_kept] = runs.map(|(scratch, run)| {
        let run = run.finish().fails_with(143);
        run.says(["ignores that the work was cancelled"]);
        (scratch, run)
    });
    for (scratch, run) in [beside, kept] {
        let records: Vec<String> = scratch.files().into_iter().filter(|name| name.ends_with(".jsonl")).collect();
        let [records] = &records[..] else { panic!("{records:?}\n{run}") };
        run.says([format!("warning: the perf records are kept in {records}: `transship perf` makes").as_str()]);
        assert_eq!(scratch.files(), ["hanging", "job.json", "journal", records]);
        scratch.transship(["perf", records, "--report", "r.html"]).run().succeeds();
        assert!(scratch.read("r.html").contains("</html>"));
    }
    for (scratch, run) in [nothing, nothing_kept] {
        run.does_not_say(["perf records"]);
        assert_eq!(scratch.files(), ["hanging", "job.json", "journal"], "{run}");
    }
}

#[test]
fn of_a_run_that_is_killed_the_page_can_be_made_of_the_records_beside_it() {
    let scratch = Scratch::new();
    let hangs = json!({ "at": "next", "split": 1, "after": 50, "how": "hang" });
    scratch.job("job.json", &faulty(json!({ "splits": 2, "fail": hangs }), json!({})).channels(2));
    let mut running = scratch.transship(["run", "job.json", "--report", "r.html"]).start();
    let beside =
        || scratch.files().into_iter().find(|name| name.starts_with("r.html.") && name.ends_with(".perf.jsonl"));
    running.wait_until("the figures of a second", || {
        beside().is_some_and(|name| scratch.lines(name).iter().any(|line| line.contains("\"type\":\"second\"")))
    });
    running.signal(Signal::Kill);
    running.finish();
    let records = beside().expect("they are still there");
    let page = scratch.read("r.html");
    let command =
        format!("transship perf {} --report {}", scratch.path(&records).display(), scratch.path("r.html").display());
    assert!(page.contains("The run has not ended") && page.contains(&command), "{page}");
    scratch.transship(["perf", &records, "--report", "r.html"]).run().succeeds();
    assert!(!scratch.read("r.html").contains(&command));
    assert!(scratch.read("r.html").contains("</html>"));
}

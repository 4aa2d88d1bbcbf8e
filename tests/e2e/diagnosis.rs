//! `transship perf`: what limited a run is named, a killed run leaves what was known, two runs are compared; and a run that stands still
//! says who waits for whom.

mod advice;

use transship_tests::program::repository;
use transship_tests::records::{json_lines, number, text};
use transship_tests::{Job, Scratch, Signal, Value, faulty, faulty_reader, faulty_transformer, json, plugin};

/// Each call takes so long.
fn delay(at: &str, millis: u64) -> Value {
    json!({ "at": at, "how": "delay", "millis": millis })
}

/// Runs a job and gives what `transship perf --json` says of it.
fn diagnosis(scratch: &Scratch, job: &Job) -> Value {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    recorded(scratch)
}

/// What `transship perf --json` says of the records that a run has left.
fn recorded(scratch: &Scratch) -> Value {
    let shown = scratch.transship(["perf", "perf.jsonl", "--json"]).run().succeeds();
    let tree: Value = serde_json::from_str(&shown.stdout).expect("it is JSON");
    tree[0]["diagnosis"].clone()
}

#[track_caller]
fn limit_is(expected: &str, job: &Job) {
    let scratch = Scratch::new();
    let diagnosis = diagnosis(&scratch, job);
    assert_eq!(text(&diagnosis, "/limit/part"), expected, "{}\n{}", diagnosis["limit"], diagnosis["parts"]);
    let shown = scratch.transship(["perf", "perf.jsonl"]).run().succeeds();
    assert!(shown.stdout.contains(text(&diagnosis, "/limit/sentence")), "{shown}");
}

#[test]
fn a_slow_reader_is_named() {
    limit_is("reader", &faulty(json!({ "records": 400, "fail": delay("next", 10) }), json!({})));
}

#[test]
fn a_reader_that_waits_for_its_source_is_told_to_do_so() {
    let scratch = Scratch::new();
    let told = diagnosis(&scratch, &faulty(json!({ "records": 400, "fail": delay("next", 10) }), json!({})));
    assert!(text(&told, "/limit/sentence").contains("waits for its source nearly all of that time"), "{told}");
}

#[test]
fn a_split_that_takes_long_to_open_is_named_and_so_is_a_target() {
    for at in ["open", "task_prepare"] {
        limit_is("open_source", &faulty(json!({ "fail": delay(at, 400) }), json!({})));
        limit_is("open_target", &faulty(json!({}), json!({ "fail": delay(at, 400) })));
    }
}

#[test]
fn a_job_that_takes_long_to_make_ready_is_named_even_if_that_fails() {
    limit_is("prepare", &faulty(json!({}), json!({ "fail": delay("init", 400) })));
    limit_is("prepare", &faulty(json!({}), json!({ "fail": delay("prepare", 400) })));
    let scratch = Scratch::new();
    let fails = json!([delay("prepare", 400), { "at": "prepare", "how": "error:io" }]);
    scratch.job("job.json", &faulty(json!({}), json!({ "fail": fails })));
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().fails_with(1);
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let prepare = lines.iter().find(|line| line["phase"] == "JOB_PREPARE").expect("it failed, and took its time");
    assert!(number(prepare, "/elapsed_nanos") > 400_000_000, "{prepare}");
    let told = recorded(&scratch);
    assert_eq!(text(&told, "/limit/part"), "prepare", "{told}");
    assert_eq!(told["moving_seconds"], 0.0, "no record has moved");
    let of_job =
        |name: &str| lines.iter().find(|line| line["phase"] == name).map_or(0, |line| number(line, "/elapsed_nanos"));
    let phases: u64 = ["JOB_INIT", "JOB_PREPARE", "JOB_DESTROY"].map(of_job).iter().sum();
    let wall = told["wall_seconds"].as_f64().unwrap();
    assert!((wall - phases as f64 / 1e9).abs() < 0.001, "{wall} s: it was made ready once, {prepare}");
}

#[test]
fn a_slow_writer_is_named() {
    limit_is("writer", &faulty(json!({ "records": 400 }), json!({ "fail": delay("write", 10) })));
}

#[test]
fn a_slow_transformer_is_named() {
    let transformer = faulty_transformer(json!({ "fail": delay("push", 10) }));
    limit_is("transformers", &faulty(json!({ "records": 400 }), json!({})).transformer(transformer));
}

#[test]
fn a_slow_lookup_is_named() {
    let lookup = json!({ "name": "faultylookup", "parameter": { "delayMillis": 20, "mostKeys": 1 } });
    let transformer = plugin("lookup", json!({ "key": "id", "lookup": lookup, "capacity": 2 }));
    let job = Job::new(faulty_reader(json!({ "records": 60 })), plugin("streamwriter", json!({ "print": false })));
    limit_is("lookup", &job.transformer(transformer));
}

#[test]
fn a_lookup_takes_no_blame_for_another_transformer() {
    let lookup = json!({ "name": "faultylookup", "parameter": {} });
    let job = faulty(json!({ "records": 400 }), json!({}))
        .transformer(faulty_transformer(json!({ "fail": delay("push", 10) })))
        .transformer(plugin("lookup", json!({ "key": "id", "lookup": lookup })));
    limit_is("transformers", &job);
}

#[test]
fn waiting_for_a_slot_is_named_before_the_reader_that_all_wait_for() {
    let scratch = Scratch::new();
    for name in ["one", "other"] {
        let reader = json!({ "records": 200, "fail": delay("next", 10) });
        scratch.job(&format!("{name}.json"), &faulty(reader, json!({ "target": name })));
    }
    let run = scratch.transship(["run", "one.json", "other.json", "--slots", "1", "--perf", "perf.jsonl"]).run();
    run.succeeds();
    let shown = scratch.transship(["perf", "perf.jsonl", "--json"]).run().succeeds();
    let tree: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(text(&tree, "/0/diagnosis/limit/part"), "slots", "{}", tree[0]["diagnosis"]["parts"]);
}

#[test]
fn a_speed_limit_is_named() {
    let job = faulty(json!({ "records": 400 }), json!({})).with("job.setting.speed.record", 500);
    limit_is("speed_limit", &job);
}

#[test]
fn a_channel_that_holds_next_to_nothing_is_named() {
    let reader = json!({ "column": [{ "value": "x" }], "sliceRecordCount": 20_000 });
    let job = Job::new(plugin("streamreader", reader), plugin("streamwriter", json!({ "print": false })))
        .with("core.transport.channel.capacity", 1);
    limit_is("channel", &job);
}

#[test]
fn one_split_that_is_much_larger_than_the_others_is_named() {
    let slow = json!({ "at": "next", "split": 3, "how": "delay", "millis": 20 });
    let job = faulty(json!({ "records": 300, "splits": 4, "fail": slow }), json!({})).channels(4);
    let scratch = Scratch::new();
    let diagnosis = diagnosis(&scratch, &job);
    assert_eq!(text(&diagnosis, "/limit/part"), "one_split", "{diagnosis}");
    assert!(text(&diagnosis, "/limit/sentence").contains("split 3"), "{diagnosis}");
    assert_eq!((number(&diagnosis, "/skew/tasks"), text(&diagnosis, "/skew/longest_split")), (4, "split 3"));
    assert_eq!(text(&diagnosis, "/tasks/0/split"), "split 3", "the slowest comes first");
}

#[test]
fn a_percent_sign_in_the_name_of_a_split_is_a_percent_sign() {
    let scratch = Scratch::new();
    for name in ["a", "c", "d"] {
        scratch.write(format!("in/{name}.csv"), "1\n");
    }
    scratch.write("in/b 100%.csv", "1\n".repeat(3_000));
    let reader = plugin("txtfilereader", json!({ "path": ["in/*"], "column": ["*"] }));
    let job = Job::new(reader, plugin("streamwriter", json!({ "print": false })))
        .channels(4)
        .with("core.transport.channel.speed.record", 4_000)
        .with("core.transport.channel.capacity", 100);
    let told = diagnosis(&scratch, &job);
    assert_eq!(text(&told, "/limit/part"), "one_split", "{told}");
    assert!(text(&told, "/limit/sentence").contains("b 100%.csv took"), "{told}");
}

#[test]
fn a_slow_commit_is_named() {
    for at in ["commit", "commit_task"] {
        limit_is("commit", &faulty(json!({}), json!({ "fail": delay(at, 400) })));
    }
}

#[test]
fn the_shares_are_those_of_the_records() {
    let scratch = Scratch::new();
    let diagnosis = diagnosis(&scratch, &faulty(json!({ "records": 400 }), json!({ "fail": delay("write", 10) })));
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let nanos = |phase: &str| {
        let line = lines.iter().find(|line| line["phase"] == phase).unwrap_or_else(|| panic!("{phase}"));
        number(line, "/elapsed_nanos") as f64 / 1e9
    };
    let writing = nanos("WRITE_TASK_DATA") - nanos("WAIT_READ_TIME") + nanos("WRITE_TASK_DESTROY");
    let wall: f64 =
        ["JOB_INIT", "JOB_PREPARE", "JOB_SCHEDULE", "JOB_COMMIT", "JOB_POST", "JOB_DESTROY"].map(nanos).iter().sum();
    let expected = writing / nanos("TASK_TOTAL") * nanos("JOB_SCHEDULE") / wall;
    let told = diagnosis["limit"]["share"].as_f64().unwrap();
    assert!((told - expected).abs() < 0.001, "{told} instead of {expected}");
    assert!(told > 0.5, "forty calls of ten milliseconds are most of it: {told}");
}

#[test]
fn threads_that_wait_use_no_cpu_and_their_records_say_so() {
    let scratch = Scratch::new();
    diagnosis(&scratch, &faulty(json!({ "records": 400 }), json!({ "fail": delay("write", 10) })));
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let writing = lines.iter().find(|line| line["phase"] == "WRITE_TASK_DATA").unwrap();
    let (cpu, elapsed) = (number(writing, "/cpu_nanos"), number(writing, "/elapsed_nanos"));
    assert!(cpu > 0 && cpu < elapsed / 4, "{writing}");
}

#[test]
fn the_header_says_what_ran_where_and_how_without_secrets() {
    let scratch = Scratch::new();
    diagnosis(&scratch, &faulty(json!({ "password": "hunter2", "dirtyEvery": 10 }), json!({ "token": 4711 })));
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let header = &lines[0];
    assert_eq!((text(header, "/type"), number(header, "/version")), ("run", 1));
    assert_eq!((text(header, "/reader"), text(header, "/writer")), ("faultyreader", "faultywriter"));
    assert_eq!(text(header, "/plugins/faulty"), "0.1.0");
    assert!(number(header, "/host/cores") > 0 && number(header, "/host/memory_bytes") > 0, "{header}");
    assert_eq!(number(header, "/plan/channels"), 1);
    let content = &header["setting"]["job"]["content"][0];
    assert_eq!(text(content, "/reader/parameter/password"), "***");
    assert_eq!(text(content, "/writer/parameter/token"), "***");
    assert_eq!(number(content, "/reader/parameter/dirtyEvery"), 10);
    let dirty: Vec<_> = lines.iter().filter(|line| line["type"] == "dirty").collect();
    assert_eq!((dirty.len(), number(dirty[0], "/count"), text(dirty[0], "/side")), (1, 10, "reader"));
    let end = lines.last().unwrap();
    assert_eq!((text(end, "/type"), text(end, "/result"), number(end, "/dirty")), ("end", "done", 10));
}

#[test]
fn every_line_is_as_the_schema_of_perf_records_says() {
    let text = std::fs::read_to_string(repository().join("docs/perf-records.schema.json")).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    // Who reads records ignores fields that are new; who writes them has to document each.
    for line in schema["oneOf"].as_array_mut().unwrap() {
        line["additionalProperties"] = false.into();
    }
    let schema = jsonschema::draft7::new(&schema).unwrap();
    let lookup = json!({ "name": "faultylookup", "parameter": { "delayMillis": 1 } });
    let job = faulty(json!({ "splits": 2, "dirtyEvery": 10, "fail": delay("next", 120) }), json!({ "dirtyEvery": 7 }))
        .transformer(plugin("lookup", json!({ "key": "id", "lookup": lookup })));
    let scratch = Scratch::new();
    diagnosis(&scratch, &job);
    let lines = json_lines(&scratch.read("perf.jsonl"));
    for line in &lines {
        assert!(schema.is_valid(line), "{:?}: {line}", schema.iter_errors(line).next());
    }
    for kind in ["run", "task", "phase", "second", "stage", "dirty", "end"] {
        assert!(lines.iter().any(|line| line["type"] == kind), "no line of type {kind}");
    }
}

#[test]
fn a_killed_run_leaves_what_was_known_a_second_before() {
    let scratch = Scratch::new();
    let hangs = json!({ "at": "next", "split": 1, "after": 50, "how": "hang" });
    scratch.job("job.json", &faulty(json!({ "splits": 2, "fail": hangs }), json!({})).channels(2));
    let mut running = scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).start();
    let has_second = || scratch.lines("perf.jsonl").iter().any(|line| line.contains("\"type\":\"second\""));
    running.wait_until("the figures of a second", has_second);
    running.signal(Signal::Kill);
    running.finish();
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let second = lines.iter().find(|line| line["type"] == "second").unwrap();
    assert_eq!((number(second, "/read_records"), number(second, "/tasks_done")), (150, 1));
    let shown = scratch.transship(["perf", "perf.jsonl"]).run().succeeds();
    assert!(shown.stdout.contains("it goes on, or was killed"), "{shown}");
    assert!(shown.stdout.contains("split 1 (open)"), "{shown}");
}

/// What `transship perf` says of a run that was killed once its records had this in them.
fn diagnosis_of_killed(scratch: &Scratch, job: &Job, has_come: impl Fn(&str) -> bool) -> Value {
    scratch.job("job.json", job);
    let mut running = scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).start();
    running.wait_until("the records", || has_come(&scratch.lines("perf.jsonl").join("\n")));
    running.signal(Signal::Kill);
    running.finish();
    recorded(scratch)
}

fn has_seconds(records: &str, count: usize) -> bool {
    records.matches("\"type\":\"second\"").count() >= count
}

#[test]
fn of_a_killed_run_the_call_is_named_in_which_it_hung() {
    // A split that was done at once says nothing about the one that hangs.
    let hangs = json!({ "at": "next", "split": 1, "after": 50, "how": "hang", "message": "select * from t where pin = 'hunter2'" });
    let job = faulty(json!({ "splits": 2, "password": "hunter2", "fail": hangs }), json!({})).channels(2);
    let scratch = Scratch::new();
    let told = diagnosis_of_killed(&scratch, &job, |records| has_seconds(records, 3));
    let sentence = text(&told, "/limit/sentence");
    assert!(sentence.starts_with("it stood still: ") && sentence.contains("task 1 (split 1), faultyreader"), "{told}");
    assert!(sentence.contains("in `next` (select * from t where pin = '***') for"), "{told}");
    assert_eq!(text(&told, "/limit/part"), "reader");
}

#[test]
fn of_a_killed_run_the_part_is_named_that_its_open_tasks_spent_their_time_with() {
    for (part, reader, writer) in [
        ("writer", json!({}), json!({ "fail": delay("write", 300) })),
        ("reader", json!({ "fail": delay("next", 300) }), json!({})),
        ("open_source", json!({ "fail": delay("open", 60_000) }), json!({})),
    ] {
        let mut reader = reader;
        (reader["records"], reader["splits"]) = (1_000.into(), 2.into());
        let scratch = Scratch::new();
        let job = faulty(reader, writer).channels(2);
        let told = diagnosis_of_killed(&scratch, &job, |records| {
            has_seconds(records, if part == "open_source" { 1 } else { 2 })
        });
        assert_eq!(text(&told, "/limit/part"), part, "{}\n{}", told["limit"], told["parts"]);
        assert!(told["limit"]["share"].as_f64().unwrap() > 0.5, "{told}");
    }
}

#[test]
fn of_a_run_that_is_killed_before_or_behind_its_tasks_the_call_is_named() {
    for (at, part) in [("prepare", "prepare"), ("commit", "commit")] {
        let job = faulty(json!({}), json!({ "fail": { "at": at, "how": "hang" } }));
        let scratch = Scratch::new();
        let told =
            diagnosis_of_killed(&scratch, &job, |records| records.contains("longest_call") && has_seconds(records, 4));
        assert_eq!(text(&told, "/limit/part"), part, "{told}");
        let sentence = text(&told, "/limit/sentence");
        assert!(sentence.contains(&format!("had been in `{at}` (")), "{sentence}");
        let wall = told["wall_seconds"].as_f64().unwrap();
        assert!((3.0..60.0).contains(&wall), "{told}");
    }
}

#[test]
fn of_killed_runs_that_share_a_slot_waiting_for_it_is_no_reading() {
    let scratch = Scratch::new();
    for name in ["a", "b"] {
        let job = faulty(json!({ "records": 100_000, "fail": delay("next", 20) }), json!({}));
        scratch.job(&format!("{name}.json"), &job);
    }
    let mut running = scratch.transship(["run", "a.json", "b.json", "--slots", "1", "--perf", "perf.jsonl"]).start();
    running.wait_until("the records", || has_seconds(&scratch.lines("perf.jsonl").join("\n"), 8));
    running.signal(Signal::Kill);
    running.finish();
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let last = lines.iter().rfind(|line| line["type"] == "second").unwrap();
    let spent = |phase: &str| number(last, &format!("/open_readers_nanos/{phase}"));
    // Half of the time the slot is the other's.
    let (waited, all) = (spent("WAIT_SLOT_TIME"), spent("READ_TASK_DATA"));
    assert!((0.25..0.75).contains(&(waited as f64 / all as f64)), "{waited} of {all}");
}

#[test]
fn of_a_killed_run_dirty_records_are_told() {
    let job = faulty(json!({ "records": 1_000, "dirtyEvery": 3, "fail": delay("next", 100) }), json!({}));
    let scratch = Scratch::new();
    diagnosis_of_killed(&scratch, &job, |records| has_seconds(records, 1));
    let shown = scratch.transship(["perf", "perf.jsonl"]).run().succeeds();
    assert!(shown.stdout.contains("dirty ") && !shown.stdout.contains("dirty 0"), "{shown}");
}

#[test]
fn attempts_that_failed_are_no_splits_and_their_records_are_told_apart() {
    let fails = json!({ "at": "next", "after": 50, "how": "error:io", "times": 1, "counter": "tries" });
    let job = faulty(json!({ "fail": fails }), json!({ "idempotent": true }))
        .with("core.container.task.failOver.maxRetryTimes", 2)
        .with("core.container.task.failOver.retryIntervalInMsec", 1);
    let scratch = Scratch::new();
    let told = diagnosis(&scratch, &job);
    assert_eq!((told["tasks"].as_array().unwrap().len(), &told["skew"]), (2, &Value::Null), "{told}");
    let end = json_lines(&scratch.read("perf.jsonl")).pop().unwrap();
    assert_eq!((number(&end, "/read"), number(&end, "/aborted_read")), (100, 50));
}

#[test]
fn a_trace_has_a_span_for_each_phase_on_the_track_of_its_channel() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "splits": 2 }), json!({})));
    scratch.transship(["run", "job.json", "--trace", "trace.json"]).run().succeeds();
    assert!(!scratch.files().iter().any(|name| name.ends_with(".jsonl")), "{:?}", scratch.files());
    let trace: Value = serde_json::from_str(&scratch.read("trace.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let named = |name: &str| events.iter().filter(move |event| event["name"] == name).collect::<Vec<_>>();
    assert_eq!(named("READ_TASK_DATA").len(), 2);
    assert!(named("WAIT_READ_TIME").is_empty(), "a sum of waits has no place in time");
    for span in events.iter().filter(|event| event["ph"] == "X") {
        let track = named("thread_name").into_iter().find(|track| track["tid"] == span["tid"]);
        let title = text(track.unwrap_or_else(|| panic!("{span} has a track")), "/args/name");
        let expected = match text(span, "/name") {
            name if name.starts_with("JOB_") => "job",
            name if name.starts_with("WRITE_") => "channel 0, writer",
            _ => "channel 0, reader",
        };
        assert_eq!(title, expected, "{span}");
    }
}

#[test]
fn two_runs_are_compared_figure_by_figure() {
    let scratch = Scratch::new();
    for (name, records) in [("one", 100), ("two", 200)] {
        scratch.job("job.json", &faulty(json!({ "records": records }), json!({})));
        scratch.transship(["run", "job.json", "--perf", name]).run().succeeds();
    }
    let shown = scratch.transship(["perf", "one", "two"]).run().succeeds();
    let row = shown.stdout.lines().find(|line| line.contains("records written")).expect("there is such a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[2..], ["100", "200", "2.00"], "{shown}");
}

#[test]
fn what_is_no_recording_is_refused_with_its_line() {
    let scratch = Scratch::new();
    scratch.write("perf.jsonl", "{\"phase\":\"TASK_TOTAL\"}\n");
    let run = scratch.transship(["perf", "perf.jsonl"]).run().fails_with(2);
    assert!(run.error().starts_with("perf.jsonl: line 1: "), "{run}");
    let run = scratch.transship(["perf", "nowhere"]).run().fails_with(2);
    assert!(run.error().contains("cannot read nowhere"), "{run}");
}

#[test]
fn a_run_that_stands_still_says_who_waits_for_which_call() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({ "fail": { "at": "write", "how": "hang_until_cancelled" } })));
    let mut running = scratch.transship(["run", "job.json"]).start();
    running.wait_for_stderr(
        "nothing has moved for 10 s: the reader waits for task 0 (split 0), faultywriter, in `write` (as it was told to) for ",
    );
    running.signal(Signal::Terminate);
    let run = running.finish();
    assert_eq!(run.code(), Some(143), "{run}");
}

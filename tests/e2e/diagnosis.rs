//! `transship perf`: what limited a run is named, a killed run leaves what was known, two runs are compared; and a run that stands still
//! says who waits for whom.

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
    let writing = nanos("WRITE_TASK_DATA") - nanos("WAIT_READ_TIME");
    let wall: f64 = ["JOB_PREPARE", "JOB_SCHEDULE", "JOB_COMMIT", "JOB_POST", "JOB_DESTROY"].map(nanos).iter().sum();
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
    assert!(cpu > 0 && cpu < elapsed, "{writing}");
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
    let schema = jsonschema::draft7::new(&serde_json::from_str(&text).unwrap()).unwrap();
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
    assert_eq!(cells[2..], ["100.000", "200.000", "2.00"], "{shown}");
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
        "nothing has moved for 10 s: the reader waits for task 0 (split 0), faultywriter, in `write` for ",
    );
    running.signal(Signal::Terminate);
    let run = running.finish();
    assert_eq!(run.code(), Some(143), "{run}");
}

//! Perf records and the summary: each phase of each task is told with DataX's names, and the figures add up.

use transship_tests::records::{json_lines, number, text};
use transship_tests::{Finished, Job, Scratch, Value, faulty, faulty_transformer, json, plugin};

const TASK_PHASES: [&str; 16] = [
    "TASK_TOTAL",
    "READ_TASK_INIT",
    "READ_TASK_PREPARE",
    "READ_TASK_DATA",
    "READ_TASK_POST",
    "READ_TASK_DESTROY",
    "WRITE_TASK_INIT",
    "WRITE_TASK_PREPARE",
    "WRITE_TASK_DATA",
    "WRITE_TASK_POST",
    "WRITE_TASK_DESTROY",
    "WAIT_READ_TIME",
    "WAIT_WRITE_TIME",
    "SCHEDULED_TIME",
    "WAIT_SLOT_TIME",
    "BLOCKED_TIME",
];
const JOB_PHASES: [&str; 7] =
    ["JOB_INIT", "JOB_PREPARE", "JOB_SPLIT", "JOB_SCHEDULE", "JOB_COMMIT", "JOB_POST", "JOB_DESTROY"];

/// Runs a job of three splits with `--perf`, and gives the run and its perf records.
fn run(scratch: &Scratch, with_transformer: bool) -> (Finished, Vec<Value>) {
    let mut job = faulty(json!({ "splits": 3, "dirtyEvery": 10 }), json!({})).channels(2);
    if with_transformer {
        job = job.transformer(faulty_transformer(json!({ "dropEvery": 9 })));
    }
    scratch.job("job.json", &job);
    let run = scratch.transship(["run", "job.json", "--json", "--perf", "perf.jsonl"]).run().succeeds();
    let lines = phase_lines(scratch);
    (run, lines)
}

/// The records of phases, in the file that all runs here write.
fn phase_lines(scratch: &Scratch) -> Vec<Value> {
    let lines = json_lines(&scratch.read("perf.jsonl"));
    lines.into_iter().filter(|line| line["type"] == "phase").collect()
}

fn phases<'a>(lines: impl IntoIterator<Item = &'a Value>) -> Vec<&'a str> {
    let mut phases: Vec<&str> = lines.into_iter().map(|line| text(line, "/phase")).collect();
    phases.sort_unstable();
    phases
}

fn sorted<const N: usize>(mut phases: [&str; N]) -> Vec<&str> {
    phases.sort_unstable();
    phases.into()
}

#[test]
fn every_phase_of_the_job_and_of_each_task_has_one_line() {
    let scratch = Scratch::new();
    let (run, lines) = run(&scratch, false);
    let summary = run.summary();
    assert_eq!(phases(lines.iter().filter(|line| line.get("task").is_none())), sorted(JOB_PHASES));
    for task in summary["tasks"].as_array().unwrap() {
        let of_task: Vec<&Value> = lines.iter().filter(|line| line["task"] == task["task"]).collect();
        assert_eq!(phases(of_task.iter().copied()), sorted(TASK_PHASES), "{task}");
        assert!(of_task.iter().all(|line| line["split"] == task["split"] && line["attempt"] == 1));
    }
    assert!(lines.iter().all(|line| line["run"] == summary["run"] && line["job"] == "job"));
    assert_eq!(lines.len(), JOB_PHASES.len() + 3 * TASK_PHASES.len());
}

#[test]
fn the_time_of_transformers_is_told_where_there_are_any() {
    let scratch = Scratch::new();
    let (_, lines) = run(&scratch, true);
    assert_eq!(lines.iter().filter(|line| line["phase"] == "TRANSFORMER_TIME").count(), 3);
}

#[test]
fn phases_lie_within_those_that_contain_them() {
    let scratch = Scratch::new();
    let (_, lines) = run(&scratch, false);
    let start = |line: &Value| number(line, "/start_micros");
    let end = |line: &Value| start(line) + number(line, "/elapsed_nanos") / 1000;
    // Start times are cut to whole microseconds.
    let within = |inner: &Value, outer: &Value| start(inner) >= start(outer) && end(inner) <= end(outer) + 2;
    let schedule = lines.iter().find(|line| line["phase"] == "JOB_SCHEDULE").unwrap();
    for total in lines.iter().filter(|line| line["phase"] == "TASK_TOTAL") {
        assert!(within(total, schedule), "{total} in {schedule}");
        for part in lines.iter().filter(|line| line["task"] == total["task"]) {
            assert!(within(part, total), "{part} in {total}");
        }
    }
}

/// Trap 19.
#[test]
fn the_records_and_bytes_of_all_places_agree() {
    for with_transformer in [false, true] {
        let scratch = Scratch::new();
        let (run, lines) = run(&scratch, with_transformer);
        let summary = run.summary();
        let sum = |phase: &str, what: &str| -> u64 {
            let of_phase = lines.iter().filter(|line| line["phase"] == phase);
            of_phase.map(|line| line.get(what).and_then(Value::as_u64).unwrap_or(0)).sum()
        };
        let count = |what: &str| number(&summary, &format!("/counts/{what}"));
        assert_eq!(sum("TASK_TOTAL", "records"), count("read"), "{run}");
        assert_eq!(sum("READ_TASK_DATA", "records"), count("read") - count("dirty_at_reader"), "{run}");
        assert_eq!(sum("READ_TASK_DATA", "bytes"), count("read_bytes"), "{run}");
        assert_eq!(sum("WRITE_TASK_DATA", "records"), count("written") + count("dirty_at_writer"), "{run}");
        for what in ["read", "read_bytes", "written", "filtered", "dirty_at_reader"] {
            let tasks = summary["tasks"].as_array().unwrap();
            let of_tasks: u64 = tasks.iter().map(|task| number(task, &format!("/counts/{what}"))).sum();
            assert_eq!(of_tasks, count(what), "{what}: {run}");
        }
        assert_eq!(count("written"), scratch.ids().len() as u64, "what was written is what is there");
        let dirty = count("dirty_at_reader") + count("dirty_at_transformers") + count("dirty_at_writer");
        assert_eq!(count("read") + count("added"), count("written") + count("filtered") + count("duplicates") + dirty);
    }
}

#[test]
fn the_summary_has_the_figures_of_datax_and_the_accounting() {
    let scratch = Scratch::new();
    let (run, _) = run(&scratch, true);
    for label in ["started", "ended", "elapsed", "average flow", "record speed", "records read", "records failed"] {
        run.says([format!("  {label:<16}: ").as_str()]);
    }
    let dropped = 3 * (90 / 9);
    run.says([format!(
        "accounting      : read 300 + added 0 = written {} + filtered {dropped} + duplicates 0 + dirty 30\n",
        270 - dropped
    )
    .as_str()]);
    run.says([
        "job job (faultyreader to faultywriter), run ",
        ": done, 30 records dirty\n",
        "tasks           : 3 done on 2 channels\n",
    ]);
    run.says(["visible at target: each task's records when it was done (task)\n"]);
}

#[test]
fn the_slowest_tasks_are_shown_the_slowest_first() {
    let scratch = Scratch::new();
    // The first task waits until the others are done.
    let fail = json!([
        { "at": "next", "split": 2, "how": "wait_for_file", "file": "late" },
        { "at": "task_post", "split": 4, "how": "go_on", "marker": "late" },
    ]);
    let run = scratch.run(&faulty(json!({ "splits": 5, "fail": fail }), json!({})).channels(2)).succeeds();
    let (_, slowest) = run.stderr.split_once("slowest tasks:\n").unwrap();
    let slowest: Vec<&str> = slowest.lines().collect();
    assert_eq!(slowest.len(), 3, "{run}");
    assert!(slowest[0].contains("task 2 ") && slowest[0].ends_with("split 2"), "{run}");
    assert!(slowest.iter().all(|line| line.contains("100 records  reading ")), "{run}");
    assert!(slowest[0].contains(", waiting for the reader "), "{run}");
}

#[test]
fn waits_for_a_turn_and_for_the_speed_limit_are_told_apart() {
    let scratch = Scratch::new();
    // Whichever task has the only turn, its target takes long to open.
    let writer = json!({ "maxOpenTasks": 1, "fail": { "at": "task_prepare", "how": "delay", "millis": 500 } });
    scratch.job("turn.json", &faulty(json!({ "splits": 2 }), writer).channels(2));
    scratch.transship(["run", "turn.json", "--perf", "turn.jsonl"]).run().succeeds();
    let lines = json_lines(&scratch.read("turn.jsonl"));
    let mut turns: Vec<_> = lines.iter().filter(|line| line["phase"] == "WAIT_TURN_TIME").collect();
    turns.sort_by_key(|line| number(line, "/elapsed_nanos"));
    let [first, second] = turns[..] else { panic!("each of the two tasks had its turn: {turns:?}") };
    let of_first = lines.iter().filter(|line| line["task"] == first["task"]);
    let writing = of_first.filter(|line| line["phase"].as_str().is_some_and(|phase| phase.starts_with("WRITE_TASK_")));
    let held: u64 = writing.map(|line| number(line, "/elapsed_nanos")).sum();
    let waited = [first, second].map(|line| number(line, "/elapsed_nanos"));
    assert!(held > 500_000_000 && waited[0] < held / 4, "the first had it at once: {waited:?} of {held}");
    assert!(
        waited[1] > held / 2 && waited[1] < held * 3 / 2,
        "the second when the first gave it up: {waited:?} of {held}"
    );

    let job = faulty(json!({}), json!({})).with("job.setting.speed.record", 400);
    scratch.job("limit.json", &job);
    let run = scratch.transship(["run", "limit.json", "--perf", "limit.jsonl"]).run().succeeds();
    let limits = json_lines(&scratch.read("limit.jsonl"));
    assert!(
        limits.iter().any(|line| line["phase"] == "WAIT_LIMIT_TIME" && number(line, "/elapsed_nanos") > 100_000_000)
    );
    run.says([", waiting for the speed limit "]);
}

#[test]
fn a_summary_as_json_and_printed_records_do_not_share_stdout() {
    let scratch = Scratch::new();
    let reader = plugin("streamreader", json!({ "column": [{ "value": "x" }], "sliceRecordCount": 1 }));
    scratch.job("job.json", &Job::new(reader, plugin("streamwriter", json!({}))));
    let run = scratch.transship(["run", "job.json", "--json"]).run().fails_with(2);
    assert_eq!(run.stdout, "");
    run.says(["--json prints the summary to stdout, where this job prints its records"]);
}

/// The names of the threads in which a process moves records.
fn threads_of_tasks(id: u32) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{id}/task")).unwrap().flatten();
    let names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    let mut names: Vec<String> = names
        .map(|name| name.trim().to_string())
        .filter(|name| name.starts_with("channel-") || name.starts_with("task-"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_job_has_no_more_threads_than_tasks_need_however_many_channels_it_asks_for() {
    let scratch = Scratch::new();
    let waits = |split: u32| {
        let marker = format!("reading {split}");
        json!({ "at": "next", "split": split, "how": "wait_for_file", "file": "go", "marker": marker })
    };
    let job = faulty(json!({ "splits": 2, "fail": [waits(0), waits(1)] }), json!({})).channels(1_000_000);
    scratch.job("job.json", &job);
    let mut running = scratch.transship(["run", "job.json"]).start();
    ["reading 0", "reading 1"].iter().for_each(|marker| running.wait_for_file(marker));
    // One that asked for a task in vain may take a moment to vanish.
    let id = running.id();
    let expected = ["channel-0", "channel-1", "task-0-writer", "task-1-writer"];
    running.wait_until("two threads of each task, and no others", || threads_of_tasks(id) == expected);
    scratch.write("go", "");
    let run = running.finish().succeeds();
    run.says(["1000000 channels are too many: 1024 run at once", "2 done on 1024 channels"]);
}

#[test]
fn secrets_in_names_and_settings_are_not_in_the_records_nor_on_the_page() {
    let scratch = Scratch::new();
    let lookup = json!({ "name": "faultylookup", "parameter": {} });
    // It takes longer than a second, so that there are lines of one.
    let slow = json!({ "at": "next", "how": "delay", "millis": 120 });
    let job = faulty(json!({ "password": "hunter2", "token": "faultylookup", "fail": slow }), json!({}))
        .transformer(plugin("lookup", json!({ "key": "id", "lookup": lookup })));
    scratch.job("j hunter2.json", &job);
    let outputs = ["--perf", "perf.jsonl", "--report", "r.html", "--trace", "trace.json"];
    scratch.transship(["run", "j hunter2.json"].iter().chain(&outputs)).run().succeeds();
    let lines = json_lines(&scratch.read("perf.jsonl"));
    for kind in ["run", "task", "phase", "second", "stage", "end"] {
        assert!(lines.iter().any(|line| line["type"] == kind), "no line of type {kind}");
    }
    for line in &lines {
        assert_eq!(line["job"], "j ***", "{line}");
        assert!(line["type"] != "stage" || text(line, "/setting").starts_with("***, "), "{line}");
    }
    for file in ["perf.jsonl", "r.html", "trace.json"] {
        let written = scratch.read(file);
        for secret in ["hunter2", "faultylookup"] {
            assert!(!written.contains(secret), "{secret} is in {file}");
        }
    }
}

#[test]
fn a_job_that_fails_has_its_perf_records_too() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "fail": { "at": "next", "after": 50, "how": "error:io" } }), json!({})));
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().fails_with(1);
    let lines = phase_lines(&scratch);
    let phases = phases(&lines);
    for phase in ["TASK_TOTAL", "READ_TASK_DATA", "JOB_SCHEDULE", "JOB_DESTROY"] {
        assert!(phases.contains(&phase), "{phase} is not in {phases:?}");
    }
    assert!(!phases.contains(&"JOB_COMMIT"), "{phases:?}");
}

#[test]
fn every_attempt_has_its_perf_records() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "next", "after": 50, "how": "error:io", "times": 2, "counter": "counter" });
    let job = faulty(json!({ "fail": fail }), json!({}))
        .with("core.container.task.failOver.maxRetryTimes", 3)
        .with("core.container.task.failOver.retryIntervalInMsec", 1);
    scratch.job("job.json", &job);
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    let lines = phase_lines(&scratch);
    let mut totals: Vec<_> = lines.iter().filter(|line| line["phase"] == "TASK_TOTAL").collect();
    totals.sort_by_key(|line| number(line, "/attempt"));
    let found: Vec<_> = totals.iter().map(|line| (number(line, "/attempt"), number(line, "/records"))).collect();
    assert_eq!(found, [(1, 50), (2, 50), (3, 100)]);
}

#[test]
fn several_jobs_share_one_perf_file() {
    let scratch = Scratch::new();
    scratch.job("first.json", &faulty(json!({}), json!({})));
    scratch.job("second.json", &faulty(json!({}), json!({})));
    scratch.transship(["run", "first.json", "second.json", "--perf", "perf.jsonl"]).run().succeeds();
    let lines = phase_lines(&scratch);
    for job in ["first", "second"] {
        assert_eq!(
            lines.iter().filter(|line| line["job"] == job).count(),
            JOB_PHASES.len() + TASK_PHASES.len(),
            "{job}"
        );
    }
}

#[test]
fn a_quiet_run_prints_nothing_but_errors() {
    let scratch = Scratch::new();
    scratch.job("good.json", &faulty(json!({}), json!({})));
    let run = scratch.transship(["run", "good.json", "--quiet"]).run().succeeds();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    scratch.job("bad.json", &faulty(json!({ "fail": { "at": "next", "how": "error:io" } }), json!({})));
    let run = scratch.transship(["run", "bad.json", "--quiet"]).run().fails_with(1);
    assert_eq!(run.stderr, "error: task 0 (split 0): faultyreader: next failed: as it was told to\n");
}

#[test]
fn records_that_are_at_the_target_already_are_duplicates_and_no_errors() {
    let scratch = Scratch::new();
    let database = rusqlite::Connection::open(scratch.path("out.db")).unwrap();
    database.execute_batch("create table ids (id integer primary key); insert into ids values (2), (3)").unwrap();
    scratch.write("ids.csv", "1\n2\n3\n4\n");
    let column = json!([{ "index": 0, "type": "long", "name": "id" }]);
    let reader = plugin("txtfilereader", json!({ "path": "ids.csv", "column": column }));
    let writer = plugin(
        "sqlitewriter",
        json!({ "path": "out.db", "table": "ids", "column": ["*"], "writeMode": "insert or ignore" }),
    );
    scratch.job("job.json", &Job::new(reader, writer).with("job.setting.errorLimit.record", 0));
    let run = scratch.transship(["run", "job.json", "--json"]).run().succeeds();
    let counts = &run.summary()["counts"];
    assert_eq!((number(counts, "/written"), number(counts, "/duplicates"), number(counts, "/read")), (2, 2, 4));
    run.says(["read 4 + added 0 = written 2 + filtered 0 + duplicates 2 + dirty 0"]);
}

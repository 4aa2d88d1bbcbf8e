//! `order` and `merge`: records of a key stay in order while lanes work at once; what goes wrong in one is the job's failure.

use transship_tests::{Finished, Job, Scratch, Signal, Value, faulty_reader, faulty_writer, json, plugin};

/// Events of 50 clients, as fast as they can be made; each client's are numbered.
fn events(count: u64) -> Value {
    let replay = json!({ "clients": 50, "events": count, "realTime": false, "seed": 7, "duplicates": 0.01 });
    plugin("streamreader", json!({ "replay": replay }))
}

/// A writer that fails the job if an event of a client overtakes another, or if two lanes have one client at once.
fn guarded(mean: &str) -> Value {
    let work = json!({ "mean": mean, "deviation": "0", "order": { "key": "client", "sequence": "sequence" } });
    plugin("streamwriter", json!({ "print": false, "work": work }))
}

fn dedup() -> Value {
    plugin("dedup", json!({ "key": "id", "window": 0 }))
}

fn order(more: Value) -> Value {
    let mut parameter = json!({ "key": "client", "lanes": 8 });
    for (key, value) in more.as_object().unwrap() {
        parameter[key] = value.clone();
    }
    plugin("order", parameter)
}

fn counts(run: &Finished) -> [u64; 3] {
    let summary = run.summary();
    ["read", "written", "duplicates"].map(|count| summary["counts"][count].as_u64().unwrap())
}

/// KA-09, KA-10, KA-17.
#[test]
fn no_event_overtakes_another_of_its_client_whatever_the_lanes() {
    for dispatch in ["dynamic", "modulo", "hash"] {
        let scratch = Scratch::new();
        let job = Job::new(events(20_000), guarded("0"))
            .transformer(dedup())
            .transformer(order(json!({ "dispatch": dispatch })));
        let run = scratch.run(&job).succeeds();
        let [read, written, duplicates] = counts(&run);
        assert_eq!((read, written), (20_000 + duplicates, 20_000), "{dispatch}: {run}");
        assert!((100..400).contains(&duplicates), "{duplicates}");
    }
}

/// KA-10: the guard can fail. Without `order` the writer has all records of a client in one task; with a key that is another
/// column than the client, lanes share clients.
#[test]
fn the_guard_finds_what_is_out_of_order() {
    let scratch = Scratch::new();
    let job = Job::new(events(2_000), guarded("1 ms")).transformer(order(json!({ "key": "sequence", "batch": 1 })));
    let run = scratch.run(&job).fails_with(1);
    run.says(["order"]);
}

#[test]
fn several_tasks_feed_the_same_lanes() {
    let scratch = Scratch::new();
    let lines: Vec<String> = (0..4)
        .map(|file| {
            let lines: String = (0..500).map(|line| format!("{},{file}-{line}\n", line % 20)).collect();
            let name = format!("in/{file}.csv");
            scratch.write(&name, &lines);
            name
        })
        .collect();
    assert_eq!(lines.len(), 4);
    let reader = plugin("txtfilereader", json!({ "path": "in/*.csv", "fieldDelimiter": ",", "column": ["*"] }));
    let writer = plugin(
        "txtfilewriter",
        json!({ "path": "out", "fileName": "all", "fieldDelimiter": ",", "writeMode": "truncate" }),
    );
    let job = Job::new(reader, writer)
        .transformer(plugin("order", json!({ "key": 0, "lanes": 3 })))
        .transformer(plugin("merge", json!({})))
        .channels(4);
    let run = scratch.run(&job).succeeds();
    assert_eq!(counts(&run), [2_000, 2_000, 0]);
    let written: Vec<String> =
        scratch.files().into_iter().filter(|name| name.starts_with("out/")).map(|name| scratch.read(&name)).collect();
    let [all] = &written[..] else { panic!("behind a merge there is one writer: {}", written.len()) };
    let mut last = std::collections::HashMap::new();
    for line in all.lines() {
        let (key, place) = line.split_once(',').unwrap();
        let (file, number) = place.split_once('-').unwrap();
        let number: u32 = number.parse().unwrap();
        let before = last.insert((key.to_string(), file.to_string()), number);
        assert!(before.is_none_or(|before| before < number), "{line} comes behind {before:?}");
    }
    assert_eq!(last.len(), 80);
}

/// Transformers behind `order` run in the lanes, those behind `merge` once; the figures add up.
#[test]
fn transformers_run_where_they_stand() {
    let scratch = Scratch::new();
    let filter = |value: &str| plugin("dx_filter", json!({ "columnName": "sequence", "paras": ["=", value] }));
    let job = Job::new(events(5_000), guarded("0"))
        .transformer(dedup())
        .transformer(filter("1"))
        .transformer(order(json!({})))
        .transformer(filter("2"))
        .transformer(plugin("merge", json!({})))
        .transformer(filter("3"));
    let run = scratch.run(&job).succeeds();
    let summary = run.summary();
    let counts = &summary["counts"];
    // The first, the second and the third event of each of the 50 clients.
    assert_eq!((counts["filtered"].as_u64(), counts["written"].as_u64()), (Some(150), Some(4_850)), "{run}");
}

#[test]
fn a_dirty_record_names_the_split_that_it_came_from() {
    for merge in [false, true] {
        let scratch = Scratch::new();
        for (name, lines) in [("a", "1,x\n2,\n3,z\n"), ("b", "1,\n5,v\n")] {
            scratch.write(format!("in/{name}.csv"), lines);
        }
        rusqlite::Connection::open(scratch.path("target.db"))
            .unwrap()
            .execute_batch("create table t (id int, name text not null)")
            .unwrap();
        let reader = plugin(
            "txtfilereader",
            json!({ "path": "in/*.csv", "fieldDelimiter": ",", "column": ["*"], "nullFormat": "" }),
        );
        let writer = plugin("sqlitewriter", json!({ "path": "target.db", "table": "t", "column": ["*"] }));
        let mut job = Job::new(reader, writer).transformer(plugin("order", json!({ "key": 0, "lanes": 4 })));
        if merge {
            job = job.transformer(plugin("merge", json!({})));
        }
        scratch.run(&job).succeeds();
        let mut dirty: Vec<String> = scratch
            .dirty_records()
            .iter()
            .map(|record| format!("{} {}", record["split"].as_str().unwrap(), record["position"]))
            .collect();
        dirty.sort();
        assert!(dirty.len() == 2 && dirty[0].contains("a.csv") && dirty[0].ends_with(" 2"), "{dirty:?}");
        assert!(dirty[1].contains("b.csv") && dirty[1].ends_with(" 1"), "{dirty:?}");
    }
}

#[test]
fn a_target_that_takes_one_task_has_one_lane() {
    let scratch = Scratch::new();
    let writer = plugin("sqlitewriter", json!({ "path": "target.db", "table": "t", "createTable": true }));
    let run = scratch.run(&Job::new(events(100), writer).transformer(order(json!({})))).succeeds();
    run.says(["1 of 8 lanes run, for the target takes no more tasks at once"]);
    assert_eq!(run.summary()["tasks"].as_array().unwrap().len(), 2);
}

/// A job over four lanes, with these faults on one of its sides.
fn failing(reader: Value, writer: Value) -> Job {
    let by_id = plugin("order", json!({ "key": "id", "lanes": 4, "batch": 100 }));
    Job::new(faulty_reader(reader), faulty_writer(writer)).transformer(by_id)
}

#[test]
fn when_a_lane_fails_no_lane_commits_and_nothing_hangs() {
    for (at, how) in [("write", "error:io"), ("flush", "error:io"), ("write", "panic"), ("prepare", "error:connect")] {
        let scratch = Scratch::new();
        let faults = json!({ "fail": [{ "at": at, "after": if at == "write" { 3000 } else { 0 }, "how": how }] });
        scratch.run(&failing(json!({ "records": 20_000 }), faults)).fails_with(1);
        assert_eq!(scratch.ids(), [0; 0], "{at} {how}");
    }
}

#[test]
fn when_a_reader_fails_no_lane_commits() {
    for how in ["error:io", "panic"] {
        let scratch = Scratch::new();
        let faults = json!({ "records": 20_000, "fail": [{ "at": "next", "after": 9_000, "how": how }] });
        scratch.run(&failing(faults, json!({}))).fails_with(1);
        assert_eq!(scratch.ids(), [0; 0], "{how}");
    }
}

#[test]
fn a_signal_ends_readers_and_lanes() {
    let scratch = Scratch::new();
    let hangs = json!({ "fail": [{ "at": "write", "how": "hang_until_cancelled", "marker": "hangs" }] });
    scratch.job("job.json", &failing(json!({ "records": 20_000 }), hangs));
    let mut running = scratch.transship(["run", "job.json"]).start();
    running.wait_for_file("hangs");
    running.signal(Signal::Terminate);
    running.finish().fails_with(143);
    assert_eq!(scratch.ids(), [0; 0]);
}

#[test]
fn what_is_wrong_is_told_by_check() {
    let scratch = Scratch::new();
    for (transformers, said) in [
        (vec![plugin("order", json!({}))], "job.content[0].transformer[0].parameter.key is required"),
        (vec![plugin("order", json!({ "key": 0, "lanes": 0 }))], "parameter.lanes is 0, but must be at least 1"),
        (vec![plugin("order", json!({ "key": 0, "dispatch": "random" }))], "parameter.dispatch"),
        (vec![plugin("merge", json!({}))], "there are no lanes here"),
        (vec![order(json!({})), order(json!({}))], "a job has one \"order\""),
        (vec![order(json!({})), plugin("merge", json!({})), plugin("merge", json!({}))], "the lanes were ended before"),
    ] {
        let mut job = Job::new(events(10), guarded("0"));
        for transformer in transformers {
            job = job.transformer(transformer);
        }
        scratch.job("job.json", &job);
        scratch.transship(["check", "job.json"]).run().fails_with(2).says([said]);
    }
    scratch.job("job.json", &Job::new(events(10), guarded("0")).transformer(order(json!({ "key": "nobody" }))));
    let run = scratch.transship(["run", "job.json"]).run().fails_with(1);
    run.says(["job.content[0].transformer[0].parameter.key is \"nobody\", and there is no such column"]);
}

#[test]
fn lanes_need_one_process() {
    let scratch = Scratch::new();
    scratch.job("job.json", &Job::new(events(10), guarded("0")).transformer(order(json!({}))));
    let run = scratch.transship(["prepare", "job.json"]).run();
    assert_ne!(run.code(), Some(0), "{run}");
    run.says(["its tasks share the memory of one process"]);
}

/// KA-21 and KA-23, from outside: the summary tells how long events waited, and for what.
#[test]
fn the_summary_tells_how_long_records_waited() {
    let scratch = Scratch::new();
    let job =
        Job::new(events(1_000), guarded("0")).transformer(dedup()).transformer(order(json!({ "created": "created" })));
    let run = scratch.run(&job).succeeds();
    let stages = run.summary()["stages"].clone();
    assert_eq!((&stages[0]["stage"], &stages[1]["stage"]), (&json!("dedup"), &json!("order")));
    let latencies = stages[1]["latencies"].as_array().unwrap();
    let names: Vec<&str> = latencies.iter().map(|latency| latency["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["start", "key wait", "lane wait"]);
    let written = run.summary()["counts"]["written"].clone();
    assert!(latencies.iter().all(|latency| latency["count"] == written), "{stages}");
}

/// A stream without an end, that is stopped: what was read is written, or nothing is.
#[test]
fn a_signal_drains_a_stream_or_aborts_it() {
    for (options, code, lines) in [(vec!["--drain"], 0, true), (vec![], 143, false)] {
        let scratch = Scratch::new();
        let replay = json!({ "replay": { "rate": 2000, "duplicates": 0 } });
        let writer = plugin("streamwriter", json!({ "path": "out", "fileName": "events" }));
        let job = Job::new(plugin("streamreader", replay), writer)
            .transformer(order(json!({ "lanes": 2 })))
            .transformer(plugin("merge", json!({})));
        scratch.job("job.json", &job);
        let arguments = ["run", "job.json", "--json", "--perf", "perf"].into_iter().chain(options);
        let mut running = scratch.transship(arguments).start();
        // The figures of its first second are there: it runs.
        running.wait_until("figures of a second", || {
            scratch.lines("perf").iter().any(|line| line.contains("second_micros"))
        });
        running.signal(Signal::Terminate);
        let run = running.finish();
        assert_eq!(run.code(), Some(code), "{run}");
        let written = scratch.files().iter().filter(|name| name.starts_with("out/")).count();
        assert_eq!(written > 0, lines, "{run}");
        if lines {
            let summary = run.summary();
            let [read, written, _] = counts(&run);
            assert!(read > 0 && read == written, "{run}");
            assert_eq!(summary["drained"], true);
            run.says(["drained: what had been read was written"]);
        }
    }
}

/// What a failed attempt had read is not there: a second one, which would read nothing, must not count as done.
#[test]
fn a_task_that_fails_while_a_run_is_drained_fails_the_run() {
    let scratch = Scratch::new();
    let fails = json!({ "at": "write", "how": "error:io", "marker": "failed" });
    let job = Job::new(faulty_reader(json!({ "records": 50 })), faulty_writer(json!({ "fail": [fails] })))
        .with("core.container.task.failOver", json!({ "maxRetryTimes": 3, "retryIntervalInMsec": 600_000 }));
    scratch.job("job.json", &job);
    let mut running = scratch.transship(["run", "job.json", "--json", "--drain"]).start();
    running.wait_for_stderr("failed and is repeated");
    running.signal(Signal::Terminate);
    running.finish().fails_with(1);
}

/// A source that has nothing to give for a while: what came last does not wait behind a merge for what comes next.
#[test]
fn a_flush_reaches_the_writer_behind_a_merge() {
    let scratch = Scratch::new();
    let job = Job::new(faulty_reader(json!({ "records": 50, "idle": true })), faulty_writer(json!({})))
        .transformer(plugin("order", json!({ "key": 0, "lanes": 2 })))
        .transformer(plugin("merge", json!({})));
    scratch.job("job.json", &job);
    let mut running = scratch.transship(["run", "job.json"]).start();
    running.wait_until("a flush behind the records", || {
        let journal = scratch.lines("journal");
        let last_records = journal.iter().rposition(|line| line.contains("took"));
        let last_flush = journal.iter().rposition(|line| line.contains("flush"));
        last_records.is_some() && last_flush > last_records
    });
    running.signal(Signal::Terminate);
    running.finish().fails_with(143);
}

//! `dedup` in whole jobs: what passes, over several files and tasks, what is counted and told, and what fails.

use transship_tests::records::number;
use transship_tests::{Finished, Job, Scratch, Value, faulty, faulty_reader, faulty_writer, json, plugin};

const UUID: &str = "0191b5a8-7c3e-7d10-8a4b-00c0ffee0001";

fn dedup(parameter: Value) -> Value {
    plugin("dedup", parameter)
}

/// Reads files of a client and an id, and writes what passes to the folder `out`.
fn files(pattern: &str, parameter: Value) -> Job {
    let column = |index: u32, name: &str| json!({ "index": index, "name": name, "type": "string" });
    let reader = json!({ "path": pattern, "column": [column(0, "client"), column(1, "id")], "nullFormat": "\\N" });
    let writer = json!({ "path": "out", "fileName": "passed", "writeMode": "truncate", "nullFormat": "null" });
    Job::new(plugin("txtfilereader", reader), plugin("txtfilewriter", writer)).transformer(dedup(parameter))
}

/// What has arrived in the folder `out`.
fn arrived(scratch: &Scratch) -> Vec<String> {
    let files = scratch.files().into_iter().filter(|file| file.starts_with("out/"));
    files.flat_map(|file| scratch.lines(file)).collect()
}

/// The records that pass, of one file.
#[track_caller]
fn passed(lines: &str, parameter: Value) -> Vec<String> {
    let scratch = Scratch::new();
    scratch.write("events.csv", lines);
    scratch.run(&files("events.csv", parameter)).succeeds();
    arrived(&scratch)
}

fn count(run: &Finished, name: &str) -> u64 {
    number(&run.summary(), &format!("/counts/{name}"))
}

/// What the stage tells under a name.
#[track_caller]
fn figure(run: &Finished, name: &str) -> u64 {
    let summary = run.summary();
    let figures = summary["stages"][0]["figures"].as_array().unwrap();
    let figure = figures.iter().find(|figure| figure["name"] == name);
    figure.unwrap_or_else(|| panic!("no {name} in {figures:?}"))["value"].as_u64().unwrap()
}

#[test]
fn the_first_record_of_a_key_passes_and_the_others_are_counted_as_duplicates() {
    let scratch = Scratch::new();
    scratch.write("events.csv", "1,a\n2,b\n1,a\n3,a\n2,c\n");
    let run = scratch.run(&files("events.csv", json!({ "key": "id" }))).succeeds();
    assert_eq!(arrived(&scratch), ["1,a", "2,b", "2,c"], "{run}");
    run.says([
        "read 5 + added 0 = written 3 + filtered 0 + duplicates 2 + dirty 0",
        "window 10s, at most 64 MiB: distinct 3, duplicates 2",
    ]);
    assert_eq!((count(&run, "duplicates"), count(&run, "filtered")), (2, 0));
    assert_eq!((figure(&run, "distinct"), figure(&run, "duplicates"), figure(&run, "evicted")), (3, 2, 0));
}

/// KA-14: each task meets each id once or more.
#[test]
fn tasks_on_several_channels_let_each_id_through_once() {
    let scratch = Scratch::new();
    for file in 0..8_u64 {
        // Each begins elsewhere, so that they do not meet the ids in the same order.
        let lines = (0..5_000).map(|line| format!("{file},{}\n", (line * 7 + file * 611) % 3_000));
        scratch.write(format!("events-{file}.csv"), lines.collect::<String>());
    }
    let job = files("events-*.csv", json!({ "key": ["id"], "window": 0 })).channels(4);
    let run = scratch.run(&job).succeeds();
    let mut ids: Vec<u64> =
        arrived(&scratch).iter().map(|line| line.split_once(',').unwrap().1.parse().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..3_000).collect::<Vec<_>>());
    assert_eq!(
        (count(&run, "read"), count(&run, "written"), count(&run, "duplicates")),
        (40_000, 3_000, 37_000),
        "{run}"
    );
}

/// KA-17, without lanes behind it.
#[test]
fn of_a_stream_with_duplicates_each_event_passes_once() {
    let scratch = Scratch::new();
    let replay = json!({ "clients": 50, "events": 50_000, "realTime": false, "seed": 11, "duplicates": 0.01 });
    let reader = plugin("streamreader", json!({ "replay": replay }));
    let job =
        Job::new(reader, plugin("streamwriter", json!({ "print": false }))).transformer(dedup(json!({ "key": "id" })));
    let run = scratch.run(&job).succeeds();
    assert_eq!(count(&run, "written"), 50_000, "{run}");
    assert_eq!(count(&run, "duplicates"), count(&run, "read") - 50_000);
    assert!((300..700).contains(&count(&run, "duplicates")), "{run}");
    assert_eq!(figure(&run, "distinct"), 50_000);
}

#[test]
fn a_uuid_is_the_same_however_it_is_spelt() {
    let (upper, bare) = (UUID.to_uppercase(), UUID.replace('-', ""));
    let lines = format!("1,{UUID}\n2,{upper}\n3,{bare}\n4,{{{UUID}}}\n5,urn:uuid:{UUID}\n6,other\n7,other\n8,Other\n");
    let clients = |parameter: Value| -> String {
        passed(&lines, parameter).iter().map(|line| line.split(',').next().unwrap().to_string()).collect()
    };
    assert_eq!(clients(json!({ "key": "id", "type": "uuid" })), "168");
    assert_eq!(clients(json!({ "key": "id" })), "1234568", "texts differ");
    assert_eq!(clients(json!({ "key": "id", "type": "uuid", "malformed": "dirty" })), "1");
}

#[test]
fn a_malformed_uuid_is_kept_with_its_line_and_value() {
    let scratch = Scratch::new();
    scratch.write("events.csv", format!("1,{UUID}\n2,\n3,{UUID}\n4,none\n"));
    let job = files("events.csv", json!({ "key": "id", "type": "uuid", "malformed": "dirty" }));
    let run = scratch.run(&job).succeeds();
    run.says(["read 4 + added 0 = written 1 + filtered 0 + duplicates 1 + dirty 2"]);
    let dirty = scratch.dirty_records();
    assert_eq!((&dirty[1]["position"], &dirty[1]["plugin"]), (&json!(4), &json!("dedup")), "{dirty:?}");
    assert_eq!((&dirty[1]["column"], &dirty[1]["value"]), (&json!("id"), &json!("none")));
    assert_eq!(dirty[1]["cause"], "it is no UUID");
}

#[test]
fn null_is_no_duplicate_unless_the_job_says_so() {
    let lines = "1,\\N\n1,\\N\n1,a\n\\N,a\n\\N,a\n";
    assert_eq!(passed(lines, json!({ "key": "id" })), ["1,null", "1,null", "1,a"]);
    assert_eq!(passed(lines, json!({ "key": "id", "nulls": "equal" })), ["1,null", "1,a"]);
    assert_eq!(passed(lines, json!({ "key": ["client", "id"] })).len(), 5);
    assert_eq!(passed(lines, json!({ "key": [0, 1], "nulls": "equal" })), ["1,null", "1,a", "null,a"]);
}

/// KA-16: 100,000 ids come, and there is room for few of them.
#[test]
fn ids_for_which_there_is_no_room_are_told_of_loudly() {
    let scratch = Scratch::new();
    let sequence = |name: &str| json!({ "name": name, "type": "LONG", "sequence": "0,1" });
    let reader = json!({ "column": [sequence("id")], "sliceRecordCount": 100_000 });
    let job = Job::new(plugin("streamreader", reader), plugin("streamwriter", json!({ "print": false })))
        .transformer(dedup(json!({ "key": "id", "window": "1 h", "capacity": "610 KiB" })));
    let run = scratch.run(&job).succeeds();
    let remembered = 610 * 1024 / 61;
    assert_eq!((count(&run, "written"), figure(&run, "evicted")), (100_000, 100_000 - remembered), "{run}");
    assert_eq!(figure(&run, "remembered"), remembered);
    run.says([
        "window 1h, at most 610 KiB",
        "keys were evicted before the window was over: duplicates of them may have come through; a larger capacity than 610 KiB",
    ]);
}

/// With so many attempts at each task, and no pause between them.
fn attempts(job: Job) -> Job {
    job.with("core.container.task.failOver.maxRetryTimes", 3)
        .with("core.container.task.failOver.retryIntervalInMsec", 1)
}

#[test]
fn an_attempt_that_is_repeated_does_not_take_its_own_records_for_duplicates() {
    for (at, side) in [("next", "reader"), ("write", "writer"), ("commit_task", "writer")] {
        let scratch = Scratch::new();
        let fault =
            json!({ "at": at, "after": 50, "how": "error:io", "times": 2, "counter": "counter", "retryable": true });
        let fails = |here: &str, more: Value| if here == side { json!({ "fail": fault }) } else { more };
        let job = faulty(fails("reader", json!({})), fails("writer", json!({})));
        let job = job.transformer(dedup(json!({ "key": "id", "window": "1 h" })));
        let run = scratch.run(&attempts(job)).succeeds();
        assert_eq!(scratch.ids(), (1..=100).collect::<Vec<_>>(), "{at}: {run}");
        assert_eq!((count(&run, "written"), count(&run, "duplicates")), (100, 0), "{at}: {run}");
        assert_eq!((figure(&run, "distinct"), figure(&run, "duplicates")), (100, 0), "{at}: {run}");
    }
}

/// KA-18: two splits hold the same records, the writer refuses every tenth that it is given.
#[test]
fn the_id_of_a_record_that_the_writer_refuses_may_come_again_if_the_job_says_so() {
    for (forget, written) in [(false, 90), (true, 99)] {
        let scratch = Scratch::new();
        let lines: String = (0..100).map(|id| format!("{id},{id}\n")).collect();
        ["1.csv", "2.csv"].iter().for_each(|file| drop(scratch.write(file, &lines)));
        let reader = json!({ "path": "*.csv", "column": [{ "index": 0, "name": "id", "type": "long" }] });
        let writer = faulty_writer(json!({ "dirtyEvery": 10 }));
        let key = json!({ "key": "id", "window": 0, "forgetOnFailure": forget });
        let job = Job::new(plugin("txtfilereader", reader), writer).transformer(dedup(key));
        let run = scratch.run(&job).succeeds();
        assert_eq!(count(&run, "written"), written, "{run}");
        let dirty = count(&run, "dirty_at_writer");
        assert_eq!(
            (dirty, count(&run, "duplicates")),
            (200 - written - count(&run, "duplicates"), 200 - written - dirty)
        );
        if forget {
            assert_eq!(figure(&run, "forgotten"), dirty, "{run}");
        }
    }
}

#[test]
fn what_is_wrong_with_its_parameters_is_told_with_their_place() {
    let scratch = Scratch::new();
    let refused = |parameter: Value, messages: &[&str]| {
        scratch.job("job.json", &files("*.csv", parameter));
        let run = scratch.transship(["check", "job.json"]).run().fails_with(2);
        run.says(messages.iter().copied());
    };
    refused(json!({}), &["job.content[0].transformer[0].parameter.key is required"]);
    refused(
        json!({ "key": "id", "window": "a while", "malformed": "maybe" }),
        &["transformer[0].parameter.window must be a length of time", "transformer[0].parameter.malformed"],
    );
    refused(json!({ "key": ["id", true] }), &["transformer[0].parameter.key[1] must be a column's name"]);
    // A misspelt key is warned about, as everywhere.
    scratch.job("job.json", &files("*.csv", json!({ "key": "id", "windw": 5 })));
    scratch.transship(["check", "job.json"]).run().succeeds().says(["parameter.windw", "did you mean \"window\""]);
}

#[test]
fn a_column_that_is_not_there_is_told_with_those_that_are() {
    let scratch = Scratch::new();
    scratch.write("events.csv", "1,a\n");
    let run = scratch.run(&files("events.csv", json!({ "key": "uuid" }))).fails_with(1);
    run.says(["transformer[0].parameter.key is \"uuid\", and there is no such column: the columns are client, id"]);
}

#[test]
fn it_is_listed_and_part_of_the_schema() {
    let scratch = Scratch::new();
    let tells = |arguments: &[&str], texts: &[&str]| {
        let run = scratch.transship(arguments.iter().copied()).run().succeeds();
        texts.iter().for_each(|text| assert!(run.stdout.contains(text), "{text} is not in\n{run}"));
    };
    tells(&["plugins"], &["dedup"]);
    tells(&["plugins", "dedup"], &["window", "forgetOnFailure", "10 s", "64 MiB"]);
    tells(&["schema"], &["\"dedup\"", "\"forgetOnFailure\""]);
}

#[test]
fn it_is_refused_where_tasks_run_in_processes_of_their_own() {
    let scratch = Scratch::new();
    let job = Job::new(faulty_reader(json!({ "splits": 2 })), faulty_writer(json!({})))
        .transformer(dedup(json!({ "key": "id" })));
    scratch.job("job.json", &job);
    let run = scratch.transship(["prepare", "job.json"]).run();
    assert_ne!(run.code(), Some(0), "{run}");
    run.says(["dedup"]);
}

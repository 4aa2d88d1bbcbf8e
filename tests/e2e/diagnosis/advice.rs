//! What is said of limits that are neither reader nor writer, and that advice names only what would help.

use transship_tests::records::{json_lines, number, text};
use transship_tests::{Job, Scratch, Value, faulty, json, plugin};

use super::{delay, diagnosis, diagnosis_of_killed, has_seconds, limit_is, recorded};

/// Runs a program on the first CPU that this process may use, beside loops that never end and want the same.
const STARVED: &str = r#"
    cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
    taskset -cp "$cpu" $$ >/dev/null
    for loop in 1 2 3 4 5 6; do
        while :; do :; done &
        loops="$loops $!"
    done
    "$@"
    code=$?
    kill $loops
    exit $code
"#;

#[track_caller]
fn says(told: &Value, part: &str, words: &str) {
    assert_eq!(text(told, "/limit/part"), part, "{}\n{}", told["limit"], told["parts"]);
    assert!(text(told, "/limit/sentence").contains(words), "{}", told["limit"]);
}

#[test]
fn what_takes_long_after_the_commit_is_named() {
    limit_is("post", &faulty(json!({}), json!({ "fail": delay("post", 400) })));
    limit_is("post", &faulty(json!({ "fail": delay("post", 400) }), json!({})));
}

#[test]
fn of_a_killed_run_what_comes_after_the_commit_has_its_time() {
    let job = faulty(json!({}), json!({ "fail": { "at": "post", "how": "hang" } }));
    let told = diagnosis_of_killed(&Scratch::new(), &job, |records| has_seconds(records, 4));
    says(&told, "post", "had been in `post` (");
    assert!(told["limit"]["share"].as_f64().unwrap() <= 1.0, "{told}");
}

#[test]
fn a_run_that_gets_no_cpu_is_said_to_wait_for_one() {
    let reader = json!({ "column": [{ "random": "1,1000000", "type": "long" }], "sliceRecordCount": 2_000_000 });
    let writer = plugin("streamwriter", json!({ "print": false }));
    let scratch = Scratch::new();
    scratch.job("job.json", &Job::new(plugin("streamreader", reader), writer));
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).within(STARVED).run().succeeds();
    let told = recorded(&scratch);
    says(&told, "cpu", "threads that could run waited for a CPU for ");
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let reading = lines.iter().find(|line| line["phase"] == "READ_TASK_DATA").unwrap();
    let (used, waited) = (number(reading, "/cpu_nanos"), number(reading, "/cpu_wait_nanos"));
    assert!(waited > used && used + waited <= number(reading, "/elapsed_nanos") * 11 / 10, "{reading}");
}

#[test]
fn a_target_that_takes_a_task_at_a_time_is_named_however_many_channels_wait_for_it() {
    for channels in [2, 4] {
        let reader = json!({ "splits": channels, "records": 100 });
        let writer = json!({ "maxOpenTasks": 1, "fail": delay("write", 20) });
        let told = diagnosis(&Scratch::new(), &faulty(reader, writer).channels(channels));
        says(&told, "target", "it takes one task at once and was busy for ");
        says(&told, "target", "more channels would not help");
    }
}

#[test]
fn of_a_killed_run_a_writer_that_lags_behind_is_named_though_its_channel_is_not_full() {
    let job = faulty(json!({ "records": 1_000_000, "fail": delay("next", 20) }), json!({ "fail": delay("write", 60) }));
    let told = diagnosis_of_killed(&Scratch::new(), &job, |records| has_seconds(records, 3));
    says(&told, "writer", "the writer is the limit");
}

#[test]
fn the_longest_call_is_told_with_what_the_plugin_did() {
    let hangs = json!({ "at": "prepare", "how": "hang", "message": "lock table t" });
    let scratch = Scratch::new();
    let job = faulty(json!({}), json!({ "fail": hangs }));
    let told = diagnosis_of_killed(&scratch, &job, |records| has_seconds(records, 4));
    assert_eq!(text(&told, "/longest_call/call"), "prepare", "{told}");
    let shown = scratch.transship(["perf", "perf.jsonl"]).run().succeeds();
    assert!(shown.stdout.contains("\n  longest call: job job in `prepare` (lock table t), "), "{shown}");
}

#[test]
fn a_writer_that_waits_for_its_target_is_told_to_do_so() {
    let told = diagnosis(&Scratch::new(), &faulty(json!({ "records": 400 }), json!({ "fail": delay("write", 10) })));
    says(
        &told,
        "writer",
        "it waits for its target nearly all of that time; there was one task, and more channels only",
    );
}

#[test]
fn the_header_says_what_reader_and_writer_can_be_tuned_by() {
    let scratch = Scratch::new();
    scratch.write("in.csv", "1\n2\n");
    let reader = plugin("txtfilereader", json!({ "path": ["in.csv"], "column": ["*"] }));
    let table = json!({ "path": "out.db", "table": "t", "column": ["a"], "preSql": ["create table t (a int)"] });
    diagnosis(&scratch, &Job::new(reader, plugin("sqlitewriter", table)));
    let header = &json_lines(&scratch.read("perf.jsonl"))[0];
    // It takes `batchSize` too, which has no effect.
    assert_eq!(header["tuning"], json!({ "reader": ["splitBytes"], "writer": ["preSql", "postSql"] }));
    assert_eq!(number(header, "/target_tasks"), 1);
}

//! The `lookup` transformer in whole jobs: each record leaves exactly once whatever its lookup does, in the order that is promised,
//! and a lookup that misbehaves harms nothing else.

mod ends;
mod policies;
mod sqlite;
mod twice;

use transship_tests::records::{json_lines, number, text};
use transship_tests::{Finished, Job, Scratch, Value, faulty_reader, json, plugin};

/// A job that looks each id of the faulty reader up in the faulty lookup, and prints what comes through.
fn job(reader: Value, lookup: Value, transformer: Value) -> Job {
    let lookup = json!({ "name": "faultylookup", "parameter": lookup });
    Job::new(faulty_reader(reader), plugin("streamwriter", json!({}))).transformer(asking(lookup, transformer))
}

/// A `lookup` transformer that asks this for the column `id`, with more parameters.
fn asking(lookup: Value, mut parameter: Value) -> Value {
    parameter["lookup"] = lookup;
    parameter["key"] = json!("id");
    plugin("lookup", parameter)
}

fn run(scratch: &Scratch, job: &Job) -> Finished {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json"]).run()
}

/// The id of each record that was printed and what was found for it, in the order in which they arrived.
fn printed(run: &Finished) -> Vec<(u64, Option<String>)> {
    let read = |line: &str| {
        let mut cells = line.split('\t');
        let id = cells.next().and_then(|id| id.parse().ok()).expect("a record begins with its id");
        (id, cells.next_back().filter(|found| *found != "null").map(String::from))
    };
    run.stdout.lines().take_while(|line| line.contains('\t')).map(read).collect()
}

#[test]
fn how_long_answers_took_is_measured_with_a_histogram_of_the_whole_run() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job(json!({ "records": 60 }), json!({ "delayMillis": 20, "mostKeys": 10 }), json!({})));
    let run = scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    run.says(["answer    ms: count 6, "]);
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let whole = lines.iter().find(|line| line["type"] == "stage" && line["second_micros"].is_null());
    let answer = &whole.expect("the stage of the whole run")["latencies"][0];
    assert_eq!((text(answer, "/name"), number(answer, "/count")), ("answer", 6));
    assert!(number(answer, "/min") >= 20_000, "{answer}");
    let buckets = answer["buckets"].as_array().unwrap();
    assert_eq!(buckets.iter().map(|bucket| number(bucket, "/count")).sum::<u64>(), 6, "{answer}");
}

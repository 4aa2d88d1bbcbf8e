//! What docs/job-files.md and `transship --help` promise of job files and of the command lines that go with them.

use transship_tests::{Finished, Scratch, Value, faulty, json};

mod check;
mod command_line;
mod contents;
mod dialect;
mod fetched;
mod limits;
mod oddities;
mod refused_early;
mod variables;

/// Runs a job that prints one record with this text as its value, which is written as it is: with its quotes.
fn echo(scratch: &Scratch, value: &str, options: &[&str]) -> Finished {
    scratch.write("job.json", printing(value));
    scratch.transship(["run", "job.json"].iter().chain(options)).run()
}

/// The job of `echo`.
fn printing(value: &str) -> String {
    format!(
        r#"{{ "job": {{
  "setting": {{ "speed": {{ "channel": 1 }} }},
  "content": [{{
    "reader": {{ "name": "streamreader", "parameter": {{ "sliceRecordCount": 1, "column": [
      {{ "value": {value} }}
    ] }} }},
    "writer": {{ "name": "streamwriter" }}
  }}]
}} }}"#
    )
}

/// A job from the faulty reader to the faulty writer with two entries: three records go to `first`, four to `second`.
fn two_entries() -> Value {
    let entry = |records: u32, target: &str| {
        faulty(json!({ "records": records }), json!({ "target": target })).tree()["job"]["content"][0].clone()
    };
    let content = json!([entry(3, "first"), entry(4, "second")]);
    json!({ "job": { "setting": { "speed": { "channel": 1 } }, "content": content } })
}

/// The warnings of a run.
fn warnings(run: &Finished) -> Vec<&str> {
    run.stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).collect()
}

/// The first lines of its errors.
fn errors(run: &Finished) -> Vec<&str> {
    run.stderr.lines().filter_map(|line| line.strip_prefix("error: ")).collect()
}

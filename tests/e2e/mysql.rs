//! MySQL and MariaDB, read and written by whole jobs against a real server; what is in the tables is told by the mariadb client.

mod cases;
mod failure;
mod locks;
mod messages;
mod progress;
mod reading;
mod settings;
mod values;
mod writing;
mod zones;

use transship_tests::{Database, Finished, Job, Scratch, Value, json, plugin};

fn reader(database: &Database, parameter: Value) -> Value {
    plugin("mysqlreader", database.parameter(parameter))
}

fn writer(database: &Database, parameter: Value) -> Value {
    plugin("mysqlwriter", database.parameter(parameter))
}

/// All columns of a table into all columns of another, by their places.
fn copy(database: &Database, from: &str, to: &str) -> Job {
    Job::new(
        reader(database, json!({ "table": [from], "column": ["*"] })),
        writer(database, json!({ "table": [to], "column": ["*"] })),
    )
}

/// A file whose lines have commas between values.
fn lines(path: &str) -> Value {
    plugin("txtfilereader", json!({ "path": path, "fieldDelimiter": ",", "column": ["*"], "nullFormat": "\\N" }))
}

/// Runs a job whose records may be printed, so the summary is the one for people.
fn run_job(scratch: &Scratch, job: &Job) -> Finished {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json"]).run()
}

/// Prints records: values between tabs.
fn printer() -> Value {
    plugin("streamwriter", json!({ "print": true }))
}

/// What a run has printed, sorted.
fn sorted(printed: &str) -> Vec<&str> {
    let mut lines: Vec<_> = printed.lines().collect();
    lines.sort_unstable();
    lines
}

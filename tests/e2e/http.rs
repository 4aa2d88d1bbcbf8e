//! JSON over HTTP against a real server: pages, errors, delays, broken connections, and a server that says nothing more.

mod encrypted;
mod lookup;
mod reading;
mod secrets;
mod trouble;
mod writing;

use transship_tests::http::{Reply, Request};
use transship_tests::{Finished, Job, Scratch, Value, json, plugin};

/// Prints what a reader reads, with a bar between values.
fn printing(parameter: Value) -> Job {
    Job::new(plugin("httpreader", parameter), plugin("streamwriter", json!({ "print": true, "fieldDelimiter": "|" })))
}

fn run(scratch: &Scratch, job: &Job) -> Finished {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json"]).run()
}

/// The lines that a reader's records are printed as.
fn printed(parameter: Value) -> Vec<String> {
    let scratch = Scratch::new();
    run(&scratch, &printing(parameter)).succeeds().stdout.lines().map(String::from).collect()
}

/// Records with numbers from a first to one before the last.
fn records(numbers: std::ops::Range<u64>) -> Vec<Value> {
    numbers.map(|number| json!({ "id": number })).collect()
}

fn numbers(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

/// A page of ten of thirty-five records, by number.
fn page_of_35(number: u64) -> Vec<Value> {
    records((number * 10).min(35)..(number * 10 + 10).min(35))
}

fn number_in(request: &Request, name: &str) -> u64 {
    request.query(name).map_or(0, |text| text.parse().unwrap())
}

fn reply(body: Value) -> Reply {
    Reply::ok(body.to_string())
}

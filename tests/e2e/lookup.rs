//! The `lookup` transformer in whole jobs: each record leaves exactly once whatever its lookup does, in the order that is promised,
//! and a lookup that misbehaves harms nothing else.

mod ends;
mod policies;
mod sqlite;
mod twice;

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

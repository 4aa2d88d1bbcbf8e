//! The compatibility page, held against the tests: each trap of DataX has one line there, and what a line claims is shown by
//! tests that carry the trap's number. Below, traps that jobs of the program itself can show; others are shown beside the code
//! that they are about.

use std::collections::BTreeSet;

use transship_tests::{Finished, Job, Scratch, Value, json, plugin};

mod job_files;
mod marks;
mod page;
mod runs;
mod tables;
mod transformers;
mod values;

use marks::marks;
use page::{Tests, Verdict};

/// How many traps there are.
const TRAPS: u32 = 92;

#[test]
fn every_trap_has_one_line() {
    let numbers: Vec<u32> = page::lines().iter().map(|line| line.trap).collect();
    assert_eq!(numbers, (1..=TRAPS).collect::<Vec<_>>());
}

#[test]
fn what_is_claimed_is_shown_by_a_test() {
    let tests = marks();
    for line in page::lines() {
        let shown = tests.contains_key(&line.trap);
        assert_eq!(shown, line.verdict.needs_a_test(), "trap {}: {:?}, but tests: {shown}", line.trap, line.verdict);
        // Only what is quite the same needs no words.
        assert!(line.verdict == Verdict::Same || !line.reason.is_empty(), "trap {}: no reason is given", line.trap);
    }
}

#[test]
fn the_page_and_the_tests_name_each_other() {
    let marked = marks();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        page::list(&marked);
    }
    let flat = |tests: Tests| -> BTreeSet<(u32, String)> {
        tests.into_iter().flat_map(|(trap, names)| names.into_iter().map(move |name| (trap, name))).collect()
    };
    let (named, marked) = (flat(page::tests()), flat(marked));
    let without: Vec<_> = named.difference(&marked).collect();
    assert!(without.is_empty(), "named by the page, but no test of that name carries the number: {without:#?}");
    let unnamed: Vec<_> = marked.difference(&named).collect();
    assert!(unnamed.is_empty(), "not named by the page (UPDATE_EXPECT=1 lists them): {unnamed:#?}");
}

/// The writer that prints.
fn printer() -> Value {
    plugin("streamwriter", json!({}))
}

/// A reader that makes so many records, in each task, of columns that are constants.
fn constants(records: u32, columns: Value) -> Value {
    plugin("streamreader", json!({ "sliceRecordCount": records, "column": columns }))
}

/// A reader of a text file with these columns, by type.
fn file(path: &str, types: &[&str]) -> Value {
    let column = |(index, kind): (usize, &&str)| json!({ "index": index, "type": kind });
    plugin("txtfilereader", json!({ "path": path, "column": types.iter().enumerate().map(column).collect::<Vec<_>>() }))
}

/// Runs a job that prints its records.
fn run(scratch: &Scratch, job: &Job) -> Finished {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json"]).run()
}

/// Runs a job file as it is written here.
fn run_text(scratch: &Scratch, text: &str, options: &[&str]) -> Finished {
    scratch.write("job.json", text);
    scratch.transship(["run", "job.json"].iter().chain(options)).run()
}

/// The records that a job prints, in order of their text: tasks run side by side.
#[track_caller]
fn printed(job: &Job) -> Vec<String> {
    let scratch = Scratch::new();
    sorted(&run(&scratch, job).succeeds())
}

fn sorted(run: &Finished) -> Vec<String> {
    let mut lines: Vec<String> = run.stdout.lines().map(String::from).collect();
    lines.sort();
    lines
}

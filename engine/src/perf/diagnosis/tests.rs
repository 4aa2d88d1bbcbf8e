//! What follows from records that no run would write twice alike.

use super::*;

mod limits;

const RUN: &str = r#"{"type":"run","version":1,"run":"r","job":"j","start_micros":1000000}"#;
const END: &str = r#"{"type":"end","micros":9000000,"result":"failed","read":0,"read_bytes":0,"written":0,"filtered":0,"duplicates":0,"dirty":0}"#;

/// What is said of a run with these lines; the run and the job of each are added.
fn told_of(lines: &[String]) -> Diagnosis {
    told_with("", lines)
}

/// The same where the header has more fields, each with a comma behind it.
fn told_with(fields: &str, lines: &[String]) -> Diagnosis {
    let header = RUN.replacen('{', &format!("{{{fields}"), 1);
    let lines: Vec<String> = lines.iter().map(|line| line.replacen('{', r#"{"run":"r","job":"j","#, 1)).collect();
    of(&Recording::read(&format!("{header}\n{}\n", lines.join("\n"))).unwrap()[0])
}

/// A phase of the job that begins then and takes so long, in seconds.
fn phase(phase: &str, begin: f64, seconds: f64) -> String {
    let (start_micros, nanos) = ((begin * 1e6) as u64, (seconds * 1e9) as u64);
    format!(r#"{{"type":"phase","phase":"{phase}","start_micros":{start_micros},"elapsed_nanos":{nanos}}}"#)
}

/// An attempt at a task on a channel of its own: what became of it and how long it took, in seconds.
fn attempt(number: u32, result: &str, seconds: f64) -> [String; 2] {
    let begin = format!(
        r#"{{"type":"task","task":"t{number}","number":{number},"split":"split {number}","attempt":1,"slot":{number},"start_micros":2000000}}"#
    );
    let total = phase("TASK_TOTAL", 2.0, seconds).replacen(
        '{',
        &format!(r#"{{"task":"t{number}","attempt":1,"result":"{result}","#),
        1,
    );
    [begin, total]
}

#[track_caller]
fn is_about(expected: f64, seconds: f64) {
    assert!((seconds - expected).abs() < 0.001, "{seconds} instead of {expected}");
}

#[test]
fn a_job_that_failed_before_records_moved_took_no_longer_than_that() {
    let lines = [phase("JOB_PREPARE", 1.0, 1.5), phase("JOB_DESTROY", 2.5, 0.1), END.into()];
    let told = told_of(&lines);
    assert_eq!(told.moving_seconds, 0.0);
    is_about(1.6, told.wall_seconds);
    assert_eq!(told.limit.part, Part::Prepare);
    is_about(1.5 / 1.6, told.limit.share);
    // It was killed before it could say how it ended.
    let killed = told_of(&lines[..2]);
    is_about(1.6, killed.wall_seconds);
    is_about(0.0, killed.moving_seconds);
}

#[test]
fn of_a_killed_run_the_time_since_it_was_made_ready_is_that_in_which_records_moved() {
    let second = r#"{"type":"second","micros":5000000,"read_records":3,"read_bytes":4,"written_records":2,"queued_records":1,"queued_bytes":1,"fill":0.25,"open_tasks":1,"tasks_known":1,"tasks_done":0,"wait_for_reader_nanos":0,"wait_for_writer_nanos":0}"#;
    let told = told_of(&[phase("JOB_PREPARE", 1.0, 1.5), second.into()]);
    is_about(2.5, told.moving_seconds);
    is_about(4.0, told.wall_seconds);
}

#[test]
fn slots_are_busy_with_tasks_that_fail_as_well() {
    let run = |others: [&str; 4], seconds: f64| {
        let done = [(0, 0.1), (1, 0.05), (2, 0.9)].map(|(number, seconds)| attempt(number, "done", seconds));
        let others = (3..).zip(others).map(|(number, result)| attempt(number, result, seconds));
        let moved = [phase("JOB_SCHEDULE", 2.0, 1.0), END.into()];
        told_of(&done.into_iter().chain(others).flatten().chain(moved).collect::<Vec<_>>())
    };
    let busy = run(["failed", "cancelled", "cancelled", "cancelled"], 1.0);
    assert_ne!(busy.limit.part, Part::OneSplit, "nobody waited for it");
    let skew = busy.skew.unwrap();
    assert_eq!((skew.tasks, skew.longest_split.as_str()), (3, "split 2"), "one that failed tells nothing of its size");
    is_about(1.0 - 5.05 / 7.0, skew.idle);
    let idle = run(["done"; 4], 0.1);
    assert_eq!(idle.limit.part, Part::OneSplit);
    is_about(1.0 - 1.45 / 7.0, idle.skew.unwrap().idle);
}

#[test]
fn what_failed_is_listed_first_and_what_was_cancelled_by_its_time() {
    let attempts = [attempt(0, "done", 0.9), attempt(1, "failed", 0.2), attempt(2, "cancelled", 0.4)];
    let told = told_of(attempts.as_flattened());
    let (tasks, lanes) = told.listed();
    assert_eq!(tasks.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 0, 2]);
    assert!(lanes.is_empty());
}

//! What is read of a file of perf records.

use super::*;

const HEADER: &str = r#"{"type":"run","version":1,"run":"r","job":"j","start_micros":5}"#;

#[test]
fn lines_find_their_run_and_a_torn_last_line_is_left_out() {
    let text = format!(
        "{HEADER}\n{}\n{}\n{}\n{{\"type\":\"pha",
        r#"{"type":"task","run":"r","job":"j","task":"t","number":0,"split":"a","attempt":1,"slot":0,"start_micros":6}"#,
        r#"{"type":"phase","run":"r","job":"j","task":"t","attempt":1,"phase":"READ_TASK_DATA","start_micros":7,"elapsed_nanos":1500000000}"#,
        r#"{"type":"second","run":"r","job":"j","micros":9,"read_records":3,"read_bytes":4,"written_records":2,"queued_records":1,"queued_bytes":1,"fill":0.25,"open_tasks":1,"tasks_known":1,"tasks_done":0,"wait_for_reader_nanos":0,"wait_for_writer_nanos":0}"#,
    );
    let all = Recording::read(&text).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].tasks[0].slot, all[0].seconds[0].fill), (Some(0), 0.25));
    let attempts = all[0].attempts();
    let reading = attempts[0].of(Phase::ReadTaskData).map(|line| line.elapsed_nanos);
    assert_eq!((attempts.len(), reading, attempts[0].result()), (1, Some(1_500_000_000), "open"));
    assert_eq!(all[0].end, None);
}

#[test]
fn what_is_no_recording_is_refused_with_its_line() {
    let refused = |text: &str| Recording::read(text).unwrap_err();
    assert!(refused("").contains("no perf records"));
    assert!(refused("{}\n").starts_with("line 1: "));
    assert!(refused("# a page\n").starts_with("line 1: this is no perf record"));
    assert!(refused(&format!("{HEADER}\nnonsense\n{HEADER}\n")).starts_with("line 2: "));
    assert!(refused(&HEADER.replace("\"version\":1", "\"version\":99")).contains("version 99"));
}

const TASK: &str =
    r#"{"type":"task","run":"r","job":"j","task":"t","number":0,"split":"a","attempt":1,"start_micros":6}"#;
const SECOND: &str = r#"{"type":"second","run":"r","job":"j","micros":9,"read_records":3,"read_bytes":4,"written_records":2,"queued_records":1,"queued_bytes":1,"fill":0.25,"open_tasks":1,"tasks_known":1,"tasks_done":0,"wait_for_reader_nanos":0,"wait_for_writer_nanos":0,"open_readers_nanos":{"READ_TASK_DATA":5,"READ_TASK_NEW":6}}"#;

#[test]
fn what_a_newer_version_has_added_is_left_out() {
    let total = r#"{"type":"phase","run":"r","job":"j","task":"t","attempt":1,"phase":"TASK_TOTAL","start_micros":7,"elapsed_nanos":1000,"result":"postponed","new":[1]}"#;
    let of_new_phase = total.replace("TASK_TOTAL", "READ_TASK_NEW");
    let stage =
        r#"{"type":"stage","run":"r","job":"j","stage":"s","figures":[{"name":"waiting","kind":"rate","value":1.5}]}"#;
    let of_new_type = r#"{"type":"weather","run":"r","job":"j"}"#;
    let text = [HEADER, TASK, total, &of_new_phase, SECOND, stage, of_new_type].join("\n");
    let all = Recording::read(&text).unwrap();
    let phases: Vec<Phase> = all[0].phases.iter().map(|line| line.phase).collect();
    assert_eq!(phases, [Phase::TaskTotal]);
    assert_eq!(all[0].seconds[0].open_readers_nanos, BTreeMap::from([(Phase::ReadTaskData, 5)]));
    let attempt = &all[0].attempts()[0];
    assert_eq!((attempt.result(), attempt.was_aborted()), ("postponed", true), "it is not known to be done");
    assert_eq!(all[0].stages.len(), 1);
}

#[test]
fn a_field_that_is_null_is_absent() {
    let header = HEADER.replace('}', r#","contents":null,"transformers":null,"setting":null}"#);
    let second = SECOND.replace(r#""micros":9"#, r#""micros":9,"dirty_records":null,"longest_call":null"#);
    let all = Recording::read(&format!("{header}\n{second}\n")).unwrap();
    assert_eq!((all[0].run.contents, all[0].seconds[0].dirty_records), (0, 0));
    let refused = Recording::read(&format!("{HEADER}\n{}\n", TASK.replace("\"a\"", "null"))).unwrap_err();
    assert!(refused.contains("missing field `split`"), "{refused}");
}

#[test]
fn it_lasts_until_the_last_moment_that_any_line_tells_of() {
    let end = r#"{"type":"end","run":"r","job":"j","micros":40,"result":"done","read":0,"read_bytes":0,"written":0,"filtered":0,"duplicates":0,"dirty":0}"#;
    let phase = r#"{"type":"phase","run":"r","job":"j","phase":"JOB_PREPARE","start_micros":7,"elapsed_nanos":23000}"#;
    let until = |lines: &[&str]| Recording::read(&lines.join("\n")).unwrap()[0].until();
    assert_eq!(until(&[HEADER]), 5);
    assert_eq!(until(&[HEADER, TASK]), 6);
    assert_eq!(until(&[HEADER, TASK, SECOND]), 9);
    assert_eq!(until(&[HEADER, phase, TASK, SECOND]), 30);
    assert_eq!(until(&[HEADER, end, phase]), 40);
}

#[test]
fn entries_of_one_name_are_compared_in_their_order() {
    let named = |job: &str, content: usize, run: &str| {
        let run = RunLine { job: job.into(), content, contents: 2, run: run.into(), ..RunLine::default() };
        Recording { run, ..Recording::default() }
    };
    let earlier = [named("j", 0, "a"), named("k", 0, "b"), named("j", 1, "c"), named("j", 0, "d")];
    let later = [named("j", 0, "e"), named("j", 0, "f"), named("j", 0, "g"), named("j", 1, "h")];
    let found = |all: &[Recording], among: &[Recording]| -> Vec<Option<String>> {
        all.iter().map(|one| one.counterpart(all, among).map(|other| other.run.run.clone())).collect()
    };
    let some = |run: &str| Some(run.to_string());
    assert_eq!(found(&later, &earlier), [some("a"), some("d"), None, some("c")]);
    assert_eq!(found(&earlier, &earlier), ["a", "b", "c", "d"].map(some), "each with itself");
    assert_eq!(found(&later[..1], &earlier[1..2]), [some("b")], "one alone with the other, whatever its name");
}

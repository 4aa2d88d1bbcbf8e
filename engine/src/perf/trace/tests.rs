//! What a trace holds.

use super::*;

const RUN: &str = r#"{"type":"run","version":1,"run":"r","job":"j","start_micros":1000000}"#;

/// The events of what was recorded in these lines; the run and the job of each are added.
fn events(lines: &[&str]) -> Vec<Value> {
    let lines: Vec<String> = lines.iter().map(|line| line.replacen('{', r#"{"run":"r","job":"j","#, 1)).collect();
    let recordings = Recording::read(&format!("{RUN}\n{}\n", lines.join("\n"))).unwrap();
    let mut written = Vec::new();
    write(&mut written, &recordings).unwrap();
    let trace: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(trace["displayTimeUnit"], "ms");
    trace["traceEvents"].as_array().unwrap().clone()
}

/// Where a span lies, by the name of its track, and the span.
fn spans(events: &[Value]) -> Vec<(String, &Value)> {
    let name = |track: &Value| {
        let names = events.iter().find(|event| event["name"] == "thread_name" && event["tid"] == *track).unwrap();
        names["args"]["name"].as_str().unwrap().to_string()
    };
    events.iter().filter(|event| event["ph"] == "X").map(|event| (name(&event["tid"]), event)).collect()
}

const TASK: &str = r#"{"type":"task","task":"t","number":0,"split":"a","attempt":1,"slot":3,"start_micros":1500000}"#;
const SECOND: &str = r#"{"type":"second","micros":4000000,"read_records":30,"read_bytes":4,"written_records":12,"queued_records":18,"queued_bytes":1,"fill":0.25,"open_tasks":1,"tasks_known":1,"tasks_done":0,"wait_for_reader_nanos":0,"wait_for_writer_nanos":0}"#;

fn phase(phase: &str, more: &str) -> String {
    format!(r#"{{"type":"phase","phase":"{phase}","start_micros":1600000,"elapsed_nanos":2500000{more}}}"#)
}

#[test]
fn phases_lie_on_the_track_of_their_channel_with_the_sums_beside_the_data() {
    let of_task = r#","task":"t","attempt":1"#;
    let lines = ["TASK_TOTAL", "READ_TASK_DATA", "WRITE_TASK_DATA", "WAIT_READ_TIME"].map(|name| phase(name, of_task));
    let job = phase("JOB_COMMIT", "");
    let events = events(&[TASK, &lines[0], &lines[1], &lines[2], &lines[3], &job]);
    let spans = spans(&events);
    let places: Vec<(&str, &str)> =
        spans.iter().map(|(track, span)| (track.as_str(), span["name"].as_str().unwrap())).collect();
    let expected = [
        ("channel 3, reader", "TASK_TOTAL"),
        ("channel 3, reader", "READ_TASK_DATA"),
        ("channel 3, writer", "WRITE_TASK_DATA"),
        ("job", "JOB_COMMIT"),
    ];
    assert_eq!(places, expected);
    assert_eq!(spans[2].1["args"]["sums, ms"]["WAIT_READ_TIME"], 2.5);
    assert_eq!((&spans[1].1["ts"], &spans[1].1["dur"]), (&json!(1_600_000), &json!(2500.0)));
}

#[test]
fn an_attempt_that_has_not_ended_lasts_until_the_recording_ends() {
    let events = events(&[TASK, SECOND]);
    let [(track, span)] = &spans(&events)[..] else { panic!("there is one span: {events:?}") };
    assert_eq!(track, "channel 3, reader");
    assert_eq!((&span["ts"], &span["dur"]), (&json!(1_500_000), &json!(2_500_000)));
    assert_eq!((&span["args"]["result"], &span["args"]["split"]), (&json!("open"), &json!("a")));
}

#[test]
fn a_process_is_called_like_the_entry_everywhere_else() {
    let named = |header: &str| {
        let mut written = Vec::new();
        write(&mut written, &Recording::read(header).unwrap()).unwrap();
        let trace: Value = serde_json::from_slice(&written).unwrap();
        trace["traceEvents"][0]["args"]["name"].clone()
    };
    assert_eq!(named(RUN), "j (r)");
    assert_eq!(named(&RUN.replace('}', r#","content":1,"contents":3}"#)), "j, entry 2 of 3 (r)");
}

#[test]
fn a_task_without_a_beginning_is_not_on_the_track_of_the_job() {
    let events = events(&[&phase("READ_TASK_DATA", r#","task":"u","attempt":1"#)]);
    assert_eq!(spans(&events)[0].0, Track::Unknown.name());
}

#[test]
fn counters_have_the_rates_of_each_second_the_first_one_included() {
    let events = events(&[SECOND]);
    let counter =
        |name: &str| &events.iter().find(|event| event["ph"] == "C" && event["name"] == name).unwrap()["args"];
    assert_eq!(counter("records/s"), &json!({ "read": 10.0, "written": 4.0 }));
    assert_eq!(counter("records in channels"), &json!({ "queued": 18 }));
}

//! What a job may write, and what is said of what it may not.

use serde_json::{Value, json};
use transship_plugin_api::{CommitClass, Kind};

use super::{host, warnings};

#[track_caller]
fn refused(parameter: Value, expected: &str) {
    let Err(error) = crate::reader::new(&parameter, host()) else { panic!("{parameter} was taken") };
    assert_eq!(error.kind(), Kind::Config);
    assert!(error.message().contains(expected), "{error}");
}

#[track_caller]
fn column_refused(column: Value, expected: &str) {
    refused(json!({ "column": [{ "value": "x" }, column], "sliceRecordCount": 1 }), expected);
}

#[test]
fn a_reader_needs_columns_and_a_record_count() {
    let column = json!({ "value": 1 });
    refused(json!({}), "parameter.column is required");
    refused(json!({ "column": [], "sliceRecordCount": 1 }), "parameter.column is required");
    refused(json!({ "column": ["x"], "sliceRecordCount": 1 }), "parameter.column[0] must be an object, not \"x\"");
    refused(json!({ "column": [column] }), "parameter.sliceRecordCount is required");
    refused(json!({ "column": [column], "sliceRecordCount": "" }), "parameter.sliceRecordCount is required");
    refused(json!({ "column": [column], "sliceRecordCount": 0 }), "parameter.sliceRecordCount must be 1 or more");
    refused(json!({ "column": [column], "sliceRecordCount": -1 }), "parameter.sliceRecordCount must be a whole number");
    refused(json!({ "column": [column], "sliceRecordCount": 1, "seed": "x" }), "parameter.seed");
    for rate in [json!(0), json!(-1), json!("fast"), json!("NaN"), json!("inf")] {
        refused(json!({ "column": [column], "sliceRecordCount": 1, "rate": rate }), "parameter.rate must be a number");
    }
}

#[test]
fn a_column_needs_to_know_where_its_values_come_from() {
    column_refused(json!({ "type": "LONG" }), "parameter.column[1].value or random is required");
    column_refused(json!({ "value": null }), "parameter.column[1].value or random is required");
    column_refused(json!({ "value": " " }), "parameter.column[1].value or random is required");
    column_refused(json!({ "value": [1] }), "parameter.column[1].value must be a string, not a list");
    column_refused(
        json!({ "value": 1, "type": "NUMBER" }),
        "parameter.column[1].type is \"NUMBER\", but must be \"STRING\", ",
    );
}

#[test]
fn constants_must_be_of_their_type() {
    column_refused(
        json!({ "type": "LONG", "value": "many" }),
        "parameter.column[1].value is \"many\", which is no number",
    );
    column_refused(json!({ "type": "LONG", "value": "NaN" }), "no number");
    column_refused(json!({ "type": "LONG", "value": "1e100000" }), "no number");
    for text in ["1,5", ".", "+", "e5", "1e", "0x10", " 1"] {
        column_refused(json!({ "type": "DOUBLE", "value": text }), "no number");
    }
    column_refused(
        json!({ "type": "DATE", "value": "2024-02-30 00:00:00" }),
        "parameter.column[1].value is \"2024-02-30 00:00:00\", which is no date of the form \"yyyy-MM-dd HH:mm:ss\"",
    );
    column_refused(
        json!({ "type": "DATE", "value": "1", "dateFormat": "YYYY" }),
        "parameter.column[1].dateFormat is wrong",
    );
}

#[test]
fn random_values_have_two_ends_in_order() {
    let random = |r#type: &str, random: &str| json!({ "type": r#type, "random": random });
    column_refused(random("LONG", "5"), "parameter.column[1].random is \"5\", but must be two ends with a comma");
    for (r#type, text) in [("LONG", "a,5"), ("STRING", "-1,5"), ("BOOL", "0.5,1"), ("LONG", ",5"), ("BYTES", "1,2,3")] {
        column_refused(random(r#type, text), "must be two whole numbers from 0 on");
    }
    for r#type in ["LONG", "DOUBLE", "STRING", "BYTES"] {
        column_refused(random(r#type, "6,5"), "its first end must not be greater");
    }
    column_refused(random("STRING", "0,1000000000"), "the most is 16777216 letters");
    column_refused(random("DATE", "2024-01-01 00:00:00,soon"), "the end \"soon\", which is no date");
    column_refused(random("DATE", "2024-01-02 00:00:00,2024-01-01 00:00:00"), "which is after");
}

#[test]
fn sequences_are_of_whole_numbers() {
    column_refused(
        json!({ "type": "STRING", "sequence": "1,1" }),
        "parameter.column[1].sequence goes with the type LONG only",
    );
    column_refused(json!({ "type": "LONG", "sequence": "a" }), "must be a start and a step");
}

#[track_caller]
fn writer_refused(parameter: Value, expected: &str) {
    let Err(error) = crate::writer::new(&parameter, host()) else { panic!("{parameter} was taken") };
    assert_eq!(error.kind(), Kind::Config);
    assert!(error.message().contains(expected), "{error}");
}

#[test]
fn a_writer_refuses_what_it_cannot_do() {
    writer_refused(json!({ "print": 1 }), "parameter.print must be true or false, not 1");
    writer_refused(json!({ "sleepTime": -1 }), "parameter.sleepTime must be a whole number from 0 on");
    writer_refused(json!({ "recordNumBeforeSleep": "-5" }), "parameter.recordNumBeforeSleep");
    writer_refused(json!({ "path": "/tmp", "fileName": ".." }), "parameter.fileName is \"..\", which is no file name");
    writer_refused(json!({ "path": "/tmp", "fileName": "x/" }), "no file name");
}

#[test]
fn a_writer_says_where_records_go_and_when_they_are_seen() {
    let info = |parameter| {
        let writer = crate::writer::new(&parameter, host()).unwrap();
        (writer.info().commit, writer.info().target, writer.info().idempotent, writer.plan().join("\n"))
    };
    let printed = |plan: &str| (CommitClass::Append, "stdout".to_string(), false, plan.to_string());
    for parameter in [
        json!({}),
        json!({ "print": "true", "encoding": "GBK" }),
        json!({ "path": "/tmp" }),
        json!({ "fileName": "x", "path": " " }),
        json!({ "recordNumBeforeSleep": 5, "sleepTime": 1 }),
    ] {
        assert_eq!(info(parameter), printed("print every record to standard output"));
    }
    let discarded = (CommitClass::Append, "discard".into(), true, "discard every record".into());
    assert_eq!(info(json!({ "print": "FALSE" })), discarded);
    let filed = (
        CommitClass::Atomic,
        "file:/tmp/out.txt".into(),
        false,
        "write /tmp/out.txt, in place of what is there".into(),
    );
    assert_eq!(info(json!({ "path": "/tmp/", "fileName": "out.txt", "print": false })), filed);
}

#[test]
fn a_writer_warns_of_a_sleep_that_will_not_be() {
    let warned = |parameter: Value| warnings(|| drop(crate::writer::new(&parameter, host()).unwrap()));
    let no_file = "has no effect: only a task that writes a file sleeps (path and fileName)";
    let both = [format!("parameter.recordNumBeforeSleep {no_file}"), format!("parameter.sleepTime {no_file}")];
    assert_eq!(warned(json!({ "recordNumBeforeSleep": 5, "sleepTime": 1 })), both);
    assert_eq!(warned(json!({ "sleepTime": "1", "print": false })), both[1..]);
    let file = |key: &str| json!({ "path": "/tmp", "fileName": "x", key: 1 });
    let alone = "parameter.sleepTime has no effect: recordNumBeforeSleep does not say when to sleep";
    assert_eq!(warned(file("sleepTime")), [alone]);
    let alone = "parameter.recordNumBeforeSleep has no effect: sleepTime does not say how long to sleep";
    assert_eq!(warned(file("recordNumBeforeSleep")), [alone]);
    for silent in [
        json!({ "sleepTime": 0 }),
        json!({ "path": "/tmp", "fileName": "x", "recordNumBeforeSleep": 5, "sleepTime": 1 }),
    ] {
        assert_eq!(warned(silent), [""; 0]);
    }
}

/// Trap 90.
#[test]
fn a_writer_warns_of_an_encoding_that_is_not_utf_8() {
    let warned = |parameter: Value| warnings(|| drop(crate::writer::new(&parameter, host()).unwrap()));
    assert_eq!(
        warned(json!({ "encoding": "GBK" })),
        ["parameter.encoding is ignored, as in DataX: output is always UTF-8, not GBK"]
    );
    assert_eq!(warned(json!({ "encoding": "UTF-8" })), [""; 0]);
}

#[test]
fn bytes_are_those_of_the_text_in_the_encoding_of_the_job() {
    let column = |value: &str| json!([{ "type": "BYTES", "value": value }]);
    let parameter = |value: &str| json!({ "column": column(value), "sliceRecordCount": 1, "common": { "column": { "encoding": "gbk" } } });
    let mut made = super::reader(parameter("泊"));
    let split = super::all_splits(made.as_mut(), 1).remove(0);
    assert_eq!(super::values(made.as_mut(), &split), ["b2b4"]);
    refused(parameter("😀"), "parameter.column[0].value has '😀', a character that GBK lacks");
}

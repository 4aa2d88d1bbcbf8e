//! What is told of a `parameter` object.

use serde_json::{Value, json};
use transship_plugin_api::Parameter;

use crate::config::JOB_KEYS;
use crate::schema::violations;

const KNOWN: &[Parameter] = &[
    Parameter::required("path", "string or list of strings", "the files"),
    Parameter::required("rows", "integer", "how many"),
    Parameter::optional("column", r#"list of objects or ["*"]"#, "", "the columns"),
    Parameter::required("column[].type", r#""long" or "text""#, "its type"),
    Parameter::optional("column[].index", "integer", "", "its field"),
    Parameter::optional("names", "list of strings", "", "the names"),
    Parameter::optional("csv.escapeMode", "1 or 2", "1", "how"),
    Parameter::optional("strict", "boolean", "false", "whether"),
    Parameter::optional("password", "list of strings or boolean", "", "a secret"),
    Parameter::optional("oddity", "a duck", "", "whatever that is"),
];

/// `path message` of each violation.
fn told(parameter: Value) -> Vec<String> {
    told_by(&parameter, KNOWN)
}

fn told_by(parameter: &Value, known: &[Parameter]) -> Vec<String> {
    violations(parameter, known).into_iter().map(|found| format!("{} {}", found.path, found.message)).collect()
}

/// The same for a parameter that has all that is required, and these.
fn told_of(others: Value) -> Vec<String> {
    let mut parameter = json!({ "path": "a.csv", "rows": 1 });
    for (key, value) in others.as_object().unwrap() {
        parameter[key] = value.clone();
    }
    told(parameter)
}

#[test]
fn everything_is_told_at_once_in_the_order_of_the_table() {
    let parameter =
        json!({ "strict": "maybe", "column": [{ "index": "x" }], "csv": { "escapeMode": 3 }, "rows": null });
    assert_eq!(
        told(parameter),
        [
            "path is required",
            "rows is required",
            "column[0].type is required",
            "column[0].index must be a whole number, not \"x\"",
            "csv.escapeMode must be 1 or 2, not 3",
            "strict must be true or false, not \"maybe\"",
        ]
    );
}

#[test]
fn what_is_required_may_not_be_blank() {
    for blank in [json!(""), json!(" "), json!([]), json!([""]), json!([null, " "])] {
        assert_eq!(told(json!({ "path": blank, "rows": 1 })), ["path is required, but empty"]);
    }
    assert_eq!(told(json!({ "path": "a", "rows": "" })), ["rows is required, but empty"]);
    assert_eq!(told(json!({ "path": [], "rows": 0 })), ["path is required, but empty"], "zero is not blank");
}

#[test]
fn what_is_not_required_may_be_absent_null_or_blank() {
    assert!(told_of(json!({})).is_empty());
    assert!(told_of(json!({ "column": null, "strict": "", "csv": { "escapeMode": " " }, "names": "" })).is_empty());
}

#[test]
fn what_datax_lets_pass_passes() {
    assert!(
        told_of(json!({ "rows": "12", "strict": "True", "names": [1, true, "a"], "csv": { "escapeMode": "2" } }))
            .is_empty()
    );
    assert!(told_of(json!({ "names": "one", "column": { "type": "LONG" } })).is_empty());
    assert!(told_of(json!({ "column": ["*"] })).is_empty());
    assert!(told_of(json!({ "column": "*" })).is_empty());
}

#[test]
fn of_a_list_the_items_at_fault_are_told() {
    let items = json!([{ "type": "text" }, 5, { "type": "txet" }, { "type": [] }]);
    assert_eq!(
        told_of(json!({ "column": items, "names": ["a", {}, null] })),
        [
            "column[1] must be an object, not 5",
            "column[2].type must be \"long\" or \"text\", not \"txet\"",
            "column[3].type is required, but empty",
            "names[1] must be a string, not an object",
            "names[2] must be a string, not null",
        ]
    );
    assert_eq!(told_of(json!({ "column": 5 })), ["column must be a list of objects or [\"*\"], not 5"]);
    assert_eq!(told_of(json!({ "column": {} })), ["column.type is required"]);
}

#[test]
fn what_params_say_of_a_number_is_said_here() {
    assert_eq!(told(json!({ "path": "a", "rows": "3.0" })), ["rows must be a whole number, not \"3.0\" (write 3)"]);
}

#[test]
fn the_value_of_a_secret_is_not_shown() {
    let known = &[
        Parameter::optional("passwords", "list of integers", "", ""),
        Parameter::optional("accessKey.rounds", "integer", "", ""),
        Parameter::optional("api_key", "\"a\"", "", ""),
    ];
    let parameter = json!({ "passwords": ["hunter2"], "accessKey": { "rounds": "hunter3" }, "api_key": "hunter4" });
    assert_eq!(
        told_by(&parameter, known),
        [
            "passwords[0] must be a whole number, not a string",
            "accessKey.rounds must be a whole number, not a string",
            "api_key must be \"a\", not a string",
        ]
    );
}

#[test]
fn what_a_table_has_no_known_words_for_may_be_anything() {
    assert!(told_of(json!({ "oddity": [{}, 1] })).is_empty());
    let known = &[Parameter::required("oddity", "a duck", "")];
    assert_eq!(told_by(&json!({}), known), ["oddity is required"]);
}

#[test]
fn no_parameter_at_all_lacks_what_is_required() {
    assert_eq!(told(json!(null)), ["path is required", "rows is required"]);
    assert_eq!(told(json!([])), [" must be an object, not a list"]);
}

#[test]
fn the_settings_of_a_job_are_checked_in_the_same_way() {
    let tree =
        json!({ "job": { "content": [{ "reader": { "name": "a" } }], "setting": { "speed": { "channel": "x" } } } });
    assert_eq!(
        told_by(&tree, JOB_KEYS),
        ["job.content[0].writer is required", "job.setting.speed.channel must be a whole number, not \"x\""]
    );
}

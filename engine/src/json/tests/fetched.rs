//! What is put in by `${env:…}` and `${file:…}`.

use serde_json::json;

use super::{Broken, Document, fetch, parse};

fn read(text: &str) -> Result<Document, Broken> {
    parse(text, &mut fetch)
}

#[track_caller]
fn refused(text: &str, at: usize, says: &str) {
    let Err(broken) = read(text) else { panic!("it was read: {text}") };
    assert_eq!(broken.at, at, "{text}: {}", broken.message);
    assert!(broken.message.contains(says), "{}", broken.message);
}

#[test]
fn a_string_takes_what_is_fetched_as_it_is_and_once() {
    let document =
        read(r#"{"a": "<${env:PASS}>", 'b': '${file:/run/a "b".txt}', "c": "${file:/run/a \"b\".t\x78t}"}"#).unwrap();
    assert_eq!(document.value(), json!({"a": "<p\"a\\ss ${env:PASS}>", "b": "from a file", "c": "from a file"}));
    assert_eq!(document.secrets, ["p\"a\\ss ${env:PASS}", "from a file", "from a file"]);
}

#[test]
fn a_plain_value_needs_no_quotes() {
    let document = read("[${env:COUNT}, ${env:FLAG}]").unwrap();
    assert_eq!(document.value(), json!([7, true]));
    assert!(document.secrets.is_empty(), "what needs no quotes is a figure and no secret");
    let item = &document.value()[0];
    assert!(item.is_number(), "{item}");
}

#[test]
fn a_text_needs_quotes() {
    refused("{a: ${env:PASS}}", 4, "put double quotes around");
    refused("[${file:/run/a \"b\".txt}]", 1, "put double quotes around");
}

#[test]
fn nothing_may_stick_to_a_fetched_value() {
    refused("[${env:COUNT}0]", 13, "expected a comma");
    refused("[${env:COUNT}${env:COUNT}]", 13, "a value or inside a string");
}

#[test]
fn what_cannot_be_fetched_is_told_at_its_place() {
    refused(r#"{"a": "x ${env:NONE}"}"#, 9, "the variable NONE is not set");
    refused(r#"["${file:/no}"]"#, 2, "there is no file /no");
    refused("[${env:NONE}]", 1, "the variable NONE is not set");
}

#[test]
fn a_reference_that_is_not_closed() {
    refused(r#"["${env:PASS", "}"]"#, 2, "never closed: write ${env:NAME}");
    refused("[\"${file:/a\n}\"]", 2, "never closed: write ${file:PATH}");
    refused("[${env:PASS", 1, "never closed");
    refused(r#"["${env:}"]"#, 2, "nothing is named here: write ${env:NAME}");
}

#[test]
fn other_dollars_inside_strings_are_only_text() {
    let document = read(r#"{"a": "$x ${y} $1 ${ENV:PASS} $env:PASS \u0024{env:PASS} $", "${env:PASS}": 1}"#).unwrap();
    assert_eq!(document.value(), json!({"a": "$x ${y} $1 ${ENV:PASS} $env:PASS ${env:PASS} $", "${env:PASS}": 1}));
    assert!(document.secrets.is_empty());
}

#[test]
fn nothing_is_fetched_in_the_place_of_a_key() {
    refused("{${env:PASS}: 1}", 1, "in the place of a value or inside a string");
    refused("{a: 1 ${env:PASS}}", 6, "in the place of a value or inside a string");
}

#[test]
fn nothing_is_fetched_for_a_comment() {
    assert_eq!(read("[1 /* ${env:NONE} */] // ${env:NONE}").unwrap().value(), json!([1]));
}

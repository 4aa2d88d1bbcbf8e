//! Records in answers, in whatever pieces these come in.

use serde_json::{Value, json};

use crate::records::{Form, Raw, Records};

/// The texts of the records of an answer that comes in pieces of this size, and what stands around them; or what is wrong.
fn cut(form: &Form, answer: &[u8], piece: usize) -> Result<(Vec<String>, Value), String> {
    let mut records = Records::new(form, 1 << 20);
    let mut found: Vec<Raw> = Vec::new();
    for piece in answer.chunks(piece) {
        records.feed(piece, &mut found).map_err(|broken| broken.problem)?;
    }
    let around = records.finish(&mut found).map_err(|broken| broken.problem)?;
    for raw in &found {
        assert_eq!(answer[raw.at as usize..][..raw.text.len()], raw.text, "{raw:?} is not at its place");
    }
    Ok((found.into_iter().map(|raw| String::from_utf8(raw.text).unwrap()).collect(), around))
}

/// The same in pieces of every size, which must make no difference.
#[track_caller]
fn records(pointer: &str, answer: &str) -> Result<(Vec<String>, Value), String> {
    let whole = cut(&Form::list(pointer), answer.as_bytes(), answer.len().max(1));
    for piece in 1..answer.len() {
        assert_eq!(cut(&Form::list(pointer), answer.as_bytes(), piece), whole, "in pieces of {piece}: {answer}");
    }
    whole
}

#[track_caller]
fn found(pointer: &str, answer: &str, expected: &[&str], around: Value) {
    let (found, left) = records(pointer, answer).unwrap();
    assert_eq!(found, expected);
    assert_eq!(left, around);
}

#[test]
fn items_of_a_list_are_found_wherever_it_is() {
    found("", r#"[{"a": 1}, {"b": [2, {"c": "]}"}]} ]"#, &[r#"{"a": 1}"#, r#"{"b": [2, {"c": "]}"}]}"#], json!([]));
    found(
        "/x/y",
        r#"{"y": [9], "x": {"z": [8], "y": [{}, {"x": {"y": [7]}}]}, "n": "p"}"#,
        &["{}", r#"{"x": {"y": [7]}}"#],
        json!({ "y": [9], "x": { "z": [8], "y": [] }, "n": "p" }),
    );
    found("/1/a", r#"[{"a": [1]}, {"a": [2, 3 , 4]}, {"a": [5]}]"#, &["2", "3", "4"], {
        json!([{ "a": [1] }, { "a": [] }, { "a": [5] }])
    });
    found("/a~1b/c~0d", r#"{"a/b": {"c~d": [true, null, "x"]}}"#, &["true", "null", "\"x\""], {
        json!({ "a/b": { "c~d": [] } })
    });
}

#[test]
fn texts_may_hold_whatever_looks_like_json() {
    let tricky = r#"[{"a\"]},{": "\\", "\\\"": "[{\"x\": ["}, "],[", "\\"]"#;
    found("", tricky, &[r#"{"a\"]},{": "\\", "\\\"": "[{\"x\": ["}"#, r#""],[""#, r#""\\""#], json!([]));
    found("/d", r#"{"\u0064": [1], "e\"": "[\\\"d\": [2]"}"#, &["1"], json!({ "d": [], "e\"": "[\\\"d\": [2]" }));
}

#[test]
fn a_list_may_be_empty_null_or_a_single_object() {
    found("", " [ ] ", &[], json!([]));
    found("/a", r#"{"a": [], "b": 1}"#, &[], json!({ "a": [], "b": 1 }));
    found("/a", r#"{"a": null, "b": 1}"#, &[], json!({ "a": null, "b": 1 }));
    found("/a", r#"{"a": {"x": [1]}, "b": 1}"#, &[r#"{"x": [1]}"#], json!({ "a": { "x": [1] }, "b": 1 }));
    found("", r#"{"x": [1]}"#, &[r#"{"x": [1]}"#], json!({ "x": [1] }));
    found("", "\u{feff}[1]", &["1"], json!([]));
}

#[test]
fn what_is_no_json_is_found_out() {
    let broken = [
        ("", "[1,]"),
        ("", "[,1]"),
        ("", "[1 2]"),
        ("", "[{} {}]"),
        ("", "[1}"),
        ("", "[1:2]"),
        ("", "[1"),
        ("", "["),
        ("", ""),
        ("", "  "),
        ("", "[\"a"),
        ("", "[{]"),
        ("", "[1]]"),
        ("", "[1] x"),
        ("/a", r#"{"a": [1], }"#),
        ("/a", r#"{"a" [1]}"#),
        ("/a", r#"{"a": [1]"#),
        ("/a", r#"{"a": 5}"#),
        ("/a", r#"{"b": []}"#),
        ("/a", "[]"),
        ("/a/b", r#"{"a": "x"}"#),
        ("", "5"),
    ];
    // What is wrong within a record is found when it is read.
    let is_good = |text: &String| serde_json::from_str::<Value>(text).is_ok();
    for (pointer, answer) in broken {
        let found = records(pointer, answer);
        assert!(!found.as_ref().is_ok_and(|(records, _)| records.iter().all(is_good)), "{answer}: {found:?}");
    }
    assert!(records("/a", &format!("{{\"b\": {}", "[".repeat(200))).unwrap_err().contains("more than 128"));
}

#[test]
fn only_an_answer_that_ends_too_early_may_be_whole_another_time() {
    let is_cut = |answer: &str| {
        let mut records = Records::new(&Form::list(""), 100);
        let fed = records.feed(answer.as_bytes(), &mut Vec::new());
        fed.and_then(|()| records.finish(&mut Vec::new()).map(|_| ())).unwrap_err().is_cut
    };
    assert!(is_cut("[1, 2") && is_cut("") && is_cut("[\"a"));
    assert!(!is_cut("[1 2]") && !is_cut("<html>"));
}

#[test]
fn a_record_that_is_too_long_is_passed_over_and_told() {
    let answer = format!("[1, {{\"a\": \"{}\"}}, 2]", "x".repeat(100));
    let mut records = Records::new(&Form::list(""), 50);
    let mut found: Vec<Raw> = Vec::new();
    for piece in answer.as_bytes().chunks(7) {
        records.feed(piece, &mut found).unwrap();
    }
    records.finish(&mut found).unwrap();
    let told: Vec<(bool, usize)> = found.iter().map(|raw| (raw.is_too_long, raw.text.len())).collect();
    assert_eq!(told, [(false, 1), (true, 0), (false, 1)]);
}

#[test]
fn lines_are_cut_at_their_ends_and_blank_ones_passed_over() {
    let answer = b"{\"a\": 1}\r\n\n  \n2\n\"last\"";
    for piece in 1..=answer.len() {
        let (found, _) = cut(&Form::Lines, answer, piece).unwrap();
        assert_eq!(found, ["{\"a\": 1}\r", "2", "\"last\""]);
    }
}

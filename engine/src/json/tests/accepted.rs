//! What is read beyond strict JSON.

use serde_json::{Value, json};

use super::{document, notes, value};

#[test]
fn strict_json_is_read_as_it_is() {
    let text = r#" {"a": [1, -2.50, 1e3, true, false, null, "x\u00e9\n\/", []], "": {}} "#;
    assert_eq!(value(text), serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(value("\"alone\""), json!("alone"));
}

#[test]
fn white_space_of_every_kind_is_skipped() {
    assert_eq!(
        value("\u{feff}{\u{a0}\"a\"\u{3000}:\u{2003}1\u{200b},\r\n\t\u{c}\"b\"\u{b}:\u{feff}2\u{2028}}\u{8}"),
        json!({"a": 1, "b": 2})
    );
}

/// Trap 7.
#[test]
fn raw_control_characters_and_line_breaks_inside_strings_are_kept() {
    assert_eq!(value("[\"a\nb\r\nc\td\u{1}\u{0}e\u{feff}\"]"), json!(["a\nb\r\nc\td\u{1}\u{0}e\u{feff}"]));
}

/// Trap 7.
#[test]
fn single_quotes_are_quotes() {
    assert_eq!(value(r#"{'a': 'it\'s "fine"', "b": "it's"}"#), json!({"a": "it's \"fine\"", "b": "it's"}));
}

/// Trap 7.
#[test]
fn keys_need_no_quotes() {
    let text = "{a: 1, $b_c: 2, dfs.name-node.1: 3, 列: 4, 007: 5, true: 6}";
    assert_eq!(value(text), json!({"a": 1, "$b_c": 2, "dfs.name-node.1": 3, "列": 4, "007": 5, "true": 6}));
}

/// Trap 7.
#[test]
fn one_trailing_comma_is_ignored() {
    assert_eq!(value("{a: [1, 2,], b: {c: 3,},}"), json!({"a": [1, 2], "b": {"c": 3}}));
}

#[test]
fn numbers_keep_their_digits() {
    for (written, read) in [
        ("1.50", "1.50"),
        ("+1", "1"),
        ("007", "7"),
        ("-007", "-7"),
        ("000", "0"),
        ("-0", "-0"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("00.50", "0.50"),
        ("5.", "5.0"),
        ("5.e3", "5.0e+3"),
        ("1e3", "1e+3"),
        ("1E+05", "1e+05"),
        ("1L", "1"),
        ("1S", "1"),
        ("1B", "1"),
        ("1D", "1.0"),
        ("1F", "1.0"),
        ("1.5D", "1.5"),
        ("1e2F", "1e+2"),
        ("1e999999", "1e+999999"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("3.14159265358979323846264338327950288", "3.14159265358979323846264338327950288"),
    ] {
        assert_eq!(value(written).to_string(), read, "{written}");
        assert_eq!(value(&format!("[{written}]"))[0].to_string(), read, "{written}");
    }
}

#[test]
fn escapes_are_those_of_java_and_javascript() {
    assert_eq!(
        value(r#"["\"\'\\\/\b\f\n\r\t\v", "\0\7\01", "\x41\x5cN\u0001", "\uD83D\ude00"]"#),
        json!(["\"'\\/\u{8}\u{c}\n\r\t\u{b}", "\u{0}\u{7}\u{0}1", "A\\N\u{1}", "😀"])
    );
}

#[test]
fn half_of_a_character_is_replaced_and_noted() {
    for (text, read) in [
        (r#"["\ud83d"]"#, "\u{fffd}"),
        (r#"["\ude00"]"#, "\u{fffd}"),
        (r#"["\ud83dx"]"#, "\u{fffd}x"),
        (r#"["\ud83d\n"]"#, "\u{fffd}\n"),
        (r#"["\ud83d\u0041"]"#, "\u{fffd}A"),
        (r#"["\ud83d\ud83d\ude00"]"#, "\u{fffd}😀"),
    ] {
        assert_eq!(document(text).value(), json!([read]), "{text}");
        let [(at, message)] = &notes(text)[..] else { panic!("{text}") };
        assert!(at.starts_with("\\u") && message.contains("half of a character"), "{message}");
    }
}

/// Trap 8.
#[test]
fn of_a_key_that_stands_twice_the_last_counts_whole() {
    let text = r#"{"a": {"x": 1, "y": 2}, "b": [{"k": 1, 'k': 2, k: 3}], "a": {"z": 3}}"#;
    assert_eq!(document(text).value().to_string(), r#"{"a":{"z":3},"b":[{"k":3}]}"#);
    let notes = notes(text);
    assert_eq!(notes.len(), 2);
    assert!(notes[0].0.starts_with("k: 3") && notes[1].0.starts_with(r#""a": {"z""#), "{notes:?}");
    assert!(notes[0].1.contains("\"k\"") && notes[0].1.contains("only the last one, here, counts"), "{notes:?}");
}

/// Trap 7.
#[test]
fn a_missing_comma_is_forgiven_and_noted() {
    for (text, read) in [
        ("[1 2]", json!([1, 2])),
        ("{a: 1 b: true c: null}", json!({"a": 1, "b": true, "c": null})),
        ("{a: {} 'b': [] c: 1.5}", json!({"a": {}, "b": [], "c": 1.5})),
        ("[{} []\"x\"]", json!([{}, [], "x"])),
        ("{\"a\": \"x\"\n  \"b\": \"y\"}", json!({"a": "x", "b": "y"})),
        ("[\"a\" // the first\n \"b\"]", json!(["a", "b"])),
    ] {
        assert_eq!(document(text).value(), read, "{text}");
        let notes = notes(text);
        let (at, message) = &notes[0];
        assert!(message.contains("a comma is missing here"), "{message}");
        assert!(at.starts_with([' ', '\n', '"']), "the note stands right after the value: {at}");
    }
}

/// Trap 7.
#[test]
fn comments_may_stand_wherever_white_space_may() {
    let text = "/* banner\n */ # one\n// two\n{ // three\n a /**/ : /* : */ [ # [\n 1 /* , */ , // x\n 2 // last\n ] , # key: 1\n 'b': \"// # /* not one */\" } // end";
    assert_eq!(document(text).value(), json!({"a": [1, 2], "b": "// # /* not one */"}));
}

#[test]
fn comments_that_datax_takes_are_not_noted() {
    let text = "// first\n{// after the bracket\n\"a\": 1, // after a comma\n\"b\": [{ // again\n}]}";
    assert_eq!(notes(text), []);
}

#[test]
fn the_first_comment_that_datax_refuses_is_noted_once() {
    for (text, first) in [
        ("# x\n{}", "# x"),
        ("/* x */ {}", "/* x"),
        ("// x\n// y\n{} // z", "// y"),
        ("{a: 1 // last\n}", "// last"),
        ("{a: // x\n 1}", "// x"),
        ("{a // x\n : 1}", "// x"),
        ("[// x\n1, // y\n2]", "// x"),
        ("[1, // y\n2]", "// y"),
        ("{a: 1, # y\n b: 2} // z", "# y"),
        ("{} // z", "// z"),
    ] {
        let notes = notes(text);
        assert_eq!(notes.len(), 1, "{text}");
        assert!(notes[0].0.starts_with(first) && notes[0].1.contains("DataX would refuse"), "{notes:?}");
    }
}

#[test]
fn notes_come_in_the_order_of_the_text() {
    let text = "{a: 1 b: '\\ud800', a: 2 /* x */}";
    let document = document(text);
    assert_eq!(document.notes.len(), 4);
    assert!(document.notes.is_sorted_by_key(|note| note.at));
}

#[test]
fn values_may_lie_100_deep() {
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(value(&deep).to_string(), deep);
    let deep = format!("{}1{}", "{a:".repeat(100), "}".repeat(100));
    assert_eq!(value(&deep).to_string().matches("\"a\"").count(), 100);
}

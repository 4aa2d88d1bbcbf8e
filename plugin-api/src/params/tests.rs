//! Tests of parameters: what is taken for a number or a truth, and what is said where it is none.

use serde_json::json;

use super::*;
use crate::error::Kind;

fn with<T>(value: Value, read: impl Fn(&Params<'_>) -> Result<T>) -> Result<T> {
    let parameter = json!({ "key": value });
    read(&Params::new(&parameter, "parameter").unwrap())
}

fn refused<T: fmt::Debug>(value: Value, read: impl Fn(&Params<'_>) -> Result<T>) -> String {
    let error = with(value, read).unwrap_err();
    assert_eq!(error.kind(), Kind::Config);
    error.to_string()
}

/// A value from JSON text, so that numbers are as they are written there.
fn written(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Trap 8.
#[test]
fn whole_numbers_are_digits_with_or_without_a_sign() {
    for (value, expected) in [("3", 3), ("\"3\"", 3), ("\"+3\"", 3), ("\"-3\"", -3), ("-3", -3), ("\"007\"", 7)] {
        assert_eq!(with(written(value), |params| params.integer("key")).unwrap(), Some(expected), "{value}");
    }
    assert_eq!(with(written("\"+3\""), |params| params.whole("key")).unwrap(), Some(3));
    assert_eq!(with(written("18446744073709551615"), |params| params.whole("key")).unwrap(), Some(u64::MAX));
    for value in ["null", "\"\"", "\" \""] {
        assert_eq!(with(written(value), |params| params.integer("key")).unwrap(), None, "{value}");
    }
}

/// Trap 8.
#[test]
fn what_is_nearly_a_whole_number_is_refused_with_advice() {
    for (value, said) in [
        ("\"3 \"", "parameter.key must be a whole number, not \"3 \" (write 3)"),
        ("\" 3\"", "parameter.key must be a whole number, not \" 3\" (write 3)"),
        ("\"3.0\"", "parameter.key must be a whole number, not \"3.0\" (write 3)"),
        ("3.0", "parameter.key must be a whole number, not 3.0 (write 3)"),
        ("1e3", "parameter.key must be a whole number, not 1e+3 (write 1000)"),
        ("3.5", "parameter.key must be a whole number, not 3.5"),
        ("\"three\"", "parameter.key must be a whole number, not \"three\""),
        ("true", "parameter.key must be a whole number, not true"),
        ("[3]", "parameter.key must be a whole number, not a list"),
        ("\"３\"", "parameter.key must be a whole number, not \"３\""),
        ("9223372036854775808", "parameter.key must be a whole number, and 9223372036854775808 is too large"),
    ] {
        assert_eq!(refused(written(value), |params| params.integer("key")), said);
    }
    assert_eq!(
        refused(written("-1"), |params| params.whole("key")),
        "parameter.key must be a whole number from 0 on, not -1"
    );
}

/// Trap 8.
#[test]
fn truths_are_the_two_words_in_any_case() {
    for (value, expected) in [("true", true), ("\"TRUE\"", true), ("\"false\"", false), ("\"False\"", false)] {
        assert_eq!(with(written(value), |params| params.truth("key")).unwrap(), Some(expected), "{value}");
    }
    for (value, said) in [
        ("\"1\"", "must be true or false, not \"1\" (write true)"),
        ("0", "must be true or false, not 0 (write false)"),
        ("\" true\"", "must be true or false, not \" true\" (write true)"),
        ("\"maybe\"", "must be true or false, not \"maybe\""),
        ("2", "must be true or false, not 2"),
    ] {
        assert_eq!(refused(written(value), |params| params.truth("key")), format!("parameter.key {said}"));
    }
}

#[test]
fn numbers_may_have_blanks_around_them_and_must_be_finite() {
    for (value, expected) in [("0.5", 0.5), ("\" 0.02 \"", 0.02), ("\"1e3\"", 1000.0), ("-7", -7.0)] {
        assert_eq!(with(written(value), |params| params.number("key")).unwrap(), Some(expected), "{value}");
    }
    for value in ["\"NaN\"", "\"inf\"", "1e999", "\"0,5\"", "true"] {
        assert!(refused(written(value), |params| params.number("key")).contains("must be a number"), "{value}");
    }
    assert_eq!(with(written("\" \""), |params| params.number("key")).unwrap(), None);
}

#[test]
fn numbers_taken_as_text_keep_their_digits() {
    for text in ["1.50", "123456789012345678901234567890.10", "-0.0", "18446744073709551616"] {
        assert_eq!(with(written(text), |params| params.text("key")).unwrap().unwrap(), text);
        assert_eq!(with(written(&format!("[{text}]")), |params| params.texts("key")).unwrap(), [text]);
    }
}

/// Trap 8.
#[test]
fn blank_can_be_told_from_absent() {
    let parameter = json!({ "blank": " ", "null": null, "zero": 0, "text": "x" });
    let params = Params::new(&parameter, "parameter").unwrap();
    let told = ["blank", "null", "zero", "text", "missing"].map(|key| params.is_blank(key));
    assert_eq!(told, [true, false, false, false, false]);
}

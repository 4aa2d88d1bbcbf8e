//! The vocabulary, and that it agrees with `Params`.

use serde_json::{Value, json};
use transship_plugin_api::Params;

use crate::schema::takes::Takes;

fn takes(words: &str) -> Takes {
    Takes::parse(words).unwrap_or_else(|| panic!("{words} are no words of the vocabulary"))
}

fn accepts(words: &str, value: Value) -> bool {
    takes(words).accepts(&value)
}

#[test]
fn words_are_told_as_a_person_says_them() {
    let told = |words: &str| takes(words).to_string();
    assert_eq!(told("string"), "a string");
    assert_eq!(told("number or object"), "a number or an object");
    assert_eq!(told("string, number or boolean"), "a string, a number or true or false");
    assert_eq!(told("string or list of strings"), "a string or a list of strings");
    assert_eq!(told(r#""text", "csv", or "sql""#), r#""text", "csv" or "sql""#);
    assert_eq!(told(r#"list of objects or ["*"]"#), r#"a list of objects or ["*"]"#);
    assert_eq!(told("1 or 2"), "1 or 2");
    assert_eq!(told("list of integers"), "a list of whole numbers");
}

#[test]
fn gaps_inside_quotes_and_brackets_separate_nothing() {
    assert_eq!(takes(r#""insert or ignore", "a, b""#).to_string(), r#""insert or ignore" or "a, b""#);
    assert_eq!(takes(r#"["a", "b"] or "\"" or "c""#).to_string(), r#"["a","b"], "\"" or "c""#);
}

#[test]
fn of_words_that_are_not_in_the_vocabulary_nothing_is_known() {
    for words in [
        "",
        "text",
        "string or text",
        "list of one object",
        "list of",
        "string,",
        "string or",
        "string number",
        "\"a\" \"b\"",
        "lists",
        "strings",
        "\"open",
        "null",
        "Number",
    ] {
        assert_eq!(Takes::parse(words), None, "{words}");
    }
}

#[test]
fn every_kind_accepts_exactly_what_params_take() {
    let values = [
        json!("text"),
        json!(""),
        json!(" "),
        json!("7"),
        json!("+7"),
        json!(" 7"),
        json!("7.0"),
        json!("7.5"),
        json!("1e3"),
        json!("18446744073709551615"),
        json!("99999999999999999999"),
        json!("NaN"),
        json!("TRUE"),
        json!(" true"),
        json!("yes"),
        json!(7),
        json!(-7),
        json!(7.5),
        json!(u64::MAX),
        json!(true),
        json!([]),
        json!(["a", 1, true]),
        json!(["a", null]),
        json!([["a"]]),
        json!({}),
        json!([{}]),
        json!([{}, "a"]),
    ];
    for value in values {
        let object = json!({ "key": value });
        let params = Params::root(&object, "it").unwrap();
        let agree = |words: &str, taken: bool| assert_eq!(accepts(words, value.clone()), taken, "{words}: {value}");
        agree("string", params.text("key").is_ok());
        agree("number", params.number("key").is_ok());
        agree("integer", params.integer("key").is_ok() || params.whole("key").is_ok());
        agree("boolean", params.truth("key").is_ok());
        agree("object", params.object("key").is_ok());
        agree("list of strings", params.texts("key").is_ok());
        agree("list of objects", params.objects("key").is_ok());
        agree("any", true);
        agree("list", value.is_array());
    }
}

#[test]
fn words_match_in_any_case_as_in_params() {
    let known = [("csv", ()), ("nonConflict", ()), ("2", ())];
    for text in [json!("csv"), json!("CSV"), json!(" nonconflict "), json!(2), json!("2"), json!("cs"), json!({})] {
        let object = json!({ "key": text });
        let taken = Params::root(&object, "it").unwrap().choice("key", &known).is_ok();
        assert_eq!(accepts(r#""csv", "nonConflict" or 2"#, text.clone()), taken, "{text}");
    }
}

#[test]
fn one_item_stands_for_a_list_of_one() {
    assert!(accepts(r#"list of objects or ["*"]"#, json!("*")));
    assert!(accepts(r#"list of objects or ["*"]"#, json!(["*"])));
    assert!(!accepts(r#"list of objects or ["*"]"#, json!(["*", "*"])));
    assert!(accepts("list of integers", json!("3")));
    assert!(!accepts("list", json!("3")), "a list of anything is no anything");
}

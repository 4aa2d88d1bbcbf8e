//! JSON values as values of columns.

use serde_json::{Value, json};
use transship_plugin_api::row::{RowBuilder, cell_to_text};

use crate::types::{Column, ColumnType, From, guess_columns, schema, set_row};

/// What a value becomes in a column of this type: its text, or why it is none.
fn become_of(kind: &str, value: &str) -> Result<Option<String>, String> {
    let kind = ColumnType::from_name(kind, None).unwrap();
    let columns = [Column { name: "x".into(), from: From::Pointer(String::new()), kind }];
    let mut rows = RowBuilder::new(schema(&columns), 1).unwrap();
    let value: Value = serde_json::from_str(value).unwrap();
    set_row(&columns, &value, &mut rows).map_err(|refusal| refusal.cause.into_owned())?;
    rows.end_row().unwrap();
    Ok(cell_to_text(rows.finish().unwrap().0.column(0), 0))
}

#[track_caller]
fn becomes(kind: &str, value: &str, expected: &str) {
    assert_eq!(become_of(kind, value).unwrap().as_deref(), Some(expected), "{kind} {value}");
}

#[track_caller]
fn refused(kind: &str, value: &str, expected: &str) {
    let cause = become_of(kind, value).unwrap_err();
    assert!(cause.contains(expected), "{kind} {value}: {cause}");
}

#[test]
fn numbers_are_kept_to_the_last_digit_or_refused() {
    becomes("number", "1.10", "1.10");
    becomes("double", "123456789012345678901234567890e400", "123456789012345678901234567890e+400");
    becomes("number", "\"-0.50\"", "-0.50");
    becomes("long", "-9223372036854775808", "-9223372036854775808");
    becomes("long", "5.0", "5");
    becomes("long", "5e3", "5000");
    becomes("long", "\"17\"", "17");
    refused("number", "\"1,5\"", "is no number");
    refused("number", "true", "is no number");
    refused("long", "9223372036854775808", "beyond 64 bits");
    refused("long", "1e300", "beyond 64 bits");
    refused("long", "1.5", "is no whole number");
    refused("long", "\"\"", "is no whole number");
    refused("long", "[1]", "is no whole number");
}

#[test]
fn texts_take_anything_and_json_stays_json() {
    becomes("string", "\"a\\u0000b\"", "a\0b");
    becomes("string", "1.50", "1.50");
    becomes("string", "false", "false");
    becomes("string", "{\"b\": 1.0, \"a\": [null]}", "{\"b\":1.0,\"a\":[null]}");
    becomes("json", "\"text\"", "\"text\"");
    for kind in ["string", "long", "number", "boolean", "date", "instant", "json", "bytes"] {
        assert_eq!(become_of(kind, "null"), Ok(None), "{kind}");
    }
}

#[test]
fn dates_have_a_zone_or_none() {
    becomes("date", "\"2024-02-29\"", "2024-02-29T00:00:00");
    becomes("date", "\"2024-02-29T01:02:03.5\"", "2024-02-29T01:02:03.5");
    becomes("instant", "\"2024-02-29T01:02:03Z\"", "2024-02-29T01:02:03Z");
    becomes("instant", "\"2024-03-01T01:02:03.25+02:30\"", "2024-02-29T22:32:03.25Z");
    becomes("instant", "\"2024-02-29 23:00:00-0130\"", "2024-03-01T00:30:00Z");
    refused("date", "\"2024-02-29T01:02:03Z\"", "give the column the type instant");
    refused("date", "\"2023-02-29\"", "does not exist");
    refused("date", "1709168523", "dates are texts");
    refused("instant", "\"2024-02-29T01:02:03\"", "has no time zone");
    refused("instant", "\"2024-02-29T01:02:03+2\"", "has no time zone");
}

#[test]
fn booleans_and_bytes_are_what_they_say() {
    becomes("boolean", "true", "true");
    becomes("boolean", "\"False\"", "false");
    becomes("bytes", "\"AAH/\"", "0001ff");
    refused("boolean", "1", "neither true nor false");
    refused("bytes", "\"!\"", "is not base 64");
}

#[test]
fn columns_are_guessed_from_all_values_of_a_key() {
    let records = [
        json!({ "n": 1, "t": "x", "mixed": 1, "b": true, "deep": 5, "never": null }),
        json!({ "new": 2, "mixed": "x", "b": false, "deep": { "a": 1 }, "n": null }),
        json!("no object"),
    ];
    let columns = guess_columns(records.iter());
    let kinds: Vec<(&str, String)> =
        columns.iter().map(|column| (column.name.as_str(), format!("{:?}", column.kind))).collect();
    let expected = [
        ("n", "Number"),
        ("t", "Text"),
        ("mixed", "Text"),
        ("b", "Boolean"),
        ("deep", "Json"),
        ("never", "Text"),
        ("new", "Number"),
    ];
    assert_eq!(kinds, expected.map(|(name, kind)| (name, kind.to_string())));
}

//! What kind of cause a cause is: the same for all records that are dirty for the same reason, though a database tells each with its own
//! values (`Duplicate entry '17' for key 'PRIMARY'`).

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;
use transship_plugin_api::DirtyRecord;

/// What stands in the place of a record's own values.
const VALUE: &str = "…";

/// What values stand in, with what ends it.
const BRACKETS: [(char, char); 3] = [('\'', '\''), ('"', '"'), ('(', ')')];

/// The cause without values of the record, where they stand in quotes or parentheses.
pub(super) fn of<'a>(cause: &'a str, record: &DirtyRecord<'_>) -> Cow<'a, str> {
    let mut rest = cause;
    let mut kind = String::new();
    let mut values: Option<Vec<String>> = None;
    while let Some(inside) = next_bracket(rest) {
        let values = values.get_or_insert_with(|| values_of(record));
        let text = &rest[inside.clone()];
        kind.push_str(&rest[..inside.start]);
        kind.push_str(if is_made_of(text, values) { VALUE } else { text });
        let behind = rest[inside.end..].chars().next().map_or(inside.end, |close| {
            kind.push(close);
            inside.end + close.len_utf8()
        });
        rest = &rest[behind..];
    }
    match values {
        None => Cow::Borrowed(cause),
        Some(_) => Cow::Owned(kind + rest),
    }
}

/// What stands in the next quotes or parentheses.
fn next_bracket(text: &str) -> Option<Range<usize>> {
    let mut before = ' ';
    text.char_indices().find_map(|(at, letter)| {
        // That of a word is an apostrophe.
        let opens = !std::mem::replace(&mut before, letter).is_alphanumeric() || letter == '(';
        let (_, close) = BRACKETS.iter().find(|(open, _)| opens && *open == letter)?;
        let start = at + letter.len_utf8();
        let length = text[start..].find(*close)?;
        Some(start..start + length)
    })
}

/// Whether a text is nothing but values, with what stands between those of a key of several columns.
fn is_made_of(text: &str, values: &[String]) -> bool {
    let without = values.iter().fold(text.to_string(), |text, value| text.replace(value.as_str(), ""));
    without.len() < text.len() && without.chars().all(|letter| matches!(letter, '-' | ',' | ' ' | '\'' | '"'))
}

/// The values of a record as texts, the longest first.
fn values_of(record: &DirtyRecord<'_>) -> Vec<String> {
    let mut values: Vec<String> = record.value.map(String::from).into_iter().collect();
    if let Some(Ok(Value::Object(columns))) = record.record.map(serde_json::from_str) {
        values.extend(columns.into_iter().map(|(_, value)| match value {
            Value::String(text) => text,
            value => value.to_string(),
        }));
    }
    values.retain(|value| !value.is_empty());
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cause: &str, value: Option<&str>, kind: &str) {
        let text = r#"{"id":17,"name":"O'Neil","day":"2026-12-01","note":""}"#;
        let record = DirtyRecord { value, record: Some(text), ..DirtyRecord::default() };
        assert_eq!(of(cause, &record), kind);
    }

    #[test]
    fn values_of_the_record_are_left_out_and_names_are_not() {
        check("Duplicate entry '17' for key 'PRIMARY' (1062)", None, "Duplicate entry '…' for key 'PRIMARY' (1062)");
        check("Duplicate entry '17-2026-12-01' for key 'a'", None, "Duplicate entry '…' for key 'a'");
        check("Key (id, day)=(17, 2026-12-01) already exists", None, "Key (id, day)=(…) already exists");
        check("\"x17\" is no integer", Some("x17"), "\"…\" is no integer");
        check("it can't be 'x17'", Some("x17"), "it can't be '…'");
    }

    #[test]
    fn what_is_none_of_its_values_stays() {
        for cause in
            ["NULL in \"id\"", "has 3 fields instead of 4", "the column 'name' (text)", "ends with '", "17", "('", ""]
        {
            check(cause, None, cause);
        }
    }

    #[test]
    fn a_record_that_is_no_json_has_the_value_that_is_told() {
        let record = DirtyRecord { value: Some("a"), record: Some("\"a;b\""), ..DirtyRecord::default() };
        assert_eq!(of("'a' is bad, 'b' is not", &record), "'…' is bad, 'b' is not");
    }
}

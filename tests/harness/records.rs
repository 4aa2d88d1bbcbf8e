//! What the program writes for machines to read: JSON documents and JSON lines.

use serde_json::Value;

/// The values in a text of JSON lines.
pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in the line {line}")))
        .collect()
}

/// The values in a text of one JSON document after another.
pub fn json_documents(text: &str) -> Vec<Value> {
    let documents = serde_json::Deserializer::from_str(text).into_iter();
    documents.map(|document| document.unwrap_or_else(|error| panic!("{error} in the text {text}"))).collect()
}

/// A whole number in a value, by a JSON pointer: `/counts/read`.
pub fn number(value: &Value, pointer: &str) -> u64 {
    let found = value.pointer(pointer).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("there is no whole number at {pointer} of {value:#}"))
}

/// A text in a value, by a JSON pointer: `/tasks/0/split`.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_else(|| panic!("there is no text at {pointer} of {value:#}"))
}

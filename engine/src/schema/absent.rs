//! When a value that is written counts as not there.

use serde_json::Value;

/// Whether a value says as little as no value: null, or a blank text.
pub(super) fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Whether a value is too little where one is required: absent, or a list of nothing else.
pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_absent),
        value => is_absent(value),
    }
}

//! What DataX does with a job file and transship does not: values that it decrypts, and hooks of plugins.

use serde_json::Value;
use transship_plugin_api::Params;

use super::reading::Notes;

/// Whether values whose keys begin with `*` are encrypted with DataX's keys.
pub(super) fn is_encrypted(job: &Params<'_>) -> bool {
    let version = job.object("setting").ok().flatten().and_then(|setting| setting.text("keyVersion").ok().flatten());
    version.is_some_and(|version| !version.trim().is_empty())
}

/// DataX decrypts values with keys that transship does not have: moving data with what is still encrypted can only go wrong.
pub(super) fn refuse_encrypted(tree: &Value, notes: &mut Notes<'_>) {
    let encrypted = encrypted_keys(tree, "");
    for path in &encrypted {
        notes.refuse(&format!(
            "{path} is encrypted with DataX's key (job.setting.keyVersion), which is not supported: write \"${{env:NAME}}\" or \
             \"${{file:PATH}}\" and keep the secret there"
        ));
    }
    if encrypted.is_empty() {
        notes.warn("job.setting.keyVersion is ignored: nothing in the file is encrypted");
    }
}

/// Whether a key of this name holds an encrypted value.
pub(super) fn is_marked(key: &str) -> bool {
    key.starts_with('*') && !key.starts_with("**")
}

fn encrypted_keys(value: &Value, place: &str) -> Vec<String> {
    let inside = |key: &str| if place.is_empty() { key.to_string() } else { format!("{place}.{key}") };
    match value {
        Value::Object(object) => {
            let each = object.iter().flat_map(|(key, value)| match value {
                Value::String(_) if is_marked(key) => vec![inside(key)],
                value => encrypted_keys(value, &inside(key)),
            });
            each.collect()
        }
        Value::Array(items) => {
            let each =
                items.iter().enumerate().flat_map(|(index, item)| encrypted_keys(item, &format!("{place}[{index}]")));
            each.collect()
        }
        _ => Vec::new(),
    }
}

/// DataX has plugins change a job before it runs, and work after it.
pub(super) fn warn_of_handlers(job: &Params<'_>, notes: &mut Notes<'_>) {
    for key in ["preHandler", "postHandler"] {
        let handler = job.object(key).ok().flatten();
        let plugin = handler.and_then(|handler| handler.text("pluginType").ok().flatten());
        if plugin.is_some_and(|plugin| !plugin.is_empty()) {
            notes.warn(&format!("job.{key} is ignored: plugins have no such hooks here"));
        }
    }
}

//! The JSON Schema of job files, put together from the tables of the job and of the plugins.
//!
//! It is of draft 7, the newest that every editor completes by. `errorMessage` and `enumDescriptions` are no part of it: Visual
//! Studio Code shows them, and all else passes over them.
//!
//! A name that no plugin has is an error to an editor, because it is either misspelt or of a plugin that is not installed, and
//! the job would not run; but not beside a `path`, which brings a plugin that nobody has asked. Keys that nobody knows are none:
//! DataX takes them, and `transship check` warns of them.

use serde_json::{Map, Value, json};
use transship_plugin_api::Parameter;
use transship_plugin_api::plugin::Component;

use super::takes::{Kind, Takes};
use super::tree::{Key, Keys};
use super::{Components, forms};
use crate::config::JOB_KEYS;

/// The JSON Schema of job files for these plugins.
pub fn of_job_files(components: &Components<'_>) -> Value {
    let mut document = Document { components, definitions: Map::new() };
    let job_file = document.object(&Keys::of(JOB_KEYS), "");
    for (name, form) in forms::definitions() {
        document.definitions.insert(name.into(), form);
    }
    let mut schema = Map::new();
    schema.insert("$schema".into(), "http://json-schema.org/draft-07/schema#".into());
    schema.insert("title".into(), "A job file of transship".into());
    schema.extend(job_file);
    schema.insert("definitions".into(), document.definitions.into());
    schema.into()
}

struct Document<'a> {
    components: &'a Components<'a>,
    /// What is referred to, by name.
    definitions: Map<String, Value>,
}

impl Document<'_> {
    /// An object with these keys; `path` leads to it.
    fn object(&mut self, keys: &Keys<'_>, path: &str) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("type".into(), "object".into());
        let required: Vec<&str> = keys.iter().filter(|key| key.is_required()).map(|key| key.name).collect();
        if !required.is_empty() {
            object.insert("required".into(), required.into());
        }
        if !keys.is_empty() {
            let property = |key: &Key<'_>| (key.name.to_string(), self.key(key, &below(path, key.name)));
            object.insert("properties".into(), keys.iter().map(property).collect::<Map<_, _>>().into());
        }
        let components = self.components;
        let by_name = match path {
            "job.content.reader" => self.by_name("reader", &components.readers),
            "job.content.writer" => self.by_name("writer", &components.writers),
            "job.content.transformer" => self.by_name("transformer", &components.transformers),
            _ => Vec::new(),
        };
        if !by_name.is_empty() {
            object.insert("allOf".into(), by_name.into());
        }
        object
    }

    /// What holds for a reader, writer or transformer because of its name.
    fn by_name(&mut self, role: &str, components: &[&Component]) -> Vec<Value> {
        let known = format!("{role}Name");
        self.definitions.insert(known.clone(), names(components));
        let mut rules = vec![json!({
            "if": { "required": ["path"] }, "else": { "properties": { "name": reference(&known) } },
        })];
        for component in components {
            let name = below(role, component.names.first().map_or("", String::as_str));
            let keys = Keys::of(&component.parameters);
            let parameter = self.object(&keys, &name);
            self.definitions.insert(name.clone(), parameter.into());
            let mut then = json!({ "properties": { "parameter": reference(&name) } });
            if keys.iter().any(Key::is_required) {
                then["required"] = json!(["parameter"]);
            }
            rules.push(json!({
                "if": { "required": ["name"], "properties": { "name": { "enum": component.names } } }, "then": then,
            }));
        }
        rules
    }

    /// The value of a key; `path` leads to it.
    fn key(&mut self, key: &Key<'_>, path: &str) -> Value {
        let mut form = Map::new();
        if let Some(parameter) = key.parameter {
            form.insert("description".into(), description(parameter, key.takes.is_some()).into());
            form.extend(default(parameter, key.takes.as_ref()).map(|default| ("default".into(), default)));
        }
        // Of what this engine doesn't know, it still knows whether it must be there.
        let anything = Takes::of([Kind::Any]);
        let takes = key.takes.as_ref().unwrap_or(&anything);
        let object = match takes.items() {
            // It is written twice.
            Some(items) if items.kinds().contains(&Kind::Object) && !key.inside.is_empty() => {
                let object = self.object(&key.inside, path);
                self.definitions.insert(path.into(), object.into());
                reference(path)
            }
            _ => self.object(&key.inside, path).into(),
        };
        form.extend(forms::of_value(takes, key.is_required(), &object));
        form.into()
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

/// A reference to a definition, whose name may hold any character.
fn reference(name: &str) -> Value {
    let mut pointer = String::from("#/definitions/");
    for byte in name.replace('~', "~0").replace('/', "~1").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => pointer.push(byte.into()),
            byte => pointer += &format!("%{byte:02X}"),
        }
    }
    json!({ "$ref": pointer })
}

/// The names of these components, each with what it does; or a text that may hold a variable.
fn names(components: &[&Component]) -> Value {
    let all = || components.iter().flat_map(|component| component.names.iter().map(|name| (name, &component.about)));
    let (names, abouts): (Vec<_>, Vec<_>) = all().unzip();
    let variable = json!({ "type": "string", "pattern": r"\$" });
    if names.is_empty() {
        return variable;
    }
    json!({ "anyOf": [{ "enum": names, "enumDescriptions": abouts }, variable] })
}

/// What a person is told of a parameter.
fn description(parameter: &Parameter, is_known: bool) -> String {
    let Parameter { takes, default, about, .. } = parameter;
    let mut sentences = vec![about.trim_end_matches('.').to_string()];
    if !is_known {
        sentences.push(format!("Takes: {takes}"));
    }
    if !default.is_empty() {
        sentences.push(format!("Default: {default}"));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(". ")
}

/// The default as a value, where it is certain to be one: of a string, the table may have a description.
fn default(parameter: &Parameter, takes: Option<&Takes>) -> Option<Value> {
    let kinds = takes?.kinds().iter().filter(|kind| !matches!(kind, Kind::Any | Kind::String));
    let takes = Takes::of(kinds.cloned().collect::<Vec<_>>());
    let written = serde_json::from_str(&parameter.default).ok().filter(|value: &Value| !value.is_string());
    let word = Value::from(&*parameter.default);
    written.into_iter().chain([word]).find(|value| takes.has(value))
}

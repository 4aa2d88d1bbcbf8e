//! The check of one `parameter` object against the table of its plugin.

use serde_json::{Map, Value};
use transship_plugin_api::Parameter;
use transship_plugin_api::params::describe;

use super::absent::{is_absent, is_blank};
use super::takes::Takes;
use super::tree::{Key, Keys};
use crate::secrets::is_secret_name;

/// What is wrong with a value, or with its absence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, from the object on: `column[2].type`. Empty: the object itself.
    pub path: String,
    /// What, to be read behind the path: `is required`, `must be a whole number, not "many"`.
    pub message: String,
}

/// What a `parameter` object lacks or has wrong by its plugin's table, everything at once, in the order of the table. What the
/// plugin's [`Params`](transship_plugin_api::Params) takes is never wrong; a plugin may well refuse what is right here. Values of
/// secrets are not shown.
pub fn violations(parameter: &Value, known: &[Parameter]) -> Vec<Violation> {
    let mut check = Check::default();
    match parameter {
        Value::Object(object) => check.object(object, &Keys::of(known), &Place::default()),
        Value::Null => check.object(&Map::new(), &Keys::of(known), &Place::default()),
        other => check.report(&Place::default(), format!("must be an object, not {}", describe(other))),
    }
    check.found
}

#[derive(Default)]
struct Check {
    found: Vec<Violation>,
}

/// A place in the object, and whether what stands there is a secret.
#[derive(Default)]
struct Place {
    path: String,
    is_secret: bool,
}

impl Place {
    fn key(&self, key: &str) -> Place {
        let path = if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) };
        Place { path, is_secret: self.is_secret || is_secret_name(key) }
    }

    fn item(&self, index: usize) -> Place {
        Place { path: format!("{}[{index}]", self.path), is_secret: self.is_secret }
    }
}

impl Check {
    fn object(&mut self, object: &Map<String, Value>, keys: &Keys<'_>, place: &Place) {
        for key in keys.iter() {
            self.key(key, object.get(key.name).unwrap_or(&Value::Null), &place.key(key.name));
        }
    }

    fn key(&mut self, key: &Key<'_>, value: &Value, place: &Place) {
        if key.is_required() && is_blank(value) {
            let problem = if value.is_null() { "is required" } else { "is required, but empty" };
            return self.report(place, problem.into());
        }
        if is_absent(value) {
            return;
        }
        if let Some(takes) = key.takes.as_ref().filter(|takes| !takes.accepts(value)) {
            self.wrong_kind(takes, value, place);
        }
        match value {
            Value::Object(object) => self.object(object, &key.inside, place),
            Value::Array(items) => {
                for (index, object) in
                    items.iter().enumerate().filter_map(|(index, item)| Some((index, item.as_object()?)))
                {
                    self.object(object, &key.inside, &place.item(index));
                }
            }
            _ => {}
        }
    }

    fn wrong_kind(&mut self, takes: &Takes, value: &Value, place: &Place) {
        match (takes.items(), value) {
            // The list is right: what is in it is not.
            (Some(items), Value::Array(values)) => {
                for (index, value) in values.iter().enumerate().filter(|(_, value)| !items.accept_in_list(value)) {
                    self.not_one_of(&items, value, &place.item(index));
                }
            }
            _ => self.not_one_of(takes, value, place),
        }
    }

    fn not_one_of(&mut self, takes: &Takes, value: &Value, place: &Place) {
        let given = if place.is_secret { kind_of(value).into() } else { describe(value) };
        let told = match takes.kinds() {
            [only] if !place.is_secret => only.problem(value),
            _ => None,
        };
        self.report(place, told.unwrap_or_else(|| format!("must be {takes}, not {given}")));
    }

    fn report(&mut self, place: &Place, message: String) {
        self.found.push(Violation { path: place.path.clone(), message });
    }
}

/// What kind of JSON a value is, without the value.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

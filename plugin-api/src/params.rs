//! Reads a plugin's `parameter` object: typed values out, and errors that name the path of the bad one.
//!
//! Numbers and booleans may be written as strings, as DataX takes them. A key that is absent, `null` or (for numbers and
//! booleans) `""` is not there. Unknown keys are the engine's business: it warns about those that the plugin's
//! [`Parameter`](crate::plugin::Parameter) table doesn't list.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// A JSON object of parameters and the path that leads to it (`parameter.column[2]`).
#[derive(Clone)]
pub struct Params<'a> {
    object: &'a Map<String, Value>,
    path: String,
}

impl fmt::Debug for Params<'_> {
    /// The path and the keys; values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.path, self.object.keys().collect::<Vec<_>>())
    }
}

impl<'a> Params<'a> {
    /// The parameters in a JSON value, which must be an object.
    pub fn new(value: &'a Value, path: impl Into<String>) -> Result<Params<'a>> {
        let path = path.into();
        match value {
            Value::Object(object) => Ok(Params { object, path }),
            other => Err(Error::config(format!("{path} must be an object, not {}", describe(other)))),
        }
    }

    /// The parameters in a JSON value that is the root of all paths; `what` it is, for the message when it is no object.
    pub fn root(value: &'a Value, what: &str) -> Result<Params<'a>> {
        Ok(Params { path: String::new(), ..Params::new(value, what)? })
    }

    /// The path of a key, for messages: `parameter.column[2].type`.
    pub fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    /// An error about the value of a key: `parameter.key <problem>`.
    pub fn error(&self, key: &str, problem: impl fmt::Display) -> Error {
        Error::config(format!("{} {problem}", self.path(key)))
    }

    /// The value as written, if there is one.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A text. Numbers and booleans are taken as written.
    pub fn text(&self, key: &str) -> Result<Option<String>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(Value::Bool(truth)) => Ok(Some(truth.to_string())),
            Some(other) => Err(self.error(key, format_args!("must be a string, not {}", describe(other)))),
        }
    }

    /// A text that must be there and not be blank.
    pub fn required_text(&self, key: &str) -> Result<String> {
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(self.error(key, "is required, but empty")),
            None => Err(self.error(key, "is required")),
        }
    }

    /// One of a few words, in any case; `words` gives each with what it stands for.
    pub fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text.trim())) {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => {
                let known: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                Err(self.error(key, format_args!("is \"{text}\", but must be {}", known.join(" or "))))
            }
        }
    }

    /// A whole number from 0 on.
    pub fn whole(&self, key: &str) -> Result<Option<u64>> {
        let problem =
            |value: &Value| self.error(key, format_args!("must be a whole number from 0 on, not {}", describe(value)));
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(value @ Value::String(text)) => text.trim().parse().map(Some).map_err(|_| problem(value)),
            Some(value) => match value
                .as_u64()
                .or_else(|| value.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0).map(|n| n as u64))
            {
                Some(number) => Ok(Some(number)),
                None => Err(problem(value)),
            },
        }
    }

    /// A whole number that may be negative, as DataX's `-1` for "no limit".
    pub fn integer(&self, key: &str) -> Result<Option<i64>> {
        let problem = |value: &Value| self.error(key, format_args!("must be a whole number, not {}", describe(value)));
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(value @ Value::String(text)) => text.trim().parse().map(Some).map_err(|_| problem(value)),
            Some(value) => {
                match value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64)) {
                    Some(number) => Ok(Some(number)),
                    None => Err(problem(value)),
                }
            }
        }
    }

    /// A number.
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        let problem = |value: &Value| self.error(key, format_args!("must be a number, not {}", describe(value)));
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(value @ Value::String(text)) => text.trim().parse().map(Some).map_err(|_| problem(value)),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| problem(value)),
        }
    }

    /// `true` or `false`, as a boolean or as a string in any case.
    pub fn truth(&self, key: &str) -> Result<Option<bool>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(*truth)),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(other) => Err(self.error(key, format_args!("must be true or false, not {}", describe(other)))),
        }
    }

    /// A list of texts; a single text is a list of one, an absent key an empty list.
    pub fn texts(&self, key: &str) -> Result<Vec<String>> {
        match self.value(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(index, item)| match item {
                    Value::String(text) => Ok(text.clone()),
                    Value::Number(number) => Ok(number.to_string()),
                    Value::Bool(truth) => Ok(truth.to_string()),
                    other => Err(Error::config(format!(
                        "{}[{index}] must be a string, not {}",
                        self.path(key),
                        describe(other)
                    ))),
                })
                .collect(),
            Some(_) => Ok(self.text(key)?.into_iter().collect()),
        }
    }

    /// An object inside this one.
    pub fn object(&self, key: &str) -> Result<Option<Params<'a>>> {
        self.value(key).map(|value| Params::new(value, self.path(key))).transpose()
    }

    /// A list of objects; a single object is a list of one, an absent key an empty list.
    pub fn objects(&self, key: &str) -> Result<Vec<Params<'a>>> {
        match self.value(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(index, item)| Params::new(item, format!("{}[{index}]", self.path(key))))
                .collect(),
            Some(single) => Ok(vec![Params::new(single, self.path(key))?]),
        }
    }
}

/// The known name that a misspelt one was probably meant to be, for "did you mean". Of paths like `column[].type` only the last
/// word may be misspelt, however long the path is.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let last_word = |path: &str| path.rsplit('.').next().unwrap_or(path).len();
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(&name, &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= (last_word(known) / 3).max(1))
        .min()
        .map(|(_, known)| known)
}

/// What kind of JSON a value is, in words; a short scalar is shown. Only call it for values that are no secret.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("\"{text}\""),
        Value::String(_) => "a long string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

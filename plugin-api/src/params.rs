//! Reads a plugin's `parameter` object: typed values out, and errors that name the path of the bad one.
//!
//! Numbers and booleans may be written as strings, as DataX takes them, and by its rules: `"3"` and `"+3"` are whole numbers,
//! `" 3"` and `3.0` are none. A key that is absent, `null` or (for numbers and booleans) blank is not there; where blank must
//! not pass for absent, [`Params::is_blank`] tells them apart. Unknown keys are the engine's business: it warns about those that the plugin's
//! [`Parameter`](crate::plugin::Parameter) table doesn't list.

mod length;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::{Error, Result};

pub use length::length_of_time;

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
                let known = one_of(words.iter().map(|(word, _)| *word));
                Err(self.error(key, format_args!("is \"{text}\", but must be {known}")))
            }
        }
    }

    /// Whether the value is a text of nothing but white space, which typed methods take for absent.
    pub fn is_blank(&self, key: &str) -> bool {
        self.value(key).is_some_and(is_blank)
    }

    /// A whole number from 0 on.
    pub fn whole(&self, key: &str) -> Result<Option<u64>> {
        self.whole_number(key, "a whole number from 0 on")
    }

    /// A whole number that may be negative, as DataX's `-1` for "no limit".
    pub fn integer(&self, key: &str) -> Result<Option<i64>> {
        self.whole_number(key, "a whole number")
    }

    /// A whole number by its text, as Java's `Integer.parseInt` and its kin read it: digits with or without a sign, and
    /// nothing else.
    fn whole_number<T: TryFrom<i128>>(&self, key: &str, what: &str) -> Result<Option<T>> {
        let value = match self.value(key) {
            Some(value) if !is_blank(value) => value,
            _ => return Ok(None),
        };
        let number = scalar_text(value).and_then(|text| text.parse::<i128>().ok());
        let problem = match number.map(|number| (T::try_from(number), number)) {
            Some((Ok(number), _)) => return Ok(Some(number)),
            Some((Err(_), 0..)) => format!("must be {what}, and {} is too large", describe(value)),
            _ => {
                let advice = whole_meant(value).map_or(String::new(), |meant| format!(" (write {meant})"));
                format!("must be {what}, not {}{advice}", describe(value))
            }
        };
        Err(self.error(key, problem))
    }

    /// A number. Blanks around one in a string are passed over, as Java does.
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        match self.value(key) {
            Some(value) if !is_blank(value) => {
                let number = scalar_text(value).and_then(|text| text.trim().parse().ok());
                let number = number.filter(|number: &f64| number.is_finite());
                number
                    .map(Some)
                    .ok_or_else(|| self.error(key, format_args!("must be a number, not {}", describe(value))))
            }
            _ => Ok(None),
        }
    }

    /// A length of time: a number and its unit, like `10 ms` (see [`length_of_time`]).
    pub fn length(&self, key: &str) -> Result<Option<Duration>> {
        let Some(text) = self.text(key)?.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
        let length = length_of_time(&text).ok_or_else(|| {
            self.error(
                key,
                format_args!("must be a length of time with its unit, like \"10 ms\" or \"2 s\", not \"{text}\""),
            )
        });
        length.map(Some)
    }

    /// `true` or `false`, as a boolean or as a string in any case.
    pub fn truth(&self, key: &str) -> Result<Option<bool>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(*truth)),
            Some(value) if is_blank(value) => Ok(None),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(other) => {
                let meant = scalar_text(other).and_then(|text| match text.trim().to_ascii_lowercase().as_str() {
                    "true" | "1" | "yes" | "y" | "on" => Some("true"),
                    "false" | "0" | "no" | "n" | "off" => Some("false"),
                    _ => None,
                });
                let advice = meant.map_or(String::new(), |meant| format!(" (write {meant})"));
                Err(self.error(key, format_args!("must be true or false, not {}{advice}", describe(other))))
            }
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
            Some(single @ Value::Object(_)) => Ok(vec![Params::new(single, self.path(key))?]),
            Some(other) => Err(self.error(key, format_args!("must be a list of objects, not {}", describe(other)))),
        }
    }
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The text of a string, or a number as it is written.
fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// The whole number that was meant by `" 3"`, `3.0` or `1e3`.
fn whole_meant(value: &Value) -> Option<i64> {
    const EXACT: f64 = (1u64 << 53) as f64;
    let text = scalar_text(value)?;
    let number: f64 = text.trim().parse().ok().filter(|_| text.parse::<i128>().is_err())?;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
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

/// Words in quotes, for "must be": `"a", "b" or "c"`.
pub fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut words: Vec<String> = words.into_iter().map(|word| format!("\"{word}\"")).collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
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

#[cfg(test)]
mod tests;

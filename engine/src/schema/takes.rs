//! What a parameter takes, from the words of its table: `string or list of strings`, `"csv" or "text"`, `list of objects or
//! ["*"]`. The vocabulary is told at [`Parameter::takes`](transship_plugin_api::Parameter).

use std::fmt;

use serde_json::Value;
use transship_plugin_api::Params;

/// One of the kinds of value that a parameter takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    String,
    Number,
    Integer,
    Boolean,
    Object,
    /// A list of these. One of them alone stands for a list of one, unless anything may be in the list.
    List(Box<Kind>),
    /// This value and no other. Texts match in any case.
    Just(Value),
}

/// The kinds that a parameter takes; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Takes(Vec<Kind>);

impl Takes {
    /// The kinds that these words name. `None`: some of them are no words of the vocabulary, so nothing is known.
    pub(super) fn parse(text: &str) -> Option<Takes> {
        let (kind, mut rest) = first_kind(text)?;
        let mut kinds = vec![kind];
        while !rest.is_empty() {
            let (kind, after) = first_kind(behind_gap(rest)?)?;
            kinds.push(kind);
            rest = after;
        }
        Some(Takes(kinds))
    }

    /// A parameter that takes these.
    pub(super) fn of(kinds: impl Into<Vec<Kind>>) -> Takes {
        Takes(kinds.into())
    }

    pub(super) fn kinds(&self) -> &[Kind] {
        &self.0
    }

    /// Whether a value is among them, with what DataX lets pass: numbers and booleans as texts, texts as numbers or booleans, one
    /// item for a list of one.
    pub(super) fn accepts(&self, value: &Value) -> bool {
        self.0.iter().any(|kind| kind.accepts(value))
    }

    /// The same for an item of a list, which is never absent.
    pub(super) fn accept_in_list(&self, value: &Value) -> bool {
        self.0.iter().any(|kind| kind.accepts_in_list(value))
    }

    /// Whether a value is among them just as it is written.
    pub(super) fn has(&self, value: &Value) -> bool {
        self.0.iter().any(|kind| match kind {
            Kind::Any => true,
            Kind::String => value.is_string(),
            Kind::Number | Kind::Integer => value.is_number() && kind.accepts(value),
            Kind::Boolean => value.is_boolean(),
            Kind::Object | Kind::Just(_) => kind.accepts(value),
            Kind::List(_) => value.is_array() && kind.accepts(value),
        })
    }

    /// What an item of a list may be, where a list is among them.
    pub(super) fn items(&self) -> Option<Takes> {
        let items = self.0.iter().filter_map(|kind| match kind {
            Kind::List(item) => Some((**item).clone()),
            _ => None,
        });
        let items: Vec<Kind> = items.collect();
        (!items.is_empty()).then_some(Takes(items))
    }
}

impl Kind {
    /// The value, if it is one that may be written as a word.
    pub(super) fn word(&self) -> Option<&Value> {
        match self {
            Kind::Just(value) => Some(value).filter(|value| scalar_text(value).is_some()),
            _ => None,
        }
    }

    /// What [`Params`] has against a value, for the kinds that it has a method for: `must be a number, not "many"`.
    pub(super) fn problem(&self, value: &Value) -> Option<String> {
        let object = Value::Object([(String::new(), value.clone())].into_iter().collect());
        let params = Params::root(&object, "").ok()?;
        let error = match self {
            Kind::String => params.text("").err(),
            Kind::Number => params.number("").err(),
            Kind::Integer => params.integer("").err().filter(|_| params.whole("").is_err()),
            Kind::Boolean => params.truth("").err(),
            _ => None,
        };
        // The path before it is the empty key's.
        error.map(|error| error.to_string().trim_start().to_string())
    }

    fn accepts_in_list(&self, value: &Value) -> bool {
        self.accepts(value) && (*self == Kind::Any || !value.is_null())
    }

    fn accepts(&self, value: &Value) -> bool {
        match self {
            Kind::Any => true,
            Kind::String | Kind::Number | Kind::Integer | Kind::Boolean => self.problem(value).is_none(),
            Kind::Object => value.is_object(),
            Kind::List(item) => match value {
                Value::Array(items) => items.iter().all(|value| item.accepts_in_list(value)),
                single => **item != Kind::Any && item.accepts(single),
            },
            Kind::Just(Value::Array(items)) => match value {
                Value::Array(given) => same_texts(items, given),
                single => same_texts(items, std::slice::from_ref(single)),
            },
            Kind::Just(known) => same_text(known, value),
        }
    }
}

fn same_texts(known: &[Value], given: &[Value]) -> bool {
    known.len() == given.len() && known.iter().zip(given).all(|(known, given)| same_text(known, given))
}

fn same_text(known: &Value, given: &Value) -> bool {
    match (scalar_text(known), scalar_text(given)) {
        (Some(known), Some(given)) => known.eq_ignore_ascii_case(given.trim()),
        _ => known == given,
    }
}

/// The text that a scalar is or is written as.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

impl fmt::Display for Takes {
    /// As it stands behind "must be": `a string, a list of objects or "*"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, kind) in self.0.iter().enumerate() {
            let before = match index {
                0 => "",
                last if last + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{before}{kind}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Any => "anything",
            Kind::String => "a string",
            Kind::Number => "a number",
            Kind::Integer => "a whole number",
            Kind::Boolean => "true or false",
            Kind::Object => "an object",
            Kind::Just(value) => return write!(f, "{value}"),
            Kind::List(item) => match **item {
                Kind::String => "a list of strings",
                Kind::Number => "a list of numbers",
                Kind::Integer => "a list of whole numbers",
                Kind::Boolean => "a list of true or false",
                Kind::Object => "a list of objects",
                _ => "a list",
            },
        })
    }
}

/// The kind that a text begins with, and what follows it.
fn first_kind(text: &str) -> Option<(Kind, &str)> {
    let text = text.trim_start();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (kind, length) = match values.next() {
        // What stands there as it would in a job file: "csv", 2, true, ["*"].
        Some(Ok(value)) if !value.is_null() => (Kind::Just(value), values.byte_offset()),
        _ => {
            let length = [text.find(','), text.find(" or ")].into_iter().flatten().min().unwrap_or(text.len());
            (named(text[..length].trim_end())?, length)
        }
    };
    Some((kind, text[length..].trim_start()))
}

/// What follows a comma, an "or", or both.
fn behind_gap(text: &str) -> Option<&str> {
    let behind_comma = text.strip_prefix(',').map(str::trim_start);
    behind_comma.unwrap_or(text).strip_prefix("or ").or(behind_comma)
}

fn named(word: &str) -> Option<Kind> {
    Some(match word {
        "any" => Kind::Any,
        "string" => Kind::String,
        "number" => Kind::Number,
        "integer" => Kind::Integer,
        "boolean" => Kind::Boolean,
        "object" => Kind::Object,
        "list" => Kind::List(Box::new(Kind::Any)),
        _ => Kind::List(Box::new(named(word.strip_prefix("list of ")?.strip_suffix('s')?)?)),
    })
}

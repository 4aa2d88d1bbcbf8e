//! Texts and JSON with `{names}` in them that stand for the values of columns; `{{` and `}}` are braces.

use std::borrow::Cow;

use serde_json::Value;

/// A text with names in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Name(String),
}

impl Template {
    /// # Errors
    /// What is wrong with it: continues the sentence "parameter.url …".
    pub(crate) fn parse(text: &str) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..at + 1];
            rest = &rest[at + 1..];
            if let Some(behind) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = behind;
                continue;
            }
            let name = rest.split_once('}').filter(|(name, _)| brace == "{" && !name.is_empty() && !name.contains('{'));
            let Some((name, behind)) = name else {
                return Err(format!(
                    "has a single \"{brace}\" with no name in it: write \"{brace}{brace}\" for the brace itself"
                ));
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Name(name.into()));
            rest = behind;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Template(pieces))
    }

    /// The names in it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Name(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The only name, if there is nothing else.
    fn only_name(&self) -> Option<&str> {
        match &self.0[..] {
            [Piece::Name(name)] => Some(name),
            _ => None,
        }
    }

    /// The text with a value for each name.
    pub(crate) fn fill<'a>(&self, value: impl Fn(&str) -> Cow<'a, str>) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => Cow::Borrowed(text.as_str()),
            Piece::Name(name) => value(name),
        });
        pieces.collect()
    }

    /// The text with something harmless for each name, to look at the rest of it.
    pub(crate) fn without_names(&self) -> String {
        self.fill(|_| "0".into())
    }

    /// How it looks with its names.
    pub(crate) fn shown(&self) -> String {
        self.fill(|_| "_".into())
    }
}

/// A value as a part of a URL: all but letters, digits and `-._~` encoded.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte as char),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// JSON with names in its texts. A text that is a name and nothing else becomes the value itself: a number, a list.
#[derive(Debug, Clone)]
pub(crate) enum JsonTemplate {
    Plain(Value),
    Text(Template),
    List(Vec<JsonTemplate>),
    Object(Vec<(String, JsonTemplate)>),
}

impl JsonTemplate {
    pub(crate) fn parse(value: &Value) -> Result<JsonTemplate, String> {
        Ok(match value {
            Value::String(text) => JsonTemplate::Text(Template::parse(text)?),
            Value::Array(items) => JsonTemplate::List(items.iter().map(JsonTemplate::parse).collect::<Result<_, _>>()?),
            Value::Object(object) => {
                let pairs = object.iter().map(|(key, value)| Ok((key.clone(), JsonTemplate::parse(value)?)));
                JsonTemplate::Object(pairs.collect::<Result<_, String>>()?)
            }
            other => JsonTemplate::Plain(other.clone()),
        })
    }

    /// The names in it.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            JsonTemplate::Plain(_) => Vec::new(),
            JsonTemplate::Text(template) => template.names().collect(),
            JsonTemplate::List(items) => items.iter().flat_map(JsonTemplate::names).collect(),
            JsonTemplate::Object(pairs) => pairs.iter().flat_map(|(_, value)| value.names()).collect(),
        }
    }

    /// The JSON with a value for each name.
    pub(crate) fn fill(&self, value: &impl Fn(&str) -> Value) -> Value {
        match self {
            JsonTemplate::Plain(plain) => plain.clone(),
            JsonTemplate::Text(template) => match template.only_name() {
                Some(name) => value(name),
                None => Value::from(template.fill(|name| Cow::Owned(crate::types::text_of(&value(name)).into_owned()))),
            },
            JsonTemplate::List(items) => items.iter().map(|item| item.fill(value)).collect(),
            JsonTemplate::Object(pairs) => {
                Value::Object(pairs.iter().map(|(key, item)| (key.clone(), item.fill(value))).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_filled_and_doubled_braces_are_braces() {
        let template = Template::parse("a{b}c{{d}}{e f}").unwrap();
        assert_eq!(template.names().collect::<Vec<_>>(), ["b", "e f"]);
        assert_eq!(template.fill(|name| name.to_uppercase().into()), "aBc{d}E F");
        for broken in ["{", "}", "a{}", "a{b", "a}b", "{a{b}"] {
            assert!(Template::parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn what_means_something_in_a_url_is_encoded() {
        assert_eq!(encode("a/b c?ü&=%-._~"), "a%2Fb%20c%3F%C3%BC%26%3D%25-._~");
    }

    #[test]
    fn a_text_that_is_a_name_becomes_the_value_itself() {
        let template = JsonTemplate::parse(&json!({ "id": "{id}", "what": ["no {id}", 5, null] })).unwrap();
        assert_eq!(template.names(), ["id", "id"]);
        assert_eq!(template.fill(&|_| json!(7)), json!({ "id": 7, "what": ["no 7", 5, null] }));
    }
}

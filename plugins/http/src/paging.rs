//! How to come from one page of records to the next.

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transship_plugin_api::{Error, Params, Result};

use crate::client::{Ask, Body};
use crate::config::pointer;
use crate::secret::shown;
use crate::types::{pointer_to, text_of};

/// How to come from one page to the next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paging {
    by: By,
    /// Where the page or the cursor goes, and the size.
    parameter: String,
    in_body: bool,
    size: Option<(String, u64)>,
    /// A JSON pointer to what says whether there are more.
    more: Option<String>,
    most: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
enum By {
    /// There is one page.
    Nothing,
    /// Pages have numbers.
    Page { start: u64 },
    /// The next page begins behind the records that came.
    Offset { start: u64 },
    /// The answer has a value that leads to the next page.
    Cursor { pointer: String },
    /// The answer has a `Link` header.
    Link,
    /// The answer has the URL of the next page.
    Next { pointer: String },
}

/// Which page it is. It says all that a later run needs to go on there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Counted from 0, for people.
    pub(crate) page: u64,
    /// What leads to it: a number, a cursor, a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Value>,
}

/// What an answer said of the next page.
pub(crate) struct Turn<'a> {
    /// How many records came.
    pub(crate) records: u64,
    /// What stood around them.
    pub(crate) around: &'a Value,
    /// The `Link` headers.
    pub(crate) links: &'a [String],
    /// Where the answer came from.
    pub(crate) url: &'a Url,
}

impl Paging {
    pub(crate) fn parse(parameter: &Params<'_>, body: Option<&Value>, in_lines: bool) -> Result<Paging> {
        let Some(params) = parameter.object("paging")? else {
            let by = By::Nothing;
            return Ok(Paging { by, parameter: String::new(), in_body: false, size: None, more: None, most: None });
        };
        let words = [("page", 0), ("offset", 1), ("cursor", 2), ("link", 3), ("next", 4)];
        let word = params
            .choice("by", &words)?
            .ok_or_else(|| params.error("by", "is required: page, offset, cursor, link or next"))?;
        let next = || Ok::<_, Error>(pointer(&params, "pointer")?.unwrap_or_else(|| "/next".into()));
        let (by, default) = match word {
            0 => (By::Page { start: params.whole("start")?.unwrap_or(1) }, "page"),
            1 => (By::Offset { start: params.whole("start")?.unwrap_or(0) }, "offset"),
            2 => (By::Cursor { pointer: next()? }, "cursor"),
            3 => (By::Link, ""),
            _ => (By::Next { pointer: next()? }, ""),
        };
        if in_lines && matches!(by, By::Cursor { .. } | By::Next { .. }) {
            return Err(
                params.error("by", "needs an answer with something around its records, which lines of JSON have not")
            );
        }
        let in_body = params.choice("in", &[("query", false), ("body", true)])?.unwrap_or(false);
        if in_body && !matches!(body, Some(Value::Object(_))) {
            return Err(params.error("in", "is \"body\", but the body is no JSON object"));
        }
        let size_parameter = params.text("sizeParameter")?;
        let size = match (params.whole("size")?, size_parameter) {
            (Some(0), _) => return Err(params.error("size", "must be 1 or more, not 0")),
            (Some(size), name) => Some((name.unwrap_or_else(|| "limit".into()), size)),
            (None, Some(_)) => return Err(params.error("sizeParameter", "needs a size")),
            (None, None) => None,
        };
        Ok(Paging {
            by,
            parameter: params
                .text("parameter")?
                .filter(|name| !name.trim().is_empty())
                .unwrap_or_else(|| default.into()),
            in_body,
            size,
            more: pointer(&params, "more")?,
            most: params.whole("most")?,
        })
    }

    /// Whether there is only one page.
    pub(crate) fn is_single(&self) -> bool {
        self.by == By::Nothing
    }

    /// The first page.
    pub(crate) fn start(&self) -> Place {
        let at = match self.by {
            By::Page { start } | By::Offset { start } => Some(start.into()),
            By::Nothing | By::Cursor { .. } | By::Link | By::Next { .. } => None,
        };
        Place { page: 0, at }
    }

    /// Makes a request ask for a page.
    pub(crate) fn turn_to(&self, place: &Place, ask: &mut Ask) -> Result<()> {
        let by_url = matches!(self.by, By::Link | By::Next { .. });
        if by_url && let Some(Value::String(url)) = &place.at {
            ask.url = Url::parse(url).map_err(|error| Error::internal(format!("no URL of a page: {error}")))?;
            return Ok(());
        }
        if let Some((name, size)) = &self.size {
            self.set(ask, name, &(*size).into())?;
        }
        match &place.at {
            Some(value) => self.set(ask, &self.parameter, value),
            None => Ok(()),
        }
    }

    fn set(&self, ask: &mut Ask, name: &str, value: &Value) -> Result<()> {
        if !self.in_body {
            let others: Vec<(String, String)> = ask
                .url
                .query_pairs()
                .filter(|(other, _)| other != name)
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            ask.url.query_pairs_mut().clear().extend_pairs(others).append_pair(name, &text_of(value));
            return Ok(());
        }
        let mut body: Value = match &ask.body {
            Some(body) => serde_json::from_slice(&body.bytes).map_err(|error| Error::internal(error.to_string()))?,
            None => Value::Null,
        };
        let pointer = if name.starts_with('/') { name.to_string() } else { pointer_to(name) };
        put(&mut body, &pointer, value.clone()).map_err(|key| {
            Error::config(format!("paging.parameter is \"{name}\", but the body has no object at \"{key}\""))
        })?;
        ask.body = Some(Body::json(body.to_string()));
        Ok(())
    }

    /// The page after this one; `None`: this was the last.
    ///
    /// # Errors
    /// `Data` if what should lead on leads nowhere, in a circle, or to another server.
    pub(crate) fn next(&self, place: &Place, turn: &Turn<'_>) -> Result<Option<Place>> {
        let page = place.page + 1;
        let more = self.more.as_ref().map(|pointer| turn.around.pointer(pointer).unwrap_or(&Value::Null));
        if more.is_some_and(|more| matches!(more, Value::Null | Value::Bool(false)) || text_of(more) == "0") {
            return Ok(None);
        }
        let before = place.at.as_ref().and_then(Value::as_u64).unwrap_or_default();
        let at: Value = match &self.by {
            By::Nothing => return Ok(None),
            By::Page { .. } | By::Offset { .. } if turn.records == 0 => return Ok(None),
            By::Page { .. } => (before + 1).into(),
            By::Offset { .. } => (before + turn.records).into(),
            By::Cursor { pointer } => match turn.around.pointer(pointer) {
                None | Some(Value::Null | Value::Bool(false)) => return Ok(None),
                Some(Value::String(text)) if text.is_empty() => return Ok(None),
                Some(value @ (Value::String(_) | Value::Number(_))) => value.clone(),
                Some(_) => {
                    return Err(Error::data(format!("the cursor at \"{pointer}\" is neither a text nor a number")));
                }
            },
            By::Link => match turn.links.iter().find_map(|link| next_link(link)) {
                None => return Ok(None),
                Some(link) => self.url(turn.url, link)?,
            },
            By::Next { pointer } => match turn.around.pointer(pointer) {
                None | Some(Value::Null | Value::Bool(false)) => return Ok(None),
                Some(Value::String(text)) if text.is_empty() => return Ok(None),
                Some(Value::String(text)) => self.url(turn.url, text)?,
                Some(_) => return Err(Error::data(format!("what is at \"{pointer}\" is no URL"))),
            },
        };
        if place.at.as_ref() == Some(&at) {
            return Err(Error::data("the page leads to itself: the answer names the same next page again"));
        }
        if self.most.is_some_and(|most| page >= most) {
            return Err(Error::data(format!("there are more than {page} pages, which is paging.most")));
        }
        Ok(Some(Place { page, at: Some(at) }))
    }

    /// The URL of the next page. Another server must not get our headers.
    fn url(&self, from: &Url, link: &str) -> Result<Value> {
        let url = from.join(link).map_err(|error| Error::data(format!("the next page has no URL: {error}")))?;
        match url.origin() == from.origin() {
            true => Ok(url.as_str().into()),
            false => Err(Error::data(format!("the next page is on another server, {}", shown(&url)))),
        }
    }
}

/// Puts a value where a JSON pointer leads; its last part may be a new key.
fn put(body: &mut Value, pointer: &str, value: Value) -> Result<(), String> {
    let (parent, key) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    match body.pointer_mut(parent) {
        Some(Value::Object(object)) => {
            object.insert(key.replace("~1", "/").replace("~0", "~"), value);
            Ok(())
        }
        _ => Err(parent.into()),
    }
}

/// The target of `<https://…?page=2>; rel="next"` in a `Link` header, which may have several links.
fn next_link(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some(begin) = rest.find('<') {
        let end = begin + rest[begin..].find('>')?;
        let target = &rest[begin + 1..end];
        rest = &rest[end + 1..];
        let parameters = &rest[..rest.find('<').unwrap_or(rest.len())];
        let is_next =
            parameters.split([';', ',']).filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
                let value = value.trim().trim_matches('"');
                name.trim().eq_ignore_ascii_case("rel")
                    && value.split_whitespace().any(|word| word.eq_ignore_ascii_case("next"))
            });
        if is_next {
            return Some(target);
        }
    }
    None
}

//! The parameters of readers, writers and lookups, checked: what a job may write, and what it means. Nothing is asked of a server
//! in here.

mod lookup;
mod reader;
mod writer;

use reqwest::{Method, Url};
use serde_json::Value;
use transship_plugin_api::params::describe;
use transship_plugin_api::{DatePattern, Error, Params, Result};

pub(crate) use lookup::{LOOKUP, LookupConfig};
pub(crate) use reader::{READER, ReaderConfig, url_of};
pub(crate) use writer::{Shape, WRITER, WriterConfig};

use crate::types::{Column, ColumnType, From, TYPE_NAMES, pointer_to};

/// What `takes` says of a column's type.
const TYPES: &str = r#""string", "long", "double", "number", "boolean", "date", "instant", "json" or "bytes""#;

fn method(params: &Params<'_>, default: Method) -> Result<Method> {
    let known = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let Some(text) = params.text("method")?.filter(|text| !text.trim().is_empty()) else { return Ok(default) };
    let method = known.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text.trim()));
    method.ok_or_else(|| {
        params.error("method", format_args!("is \"{text}\", but must be GET, POST, PUT, PATCH or DELETE"))
    })
}

/// A URL that requests can go to. The text may have braces in it.
fn check_url(params: &Params<'_>, key: &str, text: &str) -> Result<Url> {
    let url = Url::parse(text.trim());
    let url =
        url.map_err(|error| params.error(key, format_args!("is no URL ({error}): write it like https://host/path")))?;
    match (url.scheme(), url.host_str()) {
        ("http" | "https", Some(_)) => Ok(url),
        (scheme, _) => Err(params.error(key, format_args!("must begin with http:// or https://, not {scheme}:"))),
    }
}

/// A JSON pointer: empty, or keys and places, each after a slash.
pub(crate) fn pointer(params: &Params<'_>, key: &str) -> Result<Option<String>> {
    match params.text(key)? {
        Some(pointer) if !pointer.is_empty() && !pointer.starts_with('/') => Err(params.error(
            key,
            format_args!("is \"{pointer}\", but must be a JSON pointer like \"/{}\"", pointer.replace('.', "/")),
        )),
        pointer => Ok(pointer),
    }
}

/// A list of statuses.
fn statuses(params: &Params<'_>, key: &str) -> Result<Vec<u16>> {
    let status = |text: &String| match text.parse() {
        Ok(status @ 100..=599) => Ok(status),
        _ => Err(params.error(key, format_args!("must be statuses like 404, not \"{text}\""))),
    };
    params.texts(key)?.iter().map(status).collect()
}

/// A whole number from 1 on.
fn at_least_one(params: &Params<'_>, key: &str, default: usize) -> Result<usize> {
    match params.whole(key)? {
        Some(0) => Err(params.error(key, "must be 1 or more, not 0")),
        number => Ok(number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))),
    }
}

/// The columns, if they are listed.
fn columns(params: &Params<'_>) -> Result<Option<Vec<Column>>> {
    match params.value("column") {
        None => return Ok(None),
        Some(Value::Array(items)) if items.len() == 1 && items[0] == "*" => return Ok(None),
        Some(Value::Array(items)) if items.is_empty() => {
            return Err(params.error("column", "is an empty list: name the columns, or leave it out to read all"));
        }
        Some(_) => {}
    }
    params.objects("column")?.iter().map(column).collect::<Result<_>>().map(Some)
}

fn column(params: &Params<'_>) -> Result<Column> {
    let text = |key| Ok::<_, Error>(params.text(key)?.filter(|text| !text.trim().is_empty()));
    let format = match text("format")? {
        Some(format) => Some(DatePattern::parse(&format).map_err(|error| error.context(params.path("format")))?),
        None => None,
    };
    let kind = match text("type")? {
        None => ColumnType::Text,
        Some(name) => ColumnType::from_name(&name, format.clone()).ok_or_else(|| {
            params.error("type", format_args!("is \"{name}\", but must be one of {}", TYPE_NAMES.join(", ")))
        })?,
    };
    if format.is_some() && !matches!(kind, ColumnType::Date(_)) {
        return Err(params.error("format", "is for columns of the type date only"));
    }
    let name = text("name")?;
    let from = match (pointer(params, "pointer")?, params.value("value"), &name) {
        (Some(_), Some(_), _) => return Err(params.error("pointer", "and value exclude each other; leave one out")),
        (Some(pointer), None, _) => From::Pointer(pointer),
        (None, Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))), _) => {
            From::Constant(value.clone())
        }
        (None, Some(other), _) => {
            return Err(params.error("value", format_args!("must be a scalar, not {}", describe(other))));
        }
        (None, None, Some(name)) => From::Pointer(pointer_to(name)),
        (None, None, None) => return Err(params.error("name", "or pointer is required")),
    };
    let name = match (name, &from) {
        (Some(name), _) => name,
        (None, From::Pointer(pointer)) => {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            last.replace("~1", "/").replace("~0", "~")
        }
        (None, From::Constant(_)) => return Err(params.error("name", "is required")),
    };
    Ok(Column { name, from, kind })
}

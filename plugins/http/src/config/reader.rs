//! The parameters of `httpreader`.

use bytes::Bytes;
use reqwest::{Method, Url};
use serde_json::Value;
use transship_plugin_api::{Error, Parameter, Params, Result};

use super::{TYPES, check_url, columns, method, pointer};
use crate::client::{Ask, Body, Settings};
use crate::paging::Paging;
use crate::records::Form;
use crate::types::Column;

/// What the reader knows besides what all have in common.
pub(crate) const READER: &[Parameter] = &[
    Parameter::required("url", "string or list of strings", "where the records are; each URL is a split"),
    Parameter::optional("method", r#""GET", "POST" or "PUT""#, "GET, with a body POST", "how to ask"),
    Parameter::optional("body", "any", "", "what to ask with: JSON, or a text that is sent as it is"),
    Parameter::optional("format", r#""json" or "jsonl""#, "json", "one JSON text, or one in each line"),
    Parameter::optional("records", "string", "the whole answer", "a JSON pointer to the list of records in the answer"),
    Parameter::optional(
        "column",
        r#"list of objects or ["*"]"#,
        "the keys of the first records",
        "which values to read",
    ),
    Parameter::optional("column[].name", "string", "the last part of pointer", "the column's name"),
    Parameter::optional("column[].pointer", "string", "/ and the name", "a JSON pointer to the value in the record"),
    Parameter::optional("column[].value", "string, number or boolean", "", "a constant instead"),
    Parameter::optional("column[].type", TYPES, "string", "the type of its values"),
    Parameter::optional("column[].format", "string", "", "how a date is written: yyyy-MM-dd HH:mm:ss"),
    Parameter::optional("paging", "object", "one page", "how to come from one page to the next"),
    Parameter::required("paging.by", r#""page", "offset", "cursor", "link" or "next""#, "what leads to the next page"),
    Parameter::optional("paging.parameter", "string", "page, offset or cursor", "the parameter that it goes into"),
    Parameter::optional(
        "paging.in",
        r#""query" or "body""#,
        "query",
        "where that parameter is; in a body it may be a JSON pointer",
    ),
    Parameter::optional("paging.start", "integer", "page 1, offset 0", "its value for the first page"),
    Parameter::optional("paging.size", "integer", "", "how many records to ask for at once"),
    Parameter::optional("paging.sizeParameter", "string", "limit", "the parameter that the size goes into"),
    Parameter::optional(
        "paging.pointer",
        "string",
        "/next",
        "a JSON pointer to the cursor or the URL of the next page",
    ),
    Parameter::optional("paging.more", "string", "", "a JSON pointer to what is false once there are no more pages"),
    Parameter::optional("paging.most", "integer", "no limit", "fail after so many pages"),
];

/// What an `httpreader` is to read.
#[derive(Clone)]
pub(crate) struct ReaderConfig {
    pub(crate) settings: Settings,
    pub(crate) urls: Vec<Url>,
    pub(crate) method: Method,
    pub(crate) body: Option<Value>,
    pub(crate) form: Form,
    /// `None`: those of the first records.
    pub(crate) columns: Option<Vec<Column>>,
    pub(crate) paging: Paging,
}

impl ReaderConfig {
    pub(crate) fn parse(parameter: &Value) -> Result<ReaderConfig> {
        let params = Params::new(parameter, "parameter")?;
        let settings = Settings::parse(&params)?;
        let texts = params.texts("url")?;
        if texts.iter().all(|text| text.trim().is_empty()) {
            return Err(params.error("url", "is required: where the records are"));
        }
        let urls = texts.iter().map(|text| check_url(&params, "url", text));
        let urls = urls.map(|url| Ok(settings.with_query(url?))).collect::<Result<Vec<Url>>>()?;
        let body = params.value("body").cloned();
        let method = method(&params, if body.is_some() { Method::POST } else { Method::GET })?;
        let pointer = pointer(&params, "records")?;
        let form = match params.choice("format", &[("json", false), ("jsonl", true)])? {
            Some(true) if pointer.is_some() => return Err(params.error("records", "has no meaning for lines of JSON")),
            Some(true) => Form::Lines,
            _ => Form::list(pointer.as_deref().unwrap_or_default()),
        };
        let columns = columns(&params)?;
        if columns.is_none() && urls.len() > 1 {
            return Err(params.error("column", "is required with several URLs: all must have the same columns"));
        }
        let paging = Paging::parse(&params, body.as_ref(), form == Form::Lines)?;
        Ok(ReaderConfig { settings, urls, method, body, form, columns, paging })
    }

    /// The request for what is at a URL, before any paging.
    pub(crate) fn ask(&self, url: Url) -> Ask {
        Ask {
            method: self.method.clone(),
            url,
            headers: self.settings.headers.clone(),
            body: self.body.as_ref().map(body),
        }
    }
}

/// What a request carries: a text as it is, anything else as JSON.
pub(crate) fn body(value: &Value) -> Body {
    match value {
        Value::String(text) => Body { bytes: Bytes::from(text.clone()), content_type: "text/plain; charset=utf-8" },
        other => Body::json(other.to_string()),
    }
}

/// The reader of a split in this process, whatever made the split.
pub(crate) fn url_of(detail: &Value, urls: &[Url]) -> Result<Url> {
    let number = detail.get("url").and_then(Value::as_u64).and_then(|number| urls.get(number as usize));
    number.cloned().ok_or_else(|| Error::internal(format!("not a split of this reader: {detail}")))
}

//! The parameters of `httplookup`.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;
use transship_plugin_api::{ColumnFormats, Parameter, Params, Result};

use super::{TYPES, at_least_one, check_url, columns, method, pointer, statuses};
use crate::client::Settings;
use crate::template::{JsonTemplate, Template};
use crate::types::Column;

/// What the lookup knows besides what all have in common.
pub(crate) const LOOKUP: &[Parameter] = &[
    Parameter::required("url", "string", "where to ask; {name} stands for the value of a key column"),
    Parameter::optional("method", r#""GET", "POST" or "PUT""#, "GET, with a body POST", "how to ask"),
    Parameter::optional(
        "body",
        "any",
        "",
        "JSON to ask with; a text \"{name}\" in it becomes the value of a key column",
    ),
    Parameter::optional(
        "records",
        "string",
        "the whole answer",
        "a JSON pointer to what was found in the answer: an object or a list of them",
    ),
    Parameter::required("column", "list of objects", "the columns of what is found"),
    Parameter::optional("column[].name", "string", "the last part of pointer", "the column's name"),
    Parameter::optional(
        "column[].pointer",
        "string",
        "/ and the name",
        "a JSON pointer to the value in what was found",
    ),
    Parameter::optional("column[].value", "string, number or boolean", "", "a constant instead"),
    Parameter::optional("column[].type", TYPES, "string", "the type of its values"),
    Parameter::optional("column[].format", "string", "", "how a date is written: yyyy-MM-dd HH:mm:ss"),
    Parameter::optional("connections", "integer", "16", "how many requests are under way at once; others wait"),
    Parameter::optional("batch", "object", "one key in a request", "ask for many keys at once"),
    Parameter::optional("batch.size", "integer", "100", "how many keys a request has at most"),
    Parameter::optional(
        "batch.match",
        "object",
        "the name of the key",
        "a JSON pointer to each key column's value in what was found",
    ),
    Parameter::optional(
        "notFound",
        "list of integers",
        "404, 410",
        "the statuses that say that there is nothing for a key",
    ),
];

/// What an `httplookup` asks.
#[derive(Clone)]
pub(crate) struct LookupConfig {
    pub(crate) settings: Settings,
    pub(crate) headers: HeaderMap,
    pub(crate) url: Template,
    pub(crate) query: Vec<(String, Template)>,
    pub(crate) method: Method,
    pub(crate) body: Option<JsonTemplate>,
    pub(crate) records: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) connections: usize,
    pub(crate) batch: Option<Batch>,
    pub(crate) not_found: Vec<u16>,
    pub(crate) timeout: Duration,
    pub(crate) formats: ColumnFormats,
}

/// How to ask for many keys at once.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) size: usize,
    /// The JSON pointer to the value of a key column.
    pub(crate) matching: Vec<(String, String)>,
}

impl LookupConfig {
    pub(crate) fn parse(parameter: &Value) -> Result<LookupConfig> {
        let params = Params::new(parameter, "parameter")?;
        let settings = Settings::parse(&params)?;
        let text = params.required_text("url")?;
        let url = Template::parse(&text).map_err(|problem| params.error("url", problem))?;
        check_url(&params, "url", &url.without_names())?;
        let query = settings.query.iter().map(|(name, value)| {
            let template = Template::parse(value)
                .map_err(|problem| params.error("query", format_args!("has \"{name}\", which {problem}")))?;
            Ok((name.clone(), template))
        });
        let body =
            params.value("body").map(|body| JsonTemplate::parse(body).map_err(|problem| params.error("body", problem)));
        let body = body.transpose()?;
        let columns = match columns(&params)? {
            Some(columns) => columns,
            None => return Err(params.error("column", "is required: the columns of what is found")),
        };
        Ok(LookupConfig {
            headers: settings.headers.clone(),
            query: query.collect::<Result<_>>()?,
            url,
            method: method(&params, if body.is_some() { Method::POST } else { Method::GET })?,
            body,
            records: pointer(&params, "records")?.unwrap_or_default(),
            columns,
            connections: at_least_one(&params, "connections", 16)?.min(MOST_CONNECTIONS),
            batch: params.object("batch")?.map(|batch| Batch::parse(&batch)).transpose()?,
            not_found: match params.value("notFound") {
                None => vec![404, 410],
                Some(_) => statuses(&params, "notFound")?,
            },
            timeout: settings.timeout,
            formats: ColumnFormats::read(&params)?,
            settings,
        })
    }

    /// All names that stand for key columns.
    pub(crate) fn names(&self) -> Vec<&str> {
        let in_query = self.query.iter().flat_map(|(_, value)| value.names());
        let in_body = self.body.iter().flat_map(JsonTemplate::names);
        self.url.names().chain(in_query).chain(in_body).collect()
    }
}

/// More are not to be had.
const MOST_CONNECTIONS: usize = 60_000;

impl Batch {
    fn parse(params: &Params<'_>) -> Result<Batch> {
        let size = at_least_one(params, "size", 100)?;
        let mut matching = Vec::new();
        if let (Some(pointers), Some(Value::Object(names))) = (params.object("match")?, params.value("match")) {
            for name in names.keys() {
                matching.extend(pointer(&pointers, name)?.map(|pointer| (name.clone(), pointer)));
            }
        }
        Ok(Batch { size, matching })
    }
}

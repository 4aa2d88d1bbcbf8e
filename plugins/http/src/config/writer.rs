//! The parameters of `httpwriter`.

use reqwest::Method;
use serde_json::Value;
use transship_plugin_api::{ColumnFormats, Parameter, Params, Result};

use super::{at_least_one, check_url, method, statuses};
use crate::client::Settings;
use crate::template::Template;

/// What the writer knows besides what all have in common.
pub(crate) const WRITER: &[Parameter] = &[
    Parameter::required("url", "string", "where records go; {name} stands for the value of a column"),
    Parameter::optional("method", r#""POST", "PUT", "PATCH" or "DELETE""#, "POST", "how to send them"),
    Parameter::optional(
        "format",
        r#""array", "jsonl" or "record""#,
        "array",
        "a list of records, one in each line, or one in each request",
    ),
    Parameter::optional("envelope", "string", "", "the key under which the list stands in an object"),
    Parameter::optional("column", "list of strings", "all", "which columns to send, in this order"),
    Parameter::optional("batchSize", "integer", "1000", "how many records go into a request"),
    Parameter::optional(
        "batchByteSize",
        "integer",
        "1048576",
        "how many bytes go into a request; a larger record goes alone",
    ),
    Parameter::optional("success", "list of integers", "200 to 299", "the statuses of requests that were carried out"),
    Parameter::optional("bisect", "boolean", "false", "halve batches that are refused until the bad records are found"),
    Parameter::optional(
        "idempotent",
        "boolean",
        "false",
        "writing a record twice does no harm: send again also where nobody knows",
    ),
];

/// How records stand in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A list, alone or under a key of an object.
    Array(Option<String>),
    /// A line for each.
    Lines,
    /// One is all.
    Record,
}

/// Where an `httpwriter` sends records.
#[derive(Clone)]
pub(crate) struct WriterConfig {
    pub(crate) settings: Settings,
    pub(crate) url: Template,
    pub(crate) method: Method,
    pub(crate) shape: Shape,
    /// `None`: all.
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) most_records: usize,
    pub(crate) most_bytes: usize,
    /// `None`: those from 200 to 299.
    pub(crate) success: Option<Vec<u16>>,
    pub(crate) bisects: bool,
    pub(crate) is_idempotent: bool,
    pub(crate) formats: ColumnFormats,
}

impl WriterConfig {
    pub(crate) fn parse(parameter: &Value) -> Result<WriterConfig> {
        let params = Params::new(parameter, "parameter")?;
        let settings = Settings::parse(&params)?;
        let text = params.required_text("url")?;
        let url = Template::parse(&text).map_err(|problem| params.error("url", problem))?;
        check_url(&params, "url", &url.without_names())?;
        let shape = params.choice("format", &[("array", 0), ("jsonl", 1), ("record", 2)])?.unwrap_or(0);
        let envelope = params.text("envelope")?.filter(|key| !key.is_empty());
        let shape = match (shape, envelope) {
            (0, envelope) => Shape::Array(envelope),
            (_, Some(_)) => return Err(params.error("envelope", "is for the format array only")),
            (1, None) => Shape::Lines,
            _ => Shape::Record,
        };
        let columns = params.texts("column")?;
        let success = statuses(&params, "success")?;
        Ok(WriterConfig {
            url,
            method: method(&params, Method::POST)?,
            columns: (!columns.is_empty() && columns != ["*"]).then_some(columns),
            most_records: if shape == Shape::Record { 1 } else { at_least_one(&params, "batchSize", 1_000)? },
            most_bytes: at_least_one(&params, "batchByteSize", 1 << 20)?,
            shape,
            success: (!success.is_empty()).then_some(success),
            bisects: params.truth("bisect")?.unwrap_or(false),
            is_idempotent: params.truth("idempotent")?.unwrap_or(false),
            formats: ColumnFormats::read(&params)?,
            settings,
        })
    }
}

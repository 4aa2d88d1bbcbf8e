//! What `mysqlreader` takes.

use std::sync::Arc;

use serde_json::Value;
use transship_plugin_api::{Limit, Parameter, Params, Result};
use transship_sql::Url;
use transship_sql::parameters::describe::{self, reader};
use transship_sql::parameters::{Columns, Reader, Source};

use super::{RULES, location, server};
use crate::session::Server;

/// The parameters of `mysqlreader`.
pub(crate) const READER_PARAMETERS: &[Parameter] = &[
    describe::USERNAME,
    describe::PASSWORD,
    reader::CONNECTION,
    reader::URL,
    reader::TABLE,
    reader::QUERY,
    reader::MAX_CONNECTIONS,
    describe::SHORT_URL,
    reader::SHORT_TABLE,
    reader::SHORT_QUERY,
    reader::SHORT_MAX_CONNECTIONS,
    reader::COLUMN,
    reader::WHERE,
    reader::SPLIT_PK,
    reader::SPLIT_FACTOR,
    describe::SESSION,
    reader::PROBES,
    Parameter::optional(
        "zeroDate",
        "\"null\" or \"dirty\"",
        "null",
        "what becomes of 0000-00-00: NULL, as in DataX, or the record is dirty",
    ),
    Parameter::optional(
        "tinyint1AsBoolean",
        "boolean",
        "false",
        "whether columns of type TINYINT(1) are true or false; else they are numbers, as in DataX",
    ),
    Parameter::optional("fetchSize", "integer", "", "accepted and not needed: rows are always streamed"),
    Parameter::optional("mandatoryEncoding", "string", "", "accepted and not needed: the server sends UTF-8"),
    Parameter::optional("checkSlave", "boolean", "", "accepted and without effect"),
];

/// What to read, and how.
pub(crate) struct ReaderConfig {
    /// For each connection, the servers where its database may be: the first that answers is read.
    pub(crate) servers: Vec<Vec<Arc<Server>>>,
    /// For each connection that has any, the limits of what is open at once.
    pub(crate) limits: Vec<Vec<Limit>>,
    pub(crate) sources: Vec<Source>,
    pub(crate) columns: Columns,
    pub(crate) condition: Option<String>,
    pub(crate) split_by: Option<String>,
    pub(crate) split_factor: u32,
    pub(crate) probes: Vec<String>,
    pub(crate) zero_date: ZeroDate,
    /// Whether TINYINT(1) is a boolean.
    pub(crate) booleans: bool,
}

/// What becomes of a date whose parts are all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZeroDate {
    Null,
    Dirty,
}

impl ReaderConfig {
    pub(crate) fn from_json(parameter: &Value) -> Result<ReaderConfig> {
        let params = Params::new(parameter, "parameter")?;
        let Reader {
            login,
            connections,
            limits,
            sources,
            columns,
            condition,
            split_by,
            split_factor,
            fetch_size,
            session,
            probes,
        } = Reader::<Url>::read(&params, &RULES, &location)?;
        if fetch_size.is_some() {
            log::info!("\"fetchSize\" is not needed: rows are streamed");
        }
        if params.text("mandatoryEncoding")?.is_some_and(|text| !text.trim().is_empty()) {
            log::warn!(
                "\"mandatoryEncoding\" is ignored: the server knows the character set of each column and sends UTF-8"
            );
        }
        let words = [("null", ZeroDate::Null), ("dirty", ZeroDate::Dirty)];
        let servers = connections
            .iter()
            .map(|urls| urls.iter().map(|url| server(&params, url, &login, &session)).collect::<Result<Vec<_>>>());
        Ok(ReaderConfig {
            servers: servers.collect::<Result<_>>()?,
            limits,
            sources,
            columns,
            condition,
            split_by,
            split_factor,
            probes,
            booleans: params.truth("tinyint1AsBoolean")?.unwrap_or(false),
            zero_date: params.choice("zeroDate", &words)?.unwrap_or(ZeroDate::Null),
        })
    }
}

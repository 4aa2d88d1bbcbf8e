//! What `postgresqlreader` takes.

use std::sync::Arc;

use serde_json::Value;
use transship_plugin_api::{ColumnFormats, Limit, Parameter, Params, Result};
use transship_sql::parameters::{Columns, Reader, Source, describe};

use super::{RULES, location, server, zone_name};
use crate::session::Server;

/// The parameters of `postgresqlreader`.
pub(crate) const READER_PARAMETERS: &[Parameter] = &[
    describe::USERNAME,
    describe::PASSWORD,
    describe::reader::CONNECTION,
    describe::reader::URL,
    describe::reader::TABLE,
    describe::reader::QUERY,
    describe::reader::MAX_CONNECTIONS,
    describe::SHORT_URL,
    describe::reader::SHORT_TABLE,
    describe::reader::SHORT_QUERY,
    describe::reader::SHORT_MAX_CONNECTIONS,
    describe::reader::COLUMN,
    describe::reader::WHERE,
    describe::reader::SPLIT_PK,
    describe::reader::SPLIT_FACTOR,
    describe::SESSION,
    describe::reader::PROBES,
    Parameter::optional(
        "snapshot",
        "boolean",
        "true",
        "whether all tasks read the data of one moment, that of the job's start",
    ),
    Parameter::optional("fetchSize", "integer", "", "accepted and not needed: rows are streamed"),
    Parameter::optional(
        "mandatoryEncoding",
        "string",
        "",
        "accepted and not needed: the server converts all text to UTF-8",
    ),
];

/// What to read, and how.
pub(crate) struct ReaderConfig {
    /// For each connection, the servers where its database may be: the first that answers is read.
    pub(crate) connections: Vec<Vec<Arc<Server>>>,
    /// For each connection that has any, the limits of what is open at once.
    pub(crate) limits: Vec<Vec<Limit>>,
    /// In the order of the job file.
    pub(crate) sources: Vec<Source>,
    pub(crate) columns: Columns,
    pub(crate) condition: Option<String>,
    pub(crate) split_by: Option<String>,
    pub(crate) split_factor: u32,
    pub(crate) probes: Vec<String>,
    /// Whether all tasks are to read one snapshot.
    pub(crate) snapshot: bool,
}

impl ReaderConfig {
    pub(crate) fn from_json(parameter: &Value) -> Result<ReaderConfig> {
        let params = Params::new(parameter, "parameter")?;
        let shared = Reader::read(&params, &RULES, &location)?;
        if shared.fetch_size.is_some_and(|size| size < 1) {
            return Err(params.error("fetchSize", "must be at least 1"));
        }
        if params.text("mandatoryEncoding")?.is_some_and(|encoding| !encoding.trim().is_empty()) {
            log::warn!("\"mandatoryEncoding\" is ignored: the server converts all text to UTF-8");
        }
        let formats = ColumnFormats::read(&params)?;
        let connections = shared.connections.iter().map(|urls| {
            let zone = || zone_name(&params, &formats);
            urls.iter().map(|url| server(&params, url, &shared.login, &shared.session, zone())).collect()
        });
        Ok(ReaderConfig {
            connections: connections.collect::<Result<_>>()?,
            limits: shared.limits,
            sources: shared.sources,
            columns: shared.columns,
            condition: shared.condition,
            split_by: shared.split_by,
            split_factor: shared.split_factor,
            probes: shared.probes,
            snapshot: params.truth("snapshot")?.unwrap_or(true),
        })
    }
}

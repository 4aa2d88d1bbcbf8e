//! What `sqlitereader` takes.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;
use transship_plugin_api::{Limit, Parameter, Params, Result};
use transship_sql::parameters::describe::reader;
use transship_sql::parameters::{Columns, Reader, Source};

use super::{Manners, RULES, location};
use crate::types::Kind;

/// The parameters of `sqlitereader`.
pub(crate) const READER_PARAMETERS: &[Parameter] = &[
    Parameter::optional("path", "string or list of strings", "", "the database file: the short form of connection"),
    Parameter::optional("table", "string or list of strings", "", "the tables to read, with path"),
    Parameter::optional("querySql", "string or list of strings", "", "the queries to read, with path"),
    reader::SHORT_MAX_CONNECTIONS,
    reader::CONNECTION,
    Parameter::required(
        "connection[].jdbcUrl",
        "string or list of strings",
        "jdbc:sqlite:/path/file.db or the path; of several, the first that exists is read",
    ),
    reader::TABLE,
    Parameter::optional("connection[].querySql", "string or list of strings", "", "queries, read instead of tables"),
    reader::MAX_CONNECTIONS,
    Parameter::optional("column", "list of strings", "[\"*\"]", "column names, constants and SQL expressions"),
    reader::WHERE,
    Parameter::optional("splitPk", "string", "the rowid", "the column by whose ranges a table is split"),
    reader::SPLIT_FACTOR,
    Parameter::optional(
        "types",
        "object or string",
        "",
        "types for columns, instead of the declared: {\"born\": \"text\"}",
    ),
    Parameter::optional("session", "list of strings", "[]", "statements to run first on each connection, e.g. pragmas"),
    Parameter::optional(
        "preSql",
        "list of strings",
        "[]",
        "probes: a database where one does not yield 0 is passed over",
    ),
    Parameter::optional(
        "busyTimeout",
        "integer",
        "10000",
        "milliseconds to wait for a lock that another process holds",
    ),
    Parameter::optional("fetchSize", "integer", "", "accepted and not needed"),
    Parameter::optional("username", "string", "", "accepted and not needed"),
    Parameter::optional("password", "string", "", "accepted and not needed"),
];

/// What to read, and how.
#[derive(Debug, Clone)]
pub(crate) struct ReaderConfig {
    pub(crate) connections: Vec<Vec<PathBuf>>,
    /// For each connection that has any, the limits of what is open at once.
    pub(crate) limits: Vec<Vec<Limit>>,
    /// In the order of the job file.
    pub(crate) sources: Vec<Source>,
    pub(crate) columns: Columns,
    pub(crate) condition: Option<String>,
    pub(crate) split_by: Option<String>,
    pub(crate) split_factor: u32,
    pub(crate) types: Types,
    pub(crate) probes: Vec<String>,
    pub(crate) manners: Manners,
}

/// The types that the job file gives to columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types {
    all: Option<Kind>,
    named: HashMap<String, Kind>,
}

impl Types {
    /// The type given to a column.
    pub(crate) fn of(&self, column: &str) -> Option<Kind> {
        self.named.get(&column.to_lowercase()).copied().or(self.all)
    }

    /// The columns named.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    pub(super) fn from_params(params: &Params<'_>) -> Result<Types> {
        let kind = |params: &Params<'_>, key: &str| match params.choice(key, Kind::WORDS)? {
            Some(kind) => Ok(kind),
            None => Err(params.error(key, "must be a type, like \"text\"")),
        };
        match params.value("types") {
            None => Ok(Types::default()),
            Some(Value::String(_)) => Ok(Types { all: Some(kind(params, "types")?), named: HashMap::new() }),
            Some(value) => {
                let given = Params::new(value, params.path("types"))?;
                let keys = value.as_object().into_iter().flat_map(|object| object.keys());
                let named = keys.map(|key| Ok((key.to_lowercase(), kind(&given, key)?)));
                let mut named = named.collect::<Result<HashMap<_, _>>>()?;
                Ok(Types { all: named.remove("*"), named })
            }
        }
    }
}

impl ReaderConfig {
    pub(crate) fn from_json(parameter: &Value) -> Result<ReaderConfig> {
        let params = Params::new(parameter, "parameter")?;
        let reader = Reader::read(&params, &RULES, &location::path_of)?;
        Ok(ReaderConfig {
            connections: reader.connections,
            limits: reader.limits,
            sources: reader.sources,
            columns: reader.columns,
            condition: reader.condition,
            split_by: reader.split_by,
            split_factor: reader.split_factor,
            types: Types::from_params(&params)?,
            probes: reader.probes,
            manners: Manners::new(&params, reader.session)?,
        })
    }
}

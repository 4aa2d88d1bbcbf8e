//! What `sqlitereader` takes.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;
use transship_plugin_api::{Parameter, Params, Result};

use super::{Columns, Manners, locations, statements, tables};
use crate::types::Kind;

/// The parameters of `sqlitereader`.
pub(crate) const READER_PARAMETERS: &[Parameter] = &[
    Parameter::optional("path", "string or list of strings", "", "the database file: the short form of connection"),
    Parameter::optional("table", "string or list of strings", "", "the tables to read, with path"),
    Parameter::optional("querySql", "string or list of strings", "", "the queries to read, with path"),
    Parameter::optional("connection", "list of objects", "", "databases, each with tables or with queries"),
    Parameter::required(
        "connection[].jdbcUrl",
        "string or list of strings",
        "jdbc:sqlite:/path/file.db or the path; of several, the first that exists is read",
    ),
    Parameter::optional(
        "connection[].table",
        "string or list of strings",
        "",
        "tables; t[0-3] stands for t0, t1, t2 and t3",
    ),
    Parameter::optional("connection[].querySql", "string or list of strings", "", "queries, read instead of tables"),
    Parameter::optional("column", "list of strings", "[\"*\"]", "column names, constants and SQL expressions"),
    Parameter::optional("where", "string", "", "a condition that rows of the tables must meet"),
    Parameter::optional("splitPk", "string", "the rowid", "the column by whose ranges a table is split"),
    Parameter::optional("splitFactor", "integer", "5", "splits per channel, where there is one table"),
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

/// A table or a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    /// The index of its connection.
    pub(crate) connection: usize,
    pub(crate) what: What,
}

impl Source {
    /// What a person calls it.
    pub(crate) fn name(&self) -> String {
        match &self.what {
            What::Table(name) => format!("table {name}"),
            What::Query(_, number) => format!("query {number}"),
        }
    }
}

/// What is read of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// A table or view.
    Table(String),
    /// A query, and which of the job's it is, from 1.
    Query(String, usize),
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

    fn from_params(params: &Params<'_>) -> Result<Types> {
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
        let mut config = ReaderConfig {
            connections: Vec::new(),
            sources: Vec::new(),
            columns: Columns::All,
            condition: condition(&params)?,
            split_by: params.text("splitPk")?.filter(|name| !name.trim().is_empty()),
            split_factor: split_factor(&params)?,
            types: Types::from_params(&params)?,
            probes: statements(&params, "preSql")?,
            manners: Manners::from_params(&params)?,
        };
        if params.value("path").is_some() {
            if params.value("connection").is_some() {
                return Err(params.error("path", "stands beside \"connection\": give one of the two"));
            }
            config.add_connection(&params, "path")?;
        } else {
            let connections = params.objects("connection")?;
            if connections.is_empty() {
                return Err(params.error("connection", "is required (or the short form, \"path\" with \"table\")"));
            }
            for connection in connections {
                config.add_connection(&connection, "jdbcUrl")?;
            }
        }
        if config.reads_queries() {
            config.ignore_what_queries_do_not_take(&params);
        } else {
            config.columns = Columns::from_params(&params)?.unwrap_or(Columns::All);
        }
        Ok(config)
    }

    fn add_connection(&mut self, params: &Params<'_>, location: &str) -> Result<()> {
        let connection = self.connections.len();
        self.connections.push(locations(params, location)?);
        let tables = tables(params, "table")?;
        let queries = statements(params, "querySql")?;
        if !tables.is_empty() && !queries.is_empty() {
            return Err(params.error("querySql", "stands beside \"table\": give one of the two"));
        }
        if tables.is_empty() && queries.is_empty() {
            return Err(params.error("table", "is required (or \"querySql\")"));
        }
        if self.sources.first().is_some_and(|first| matches!(first.what, What::Table(_)) == tables.is_empty()) {
            return Err(
                params.error("table", "and \"querySql\" are mixed: all connections must have the same of the two")
            );
        }
        let before = self.sources.len();
        self.sources.extend(tables.into_iter().map(|name| Source { connection, what: What::Table(name) }));
        let queries = queries.iter().map(|query| without_final_semicolons(query));
        let queries = queries.enumerate().map(|(index, query)| What::Query(query.into(), before + index + 1));
        self.sources.extend(queries.map(|what| Source { connection, what }));
        Ok(())
    }

    fn reads_queries(&self) -> bool {
        self.sources.iter().all(|source| matches!(source.what, What::Query(..)))
    }

    /// As in DataX, whatever `column` holds: the empty list of an unfilled template does no harm beside a query.
    fn ignore_what_queries_do_not_take(&mut self, params: &Params<'_>) {
        let columns = params.value("column").is_some_and(|column| *column != serde_json::json!(["*"]));
        let ignored = [
            ("column", columns),
            ("where", self.condition.take().is_some()),
            ("splitPk", self.split_by.take().is_some()),
        ];
        for (key, _) in ignored.iter().filter(|(_, given)| *given) {
            log::warn!("\"{key}\" is ignored beside \"querySql\": say it in the query");
        }
    }
}

/// The condition without the final semicolon that some write, ASCII or full-width.
fn condition(params: &Params<'_>) -> Result<Option<String>> {
    let text = params.text("where")?.unwrap_or_default();
    let text = text.trim();
    let text = text.strip_suffix([';', '；']).unwrap_or(text).trim_end();
    Ok((!text.is_empty()).then(|| text.into()))
}

fn without_final_semicolons(query: &str) -> &str {
    query.trim().trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

fn split_factor(params: &Params<'_>) -> Result<u32> {
    match params.integer("splitFactor")?.unwrap_or(5) {
        factor @ 1..=1_000 => Ok(factor as u32),
        factor => Err(params.error("splitFactor", format_args!("is {factor}, but must be from 1 to 1000"))),
    }
}

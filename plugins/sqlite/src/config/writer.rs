//! What `sqlitewriter` takes.

use std::path::PathBuf;

use serde_json::Value;
use transship_plugin_api::{ColumnFormats, Error, Parameter, Params, Result};

use super::{Columns, Manners, locations, statements, tables, unquote};

/// The parameters of `sqlitewriter`.
pub(crate) const WRITER_PARAMETERS: &[Parameter] = &[
    Parameter::optional("path", "string or list of strings", "", "the database file: the short form of connection"),
    Parameter::optional("table", "string or list of strings", "", "the table to write into, with path"),
    Parameter::optional("connection", "list of objects", "", "the database and the table: a list of one"),
    Parameter::required("connection[].jdbcUrl", "string or list of strings", "jdbc:sqlite:/path/file.db or the path"),
    Parameter::required("connection[].table", "string or list of strings", "the table to write into"),
    Parameter::optional(
        "column",
        "list of strings",
        "with createTable, the reader's columns",
        "the table's columns that take the record's columns, in the same order; [\"*\"]: all of the table",
    ),
    Parameter::optional(
        "createTable",
        "boolean",
        "false",
        "create the table from the reader's schema if it is not there",
    ),
    Parameter::optional(
        "writeMode",
        "string",
        "insert",
        "insert, insert or ignore, replace, update (by the primary key) or update (column, …)",
    ),
    Parameter::optional(
        "preSql",
        "list of strings",
        "[]",
        "statements to run before, all or none; @table is the table",
    ),
    Parameter::optional("postSql", "list of strings", "[]", "statements to run after the last record is committed"),
    Parameter::optional("session", "list of strings", "[]", "statements to run first on each connection, e.g. pragmas"),
    Parameter::optional("emptyAsNull", "boolean", "true", "an empty text for a number column becomes NULL"),
    Parameter::optional(
        "busyTimeout",
        "integer",
        "10000",
        "milliseconds to wait for a lock that another process holds",
    ),
    Parameter::optional("batchSize", "integer", "2048", "accepted and not needed: a task is one transaction"),
    Parameter::optional("batchByteSize", "integer", "", "accepted and not needed: a task is one transaction"),
    Parameter::optional("username", "string", "", "accepted and not needed"),
    Parameter::optional("password", "string", "", "accepted and not needed"),
];

/// Where to write, and how.
#[derive(Debug, Clone)]
pub(crate) struct WriterConfig {
    pub(crate) path: PathBuf,
    pub(crate) table: String,
    /// `None`: those of the reader.
    pub(crate) columns: Option<Columns>,
    pub(crate) create_table: bool,
    pub(crate) mode: WriteMode,
    pub(crate) pre_sql: Vec<String>,
    pub(crate) post_sql: Vec<String>,
    pub(crate) empty_as_null: bool,
    /// How dates are written into text columns.
    pub(crate) formats: ColumnFormats,
    pub(crate) manners: Manners,
}

/// What happens to a record whose key is in the table already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WriteMode {
    /// It is dirty.
    Insert,
    /// It is left out and counted as a duplicate.
    InsertOrIgnore,
    /// It takes the place of the row that is there.
    Replace,
    /// It changes the row that is there. The key, where it is not the primary key.
    Update(Option<Vec<String>>),
}

impl WriteMode {
    fn from_params(params: &Params<'_>) -> Result<WriteMode> {
        let Some(text) = params.text("writeMode")? else { return Ok(WriteMode::Insert) };
        WriteMode::parse(&text).ok_or_else(|| {
            let known = "\"insert\", \"insert or ignore\", \"replace\", \"update\" or \"update (key, …)\"";
            params.error("writeMode", format_args!("is \"{text}\", but must be {known}"))
        })
    }

    /// The spellings of all databases: `insert ignore` is MySQL's, `insert or ignore` SQLite's.
    fn parse(text: &str) -> Option<WriteMode> {
        let (words, keys) = match text.split_once('(') {
            Some((words, keys)) => (words, Some(keys.trim_end().strip_suffix(')')?)),
            None => (text, None),
        };
        let words = words.to_lowercase();
        let mut words: Vec<_> = words.split_whitespace().collect();
        if words.last() == Some(&"into") {
            words.pop();
        }
        let keys = keys.map(|keys| keys.split(',').map(unquote).collect::<Vec<_>>());
        match (words.as_slice(), keys) {
            (["insert"] | ["insert", "or", "abort" | "fail"], None) => Some(WriteMode::Insert),
            (["insert", "ignore"] | ["insert", "or", "ignore"], None) => Some(WriteMode::InsertOrIgnore),
            (["replace"] | ["insert", "or", "replace"], None) => Some(WriteMode::Replace),
            (["update"], None) => Some(WriteMode::Update(None)),
            (["update"], Some(keys)) if keys.iter().all(|key| !key.is_empty()) => Some(WriteMode::Update(Some(keys))),
            _ => None,
        }
    }

    /// Whether writing the same records again leaves the table as it was.
    pub(crate) fn is_idempotent(&self) -> bool {
        matches!(self, WriteMode::Replace | WriteMode::Update(_))
    }
}

impl WriterConfig {
    pub(crate) fn from_json(parameter: &Value) -> Result<WriterConfig> {
        let params = Params::new(parameter, "parameter")?;
        let (path, table) = target(&params)?;
        let columns = Columns::from_params(&params)?;
        let create_table = params.truth("createTable")?.unwrap_or(false);
        if columns.is_none() && !create_table {
            let problem =
                "is required: the table's columns, or [\"*\"] for all (with \"createTable\": true, the reader's)";
            return Err(params.error("column", problem));
        }
        // As DataX: a size that is no number, or below 1, is refused; a good one has no effect, one task being one transaction.
        for key in ["batchSize", "batchByteSize"] {
            if params.integer(key)?.is_some_and(|size| size < 1) {
                return Err(params.error(key, "must be at least 1"));
            }
        }
        Ok(WriterConfig {
            path,
            table,
            columns,
            create_table,
            mode: WriteMode::from_params(&params)?,
            pre_sql: statements(&params, "preSql")?,
            post_sql: statements(&params, "postSql")?,
            empty_as_null: params.truth("emptyAsNull")?.unwrap_or(true),
            formats: ColumnFormats::read(&params)?,
            manners: Manners::from_params(&params)?,
        })
    }
}

/// The database file and the table in it.
fn target(params: &Params<'_>) -> Result<(PathBuf, String)> {
    if params.value("path").is_some() {
        if params.value("connection").is_some() {
            return Err(params.error("path", "stands beside \"connection\": give one of the two"));
        }
        return target_in(params, "path");
    }
    let connections = params.objects("connection")?;
    match connections.as_slice() {
        [] => Err(params.error("connection", "is required (or the short form, \"path\" with \"table\")")),
        [connection] => target_in(connection, "jdbcUrl"),
        _ => Err(only_one_table(params, "connection")),
    }
}

fn target_in(params: &Params<'_>, location: &str) -> Result<(PathBuf, String)> {
    let paths = locations(params, location)?;
    let tables = tables(params, "table")?;
    match (paths.as_slice(), tables.as_slice()) {
        (_, []) => Err(params.error("table", "is required")),
        ([path], [table]) => Ok((path.clone(), table.clone())),
        ([_], _) => Err(only_one_table(params, "table")),
        _ => Err(params.error(location, "must be one database, not several")),
    }
}

fn only_one_table(params: &Params<'_>, key: &str) -> Error {
    params.error(key, "names several tables to write into: one job writes into one table")
}

//! What `sqlitewriter` takes.

use std::path::PathBuf;

use serde_json::Value;
use transship_plugin_api::{ColumnFormats, Parameter, Params, Result};
use transship_sql::parameters::describe::writer;
use transship_sql::parameters::{Columns, Writer, statements};
use transship_sql::write::{Mapping, WriteMode};

use super::{Manners, RULES, location};

/// The parameters of `sqlitewriter`.
pub(crate) const WRITER_PARAMETERS: &[Parameter] = &[
    Parameter::optional("path", "string or list of strings", "", "the database file: the short form of connection"),
    Parameter::optional("table", "string or list of strings", "", "the table to write into, with path"),
    writer::CONNECTION,
    Parameter::required("connection[].jdbcUrl", "string or list of strings", "jdbc:sqlite:/path/file.db or the path"),
    writer::TABLE,
    Parameter::optional(
        "connection[].maxConnections",
        "integer",
        "",
        "accepted and not needed: one task writes at once",
    ),
    Parameter::optional("maxConnections", "integer", "", "accepted and not needed: one task writes at once"),
    Parameter::optional(
        "column",
        "list of strings",
        "with createTable, the reader's columns",
        "the table's columns that take the record's columns, in the same order; [\"*\"]: all of the table",
    ),
    writer::COLUMN_MAPPING,
    writer::CREATE_TABLE,
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
    writer::EMPTY_AS_NULL,
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
    pub(crate) mapping: Mapping,
    pub(crate) create_table: bool,
    pub(crate) mode: WriteMode,
    pub(crate) pre_sql: Vec<String>,
    pub(crate) post_sql: Vec<String>,
    pub(crate) empty_as_null: bool,
    /// How dates are written into text columns.
    pub(crate) formats: ColumnFormats,
    pub(crate) manners: Manners,
}

impl WriterConfig {
    pub(crate) fn from_json(parameter: &Value) -> Result<WriterConfig> {
        let params = Params::new(parameter, "parameter")?;
        let writer = Writer::read(&params, &RULES, &location::path_of)?;
        Ok(WriterConfig {
            path: writer.location,
            table: writer.table,
            columns: writer.columns,
            mapping: writer.mapping,
            create_table: writer.create_table,
            mode: writer.mode,
            // As they are written: how the table is named in them is known once the file is open.
            pre_sql: statements(&params, "preSql")?,
            post_sql: statements(&params, "postSql")?,
            empty_as_null: writer.empty_as_null,
            formats: ColumnFormats::read(&params)?,
            manners: Manners::new(&params, writer.session)?,
        })
    }
}

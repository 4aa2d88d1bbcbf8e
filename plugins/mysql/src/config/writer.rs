//! What `mysqlwriter` takes.

use std::sync::Arc;

use serde_json::Value;
use transship_plugin_api::{ColumnFormats, Parameter, Params, Result};
use transship_sql::Url;
use transship_sql::parameters::describe::{self, writer};
use transship_sql::parameters::{Columns, Writer};
use transship_sql::write::{Mapping, WriteMode};

use super::{RULES, location, server};
use crate::session::Server;

/// The parameters of `mysqlwriter`.
pub(crate) const WRITER_PARAMETERS: &[Parameter] = &[
    describe::USERNAME,
    describe::PASSWORD,
    writer::CONNECTION,
    writer::URL,
    writer::TABLE,
    writer::MAX_CONNECTIONS,
    describe::SHORT_URL,
    writer::SHORT_TABLE,
    writer::SHORT_MAX_CONNECTIONS,
    writer::COLUMN,
    writer::COLUMN_MAPPING,
    writer::CREATE_TABLE,
    writer::WRITE_MODE,
    writer::PRE_SQL,
    writer::POST_SQL,
    describe::SESSION,
    writer::BATCH_SIZE,
    writer::BATCH_BYTE_SIZE,
    writer::EMPTY_AS_NULL,
    Parameter::optional(
        "transaction",
        "\"task\" or \"batch\"",
        "task; with replace and update, batch",
        "what is committed at once: all records of a task, or those of a statement, as in DataX",
    ),
    Parameter::optional(
        "loadData",
        "boolean",
        "true",
        "write by LOAD DATA LOCAL where the server allows it; else, and with false, by INSERT",
    ),
];

/// Where to write, and how.
pub(crate) struct WriterConfig {
    pub(crate) server: Arc<Server>,
    /// How many tasks may be connected at once, if the job limits it.
    pub(crate) most_connections: Option<u32>,
    /// As the job writes it.
    pub(crate) table: String,
    /// `None`: those of the reader.
    pub(crate) columns: Option<Columns>,
    pub(crate) mapping: Mapping,
    pub(crate) create_table: bool,
    pub(crate) mode: WriteMode,
    pub(crate) pre_sql: Vec<String>,
    pub(crate) post_sql: Vec<String>,
    pub(crate) batch_records: usize,
    pub(crate) batch_bytes: usize,
    pub(crate) empty_as_null: bool,
    pub(crate) transaction: Transaction,
    pub(crate) load: bool,
    /// The job's zone and formats.
    pub(crate) formats: ColumnFormats,
    /// Names the target, without the user.
    pub(crate) target: String,
}

/// What is committed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transaction {
    /// All records of a task.
    Task,
    /// The records of a statement.
    Batch,
}

impl WriterConfig {
    pub(crate) fn from_json(parameter: &Value) -> Result<WriterConfig> {
        let params = Params::new(parameter, "parameter")?;
        let writer = Writer::<Url>::read(&params, &RULES, &location)?;
        let server = server(&params, &writer.location, &writer.login, &writer.session)?;
        let words = [("task", Transaction::Task), ("batch", Transaction::Batch)];
        // Long transactions that change rows block each other; and what is repeated there does no harm.
        let usual = if writer.mode.is_idempotent() { Transaction::Batch } else { Transaction::Task };
        let transaction = params.choice("transaction", &words)?.unwrap_or(usual);
        let load = params.truth("loadData")?.unwrap_or(true) && server.may_load;
        Ok(WriterConfig {
            target: format!("mysql:{}/{}", server.place, writer.table),
            server,
            most_connections: writer.most_connections,
            table: writer.table,
            columns: writer.columns,
            mapping: writer.mapping,
            create_table: writer.create_table,
            mode: writer.mode,
            pre_sql: writer.pre_sql,
            post_sql: writer.post_sql,
            batch_records: writer.batch_records,
            batch_bytes: writer.batch_bytes,
            empty_as_null: writer.empty_as_null,
            transaction,
            load,
            formats: ColumnFormats::read(&params)?,
        })
    }
}

//! What `postgresqlwriter` takes.

use std::sync::Arc;

use serde_json::Value;
use transship_plugin_api::{ColumnFormats, Parameter, Params, Result};
use transship_sql::parameters::{Columns, Writer, describe};
use transship_sql::write::{Mapping, WriteMode};

use super::{RULES, location, server, zone_name};
use crate::session::Server;

/// The parameters of `postgresqlwriter`.
pub(crate) const WRITER_PARAMETERS: &[Parameter] = &[
    describe::USERNAME,
    describe::PASSWORD,
    describe::writer::CONNECTION,
    describe::writer::URL,
    describe::writer::TABLE,
    describe::writer::MAX_CONNECTIONS,
    describe::SHORT_URL,
    describe::writer::SHORT_TABLE,
    describe::writer::SHORT_MAX_CONNECTIONS,
    describe::writer::COLUMN,
    describe::writer::COLUMN_MAPPING,
    describe::writer::CREATE_TABLE,
    Parameter::optional(
        "writeMode",
        "string",
        "insert",
        "insert, insert ignore, update (by the primary key) or update (column, …)",
    ),
    describe::writer::PRE_SQL,
    describe::writer::POST_SQL,
    describe::SESSION,
    Parameter::optional("batchSize", "integer", "as fits", "records of one COPY, at most"),
    Parameter::optional("batchByteSize", "integer", "16777216", "bytes of one COPY, about"),
    describe::writer::EMPTY_AS_NULL,
    Parameter::optional(
        "nulCharacter",
        "\"dirty\" or \"remove\"",
        "dirty",
        "what becomes of a text with a NUL character, which PostgreSQL cannot store",
    ),
];

/// Bytes of records that one COPY writes, and that are kept until the server has taken them.
const COPY_BYTES: usize = 16 << 20;

/// What becomes of a text with a NUL character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NulCharacter {
    Dirty,
    Remove,
}

/// Where to write, and how.
pub(crate) struct WriterConfig {
    pub(crate) server: Arc<Server>,
    /// How many tasks may be connected at once, if the job limits it.
    pub(crate) most_connections: Option<u32>,
    pub(crate) table: String,
    /// `None`: those of the reader.
    pub(crate) columns: Option<Columns>,
    pub(crate) mapping: Mapping,
    pub(crate) create_table: bool,
    pub(crate) mode: WriteMode,
    pub(crate) pre_sql: Vec<String>,
    pub(crate) post_sql: Vec<String>,
    /// Records of one COPY, at most.
    pub(crate) copy_records: usize,
    /// Bytes of one COPY, about.
    pub(crate) copy_bytes: usize,
    pub(crate) empty_as_null: bool,
    pub(crate) nul: NulCharacter,
    pub(crate) formats: ColumnFormats,
}

impl WriterConfig {
    pub(crate) fn from_json(parameter: &Value) -> Result<WriterConfig> {
        let params = Params::new(parameter, "parameter")?;
        let shared = Writer::read(&params, &RULES, &location)?;
        if shared.mode == WriteMode::Replace {
            let advice = "PostgreSQL has no REPLACE: \"update\" changes the row with the same primary key, \
                          \"update (a, b)\" that with the same a and b, and columns that are not in \"column\" stay as they are";
            return Err(params.error("writeMode", format_args!("is \"replace\": {advice}")));
        }
        let formats = ColumnFormats::read(&params)?;
        // Without a zone of the job's, local times and moments meet in UTC, whatever the server's zone is.
        let zone = zone_name(&params, &formats).or(Some("UTC".into()));
        let is_given = |key: &str| params.value(key).is_some() && !params.is_blank(key);
        Ok(WriterConfig {
            server: server(&params, &shared.location, &shared.login, &shared.session, zone)?,
            most_connections: shared.most_connections,
            table: shared.table,
            columns: shared.columns,
            mapping: shared.mapping,
            create_table: shared.create_table,
            mode: shared.mode,
            pre_sql: shared.pre_sql,
            post_sql: shared.post_sql,
            copy_records: if is_given("batchSize") { shared.batch_records } else { usize::MAX },
            copy_bytes: if is_given("batchByteSize") { shared.batch_bytes } else { COPY_BYTES },
            empty_as_null: shared.empty_as_null,
            nul: params
                .choice("nulCharacter", &[("dirty", NulCharacter::Dirty), ("remove", NulCharacter::Remove)])?
                .unwrap_or(NulCharacter::Dirty),
            formats,
        })
    }
}

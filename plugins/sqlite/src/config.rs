//! The parameters of a job: what both sides share, and the tables that `transship plugins sqlite` prints.
//! Not here: what only one side takes (`config/reader.rs`, `config/writer.rs`, `config/lookup.rs`), and whether a table has the columns named.

mod location;
mod lookup;
mod reader;
mod writer;

use std::time::Duration;

use transship_plugin_api::{Params, Result};
use transship_sql::parameters::Rules;
use transship_sql::{Dialect, Sqlite};

pub(crate) use lookup::{LOOKUP_PARAMETERS, LookupConfig, LookupSource};
pub(crate) use reader::{READER_PARAMETERS, ReaderConfig, Types};
pub(crate) use writer::{WRITER_PARAMETERS, WriterConfig};

/// How parameters are read: a file needs no login, and all columns are read unless the job names some.
const RULES: Rules = Rules {
    short_form: "path",
    short_form_excludes_connection: true,
    login: false,
    reader_names_columns: false,
    example: "\"jdbc:sqlite:/path/to/file.db\", or the path alone",
};

/// A name as SQL takes it, whatever is in it.
pub(crate) fn quote(name: &str) -> String {
    Sqlite.quote(name)
}

/// How to behave on a connection.
#[derive(Debug, Clone)]
pub(crate) struct Manners {
    /// Statements to run first, mostly pragmas.
    pub(crate) session: Vec<String>,
    /// How long to wait while another process holds the lock.
    pub(crate) patience: Duration,
}

impl Manners {
    fn new(params: &Params<'_>, session: Vec<String>) -> Result<Manners> {
        let patience = params.integer("busyTimeout")?.unwrap_or(10_000);
        let patience = u64::try_from(patience).map_err(|_| params.error("busyTimeout", "must not be negative"))?;
        Ok(Manners { session, patience: Duration::from_millis(patience) })
    }
}

#[cfg(test)]
mod tests;

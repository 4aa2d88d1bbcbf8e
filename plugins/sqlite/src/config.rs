//! The parameters of a job: what both sides share, and the tables that `transship plugins sqlite` prints.
//! Not here: what only one side takes (`config/reader.rs`, `config/writer.rs`), and whether a table has the columns named.

mod location;
mod names;
mod reader;
mod writer;

use std::path::PathBuf;
use std::time::Duration;

use transship_plugin_api::{Params, Result};

pub(crate) use names::{quote, unquote};
pub(crate) use reader::{READER_PARAMETERS, ReaderConfig, Source, Types, What};
pub(crate) use writer::{WRITER_PARAMETERS, WriteMode, WriterConfig};

/// How to behave on a connection.
#[derive(Debug, Clone)]
pub(crate) struct Manners {
    /// Statements to run first, mostly pragmas.
    pub(crate) session: Vec<String>,
    /// How long to wait while another process holds the lock.
    pub(crate) patience: Duration,
}

impl Manners {
    fn from_params(params: &Params<'_>) -> Result<Manners> {
        let patience = params.integer("busyTimeout")?.unwrap_or(10_000);
        let patience = u64::try_from(patience).map_err(|_| params.error("busyTimeout", "must not be negative"))?;
        Ok(Manners { session: statements(params, "session")?, patience: Duration::from_millis(patience) })
    }
}

/// A list of statements without the blank ones.
fn statements(params: &Params<'_>, key: &str) -> Result<Vec<String>> {
    let mut statements = params.texts(key)?;
    statements.retain(|statement| !statement.trim().is_empty());
    Ok(statements)
}

/// The database files that a list of URLs names; there is at least one.
fn locations(params: &Params<'_>, key: &str) -> Result<Vec<PathBuf>> {
    let urls = statements(params, key)?;
    if urls.is_empty() {
        return Err(params.error(key, "is required: \"jdbc:sqlite:/path/to/file.db\", or the path alone"));
    }
    urls.iter().map(|url| location::path_of(url).map_err(|problem| params.error(key, problem))).collect()
}

/// The tables that a list of names and ranges of names (`t[0-3]`) stands for.
fn tables(params: &Params<'_>, key: &str) -> Result<Vec<String>> {
    let mut tables = Vec::new();
    for entry in params.texts(key)? {
        names::expand(&entry, &mut tables).map_err(|problem| params.error(key, problem))?;
    }
    Ok(tables)
}

/// The columns of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Columns {
    /// `["*"]`: all that the table has.
    All,
    /// These, in this order.
    Named(Vec<String>),
}

impl Columns {
    fn from_params(params: &Params<'_>) -> Result<Option<Columns>> {
        if params.value("column").is_none() {
            return Ok(None);
        }
        let names = params.texts("column")?;
        match names.as_slice() {
            [] => Err(params.error("column", "is empty: name the columns, or give [\"*\"] for all of them")),
            [star] if star.trim() == "*" => Ok(Some(Columns::All)),
            names if names.iter().any(|name| name.trim() == "*") => {
                Err(params.error("column", "has \"*\" beside other columns: give [\"*\"] alone, or name them all"))
            }
            names => match names.iter().position(|name| name.trim().is_empty()) {
                Some(index) => Err(params.error(&format!("column[{index}]"), "is empty")),
                None => Ok(Some(Columns::Named(names.to_vec()))),
            },
        }
    }
}

#[cfg(test)]
mod tests;

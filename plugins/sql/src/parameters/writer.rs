//! What every relational writer takes.

use transship_plugin_api::{Error, Params, Result};

use super::{
    Columns, Location, Login, ReadLocation, Rules, connections, locations, most_connections, statements, tables,
    warn_of_ignored,
};
use crate::write::{Mapping, WriteMode};

/// Where to write, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer<L> {
    /// Who writes.
    pub login: Login,
    /// Where the database is.
    pub location: L,
    /// How many tasks may be connected at once, if the job limits it.
    pub most_connections: Option<u32>,
    /// The table, as the job writes it.
    pub table: String,
    /// The table's columns that take those of the records; `None`, with `createTable` only: those of the reader.
    pub columns: Option<Columns>,
    /// How columns of the records find those of the table.
    pub mapping: Mapping,
    /// Whether to create the table from the reader's schema if it is not there.
    pub create_table: bool,
    /// What happens to a record whose key is there already.
    pub mode: WriteMode,
    /// Statements to run before, with the table's name in them.
    pub pre_sql: Vec<String>,
    /// Statements to run behind the last record, with the table's name in them.
    pub post_sql: Vec<String>,
    /// Statements to run first on each connection that writes.
    pub session: Vec<String>,
    /// Records to write at once, at most.
    pub batch_records: usize,
    /// Bytes to write at once, about.
    pub batch_bytes: usize,
    /// Whether an empty text for a number column becomes NULL.
    pub empty_as_null: bool,
}

impl<L: Location> Writer<L> {
    /// Reads them.
    ///
    /// # Errors
    /// Of kind `Config`, with the path of the parameter at fault and what to try.
    pub fn read(params: &Params<'_>, rules: &Rules, location: ReadLocation<'_, L>) -> Result<Writer<L>> {
        let login = Login::read(params, rules, location)?;
        warn_of_ignored(params, rules);
        let Target { place, table, most_connections } = target(params, rules, location)?;
        let columns = Columns::read(params)?;
        let create_table = params.truth("createTable")?.unwrap_or(false);
        if columns.is_none() && !create_table {
            let problem =
                "is required: the table's columns, or [\"*\"] for all (with \"createTable\": true, the reader's)";
            return Err(params.error("column", problem));
        }
        let with_table = |key: &str| -> Result<Vec<String>> {
            Ok(statements(params, key)?.iter().map(|statement| statement.replace("@table", &table)).collect())
        };
        Ok(Writer {
            login,
            location: place,
            most_connections,
            columns,
            mapping: Mapping::read(params)?,
            create_table,
            mode: WriteMode::read(params)?,
            pre_sql: with_table("preSql")?,
            post_sql: with_table("postSql")?,
            session: statements(params, "session")?,
            batch_records: size(params, "batchSize", 2_048)?,
            batch_bytes: size(params, "batchByteSize", 32 << 20)?,
            empty_as_null: params.truth("emptyAsNull")?.unwrap_or(true),
            table,
        })
    }
}

/// The database and the table in it.
struct Target<L> {
    place: L,
    table: String,
    most_connections: Option<u32>,
}

fn target<L>(params: &Params<'_>, rules: &Rules, location: ReadLocation<'_, L>) -> Result<Target<L>> {
    let connections = connections(params, rules)?;
    let [(connection, key)] = connections.as_slice() else {
        return Err(only_one_table(params, "connection"));
    };
    let mut places = locations(connection, key, rules, location)?;
    let mut tables = tables(connection)?;
    match (places.pop(), tables.pop()) {
        (_, None) => Err(connection.error("table", "is required")),
        (Some(place), Some(table)) if places.is_empty() && tables.is_empty() => {
            Ok(Target { place, table, most_connections: most_connections(connection)? })
        }
        _ if places.is_empty() => Err(only_one_table(connection, "table")),
        _ => Err(connection.error(key, "must be one database, not several")),
    }
}

fn only_one_table(params: &Params<'_>, key: &str) -> Error {
    params.error(key, "names several tables to write into: one job writes into one table")
}

/// As DataX: a size that is no number, or below 1, is refused.
fn size(params: &Params<'_>, key: &str, default: usize) -> Result<usize> {
    match params.integer(key)? {
        None => Ok(default),
        Some(size) if size < 1 => Err(params.error(key, "must be at least 1")),
        Some(size) => Ok(usize::try_from(size).unwrap_or(usize::MAX)),
    }
}

//! The statement that reads a split.

use rusqlite::Connection;
use transship_plugin_api::{Error, Result};
use transship_sql::names::is_constant;
use transship_sql::parameters::Columns;
use transship_sql::select::from_table;

use crate::config::quote;
use crate::connection::{Database, excerpt, words};
use crate::split::{Key, Range};
use crate::table::Table;

/// A statement with the values for its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Select {
    pub(crate) sql: String,
    pub(crate) values: Vec<Key>,
    /// Whether the rowid stands behind the columns of the job.
    pub(crate) rowids: bool,
    /// Whether rows come by ascending rowid, so that reading can go on behind any of them.
    pub(crate) ordered: bool,
}

/// What of a table is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) columns: &'a Columns,
    pub(crate) condition: Option<&'a str>,
    /// Whether to read rowids too.
    pub(crate) rowids: bool,
    /// The rowid of the last row that need not be read again.
    pub(crate) behind: Option<i64>,
}

impl Select {
    /// A query as the job has it.
    pub(crate) fn query(sql: &str) -> Select {
        Select { sql: sql.into(), values: Vec::new(), rowids: false, ordered: false }
    }

    /// A range of a table.
    pub(crate) fn table(table: &Table, range: &Range, wanted: Wanted<'_>) -> Select {
        let rowid = table.rowid.filter(|_| wanted.rowids);
        let mut columns: Vec<_> = match wanted.columns {
            Columns::All => vec!["*".to_string()],
            Columns::Named(names) => names.iter().map(|name| expression(table, name)).collect(),
        };
        columns.extend(rowid.map(str::to_string));
        let (range_condition, mut values) = range.condition(table);
        let mut conditions: Vec<_> = range_condition.into_iter().collect();
        if let (Some(rowid), Some(behind)) = (rowid, wanted.behind) {
            conditions.push(format!("{rowid} > ?"));
            values.push(Key::Integer(behind));
        }
        let conditions = (!conditions.is_empty()).then(|| conditions.join(" AND "));
        let mut sql = from_table(&columns, &table.sql(), wanted.condition, conditions.as_deref());
        // With a condition of the job's, SQLite may find an index that is better than the order of rowids.
        let by_rowid = matches!(range, Range::Whole | Range::Rowids { .. }) && wanted.condition.is_none();
        let ordered = rowid.filter(|_| by_rowid);
        if let Some(rowid) = ordered {
            sql = format!("{sql} ORDER BY {rowid}");
        }
        Select { sql, values, rowids: rowid.is_some(), ordered: ordered.is_some() }
    }
}

/// Whether the columns are what their names say, so that a rowid can be read beside them. An expression might be an aggregate
/// or start with DISTINCT, and then it could not.
pub(crate) fn are_plain(table: &Table, columns: &Columns) -> bool {
    match columns {
        Columns::All => true,
        Columns::Named(names) => {
            names.iter().all(|name| table.column(name).is_some() || table.is_rowid(name) || is_constant(name))
        }
    }
}

/// The names and declared types of a statement's columns.
pub(crate) fn columns_of(
    database: &Database,
    connection: &Connection,
    select: &Select,
    table: Option<&Table>,
) -> Result<Vec<(String, String)>> {
    let statement = connection.prepare(&select.sql).map_err(|error| refused(database, error, &select.sql, table))?;
    let columns = statement.columns();
    let mut columns: Vec<_> =
        columns.map(|column| (column.name().to_string(), column.decl_type().unwrap_or_default().to_string())).collect();
    if select.rowids {
        columns.pop();
    }
    if columns.is_empty() {
        return Err(Error::config(format!(
            "{}: \"{}\" yields no rows: give a SELECT",
            database.path.display(),
            excerpt(&select.sql, 0)
        )));
    }
    Ok(columns)
}

/// A statement that SQLite does not take; if for a misspelt column of a table, with the nearest that there is.
fn refused(database: &Database, error: rusqlite::Error, sql: &str, table: Option<&Table>) -> Error {
    let said = words(&error);
    match (table, said.strip_prefix("no such column: ")) {
        (Some(table), Some(column)) => table.no_column(database, column.split(' ').next().unwrap_or(column)),
        _ => database.refused(sql, None, error),
    }
}

/// A column's name in quotes, anything else as it is.
fn expression(table: &Table, text: &str) -> String {
    table.column(text).map_or_else(|| text.trim().to_string(), |column| quote(&column.name))
}

//! What a database knows of a table: its columns, its key, and whether its rows have rowids.

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use transship_plugin_api::params::nearest;
use transship_plugin_api::{Error, Result};
use transship_sql::names::unquote;

use crate::config::quote;
use crate::connection::Database;

/// A table or view.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    schema: String,
    name: String,
    pub(crate) kind: TableKind,
    /// Whether it is declared `STRICT`, so that its columns refuse values of other types.
    pub(crate) strict: bool,
    pub(crate) columns: Vec<Column>,
    /// The name by which rowids are reached; `None` where rows have none.
    pub(crate) rowid: Option<&'static str>,
    /// The column that is another name for the rowid.
    rowid_alias: Option<String>,
}

/// What stands behind a table's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableKind {
    Table,
    View,
    /// A module (full-text search, for instance) plays the table.
    Virtual,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Its type as written, `VARCHAR(20)`; empty where it has none.
    pub(crate) declared: String,
    /// Whether the database computes it.
    pub(crate) generated: bool,
    /// Its place in the primary key, from 1; 0: none.
    pub(crate) key: u32,
}

impl Table {
    /// Looks a table up: by its exact name, whatever is in it, else as SQL would read the text (`main.t`, `"a b"`).
    pub(crate) fn find(database: &Database, connection: &Connection, text: &str) -> Result<Option<Table>> {
        look_up(connection, text.trim())
            .map_err(|error| database.failed(format_args!("looking for table {text}"), error))
    }

    /// As [`Table::find`], where it must be there.
    pub(crate) fn get(database: &Database, connection: &Connection, text: &str) -> Result<Table> {
        Table::find(database, connection, text)?.ok_or_else(|| missing(database, connection, text, None))
    }

    /// Its name as SQL takes it.
    pub(crate) fn sql(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.name))
    }

    /// Its name as people say it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The column of this name, plain or in quotes, in any case.
    pub(crate) fn column(&self, text: &str) -> Option<&Column> {
        let by_name = |name: &str| self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        by_name(text.trim()).or_else(|| by_name(&unquote(text)))
    }

    /// Whether this is the rowid, by one of its names or as the `INTEGER PRIMARY KEY`.
    pub(crate) fn is_rowid(&self, text: &str) -> bool {
        match self.column(text) {
            Some(column) => self.rowid_alias.as_ref() == Some(&column.name),
            None => self.rowid.is_some() && ROWID_NAMES.iter().any(|name| name.eq_ignore_ascii_case(&unquote(text))),
        }
    }

    /// The error that there is no such column, with the nearest that there is.
    pub(crate) fn no_column(&self, database: &Database, text: &str) -> Error {
        let names = self.columns.iter().map(|column| column.name.as_str());
        let hint = match nearest(&unquote(text), names.clone()) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("it has {}", names.collect::<Vec<_>>().join(", ")),
        };
        Error::schema(format!(
            "table {} of {} has no column \"{}\": {hint}",
            self.name,
            database.path.display(),
            unquote(text)
        ))
    }
}

/// The error that there is no such table, with the nearest that there is, and what to try.
pub(crate) fn missing(database: &Database, connection: &Connection, text: &str, advice: Option<&str>) -> Error {
    let names = table_names(connection).unwrap_or_default();
    let hint = match (nearest(&unquote(text), names.iter().map(String::as_str)), advice) {
        (Some(name), Some(advice)) => format!(": did you mean \"{name}\"? if not, {advice}"),
        (Some(name), None) => format!(": did you mean \"{name}\"?"),
        (None, Some(advice)) => format!(": {advice}"),
        (None, None) => String::new(),
    };
    Error::schema(format!("table {} does not exist in {}{hint}", unquote(text), database.path.display()))
}

const ROWID_NAMES: [&str; 3] = ["rowid", "_rowid_", "oid"];

fn look_up(connection: &Connection, text: &str) -> rusqlite::Result<Option<Table>> {
    let mut readings = vec![(None, text.to_string())];
    readings.push((None, unquote(text)));
    // Names may have dots in them: every dot can be the one behind the schema.
    for (dot, _) in text.match_indices('.') {
        readings.push((Some(unquote(&text[..dot])), unquote(&text[dot + 1..])));
    }
    for (schema, name) in readings {
        if let Some(table) = inspect(connection, schema.as_deref(), &name)? {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

fn inspect(connection: &Connection, schema: Option<&str>, name: &str) -> rusqlite::Result<Option<Table>> {
    const SQL: &str = "SELECT schema, name, type, wr, strict FROM pragma_table_list \
                       WHERE name = ?1 COLLATE NOCASE AND (?2 IS NULL OR schema = ?2 COLLATE NOCASE) \
                       ORDER BY name = ?1 DESC, schema = 'main' DESC";
    let mut statement = connection.prepare(SQL)?;
    let mut rows = statement.query(params![name, schema])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let kind = match row.get::<_, String>(2)?.as_str() {
        "view" => TableKind::View,
        "virtual" => TableKind::Virtual,
        _ => TableKind::Table,
    };
    let without_rowid: bool = row.get(3)?;
    let mut table = Table {
        schema: row.get(0)?,
        name: row.get(1)?,
        kind,
        strict: row.get(4)?,
        columns: Vec::new(),
        rowid: None,
        rowid_alias: None,
    };
    table.columns = columns(connection, &table)?;
    if kind == TableKind::Table && !without_rowid {
        let is_free = |name: &&str| !table.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
        table.rowid = ROWID_NAMES.into_iter().find(is_free);
        table.rowid_alias = rowid_alias(connection, &table)?;
    }
    Ok(Some(table))
}

fn columns(connection: &Connection, table: &Table) -> rusqlite::Result<Vec<Column>> {
    // Hidden columns of virtual tables (1) are arguments rather than data; 2 and 3 are generated columns.
    const SQL: &str = "SELECT name, type, hidden, pk FROM pragma_table_xinfo(?1, ?2) WHERE hidden <> 1 ORDER BY cid";
    let mut statement = connection.prepare(SQL)?;
    let columns = statement.query_map(params![table.name, table.schema], |row| {
        Ok(Column {
            name: row.get(0)?,
            declared: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
            generated: row.get::<_, i64>(2)? > 1,
            key: row.get(3)?,
        })
    })?;
    columns.collect()
}

/// The one column of the primary key, if it is declared `INTEGER` and has no index of its own, as `INTEGER PRIMARY KEY DESC` has.
fn rowid_alias(connection: &Connection, table: &Table) -> rusqlite::Result<Option<String>> {
    let mut key = table.columns.iter().filter(|column| column.key > 0);
    let (Some(column), None) = (key.next(), key.next()) else { return Ok(None) };
    let mut index = connection.prepare("SELECT 1 FROM pragma_index_list(?1, ?2) WHERE origin = 'pk'")?;
    let is_alias =
        column.declared.eq_ignore_ascii_case("integer") && !index.exists(params![table.name, table.schema])?;
    Ok(is_alias.then(|| column.name.clone()))
}

fn table_names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_list WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

//! The columns that all splits of a job share: their names and types.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error, Result};

use super::cells;
use super::select::{Select, columns_of};
use crate::config::Types;
use crate::connection::Database;
use crate::table::Table;
use crate::types::Kind;

/// Rows that are looked at to find a value that is not NULL.
const ROWS_LOOKED_AT: usize = 1_000;

/// The columns of the batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) columns: Vec<ShapeColumn>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShapeColumn {
    pub(crate) name: String,
    /// Its type as declared in the database; empty for an expression.
    pub(crate) declared: String,
    pub(crate) kind: Kind,
}

impl Shape {
    /// Finds out what a statement yields. Where a declaration does not tell, the first rows are looked at.
    pub(crate) fn of(
        database: &Database,
        connection: &Connection,
        select: &Select,
        table: Option<&Table>,
        types: &Types,
    ) -> Result<Shape> {
        let columns = columns_of(database, connection, select, table)?;
        let promised: Vec<_> = columns.iter().map(|(_, declared)| Kind::declared(declared)).collect();
        let given: Vec<_> = columns.iter().map(|(name, _)| types.of(name)).collect();
        let is_open = |(given, promised): (&Option<Kind>, &Option<Kind>)| given.is_none() && must_be_seen(*promised);
        let seen = if given.iter().zip(&promised).any(is_open) {
            first_rows(connection, select, &promised).map_err(|error| database.refused(&select.sql, None, error))?
        } else {
            promised.iter().map(|promised| promised.unwrap_or(Kind::Text)).collect()
        };
        let kinds = given.into_iter().zip(seen).map(|(given, seen)| given.unwrap_or(seen));
        let columns = columns.into_iter().zip(kinds);
        Ok(Shape { columns: columns.map(|((name, declared), kind)| ShapeColumn { name, declared, kind }).collect() })
    }

    /// Makes this the shape of another table's rows, too. Columns of different types become text.
    pub(crate) fn widen(&mut self, other: &Shape, source: &str, first: &str) -> Result<()> {
        let (here, there) = (self.columns.len(), other.columns.len());
        if here != there {
            return Err(Error::schema(format!(
                "{source} has {there} columns and {first} has {here}, but one job reads both"
            )));
        }
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            if column.kind != other.kind {
                log::warn!(
                    "column \"{}\" is read as text: it is {} in {first} and {} in {source}",
                    column.name,
                    type_name(&column.declared),
                    type_name(&other.declared)
                );
                column.kind = Kind::Text;
            }
        }
        Ok(())
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(|column| column.kind.field(&column.name, &column.declared));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

/// A declared type, for messages.
pub(crate) fn type_name(declared: &str) -> &str {
    if declared.is_empty() { "of no declared type" } else { declared }
}

fn must_be_seen(promised: Option<Kind>) -> bool {
    matches!(promised, None | Some(Kind::Date | Kind::Time | Kind::Timestamp | Kind::Instant))
}

/// What the first rows hold. A column is judged by its first value that is not NULL.
fn first_rows(connection: &Connection, select: &Select, promised: &[Option<Kind>]) -> rusqlite::Result<Vec<Kind>> {
    let mut statement = connection.prepare(&select.sql)?;
    for (index, value) in select.values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, value)?;
    }
    let mut kinds: Vec<Option<Kind>> = promised.iter().map(|kind| kind.filter(|_| !must_be_seen(*kind))).collect();
    let mut rows = statement.raw_query();
    for _ in 0..ROWS_LOOKED_AT {
        let Some(row) = rows.next()?.filter(|_| kinds.contains(&None)) else { break };
        for (index, kind) in kinds.iter_mut().enumerate().filter(|(_, kind)| kind.is_none()) {
            *kind = match row.get_ref(index)? {
                ValueRef::Null => None,
                cell => Some(cells::guess(promised[index], cell)),
            };
        }
    }
    Ok(kinds.into_iter().zip(promised).map(|(seen, promised)| seen.or(*promised).unwrap_or(Kind::Text)).collect())
}

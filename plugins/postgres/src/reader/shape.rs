//! The columns that all splits of a job share: their names and types, as the server describes the query.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use tokio_postgres::error::SqlState;
use transship_plugin_api::{Error, Result};

use super::place;
use super::select::Select;
use crate::session::Session;
use crate::table::Table;
use crate::types::{Kind, ServerType, oid};

/// The columns of the batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) columns: Vec<ShapeColumn>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShapeColumn {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) server: ServerType,
}

impl Shape {
    /// Has the server describe a query, without running it.
    pub(super) fn of(session: &Session, select: &Select, table: Option<&Table>) -> Result<Shape> {
        let sql = select.sql();
        let statement = match session.describe(&sql)? {
            Ok(statement) => statement,
            Err(error) => return Err(refused(session, error, &sql, table)),
        };
        if statement.columns().is_empty() {
            return Err(Error::config(format!("{}: \"{sql}\" yields no rows: give a SELECT", place(&session.server))));
        }
        if !statement.params().is_empty() {
            let problem = "has a parameter ($1) that nobody gives a value";
            return Err(Error::config(format!("{}: \"{sql}\" {problem}", place(&session.server))));
        }
        let types: Vec<_> =
            statement.columns().iter().map(|column| (column.type_().oid(), column.type_modifier())).collect();
        let names = types.iter().map(|(oid, modifier)| format!("format_type({oid}, {modifier})"));
        let names = session.ask("looking for types", &format!("SELECT {}", names.collect::<Vec<_>>().join(", ")))?;
        let names = names.into_iter().next().unwrap_or_default();
        let columns = statement.columns().iter().zip(types).zip(names).map(|((column, (oid, modifier)), name)| {
            let server = ServerType { oid, modifier, name: name.unwrap_or_default() };
            ShapeColumn { name: column.name().into(), kind: Kind::of(&server), server }
        });
        Ok(Shape { columns: columns.collect() })
    }

    /// Makes this the shape of another table's rows, too. Columns of different types are cast to text by the server.
    pub(super) fn widen(&mut self, other: &Shape, source: &str, first: &str) -> Result<()> {
        let (here, there) = (self.columns.len(), other.columns.len());
        if here != there {
            return Err(Error::schema(format!(
                "{source} has {there} columns and {first} has {here}, but one job reads both"
            )));
        }
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            if column.kind == other.kind {
                continue;
            }
            let is_number = |kind: Kind| matches!(kind, Kind::Decimal { .. } | Kind::LongDecimal { .. } | Kind::Number);
            if is_number(column.kind) && is_number(other.kind) {
                column.kind = Kind::Number;
                continue;
            }
            log::warn!(
                "column \"{}\" is read as text: it is {} in {first} and {} in {source}",
                column.name,
                column.server.name,
                other.server.name
            );
            column.kind = Kind::AsText;
            column.server = ServerType { oid: oid::TEXT, modifier: -1, name: "text".into() };
        }
        Ok(())
    }

    /// Whether rows of the other shape can be read as this one: the types that the server sends are the same.
    pub(super) fn reads(&self, other: &Shape) -> bool {
        let same = |(column, other): (&ShapeColumn, &ShapeColumn)| {
            column.kind == other.kind || column.kind.cast().is_some() || column.kind == Kind::Number
        };
        self.columns.len() == other.columns.len() && self.columns.iter().zip(&other.columns).all(same)
    }

    pub(super) fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(|column| column.kind.field(&column.name, &column.server));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

/// A query that the server does not take; if for a misspelt column of a table, with the nearest that there is.
fn refused(session: &Session, error: tokio_postgres::Error, sql: &str, table: Option<&Table>) -> Error {
    let column = error.as_db_error().filter(|said| *said.code() == SqlState::UNDEFINED_COLUMN).and_then(|said| {
        let (_, rest) = said.message().split_once('"')?;
        Some(rest.split_once('"')?.0.to_string())
    });
    match (table, column) {
        (Some(table), Some(column)) => table.no_column(place(&session.server), &column),
        _ => session.failed(format_args!("\"{sql}\""), error),
    }
}

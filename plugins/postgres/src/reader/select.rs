//! The queries that read: of a table or a range of it, with the columns that the job names, or as the job has them.

use serde::{Deserialize, Serialize};
use transship_sql::parameters::Columns;
use transship_sql::{Dialect, Postgres, names, select};

use super::shape::Shape;
use crate::table::Table;
use crate::types::oid;

/// A query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Select {
    /// As the job has it.
    Query(String),
    /// The rows of a table.
    Table { columns: Vec<String>, table: String, condition: Option<String>, range: Option<String> },
}

impl Select {
    pub(super) fn query(sql: &str) -> Select {
        Select::Query(sql.into())
    }

    /// All rows of a table that meet the job's condition.
    pub(super) fn table(columns: &Columns, condition: Option<&str>, table: &Table) -> Select {
        let columns = match columns {
            Columns::All => table.columns.iter().map(|column| Postgres.quote(&column.name)).collect(),
            Columns::Named(names) => names.iter().map(|name| expression(table, name)).collect(),
        };
        Select::Table { columns, table: table.sql.clone(), condition: condition.map(String::from), range: None }
    }

    /// The same of whatever may stand behind FROM.
    pub(super) fn from(columns: &Columns, condition: Option<&str>, text: &str) -> Select {
        let columns = match columns {
            Columns::All => vec!["*".into()],
            Columns::Named(names) => names.clone(),
        };
        Select::Table { columns, table: text.into(), condition: condition.map(String::from), range: None }
    }

    /// The same query for a range of the table.
    pub(super) fn within(&self, range: Option<&str>) -> Select {
        match self.clone() {
            Select::Table { columns, table, condition, range: None } => {
                Select::Table { columns, table, condition, range: range.map(String::from) }
            }
            other => other,
        }
    }

    pub(super) fn sql(&self) -> String {
        match self {
            Select::Query(sql) => sql.clone(),
            Select::Table { columns, table, condition, range } => {
                select::from_table(columns, table, condition.as_deref(), range.as_deref())
            }
        }
    }

    /// The statement that sends the rows in binary form, with what has no such form cast by the server.
    pub(super) fn copy(&self, shape: &Shape) -> String {
        let casts = shape.columns.iter().any(|column| column.kind.cast().is_some());
        // A comment at the end of the job's query must not swallow what closes it.
        let query = format!("{}\n", self.sql());
        if !casts {
            return format!("COPY ({query}) TO STDOUT (FORMAT binary)");
        }
        // The columns get names of our own: the query's may be missing, or be there twice.
        let aliases = (1..=shape.columns.len()).map(|number| format!("c{number}")).collect::<Vec<_>>();
        let columns = shape.columns.iter().zip(&aliases).map(|(column, alias)| match column.kind.cast() {
            // A cast would append /32 to every single address, which the server's own output does not have.
            Some(_) if column.server.oid == oid::INET => format!("abbrev({alias})"),
            Some(cast) => format!("{alias}::{cast}"),
            None => alias.clone(),
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        format!("COPY (SELECT {columns} FROM ({query}) AS rows ({})) TO STDOUT (FORMAT binary)", aliases.join(", "))
    }
}

/// Whether the columns are what their names say, so that a table may be read in parts. An expression might be an aggregate, or
/// start with DISTINCT, and then it could not.
pub(super) fn are_plain(table: &Table, columns: &Columns) -> bool {
    match columns {
        Columns::All => true,
        Columns::Named(names) => names.iter().all(|name| table.column(name).is_some() || names::is_constant(name)),
    }
}

/// A column's name in quotes, anything else as it is.
fn expression(table: &Table, text: &str) -> String {
    table.column(text).map_or_else(|| text.trim().to_string(), |column| Postgres.quote(&column.name))
}

#[cfg(test)]
mod tests {
    use super::super::shape::ShapeColumn;
    use super::*;
    use crate::types::{Kind, ServerType};

    fn shape(kinds: &[Kind]) -> Shape {
        let server = ServerType { oid: 0, modifier: -1, name: "inet".into() };
        let column = |kind: &Kind| ShapeColumn { name: "a".into(), kind: *kind, server: server.clone() };
        Shape { columns: kinds.iter().map(column).collect() }
    }

    #[test]
    fn only_what_needs_it_is_cast() {
        let select = Select::query("select 1, a -- all");
        assert_eq!(
            select.copy(&shape(&[Kind::Int32, Kind::Text])),
            "COPY (select 1, a -- all\n) TO STDOUT (FORMAT binary)"
        );
        assert_eq!(
            select.copy(&shape(&[Kind::Int32, Kind::AsText])),
            "COPY (SELECT c1, c2::text FROM (select 1, a -- all\n) AS rows (c1, c2)) TO STDOUT (FORMAT binary)"
        );
    }
}

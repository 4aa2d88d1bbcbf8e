//! Tables of SQLite to try splits on.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::super::{Key, KeyKind, KeyPart};
use crate::{Dialect, Sqlite};

/// The keys of a table: the columns' declarations, and for each row a literal for each of them.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Keys {
    pub(super) fn new(columns: &[&'static str], rows: Vec<Vec<String>>) -> Keys {
        Keys { columns: columns.to_vec(), rows }
    }

    /// The rows that are there first, so many tenths of all, and those that come later.
    pub(super) fn split(&self, tenths: usize) -> (Keys, Keys) {
        let (first, later) = self.rows.split_at(self.rows.len() * tenths / 10);
        (Keys::new(&self.columns, first.to_vec()), Keys::new(&self.columns, later.to_vec()))
    }

    /// The key over all columns.
    pub(super) fn key(&self, dialect: &dyn Dialect) -> Key {
        let part = |index: usize| {
            let name = format!("the \"key\" {index}");
            KeyPart { sql: dialect.quote(&name), name, kind: KeyKind::Other, nullable: true }
        };
        Key { parts: (0..self.columns.len()).map(part).collect() }
    }
}

/// A table `t` with these keys, and a column `row` that numbers its rows.
pub(super) struct Rows {
    connection: Connection,
}

impl Rows {
    pub(super) fn new(keys: &Keys) -> Rows {
        let connection = Connection::open_in_memory().unwrap();
        let key = keys.key(&Sqlite);
        let columns = key.parts.iter().zip(&keys.columns).map(|(part, declared)| format!("{} {declared}", part.sql));
        let columns = columns.collect::<Vec<_>>().join(", ");
        connection.execute_batch(&format!("CREATE TABLE t (row INTEGER PRIMARY KEY, {columns})")).unwrap();
        let rows = Rows { connection };
        rows.insert(keys);
        rows
    }

    pub(super) fn insert(&self, keys: &Keys) {
        for row in &keys.rows {
            self.connection.execute_batch(&format!("INSERT INTO t VALUES (NULL, {})", row.join(", "))).unwrap();
        }
    }

    /// The rows of a query as text, as a plugin would give them.
    pub(super) fn ask(&mut self, sql: &str) -> Vec<Vec<Option<String>>> {
        let mut statement = self.connection.prepare(sql).unwrap_or_else(|error| panic!("{error} in {sql}"));
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..columns).map(|column| Ok(text_of(row.get_ref(column)?))).collect::<Result<Vec<_>, _>>()
        });
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// The numbers in the one column of a query.
    pub(super) fn numbers(&mut self, sql: &str) -> Vec<i64> {
        self.ask(sql).into_iter().flatten().flatten().map(|number| number.parse().unwrap()).collect()
    }
}

fn text_of(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(real) => Some(format!("{real:?}")),
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8(text.into()).unwrap()),
    }
}

/// SQLite, if it could not compare rows.
pub(super) struct WithoutRows;

impl Dialect for WithoutRows {
    fn name(&self) -> &'static str {
        Sqlite.name()
    }

    fn quotes(&self) -> &'static [char] {
        Sqlite.quotes()
    }

    fn text(&self, text: &str) -> String {
        Sqlite.text(text)
    }

    fn key_text(&self, expression: &str, kind: KeyKind) -> String {
        Sqlite.key_text(expression, kind)
    }

    fn key_literal(&self, text: &str, kind: KeyKind) -> String {
        Sqlite.key_literal(text, kind)
    }

    fn compares_rows(&self) -> bool {
        false
    }
}

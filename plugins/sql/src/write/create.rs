//! The statement that makes a table.

use crate::dialect::Dialect;

/// A column of a table that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewColumn {
    /// Its name, without quotes.
    pub name: String,
    /// Its type, as the plugin says it.
    pub declared: String,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// The statement that makes a table if it is not there; `table` as SQL takes it.
pub fn create_table(dialect: &dyn Dialect, table: &str, columns: &[NewColumn]) -> String {
    let columns = columns.iter().map(|column| {
        let not_null = if column.nullable { "" } else { " NOT NULL" };
        format!("{} {}{not_null}", dialect.quote(&column.name), column.declared)
    });
    format!("CREATE TABLE IF NOT EXISTS {table} ({})", columns.collect::<Vec<_>>().join(", "))
}

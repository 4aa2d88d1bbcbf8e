//! The statement that writes records into a table, in each write mode.

use transship_plugin_api::{Error, Result};

use super::WriteMode;
use crate::dialect::Dialect;

/// The table to write into, as far as its statement has to know it. Names are plain, without quotes.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The table as SQL takes it.
    pub table: &'a str,
    /// The columns that are filled, in the order of the record's.
    pub columns: &'a [&'a str],
    /// The table's other columns that an insert may fill: `replace` sets them back to their defaults.
    pub others: &'a [&'a str],
    /// The columns of the primary key, in its order; empty where there is none.
    pub primary_key: &'a [&'a str],
}

/// A statement that writes rows: what stands before them, and what behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// `INSERT INTO t (a, b)`.
    pub head: String,
    /// ` ON CONFLICT …`, or nothing.
    pub tail: String,
    /// How many columns a row has.
    pub columns: usize,
}

impl Statement {
    /// The statement of a write mode.
    ///
    /// # Errors
    /// `Schema` where rows cannot be found by the key: there is none, or it is not among the columns.
    pub fn new(dialect: &dyn Dialect, mode: &WriteMode, target: &Target<'_>) -> Result<Statement> {
        let insert = "INSERT INTO";
        let (verb, behind) = match mode {
            WriteMode::Insert => (insert, String::new()),
            WriteMode::Ignore => (insert, dialect.on_duplicate_nothing(target.columns)),
            WriteMode::Replace => match dialect.replace_into() {
                Some(verb) => (verb, String::new()),
                None => (insert, target.update(dialect, None, target.others)?),
            },
            WriteMode::Update(keys) => (insert, target.update(dialect, keys.as_deref(), &[])?),
        };
        let names = target.columns.iter().map(|column| dialect.quote(column)).collect::<Vec<_>>().join(", ");
        Ok(Statement {
            head: format!("{verb} {} ({names})", target.table),
            tail: if behind.is_empty() { behind } else { format!(" {behind}") },
            columns: target.columns.len(),
        })
    }

    /// The statement for rows written out: `(1, 'a'), (2, 'b')`.
    pub fn with_values(&self, rows: &str) -> String {
        format!("{} VALUES {rows}{}", self.head, self.tail)
    }

    /// The statement for the rows of a query, from a staging table for instance.
    pub fn with_query(&self, query: &str) -> String {
        format!("{} {query}{}", self.head, self.tail)
    }

    /// The statement to prepare for so many rows.
    pub fn with_placeholders(&self, dialect: &dyn Dialect, rows: usize) -> String {
        let row = |row: usize| {
            let places = (1..=self.columns).map(|column| dialect.placeholder(row * self.columns + column));
            format!("({})", places.collect::<Vec<_>>().join(", "))
        };
        self.with_values(&(0..rows).map(row).collect::<Vec<_>>().join(", "))
    }
}

impl Target<'_> {
    /// What stands behind the rows of an insert that changes rows which are there.
    fn update(&self, dialect: &dyn Dialect, named: Option<&[String]>, defaults: &[&str]) -> Result<String> {
        let named: Option<Vec<&str>> = named.map(|keys| keys.iter().map(String::as_str).collect());
        let keys = self.columns_of_key(dialect, named.as_deref())?;
        // Without named keys MySQL decides by any unique key, and DataX sets all columns then.
        let stay: &[&str] = if dialect.updates_by_named_key() || named.is_some() { &keys } else { &[] };
        let is_key = |column: &&&str| stay.iter().any(|key| key.eq_ignore_ascii_case(column));
        let set: Vec<&str> = self.columns.iter().filter(|column| !is_key(column)).copied().collect();
        // A record that is nothing but key still has to count as written.
        let set = if set.is_empty() { self.columns.to_vec() } else { set };
        Ok(dialect.on_duplicate_update(&keys, &set, defaults))
    }

    /// The key by which rows are found, each of its columns spelt as among the columns that are filled.
    fn columns_of_key(&self, dialect: &dyn Dialect, named: Option<&[&str]>) -> Result<Vec<&str>> {
        if named.is_none() && !dialect.updates_by_named_key() {
            return Ok(Vec::new());
        }
        let keys = named.unwrap_or(self.primary_key);
        if keys.is_empty() {
            let problem = format!("table {} has no primary key to update by", self.table);
            return Err(Error::schema(format!("{problem}: name the columns of a unique key, \"update (a, b)\"")));
        }
        let find = |key: &str| {
            let exactly = self.columns.iter().find(|column| **column == key);
            exactly.or_else(|| self.columns.iter().find(|column| column.eq_ignore_ascii_case(key)))
        };
        if let Some(missing) = keys.iter().find(|key| find(key).is_none()) {
            let problem = format!("the key column \"{missing}\" of table {} is not among \"column\"", self.table);
            return Err(Error::schema(format!("{problem}: without it no row can be found to update")));
        }
        Ok(keys.iter().filter_map(|key| find(key)).copied().collect())
    }
}

//! How the databases differ, as far as shared code has to know: quoting, literals, comparing rows.
//! Not here: types (each plugin has its own).

mod mysql;
mod postgres;
mod sqlite;

use serde::{Deserialize, Serialize};

use crate::names;

pub use mysql::MySql;
pub use postgres::Postgres;
pub use sqlite::Sqlite;

/// What kind of values a column has by which a table is split: how they travel as text and return as literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Numbers: in MySQL they have to be written without quotes, or they would be compared as doubles.
    Number,
    /// Text, in the order of its collation.
    Text,
    /// Bytes.
    Bytes,
    /// Anything else that a text in quotes stands for: dates, times, UUIDs, addresses.
    Other,
}

/// A database's own way to write things.
pub trait Dialect: Send + Sync {
    /// What people call the system.
    fn name(&self) -> &'static str;

    /// The quotes that names stand in; the first is the one to write.
    fn quotes(&self) -> &'static [char];

    /// A name as SQL takes it, whatever is in it.
    fn quote(&self, name: &str) -> String {
        names::quoted(name, self.quotes()[0])
    }

    /// Whether a name without quotes may begin with a digit.
    fn digits_begin_names(&self) -> bool {
        false
    }

    /// A text as a literal that means the same under every setting of a session.
    fn text(&self, text: &str) -> String;

    /// The expression that yields a key's value as text, so that [`Dialect::key_literal`] can be made of it.
    fn key_text(&self, expression: &str, kind: KeyKind) -> String;

    /// The literal for what [`Dialect::key_text`] yielded. Compared with the key it gives the same order as sorting by the key.
    fn key_literal(&self, text: &str, kind: KeyKind) -> String;

    /// Whether `(a, b) < (1, 2)` is compared in the order of an index over both.
    fn compares_rows(&self) -> bool {
        true
    }

    /// The place of the value with this number, from 1, in a prepared statement.
    fn placeholder(&self, number: usize) -> String {
        let _ = number;
        "?".into()
    }

    /// What stands behind the rows of an `insert` so that a row whose key is there already is left out: nothing but that, so
    /// that values which do not fit stay errors.
    fn on_duplicate_nothing(&self, columns: &[&str]) -> String {
        let _ = columns;
        "ON CONFLICT DO NOTHING".into()
    }

    /// What stands behind the rows of an `insert` so that a row whose key is there already gets these values. `keys` is the
    /// unique key that decides; `columns` are those to set, `defaults` those to set back to their defaults.
    fn on_duplicate_update(&self, keys: &[&str], columns: &[&str], defaults: &[&str]) -> String {
        let keys = keys.iter().map(|key| self.quote(key)).collect::<Vec<_>>().join(", ");
        let set = columns.iter().map(|column| format!("{0} = excluded.{0}", self.quote(column)));
        let reset = defaults.iter().map(|column| format!("{} = DEFAULT", self.quote(column)));
        let assignments = set.chain(reset).collect::<Vec<_>>().join(", ");
        format!("ON CONFLICT ({keys}) DO UPDATE SET {assignments}")
    }

    /// The words before the table with which rows take the place of those that have the same keys, if there are such words.
    fn replace_into(&self) -> Option<&'static str> {
        None
    }

    /// Whether `update` has to know the key by which rows are found.
    fn updates_by_named_key(&self) -> bool {
        true
    }
}

/// Bytes in hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(digit as u32, 16).unwrap_or('0')));
    }
    text
}

#[cfg(test)]
mod tests;

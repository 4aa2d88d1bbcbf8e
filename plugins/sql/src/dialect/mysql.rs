//! How MySQL and MariaDB write names, literals and upserts.

use super::{Dialect, KeyKind, hex};
use crate::names;

/// MySQL and MariaDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MySql;

impl Dialect for MySql {
    fn name(&self) -> &'static str {
        "MySQL"
    }

    /// What stands in double quotes is a text, unless `sql_mode` says otherwise.
    fn quotes(&self) -> &'static [char] {
        &['`']
    }

    fn digits_begin_names(&self) -> bool {
        true
    }

    /// A backslash means one thing or another by `sql_mode`, and what is not ASCII by the connection's character set: such
    /// texts are written in hexadecimal digits.
    fn text(&self, text: &str) -> String {
        match text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'\\') {
            true => format!("'{}'", text.replace('\'', "''")),
            false => format!("_utf8mb4 x'{}'", hex(text.as_bytes())),
        }
    }

    fn key_text(&self, expression: &str, kind: KeyKind) -> String {
        match kind {
            KeyKind::Bytes => format!("HEX({expression})"),
            // Else a connection in another character set than UTF-8 could replace letters.
            KeyKind::Text => format!("CONVERT({expression} USING utf8mb4)"),
            KeyKind::Number | KeyKind::Other => format!("CAST({expression} AS CHAR)"),
        }
    }

    fn key_literal(&self, text: &str, kind: KeyKind) -> String {
        match kind {
            KeyKind::Number if names::is_number(text) => text.into(),
            KeyKind::Bytes if text.bytes().all(|byte| byte.is_ascii_hexdigit()) => format!("x'{text}'"),
            _ => self.text(text),
        }
    }

    /// Rows are compared rightly, but without using an index.
    fn compares_rows(&self) -> bool {
        false
    }

    /// `INSERT IGNORE` would also cut values that do not fit. A row that is left out does not count as affected, unless the
    /// connection asks for the rows found.
    fn on_duplicate_nothing(&self, columns: &[&str]) -> String {
        let first = columns.first().map(|column| self.quote(column)).unwrap_or_default();
        format!("ON DUPLICATE KEY UPDATE {first} = {first}")
    }

    fn on_duplicate_update(&self, _keys: &[&str], columns: &[&str], defaults: &[&str]) -> String {
        let set = columns.iter().map(|column| format!("{0} = VALUES({0})", self.quote(column)));
        let reset = defaults.iter().map(|column| format!("{0} = DEFAULT({0})", self.quote(column)));
        format!("ON DUPLICATE KEY UPDATE {}", set.chain(reset).collect::<Vec<_>>().join(", "))
    }

    fn replace_into(&self) -> Option<&'static str> {
        Some("REPLACE INTO")
    }

    fn updates_by_named_key(&self) -> bool {
        false
    }
}

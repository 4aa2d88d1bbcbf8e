//! How SQLite writes names and literals.

use super::{Dialect, KeyKind, hex};

/// SQLite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sqlite;

impl Dialect for Sqlite {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn quotes(&self) -> &'static [char] {
        &['"', '`']
    }

    /// A literal in quotes ends at a NUL character.
    fn text(&self, text: &str) -> String {
        match text.contains('\0') {
            true => format!("CAST(x'{}' AS TEXT)", hex(text.as_bytes())),
            false => format!("'{}'", text.replace('\'', "''")),
        }
    }

    /// Any column may hold values of any type, so the type travels with the value: as a literal.
    fn key_text(&self, expression: &str, _kind: KeyKind) -> String {
        format!("quote({expression})")
    }

    fn key_literal(&self, text: &str, _kind: KeyKind) -> String {
        text.into()
    }

    fn replace_into(&self) -> Option<&'static str> {
        Some("INSERT OR REPLACE INTO")
    }
}

//! How PostgreSQL writes names, literals and upserts.

use super::{Dialect, KeyKind};

/// PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Postgres;

impl Dialect for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn quotes(&self) -> &'static [char] {
        &['"']
    }

    /// Without the `E` a backslash would mean one thing or another by `standard_conforming_strings`.
    fn text(&self, text: &str) -> String {
        let quoted = text.replace('\'', "''");
        match quoted.contains('\\') {
            true => format!("E'{}'", quoted.replace('\\', "\\\\")),
            false => format!("'{quoted}'"),
        }
    }

    fn key_text(&self, expression: &str, _kind: KeyKind) -> String {
        format!("({expression})::text")
    }

    /// A literal in quotes has no type of its own: it takes that of the key, exactly.
    fn key_literal(&self, text: &str, _kind: KeyKind) -> String {
        self.text(text)
    }

    fn placeholder(&self, number: usize) -> String {
        format!("${number}")
    }
}

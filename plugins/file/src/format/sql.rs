//! Statements that insert a row each, with a `commit;` between some of them.

use std::borrow::Cow;

use memchr::memchr;

use super::{Buffer, Cause, Dressed, Glue};
use crate::config::Sql;
use crate::render::Cells;

/// What stands around the values of a statement.
pub(super) fn glue(format: &Sql, names: &[String]) -> Glue {
    let quote = &format.quote;
    let names: Vec<String> = names.iter().map(|name| format!("{quote}{name}{quote}")).collect();
    let before = format!("INSERT INTO {quote}{}{quote} ({}) VALUES(", format.table, names.join(","));
    Glue { before: before.into_bytes(), between: b",".to_vec(), after: [&b");"[..], &format.terminator].concat() }
}

/// The `commit;` between some statements.
pub(super) struct Commits {
    pub(super) statement: Vec<u8>,
    size: u64,
}

impl Commits {
    pub(super) fn new(format: &Sql) -> Commits {
        Commits { statement: [&b"commit;"[..], &format.terminator].concat(), size: format.commit_size }
    }

    /// How many rows may follow so many until one is due.
    pub(super) fn rows_to_next(&self, rows: u64) -> usize {
        usize::try_from(self.size - rows % self.size).unwrap_or(usize::MAX)
    }

    pub(super) fn is_due(&self, rows: u64) -> bool {
        rows.is_multiple_of(self.size)
    }
}

/// The values of a column as literals.
pub(super) fn literals<'a>(cells: &Cells<'_>) -> Dressed<'a> {
    let rows = cells.offsets.len() - 1;
    let mut out = Buffer::with_room(cells.all_bytes().len() + 4 * rows);
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    for row in 0..rows {
        if cells.is_null(row) {
            out.append(b"NULL");
        } else {
            write_literal(cells.text(row), &mut out);
        }
        offsets.push(out.len() as i32);
    }
    let unwritable = cells.unwritable.iter().map(|(row, cause)| (*row, Cause::Borrowed(cause))).collect();
    Dressed { offsets: Cow::Owned(offsets), bytes: Cow::Owned(out.into_bytes()), unwritable }
}

fn write_literal(text: &[u8], out: &mut Buffer) {
    out.push(b'\'');
    let mut rest = text;
    while let Some(place) = memchr(b'\'', rest) {
        out.append(&rest[..=place]);
        out.push(b'\'');
        rest = &rest[place + 1..];
    }
    out.append(rest);
    out.push(b'\'');
}

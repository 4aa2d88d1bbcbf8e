//! Statements that insert a row each, with a `commit;` between some of them.

use std::borrow::Cow;

use memchr::memchr;

use super::{Buffer, Cause, Dressed};
use crate::config::Sql;
use crate::render::Cells;

/// What is around the values of a statement.
pub(crate) struct Statement {
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
    pub(crate) commit: Vec<u8>,
    pub(crate) commit_size: u64,
}

impl Statement {
    pub(crate) fn new(format: &Sql, names: &[String]) -> Statement {
        let quote = &format.quote;
        let names: Vec<String> = names.iter().map(|name| format!("{quote}{name}{quote}")).collect();
        let before = format!("INSERT INTO {quote}{}{quote} ({}) VALUES(", format.table, names.join(","));
        Statement {
            before: before.into_bytes(),
            after: [&b");"[..], &format.terminator].concat(),
            commit: [&b"commit;"[..], &format.terminator].concat(),
            commit_size: format.commit_size,
        }
    }
}

/// The values of a column as literals.
pub(crate) fn literals<'a>(cells: &Cells<'_>) -> Dressed<'a> {
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

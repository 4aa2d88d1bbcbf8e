//! Where the rowids of a table lie: runs of them, found by a few look-ups, so that gaps do not count.

use rusqlite::{Connection, OptionalExtension, Result, Statement};
use transship_sql::split::{Index, Runs};

use crate::table::Table;

/// The runs of rowids of a table, for so many parts.
pub(super) fn runs(connection: &Connection, table: &Table, rowid: &str, parts: usize) -> Result<Runs> {
    let name = table.sql();
    let up_to = format!("SELECT {rowid} FROM {name} WHERE {rowid} <= ?1 ORDER BY {rowid} DESC LIMIT 1");
    let from = format!("SELECT {rowid} FROM {name} WHERE {rowid} >= ?1 ORDER BY {rowid} LIMIT 1");
    Runs::find(parts, &mut Rowids { up_to: connection.prepare(&up_to)?, from: connection.prepare(&from)? })
}

struct Rowids<'a> {
    up_to: Statement<'a>,
    from: Statement<'a>,
}

impl Index for Rowids<'_> {
    type Error = rusqlite::Error;

    fn first_from(&mut self, number: Option<i128>) -> Result<Option<i128>> {
        look_up(&mut self.from, number.map_or(i64::MIN, rowid))
    }

    fn last_to(&mut self, number: Option<i128>) -> Result<Option<i128>> {
        look_up(&mut self.up_to, number.map_or(i64::MAX, rowid))
    }
}

/// A number from between two rowids, which is one.
pub(super) fn rowid(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

fn look_up(statement: &mut Statement<'_>, rowid: i64) -> Result<Option<i128>> {
    statement.query_row([rowid], |row| row.get::<_, i64>(0).map(i128::from)).optional()
}

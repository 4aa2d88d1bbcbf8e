//! Where the rowids of a table lie: runs of them, found by a few look-ups, so that gaps do not count.

use rusqlite::{Connection, OptionalExtension, Result, Statement};
use serde::{Deserialize, Serialize};
use transship_sql::split::{Index, Runs};

use crate::table::Table;

/// Where the rowids of a range lie, as far as it is known: the ends of runs of them, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Spread {
    runs: Vec<(i64, i64)>,
}

impl Spread {
    /// One run, or as it is where there is none.
    pub(super) fn between(ends: Option<(i64, i64)>) -> Spread {
        Spread { runs: ends.into_iter().collect() }
    }

    /// Those runs, and parts of runs, that lie from one bound on and below the other.
    pub(super) fn within(runs: &Runs, from: Option<i64>, below: Option<i64>) -> Spread {
        let (first, last) =
            (from.unwrap_or(i64::MIN).into(), below.map_or(i64::MAX.into(), |below| i128::from(below) - 1));
        let runs =
            runs.ends().map(|(start, end)| (start.max(first), end.min(last))).filter(|(start, end)| start <= end);
        Spread { runs: runs.map(|(start, end)| (rowid(start), rowid(end))).collect() }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many numbers, rowids or not, are in the runs.
    pub(crate) fn numbers(&self) -> u64 {
        self.runs.iter().map(|(first, last)| last.abs_diff(*first).saturating_add(1)).fold(0, u64::saturating_add)
    }

    /// How much of the range is up to this rowid, from 0 to 1, if its rows come in order; where nothing is known, `None`.
    pub(crate) fn share(&self, rowid: i64) -> Option<f64> {
        let up_to = |&(first, last): &(i64, i64)| {
            if rowid < first { 0.0 } else { rowid.min(last).abs_diff(first) as f64 + 1.0 }
        };
        (!self.is_unknown()).then(|| self.runs.iter().map(up_to).sum::<f64>() / self.numbers() as f64)
    }
}

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

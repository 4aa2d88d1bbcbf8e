//! Cuts a table into ranges that hold every row exactly once, whatever its keys are.
//!
//! Bounds are values of the table, found and put in order by the database, and it is the database that compares rows with
//! them. The first range has no lower bound and the last no upper one, so that rows beyond the keys of today are read too; rows
//! without a key have a range of their own. Where the bounds lie is only a matter of balance.
//!
//! Not here: physical ranges (PostgreSQL's ctid, SQLite's rowid), which a plugin knows better.

mod estimates;
mod in_turn;
mod range;
mod ranks;
mod runs;
mod sizes;
mod steps;

use serde::{Deserialize, Serialize};
use transship_plugin_api::Result;

use crate::dialect::{Dialect, KeyKind};
use crate::{names, select};

pub use estimates::{Estimate, by_estimates};
pub use in_turn::InTurn;
pub use range::{Bound, Range, between};
pub use ranks::by_ranks;
pub use runs::{Index, Runs};
pub use sizes::{RangeSize, TableSize};
pub use steps::by_steps;

/// More ranges of one table than this help nobody.
pub const MOST_RANGES: usize = 4_096;

/// What a table is split by: a column, or several in the order of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key {
    /// At least one.
    pub parts: Vec<KeyPart>,
}

/// A column of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPart {
    /// What people call it.
    pub name: String,
    /// The expression to sort and to compare by, mostly the quoted name. Sorting by it and comparing with it must give the
    /// same order: of MySQL's enum columns `col + 0` does, the name does not.
    pub sql: String,
    /// What kind of values it has.
    pub kind: KeyKind,
    /// Whether it may be NULL: then there is a range more.
    pub nullable: bool,
}

impl Key {
    /// A key of one column.
    pub fn column(dialect: &dyn Dialect, name: &str, kind: KeyKind, nullable: bool) -> Key {
        Key { parts: vec![KeyPart { name: name.into(), sql: dialect.quote(name), kind, nullable }] }
    }
}

/// A table that is to be cut.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// The database's way to write things.
    pub dialect: &'a dyn Dialect,
    /// The table as SQL takes it.
    pub name: &'a str,
    /// The job's `where`, so that ranges are balanced over the rows that are read.
    pub condition: Option<&'a str>,
    /// What to split by.
    pub key: &'a Key,
}

/// Runs a query, and returns its rows, every value as text.
pub type Ask<'a> = dyn FnMut(&str) -> Result<Vec<Vec<Option<String>>>> + 'a;

/// How many ranges one table of a job is to be cut into; 1: it is read as a whole. As DataX counts them: a share of the channels
/// for each table and, where there is only one, `factor` times as many, so that a range which takes longer holds nobody up.
pub fn parts(channels: u32, tables: usize, factor: u32) -> usize {
    let share = (channels as usize).div_ceil(tables.max(1));
    let factor = if tables <= 1 && share > 1 { factor as usize } else { 1 };
    (share * factor).clamp(1, MOST_RANGES)
}

/// How many rows there are to be split: those that have a key and meet the condition.
pub fn count(table: &Table<'_>, ask: &mut Ask<'_>) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM {}{}", table.name, table.rows_with_a_key(None));
    let rows = ask(&sql)?;
    let count = rows.first().and_then(|row| row.first()).and_then(Option::as_deref);
    Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
}

impl Table<'_> {
    /// ` WHERE …`: rows that have a key, and meet the job's condition and this one.
    fn rows_with_a_key(&self, range: Option<&str>) -> String {
        let mut conditions = self.key.not_null();
        conditions.extend(range.map(String::from));
        let conditions = (!conditions.is_empty()).then(|| conditions.join(" AND "));
        select::conditions(self.condition, conditions.as_deref())
    }

    /// `a, b`: what to sort by.
    fn order(&self) -> String {
        self.key.parts.iter().map(|part| part.sql.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The key's values as text, with these names.
    fn texts(&self) -> String {
        let texts = self.key.parts.iter().enumerate();
        let texts =
            texts.map(|(index, part)| format!("{} AS key_{index}", self.dialect.key_text(&part.sql, part.kind)));
        texts.collect::<Vec<_>>().join(", ")
    }
}

impl Key {
    /// Conditions that no part is NULL, for the parts that may be.
    fn not_null(&self) -> Vec<String> {
        let nullable = self.parts.iter().filter(|part| part.nullable);
        nullable.map(|part| format!("{} IS NOT NULL", part.sql)).collect()
    }
}

/// The key in a row of an answer; `None` if any part is NULL.
fn bound(row: Vec<Option<String>>) -> Option<Bound> {
    row.into_iter().collect::<Option<Vec<_>>>().filter(|bound| !bound.is_empty())
}

/// The whole number in a text, small enough to be added up a thousand times.
fn whole_number(text: &str) -> Option<i128> {
    const MOST: u128 = 1 << 100;
    names::is_number(text).then(|| text.parse().ok())?.filter(|number: &i128| number.unsigned_abs() < MOST)
}

#[cfg(test)]
mod tests;

//! Bounds of whole numbers, by look-ups and estimates: what is dense here and sparse there is cut evenly nevertheless.

use transship_plugin_api::{Error, Result};

use super::range::Bound;
use super::runs::{Index, Runs};
use super::{Ask, Range, Table, between, whole_number};

/// Tells about how many rows meet a condition, by a question that costs little.
pub type Estimate<'a> = dyn FnMut(&str, &mut Ask<'_>) -> Result<u64> + 'a;

/// Cuts a table into about so many ranges of a key of whole numbers with an index: by some hundred look-ups there, and as many
/// questions how many rows the database takes a range to have. MySQL's `EXPLAIN` looks into the index for that. The key must be
/// one column of whole numbers; where it is not, or holds anything else, the table stays whole. The job's `where` does not count.
pub fn by_estimates(
    table: &Table<'_>,
    parts: usize,
    ask: &mut Ask<'_>,
    estimate: &mut Estimate<'_>,
) -> Result<Vec<Range>> {
    if parts < 2 || table.key.parts.len() != 1 {
        return Ok(vec![Range::Whole]);
    }
    // With the job's condition, each look-up might have to pass over rows without end.
    let all = Table { condition: None, ..*table };
    let cuts = Runs::find(parts, &mut KeyIndex { table: &all, ask, estimate })?.cuts(parts);
    let bounds: Vec<Bound> = cuts.into_iter().map(|cut| vec![cut.to_string()]).collect();
    Ok(between(table.key, bounds))
}

/// The index of a table's key, asked in SQL.
struct KeyIndex<'a, 'b, 'c> {
    table: &'a Table<'a>,
    ask: &'a mut Ask<'b>,
    estimate: &'a mut Estimate<'c>,
}

impl KeyIndex<'_, '_, '_> {
    /// The first or the last key that meets the comparison, in this order. Not min or max: with a condition some databases
    /// would read all rows for it.
    fn look_up(&mut self, sign: &str, number: Option<i128>, order: &str) -> Result<Option<i128>> {
        let table = self.table;
        let column = &table.key.parts[0].sql;
        let condition = number.map(|number| format!("{column} {sign} {}", self.literal(number)));
        let sql = format!(
            "SELECT {} FROM {}{} ORDER BY {column} {order} LIMIT 1",
            table.texts(),
            table.name,
            table.rows_with_a_key(condition.as_deref()),
        );
        let rows = (self.ask)(&sql)?;
        Ok(rows.first().and_then(|row| row.first()).and_then(Option::as_deref).and_then(whole_number))
    }

    fn literal(&self, number: i128) -> String {
        self.table.dialect.key_literal(&number.to_string(), self.table.key.parts[0].kind)
    }
}

impl Index for KeyIndex<'_, '_, '_> {
    type Error = Error;

    fn first_from(&mut self, number: Option<i128>) -> Result<Option<i128>> {
        self.look_up(">=", number, "ASC")
    }

    fn last_to(&mut self, number: Option<i128>) -> Result<Option<i128>> {
        self.look_up("<=", number, "DESC")
    }

    fn rows_between(&mut self, first: i128, last: i128) -> Result<Option<u64>> {
        let column = &self.table.key.parts[0].sql;
        let condition = format!("{column} >= {} AND {column} <= {}", self.literal(first), self.literal(last));
        (self.estimate)(&condition, self.ask).map(Some)
    }
}

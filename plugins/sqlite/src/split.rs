//! Splits of a table: ranges of rowids, or of a column in the order that the database itself gives its values.
//!
//! Whatever the bounds are, the ranges between them hold every row exactly once, because SQLite compares each row with them:
//! the first range has no lower bound, the last no upper one, and rows without a key have a range of their own. Where the
//! bounds lie is only a matter of balance. They are the same in every run over the same data.

mod rowids;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, ToSql, params, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::config::quote;
use crate::table::Table;
use rowids::{rowid, runs};

/// Rowids looked at for each range, to find out how the keys are distributed.
const SAMPLES_PER_RANGE: usize = 16;

/// Bytes that a row takes at least.
const SMALLEST_ROW: u64 = 4;

/// Rows of one table that are read together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Range {
    /// All rows.
    Whole,
    /// Rows with a rowid from one bound on, below the other.
    Rowids { from: Option<i64>, below: Option<i64> },
    /// Rows whose key is not before one bound, and before the other.
    Keys { column: String, from: Option<Key>, below: Option<Key> },
    /// Rows without a key.
    NullKeys { column: String },
}

/// A value that a column is compared with; not NULL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Key {
    Integer(i64),
    /// As text, since not every JSON reader gives back the float that was written.
    Real(String),
    Text(String),
    Blob(Vec<u8>),
}

impl Key {
    /// The key in a cell; `None` for NULL, and for a text that JSON could not carry.
    fn new(value: ValueRef<'_>) -> Option<Key> {
        match value {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(Key::Integer(number)),
            ValueRef::Real(real) => Some(Key::Real(format!("{real:?}"))),
            ValueRef::Text(text) => std::str::from_utf8(text).ok().map(|text| Key::Text(text.into())),
            ValueRef::Blob(bytes) => Some(Key::Blob(bytes.into())),
        }
    }

    /// As SQL would write it, roughly; for people.
    fn shown(&self, longest: usize) -> String {
        let text: String = match self {
            Key::Integer(number) => return number.to_string(),
            Key::Real(real) => return real.clone(),
            Key::Text(text) => text.chars().take(longest).collect(),
            Key::Blob(bytes) => bytes.iter().take(longest / 2).map(|byte| format!("{byte:02x}")).collect(),
        };
        let prefix = if matches!(self, Key::Blob(_)) { "x" } else { "" };
        format!("{prefix}'{text}'")
    }
}

impl ToSql for Key {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(match self {
            Key::Integer(number) => (*number).into(),
            Key::Real(text) => {
                let real =
                    text.parse::<f64>().map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
                real.into()
            }
            Key::Text(text) => text.as_str().into(),
            Key::Blob(bytes) => bytes.as_slice().into(),
        })
    }
}

impl Range {
    /// The condition that its rows meet, and the values for the `?` in it.
    pub(crate) fn condition(&self, table: &Table) -> (Option<String>, Vec<Key>) {
        let (column, from, below) = match self {
            Range::Whole => return (None, Vec::new()),
            Range::NullKeys { column } => return (Some(format!("{} IS NULL", quote(column))), Vec::new()),
            Range::Rowids { from, below } => {
                let rowid = table.rowid.unwrap_or("rowid").to_string();
                (rowid, from.map(Key::Integer), below.map(Key::Integer))
            }
            Range::Keys { column, from, below } => (quote(column), from.clone(), below.clone()),
        };
        let conditions: Vec<_> = [from.as_ref().map(|_| ">="), below.as_ref().map(|_| "<")]
            .into_iter()
            .flatten()
            .map(|comparison| format!("{column} {comparison} ?"))
            .collect();
        let values: Vec<_> = from.into_iter().chain(below).collect();
        // Without any bound there still are the rows without a key to leave out.
        let condition = if conditions.is_empty() { format!("{column} IS NOT NULL") } else { conditions.join(" AND ") };
        (Some(condition), values)
    }

    /// What a person calls it, behind the table's name; texts are cut at so many characters.
    pub(crate) fn label(&self, longest: usize) -> String {
        let (column, from, below) = match self {
            Range::Whole => return String::new(),
            Range::NullKeys { column } => return format!(", {column} is NULL"),
            Range::Rowids { from, below } => ("rowid", from.map(Key::Integer), below.map(Key::Integer)),
            Range::Keys { column, from, below } => (column.as_str(), from.clone(), below.clone()),
        };
        let from = from.map(|key| format!(" from {}", key.shown(longest))).unwrap_or_default();
        let below = below.map(|key| format!(" below {}", key.shown(longest))).unwrap_or_default();
        format!(", {column}{from}{below}")
    }

    /// The ranges between these bounds.
    fn between<B: Clone>(bounds: Vec<B>, range: impl Fn(Option<B>, Option<B>) -> Range) -> Vec<Range> {
        let ends = bounds.iter().cloned().map(Some).chain([None]);
        let starts = std::iter::once(None).chain(bounds.iter().cloned().map(Some));
        starts.zip(ends).map(|(from, below)| range(from, below)).collect()
    }
}

/// About so many ranges of rowids.
pub(crate) fn by_rowid(connection: &Connection, table: &Table, name: &str, ranges: usize) -> Result<Vec<Range>> {
    let cuts: Vec<_> = runs(connection, table, name, ranges)?.cuts(ranges).into_iter().map(rowid).collect();
    if cuts.is_empty() {
        return Ok(vec![Range::Whole]);
    }
    Ok(Range::between(cuts, |from, below| Range::Rowids { from, below }))
}

/// About so many ranges of a column's values, and one for its NULLs.
pub(crate) fn by_key(
    connection: &Connection,
    table: &Table,
    column: &str,
    condition: Option<&str>,
    ranges: usize,
) -> Result<Vec<Range>> {
    let condition = condition.map(|condition| format!(" AND ({condition})")).unwrap_or_default();
    let bounds = match table.rowid {
        Some(name) => {
            let runs = runs(connection, table, name, ranges)?;
            let samples: Vec<_> = runs.samples(ranges * SAMPLES_PER_RANGE).into_iter().map(rowid).collect();
            every_nth(sampled_keys(connection, table, column, name, &samples, &condition)?, ranges)
        }
        None => quantiles(connection, table, column, &condition, ranges)?,
    };
    if bounds.is_empty() {
        return Ok(vec![Range::Whole]);
    }
    let mut all = Range::between(bounds, |from, below| Range::Keys { column: column.into(), from, below });
    all.push(Range::NullKeys { column: column.into() });
    Ok(all)
}

/// The different keys of the rows at these rowids, or next behind them, in the database's order.
fn sampled_keys(
    connection: &Connection,
    table: &Table,
    column: &str,
    rowid: &str,
    samples: &[i64],
    condition: &str,
) -> Result<Vec<Key>> {
    let (name, key) = (table.sql(), quote(column));
    let rowids = format!(
        "SELECT (SELECT {rowid} FROM {name} WHERE {rowid} >= sample.value ORDER BY {rowid} LIMIT 1) FROM json_each(?1) AS sample"
    );
    let sql = format!(
        "SELECT DISTINCT {key} FROM {name} WHERE {rowid} IN ({rowids}) AND {key} IS NOT NULL{condition} ORDER BY {key}"
    );
    let samples = samples.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let mut statement = connection.prepare(&sql)?;
    let keys = statement.query_map([format!("[{samples}]")], |row| Ok(Key::new(row.get_ref(0)?)))?;
    Ok(keys.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The bounds that cut keys into so many equal parts.
fn every_nth(keys: Vec<Key>, parts: usize) -> Vec<Key> {
    let mut cuts: Vec<_> = (1..parts).map(|part| part * keys.len() / parts).filter(|cut| *cut > 0).collect();
    cuts.dedup();
    cuts.into_iter().map(|cut| keys[cut].clone()).collect()
}

/// The bounds that cut a table without rowids into so many equal parts: its keys are counted through once.
fn quantiles(connection: &Connection, table: &Table, column: &str, condition: &str, parts: usize) -> Result<Vec<Key>> {
    let (name, key) = (table.sql(), quote(column));
    let rows = format!("FROM {name} WHERE {key} IS NOT NULL{condition}");
    let count: i64 = connection.query_row(&format!("SELECT count(*) {rows}"), [], |row| row.get(0))?;
    let stride = (count as usize).div_ceil(parts).max(1) as i64;
    let sql = format!(
        "SELECT key FROM (SELECT {key} AS key, row_number() OVER (ORDER BY {key}) AS number {rows}) \
         WHERE number % ?1 = 0 ORDER BY number LIMIT ?2"
    );
    let mut statement = connection.prepare(&sql)?;
    let keys = statement.query_map(params![stride, parts as i64 - 1], |row| Ok(Key::new(row.get_ref(0)?)))?;
    let mut keys: Vec<_> = keys.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    keys.dedup();
    Ok(keys)
}

/// How many rows a range has, if rowids tell: where they have large gaps, their number says nothing.
pub(crate) fn estimate(connection: &Connection, table: &Table, range: &Range) -> Result<Option<u64>> {
    let (Some(rowid), Range::Whole | Range::Rowids { .. }) = (table.rowid, range) else { return Ok(None) };
    let (condition, values) = range.condition(table);
    let condition = condition.map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
    let end = |order: &str| {
        let sql = format!("SELECT {rowid} FROM {}{condition} ORDER BY {rowid} {order} LIMIT 1", table.sql());
        connection.query_row(&sql, params_from_iter(&values), |row| row.get::<_, i64>(0)).optional()
    };
    let (Some(first), Some(last)) = (end("ASC")?, end("DESC")?) else { return Ok(Some(0)) };
    let rows = last.abs_diff(first).saturating_add(1);
    let bytes: i64 =
        connection.query_row("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", [], |row| {
            row.get(0)
        })?;
    Ok((rows <= bytes as u64 / SMALLEST_ROW).then_some(rows))
}

/// Whether a table has more rows than this; looks at no more of them.
pub(crate) fn has_more_rows_than(connection: &Connection, table: &Table, rows: i64) -> Result<bool> {
    let sql = format!("SELECT count(*) > ?1 FROM (SELECT 1 FROM {} LIMIT ?1 + 1)", table.sql());
    connection.query_row(&sql, [rows], |row| row.get(0))
}

/// Whether a table has rows below rowid 0.
pub(crate) fn has_negative_rowids(connection: &Connection, table: &Table, rowid: &str) -> Result<bool> {
    connection.prepare(&format!("SELECT 1 FROM {} WHERE {rowid} < 0 LIMIT 1", table.sql()))?.exists([])
}

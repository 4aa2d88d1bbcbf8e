//! Splits of a table: ranges of rowids, or of a column in the order that the database itself gives its values.
//!
//! Whatever the bounds are, the ranges between them hold every row exactly once, because SQLite compares each row with them:
//! the first range has no lower bound, the last no upper one, and rows without a key have a range of their own. Where the
//! bounds lie is only a matter of balance. They are the same in every run over the same data.

mod rowids;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, ToSql, params};
use serde::{Deserialize, Serialize};

use crate::config::quote;
use crate::table::Table;
pub(crate) use rowids::Spread;
use rowids::{rowid, runs};
use transship_sql::split::{Runs, TableSize};

/// Rowids looked at for each range, to find out how the keys are distributed.
const SAMPLES_PER_RANGE: usize = 16;

/// Bytes that a row takes at least.
const SMALLEST_ROW: u64 = 4;

/// A range, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) range: Range,
    /// Where its rowids lie, if it is a range of them.
    pub(crate) spread: Spread,
    /// About how many rows it has.
    pub(crate) records: Option<u64>,
}

impl Part {
    /// A range of which nothing else is known.
    pub(crate) fn new(range: Range) -> Part {
        Part { range, spread: Spread::default(), records: None }
    }
}

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
pub(crate) fn by_rowid(connection: &Connection, table: &Table, name: &str, ranges: usize) -> Result<Vec<Part>> {
    let runs = runs(connection, table, name, ranges)?;
    let is_dense = rows_in(&runs, connection)?.is_some();
    let cuts: Vec<_> = runs.cuts(ranges).into_iter().map(rowid).collect();
    let ranges = match cuts.is_empty() {
        true => vec![Range::Whole],
        false => Range::between(cuts, |from, below| Range::Rowids { from, below }),
    };
    let parts = ranges.into_iter().map(|range| {
        let spread = match range {
            Range::Rowids { from, below } => Spread::within(&runs, from, below),
            _ => Spread::within(&runs, None, None),
        };
        Part { records: is_dense.then(|| spread.numbers()), range, spread }
    });
    Ok(parts.collect())
}

/// All of a table as one range.
pub(crate) fn whole(connection: &Connection, table: &Table) -> Result<Part> {
    let Some(name) = table.rowid else { return Ok(Part::new(Range::Whole)) };
    let end = |order: &str| {
        let sql = format!("SELECT {name} FROM {} ORDER BY {name} {order} LIMIT 1", table.sql());
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).optional()
    };
    let mut spread = Spread::between(end("ASC")?.zip(end("DESC")?));
    let most = most_rows(connection)?;
    if spread.numbers() > most {
        // There are gaps, and it is worth some look-ups where.
        spread = Spread::within(&runs(connection, table, name, 1)?, None, None);
    }
    let numbers = spread.numbers();
    Ok(Part { range: Range::Whole, spread, records: (numbers <= most).then_some(numbers) })
}

/// About so many ranges of a column's values, and one for its NULLs.
pub(crate) fn by_key(
    connection: &Connection,
    table: &Table,
    column: &str,
    condition: Option<&str>,
    ranges: usize,
) -> Result<Vec<Part>> {
    let is_all = condition.is_none();
    let condition = condition.map(|condition| format!(" AND ({condition})")).unwrap_or_default();
    let (bounds, rows) = match table.rowid {
        Some(name) => {
            let runs = runs(connection, table, name, ranges)?;
            let rows = if is_all { rows_in(&runs, connection)? } else { None };
            let samples: Vec<_> = runs.samples(ranges * SAMPLES_PER_RANGE).into_iter().map(rowid).collect();
            (every_nth(sampled_keys(connection, table, column, name, &samples, &condition)?, ranges), rows)
        }
        None => {
            let (bounds, rows) = quantiles(connection, table, column, &condition, ranges)?;
            (bounds, Some(rows))
        }
    };
    if bounds.is_empty() {
        return Ok(vec![Part { records: rows, ..Part::new(Range::Whole) }]);
    }
    let with_keys = Range::between(bounds, |from, below| Range::Keys { column: column.into(), from, below });
    let sizes = TableSize { rows, ..TableSize::default() }.of_each_of(with_keys.len() as u64);
    let mut all: Vec<_> = with_keys
        .into_iter()
        .zip(sizes)
        .map(|(range, size)| Part { records: size.records, ..Part::new(range) })
        .collect();
    // Nobody knows how many they are. There are few, as a rule, and parts of which some are unknown could not be compared.
    all.push(Part { records: rows.map(|_| 0), ..Part::new(Range::NullKeys { column: column.into() }) });
    Ok(all)
}

/// About how many rows a table with these rowids has; `None` if it has so large gaps between them that they do not tell.
fn rows_in(runs: &Runs, connection: &Connection) -> Result<Option<u64>> {
    let numbers = Spread::within(runs, None, None).numbers();
    Ok((numbers <= most_rows(connection)?).then_some(numbers))
}

/// How many rows the database has room for.
fn most_rows(connection: &Connection) -> Result<u64> {
    let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|bytes| bytes as u64 / SMALLEST_ROW)
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

/// The bounds that cut a table without rowids into so many equal parts, and how many rows have a key: they are counted through once.
fn quantiles(
    connection: &Connection,
    table: &Table,
    column: &str,
    condition: &str,
    parts: usize,
) -> Result<(Vec<Key>, u64)> {
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
    Ok((keys, count as u64))
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

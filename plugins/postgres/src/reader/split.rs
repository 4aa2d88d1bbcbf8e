//! Splits: ranges of a key, ranges of a table's pages, or whole tables and queries.

use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error, Result, Split};
use transship_sql::parameters::Columns;
use transship_sql::split::{self, Key, KeyPart, Range, RangeSize, TableSize};
use transship_sql::{Dialect, Postgres, dialect::KeyKind};

use super::select::are_plain;
use super::snapshot::Snapshot;
use super::unreadable;
use crate::session::Session;
use crate::table::{Table, TableKind};
use crate::types::oid;

/// A table of more pages than this is cut, if the job names no column to cut it by: 32 MiB.
const PAGES_WORTH_SPLITTING: u64 = 4_096;
/// Pages looked at for each range, to find out how the keys are distributed.
const SAMPLED_PAGES: u64 = 32;

/// What a split is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    /// The index of its table or query in the job.
    pub(super) source: usize,
    pub(super) range: PieceRange,
}

/// Rows of a source that are read together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PieceRange {
    /// Of a key, or all.
    Keys(Range),
    /// Of pages: from one on, below the other.
    Pages { from: Option<u64>, below: Option<u64> },
}

impl PieceRange {
    pub(super) fn whole() -> PieceRange {
        PieceRange::Keys(Range::Whole)
    }

    /// The condition that its rows meet.
    pub(super) fn condition(&self) -> Option<String> {
        match self {
            PieceRange::Keys(range) => range.condition(&Postgres),
            PieceRange::Pages { from, below } => {
                let from = from.map(|page| format!("ctid >= '({page},0)'::tid"));
                let below = below.map(|page| format!("ctid < '({page},0)'::tid"));
                let conditions: Vec<_> = from.into_iter().chain(below).collect();
                (!conditions.is_empty()).then(|| conditions.join(" AND "))
            }
        }
    }

    fn label(&self, longest: usize) -> String {
        match self {
            PieceRange::Keys(range) => range.label(longest),
            PieceRange::Pages { from, below } => {
                let from = from.map(|page| format!(" from {page}")).unwrap_or_default();
                let below = below.map(|page| format!(" below {page}")).unwrap_or_default();
                format!(", pages{from}{below}")
            }
        }
    }
}

impl Piece {
    pub(super) fn split(self, name: &str, size: RangeSize) -> Result<Split> {
        /// Characters of a key that are enough to tell a person where a split begins.
        const LONGEST_KEY: usize = 40;
        let id = format!("{} {name}{}", self.source, self.range.label(usize::MAX));
        let label = format!("{name}{}", self.range.label(LONGEST_KEY));
        let split = Split::new(id, label, serde_json::to_value(&self).map_err(unreadable)?);
        Ok(Split { records: size.records, bytes: size.bytes, ..split })
    }
}

/// A range, and about how large it is, where that is known.
pub(super) struct Part {
    pub(super) range: PieceRange,
    pub(super) size: RangeSize,
}

impl Part {
    pub(super) fn whole() -> Part {
        Part { range: PieceRange::whole(), size: RangeSize::default() }
    }
}

/// How a table is to be cut.
pub(super) struct Cut<'a> {
    pub(super) session: &'a Session,
    pub(super) snapshot: &'a Snapshot,
    pub(super) parts: usize,
    pub(super) split_by: Option<&'a str>,
    pub(super) condition: Option<&'a str>,
    pub(super) columns: &'a Columns,
}

impl Cut<'_> {
    pub(super) fn parts(&self, table: &Table) -> Result<Vec<Part>> {
        let rows = table.rows.filter(|_| self.condition.is_none());
        let size = TableSize { rows, counted: None, bytes: table.bytes };
        let key = self.split_by.map(|names| self.key(table, names)).transpose()?;
        let whole = || of_keys(vec![Range::Whole], &size);
        if self.parts < 2 {
            return Ok(whole());
        }
        if let Some(key) = key {
            let (ranges, counted) = self.by_key(table, &key)?;
            // A sample may seem to have more rows than there are.
            let counted = rows.map_or(counted, |rows| counted.min(rows));
            return Ok(of_keys(ranges, &TableSize { counted: Some(counted), ..size }));
        }
        // A range of an aggregate would yield a result of its own.
        if table.kind != TableKind::Heap || table.pages < PAGES_WORTH_SPLITTING || !are_plain(table, self.columns) {
            return Ok(whole());
        }
        let version = self.snapshot.ask(self.session, "splitting", "SHOW server_version_num")?;
        let version: u32 =
            version.first().and_then(|row| row[0].as_deref()).and_then(|text| text.parse().ok()).unwrap_or(0);
        // Before version 14 every range would look through the whole table.
        if version < 140_000 {
            return Ok(whole());
        }
        Ok(by_pages(table.pages, &size, self.parts))
    }

    /// The ranges, and about how many rows with a key there are.
    fn by_key(&self, table: &Table, key: &Key) -> Result<(Vec<Range>, u64)> {
        let sampled = SAMPLED_PAGES * self.parts as u64;
        // The same pages every time it is asked, and few enough that counting them is soon done.
        let is_sampled = table.kind == TableKind::Heap && table.pages > 4 * sampled;
        let percent = if is_sampled { 100.0 * sampled as f64 / table.pages as f64 } else { 100.0 };
        let name = match is_sampled {
            true => &format!("{} TABLESAMPLE SYSTEM ({percent:.6}) REPEATABLE (1)", table.sql),
            false => &table.sql,
        };
        let from = split::Table { dialect: &Postgres, name, condition: self.condition, key };
        let doing = format!("splitting {}", table.name);
        let mut ask = |sql: &str| self.snapshot.ask(self.session, &doing, sql);
        let rows = split::count(&from, &mut ask)?;
        Ok((split::by_ranks(&from, rows, self.parts, &mut ask)?, (rows as f64 * 100.0 / percent) as u64))
    }

    /// The column that the job names, or several behind commas.
    fn key(&self, table: &Table, names: &str) -> Result<Key> {
        let single = table.column(names).map(|column| vec![column]);
        let columns = match single {
            Some(column) => column,
            None => {
                let find =
                    |name: &str| table.column(name).ok_or_else(|| table.no_column(&self.session.server.place, name));
                names.split(',').map(find).collect::<Result<Vec<_>>>()?
            }
        };
        let parts = columns.into_iter().map(|column| {
            let kind = match column.server_type.oid {
                oid::INT2 | oid::INT4 | oid::INT8 | oid::NUMERIC | oid::FLOAT4 | oid::FLOAT8 | oid::OID => {
                    KeyKind::Number
                }
                oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME => KeyKind::Text,
                oid::BYTEA => KeyKind::Bytes,
                oid::JSON => {
                    let problem = format!("column \"{}\" is of type json, which has no order", column.name);
                    return Err(Error::config(format!("parameter.splitPk: {problem}: name another one")));
                }
                _ => KeyKind::Other,
            };
            Ok(KeyPart {
                name: column.name.clone(),
                sql: Postgres.quote(&column.name),
                kind,
                nullable: !column.not_null,
            })
        });
        Ok(Key { parts: parts.collect::<Result<_>>()? })
    }
}

fn of_keys(ranges: Vec<Range>, table: &TableSize) -> Vec<Part> {
    let sizes = table.of_each(&ranges);
    ranges.into_iter().zip(sizes).map(|(range, size)| Part { range: PieceRange::Keys(range), size }).collect()
}

/// So many ranges of pages. The last has no end: the table may have grown.
fn by_pages(pages: u64, table: &TableSize, parts: usize) -> Vec<Part> {
    let parts = (parts as u64).min(pages / (PAGES_WORTH_SPLITTING / 4)).max(1);
    let at = |part: u64| Some(pages * part / parts).filter(|_| part > 0 && part < parts);
    let sizes = table.of_each_of(parts);
    let ranges = (0..parts).map(|part| PieceRange::Pages { from: at(part), below: at(part + 1) });
    ranges.zip(sizes).map(|(range, size)| Part { range, size }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_pages_follow_each_other() {
        let table = TableSize { rows: Some(700), counted: None, bytes: Some(10_000 * 8_192) };
        let parts = by_pages(10_000, &table, 5);
        let conditions: Vec<_> = parts.iter().map(|part| part.range.condition().unwrap()).collect();
        assert_eq!(conditions.first().unwrap(), "ctid < '(2000,0)'::tid");
        assert_eq!(conditions[1], "ctid >= '(2000,0)'::tid AND ctid < '(4000,0)'::tid");
        assert_eq!(conditions.last().unwrap(), "ctid >= '(8000,0)'::tid");
        let sizes: Vec<_> = parts.iter().map(|part| (part.size.records, part.size.bytes)).collect();
        assert_eq!(sizes, [(Some(140), Some(2_000 * 8_192)); 5]);
        assert_eq!(by_pages(5_000, &table, 64).len(), 4);
    }
}

//! Cuts a table into ranges: by the column that the job names, or by the primary key of a large table.

use transship_plugin_api::{Error, Result};
use transship_sql::dialect::KeyKind;
use transship_sql::split::{self, Ask, Key, KeyPart, Range, RangeSize, Table, TableSize};
use transship_sql::{Dialect, MySql, names};

use crate::session::Session;
use crate::table::{self, TableColumn};

/// A table with more rows than this is split by its primary key, if the job names no column to split by.
const ROWS_WORTH_SPLITTING: u64 = 100_000;

/// How a table is to be cut.
pub(super) struct Wanted {
    pub(super) parts: usize,
    /// The column that the job names.
    pub(super) by: Option<String>,
    pub(super) condition: Option<String>,
    /// Whether bounds that are instants are seconds since 1970: the clock of those who read is one that shows an hour twice.
    pub(super) counts_instants: bool,
}

/// A range, and about how large it is, where that is known.
pub(super) struct Part {
    pub(super) range: Range,
    pub(super) size: RangeSize,
}

impl Part {
    pub(super) fn whole() -> Part {
        Part { range: Range::Whole, size: RangeSize::default() }
    }
}

pub(super) fn cut(session: &mut Session, name: &str, wanted: &Wanted) -> Result<Vec<Part>> {
    let found = table::find(session, name)?;
    let rows = found.as_ref().and_then(|table| table.rows);
    let size = TableSize {
        rows: rows.filter(|_| wanted.condition.is_none()),
        counted: None,
        bytes: found.as_ref().and_then(|table| table.bytes),
    };
    let whole = || sized(vec![Range::Whole], &size);
    if wanted.parts < 2 {
        return Ok(whole());
    }
    let key = match (&wanted.by, &found) {
        (Some(by), Some(table)) => Some(key_of(&[named_column(table, by)?], wanted)),
        // A view of another database, say: its columns are not listed, the key is taken at its word.
        (Some(by), None) => Some(Key::column(&MySql, &names::unquote(by), KeyKind::Other, true)),
        (None, Some(table)) if rows.is_some_and(|rows| rows >= ROWS_WORTH_SPLITTING) => primary_key(table, wanted),
        (None, _) => None,
    };
    let Some(key) = key else { return Ok(whole()) };
    // An index helps with the column itself, not with what is made of it.
    let is_plain = key.parts[0].sql == MySql.quote(&key.parts[0].name);
    let is_indexed = is_plain && found.as_ref().is_some_and(|table| table.has_index_on(&key.parts[0].name));
    let quoted = table::quoted(name);
    let table = Table { dialect: &MySql, name: &quoted, condition: wanted.condition.as_deref(), key: &key };
    let (ranges, counted) = ranges(session, &table, wanted.parts, is_indexed, rows)?;
    Ok(sized(ranges, &TableSize { counted, ..size }))
}

fn sized(ranges: Vec<Range>, table: &TableSize) -> Vec<Part> {
    let sizes = table.of_each(&ranges);
    ranges.into_iter().zip(sizes).map(|(range, size)| Part { range, size }).collect()
}

/// The ranges, and how many rows with a key there are, where they had to be counted for that.
fn ranges(
    session: &mut Session,
    table: &Table<'_>,
    parts: usize,
    is_indexed: bool,
    rows: Option<u64>,
) -> Result<(Vec<Range>, Option<u64>)> {
    let doing = format!("splitting {}", table.name);
    let has_windows = has_window_functions(session);
    let explained = format!("EXPLAIN SELECT 1 FROM {}", table.name);
    let mut ask = |sql: &str| session.ask(&doing, sql);
    let is_whole = table.key.parts.len() == 1 && table.key.parts[0].kind == KeyKind::Number;
    if is_indexed && is_whole {
        let mut estimate = |condition: &str, ask: &mut Ask<'_>| {
            let rows = ask(&format!("{explained} WHERE {condition}"))?;
            // Of the columns of a plan, `rows` is the ninth, the tenth where partitions are shown.
            let cells = rows.first().map(Vec::as_slice).unwrap_or_default();
            let count =
                cells.len().checked_sub(if cells.len() > 10 { 3 } else { 2 }).and_then(|at| cells[at].as_deref());
            Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
        };
        let ranges = split::by_estimates(table, parts, &mut ask, &mut estimate)?;
        // Decimals and the like stay whole there.
        if ranges.len() > 1 {
            return Ok((ranges, None));
        }
    }
    if is_indexed || !has_windows {
        // An estimate can be far off; with one that is too small the last range would be too large.
        if let Some(rows) = rows.filter(|rows| table.condition.is_none() && *rows > ROWS_WORTH_SPLITTING) {
            return Ok((split::by_steps(table, rows, parts, &mut ask)?, None));
        }
        let rows = split::count(table, &mut ask)?;
        return Ok((split::by_steps(table, rows, parts, &mut ask)?, Some(rows)));
    }
    let rows = split::count(table, &mut ask)?;
    Ok((split::by_ranks(table, rows, parts, &mut ask)?, Some(rows)))
}

/// MySQL has them since version 8, MariaDB since 10.2, the oldest one here.
fn has_window_functions(session: &Session) -> bool {
    let major = session.version().split('.').next().and_then(|major| major.parse::<u32>().ok());
    session.is_mariadb() || major.is_some_and(|major| major >= 8)
}

/// The column that the job names, in any case.
fn named_column<'a>(table: &'a table::Table, by: &str) -> Result<&'a TableColumn> {
    let name = names::unquote(by);
    let found = table.columns.iter().find(|column| column.name.to_lowercase() == name.to_lowercase());
    found.ok_or_else(|| {
        let known: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let hint = match transship_plugin_api::params::nearest(&name, known.iter().copied()) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("it has {}", known.join(", ")),
        };
        Error::config(format!("\"splitPk\" is \"{by}\", which is no column of {}: {hint}", table.name))
    })
}

fn primary_key(table: &table::Table, wanted: &Wanted) -> Option<Key> {
    let columns: Vec<_> = table.primary_key.iter().filter_map(|name| table.column(name)).collect();
    (!columns.is_empty()).then(|| key_of(&columns, wanted))
}

fn key_of(columns: &[&TableColumn], wanted: &Wanted) -> Key {
    let parts = columns.iter().map(|column| {
        let quoted = MySql.quote(&column.name);
        let (kind, sql) = match column.type_word.as_str() {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "float" | "double" | "year" => {
                (KeyKind::Number, quoted)
            }
            "timestamp" if wanted.counts_instants => (KeyKind::Number, format!("UNIX_TIMESTAMP({quoted})")),
            // The names of these are sorted by their numbers.
            "bit" | "enum" | "set" => (KeyKind::Number, format!("{quoted} + 0")),
            "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => (KeyKind::Text, quoted),
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => (KeyKind::Bytes, quoted),
            _ => (KeyKind::Other, quoted),
        };
        KeyPart { name: column.name.clone(), sql, kind, nullable: column.is_nullable }
    });
    Key { parts: parts.collect() }
}

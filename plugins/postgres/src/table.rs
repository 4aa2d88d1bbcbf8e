//! What the server's catalogue knows of a table: its columns and their types, its key, its size.

use serde::{Deserialize, Serialize};
use transship_plugin_api::params::nearest;
use transship_plugin_api::{Error, Result};
use transship_sql::{Dialect, Postgres, names};

use crate::session::Session;
use crate::types::ServerType;

/// A table, view or whatever else has rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Table {
    /// Its name as SQL takes it, with its schema.
    pub(crate) sql: String,
    /// Its name as people say it, without its schema.
    pub(crate) name: String,
    pub(crate) kind: TableKind,
    pub(crate) columns: Vec<Column>,
    /// Whether the user may insert into any column, and so lock the table.
    pub(crate) may_lock: bool,
    /// Whether a trigger sees rows before they are stored, so that they may become others.
    pub(crate) changes_rows: bool,
    /// The columns of the primary key, in its order.
    pub(crate) primary_key: Vec<String>,
    /// Its size in pages, where it has any.
    pub(crate) pages: u64,
    /// Its size in bytes with what is kept beside its pages, where it has any.
    pub(crate) bytes: Option<u64>,
    /// Its rows, as the server estimates them; `None` where it has never counted.
    pub(crate) rows: Option<u64>,
}

/// What stands behind a table's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TableKind {
    /// Rows in pages of its own.
    Heap,
    /// A table whose rows are elsewhere: in partitions, on another server, in another kind of storage.
    Other,
    View,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) server_type: ServerType,
    /// Whether the server computes it, so that nothing can be written into it.
    pub(crate) generated: bool,
    /// Whether it is `generated always as identity`: COPY writes it nevertheless.
    pub(crate) identity_always: bool,
    pub(crate) not_null: bool,
}

impl Table {
    /// Looks a table up as SQL reads the text; if there is none, by exactly that name, so that mixed case and keywords need no
    /// quotes.
    pub(crate) fn find(session: &Session, text: &str) -> Result<Option<Table>> {
        let text = text.trim();
        let exactly = Postgres.quote(text);
        let mut readings: Vec<String> =
            names::qualified(text, &Postgres).map(|_| text.to_string()).into_iter().collect();
        if let Some((schema, name)) = text.split_once('.') {
            readings.push(format!("{}.{}", Postgres.quote(schema), Postgres.quote(name)));
        }
        readings.push(exactly);
        for reading in readings {
            if let Some(table) = look_up(session, &reading)? {
                return Ok(Some(table));
            }
        }
        Ok(None)
    }

    /// The column that a name stands for: as SQL reads it, in lower case if it has no quotes; else exactly so.
    pub(crate) fn column(&self, text: &str) -> Option<&Column> {
        let exactly = |name: &str| self.columns.iter().find(|column| column.name == name);
        match names::column(text, &Postgres) {
            Some(word) if word.quoted => exactly(&word.name),
            Some(word) => exactly(&word.name.to_lowercase()).or_else(|| exactly(&word.name)),
            None => exactly(text.trim()),
        }
    }

    /// The error that there is no such column, with the nearest that there is.
    pub(crate) fn no_column(&self, place: &str, text: &str) -> Error {
        let names = self.columns.iter().map(|column| column.name.as_str());
        let name = names::unquote(text);
        let hint = match nearest(&name, names.clone()) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("it has {}", names.collect::<Vec<_>>().join(", ")),
        };
        Error::schema(format!("table {} of {place} has no column \"{name}\": {hint}", self.name))
    }
}

/// The error that there is no such table, with the nearest that there is, and what to try.
pub(crate) fn missing(session: &Session, text: &str, advice: Option<&str>) -> Error {
    const SQL: &str = "SELECT relname, CASE WHEN pg_table_is_visible(oid) THEN relname \
                       ELSE relnamespace::regnamespace::text || '.' || relname END \
                       FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') \
                       AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)";
    let rows = session.ask("looking for tables", SQL).unwrap_or_default();
    let wanted = names::unquote(text.rsplit('.').next().unwrap_or(text));
    let known: Vec<_> = rows.into_iter().filter_map(|row| Some((row[0].clone()?, row[1].clone()?))).collect();
    let near = nearest(&wanted, known.iter().map(|(name, _)| name.as_str()));
    let near = near.and_then(|near| known.iter().find(|(name, _)| name == near)).map(|(_, shown)| shown);
    let hint = match (near, advice) {
        (Some(near), Some(advice)) => format!(": did you mean \"{near}\"? if not, {advice}"),
        (Some(near), None) => format!(": did you mean \"{near}\"?"),
        (None, Some(advice)) => format!(": {advice}"),
        (None, None) => ": look at the schema (schema.table) and at the database in \"jdbcUrl\"".into(),
    };
    Error::schema(format!("table {text} does not exist in {}{hint}", session.server.place))
}

/// What the catalogue calls a trigger that sees each row before it is inserted.
const ROW_BEFORE_INSERT: u8 = 1 | 2 | 4;

fn look_up(session: &Session, name: &str) -> Result<Option<Table>> {
    let doing = format!("looking for table {name}");
    let sql = format!(
        "SELECT c.oid, quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relname, c.relkind, c.reltuples::int8, \
         CASE WHEN c.relkind IN ('r', 'm') THEN pg_relation_size(c.oid) / current_setting('block_size')::int8 ELSE 0 END, \
         coalesce((SELECT amname FROM pg_am WHERE pg_am.oid = c.relam), 'heap'), \
         EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgenabled <> 'D' AND tgtype & {ROW_BEFORE_INSERT} = {ROW_BEFORE_INSERT}), \
         has_table_privilege(c.oid, 'INSERT'), \
         CASE WHEN c.relkind IN ('r', 'm') THEN pg_table_size(c.oid) END, c.relpages \
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.oid = to_regclass({}) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        Postgres.text(name)
    );
    let Some(row) = session.ask(&doing, &sql)?.into_iter().next() else { return Ok(None) };
    let text = |index: usize| row[index].clone().unwrap_or_default();
    let kind = match (text(3).as_str(), text(6).as_str()) {
        ("v", _) => TableKind::View,
        ("r" | "m", "heap") => TableKind::Heap,
        _ => TableKind::Other,
    };
    let oid = text(0);
    let pages = text(5).parse().unwrap_or(0);
    Ok(Some(Table {
        sql: text(1),
        name: text(2),
        kind,
        changes_rows: text(7) == "t",
        may_lock: text(8) == "t",
        columns: columns(session, &doing, &oid)?,
        primary_key: primary_key(session, &doing, &oid)?,
        pages,
        bytes: text(9).parse().ok().filter(|_| kind == TableKind::Heap),
        rows: text(4).parse().ok().and_then(|rows| rows_now(kind, rows, text(10).parse().unwrap_or(0.0), pages)),
    }))
}

/// How many rows a table has if its pages are as full as when the server counted last: so many rows in so many pages then.
fn rows_now(kind: TableKind, counted: f64, counted_pages: f64, pages: u64) -> Option<u64> {
    match kind {
        TableKind::Heap if pages == 0 => Some(0),
        // Zero may be that of a server that has never counted, and older ones say nothing else.
        _ if counted <= 0.0 => None,
        TableKind::Heap if counted_pages > 0.0 => Some((counted / counted_pages * pages as f64).round() as u64),
        _ => Some(counted as u64),
    }
}

fn columns(session: &Session, doing: &str, oid: &str) -> Result<Vec<Column>> {
    // By way of JSON, so that older servers, which have neither, do not mind.
    let sql = format!(
        "WITH RECURSIVE typed AS ( \
           SELECT attnum, atttypid AS type, atttypmod AS modifier, 0 AS depth FROM pg_attribute \
           WHERE attrelid = {oid} AND attnum > 0 AND NOT attisdropped \
           UNION ALL SELECT attnum, typbasetype, typtypmod, depth + 1 FROM typed JOIN pg_type ON oid = type WHERE typtype = 'd'), \
         based AS (SELECT DISTINCT ON (attnum) attnum, type, modifier FROM typed ORDER BY attnum, depth DESC) \
         SELECT attname, type::int8, modifier, format_type(type, modifier), \
         coalesce(to_jsonb(a) ->> 'attgenerated', '') <> '', coalesce(to_jsonb(a) ->> 'attidentity', '') = 'a', attnotnull \
         FROM pg_attribute a JOIN based USING (attnum) WHERE attrelid = {oid} ORDER BY attnum"
    );
    let rows = session.ask(doing, &sql)?;
    let columns = rows.into_iter().map(|row| {
        let text = |index: usize| row[index].clone().unwrap_or_default();
        let server_type = ServerType { oid: number(&text(1))?, modifier: number(&text(2))?, name: text(3) };
        Ok(Column {
            name: text(0),
            server_type,
            generated: text(4) == "t",
            identity_always: text(5) == "t",
            not_null: text(6) == "t",
        })
    });
    columns.collect()
}

fn primary_key(session: &Session, doing: &str, oid: &str) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT a.attname FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, place) \
         JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum \
         WHERE i.indrelid = {oid} AND i.indisprimary ORDER BY k.place"
    );
    Ok(session.ask(doing, &sql)?.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::internal(format!("the catalogue gives \"{text}\" in the place of a number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_has_grown_has_more_rows_than_were_counted() {
        assert_eq!(rows_now(TableKind::Heap, 1_000.0, 10.0, 10), Some(1_000));
        assert_eq!(rows_now(TableKind::Heap, 1_000.0, 10.0, 25), Some(2_500));
        assert_eq!(rows_now(TableKind::Heap, -1.0, 0.0, 25), None);
        assert_eq!(rows_now(TableKind::Heap, 1_000.0, 10.0, 0), Some(0));
        assert_eq!(rows_now(TableKind::Other, 1_000.0, -1.0, 0), Some(1_000));
    }
}

//! What is written: the columns that take those of the records, and the statements that put them there.

use arrow_schema::Schema;
use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error, Result};
use transship_sql::parameters::Columns;
use transship_sql::write::{Statement, Target, WriteMode};
use transship_sql::{Dialect, Postgres};

use crate::config::WriterConfig;
use crate::table::{Column, Table, TableKind};

/// The temporary table that records go through where a row with their key may be there already. Each connection has its own.
const STAGE: &str = "transship_stage";

/// What a task has to know of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// The table, for messages.
    pub(super) table: String,
    /// In the order of the record's columns.
    pub(super) columns: Vec<Column>,
    /// What stands between COPY and FROM.
    copy_into: String,
    /// The table that COPY fills, as SQL takes it.
    pub(super) filled: String,
    /// The table that COPY names in its messages.
    pub(super) copied_table: String,
    pub(super) merge: Option<Merge>,
    /// The statement that takes the table's lock as COPY does, where the user may take it.
    pub(super) lock: Option<String>,
    /// Whether rows are stored as they are sent: no trigger makes others of them. What is refused then can be told beforehand.
    pub(super) keeps_rows: bool,
}

/// How records come from the temporary table into the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Merge {
    /// Makes the temporary table, which is empty again after each commit.
    pub(super) create: String,
    /// Empties it before that.
    pub(super) clear: String,
    /// Merges all records.
    pub(super) insert: String,
    /// The same, where several records may have the same key: of these the last one counts.
    pub(super) insert_last: String,
    /// Whether a record whose key is there already is a duplicate that is left out.
    pub(super) skips_duplicates: bool,
    /// Whether every COPY is committed by itself. A row that has been changed is locked until then, and tasks that change the
    /// same rows would end in a deadlock that no attempt could resolve.
    pub(super) commits_each: bool,
}

impl Plan {
    /// Finds out how to write into a table that is there.
    pub(super) fn new(config: &WriterConfig, table: &Table, schema: Option<&Schema>) -> Result<Plan> {
        let columns = columns(config, table, schema)?;
        let records =
            schema.map(|schema| schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>());
        let are_named = matches!(config.columns, Some(Columns::Named(_)));
        let columns =
            config.mapping.in_order(columns, |column| &column.name, are_named, records.as_deref(), &table.name)?;
        if columns.is_empty() {
            return Err(Error::schema(format!("table {} has no column that could be written", table.name)));
        }
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let quoted = names.iter().map(|name| Postgres.quote(name)).collect::<Vec<_>>().join(", ");
        let merge = match &config.mode {
            WriteMode::Insert | WriteMode::Replace => None,
            mode => Some(merge(mode, table, &names, &quoted, columns.iter().any(|column| column.identity_always))?),
        };
        let into = if merge.is_some() { STAGE.to_string() } else { table.sql.clone() };
        let takes_lock = merge.is_none() && table.kind == TableKind::Heap && table.may_lock;
        let lock = takes_lock.then(|| format!("LOCK TABLE ONLY {} IN ROW EXCLUSIVE MODE", table.sql));
        Ok(Plan {
            lock,
            table: table.name.clone(),
            copied_table: if merge.is_some() { STAGE.into() } else { table.name.clone() },
            columns,
            copy_into: format!("{into} ({quoted})"),
            filled: into,
            merge,
            keeps_rows: table.kind == TableKind::Heap && !table.changes_rows,
        })
    }

    /// The statement that takes records in this format, or those of them that meet a condition.
    pub(super) fn copy(&self, format: &str, condition: Option<&str>) -> String {
        let all = format!("COPY {} FROM STDIN (FORMAT {format})", self.copy_into);
        condition.map(|condition| format!("{all} WHERE {condition}")).unwrap_or(all)
    }

    /// Refuses records with another number of columns than are filled.
    pub(super) fn check(&self, schema: &Schema) -> Result<()> {
        if schema.fields().len() == self.columns.len() {
            return Ok(());
        }
        let names: Vec<_> = self.columns.iter().map(|column| column.name.clone()).collect();
        Err(other_number_of_columns(schema.fields().len(), &names, &self.table))
    }
}

/// The error that records do not have as many columns as are to be filled.
pub(super) fn other_number_of_columns(records: usize, names: &[String], table: &str) -> Error {
    let names_text = names.join(", ");
    let many = if records == 1 { "column" } else { "columns" };
    Error::schema(format!(
        "the records have {records} {many}, but {} of table {table} are to be filled ({names_text}): give as many on both sides",
        names.len()
    ))
}

/// The table's columns that take those of the records.
fn columns(config: &WriterConfig, table: &Table, schema: Option<&Schema>) -> Result<Vec<Column>> {
    let place = &config.server.place;
    let names: Vec<String> = match (&config.columns, schema) {
        (Some(Columns::All), _) | (None, None) => {
            let filled = table.columns.iter().filter(|column| !column.generated && !column.identity_always);
            return Ok(filled.cloned().collect());
        }
        (Some(Columns::Named(names)), _) => names.clone(),
        (None, Some(schema)) => schema.fields().iter().map(|field| Postgres.quote(field.name())).collect(),
    };
    let mut columns: Vec<Column> = Vec::with_capacity(names.len());
    for name in &names {
        let column = table.column(name).ok_or_else(|| table.no_column(place, name))?;
        if column.generated {
            let problem = format!("column \"{}\" of table {} is computed by the server", column.name, table.name);
            return Err(Error::schema(format!("{problem}: leave it out of \"column\"")));
        }
        if columns.contains(column) {
            return Err(Error::config(format!("\"column\" names \"{}\" of table {} twice", column.name, table.name)));
        }
        columns.push(column.clone());
    }
    Ok(columns)
}

fn merge(mode: &WriteMode, table: &Table, names: &[&str], quoted: &str, identity: bool) -> Result<Merge> {
    let key: Vec<&str> = table.primary_key.iter().map(String::as_str).collect();
    let target = Target { table: &table.sql, columns: names, others: &[], primary_key: &key };
    let statement = Statement::new(&Postgres, mode, &target)?;
    // COPY writes identity columns in any case; INSERT has to be told.
    let overriding = if identity { "OVERRIDING SYSTEM VALUE " } else { "" };
    let keys: Vec<String> = match mode {
        WriteMode::Update(Some(keys)) => keys.iter().map(|key| found(names, key)).collect(),
        _ => key.iter().map(|key| found(names, key)).collect(),
    };
    let keys: Vec<_> = keys.iter().map(|key| Postgres.quote(key)).collect();
    // Rows without a whole key are never the same. The place of a row in the temporary table tells which came later.
    let no_key = keys.iter().map(|key| format!("{key} IS NULL")).collect::<Vec<_>>().join(" OR ");
    let keys = keys.join(", ");
    let in_order = match mode {
        // All tasks lock rows in the same order.
        WriteMode::Update(_) => format!(" ORDER BY {keys}"),
        _ => String::new(),
    };
    let all = format!("{overriding}SELECT {quoted} FROM {STAGE}{in_order}");
    let last = format!(
        "{overriding}SELECT {quoted} FROM (SELECT DISTINCT ON ({keys}, CASE WHEN {no_key} THEN ctid END) * \
         FROM {STAGE} ORDER BY {keys}, CASE WHEN {no_key} THEN ctid END, ctid DESC) AS last"
    );
    Ok(Merge {
        create: format!(
            "CREATE TEMPORARY TABLE {STAGE} ON COMMIT DELETE ROWS AS SELECT {quoted} FROM {} WITH NO DATA",
            table.sql
        ),
        clear: format!("TRUNCATE {STAGE}"),
        insert: statement.with_query(&all),
        insert_last: if *mode == WriteMode::Ignore { statement.with_query(&all) } else { statement.with_query(&last) },
        skips_duplicates: *mode == WriteMode::Ignore,
        commits_each: matches!(mode, WriteMode::Update(_)),
    })
}

/// A column of the key, spelt as among the columns that are filled.
fn found(names: &[&str], key: &str) -> String {
    let exactly = names.iter().find(|name| **name == key);
    exactly.or_else(|| names.iter().find(|name| name.eq_ignore_ascii_case(key))).map_or(key, |name| name).to_string()
}

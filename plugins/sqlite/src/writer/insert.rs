//! The statements that write: one record into a table, and the table itself.

use arrow_schema::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error, Result};
use transship_sql::Sqlite;
use transship_sql::names::unquote;
use transship_sql::parameters::Columns;
use transship_sql::write::{self, NewColumn, Statement, Target, WriteMode};

use crate::config::WriterConfig;
use crate::connection::Database;
use crate::table::{Column, Table, TableKind};
use crate::types::declaration;

/// The statement that writes one record, and the columns that it fills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Insert {
    pub(super) sql: String,
    /// In the order of the record's columns.
    pub(super) columns: Vec<Column>,
    /// Whether the table is declared `STRICT`.
    pub(super) strict: bool,
    /// The table, for messages.
    pub(super) table: String,
    /// Whether a record whose key is there already is a duplicate that is left out.
    pub(super) skips_duplicates: bool,
}

impl Insert {
    /// The statement for a table that is there.
    pub(super) fn into_table(
        config: &WriterConfig,
        database: &Database,
        table: &Table,
        schema: Option<&Schema>,
    ) -> Result<Insert> {
        if table.kind == TableKind::View {
            let problem = format!("{} is a view of {}: write into its table", table.name(), database.path.display());
            return Err(Error::unsupported(problem));
        }
        let columns = columns(config, database, table, schema)?;
        let records =
            schema.map(|schema| schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>());
        let are_named = matches!(config.columns, Some(Columns::Named(_)));
        let columns =
            config.mapping.in_order(columns, |column| &column.name, are_named, records.as_deref(), table.name())?;
        let mode = with_keys(&config.mode, database, table, &columns)?;
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        let target = Target { table: &table.sql(), columns: &names, others: &[], primary_key: &[] };
        let sql = Statement::new(&Sqlite, &mode, &target)?.with_placeholders(&Sqlite, 1);
        let skips_duplicates = matches!(config.mode, WriteMode::Ignore);
        Ok(Insert { sql, columns, strict: table.strict, table: table.name().into(), skips_duplicates })
    }

    /// Refuses records with another number of columns than the statement fills.
    pub(super) fn check(&self, schema: &Schema) -> Result<()> {
        let (records, filled) = (schema.fields().len(), self.columns.len());
        if records == filled {
            return Ok(());
        }
        let names = self.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
        Err(Error::schema(format!(
            "the records have {records} columns, but {filled} of table {} are to be filled ({names}): \
             give as many columns on both sides",
            self.table
        )))
    }
}

/// The statement that makes a table for records of this schema.
pub(super) fn create_table(config: &WriterConfig, table: &str, schema: Option<&SchemaRef>) -> Result<String> {
    let schema = schema.ok_or_else(|| {
        let problem = "the reader does not tell its columns before it reads, so \"createTable\" cannot make the table";
        Error::schema(format!("{problem}: create {} first", config.table))
    })?;
    let names: Vec<_> = match &config.columns {
        Some(Columns::Named(names)) => names.iter().map(|name| unquote(name)).collect(),
        _ => schema.fields().iter().map(|field| field.name().clone()).collect(),
    };
    if names.len() != schema.fields().len() {
        return Err(Error::schema(format!(
            "the records have {} columns, but \"column\" names {}: give as many on both sides",
            schema.fields().len(),
            names.len()
        )));
    }
    let columns = names.into_iter().zip(schema.fields());
    let columns =
        columns.map(|(name, field)| NewColumn { name, declared: declaration(field), nullable: field.is_nullable() });
    Ok(write::create_table(&Sqlite, table, &columns.collect::<Vec<_>>()))
}

/// The table's columns that take those of the records.
fn columns(config: &WriterConfig, database: &Database, table: &Table, schema: Option<&Schema>) -> Result<Vec<Column>> {
    let names: Vec<String> = match (&config.columns, schema) {
        (Some(Columns::All), _) | (None, None) => {
            return Ok(table.columns.iter().filter(|column| !column.generated).cloned().collect());
        }
        (Some(Columns::Named(names)), _) => names.clone(),
        (None, Some(schema)) => schema.fields().iter().map(|field| field.name().clone()).collect(),
    };
    let mut columns: Vec<Column> = Vec::with_capacity(names.len());
    for name in &names {
        let column = table.column(name).ok_or_else(|| table.no_column(database, name))?;
        if column.generated {
            let problem = format!("column \"{}\" of table {} is computed by the database", column.name, table.name());
            return Err(Error::schema(format!("{problem}: leave it out of \"column\"")));
        }
        if columns.contains(column) {
            return Err(Error::config(format!("\"column\" names \"{}\" of table {} twice", column.name, table.name())));
        }
        columns.push(column.clone());
    }
    Ok(columns)
}

/// The write mode, with the columns of the key as the table spells them where it has to find rows by one.
fn with_keys(mode: &WriteMode, database: &Database, table: &Table, columns: &[Column]) -> Result<WriteMode> {
    let WriteMode::Update(keys) = mode else { return Ok(mode.clone()) };
    let keys = match keys {
        Some(names) => {
            let keys = names.iter().map(|name| table.column(name).ok_or_else(|| table.no_column(database, name)));
            keys.collect::<Result<Vec<_>>>()?
        }
        None => {
            let mut keys: Vec<_> = table.columns.iter().filter(|column| column.key > 0).collect();
            keys.sort_by_key(|column| column.key);
            keys
        }
    };
    if keys.is_empty() {
        let problem = format!("table {} of {} has no primary key to update by", table.name(), database.path.display());
        return Err(Error::schema(format!("{problem}: name the columns of a unique key, \"update (a, b)\"")));
    }
    if let Some(missing) = keys.iter().find(|key| !columns.contains(key)) {
        let problem = format!("the key column \"{}\" of table {} is not among \"column\"", missing.name, table.name());
        return Err(Error::schema(format!("{problem}: without it no row can be found to update")));
    }
    Ok(WriteMode::Update(Some(keys.into_iter().map(|column| column.name.clone()).collect())))
}

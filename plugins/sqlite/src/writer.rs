//! `sqlitewriter`: makes the table ready, all or nothing, and opens the tasks that write.

mod insert;
pub(crate) mod store;
mod task;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Value;
use transship_plugin_api::fields::is_number;
use transship_plugin_api::row::Meaning;
use transship_plugin_api::{
    CommitClass, Error, HostRef, Report, Result, Run, TaskInfo, Writer, WriterInfo, WriterTask,
};
use transship_sql::names::unquote;
use transship_sql::parameters::Columns;
use transship_sql::write::WriteMode;

use crate::config::{WriterConfig, quote};
use crate::connection::{Access, Database, Stop, excerpt, words};
use crate::table::{self, Table};
use crate::types::Target;
use insert::Insert;
use store::{Dates, Place};
use task::SqliteWriterTask;

/// Makes a writer from its parameters.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Writer>> {
    let config = WriterConfig::from_json(parameter)?;
    let database = Database { path: config.path.clone(), manners: config.manners.clone(), stop: Stop::new(host) };
    Ok(Box::new(SqliteWriter { config, database, insert: None }))
}

struct SqliteWriter {
    config: WriterConfig,
    database: Database,
    /// Known once the writer is prepared.
    insert: Option<Arc<Insert>>,
}

impl Writer for SqliteWriter {
    fn info(&self) -> WriterInfo {
        WriterInfo {
            commit: CommitClass::Task,
            max_open_tasks: 1,
            target: format!("sqlite:{}", absolute(&self.config.path).display()),
            idempotent: self.config.mode.is_idempotent(),
        }
    }

    fn plan(&self) -> Vec<String> {
        let WriterConfig { path, table, columns, mode, create_table, pre_sql, post_sql, .. } = &self.config;
        let columns = match columns {
            Some(Columns::Named(names)) => names.join(", "),
            Some(Columns::All) => "all columns".into(),
            None => "the reader's columns".into(),
        };
        let (verb, conflict) = match mode {
            WriteMode::Insert => ("INSERT", String::new()),
            WriteMode::Ignore => ("INSERT", " ON CONFLICT DO NOTHING".into()),
            WriteMode::Replace => ("INSERT OR REPLACE", String::new()),
            WriteMode::Update(None) => ("INSERT", " ON CONFLICT (the primary key) DO UPDATE".into()),
            WriteMode::Update(Some(keys)) => ("INSERT", format!(" ON CONFLICT ({}) DO UPDATE", keys.join(", "))),
        };
        let with_table = |statement: &String| statement.replace("@table", table);
        let mut lines = vec![format!("open {}", path.display())];
        if *create_table {
            lines.push(format!("CREATE TABLE IF NOT EXISTS {table}, with the reader's columns"));
        }
        lines.extend(pre_sql.iter().map(with_table));
        lines.push(format!("{verb} INTO {table} ({columns}){conflict}, one transaction for each task"));
        lines.extend(post_sql.iter().map(with_table));
        lines
    }

    fn prepare(&mut self, _run: &Run, schema: Option<SchemaRef>) -> Result<Value> {
        let insert = self.prepare_file(schema.as_ref())?;
        let state = serde_json::to_value(&insert).map_err(unreadable)?;
        self.insert = Some(Arc::new(insert));
        Ok(state)
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        self.insert = Some(Arc::new(Insert::deserialize(state).map_err(unreadable)?));
        Ok(())
    }

    fn open(&mut self, _task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        let insert = self.insert.clone();
        let insert = insert.ok_or_else(|| Error::internal("a task was opened before the writer was prepared"))?;
        insert.check(&schema)?;
        Ok(Box::new(SqliteWriterTask {
            database: self.database.until(Stop::new(host.clone())),
            places: self.places(&insert, &schema),
            insert,
            host,
            connection: None,
            report: Report::default(),
        }))
    }

    /// Each statement by itself, as it is written: VACUUM and the like cannot run in a transaction.
    fn post(&mut self) -> Result<()> {
        if self.config.post_sql.is_empty() {
            return Ok(());
        }
        let connection = self.database.open(Access::Write)?;
        for statement in &self.config.post_sql {
            self.database.stop.doing(statement);
            let run = connection.execute_batch(&with_table_name(&connection, statement, &self.config.table));
            run.map_err(|error| self.database.refused(statement, Some("postSql"), error))?;
        }
        Ok(())
    }
}

impl SqliteWriter {
    /// Prepares the table; if that fails, the file is as it was, or not there if it was not.
    fn prepare_file(&self, schema: Option<&SchemaRef>) -> Result<Insert> {
        let is_new = !self.config.path.exists();
        let may_create = self.config.create_table || !self.config.pre_sql.is_empty();
        if is_new && !may_create {
            let advice = "give the path of an existing file, or set \"createTable\": true to make both";
            let (path, table) = (self.config.path.display(), unquote(&self.config.table));
            return Err(Error::schema(format!("the file {path} and table {table} in it do not exist: {advice}")));
        }
        if !is_new {
            return self.prepare_table(&self.database.open(Access::Write)?, schema);
        }
        let folders = missing_folders(&self.config.path);
        let prepared = self.create_file(&folders).and_then(|connection| self.prepare_table(&connection, schema));
        if prepared.is_err() {
            self.remove_file();
            for folder in &folders {
                // If somebody else has put something into it, it stays.
                let _ = std::fs::remove_dir(folder);
            }
        }
        prepared
    }

    fn create_file(&self, folders: &[PathBuf]) -> Result<Connection> {
        for folder in folders.iter().rev() {
            std::fs::create_dir(folder).map_err(|error| Error::from(error).context(folder.display()))?;
        }
        self.database.open(Access::Create)
    }

    fn remove_file(&self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut name = self.config.path.clone().into_os_string();
            name.push(suffix);
            let removed = std::fs::remove_file(PathBuf::from(&name));
            if let Err(error) = removed
                && error.kind() != std::io::ErrorKind::NotFound
            {
                log::warn!("{} was made for nothing and cannot be removed: {error}", name.display());
            }
        }
    }

    /// Creates the table, runs preSql, and checks what will be written, in one transaction.
    fn prepare_table(&self, connection: &Connection, schema: Option<&SchemaRef>) -> Result<Insert> {
        let failed = |error| self.database.failed("preparing the table", error);
        self.database.stop.doing("BEGIN IMMEDIATE");
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let prepared = self.prepare_in_transaction(connection, schema);
        let end = if prepared.is_ok() { "COMMIT" } else { "ROLLBACK" };
        if !connection.is_autocommit() {
            self.database.stop.doing(end);
            let ended = connection.execute_batch(end).map_err(failed);
            return prepared.and_then(|insert| ended.map(|()| insert));
        }
        prepared
    }

    fn prepare_in_transaction(&self, connection: &Connection, schema: Option<&SchemaRef>) -> Result<Insert> {
        self.create_table(connection, schema)?;
        self.run_pre_sql(connection)?;
        // It may have dropped the table, for it to be made anew.
        self.create_table(connection, schema)?;
        let Some(table) = Table::find(&self.database, connection, &self.config.table)? else {
            let advice = "set \"createTable\": true to make it with the reader's columns";
            return Err(table::missing(&self.database, connection, &self.config.table, Some(advice)));
        };
        let schema = schema.map(|schema| schema.as_ref());
        let insert = Insert::into_table(&self.config, &self.database, &table, schema)?;
        if let Some(schema) = schema {
            insert.check(schema)?;
        }
        let statement = connection.prepare(&insert.sql);
        statement.map_err(|error| self.database.refused(&insert.sql, None, error))?;
        Ok(insert)
    }

    fn create_table(&self, connection: &Connection, schema: Option<&SchemaRef>) -> Result<()> {
        let is_missing = || Table::find(&self.database, connection, &self.config.table).map(|table| table.is_none());
        if !self.config.create_table || !is_missing()? {
            return Ok(());
        }
        let statement = insert::create_table(&self.config, &new_name(connection, &self.config.table), schema)?;
        self.database.stop.doing(&statement);
        connection.execute_batch(&statement).map_err(|error| self.database.refused(&statement, None, error))
    }

    fn run_pre_sql(&self, connection: &Connection) -> Result<()> {
        for statement in &self.config.pre_sql {
            self.database.stop.doing(statement);
            let run = connection.execute_batch(&with_table_name(connection, statement, &self.config.table));
            run.map_err(|error| self.database.refused(statement, Some("preSql"), error))?;
            if connection.is_autocommit() {
                return Err(Error::config(format!(
                    "\"{}\" of \"preSql\" ended the transaction in which all of \"preSql\" runs: \
                     leave BEGIN, COMMIT and ROLLBACK out",
                    excerpt(statement, 0)
                )));
            }
        }
        Ok(())
    }

    fn places(&self, insert: &Insert, schema: &Schema) -> Vec<Place> {
        let columns = insert.columns.iter().zip(schema.fields());
        let places = columns.map(|(column, field)| {
            let target = Target::declared(&column.declared, insert.strict);
            Place {
                name: column.name.clone(),
                declared: column.declared.clone(),
                target,
                meaning: Meaning::of(field),
                numbers: is_number(field),
                empty_as_null: self.config.empty_as_null,
                dates: Dates::of(&self.config.formats, field, &column.declared, target),
                formats: self.config.formats.clone(),
            }
        });
        places.collect()
    }
}

/// A statement with the table's name where it says `@table`: as the job has it, or in quotes where SQL could not read that.
fn with_table_name(connection: &Connection, statement: &str, table: &str) -> String {
    let table = table.trim();
    let is_readable = match connection.prepare(&format!("SELECT 1 FROM {table}")) {
        Ok(_) => true,
        Err(error) => words(&error).starts_with("no such table"),
    };
    let name = if is_readable { table.to_string() } else { quote(&unquote(table)) };
    statement.replace("@table", &name)
}

/// The name, as SQL takes it, of a table that is to be made. What is before a dot is a schema only if there is one.
fn new_name(connection: &Connection, text: &str) -> String {
    let text = text.trim();
    match text.split_once('.').map(|(schema, name)| (unquote(schema), unquote(name))) {
        Some((schema, name)) if connection.is_readonly(schema.as_str()).is_ok() => {
            format!("{}.{}", quote(&schema), quote(&name))
        }
        _ => quote(&unquote(text)),
    }
}

/// The folders on the way to a file that are not there, the innermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect()
}

/// The one name of a file, by whatever path it is reached, also before it is there.
fn absolute(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    match (absolute.parent().map(Path::canonicalize), absolute.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => absolute,
    }
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("the state of the SQLite writer cannot be read: {error}"))
}

//! `postgresqlwriter`: makes the table ready, all or nothing, and opens the tasks that write.

mod again;
mod failures;
mod lane;
mod load;
mod plan;
mod sieve;
mod stream;
mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde::Deserialize;
use serde_json::Value;
use transship_plugin_api::{CommitClass, Error, HostRef, Result, Run, TaskInfo, Writer, WriterInfo, WriterTask};
use transship_sql::parameters::Columns;
use transship_sql::write::{NewColumn, WriteMode, create_table};
use transship_sql::{Dialect, Postgres, names};

use crate::config::{NulCharacter, WriterConfig};
use crate::place::Place;
use crate::session::{Session, Stop};
use crate::table::{self, Table};
use crate::types::declaration;
use plan::Plan;
use task::PostgresWriterTask;

/// Makes a writer from its parameters.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Writer>> {
    let config = WriterConfig::from_json(parameter)?;
    Ok(Box::new(PostgresWriter { config, stop: Stop::new(host), plan: None }))
}

struct PostgresWriter {
    config: WriterConfig,
    stop: Stop,
    /// Known once the writer is prepared.
    plan: Option<Arc<Plan>>,
}

impl Writer for PostgresWriter {
    fn info(&self) -> WriterInfo {
        WriterInfo {
            commit: match self.config.mode {
                // See `Merge::commits_each`.
                WriteMode::Update(_) => CommitClass::Append,
                _ => CommitClass::Task,
            },
            max_open_tasks: self.config.most_connections.unwrap_or(0),
            target: self.config.server.place.clone(),
            idempotent: self.config.mode.is_idempotent(),
        }
    }

    fn plan(&self) -> Vec<String> {
        let WriterConfig { server, table, columns, mode, create_table, pre_sql, post_sql, .. } = &self.config;
        let columns = match columns {
            Some(Columns::Named(names)) => names.join(", "),
            Some(Columns::All) => "all columns but generated ones".into(),
            None => "the reader's columns".into(),
        };
        let each = if matches!(mode, WriteMode::Update(_)) { "COPY" } else { "task" };
        let copy = |into: &str| format!("COPY {into} FROM STDIN, one transaction for each {each}");
        let mut lines = vec![format!("connect to {}", server.place)];
        if *create_table {
            lines.push(format!(
                "CREATE TABLE IF NOT EXISTS {table}, with the reader's columns: {}",
                types_of_new_columns()
            ));
        }
        lines.extend(pre_sql.iter().cloned());
        let behind = match mode {
            WriteMode::Ignore => "DO NOTHING".to_string(),
            WriteMode::Update(Some(keys)) => format!("({}) DO UPDATE", keys.join(", ")),
            WriteMode::Update(None) => "(the primary key) DO UPDATE".into(),
            WriteMode::Insert | WriteMode::Replace => String::new(),
        };
        match behind.is_empty() {
            true => lines.push(copy(&format!("{table} ({columns})"))),
            false => {
                lines.push(copy("a temporary table"));
                lines.push(format!(
                    "INSERT INTO {table} ({columns}) SELECT … FROM the temporary table ON CONFLICT {behind}"
                ));
            }
        }
        lines.extend(post_sql.iter().cloned());
        lines
    }

    fn prepare(&mut self, _run: &Run, schema: Option<SchemaRef>) -> Result<Value> {
        let session = Session::open(&self.config.server, &self.stop)?;
        let plan = self.prepare_table(&session, schema.as_ref())?;
        let state = serde_json::to_value(&plan).map_err(unreadable)?;
        self.plan = Some(Arc::new(plan));
        Ok(state)
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        self.plan = Some(Arc::new(Plan::deserialize(state).map_err(unreadable)?));
        Ok(())
    }

    fn open(&mut self, _task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        let plan = self.plan.clone();
        let plan = plan.ok_or_else(|| Error::internal("a task was opened before the writer was prepared"))?;
        plan.check(&schema)?;
        let config = &self.config;
        let removes_nul = config.nul == NulCharacter::Remove;
        let places = plan.columns.iter().zip(schema.fields());
        let places = places.map(|(column, field)| {
            Place::new(column, field, &config.formats, config.empty_as_null, removes_nul)
                .taking_null(!(column.not_null && plan.keeps_rows))
        });
        let places = places.collect();
        Ok(Box::new(PostgresWriterTask::new(task::Writing {
            server: config.server.clone(),
            stop: Stop::new(host.clone()),
            places,
            plan,
            host,
            copy_records: config.copy_records,
            copy_bytes: config.copy_bytes,
        })))
    }

    /// Each statement by itself, as it is written: VACUUM and the like cannot run in a transaction.
    fn post(&mut self) -> Result<()> {
        if self.config.post_sql.is_empty() {
            return Ok(());
        }
        let session = Session::open(&self.config.server, &self.stop)?;
        for statement in &self.config.post_sql {
            session.execute(format_args!("the statement \"{statement}\" of \"postSql\""), statement)?;
        }
        Ok(())
    }
}

impl PostgresWriter {
    /// Creates the table, runs preSql, and checks what will be written, in one transaction. Statements that cannot run in one
    /// are the exception: then each runs by itself, as in DataX.
    fn prepare_table(&self, session: &Session, schema: Option<&SchemaRef>) -> Result<Plan> {
        let doing = "preparing the table";
        session.execute(doing, "BEGIN")?;
        match self.prepare_in_steps(session, schema) {
            Ok(plan) => {
                session.execute(doing, "COMMIT")?;
                Ok(plan)
            }
            Err(Failure { cannot_run_in_transaction: true, .. }) => {
                session.execute(doing, "ROLLBACK")?;
                self.prepare_in_steps(session, schema).map_err(|failure| failure.error)
            }
            Err(failure) => Err(failure.error),
        }
    }

    fn prepare_in_steps(&self, session: &Session, schema: Option<&SchemaRef>) -> Result<Plan, Failure> {
        self.create_table(session, schema)?;
        for statement in &self.config.pre_sql {
            let outcome = session.try_execute(statement)?;
            outcome.map_err(|error| Failure {
                cannot_run_in_transaction: error.code().is_some_and(|code| code.code() == "25001"),
                error: session.failed(format_args!("the statement \"{statement}\" of \"preSql\""), error),
            })?;
        }
        // It may have dropped the table, for it to be made anew.
        self.create_table(session, schema)?;
        let Some(table) = Table::find(session, &self.config.table)? else {
            let advice = "set \"createTable\": true to make it with the reader's columns";
            return Err(table::missing(session, &self.config.table, Some(advice)).into());
        };
        let plan = Plan::new(&self.config, &table, schema.map(AsRef::as_ref))?;
        if let Some(schema) = schema {
            plan.check(schema)?;
        }
        Ok(plan)
    }

    fn create_table(&self, session: &Session, schema: Option<&SchemaRef>) -> Result<()> {
        if !self.config.create_table || Table::find(session, &self.config.table)?.is_some() {
            return Ok(());
        }
        let schema = schema.ok_or_else(|| {
            let problem =
                "the reader does not tell its columns before it reads, so \"createTable\" cannot make the table";
            Error::schema(format!("{problem}: create {} first", self.config.table))
        })?;
        let names: Vec<_> = match &self.config.columns {
            Some(Columns::Named(names)) => names.iter().map(|name| column_name(name)).collect(),
            _ => schema.fields().iter().map(|field| field.name().clone()).collect(),
        };
        if names.len() != schema.fields().len() {
            return Err(plan::other_number_of_columns(schema.fields().len(), &names, &self.config.table));
        }
        let columns = names.into_iter().zip(schema.fields()).map(|(name, field)| NewColumn {
            name,
            declared: declaration(field),
            nullable: field.is_nullable(),
        });
        let statement = create_table(&Postgres, &new_name(&self.config.table), &columns.collect::<Vec<_>>());
        session.execute(format_args!("\"{statement}\""), &statement)
    }
}

/// Why the table could not be prepared.
struct Failure {
    /// Whether a statement of the job's runs only outside of a transaction.
    cannot_run_in_transaction: bool,
    error: Error,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { cannot_run_in_transaction: false, error }
    }
}

/// The name of a column as SQL reads it: in lower case, if it has no quotes.
fn column_name(text: &str) -> String {
    match names::column(text, &Postgres) {
        Some(word) if word.quoted => word.name,
        Some(word) => word.name.to_lowercase(),
        None => text.trim().into(),
    }
}

/// The name of a table that is to be made, as SQL takes it.
fn new_name(text: &str) -> String {
    match names::qualified(text, &Postgres) {
        Some(words) => {
            let words = words.iter().map(|word| match word.quoted {
                true => Postgres.quote(&word.name),
                false => Postgres.quote(&word.name.to_lowercase()),
            });
            words.collect::<Vec<_>>().join(".")
        }
        None => Postgres.quote(text.trim()),
    }
}

/// What a new column is declared as, by what arrives: for people.
fn types_of_new_columns() -> &'static str {
    "Boolean → boolean, Int8/16 → smallint, Int32 → integer, Int64 → bigint, UInt64 → numeric(20, 0), Float32 → real, \
     Float64 → double precision, Decimal(p, s) → numeric(p, s), number text → numeric, text → text, JSON → json (jsonb from jsonb), \
     UUID → uuid, bytes → bytea, date → date, time → time, timestamp → timestamp or timestamptz, \
     duration and interval → interval, list → array, struct → jsonb, PostgreSQL's own types → the same"
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("the state of the PostgreSQL writer cannot be read: {error}"))
}

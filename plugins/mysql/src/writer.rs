//! `mysqlwriter`: prepares the table, and opens the tasks that fill it.

mod duplicates;
mod encode;
mod plan;
mod rows;
mod store;
mod target;
mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde::Deserialize;
use serde_json::Value;
use transship_plugin_api::{
    CommitClass, Error, HostRef, Report, Result, Run, TaskInfo, Writer, WriterInfo, WriterTask,
};
use transship_sql::write::WriteMode;

use crate::config::{Transaction, WriterConfig};
use crate::session::{Session, Stop};
use crate::table;
use plan::Plan;
use task::MySqlWriterTask;

/// Makes a writer from its parameters.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Writer>> {
    let config = Arc::new(WriterConfig::from_json(parameter)?);
    Ok(Box::new(MySqlWriter { config, stop: Stop::new(host), plan: None }))
}

struct MySqlWriter {
    config: Arc<WriterConfig>,
    stop: Stop,
    plan: Option<Arc<Plan>>,
}

impl Writer for MySqlWriter {
    fn info(&self) -> WriterInfo {
        let commit = match self.config.transaction {
            Transaction::Task => CommitClass::Task,
            Transaction::Batch => CommitClass::Append,
        };
        let idempotent = self.config.mode.is_idempotent();
        let max_open_tasks = self.config.most_connections.unwrap_or(0);
        WriterInfo { commit, max_open_tasks, target: self.config.target.clone(), idempotent }
    }

    fn plan(&self) -> Vec<String> {
        let WriterConfig { table, mode, pre_sql, post_sql, .. } = &*self.config;
        let mut lines = Vec::new();
        if self.config.create_table {
            let types = target::types_of_new_columns();
            lines.push(format!("create table {table} with the reader's columns, if it is not there: {types}"));
        }
        lines.extend(pre_sql.iter().map(|statement| format!("preSql: {statement}")));
        let how = match mode {
            WriteMode::Insert => "insert into",
            WriteMode::Ignore => "insert what is not there yet into",
            WriteMode::Replace => "replace rows of",
            WriteMode::Update(_) => "insert into, or update rows of,",
        };
        let by = match (self.config.load, mode) {
            (_, WriteMode::Update(_)) | (false, _) => "by INSERT",
            (true, _) => "by LOAD DATA LOCAL where the server allows it",
        };
        let transaction = match self.config.transaction {
            Transaction::Task => "one transaction a task",
            Transaction::Batch => "one transaction a batch",
        };
        lines.push(format!("{how} {table} {by}, {transaction}"));
        lines.extend(post_sql.iter().map(|statement| format!("postSql: {statement}")));
        lines
    }

    fn prepare(&mut self, _: &Run, schema: Option<SchemaRef>) -> Result<Value> {
        let mut session = Session::open(&self.config.server, &self.stop)?;
        self.create_table(&mut session, schema.as_ref())?;
        self.run_all(&mut session, "preSql", &self.config.pre_sql)?;
        // It may have dropped the table, for it to be made anew.
        self.create_table(&mut session, schema.as_ref())?;
        let records: Option<Vec<String>> =
            schema.as_ref().map(|schema| schema.fields().iter().map(|field| field.name().clone()).collect());
        let plan = self.find_plan(&mut session, records.as_deref())?;
        if let Some(schema) = &schema {
            plan.check(schema, &self.config.table)?;
        }
        self.plan = Some(Arc::new(plan));
        serde_json::to_value(records).map_err(unreadable)
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        let records = Option::<Vec<String>>::deserialize(state).map_err(unreadable)?;
        let mut session = Session::open(&self.config.server, &self.stop)?;
        self.plan = Some(Arc::new(self.find_plan(&mut session, records.as_deref())?));
        Ok(())
    }

    fn open(&mut self, _: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        let plan = self.plan.clone();
        let plan = plan.ok_or_else(|| Error::internal("a writer task was opened before the writer was prepared"))?;
        plan.check(&schema, &self.config.table)?;
        Ok(Box::new(MySqlWriterTask::new(self.config.clone(), plan, schema, host)))
    }

    fn commit(&mut self, _: &[Report]) -> Result<()> {
        Ok(())
    }

    fn post(&mut self) -> Result<()> {
        if self.config.post_sql.is_empty() {
            return Ok(());
        }
        let mut session = Session::open(&self.config.server, &self.stop)?;
        self.run_all(&mut session, "postSql", &self.config.post_sql)
    }
}

impl MySqlWriter {
    fn create_table(&self, session: &mut Session, schema: Option<&SchemaRef>) -> Result<()> {
        if !self.config.create_table || table::find(session, &self.config.table)?.is_some() {
            return Ok(());
        }
        let schema = schema.ok_or_else(|| {
            let problem = "\"createTable\" needs the reader's columns, and this reader tells them only when it reads";
            Error::unsupported(format!("{problem}: make the table yourself"))
        })?;
        let statement = plan::create_table(&self.config, schema)?;
        session.execute(format_args!("\"{statement}\""), &statement)?;
        log::info!("{}: {statement}", session.server.place);
        Ok(())
    }

    fn run_all(&self, session: &mut Session, key: &str, statements: &[String]) -> Result<()> {
        for statement in statements {
            session.execute(format_args!("the statement \"{statement}\" of \"{key}\""), statement)?;
        }
        Ok(())
    }

    fn find_plan(&self, session: &mut Session, records: Option<&[String]>) -> Result<Plan> {
        let table = &self.config.table;
        let Some(found) = table::find(session, table)? else {
            let place = &session.server.place;
            let advice = "set \"createTable\": true to make it with the reader's columns";
            let error = Error::schema(format!("{place}: there is no table {table}; {advice}"));
            return Err(table::missing(session, table, error));
        };
        if !found.has_transactions() {
            let engine = &found.engine;
            log::warn!(
                "table {table} is kept by {engine}, without transactions: rows are written one by one, and what a failed task has \
                 written stays there"
            );
        }
        let mut plan = Plan::new(&self.config, &found, records)?;
        if plan.load.is_some() && !takes_files(session)? {
            log::info!("{}: local_infile is off, so rows are written by INSERT", session.server.place);
            plan.load = None;
        }
        Ok(plan)
    }
}

fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::internal(format!("the state of the MySQL writer cannot be read: {error}"))
}

/// Whether the server takes files from clients.
fn takes_files(session: &mut Session) -> Result<bool> {
    let rows = session.ask("asking for local_infile", "SELECT @@local_infile")?;
    Ok(rows.first().and_then(|row| row.first()).and_then(Option::as_deref) == Some("1"))
}

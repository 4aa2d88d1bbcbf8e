//! `sqlitelookup`: finds rows by their keys. A few connections, each with a thread of its own, take calls from one line.
//! Not here: what a call is worth waiting for, and what a failure means (the engine).

mod key;
mod worker;

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use crossbeam::channel::{Sender, unbounded};
use rusqlite::Connection;
use serde_json::Value;
use transship_plugin_api::{Answer, Error, HostRef, Lookup, Result};

use crate::config::{LookupConfig, LookupSource, quote};
use crate::connection::{Access, Database, Stop};
use crate::reader::select::Select;
use crate::reader::shape::Shape;
use crate::table::Table;
use key::KeyColumn;
use worker::{Task, Worker};

/// Makes a lookup from its parameters.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Lookup>> {
    let config = LookupConfig::from_json(parameter)?;
    let stop = Stop::new(host);
    Ok(Box::new(SqliteLookup { config, stop, line: None, threads: Vec::new() }))
}

struct SqliteLookup {
    config: LookupConfig,
    stop: Stop,
    /// Where the threads get their calls; `None`: it is not prepared, or over.
    line: Option<Sender<Task>>,
    threads: Vec<JoinHandle<()>>,
}

/// What every thread does.
struct Query {
    sql: String,
    keys: Vec<KeyColumn>,
    shape: Shape,
    schema: SchemaRef,
    database: Database,
}

impl Lookup for SqliteLookup {
    fn prepare(&mut self, keys: SchemaRef) -> Result<SchemaRef> {
        let LookupConfig { path, manners, connections, .. } = &self.config;
        let database = Database { path: path.clone(), manners: manners.clone(), stop: self.stop.clone() };
        let connection = database.open(Access::Read)?;
        let query = Arc::new(self.query(database, &connection, &keys)?);
        let (line, tasks) = unbounded();
        let mut first = Some(connection);
        for _ in 0..connections.get() {
            let connection = match first.take() {
                Some(connection) => connection,
                None => query.database.open(Access::Read)?,
            };
            let worker = Worker { query: query.clone(), tasks: tasks.clone() };
            let thread = Builder::new().name("sqlite lookup".into()).spawn(move || worker.run(&connection));
            let thread = thread.map_err(|error| Error::from(error).context("starting a thread that looks up"))?;
            self.threads.push(thread);
        }
        self.line = Some(line);
        Ok(query.schema.clone())
    }

    fn start(&self, keys: RecordBatch, answer: Answer) {
        let Some(line) = &self.line else { return answer.fail(Error::internal("the lookup is not prepared")) };
        // Without threads there is nobody to take it: then it comes back, and dropping it is the answer.
        let _ = line.send(Task { keys, answer });
    }

    fn cancel(&self) {
        self.stop.stop();
    }
}

impl SqliteLookup {
    /// The statement, and what goes into it and comes out.
    fn query(&self, database: Database, connection: &Connection, keys: &SchemaRef) -> Result<Query> {
        let keys: Vec<KeyColumn> = keys.fields().iter().map(|field| KeyColumn::new(field)).collect();
        let (sql, shape_of, table) = match &self.config.source {
            LookupSource::Query(sql) => (sql.clone(), sql.clone(), None),
            LookupSource::Table { name, keys: names, columns } => {
                let table = Table::get(&database, connection, name)?;
                let names: Vec<&str> = match names.is_empty() {
                    true => keys.iter().map(KeyColumn::name).collect(),
                    false => names.iter().map(String::as_str).collect(),
                };
                if names.len() != keys.len() {
                    return Err(Error::config(format!(
                        "parameter.keyColumn names {} columns, and the key of the record has {}",
                        names.len(),
                        keys.len()
                    )));
                }
                let conditions = names.iter().map(|name| match table.column(name) {
                    Some(column) => Ok(format!("{} = ?", quote(&column.name))),
                    None if table.is_rowid(name) => Ok(format!("{name} = ?")),
                    None => Err(table.no_column(&database, name)),
                });
                let conditions = conditions.collect::<Result<Vec<_>>>()?.join(" AND ");
                let columns = columns.iter().map(|text| match table.column(text) {
                    Some(column) => quote(&column.name),
                    None => text.trim().to_string(),
                });
                let all = format!("SELECT {} FROM {}", columns.collect::<Vec<_>>().join(", "), table.sql());
                (format!("{all} WHERE {conditions}"), all, Some(table))
            }
        };
        let statement = connection.prepare(&sql).map_err(|error| database.refused(&sql, Some("querySql"), error))?;
        let (places, key) = (statement.parameter_count(), keys.len());
        if places != key {
            return Err(Error::config(format!(
                "parameter.querySql has {places} places for values (?), and the key of the record has {key} columns: \
                 it takes one for each"
            )));
        }
        drop(statement);
        let types = &self.config.types;
        let shape = Shape::of(&database, connection, &Select::query(&shape_of), table.as_ref(), types)?;
        let schema = shape.schema();
        Ok(Query { sql, keys, shape, schema, database })
    }
}

impl Drop for SqliteLookup {
    fn drop(&mut self) {
        self.stop.stop();
        self.line = None;
        for thread in self.threads.drain(..) {
            // A panic has been logged by the panic hook, and there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;

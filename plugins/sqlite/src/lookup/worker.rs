//! One thread and its connection: takes calls, looks up their keys one after another, and answers.

use std::sync::Arc;

use arrow_array::RecordBatch;
use crossbeam::channel::Receiver;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Row, Statement};
use transship_plugin_api::row::{RowBuilder, Rows};
use transship_plugin_api::{Answer, Error, Found, Result};

use super::Query;
use crate::reader::cells::{self, Misfit};

/// Rows that memory is set aside for at first.
const SOME_ROWS: usize = 64;

/// A call that waits for a thread.
pub(super) struct Task {
    pub(super) keys: RecordBatch,
    pub(super) answer: Answer,
}

pub(super) struct Worker {
    pub(super) query: Arc<Query>,
    pub(super) tasks: Receiver<Task>,
}

/// What a cell or a value must be like to be a key's or a column's.
type Unfit = Error;

impl Worker {
    /// Works until there will be no more calls.
    pub(super) fn run(&self, connection: &Connection) {
        let database = &self.query.database;
        let mut statement = connection.prepare(&self.query.sql);
        for Task { keys, answer } in &self.tasks {
            if database.stop.is_stopped() {
                answer.fail(Error::cancelled());
                continue;
            }
            // It has waited too long for its turn.
            if !answer.is_wanted() {
                continue;
            }
            match &mut statement {
                Ok(statement) => answer.give(self.look_up(statement, &keys)),
                Err(error) => answer.fail(Error::io(format!("{}: {error}", database.path.display()))),
            }
        }
    }

    fn look_up(&self, statement: &mut Statement<'_>, keys: &RecordBatch) -> Result<Found> {
        let Query { schema, database, .. } = self.query.as_ref();
        let mut rows = RowBuilder::new(schema.clone(), SOME_ROWS)?;
        let (mut key_of_row, mut failed) = (Vec::new(), Vec::new());
        let cells = Rows::new(keys);
        let mut scratch = String::new();
        for key in 0..keys.num_rows() {
            if let Err(unfit) = self.bind(statement, &cells, key, &mut scratch)? {
                failed.push((key as u32, unfit));
                continue;
            }
            let mut found = statement.raw_query();
            while let Some(row) = found.next().map_err(|error| database.failed("looking up a key", error))? {
                match self.add(&mut rows, row, &mut scratch)? {
                    Ok(()) => key_of_row.push(key as u32),
                    Err(unfit) => {
                        failed.push((key as u32, unfit));
                        break;
                    }
                }
            }
        }
        let (rows, _) = rows.finish()?;
        Ok(Found { rows, key_of_row, failed })
    }

    fn bind(
        &self,
        statement: &mut Statement<'_>,
        cells: &Rows<'_>,
        key: usize,
        scratch: &mut String,
    ) -> Result<Result<(), Unfit>> {
        for (place, column) in self.query.keys.iter().enumerate() {
            match column.bound(cells.get(key, place), scratch) {
                Ok(value) => statement
                    .raw_bind_parameter(place + 1, ToSqlOutput::Borrowed(value))
                    .map_err(|error| self.query.database.failed("binding a key", error))?,
                Err(why) => return Ok(Err(Error::data(format!("it cannot be looked up: {why}")))),
            }
        }
        Ok(Ok(()))
    }

    fn add(&self, rows: &mut RowBuilder, row: &Row<'_>, scratch: &mut String) -> Result<Result<(), Unfit>> {
        for (index, column) in self.query.shape.columns.iter().enumerate() {
            let cell = row.get_ref(index).map_err(|error| self.query.database.failed("reading a row", error))?;
            match cells::value(column.kind, cell, scratch) {
                Ok(value) => rows.set(index, value)?,
                Err(Misfit) => {
                    rows.drop_row();
                    let (name, what) = (&column.name, cells::storage(cell));
                    return Ok(Err(Error::data(format!(
                        "column \"{name}\" of its row holds {what}, which does not fit: \"types\" can give it another type"
                    ))));
                }
            }
        }
        rows.end_row()?;
        Ok(Ok(()))
    }
}

//! Reading a split: a thread of the task's own steps through the rows, since SQLite's cursor can neither leave the thread nor
//! be kept beside its connection between two calls. It is one batch ahead at most, and is joined when the task ends.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use arrow_schema::SchemaRef;
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded, never};
use rusqlite::Connection;
use transship_plugin_api::{Batch, CancelHandle, Error, HostRef, Item, ReadOptions, ReaderTask, Result};

use super::batch::BatchInTheMaking;
use super::select::{Select, columns_of};
use super::shape::Shape;
use crate::connection::{Access, Database, Stop};

/// One attempt at reading a split.
pub(super) struct SqliteReaderTask {
    reading: Option<Reading>,
    stop: Stop,
    batches: Receiver<Result<Batch>>,
    thread: Option<JoinHandle<()>>,
}

/// All that the reading thread needs.
pub(super) struct Reading {
    pub(super) database: Database,
    pub(super) select: Select,
    pub(super) shape: Arc<Shape>,
    pub(super) schema: SchemaRef,
    /// The name of the split, for messages.
    pub(super) label: String,
    pub(super) options: ReadOptions,
    pub(super) host: HostRef,
}

impl SqliteReaderTask {
    pub(super) fn new(reading: Reading) -> SqliteReaderTask {
        let stop = reading.database.stop.clone();
        SqliteReaderTask { reading: Some(reading), stop, batches: never(), thread: None }
    }

    /// Why there are no more batches: the thread has reached the end, or it has panicked.
    fn end(&mut self) -> Result<Item> {
        self.batches = never();
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(Error::internal("the thread that reads the split panicked")),
            _ => Ok(Item::End),
        }
    }
}

impl ReaderTask for SqliteReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        let reading = self.reading.take().ok_or_else(|| Error::internal("a reader task was prepared twice"))?;
        let schema = reading.schema.clone();
        let connection = reading.database.open(Access::Read)?;
        let found = columns_of(&reading.database, &connection, &reading.select, None)?.len();
        if found != schema.fields().len() {
            let (path, known) = (reading.database.path.display(), schema.fields().len());
            let problem = format!("{path}: {} has {found} columns now, and had {known} at the start", reading.label);
            return Err(Error::schema(problem));
        }
        let (sender, receiver) = bounded(0);
        let thread = Builder::new().name("sqlite reader".into()).spawn(move || reading.run(connection, &sender));
        self.thread =
            Some(thread.map_err(|error| Error::from(error).context("starting the thread that reads a split"))?);
        self.batches = receiver;
        Ok(schema)
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        if self.thread.is_none() {
            return Ok(Item::End);
        }
        match self.batches.recv_timeout(timeout) {
            Ok(batch) => batch.map(Item::Batch),
            Err(RecvTimeoutError::Timeout) => Ok(Item::Idle),
            Err(RecvTimeoutError::Disconnected) => self.end(),
        }
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.stop.cancel_handle())
    }
}

impl Drop for SqliteReaderTask {
    fn drop(&mut self) {
        self.stop.stop();
        self.batches = never();
        if let Some(thread) = self.thread.take() {
            // A panic has been logged by the panic hook, and there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

impl Reading {
    fn run(&self, connection: Connection, batches: &Sender<Result<Batch>>) {
        if let Err(error) = self.read(&connection, batches) {
            // If nobody is there to take it, the task has been dropped.
            let _ = batches.send(Err(error));
        }
    }

    fn read(&self, connection: &Connection, batches: &Sender<Result<Batch>>) -> Result<()> {
        let failed = |error| self.database.failed(format_args!("reading {}", self.label), error);
        let mut statement = connection.prepare(&self.select.sql).map_err(failed)?;
        for (index, value) in self.select.values.iter().enumerate() {
            statement.raw_bind_parameter(index + 1, value).map_err(failed)?;
        }
        let mut rows = statement.raw_query();
        let mut batch = BatchInTheMaking::new(self)?;
        while let Some(row) = rows.next().map_err(failed)? {
            batch.take(row)?;
            if batch.is_full() {
                if self.database.stop.is_stopped() {
                    return Err(Error::cancelled());
                }
                if batches.send(Ok(batch.finish()?)).is_err() {
                    return Ok(());
                }
            }
        }
        if !batch.is_empty() {
            // As above: a task that has been dropped needs no more batches.
            let _ = batches.send(Ok(batch.finish()?));
        }
        Ok(())
    }
}

//! Reading a split: a thread of the task's own steps through the rows, since SQLite's cursor can neither leave the thread nor
//! be kept beside its connection between two calls. It is one batch ahead at most, and is joined when the task ends.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use arrow_schema::SchemaRef;
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rusqlite::Connection;
use transship_plugin_api::{Batch, CancelHandle, Error, HostRef, Item, ReadOptions, ReaderTask, Result};

use super::batch::BatchInTheMaking;
use super::select::{Select, columns_of};
use super::shape::Shape;
use crate::connection::{Access, Database, Stop};
use crate::split::Spread;

/// One attempt at reading a split.
pub(super) struct SqliteReaderTask {
    progress: Progress,
    stop: Stop,
}

enum Progress {
    New(Box<Reading>),
    Running {
        batches: Receiver<Result<Batch>>,
        thread: JoinHandle<()>,
    },
    Ended,
    /// Nothing more is known of the rows: this must never be taken for their end.
    Failed,
}

/// All that the reading thread needs.
pub(super) struct Reading {
    pub(super) database: Database,
    pub(super) select: Select,
    pub(super) shape: Arc<Shape>,
    pub(super) schema: SchemaRef,
    /// Where the rowids of the split lie.
    pub(super) spread: Spread,
    /// The name of the split, for messages.
    pub(super) label: String,
    pub(super) options: ReadOptions,
    pub(super) host: HostRef,
}

impl SqliteReaderTask {
    pub(super) fn new(reading: Reading) -> SqliteReaderTask {
        let stop = reading.database.stop.clone();
        SqliteReaderTask { progress: Progress::New(Box::new(reading)), stop }
    }

    /// Waits for the thread, which has nothing more to give; then all rows have been read, unless it has panicked.
    fn end(&mut self) -> Result<Item> {
        if let Progress::Running { thread, .. } = std::mem::replace(&mut self.progress, Progress::Failed) {
            thread.join().map_err(|_| Error::internal("the thread that reads the split panicked"))?;
        }
        self.progress = Progress::Ended;
        Ok(Item::End)
    }
}

impl ReaderTask for SqliteReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        let Progress::New(reading) = std::mem::replace(&mut self.progress, Progress::Failed) else {
            return Err(Error::internal("a reader task was prepared twice"));
        };
        let schema = reading.schema.clone();
        let connection = reading.database.open(Access::Read)?;
        let found = columns_of(&reading.database, &connection, &reading.select, None)?.len();
        if found != schema.fields().len() {
            let (path, known) = (reading.database.path.display(), schema.fields().len());
            let problem = format!("{path}: {} has {found} columns now, and had {known} at the start", reading.label);
            return Err(Error::schema(problem));
        }
        let (sender, batches) = bounded(0);
        let thread = Builder::new().name("sqlite reader".into()).spawn(move || reading.run(connection, &sender));
        let thread = thread.map_err(|error| Error::from(error).context("starting the thread that reads a split"))?;
        self.progress = Progress::Running { batches, thread };
        Ok(schema)
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        let batches = match &self.progress {
            Progress::Running { batches, .. } => batches,
            Progress::Ended => return Ok(Item::End),
            Progress::New(_) | Progress::Failed => {
                return Err(Error::internal("records were asked of a reader task that is not prepared, or has failed"));
            }
        };
        match batches.recv_timeout(timeout) {
            Ok(Ok(batch)) => Ok(Item::Batch(batch)),
            Ok(Err(error)) => {
                // The thread ends with its error: nothing is left to wait for.
                self.end()?;
                self.progress = Progress::Failed;
                Err(error)
            }
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
        if let Progress::Running { batches, thread } = std::mem::replace(&mut self.progress, Progress::Failed) {
            // A thread with a batch in hand sees that nobody will take it.
            drop(batches);
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
        self.database.stop.doing(&self.select.sql);
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

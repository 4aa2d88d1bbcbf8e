//! Writing a task's records: one connection, one transaction.

use std::sync::Arc;

use transship_plugin_api::{Batch, CancelHandle, Error, HostRef, Report, Result, WriterTask};

use super::load::{Load, Loading};
use super::plan::Plan;
use crate::place::Place;
use crate::session::{Server, Session, Stop};

/// All that a task needs.
pub(super) struct Writing {
    pub(super) server: Arc<Server>,
    pub(super) stop: Stop,
    pub(super) plan: Arc<Plan>,
    /// The columns to fill, in the order of the record's.
    pub(super) places: Vec<Place>,
    pub(super) host: HostRef,
    pub(super) copy_records: usize,
    pub(super) copy_bytes: usize,
}

/// One attempt at writing.
pub(super) struct PostgresWriterTask {
    writing: Writing,
    // Before the connection that it uses.
    load: Load,
    session: Option<Session>,
}

impl PostgresWriterTask {
    pub(super) fn new(writing: Writing) -> PostgresWriterTask {
        PostgresWriterTask { writing, load: Load::new(), session: None }
    }

    fn with_load<T>(&mut self, work: impl FnOnce(&mut Load, &Loading<'_>) -> Result<T>) -> Result<T> {
        let Writing { plan, places, host, copy_records, copy_bytes, .. } = &self.writing;
        let session = self.session.as_ref();
        let session = session.ok_or_else(|| Error::internal("a writer task was used before it was prepared"))?;
        let (copy_records, copy_bytes) = (*copy_records, *copy_bytes);
        work(&mut self.load, &Loading { session, plan, places, host, copy_records, copy_bytes })
    }

    /// Ends the transaction for good, and tells what was in it.
    fn commit_transaction(&mut self) -> Result<Report> {
        self.with_load(|load, loading| load.commit(loading))
    }
}

impl WriterTask for PostgresWriterTask {
    fn prepare(&mut self) -> Result<()> {
        self.session = Some(Session::open(&self.writing.server, &self.writing.stop)?);
        Ok(())
    }

    fn write(&mut self, batch: Batch) -> Result<()> {
        self.with_load(|load, loading| load.write(loading, batch))
    }

    /// The server has what was written, in the transaction.
    fn flush(&mut self) -> Result<()> {
        self.with_load(|load, loading| load.end_copy(loading))
    }

    fn checkpoint(&mut self, _epoch: u64) -> Result<Option<Report>> {
        self.commit_transaction().map(Some)
    }

    fn commit(&mut self) -> Result<Report> {
        self.commit_transaction()
    }

    fn abort(&mut self) -> Result<()> {
        self.load = Load::new();
        // Closing the connection rolls back what is not committed.
        self.session = None;
        Ok(())
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.writing.stop.cancel_handle())
    }
}

//! Writing a task's records: one transaction, one prepared statement, one step for each record.
//!
//! A record that SQLite refuses is undone by SQLite alone, and the transaction goes on. Statements of many records were
//! measured and are slower: SQLite spends its time in the rows, not between them.

use std::sync::Arc;

use arrow_array::RecordBatch;
use rusqlite::types::ToSqlOutput;
use rusqlite::{CachedStatement, Connection, ErrorCode};
use transship_plugin_api::batch::dirty_row;
use transship_plugin_api::row::{Rows, Value};
use transship_plugin_api::{Batch, CancelHandle, Error, HostRef, Report, Result, WriterTask};

use super::insert::Insert;
use super::store::{Cause, Place, stored};
use crate::connection::{Access, Database, words};

/// Records written between two looks at whether to stop.
const RECORDS_BETWEEN_LOOKS: usize = 1024;

/// The cause of a record that SQLite took without an error and did not write.
const LEFT_OUT: &str = "ignored: SQLite kept the row that is there, or a trigger left the record out";

/// One attempt at writing.
pub(super) struct SqliteWriterTask {
    pub(super) database: Database,
    pub(super) insert: Arc<Insert>,
    /// The columns to fill, in the order of the record's.
    pub(super) places: Vec<Place>,
    pub(super) host: HostRef,
    pub(super) connection: Option<Connection>,
    /// What was written since the last commit or checkpoint.
    pub(super) report: Report,
}

/// Why a record is not in the table.
enum Refusal {
    /// Its key is there already, and the job said to leave such records out.
    Duplicate,
    /// The record is at fault.
    Dirty { column: Option<usize>, cause: Cause },
    /// The attempt is over.
    Failed(Error),
}

impl SqliteWriterTask {
    fn connection(&self) -> Result<&Connection> {
        self.connection.as_ref().ok_or_else(|| Error::internal("a writer task was used before it was prepared"))
    }

    /// Begins the transaction when the first record is there: the file is not locked while the reader still looks for it.
    fn begin(&self) -> Result<&Connection> {
        let connection = self.connection()?;
        if connection.is_autocommit() {
            self.database.stop.forget_waiting();
            self.database.stop.doing("BEGIN IMMEDIATE");
            let begin = connection.execute_batch("BEGIN IMMEDIATE");
            begin.map_err(|error| self.database.failed("beginning a transaction", error))?;
        }
        Ok(connection)
    }

    /// Undoes what a connection could not undo itself, having met a full disk or a broken one: the journal that it left is
    /// played back when the file is next opened, so that is done now.
    fn play_back_journal(&self) {
        let mut journal = self.database.path.clone().into_os_string();
        journal.push("-journal");
        // It may be that of somebody else, who is writing: then SQLite leaves it alone.
        if std::path::Path::new(&journal).exists()
            && let Err(error) = self.database.open(Access::Write)
        {
            log::warn!("{error}; what the failed attempt has written is undone by whoever opens the file next");
        }
    }

    /// Ends the transaction for good, and tells what was in it.
    fn commit_transaction(&mut self) -> Result<Report> {
        let connection = self.connection()?;
        if !connection.is_autocommit() {
            self.database.stop.doing("COMMIT");
            let commit = connection.execute_batch("COMMIT");
            commit.map_err(|error| self.database.failed("committing", error))?;
        }
        Ok(std::mem::take(&mut self.report))
    }

    fn write_record<'v>(
        &self,
        connection: &Connection,
        statement: &mut CachedStatement<'_>,
        values: impl Iterator<Item = Value<'v>>,
        scratch: &mut String,
    ) -> Result<(), Refusal> {
        for (column, (place, value)) in self.places.iter().zip(values).enumerate() {
            let value =
                stored(place, value, scratch).map_err(|cause| Refusal::Dirty { column: Some(column), cause })?;
            let bound = statement.raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(value));
            bound.map_err(|error| self.refusal(connection, error))?;
        }
        let executed = statement.raw_execute();
        if self.database.stop.has_waited_in_vain() {
            return Err(Refusal::Failed(self.database.locked(format_args!("writing into {}", self.insert.table))));
        }
        match executed {
            Ok(0) if self.insert.skips_duplicates => Err(Refusal::Duplicate),
            Ok(0) => Err(Refusal::Dirty { column: None, cause: LEFT_OUT.into() }),
            Ok(_) => Ok(()),
            Err(error) => Err(self.refusal(connection, error)),
        }
    }

    fn refusal(&self, connection: &Connection, error: rusqlite::Error) -> Refusal {
        let is_the_records_fault = matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig)
        );
        let table = &self.insert.table;
        if connection.is_autocommit() {
            let doing = format!("SQLite has rolled the whole transaction back, writing into {table}");
            return Refusal::Failed(self.database.failed(doing, error));
        }
        if !is_the_records_fault {
            return Refusal::Failed(self.database.failed(format_args!("writing into {table}"), error));
        }
        let cause = words(&error);
        Refusal::Dirty { column: self.column_in(&cause), cause }
    }

    /// The column that a message like `UNIQUE constraint failed: t.id` is about, if it is one of the record's.
    fn column_in(&self, message: &str) -> Option<usize> {
        // Of several, `t.a, t.b`, the first.
        let (_, after) = message.split_once(&format!("{}.", self.insert.table))?;
        let exactly = |column: &str| self.places.iter().position(|place| place.name == column);
        exactly(after).or_else(|| exactly(after.split(", ").next()?))
    }

    fn report_dirty(
        &self,
        records: &RecordBatch,
        row: usize,
        position: u64,
        column: Option<usize>,
        cause: &str,
    ) -> Result<()> {
        dirty_row(self.host.as_ref(), records, row, Some(position), column, cause)
    }
}

impl WriterTask for SqliteWriterTask {
    fn prepare(&mut self) -> Result<()> {
        self.connection = Some(self.database.open(Access::Write)?);
        Ok(())
    }

    fn write(&mut self, mut batch: Batch) -> Result<()> {
        let origin = std::mem::take(&mut batch.origin);
        let bytes = batch.bytes;
        let records = batch.into_records()?;
        let connection = self.begin()?;
        let statement = connection.prepare_cached(&self.insert.sql);
        let mut statement = statement.map_err(|error| self.database.refused(&self.insert.sql, None, error))?;
        let (mut written, mut duplicates, mut scratch) = (0, 0, String::new());
        for (row, values) in Rows::new(&records).iter().enumerate() {
            if row % RECORDS_BETWEEN_LOOKS == 0 && self.database.stop.is_stopped() {
                return Err(Error::cancelled());
            }
            match self.write_record(connection, &mut statement, values.values(), &mut scratch) {
                Ok(()) => written += 1,
                Err(Refusal::Duplicate) => duplicates += 1,
                Err(Refusal::Dirty { column, cause }) => {
                    self.report_dirty(&records, row, origin.position(row), column, &cause)?;
                }
                Err(Refusal::Failed(error)) => return Err(error),
            }
        }
        drop(statement);
        self.report.written += written;
        self.report.duplicates += duplicates;
        self.report.bytes += bytes as u64;
        Ok(())
    }

    /// SQLite has what was written, in the transaction.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn checkpoint(&mut self, _epoch: u64) -> Result<Option<Report>> {
        self.commit_transaction().map(Some)
    }

    fn commit(&mut self) -> Result<Report> {
        self.commit_transaction()
    }

    fn abort(&mut self) -> Result<()> {
        // Closing the connection rolls back what is not committed.
        if self.connection.take().is_some() {
            self.play_back_journal();
        }
        self.report = Report::default();
        Ok(())
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.database.stop.cancel_handle())
    }
}

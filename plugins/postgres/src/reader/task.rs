//! Reading a split: rows go from the connection's buffer straight into the columns of a batch, in the thread that asks for it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use futures_util::StreamExt;
use tokio_postgres::CopyOutStream;
use transship_plugin_api::{CancelHandle, Error, HostRef, Item, ReadOptions, ReaderTask, Result};

use super::State;
use super::batch::BatchInTheMaking;
use super::idle::Idle;
use super::select::Select;
use super::shape::Shape;
use super::snapshot::Snapshot;
use crate::binary::rows::{Found, Rows};
use crate::session::{Server, Session, Stop};

/// All that a task needs.
pub(super) struct Reading {
    pub(super) server: Arc<Server>,
    pub(super) stop: Stop,
    pub(super) idle: Arc<Idle>,
    pub(super) snapshot: Snapshot,
    pub(super) select: Select,
    pub(super) state: Arc<State>,
    /// The name of the split, for messages.
    pub(super) label: String,
    pub(super) options: ReadOptions,
    pub(super) host: HostRef,
}

/// One attempt at reading a split.
pub(super) struct PostgresReaderTask {
    reading: Reading,
    // Before the connection that it belongs to.
    open: Option<Open>,
    ended: bool,
}

struct Open {
    stream: Pin<Box<CopyOutStream>>,
    rows: Rows,
    batch: BatchInTheMaking,
    session: Session,
}

impl PostgresReaderTask {
    pub(super) fn new(reading: Reading) -> PostgresReaderTask {
        PostgresReaderTask { reading, open: None, ended: false }
    }
}

impl ReaderTask for PostgresReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        let Reading { server, stop, idle, snapshot, select, state, label, options, host } = &self.reading;
        let session = idle.take(server, stop, snapshot)?;
        let shape = &state.shape;
        let found = Shape::of(&session, select, None)?;
        if !shape.reads(&found) {
            let problem = "the columns have been changed since the job began: run it again";
            return Err(Error::schema(format!("{}: {label}: {problem}", server.place)));
        }
        let stream = Box::pin(session.copy_out(format_args!("reading {label}"), &select.copy(shape))?);
        let schema = shape.schema();
        let batch = BatchInTheMaking::new(shape, schema.clone(), options, host.clone());
        self.open = Some(Open { stream, rows: Rows::default(), batch, session });
        Ok(schema)
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        if self.ended {
            return Ok(Item::End);
        }
        let label = &self.reading.label;
        let Some(mut open) = self.open.take() else {
            return Err(Error::internal("records were asked of a reader task that is not prepared, or has failed"));
        };
        let Open { stream, rows, batch, session } = &mut open;
        let filled = session.wait_for(timeout, fill(stream.as_mut(), rows, batch))?;
        let progress = match filled {
            // What has come so far stays in the batch.
            None => None,
            Some(Ok(progress)) => Some(progress),
            Some(Err(Trouble::Connection(error))) => return Err(session.failed(format_args!("reading {label}"), error)),
            Some(Err(Trouble::Row(error))) => return Err(error),
        };
        match progress {
            None => {
                self.open = Some(open);
                Ok(Item::Idle)
            }
            Some(Progress::Full) => {
                let batch = open.batch.finish()?;
                self.open = Some(open);
                // All rows of it may have been dirty.
                Ok(batch.map_or(Item::Idle, Item::Batch))
            }
            Some(Progress::End) => {
                self.ended = true;
                let batch = open.batch.finish()?;
                drop(open.stream);
                self.reading.idle.keep(open.session);
                Ok(batch.map_or(Item::End, Item::Batch))
            }
        }
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.reading.stop.cancel_handle())
    }
}

enum Progress {
    Full,
    End,
}

enum Trouble {
    Connection(tokio_postgres::Error),
    Row(Error),
}

/// Takes rows until the batch is full. It can be given up at any moment, and goes on where it was.
async fn fill(
    mut stream: Pin<&mut CopyOutStream>,
    rows: &mut Rows,
    batch: &mut BatchInTheMaking,
) -> Result<Progress, Trouble> {
    loop {
        match rows.next(batch.columns()).map_err(Trouble::Row)? {
            Found::Row => {
                batch.take(rows).map_err(Trouble::Row)?;
                rows.pass();
                if batch.is_full() {
                    return Ok(Progress::Full);
                }
            }
            Found::NeedsMore => match stream.next().await {
                Some(Ok(message)) => rows.feed(message),
                Some(Err(error)) => return Err(Trouble::Connection(error)),
                None => return Err(Trouble::Row(Error::io("the server ended the rows in the middle").retryable(true))),
            },
            // What follows has to be waited for: it may be an error.
            Found::End => match stream.next().await {
                None => return Ok(Progress::End),
                Some(Err(error)) => return Err(Trouble::Connection(error)),
                Some(Ok(_)) => return Err(Trouble::Row(Error::io("the server sent more behind the end of the rows"))),
            },
        }
    }
}

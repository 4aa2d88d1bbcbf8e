//! A connection to a server: opening it, running statements on it, stopping them, and the server's errors in our words.
//!
//! The client is asynchronous. Each connection has a runtime of its own that runs in the thread of whoever waits for an answer:
//! while nobody does, nothing is read or sent, and the server feels the backpressure.

mod server;
mod stop;
mod tls;
mod words;

use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{join, poll_fn};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{AsyncMessage, Client, CopyInSink, CopyOutStream, SimpleQueryMessage, Statement};
use transship_plugin_api::{Error, Result};

pub(crate) use server::Server;
pub(crate) use stop::Stop;
use words::lost_by;
pub(crate) use words::{Constraint, Refused, Told};

/// How long to wait until a server has taken a request to cancel a statement.
const CANCEL_PATIENCE: Duration = Duration::from_secs(2);

/// A connection.
pub(crate) struct Session {
    pub(crate) server: Arc<Server>,
    stop: Stop,
    client: Client,
    /// Why the connection ended, once it has.
    ending: Arc<Mutex<Option<tokio_postgres::Error>>>,
    /// What functions of ours have told since it was asked for last.
    told: Arc<Mutex<Vec<Told>>>,
    // Dropped last: its tasks use what is above.
    runtime: Runtime,
}

impl Session {
    /// Connects, and runs the session's statements.
    pub(crate) fn open(server: &Arc<Server>, stop: &Stop) -> Result<Session> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|error| Error::from(error).context("starting the client"))?;
        stop.doing(&format!("connecting to {}", server.place));
        let connect = server.config.connect(server.tls.clone());
        let (client, mut connection) = match runtime.block_on(stop.race(connect)) {
            None => return Err(Error::cancelled()),
            Some(Err(error)) => return Err(server.unreachable(error)),
            Some(Ok(both)) => both,
        };
        let (ending, told) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(Vec::new())));
        let (keeper, listener) = (ending.clone(), told.clone());
        runtime.spawn(async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                match message {
                    Ok(AsyncMessage::Notice(notice)) => match Told::of(&notice) {
                        Some(ours) => lock(&listener).push(ours),
                        None => log::info!("{}: {}", notice.severity(), notice.message()),
                    },
                    Ok(_) => {}
                    Err(error) => {
                        *lock(&keeper) = Some(error);
                        break;
                    }
                }
            }
        });
        let session = Session { server: server.clone(), stop: stop.clone(), client, ending, told, runtime };
        session.execute("setting the connection up", &server.setting_up())?;
        for statement in &server.statements {
            session.execute(format_args!("the session statement \"{statement}\""), statement)?;
        }
        Ok(session)
    }

    /// The same connection, where something else ends the work on it.
    pub(crate) fn until(self, stop: Stop) -> Session {
        Session { stop, ..self }
    }

    /// Runs statements, one or several, whose rows nobody wants.
    pub(crate) fn execute(&self, doing: impl Display, sql: &str) -> Result<()> {
        self.stop.doing(sql);
        self.wait(self.client.batch_execute(sql))?.map_err(|error| self.failed(doing, error))
    }

    /// Runs statements of the job's.
    pub(crate) fn try_execute(&self, sql: &str) -> Result<Result<(), tokio_postgres::Error>> {
        self.stop.doing(sql);
        self.wait(self.client.batch_execute(sql))
    }

    /// Commits the transaction. If the connection is lost meanwhile, nobody knows what has become of it, so that another attempt
    /// might write everything twice.
    pub(crate) fn commit(&self) -> Result<()> {
        let doing = "committing";
        self.stop.doing("COMMIT");
        match self.wait(self.client.batch_execute("COMMIT"))? {
            Ok(()) => Ok(()),
            Err(error) if lost_by(&error) => {
                let lost = self.failed(doing, error).retryable(false);
                Err(lost.context("whether the records of this task have been committed is not known"))
            }
            Err(error) => Err(self.failed(doing, error)),
        }
    }

    /// Runs one statement, and tells how many rows it has changed.
    pub(crate) fn count(&self, sql: &str) -> Result<Result<u64, Refused>> {
        self.stop.doing(sql);
        let changed = self.wait(async {
            let answers = self.client.simple_query(sql).await?;
            let counts = answers.iter().filter_map(|answer| match answer {
                SimpleQueryMessage::CommandComplete(count) => Some(*count),
                _ => None,
            });
            Ok(counts.last().unwrap_or(0))
        })?;
        self.or_refused(changed)
    }

    /// Runs a query, every value as text.
    pub(crate) fn ask(&self, doing: impl Display, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.stop.doing(sql);
        let answers = self.wait(self.client.simple_query(sql))?.map_err(|error| self.failed(doing, error))?;
        let rows = answers.iter().filter_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|index| row.get(index).map(String::from)).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }

    /// Has the server look at a query without running it.
    pub(crate) fn describe(&self, sql: &str) -> Result<Result<Statement, tokio_postgres::Error>> {
        self.stop.doing(sql);
        self.wait(self.client.prepare(sql))
    }

    /// What functions of ours have told since this was asked last.
    pub(crate) fn told(&self) -> Vec<Told> {
        std::mem::take(&mut *lock(&self.told))
    }

    /// Begins `COPY … TO STDOUT`.
    pub(crate) fn copy_out(&self, doing: impl Display, sql: &str) -> Result<CopyOutStream> {
        self.stop.doing(sql);
        self.wait(self.client.copy_out(sql))?.map_err(|error| self.failed(doing, error))
    }

    /// Has the server look at a statement of ours.
    pub(crate) fn prepare(&self, doing: impl Display, sql: &str) -> Result<Statement> {
        self.describe(sql)?.map_err(|error| self.failed(doing, error))
    }

    /// Begins `COPY … FROM STDIN`, behind other statements if there are any to run before: both are sent together, so that the
    /// server need be waited for only once. `words`: the COPY as a person writes it.
    pub(crate) fn copy_in(
        &self,
        before: Option<&str>,
        copy: &Statement,
        words: &str,
    ) -> Result<Result<CopyInSink<Bytes>, tokio_postgres::Error>> {
        self.stop.doing(words);
        self.wait(async {
            let copy = self.client.copy_in(copy);
            match before {
                None => copy.await,
                Some(sql) => {
                    let (done, copy) = join(self.client.batch_execute(sql), copy).await;
                    done.and(copy)
                }
            }
        })
    }

    /// Waits for an answer of the server, until it comes or the task is to stop.
    pub(crate) fn wait<F: Future>(&self, work: F) -> Result<F::Output> {
        match self.runtime.block_on(self.stop.race(work)) {
            Some(output) => Ok(output),
            None => {
                self.cancel_statement();
                Err(Error::cancelled())
            }
        }
    }

    /// As [`Session::wait`], but no longer than this; then `None`, and the work is given up.
    pub(crate) fn wait_for<F: Future>(&self, patience: Duration, work: F) -> Result<Option<F::Output>> {
        self.wait(async { tokio::time::timeout(patience, work).await.ok() })
    }

    /// What the server refused, or the error of a lost connection.
    pub(crate) fn or_refused<T>(&self, outcome: Result<T, tokio_postgres::Error>) -> Result<Result<T, Refused>> {
        match outcome {
            Ok(value) => Ok(Ok(value)),
            Err(error) => match Refused::of(&error) {
                Some(refused) => Ok(Err(refused)),
                None => Err(self.failed("writing", error)),
            },
        }
    }

    /// An error of the client or the server, with what was being done and where.
    pub(crate) fn failed(&self, doing: impl Display, error: tokio_postgres::Error) -> Error {
        if self.stop.is_stopped() {
            return Error::cancelled();
        }
        // A closed connection does not say why; what ended it does.
        let ending = lock(&self.ending).take();
        self.server.failed(doing, if error.is_closed() { ending.unwrap_or(error) } else { error })
    }

    /// Has the server give up the statement that is running: it would notice a closed connection only at its end.
    fn cancel_statement(&self) {
        let token = self.client.cancel_token();
        let request = token.cancel_query(self.server.tls.clone());
        let outcome = self.runtime.block_on(async { tokio::time::timeout(CANCEL_PATIENCE, request).await });
        if !matches!(outcome, Ok(Ok(()))) {
            log::debug!("{} did not take the request to cancel a statement", self.server.place);
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Connections to a database file: opening one, waiting for locks, stopping, and SQLite's errors in our words.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use transship_plugin_api::{CancelHandle, Error, HostRef, Kind, Result};

use crate::config::Manners;

/// Characters of a statement that a message shows.
const LONGEST_EXCERPT: usize = 200;
/// Steps of SQLite's virtual machine between two looks at [`Stop`]: about a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;
/// Memory for pages that are being changed, in KiB: with SQLite's own 2 MiB an index of random keys takes twice as long to fill.
const WRITE_CACHE_KIB: i32 = 32 << 10;

/// What may be done with a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reading only; the file must be there.
    Read,
    /// Writing; the file must be there.
    Write,
    /// Writing; the file is made if it is not there.
    Create,
}

/// Ends the work on a connection, also while a statement runs or waits for a lock.
#[derive(Clone)]
pub(crate) struct Stop {
    host: HostRef,
    state: Arc<StopState>,
}

#[derive(Default)]
struct StopState {
    stopped: AtomicBool,
    waited_in_vain: AtomicBool,
    /// What pauses wait on; the flag is set under this lock, so that no pause can miss it.
    lock: Mutex<()>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn new(host: HostRef) -> Stop {
        Stop { host, state: Arc::default() }
    }

    pub(crate) fn stop(&self) {
        let _guard = self.state.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.state.stopped.store(true, Ordering::Relaxed);
        self.state.changed.notify_all();
    }

    /// Tells the engine what is about to be waited for.
    pub(crate) fn doing(&self, what: &str) {
        self.host.doing(what);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.state.stopped.load(Ordering::Relaxed) || self.host.is_cancelled()
    }

    /// Whether a lock was waited for until patience was at an end.
    ///
    /// SQLite does not always tell: if it cannot write a page out to make room for another because the file is being read, it
    /// waits, and then takes more memory, for every page again.
    pub(crate) fn has_waited_in_vain(&self) -> bool {
        self.state.waited_in_vain.load(Ordering::Relaxed)
    }

    /// Starts anew: whatever was waited for in vain is no longer of interest.
    pub(crate) fn forget_waiting(&self) {
        self.state.waited_in_vain.store(false, Ordering::Relaxed);
    }

    pub(crate) fn cancel_handle(&self) -> CancelHandle {
        let stop = self.clone();
        Arc::new(move || stop.stop())
    }

    /// Waits for so long, or until it is stopped.
    fn pause(&self, length: Duration) {
        let guard = self.state.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let unstopped = |_: &mut ()| !self.state.stopped.load(Ordering::Relaxed);
        let _ = self.state.changed.wait_timeout_while(guard, length, unstopped);
    }
}

/// A database file, the way to open it, and what ends the work on it.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) path: PathBuf,
    pub(crate) manners: Manners,
    pub(crate) stop: Stop,
}

impl Database {
    /// Opens a connection and runs the session's statements on it.
    pub(crate) fn open(&self, access: Access) -> Result<Connection> {
        if access != Access::Create && !self.path.exists() {
            return Err(Error::io(format!("the database file {} does not exist", self.path.display())));
        }
        let flags = match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Access::Create => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let connection = Connection::open_with_flags(&self.path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let mut connection = connection.map_err(|error| self.failed("opening it", error))?;
        self.prepare(&mut connection, access).map_err(|error| self.failed("opening it", error))?;
        for statement in &self.manners.session {
            self.stop.doing(statement);
            let run = connection.execute_batch(statement);
            run.map_err(|error| self.refused(statement, Some("session"), error))?;
        }
        Ok(connection)
    }

    fn prepare(&self, connection: &mut Connection, access: Access) -> rusqlite::Result<()> {
        // A misspelt column in double quotes is an error, not a text.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        // As SQLite itself has it, and unlike the bundled build: a session statement can turn it on.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)?;
        let looking = self.stop.clone();
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || looking.is_stopped()))?;
        let (waiting, patience) = (self.stop.clone(), self.manners.patience);
        let mut since = Instant::now();
        connection.busy_handler(Some(move |attempt: i32| {
            if attempt == 0 {
                since = Instant::now();
            }
            let left = patience.saturating_sub(since.elapsed());
            if waiting.is_stopped() {
                return false;
            }
            if left.is_zero() {
                waiting.state.waited_in_vain.store(true, Ordering::Relaxed);
                return false;
            }
            waiting.pause(left.min(Duration::from_millis(1 << attempt.clamp(0, 6))));
            true
        }))?;
        // After the handlers, since it looks into the file, which may be locked.
        if access != Access::Read {
            connection.pragma_update(None, "cache_size", -WRITE_CACHE_KIB)?;
        }
        // The first look into the file: tells whether it is a database at all.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    }

    /// The same file, where something else ends the work on it.
    pub(crate) fn until(&self, stop: Stop) -> Database {
        Database { stop, ..self.clone() }
    }

    /// An error of SQLite, with what was being done and with the file.
    pub(crate) fn failed(&self, doing: impl Display, error: rusqlite::Error) -> Error {
        self.told(error, &doing, |reason| format!("{doing}: {reason}"))
    }

    /// An error of SQLite over a statement, `key` being the parameter that it comes from. The reason is said first: statements
    /// may be long.
    pub(crate) fn refused(&self, sql: &str, key: Option<&str>, error: rusqlite::Error) -> Error {
        let statement = match &error {
            rusqlite::Error::SqlInputError { sql, offset, .. } => excerpt(sql, usize::try_from(*offset).unwrap_or(0)),
            _ => excerpt(sql, 0),
        };
        let of = key.map_or(String::new(), |key| format!(" of \"{key}\""));
        self.told(error, format_args!("\"{statement}\"{of}"), |reason| format!("{reason}, in \"{statement}\"{of}"))
    }

    /// An error of SQLite in our words: `tell` puts a sentence around the reason.
    fn told(&self, error: rusqlite::Error, doing: impl Display, tell: impl Fn(&str) -> String) -> Error {
        let said = words(&error);
        let (kind, reason) = match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => return Error::cancelled(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) if self.stop.is_stopped() => {
                return Error::cancelled();
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => return self.locked(doing).with_source(error),
            Some(ErrorCode::DiskFull) => (Kind::Io, format!("the disk is full ({said})")),
            Some(ErrorCode::NotADatabase) => (Kind::Io, format!("this is not a SQLite database ({said})")),
            Some(ErrorCode::Unknown) | None if said.contains("no such") => (Kind::Schema, said),
            Some(ErrorCode::Unknown) | None => (Kind::Config, said),
            Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig) => (Kind::Data, said),
            Some(ErrorCode::InternalMalfunction | ErrorCode::ApiMisuse) => (Kind::Internal, said),
            Some(_) => (Kind::Io, said),
        };
        Error::new(kind, format!("{}: {}", self.path.display(), tell(&reason))).with_source(error)
    }

    /// The error that another connection did not give the lock back in time.
    pub(crate) fn locked(&self, doing: impl Display) -> Error {
        let problem = format!(
            "{}: {doing}: another connection has had the file locked for {} s: try again later, raise \"busyTimeout\", or, \
             where the file is read while it is written, set \"pragma journal_mode = wal\" on it",
            self.path.display(),
            self.manners.patience.as_secs_f32()
        );
        Error::io(problem).retryable(true)
    }
}

/// SQLite's own words for an error, without the code around them.
pub(crate) fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::MultipleStatement => "several statements where one is expected".into(),
        other => other.to_string(),
    }
}

/// A statement as messages show it: whole if it is short, or else the part around this byte.
pub(crate) fn excerpt(sql: &str, around: usize) -> String {
    let characters: Vec<char> = sql.chars().collect();
    if characters.len() <= LONGEST_EXCERPT {
        return sql.into();
    }
    let before = sql.char_indices().take_while(|(at, _)| *at < around).count();
    let start = before.saturating_sub(LONGEST_EXCERPT / 2).min(characters.len() - LONGEST_EXCERPT);
    let end = start + LONGEST_EXCERPT;
    let shown: String = characters[start..end].iter().collect();
    let dots = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{shown}{}", dots(start > 0), dots(end < characters.len()))
}

#[cfg(test)]
mod tests;

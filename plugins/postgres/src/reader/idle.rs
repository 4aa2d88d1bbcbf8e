//! Connections that a task has read its split on, for the next one: opening a connection costs the server a process.

use std::sync::{Arc, Mutex, PoisonError};

use transship_plugin_api::{Kind, Result};

use super::snapshot::Snapshot;
use crate::session::{Server, Session, Stop};

/// Connections to one server that nobody uses.
#[derive(Default)]
pub(super) struct Idle {
    sessions: Mutex<Vec<Session>>,
}

impl Idle {
    /// A connection in a transaction that sees the moment.
    pub(super) fn take(&self, server: &Arc<Server>, stop: &Stop, snapshot: &Snapshot) -> Result<Session> {
        let idle = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(session) = idle {
            let session = session.until(stop.clone());
            match snapshot.enter(&session) {
                Ok(()) => return Ok(session),
                Err(error) if error.kind() == Kind::Cancelled => return Err(error),
                // The server may have grown tired of it.
                Err(error) => log::debug!("an idle connection is of no use any more: {error}"),
            }
        }
        let session = Session::open(server, stop)?;
        snapshot.enter(&session)?;
        Ok(session)
    }

    /// Keeps a connection on which all has been read.
    pub(super) fn keep(&self, session: Session) {
        // It has only read: there is nothing to lose if it cannot be used again.
        if session.execute("ending a transaction", "COMMIT").is_ok() {
            self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        }
    }
}

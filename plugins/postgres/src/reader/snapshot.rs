//! The moment that a job reads: all its tasks see the database as it was when the job began.

use serde::{Deserialize, Serialize};
use transship_plugin_api::Result;

use crate::session::Session;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A moment, as other connections can take it over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    /// `None`: each task sees the moment at which it begins.
    id: Option<String>,
}

impl Snapshot {
    /// Fixes the moment. It lasts as long as the connection, which has a transaction open from now on. That transaction has
    /// looked at no table, so it holds no lock: a TRUNCATE of the job's writer need not wait for it.
    pub(super) fn take(session: &Session, wanted: bool) -> Result<Snapshot> {
        if !wanted {
            return Ok(Snapshot { id: None });
        }
        let taken = session.execute("beginning a transaction", BEGIN).and_then(|()| {
            let rows = session.ask("fixing the moment that is read", "SELECT pg_export_snapshot()")?;
            Ok(rows.into_iter().next().and_then(|row| row.into_iter().next().flatten()))
        });
        match taken {
            Ok(id) => Ok(Snapshot { id }),
            Err(error) if error.kind() == transship_plugin_api::Kind::Cancelled || error.is_retryable() => Err(error),
            Err(error) => {
                log::warn!("{error}; each task reads the data of the moment at which it begins");
                session.execute("going on without a snapshot", "ROLLBACK")?;
                Ok(Snapshot { id: None })
            }
        }
    }

    /// Begins a transaction that sees the moment.
    pub(super) fn enter(&self, session: &Session) -> Result<()> {
        let Some(id) = &self.id else { return session.execute("beginning a transaction", BEGIN) };
        let id = transship_sql::Dialect::text(&transship_sql::Postgres, id);
        let entered = session.execute("beginning a transaction", &format!("{BEGIN}; SET TRANSACTION SNAPSHOT {id}"));
        match entered {
            Err(error) if error.kind() != transship_plugin_api::Kind::Cancelled && !error.is_retryable() => {
                log::warn!("{error}; the task reads the data of the moment at which it begins");
                session.execute("beginning a transaction", &format!("ROLLBACK; {BEGIN}"))
            }
            entered => entered,
        }
    }

    /// Asks something on the connection that keeps the snapshot, and gives the locks back that this took.
    pub(super) fn ask(&self, session: &Session, doing: &str, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        if self.id.is_none() {
            return session.ask(doing, sql);
        }
        session.execute(doing, "SAVEPOINT looking")?;
        let rows = session.ask(doing, sql);
        session.execute(doing, "ROLLBACK TO SAVEPOINT looking; RELEASE SAVEPOINT looking")?;
        rows
    }
}

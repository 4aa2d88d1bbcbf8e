//! The COPY has been refused: it is undone, the records at fault are found, and all others are written.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;
use std::time::Duration;

use transship_plugin_api::batch::dirty_row;
use transship_plugin_api::{Error, Kind, Result};
use transship_sql::retry::{Schedule, with_retries};
use transship_sql::write::{BadRow, RowsError, store};

use super::load::{GO_BACK, Load, Loading, Waiting};
use super::sieve::Learnt;
use super::stream::{Format, Stream, lanes};
use crate::session::Refused;

impl Load {
    /// The COPY has been refused: finds the records at fault, and writes all others.
    pub(super) fn recover(&mut self, loading: &Loading<'_>, refused: Refused) -> Result<()> {
        loading.session.execute("going back to a savepoint", GO_BACK)?;
        let waiting = self.waiting();
        // Up to here everything is known.
        let mut known = 0;
        let judged = self.judge(loading, refused.clone(), 0..waiting.len());
        if let RowsError::All(error) = judged {
            return Err(error);
        }
        // Then all records are sent as before: the server leaves the bad ones out.
        let is_sifted = self.is_sifted_now(loading, &refused)?;
        match judged {
            _ if is_sifted => {}
            RowsError::Row(found) => {
                known = found.row + 1;
                let mut bad = store(0..found.row, &mut |rows| self.attempt(loading, &waiting, rows))?;
                bad.push(found);
                self.found(loading, &waiting, 0..known, &bad)?;
            }
            RowsError::Some(_) | RowsError::All(_) => {}
        }
        while known < waiting.len() {
            // In smaller parts than it was sent: where there is one bad record there may be more.
            let end = waiting.len().min(known.saturating_add(self.failures.records_of_a_copy()));
            let bad = store(known..end, &mut |rows| self.attempt(loading, &waiting, rows))?;
            // At once: it may be one too many for the job.
            self.found(loading, &waiting, known..end, &bad)?;
            known = end;
        }
        self.done();
        Ok(())
    }

    /// Of these records, these were bad, and all others are written.
    fn found(
        &mut self,
        loading: &Loading<'_>,
        waiting: &[Waiting],
        records: Range<usize>,
        bad: &[BadRow],
    ) -> Result<()> {
        self.failures.found(records, bad.iter().map(|bad| bad.row));
        bad.iter().try_for_each(|bad| self.report_dirty(loading, waiting[bad.row], bad.column, &bad.cause))
    }

    /// Reports records of a COPY that the server has left out.
    pub(super) fn report_left_out(&self, loading: &Loading<'_>, sent: &[Waiting], left_out: &[BadRow]) -> Result<()> {
        left_out.iter().try_for_each(|bad| self.report_dirty(loading, sent[bad.row], bad.column, &bad.cause))
    }

    fn report_dirty(
        &self,
        loading: &Loading<'_>,
        (number, row): Waiting,
        column: Option<usize>,
        cause: &str,
    ) -> Result<()> {
        let held = self.batch(number);
        dirty_row(loading.host.as_ref(), &held.records, row, Some(held.origin.position(row)), column, cause)
    }

    /// Whether the check that was broken is a condition from now on.
    fn is_sifted_now(&mut self, loading: &Loading<'_>, refused: &Refused) -> Result<bool> {
        match self.sieve.learn(loading, refused)? {
            Learnt::Nothing => Ok(false),
            Learnt::Failed => {
                loading.session.execute("going back to a savepoint", GO_BACK)?;
                Ok(false)
            }
            Learnt::Condition => {
                self.change_sieve();
                self.savepoint_due = true;
                self.make_safe(loading)?;
                Ok(true)
            }
        }
    }

    /// Writes some of the waiting records with a COPY of their own.
    fn attempt(&mut self, loading: &Loading<'_>, waiting: &[Waiting], rows: Range<usize>) -> Result<(), RowsError> {
        // A deadlock undoes no more than what stands behind the savepoint.
        let outcome = unless_locked(loading, || {
            let sent = self.send(loading, waiting, rows.clone())?;
            if sent.is_err() {
                loading.session.execute("going back to a savepoint", GO_BACK)?;
            }
            Ok(sent)
        });
        match outcome? {
            Ok(left_out) => Ok(self.report_left_out(loading, &waiting[rows], &left_out)?),
            Err(refused) => Err(self.judge(loading, refused, rows)),
        }
    }

    fn send(
        &mut self,
        loading: &Loading<'_>,
        waiting: &[Waiting],
        rows: Range<usize>,
    ) -> Result<Result<Vec<BadRow>, Refused>> {
        let all = &waiting[rows];
        let formats: &[Format] = match loading.usual_format() {
            Format::Binary => &[Format::Binary, Format::Text],
            Format::Text => &[Format::Text],
        };
        for format in formats {
            if let Some(stream) = self.encode(loading, all, *format)? {
                return match stream {
                    Ok(stream) => self.take(loading, stream, all.len()),
                    Err(refused) => Ok(Err(refused)),
                };
            }
            // One of them can be read by the server only; what it has got of the others is undone.
            loading.session.execute("going back to a savepoint", GO_BACK)?;
        }
        Err(Error::internal("a record that had been sent could not be sent again"))
    }

    /// A COPY of these records that is not ended yet; `None` if the format does not take one of them.
    fn encode(
        &mut self,
        loading: &Loading<'_>,
        all: &[Waiting],
        format: Format,
    ) -> Result<Option<Result<Stream, Refused>>> {
        let Loading { session, places, .. } = loading;
        let mut stream = self.begin_copy(loading, format)?;
        for of_batch in all.chunk_by(|one, other| one.0 == other.0) {
            let lanes = lanes(&self.batch(of_batch[0].0).records, places);
            for (_, row) in of_batch {
                if stream.add(&lanes, *row).is_err() {
                    return Ok(None);
                }
                if let Err(refused) = stream.send_if_much(session)? {
                    return Ok(Some(Err(refused)));
                }
            }
        }
        Ok(Some(Ok(stream)))
    }

    /// What a refusal says of the records that were sent.
    fn judge(&mut self, loading: &Loading<'_>, refused: Refused, rows: Range<usize>) -> RowsError {
        if refused.repeats_a_key() && !self.repeats_keys {
            // All are written again, this time without those that later ones replace.
            self.repeats_keys = true;
            return RowsError::Some(refused.cause);
        }
        if refused.may_pass() {
            // Somebody else was in the way: the same records are tried again.
            return RowsError::Some(refused.cause);
        }
        if !refused.is_a_records_fault() {
            let (place, table) = (&loading.session.server.place, &loading.plan.table);
            return RowsError::All(Error::new(Kind::Io, format!("{place}: writing into {table}: {}", refused.cause)));
        }
        let (line, column) = refused.place(&loading.plan.copied_table);
        let column = column.and_then(|name| loading.plan.columns.iter().position(|column| column.name == name));
        // Of one record it need not be said.
        let line = line.filter(|line| (1..=rows.len()).contains(line)).or((rows.len() == 1).then_some(1));
        match line {
            Some(line) => RowsError::Row(BadRow { row: rows.start + line - 1, column, cause: refused.cause }),
            None => RowsError::Some(refused.cause),
        }
    }
}

/// Does something again, with growing pauses, as long as somebody else is in the way: a deadlock, or a lock that is not given in
/// time. Whatever else goes wrong is told at once.
pub(super) fn unless_locked<T>(
    loading: &Loading<'_>,
    mut work: impl FnMut() -> Result<Result<T, Refused>>,
) -> Result<Result<T, Refused>> {
    let doing = format!("{}: writing into {}", loading.session.server.place, loading.plan.table);
    let wait = |pause: Duration| loading.session.wait(async move { tokio::time::sleep(pause).await });
    // Those who were in each other's way must not meet again.
    let salt = RandomState::new().build_hasher().finish();
    with_retries(Schedule::LOCKS, salt, &doing, wait, |_| match work() {
        Ok(Err(refused)) if refused.may_pass() => Err(Error::io(format!("{doing}: {}", refused.cause)).retryable(true)),
        // A lost connection cannot be used again, even though another one might do.
        outcome => Ok(outcome),
    })?
}

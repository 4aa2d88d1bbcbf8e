//! Records on their way into the table: in one transaction, COPY by COPY, each behind a savepoint.
//!
//! Records are kept until the COPY that they are in has been taken. If it is refused, it is undone, the bad ones are found, and
//! the others are written again.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use arrow_array::RecordBatch;
use tokio_postgres::Statement;
use transship_plugin_api::batch::dirty_row;
use transship_plugin_api::{Batch, Error, HostRef, Kind, Origin, Report, Result};
use transship_sql::retry::{Schedule, with_retries};
use transship_sql::write::{BadRow, RowsError, store};

use super::failures::Failures;
use super::plan::Plan;
use super::stream::{Format, Stream, Unsent, lanes};
use crate::binary::cells::Refusal;
use crate::place::{Place, Target};
use crate::session::{Refused, Session};

/// Undoes the COPY that was refused, and nothing else.
const GO_BACK: &str = "ROLLBACK TO SAVEPOINT batch";
/// So many records are sent as text when the first one needs the server to read it; each time it is twice as many, up to the
/// other number. Where there is one such record there are often more, and changing the format costs a COPY.
const FIRST_RUN: usize = 1;
const LONGEST_RUN: usize = 1 << 20;

/// What loading needs and does not change.
pub(super) struct Loading<'a> {
    pub(super) session: &'a Session,
    pub(super) plan: &'a Plan,
    pub(super) places: &'a [Place],
    pub(super) host: &'a HostRef,
    pub(super) copy_records: usize,
    pub(super) copy_bytes: usize,
}

impl Loading<'_> {
    /// The format for all records but those that only the server can read. One column that has no binary form is enough for text.
    fn usual_format(&self) -> Format {
        match self.places.iter().any(|place| place.target == Target::Other) {
            true => Format::Text,
            false => Format::Binary,
        }
    }
}

/// The records that a task has in hand, and what it has written.
pub(super) struct Load {
    /// Batches with records that are not safe in the transaction yet.
    held: VecDeque<Held>,
    stream: Option<Stream>,
    /// Records of the COPY that is going on.
    sent: usize,
    bytes: usize,
    failures: Failures,
    /// Records that are still sent as text, because one before them could not be read here.
    as_text: usize,
    /// How many that will be the next time.
    run: usize,
    /// Whether records of one COPY have had the same key: only the last of them may be merged then.
    repeats_keys: bool,
    /// The statements, once they have been needed.
    binary_copy: Option<Statement>,
    text_copy: Option<Statement>,
    /// Whether the transaction is open.
    begun: bool,
    /// Whether what has been taken is not behind the savepoint yet.
    savepoint_due: bool,
    /// Whether the temporary table is there.
    staged: bool,
    pub(super) report: Report,
}

struct Held {
    records: RecordBatch,
    origin: Origin,
    /// From here on they are not safe.
    start: usize,
    /// Up to here they have been sent.
    end: usize,
    /// Rows between that were not sent, in order.
    left_out: Vec<usize>,
}

/// A record that is held: which batch, which row.
type Waiting = (usize, usize);

impl Load {
    pub(super) fn new() -> Load {
        Load {
            held: VecDeque::new(),
            stream: None,
            sent: 0,
            bytes: 0,
            failures: Failures::new(),
            as_text: 0,
            run: FIRST_RUN,
            repeats_keys: false,
            binary_copy: None,
            text_copy: None,
            begun: false,
            savepoint_due: false,
            staged: false,
            report: Report::default(),
        }
    }

    /// Writes a batch, as far as it does not wait for more records to go with them.
    pub(super) fn write(&mut self, loading: &Loading<'_>, batch: Batch) -> Result<()> {
        let rows = batch.num_rows();
        let origin = batch.origin.clone();
        let bytes_per_row = batch.bytes / rows.max(1);
        let records = batch.into_records()?;
        let usual = loading.usual_format();
        self.held.push_back(Held { records: records.clone(), origin, start: 0, end: 0, left_out: Vec::new() });
        let lanes = lanes(&records, loading.places);
        let mut row = 0;
        while row < rows {
            let format = if self.as_text > 0 { Format::Text } else { usual };
            if self.stream.as_ref().is_some_and(|stream| stream.format != format) {
                self.finish(loading)?;
            }
            let stream = self.stream(loading, format)?;
            let added = stream.add(&lanes, row);
            match added {
                Err(Unsent { refusal: Refusal::Unread, .. }) if format == Format::Binary => {
                    // The server may be able to read it.
                    self.as_text = self.run;
                    self.run = (self.run * 2).min(LONGEST_RUN);
                    continue;
                }
                Err(Unsent { column, refusal }) => {
                    let cause = match refusal {
                        Refusal::Dirty(cause) => cause,
                        Refusal::Unread => "the value does not fit the column".into(),
                    };
                    self.leave_out(loading, row, column, &cause)?;
                }
                Ok(()) => {
                    let sent = stream.send_if_much(loading.session)?;
                    self.sent += 1;
                    self.bytes += bytes_per_row;
                    if let Some(held) = self.held.back_mut() {
                        held.end = row + 1;
                    }
                    if let Err(refused) = sent {
                        self.stream = None;
                        self.recover(loading, refused)?;
                    }
                }
            }
            self.as_text = self.as_text.saturating_sub(1);
            row += 1;
            if self.is_full(loading) {
                self.finish(loading)?;
            }
        }
        self.let_go();
        Ok(())
    }

    fn is_full(&self, loading: &Loading<'_>) -> bool {
        self.sent >= loading.copy_records.min(self.failures.records_of_a_copy()) || self.bytes >= loading.copy_bytes
    }

    /// The COPY that is going on; if there is none, a new one, in the transaction.
    fn stream(&mut self, loading: &Loading<'_>, format: Format) -> Result<&mut Stream> {
        if self.stream.is_none() {
            self.begin(loading)?;
            self.stream = Some(self.begin_copy(loading, format)?);
        }
        self.stream.as_mut().ok_or_else(|| Error::internal("a COPY was begun and is not there"))
    }

    fn begin_copy(&mut self, loading: &Loading<'_>, format: Format) -> Result<Stream> {
        let Loading { session, plan, .. } = loading;
        let slot = match format {
            Format::Binary => &mut self.binary_copy,
            Format::Text => &mut self.text_copy,
        };
        let copy = match slot {
            Some(copy) => copy,
            None => {
                slot.insert(session.prepare(format_args!("writing into {}", plan.table), &plan.copy(format.word()))?)
            }
        };
        let before = std::mem::take(&mut self.savepoint_due).then_some("RELEASE SAVEPOINT batch; SAVEPOINT batch");
        Stream::begin(session, before, copy, &plan.table, format)
    }

    /// Begins the transaction when the first record is there.
    fn begin(&mut self, loading: &Loading<'_>) -> Result<()> {
        if self.begun {
            return Ok(());
        }
        if let Some(merge) = loading.plan.merge.as_ref().filter(|_| !self.staged) {
            loading.session.execute("making a temporary table", &merge.create)?;
            self.staged = true;
        }
        loading.session.execute("beginning a transaction", "BEGIN; SAVEPOINT batch")?;
        self.begun = true;
        Ok(())
    }

    /// Ends the COPY that is going on: its records are safe in the transaction, or dirty.
    pub(super) fn finish(&mut self, loading: &Loading<'_>) -> Result<()> {
        let Some(stream) = self.stream.take() else { return Ok(()) };
        if stream.format == Format::Binary && self.sent > self.run {
            // They have become rare again.
            self.run = FIRST_RUN;
        }
        match self.take(loading, stream)? {
            Ok(()) => {
                self.failures.written(self.sent);
                self.done();
                Ok(())
            }
            Err(refused) => self.recover(loading, refused),
        }
    }

    /// Ends the transaction for good, and tells what was in it.
    pub(super) fn commit(&mut self, loading: &Loading<'_>) -> Result<Report> {
        self.finish(loading)?;
        if std::mem::take(&mut self.begun) {
            loading.session.commit()?;
            self.savepoint_due = false;
        }
        Ok(std::mem::take(&mut self.report))
    }

    /// Ends a COPY, and makes its records safe.
    fn take(&mut self, loading: &Loading<'_>, stream: Stream) -> Result<Result<(), Refused>> {
        let session = loading.session;
        let taken = match stream.finish(session)? {
            Ok(taken) => taken,
            Err(refused) => return Ok(Err(refused)),
        };
        let written = match &loading.plan.merge {
            None => taken,
            Some(merge) => {
                let insert = if self.repeats_keys { &merge.insert_last } else { &merge.insert };
                let merged = match session.count(insert)? {
                    Ok(merged) => merged,
                    Err(refused) => return Ok(Err(refused)),
                };
                if merge.commits_each {
                    session.commit()?;
                    session.execute("beginning a transaction", "BEGIN; SAVEPOINT batch")?;
                } else {
                    session.execute("emptying the temporary table", &merge.clear)?;
                }
                match merge.skips_duplicates {
                    true => {
                        self.report.duplicates += taken.saturating_sub(merged);
                        merged
                    }
                    false => taken,
                }
            }
        };
        if loading.plan.merge.as_ref().is_none_or(|merge| !merge.commits_each) {
            // Set with the next COPY; if there is none, the commit makes everything safe.
            self.savepoint_due = true;
        }
        self.report.written += written;
        Ok(Ok(()))
    }

    /// All records that were sent are safe, or dirty.
    fn done(&mut self) {
        self.sent = 0;
        self.bytes = 0;
        for held in &mut self.held {
            held.start = held.end;
            held.left_out.clear();
        }
        self.let_go();
    }

    /// Drops batches that have no records left.
    fn let_go(&mut self) {
        while self.held.front().is_some_and(|held| held.start == held.records.num_rows()) {
            self.held.pop_front();
        }
    }

    /// Reports a row of the newest batch as dirty; it is not sent.
    fn leave_out(&mut self, loading: &Loading<'_>, row: usize, column: usize, cause: &str) -> Result<()> {
        let Some(held) = self.held.back_mut() else { return Ok(()) };
        held.end = row + 1;
        held.left_out.push(row);
        if self.sent == 0 && held.start == row {
            // Nothing before it waits for a COPY.
            held.start = row + 1;
            held.left_out.clear();
        }
        let place = &loading.places[column];
        let cause = format!("column \"{}\" {} cannot store it: {cause}", place.name, place.declared);
        dirty_row(loading.host.as_ref(), &held.records, row, Some(held.origin.position(row)), Some(column), &cause)
    }

    /// The COPY has been refused: finds the records at fault, and writes all others.
    fn recover(&mut self, loading: &Loading<'_>, refused: Refused) -> Result<()> {
        loading.session.execute("going back to a savepoint", GO_BACK)?;
        let waiting = self.waiting();
        let mut bad = Vec::new();
        // Up to here everything is known.
        let mut known = 0;
        match self.judge(loading, refused, 0..waiting.len()) {
            RowsError::All(error) => return Err(error),
            RowsError::Row(found) => {
                known = found.row + 1;
                let mut part = store(0..found.row, &mut |rows| self.attempt(loading, &waiting, rows))?;
                part.push(found);
                self.failures.found(0..known, part.iter().map(|bad| bad.row));
                bad.extend(part);
            }
            RowsError::Some(_) => {}
        }
        while known < waiting.len() {
            // In smaller parts than it was sent: where there is one bad record there may be more.
            let end = waiting.len().min(known.saturating_add(self.failures.records_of_a_copy()));
            let part = store(known..end, &mut |rows| self.attempt(loading, &waiting, rows))?;
            self.failures.found(known..end, part.iter().map(|bad| bad.row));
            bad.extend(part);
            known = end;
        }
        for BadRow { row, column, cause } in bad {
            let (batch, row) = waiting[row];
            let held = &self.held[batch];
            dirty_row(loading.host.as_ref(), &held.records, row, Some(held.origin.position(row)), column, &cause)?;
        }
        self.done();
        Ok(())
    }

    /// The records of the COPY that was refused.
    fn waiting(&self) -> Vec<Waiting> {
        let rows = self.held.iter().enumerate().flat_map(|(batch, held)| {
            let sent = move |row: &usize| held.left_out.binary_search(row).is_err();
            (held.start..held.end).filter(sent).map(move |row| (batch, row))
        });
        rows.collect()
    }

    /// Writes some of the waiting records with a COPY of their own.
    fn attempt(&mut self, loading: &Loading<'_>, waiting: &[Waiting], rows: Range<usize>) -> Result<(), RowsError> {
        let session = loading.session;
        let wait = |pause: Duration| session.wait(tokio::time::sleep(pause));
        let salt = waiting[rows.start].1 as u64;
        // A deadlock undoes no more than what stands behind the savepoint.
        let outcome = with_retries(Schedule::LOCKS, salt, "writing records", wait, |_| {
            let sent = self.send(loading, waiting, rows.clone())?;
            if sent.is_err() {
                session.execute("going back to a savepoint", GO_BACK)?;
            }
            match sent {
                Err(refused) if refused.may_pass() => Err(Error::io(refused.cause.clone()).retryable(true)),
                sent => Ok(sent),
            }
        });
        outcome?.map_err(|refused| self.judge(loading, refused, rows))
    }

    fn send(&mut self, loading: &Loading<'_>, waiting: &[Waiting], rows: Range<usize>) -> Result<Result<(), Refused>> {
        let all = &waiting[rows];
        let formats: &[Format] = match loading.usual_format() {
            Format::Binary => &[Format::Binary, Format::Text],
            Format::Text => &[Format::Text],
        };
        for format in formats {
            if let Some(stream) = self.encode(loading, all, *format)? {
                return match stream {
                    Ok(stream) => self.take(loading, stream),
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
            let lanes = lanes(&self.held[of_batch[0].0].records, places);
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
        match line.filter(|line| (1..=rows.len()).contains(line)) {
            Some(line) => RowsError::Row(BadRow { row: rows.start + line - 1, column, cause: refused.cause }),
            None => RowsError::Some(refused.cause),
        }
    }
}

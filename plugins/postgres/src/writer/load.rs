//! Records on their way into the table: in one transaction, COPY by COPY, each behind a savepoint.
//!
//! Records are kept until the COPY that they are in has been taken. If it is refused, it is undone, the bad ones are found, and
//! the others are written again (`again`). Once a check has been broken, the server leaves such records out (`sieve`).

use std::collections::VecDeque;

use arrow_array::RecordBatch;
use tokio_postgres::Statement;
use transship_plugin_api::batch::dirty_row;
use transship_plugin_api::{Batch, Error, HostRef, Origin, Report, Result};
use transship_sql::write::BadRow;

use super::again::unless_locked;
use super::failures::Failures;
use super::plan::Plan;
use super::sieve::Sieve;
use super::stream::{Format, Stream, Unsent, lanes};
use crate::binary::cells::Refusal;
use crate::place::{Place, Target};
use crate::session::{Refused, Session};

/// Undoes the COPY that was refused, and nothing else.
pub(super) const GO_BACK: &str = "ROLLBACK TO SAVEPOINT batch";
/// Makes safe what has been taken.
const GO_ON: &str = "RELEASE SAVEPOINT batch; SAVEPOINT batch";
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
    pub(super) fn usual_format(&self) -> Format {
        match self.places.iter().any(|place| place.target == Target::Other) {
            true => Format::Text,
            false => Format::Binary,
        }
    }
}

/// The records that a task has in hand, and what it has written.
pub(super) struct Load {
    /// Batches with records that are not safe in the transaction yet.
    pub(super) held: VecDeque<Held>,
    /// How many batches have been let go: the number of the first that is held.
    first: usize,
    stream: Option<Stream>,
    /// Records of the COPY that is going on.
    sent: usize,
    bytes: usize,
    pub(super) failures: Failures,
    pub(super) sieve: Sieve,
    /// Records that are still sent as text, because one before them could not be read here.
    as_text: usize,
    /// How many that will be the next time.
    run: usize,
    /// Whether records of one COPY have had the same key: only the last of them may be merged then.
    pub(super) repeats_keys: bool,
    /// The statements, once they have been needed.
    binary_copy: Option<Statement>,
    text_copy: Option<Statement>,
    /// Whether the transaction is open.
    begun: bool,
    /// Whether what has been taken is not behind the savepoint yet.
    pub(super) savepoint_due: bool,
    /// Whether the temporary table is there.
    staged: bool,
    pub(super) report: Report,
}

pub(super) struct Held {
    pub(super) records: RecordBatch,
    pub(super) origin: Origin,
    /// How large a record is, on the average.
    row_bytes: usize,
    /// From here on they are not safe.
    pub(super) start: usize,
    /// Up to here they have been sent.
    pub(super) end: usize,
    /// Rows between that were not sent, in order.
    pub(super) left_out: Vec<usize>,
}

/// A record that is held: the number of the batch, and of its row.
pub(super) type Waiting = (usize, usize);

impl Load {
    pub(super) fn new() -> Load {
        Load {
            held: VecDeque::new(),
            first: 0,
            stream: None,
            sent: 0,
            bytes: 0,
            failures: Failures::new(),
            sieve: Sieve::default(),
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
        let origin = batch.origin.clone();
        let row_bytes = batch.bytes / batch.num_rows().max(1);
        let records = batch.into_records()?;
        self.held.push_back(Held { records, origin, row_bytes, start: 0, end: 0, left_out: Vec::new() });
        self.send_batch(loading, self.first + self.held.len() - 1)?;
        self.let_go();
        Ok(())
    }

    /// Sends a batch that has just come.
    fn send_batch(&mut self, loading: &Loading<'_>, number: usize) -> Result<()> {
        let Held { records, row_bytes, .. } = &self.held[number - self.first];
        let (records, mut row, row_bytes) = (records.clone(), 0, *row_bytes);
        let usual = loading.usual_format();
        let lanes = lanes(&records, loading.places);
        while row < records.num_rows() {
            let format = if self.as_text > 0 { Format::Text } else { usual };
            if self.stream.as_ref().is_some_and(|stream| stream.format != format) {
                self.end_copy(loading)?;
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
                    self.leave_out(loading, number, row, column, &cause)?;
                }
                Ok(()) => {
                    let sent = stream.send_if_much(loading.session)?;
                    self.sent += 1;
                    self.bytes += row_bytes;
                    self.held[number - self.first].end = row + 1;
                    if let Err(refused) = sent {
                        self.stream = None;
                        self.recover(loading, refused)?;
                    }
                }
            }
            self.as_text = self.as_text.saturating_sub(1);
            row += 1;
            if self.is_much(loading) {
                self.end_copy(loading)?;
            }
        }
        Ok(())
    }

    /// Whether what has been sent is enough for a COPY.
    fn is_much(&self, loading: &Loading<'_>) -> bool {
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

    pub(super) fn begin_copy(&mut self, loading: &Loading<'_>, format: Format) -> Result<Stream> {
        let Loading { session, plan, .. } = loading;
        let slot = match format {
            Format::Binary => &mut self.binary_copy,
            Format::Text => &mut self.text_copy,
        };
        let copy = match slot {
            Some(copy) => copy,
            None => {
                let sql = plan.copy(format.word(), self.sieve.condition().as_deref());
                slot.insert(session.prepare(format_args!("writing into {}", plan.table), &sql)?)
            }
        };
        // Of a COPY that was refused.
        session.told();
        let before = std::mem::take(&mut self.savepoint_due).then_some(GO_ON);
        let begun = Stream::begin(session, before, (&plan.table, copy), format)?;
        begun.map_err(|error| session.failed(format_args!("writing into {}", plan.table), error))
    }

    /// Goes on with another condition for records.
    pub(super) fn change_sieve(&mut self) {
        self.binary_copy = None;
        self.text_copy = None;
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
        match &loading.plan.lock {
            // The client could not go on after a COPY that was refused before it began, so the table is waited for beforehand.
            Some(lock) => self.begin_with_lock(loading, lock)?,
            None => loading.session.execute("beginning a transaction", "BEGIN; SAVEPOINT batch")?,
        }
        self.begun = true;
        Ok(())
    }

    fn begin_with_lock(&self, loading: &Loading<'_>, lock: &str) -> Result<()> {
        let Loading { session, plan, .. } = loading;
        let begun = unless_locked(loading, || {
            session.execute("beginning a transaction", "BEGIN")?;
            match session.try_execute(&format!("{lock}; SAVEPOINT batch"))? {
                Ok(()) => Ok(Ok(())),
                Err(error) => match Refused::of(&error).filter(Refused::may_pass) {
                    Some(refused) => {
                        session.execute("ending a transaction", "ROLLBACK")?;
                        Ok(Err(refused))
                    }
                    None => Err(session.failed(format_args!("writing into {}", plan.table), error)),
                },
            }
        });
        // No other refusal gets here.
        begun?.map_err(|refused| Error::io(refused.cause))
    }

    /// Sees to it that nothing can undo what has been taken, apart from the end of the transaction.
    pub(super) fn make_safe(&mut self, loading: &Loading<'_>) -> Result<()> {
        self.begin(loading)?;
        match std::mem::take(&mut self.savepoint_due) {
            true => loading.session.execute("setting a savepoint", GO_ON),
            false => Ok(()),
        }
    }

    /// Ends the COPY that is going on: all records are safe in the transaction then, or dirty.
    pub(super) fn end_copy(&mut self, loading: &Loading<'_>) -> Result<()> {
        let Some(stream) = self.stream.take() else { return Ok(()) };
        if stream.format == Format::Binary && self.sent > self.run {
            // They have become rare again.
            self.run = FIRST_RUN;
        }
        match self.take(loading, stream, self.sent)? {
            Ok(left_out) => {
                if !left_out.is_empty() {
                    self.report_left_out(loading, &self.waiting(), &left_out)?;
                }
                self.failures.written(self.sent);
                self.done();
                Ok(())
            }
            Err(refused) => self.recover(loading, refused),
        }
    }

    /// Ends the transaction for good, and tells what was in it.
    pub(super) fn commit(&mut self, loading: &Loading<'_>) -> Result<Report> {
        self.end_copy(loading)?;
        if std::mem::take(&mut self.begun) {
            loading.session.commit()?;
            self.savepoint_due = false;
        }
        Ok(std::mem::take(&mut self.report))
    }

    /// Ends a COPY of so many records, and makes them safe, but for those that the server has left out.
    pub(super) fn take(
        &mut self,
        loading: &Loading<'_>,
        stream: Stream,
        sent: usize,
    ) -> Result<Result<Vec<BadRow>, Refused>> {
        let session = loading.session;
        let taken = match stream.finish(session)? {
            Ok(taken) => taken,
            Err(refused) => return Ok(Err(refused)),
        };
        let left_out = match self.sieve.left_out(loading, sent, taken) {
            Ok(left_out) => left_out,
            Err(cause) => {
                self.change_sieve();
                return Ok(Err(Refused::unclear(cause)));
            }
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
        Ok(Ok(left_out))
    }

    /// All records that were sent are safe, or dirty.
    pub(super) fn done(&mut self) {
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
            self.first += 1;
        }
    }

    /// Reports a row of a batch as dirty; it is not sent.
    fn leave_out(
        &mut self,
        loading: &Loading<'_>,
        number: usize,
        row: usize,
        column: usize,
        cause: &str,
    ) -> Result<()> {
        let held = &mut self.held[number - self.first];
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

    /// A batch that is held.
    pub(super) fn batch(&self, number: usize) -> &Held {
        &self.held[number - self.first]
    }

    /// The records of the COPY that was refused.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let rows = self.held.iter().enumerate().flat_map(|(index, held)| {
            let sent = move |row: &usize| held.left_out.binary_search(row).is_err();
            (held.start..held.end).filter(sent).map(move |row| (self.first + index, row))
        });
        rows.collect()
    }
}

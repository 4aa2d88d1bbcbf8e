//! One attempt at writing: records are written out and stored statement by statement, in a transaction of the task's or of each
//! statement's own.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use transship_plugin_api::batch::dirty_row;
use transship_plugin_api::row;
use transship_plugin_api::{Batch, CancelHandle, Error, HostRef, Kind, Origin, Report, Result, WriterTask};
use transship_sql::retry::{Schedule, with_retries};

use super::duplicates;
use super::encode::{Cause, Place, Scratch};
use super::plan::Plan;
use super::rows::{Form, Rows};
use super::store::{Outcome, Storing, Suspects};
use super::target::Takes;
use crate::config::{Transaction, WriterConfig};
use crate::session::{Clock, Session, Stop};

/// A mark to which a chunk is taken back.
const BEFORE_CHUNK: &str = "SAVEPOINT transship_chunk";
const BACK_BEFORE_CHUNK: &str = "ROLLBACK TO SAVEPOINT transship_chunk";
/// What a server takes at least.
const SHORTEST_PACKET: usize = 1 << 20;

/// Whatever the job's session says: values that do not fit are refused, zero stays zero, an empty text is no NULL, a backslash
/// escapes, and nobody loses patience with a slow reader.
const SETTINGS: &str = "SET SESSION autocommit = 0, max_error_count = 65535, net_read_timeout = 31536000, \
                        net_write_timeout = 31536000, wait_timeout = 31536000, \
                        sql_mode = CONCAT_WS(',', REPLACE(REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', ''), \
                        'EMPTY_STRING_IS_NULL', ''), \
                        'STRICT_ALL_TABLES', 'NO_AUTO_VALUE_ON_ZERO')";

pub(super) struct MySqlWriterTask {
    config: Arc<WriterConfig>,
    plan: Arc<Plan>,
    schema: SchemaRef,
    host: HostRef,
    stop: Stop,
    open: Option<Open>,
    report: Report,
}

/// A connection that writes.
struct Open {
    session: Session,
    places: Arc<[Place]>,
    longest_statement: usize,
    /// Whether files are still sent.
    loads: bool,
    /// Whether a transaction has begun.
    in_transaction: bool,
    /// Whether the last error was about a lock that others held for too long.
    waited_too_long: bool,
}

/// Records of a batch that go into one statement.
struct Chunk<'a> {
    records: &'a RecordBatch,
    origin: &'a Origin,
    /// Which rows of the batch they are.
    rows: Vec<usize>,
    /// How the records are written out, for a statement of this form.
    written: Rows,
    form: Form,
}

impl<'a> Chunk<'a> {
    fn new(records: &'a RecordBatch, origin: &'a Origin, form: Form) -> Chunk<'a> {
        Chunk { records, origin, rows: Vec::new(), written: Rows::new(form), form }
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.written.clear();
    }
}

impl MySqlWriterTask {
    pub(super) fn new(config: Arc<WriterConfig>, plan: Arc<Plan>, schema: SchemaRef, host: HostRef) -> MySqlWriterTask {
        let stop = Stop::new(host.clone());
        MySqlWriterTask { config, plan, schema, host, stop, open: None, report: Report::default() }
    }

    fn connect(&self) -> Result<Open> {
        let mut session = Session::open(&self.config.server, &self.stop)?;
        session.run_session_statements()?;
        session.execute("setting the connection up", SETTINGS)?;
        session.execute("setting the character set", "SET NAMES utf8mb4")?;
        let offset_seconds = match self.plan.has_instants(&self.schema) {
            true => {
                let clock = Clock::of(&mut session)?;
                if clock.changes && self.has_local_times() {
                    log::warn!(
                        "{}: among the columns for TIMESTAMPs of {} are instants and times without a zone; the server's clock                          changes in summer, and the latter are taken as if it showed the hour of today: name their zone by                          common.column.timeZone",
                        session.server.place,
                        self.config.table
                    );
                }
                Some(clock.fixed(&mut session)?)
            }
            false => None,
        };
        let steady_offset_seconds = match offset_seconds.is_none() && self.plan.has_texts_for_instants(&self.schema) {
            true => Some(Clock::of(&mut session)?).filter(|clock| !clock.changes).map(|clock| clock.offset_seconds),
            false => None,
        };
        let rows = session.ask("asking for max_allowed_packet", "SELECT @@max_allowed_packet")?;
        let most =
            rows.first().and_then(|row| row.first()).and_then(Option::as_deref).and_then(|text| text.parse().ok());
        let places = self.plan.places(&self.config, &self.schema, offset_seconds, steady_offset_seconds);
        Ok(Open {
            session,
            places: places.into(),
            longest_statement: most.unwrap_or(SHORTEST_PACKET),
            loads: self.plan.load.is_some(),
            in_transaction: false,
            waited_too_long: false,
        })
    }

    /// Whether something without a zone goes into a column of instants, and nobody says which zone it has.
    fn has_local_times(&self) -> bool {
        let pairs = self.plan.targets.iter().zip(self.schema.fields());
        let mut pairs = pairs.filter(|(target, _)| matches!(target.takes, Takes::Timestamp(_)));
        self.config.formats.zone().is_none()
            && pairs.any(|(_, field)| !matches!(field.data_type(), DataType::Timestamp(_, Some(_))))
    }

    /// Stores a chunk, and commits it where each is committed of its own.
    fn store(&mut self, chunk: &Chunk<'_>) -> Result<()> {
        let stored = match self.config.transaction {
            // What cannot be taken back must not be written again.
            _ if self.plan.row_by_row => self.store_rows(chunk).map_err(|error| error.retryable(false)),
            Transaction::Task => self.store_in_transaction(chunk),
            Transaction::Batch => {
                let doing = format!("writing into {}", self.config.table);
                let stop = self.stop.clone();
                let salt = chunk.origin.first;
                with_retries(Schedule::LOCKS, salt, &doing, |pause| stop.wait(pause), |_| self.store_and_commit(chunk))
            }
        };
        let outcome = stored.map_err(|error| self.with_what_is_stored(error))?;
        self.report.written += outcome.written;
        self.report.duplicates += outcome.duplicates;
        for bad in outcome.bad {
            let row = chunk.rows[bad.row];
            let position = Some(chunk.origin.position(row));
            dirty_row(&*self.host, chunk.records, row, position, bad.column, &bad.cause)?;
        }
        Ok(())
    }

    /// Says what another attempt would find.
    fn with_what_is_stored(&self, error: Error) -> Error {
        let stored = match self.config.transaction {
            _ if error.kind() == Kind::Cancelled => return error,
            _ if self.plan.row_by_row => "the rows before it stay there, and another attempt would write them again",
            Transaction::Task => "nothing of this task is stored, so another attempt writes nothing twice",
            Transaction::Batch if self.config.mode.is_idempotent() => {
                "the batches before it are stored, and another attempt would write them to the same effect"
            }
            Transaction::Batch => "the batches before it are stored, and another attempt would write them again",
        };
        Error::new(error.kind(), format!("{}; {stored}", error.message())).retryable(error.is_retryable())
    }

    /// Stores a chunk as a part of the task's transaction. A statement that has waited too long for a lock is all that the server
    /// takes back then, so the chunk is stored once more; of a deadlock it takes back the whole transaction.
    fn store_in_transaction(&mut self, chunk: &Chunk<'_>) -> Result<Outcome> {
        let stop = self.stop.clone();
        let schedule = Schedule::LOCKS;
        let mut attempt = 1;
        loop {
            let open = self.open()?;
            open.waited_too_long = false;
            open.session.run_with_next(BEFORE_CHUNK);
            let error = match self.store_rows(chunk) {
                Ok(outcome) => return Ok(outcome),
                Err(error) => error,
            };
            let Some(open) = self.open.as_mut().filter(|open| open.waited_too_long) else { return Err(error) };
            // Where the server is set to take back everything, the savepoint is gone.
            if attempt == schedule.attempts || open.session.run(BACK_BEFORE_CHUNK)?.is_err() {
                return Err(error);
            }
            let pause = schedule.pause(attempt, chunk.origin.first);
            let of = schedule.attempts;
            log::warn!("attempt {attempt} of {of} to write a batch failed, the next in {pause:.1?}: {error}");
            stop.wait(pause)?;
            attempt += 1;
        }
    }

    /// A failure before the commit leaves nothing behind, so it may be tried again; after it, nobody knows.
    fn store_and_commit(&mut self, chunk: &Chunk<'_>) -> Result<Outcome> {
        let stored = self.store_rows(chunk);
        let outcome = match stored {
            Ok(outcome) => outcome,
            Err(error) => {
                // The server takes back what was not committed.
                self.open = None;
                return Err(error);
            }
        };
        if let Err(error) = self.commit_transaction() {
            self.open = None;
            return Err(error);
        }
        Ok(outcome)
    }

    fn open(&mut self) -> Result<&mut Open> {
        if self.open.is_none() {
            self.open = Some(self.connect()?);
        }
        self.open.as_mut().ok_or_else(|| Error::internal("a connection was opened and is gone"))
    }

    /// If the connection is lost now, nobody knows whether the server has committed.
    fn commit_transaction(&mut self) -> Result<()> {
        let Some(open) = self.open.as_mut().filter(|open| open.in_transaction) else { return Ok(()) };
        let does_no_harm_twice = self.config.mode.is_idempotent();
        let committed = open.session.run("COMMIT").map_err(|error| {
            let unknown =
                format!("{}: whether the last records were committed is not known", open.session.server.place);
            error.context(unknown).retryable(does_no_harm_twice)
        });
        committed?.map_err(|refused| open.session.server.refused("committing", &refused))?;
        open.in_transaction = false;
        Ok(())
    }

    fn store_rows(&mut self, chunk: &Chunk<'_>) -> Result<Outcome> {
        let stored = self.try_store(chunk);
        stored.map_err(|error| self.config.server.lost(format_args!("writing into {}", self.config.table), error))
    }

    fn try_store(&mut self, chunk: &Chunk<'_>) -> Result<Outcome> {
        let (config, plan) = (self.config.clone(), self.plan.clone());
        let open = self.open()?;
        open.in_transaction = true;
        let mut storing = Storing {
            session: &mut open.session,
            plan: &plan,
            mode: &config.mode,
            table: &config.table,
            longest_statement: open.longest_statement,
            waited_too_long: &mut open.waited_too_long,
        };
        let all = 0..chunk.rows.len();
        let places = open.places.clone();
        match (&plan.load, chunk.form) {
            (Some(statement), Form::Lines) => {
                let stored = store_by_file(&mut storing, statement, chunk, &places)?;
                if let Some(outcome) = stored {
                    return Ok(outcome);
                }
                log::info!("{}: the server takes no files, so rows are written by INSERT", config.server.place);
                open.loads = false;
                let values = written(chunk, all.clone(), &places)?;
                let mut storing = Storing {
                    session: &mut open.session,
                    plan: &plan,
                    mode: &config.mode,
                    table: &config.table,
                    longest_statement: open.longest_statement,
                    waited_too_long: &mut open.waited_too_long,
                };
                storing.insert(&values, all)
            }
            _ => storing.insert(&chunk.written, all),
        }
    }
}

/// Stores a chunk by a file, and the rows that a file would change by statements that refuse them. `None`: the server takes no
/// files.
fn store_by_file(
    storing: &mut Storing<'_>,
    statement: &str,
    chunk: &Chunk<'_>,
    places: &[Place],
) -> Result<Option<Outcome>> {
    let all = 0..chunk.rows.len();
    let suspects = match storing.load(statement, &chunk.written, all.clone())? {
        Ok(outcome) => return Ok(Some(outcome)),
        Err(Suspects::NoFiles) => return Ok(None),
        Err(Suspects::Rows(rows)) => rows,
        Err(Suspects::LeftOut(warnings)) => {
            if let Some(bad) = duplicates::find(chunk.records, &chunk.rows, storing.plan, places, &warnings) {
                let written = chunk.rows.len() as u64 - bad.len() as u64;
                return Ok(Some(Outcome { written, duplicates: 0, bad }));
            }
            storing.take_back()?;
            let values = written(chunk, all.clone(), places)?;
            return storing.insert(&values, all).map(Some);
        }
        Err(Suspects::Unknown) => {
            let values = written(chunk, all.clone(), places)?;
            return storing.insert(&values, all).map(Some);
        }
    };
    // Stretches of good rows go by file again, the others one by one, all in their order.
    let mut whole = Outcome::default();
    let values = written(chunk, all.clone(), places)?;
    let mut begin = 0;
    for suspect in suspects.into_iter().chain([all.end]) {
        let good = begin..suspect.min(all.end);
        if !good.is_empty() {
            match storing.load(statement, &chunk.written, good.clone())? {
                Ok(outcome) => whole.add(outcome),
                Err(suspects) => {
                    if matches!(suspects, Suspects::LeftOut(_)) {
                        storing.take_back()?;
                    }
                    whole.add(storing.insert(&values, good)?);
                }
            }
        }
        if suspect < all.end {
            whole.add(storing.insert(&values, suspect..suspect + 1)?);
        }
        begin = suspect + 1;
    }
    Ok(Some(whole))
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.written += other.written;
        self.duplicates += other.duplicates;
        self.bad.extend(other.bad);
    }
}

/// Rows of a chunk as lists of values. All of them are known to be fit to be sent.
fn written(chunk: &Chunk<'_>, range: Range<usize>, places: &[Place]) -> Result<Rows> {
    let mut rows = Rows::new(Form::Values);
    let values = row::Rows::new(chunk.records);
    let mut scratch = Scratch::default();
    for index in range {
        write_row(&mut rows, &values, chunk.rows[index], places, &mut scratch)
            .map_err(|(_, cause)| Error::internal(format!("a value that was fit is no longer: {cause}")))?;
    }
    Ok(rows)
}

/// Appends a record; else, tells which column has a value that cannot be stored, and why.
#[inline]
fn write_row(
    rows: &mut Rows,
    values: &row::Rows<'_>,
    row: usize,
    places: &[Place],
    scratch: &mut Scratch,
) -> Result<(), (usize, Cause)> {
    for (column, (place, values)) in places.iter().zip(values.columns()).enumerate() {
        match place.sent(values.get(row), scratch) {
            Ok(sent) => rows.push(sent),
            Err(cause) => {
                rows.drop_row();
                return Err((column, cause));
            }
        }
    }
    rows.end_row();
    Ok(())
}

impl WriterTask for MySqlWriterTask {
    fn prepare(&mut self) -> Result<()> {
        self.open = Some(self.connect()?);
        Ok(())
    }

    fn write(&mut self, mut batch: Batch) -> Result<()> {
        let records = batch.records()?.clone();
        let origin = batch.origin.clone();
        let open = self.open()?;
        let places = open.places.clone();
        let form = if open.loads { Form::Lines } else { Form::Values };
        let values = row::Rows::new(&records);
        let mut scratch = Scratch::default();
        let mut chunk = Chunk::new(&records, &origin, form);
        for row in 0..records.num_rows() {
            match write_row(&mut chunk.written, &values, row, &places, &mut scratch) {
                Ok(()) => chunk.rows.push(row),
                Err((column, cause)) => {
                    dirty_row(&*self.host, &records, row, Some(origin.position(row)), Some(column), &cause)?;
                }
            }
            if chunk.rows.len() >= self.config.batch_records || chunk.written.bytes() >= self.config.batch_bytes {
                self.store(&chunk)?;
                chunk.clear();
            }
        }
        if !chunk.rows.is_empty() {
            self.store(&chunk)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn checkpoint(&mut self, _epoch: u64) -> Result<Option<Report>> {
        self.commit().map(Some)
    }

    fn commit(&mut self) -> Result<Report> {
        self.commit_transaction()?;
        Ok(std::mem::take(&mut self.report))
    }

    fn abort(&mut self) -> Result<()> {
        // A connection that ends takes back what was not committed.
        self.open = None;
        Ok(())
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.stop.cancel_handle())
    }
}

//! Tests of reader and writer through their traits, on real files.

mod misfits;
mod progress;
mod read;
mod split;
mod trip;
mod write;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use rusqlite::Connection;
use rusqlite::types::Value as Stored;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use transship_plugin_api::row::cell_to_text;
use transship_plugin_api::{
    Batch, DirtyRecord, Error, Host, HostRef, Item, Origin, ReadOptions, Reader, ReaderTask, Report, Result, Run,
    Split, SplitRequest, TaskInfo, Writer,
};

use crate::{reader, writer};

/// What a dirty record said.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Dirty {
    position: Option<u64>,
    column: Option<String>,
    value: Option<String>,
    cause: String,
    record: Option<Json>,
}

/// A host that keeps what it is told.
#[derive(Default)]
struct RecordingHost {
    dirty: Mutex<Vec<Dirty>>,
    cancelled: AtomicBool,
}

impl Host for RecordingHost {
    fn log(&self, _level: log::Level, _target: &str, _message: &str) {}

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        self.dirty.lock().unwrap().push(Dirty {
            position: record.position,
            column: record.column.map(str::to_string),
            value: record.value.map(str::to_string),
            cause: record.cause.into(),
            record: record.record.map(|record| serde_json::from_str(record).unwrap()),
        });
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl RecordingHost {
    fn shared() -> Arc<RecordingHost> {
        Arc::default()
    }

    fn dirty_records(&self) -> Vec<Dirty> {
        self.dirty.lock().unwrap().clone()
    }
}

/// A folder with one database in it.
struct Place {
    folder: TempDir,
}

impl Place {
    /// A database made by these statements.
    fn with(sql: &str) -> Place {
        let place = Place::empty();
        place.connection().execute_batch(sql).unwrap();
        place
    }

    /// A folder without a database.
    fn empty() -> Place {
        Place { folder: TempDir::new().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("test.db")
    }

    fn connection(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(Duration::ZERO).unwrap();
        // No test survives a power failure, so none waits for the disk.
        connection.pragma_update(None, "synchronous", "off").unwrap();
        connection
    }

    /// The parameters, with the path of the database.
    fn parameter(&self, mut parameter: Json) -> Json {
        parameter["path"] = json!(self.path());
        parameter
    }

    /// All rows that a query yields.
    fn rows(&self, sql: &str) -> Vec<Vec<Stored>> {
        let connection = self.connection();
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect()).unwrap();
        rows.map(|row| row.unwrap()).collect()
    }

    /// The text of one value.
    fn one(&self, sql: &str) -> String {
        match &self.rows(sql)[..] {
            [row] => match &row[..] {
                [Stored::Text(text)] => text.clone(),
                [Stored::Integer(number)] => number.to_string(),
                [other] => format!("{other:?}"),
                row => panic!("{row:?} is not one value"),
            },
            rows => panic!("{rows:?} is not one row"),
        }
    }
}

/// All that a reader yields.
struct Read {
    schema: SchemaRef,
    batches: Vec<Taken>,
    splits: Vec<Split>,
    dirty: Vec<Dirty>,
}

/// A batch, taken apart.
struct Taken {
    records: RecordBatch,
    origin: Origin,
    bytes: usize,
    position: Option<Json>,
    share: Option<f64>,
}

impl Taken {
    fn new(batch: Batch) -> Taken {
        let (origin, bytes, position) = (batch.origin.clone(), batch.bytes, batch.position.clone());
        let share = batch.read_share;
        Taken { records: batch.into_records().unwrap(), origin, bytes, position, share }
    }

    fn rows(&self) -> impl Iterator<Item = Vec<Option<String>>> {
        let cells = |row| self.records.columns().iter().map(move |column| cell_to_text(column.as_ref(), row));
        (0..self.records.num_rows()).map(move |row| cells(row).collect())
    }
}

impl Read {
    /// The cells as text, `None` for NULL, row by row.
    fn rows(&self) -> Vec<Vec<Option<String>>> {
        self.batches.iter().flat_map(Taken::rows).collect()
    }

    /// The cells as one word each, NULL as `NULL`.
    fn words(&self) -> Vec<String> {
        let word = |cell: Option<String>| cell.unwrap_or_else(|| "NULL".into());
        self.rows().into_iter().map(|row| row.into_iter().map(word).collect::<Vec<_>>().join(" ")).collect()
    }

    fn positions(&self) -> Vec<u64> {
        let of =
            |batch: &Taken| (0..batch.records.num_rows()).map(|row| batch.origin.position(row)).collect::<Vec<_>>();
        self.batches.iter().flat_map(of).collect()
    }

    fn types(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.data_type().to_string()).collect()
    }
}

fn new_reader(parameter: &Json, host: &Arc<RecordingHost>) -> Result<Box<dyn Reader>> {
    reader::new(parameter, host.clone() as HostRef)
}

fn all_splits(reader: &mut dyn Reader, channels: u32) -> Result<Vec<Split>> {
    let mut splits = Vec::new();
    loop {
        let more = reader.splits(&SplitRequest { channels, max: 3 })?;
        if more.is_empty() {
            return Ok(splits);
        }
        assert!(more.len() <= 3, "no more splits than asked for");
        splits.extend(more);
    }
}

/// Reads everything with one channel.
fn read(parameter: Json) -> Result<Read> {
    read_with(parameter, 1, &ReadOptions::default())
}

fn read_with(parameter: Json, channels: u32, options: &ReadOptions) -> Result<Read> {
    let host = RecordingHost::shared();
    let mut reader = new_reader(&parameter, &host)?;
    let state = reader.prepare()?;
    let schema = reader.schema()?.expect("a prepared reader knows its schema");
    let splits = all_splits(reader.as_mut(), channels)?;
    // What is planned here is read by another reader, as in another process.
    let mut other = new_reader(&parameter, &host)?;
    other.attach(&serde_json::from_str(&state.to_string()).unwrap())?;
    let mut batches = Vec::new();
    for split in &splits {
        let split: Split = serde_json::from_str(&serde_json::to_string(split).unwrap()).unwrap();
        let mut task = other.open(&split, options, host.clone())?;
        assert_eq!(task.prepare()?, schema);
        batches.extend(drain(task.as_mut())?);
        task.post()?;
    }
    Ok(Read { schema, batches, splits, dirty: host.dirty_records() })
}

fn drain(task: &mut dyn ReaderTask) -> Result<Vec<Taken>> {
    let mut batches = Vec::new();
    loop {
        match task.next(Duration::from_secs(10))? {
            Item::Batch(batch) => batches.push(Taken::new(batch)),
            Item::End => return Ok(batches),
            other => panic!("{other:?} was not expected"),
        }
    }
}

/// What became of a write.
struct Written {
    report: Report,
    dirty: Vec<Dirty>,
}

fn run() -> Run {
    Run { id: "run".into(), job: "test".into() }
}

fn task() -> TaskInfo {
    TaskInfo { run: "run".into(), task: "task".into(), attempt: "attempt".into(), number: 1 }
}

fn new_writer(parameter: &Json, host: &Arc<RecordingHost>) -> Result<Box<dyn Writer>> {
    writer::new(parameter, host.clone() as HostRef)
}

/// Writes batches of one schema in one task, and ends the job.
fn write(parameter: Json, batches: Vec<RecordBatch>) -> Result<Written> {
    let host = RecordingHost::shared();
    let schema = batches[0].schema();
    let mut writer = new_writer(&parameter, &host)?;
    let state = writer.prepare(&run(), Some(schema.clone()))?;
    // The task runs as in another process.
    let mut other = new_writer(&parameter, &host)?;
    other.attach(&serde_json::from_str(&state.to_string()).unwrap())?;
    let mut task = other.open(&task(), schema, host.clone())?;
    task.prepare()?;
    let mut position = 100;
    for records in batches {
        let rows = records.num_rows();
        task.write(Batch::measured(records, Origin::from(position)))?;
        position += rows as u64;
    }
    let report = task.commit()?;
    writer.commit(std::slice::from_ref(&report))?;
    writer.post()?;
    Ok(Written { report, dirty: host.dirty_records() })
}

/// The error of what should have failed.
fn refused<T>(result: Result<T>) -> Error {
    match result {
        Ok(_) => panic!("it should have been refused"),
        Err(error) => error,
    }
}

//! Tests of reader and writer as the engine drives them, through the traits. Each topic has a file of its own below.

mod committing;
mod identity;
mod large;
mod leftovers;
mod one_column;
mod packed;
mod packs_of_files;
mod places;
mod reading;
mod shares;
mod typed;
mod writing;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{Schema, SchemaRef};
use serde_json::{Value, json};
use transship_plugin_api::batch::byte_size;
use transship_plugin_api::row::cell_to_text;
use transship_plugin_api::{
    Batch, DirtyRecord, Error, Host, HostRef, Item, Origin, ReadOptions, Reader, Report, Result, Run, Split,
    SplitRequest, TaskInfo, Writer,
};

/// A dirty record, kept.
#[derive(Debug, Clone, PartialEq)]
struct Dirty {
    position: Option<u64>,
    column: Option<String>,
    value: Option<String>,
    cause: String,
    record: Value,
    place: Value,
}

/// An engine that keeps what it is told.
#[derive(Default)]
struct Recorder {
    dirty: Mutex<Vec<Dirty>>,
    cancelled: AtomicBool,
    limit: Option<usize>,
}

impl Host for Recorder {
    fn log(&self, _: log::Level, _: &str, _: &str) {}

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        let parse = |text: Option<&str>| text.map_or(Value::Null, |text| serde_json::from_str(text).unwrap());
        let mut dirty = self.dirty.lock().unwrap();
        dirty.push(Dirty {
            position: record.position,
            column: record.column.map(Into::into),
            value: record.value.map(Into::into),
            cause: record.cause.into(),
            record: parse(record.record),
            place: parse(record.place),
        });
        if self.limit.is_some_and(|limit| dirty.len() > limit) { Err(Error::cancelled()) } else { Ok(()) }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

thread_local! {
    static LOGGED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A log that keeps what each thread says, for tests run side by side.
struct ThreadLog;

impl log::Log for ThreadLog {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        LOGGED.with_borrow_mut(|lines| lines.push(format!("{}", record.args())));
    }

    fn flush(&self) {}
}

/// What this thread logged since it was asked last; from the first time on.
fn logged() -> Vec<String> {
    if log::set_logger(&ThreadLog).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
    LOGGED.take()
}

type Row = Vec<Option<String>>;

/// A folder to work in.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The names of all files, hidden ones too.
    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.path().join(folder)) else { return Vec::new() };
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// What reading came to.
#[derive(Debug)]
struct Read {
    schema: SchemaRef,
    rows: Vec<Row>,
    /// The position of each row.
    positions: Vec<u64>,
    dirty: Vec<Dirty>,
    splits: Vec<Split>,
    /// The rows of each batch, and where reading goes on behind it.
    batches: Vec<(usize, Value)>,
    /// How much of its split is read with each batch.
    shares: Vec<f64>,
}

impl Read {
    fn nothing(schema: SchemaRef) -> Read {
        Read { schema, rows: vec![], positions: vec![], dirty: vec![], splits: vec![], batches: vec![], shares: vec![] }
    }
}

fn merge(parameter: &Value, more: Value) -> Value {
    let mut parameter = parameter.clone();
    for (key, value) in more.as_object().unwrap() {
        parameter[key] = value.clone();
    }
    parameter
}

/// Reads everything as the engine would, split after split.
fn read(parameter: Value) -> Result<Read> {
    read_with(parameter, 1, &ReadOptions::default())
}

fn read_with(parameter: Value, channels: u32, options: &ReadOptions) -> Result<Read> {
    let host = Arc::new(Recorder::default());
    let mut reader = crate::reader::new(&parameter, host.clone())?;
    reader.prepare()?;
    let schema = reader.schema()?.unwrap();
    let mut read = Read::nothing(schema);
    loop {
        let splits = reader.splits(&SplitRequest { channels, max: 2 })?;
        assert!(splits.len() <= 2);
        if splits.is_empty() {
            break;
        }
        read.splits.extend(splits);
    }
    for split in read.splits.clone() {
        read_split(&mut *reader, &split, options, host.clone(), &mut read)?;
    }
    read.dirty = host.dirty.lock().unwrap().clone();
    Ok(read)
}

fn read_split(
    reader: &mut dyn Reader,
    split: &Split,
    options: &ReadOptions,
    host: HostRef,
    read: &mut Read,
) -> Result<()> {
    let mut task = reader.open(split, options, host)?;
    assert_eq!(task.prepare()?, read.schema);
    loop {
        match task.next(Duration::from_secs(1))? {
            Item::Batch(mut batch) => {
                assert!(batch.num_rows() > 0 && batch.num_rows() <= options.batch_records);
                let told = batch.bytes;
                assert_eq!(told, byte_size(batch.records()?));
                read.shares.push(batch.read_share.unwrap());
                read.batches.push((batch.num_rows(), batch.position.clone().unwrap()));
                read.positions.extend((0..batch.num_rows()).map(|row| batch.origin.position(row)));
                read.rows.extend(rows_of(batch.records()?));
            }
            Item::End => break,
            other => panic!("a file reader has no {other:?}"),
        }
    }
    task.post()
}

fn rows_of(records: &RecordBatch) -> Vec<Row> {
    (0..records.num_rows())
        .map(|row| records.columns().iter().map(|column| cell_to_text(column, row)).collect())
        .collect()
}

fn row(cells: &[&str]) -> Row {
    cells.iter().map(|cell| (*cell != "NULL").then(|| cell.to_string())).collect()
}

fn rows(rows: &[&[&str]]) -> Vec<Row> {
    rows.iter().map(|cells| row(cells)).collect()
}

/// A batch of texts.
fn batch_of(rows: &[Row], columns: usize) -> RecordBatch {
    let column = |place: usize| rows.iter().map(|row| row[place].clone()).collect::<StringArray>();
    let arrays: Vec<(String, ArrayRef)> =
        (0..columns).map(|place| (format!("c{place}"), Arc::new(column(place)) as ArrayRef)).collect();
    RecordBatch::try_from_iter_with_nullable(arrays.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

/// A writer at work.
struct Writing {
    writer: Box<dyn Writer>,
    host: Arc<Recorder>,
}

const RUN: &str = "11111111-1111-4111-8111-111111111111";

impl Writing {
    fn prepare(parameter: &Value) -> Result<Writing> {
        let host = Arc::new(Recorder::default());
        let mut writer = crate::writer::new(parameter, host.clone())?;
        writer.prepare(&Run { id: RUN.into(), job: "test".into() }, None)?;
        Ok(Writing { writer, host })
    }

    fn task(&mut self, number: u32, schema: SchemaRef) -> Result<Box<dyn transship_plugin_api::WriterTask>> {
        let info = TaskInfo {
            run: RUN.into(),
            task: format!("22222222-2222-4222-8222-{number:012}"),
            attempt: format!("33333333-3333-4333-8333-{number:012}"),
            number: 1,
        };
        let mut task = self.writer.open(&info, schema, self.host.clone())?;
        task.prepare()?;
        Ok(task)
    }

    /// Writes these batches as one task.
    fn write(&mut self, number: u32, batches: &[RecordBatch]) -> Result<Report> {
        let schema = batches.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
        let mut task = self.task(number, schema)?;
        for batch in batches {
            task.write(Batch::measured(batch.clone(), Origin::from(1)))?;
        }
        task.commit()
    }

    fn dirty(&self) -> Vec<Dirty> {
        self.host.dirty.lock().unwrap().clone()
    }
}

/// Writes batches into one file: its content and what was dirty.
fn write(place: &Place, more: Value, batches: &[RecordBatch]) -> Result<(Vec<u8>, Vec<Dirty>, Report)> {
    let parameter = merge(&json!({"path": place.path("out"), "fileName": "f", "writeMode": "truncate"}), more);
    let mut writing = Writing::prepare(&parameter)?;
    let report = writing.write(1, batches)?;
    writing.writer.commit(std::slice::from_ref(&report))?;
    writing.writer.post()?;
    let names = place.names("out");
    assert_eq!(names.len(), 1, "{names:?}");
    let content = std::fs::read(place.folder.path().join("out").join(&names[0])).unwrap();
    Ok((content, writing.dirty(), report))
}

//! Tests of the plugin through the traits that the engine drives.

mod columns;
mod file;
mod lines;
mod parameters;
mod rate;
mod reading;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::RecordBatch;
use serde_json::Value;
use transship_plugin_api::row::cell_to_text;
use transship_plugin_api::{
    Batch, DirtyRecord, Host, HostRef, Item, Origin, ReadOptions, Reader, Result, Run, Split, SplitRequest, TaskInfo,
};

/// A host that can be told to cancel, and keeps what is dirty: position, column and cause.
#[derive(Default)]
pub(crate) struct TestHost {
    cancelled: AtomicBool,
    dirty: Mutex<Vec<(u64, String, String)>>,
    /// When the work on records began: the first row and the moments of each call.
    pub(crate) started: Mutex<Vec<(usize, Vec<u64>)>>,
}

impl Host for TestHost {
    fn log(&self, _level: log::Level, _target: &str, _message: &str) {}

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        let column = record.column.unwrap_or_default();
        self.dirty.lock().unwrap().push((record.position.unwrap(), column.into(), record.cause.into()));
        Ok(())
    }

    fn started(&self, first_row: usize, moments: &[u64]) {
        self.started.lock().unwrap().push((first_row, moments.to_vec()));
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}

thread_local! {
    /// The warnings of this test: each one has a thread of its own.
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A log that keeps warnings.
struct TestLog;

impl log::Log for TestLog {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() == log::Level::Warn
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            WARNINGS.with_borrow_mut(|warnings| warnings.push(record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

/// What this thread is warned of during a call.
fn warnings(call: impl FnOnce()) -> Vec<String> {
    // Another test may have set it already.
    let _ = log::set_logger(&TestLog);
    log::set_max_level(log::LevelFilter::Warn);
    WARNINGS.take();
    call();
    WARNINGS.take()
}

pub(crate) fn host() -> HostRef {
    Arc::new(TestHost::default())
}

pub(crate) fn cancelled_host() -> HostRef {
    Arc::new(TestHost { cancelled: AtomicBool::new(true), ..TestHost::default() })
}

pub(crate) fn reader(parameter: Value) -> Box<dyn Reader> {
    crate::reader::new(&parameter, host()).unwrap()
}

pub(crate) fn all_splits(reader: &mut dyn Reader, channels: u32) -> Vec<Split> {
    let mut splits = Vec::new();
    loop {
        let more = reader.splits(&SplitRequest { channels, max: 2 }).unwrap();
        assert!(more.len() <= 2);
        if more.is_empty() {
            return splits;
        }
        splits.extend(more);
    }
}

pub(crate) fn options(batch_records: usize) -> ReadOptions {
    ReadOptions { batch_records, ..ReadOptions::default() }
}

/// Everything in a split, a row a list of texts.
fn read(reader: &mut dyn Reader, split: &Split, options: &ReadOptions) -> Vec<Vec<Option<String>>> {
    batches(reader, split, options).iter().flat_map(rows).collect()
}

pub(crate) fn batches(reader: &mut dyn Reader, split: &Split, options: &ReadOptions) -> Vec<RecordBatch> {
    let mut task = reader.open(split, options, host()).unwrap();
    let schema = task.prepare().unwrap();
    let mut batches = Vec::new();
    loop {
        match task.next(Duration::from_secs(60)).unwrap() {
            Item::Batch(batch) => {
                let (bytes, records) = (batch.bytes, batch.into_records().unwrap());
                assert_eq!(records.schema(), schema);
                assert_eq!(bytes, transship_plugin_api::batch::byte_size(&records));
                records.columns().iter().for_each(|column| column.to_data().validate_full().unwrap());
                batches.push(records);
            }
            Item::End => break,
            other => panic!("{other:?}"),
        }
    }
    task.post().unwrap();
    batches
}

fn rows(records: &RecordBatch) -> Vec<Vec<Option<String>>> {
    let row = |row| records.columns().iter().map(|column| cell_to_text(column, row)).collect();
    (0..records.num_rows()).map(row).collect()
}

/// The first column of everything in a split.
fn values(reader: &mut dyn Reader, split: &Split) -> Vec<String> {
    read(reader, split, &ReadOptions::default()).into_iter().map(|mut row| row.swap_remove(0).unwrap()).collect()
}

/// The first column of the first split of a reader of one column, and its type.
fn column(column: Value, records: u64) -> (arrow_schema::Field, Vec<String>) {
    let mut reader = reader(serde_json::json!({ "column": [column], "sliceRecordCount": records }));
    let field = reader.schema().unwrap().unwrap().field(0).clone();
    let split = all_splits(reader.as_mut(), 1).remove(0);
    (field, values(reader.as_mut(), &split))
}

pub(crate) fn batch(records: RecordBatch) -> Batch {
    Batch::measured(records, Origin::from(0))
}

pub(crate) fn run() -> Run {
    Run { id: "run-1".into(), job: "job".into() }
}

pub(crate) fn task(number: u32) -> TaskInfo {
    TaskInfo { run: run().id, task: format!("task-{number}"), attempt: format!("attempt-{number}"), number: 1 }
}

//! Dirty records: counted, held against the job's limit, and every one of them kept in a file of JSON lines.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;
use transship_plugin_api::DirtyRecord;

use crate::secrets::Secrets;

/// A value of more bytes is not shown in the summary.
const SHORT_VALUE: usize = 60;

/// The dirty records of a job.
pub struct Dirty {
    limit: Option<u64>,
    /// A plugin's own words may hold one; the record itself is data, and is kept as it is so that it can be replayed.
    secrets: Secrets,
    count: AtomicU64,
    over: AtomicBool,
    path: PathBuf,
    file: Mutex<Option<File>>,
    first: OnceLock<String>,
}

/// Who reported a dirty record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Reader,
    Transformer,
    Writer,
}

/// Where in a run a dirty record was met.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Place<'a> {
    pub run: &'a str,
    pub task: &'a str,
    /// What people call the task.
    pub number: u32,
    pub attempt: u32,
    /// The split's label.
    pub split: &'a str,
    pub side: Side,
    pub plugin: &'a str,
    /// What `position` counts.
    pub unit: &'a str,
}

/// Whether the job may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Kept,
    OverLimit,
}

/// One line of the file.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Fragment<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    cause: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Fragment<'a>>,
}

/// JSON from a plugin; what is not JSON is kept as text.
#[derive(Serialize)]
#[serde(untagged)]
enum Fragment<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

impl Dirty {
    /// No dirty record yet. More than `limit` of them are over it; the file is made when the first arrives.
    pub fn new(limit: Option<u64>, path: PathBuf, secrets: Secrets) -> Dirty {
        Dirty {
            limit,
            secrets,
            count: AtomicU64::new(0),
            over: AtomicBool::new(false),
            path,
            file: Mutex::new(None),
            first: OnceLock::new(),
        }
    }

    /// Counts a record and appends it to the file. One system call a record: a killed process loses none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, place: &Place<'_>, record: &DirtyRecord<'_>) -> std::io::Result<Verdict> {
        let cause = self.secrets.mask(record.cause);
        let split = self.secrets.mask(place.split);
        let line = Line {
            place: Place { split: &split, ..*place },
            position: record.position,
            source: record.place.map(Fragment::of),
            column: record.column,
            value: record.value,
            cause: &cause,
            record: record.record.map(Fragment::of),
        };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            if file.is_none() {
                *file = Some(create(&self.path)?);
            }
            if let Some(file) = file.as_mut() {
                file.write_all(&text).map_err(|error| cannot_write(&self.path, &error))?;
            }
        }
        self.first.get_or_init(|| {
            let position = record.position.map(|position| format!(", {} {position}", place.unit)).unwrap_or_default();
            let column = record.column.map(|column| format!(", column {column}")).unwrap_or_default();
            let short = record.value.filter(|value| value.len() <= SHORT_VALUE);
            let value = short.map(|value| format!(", value {value:?}")).unwrap_or_default();
            format!("{split}{position}{column}{value}: {cause}")
        });
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if self.limit.is_none_or(|limit| count <= limit) {
            return Ok(Verdict::Kept);
        }
        self.over.store(true, Ordering::Relaxed);
        Ok(Verdict::OverLimit)
    }

    /// Takes back what an attempt that is tried again had counted; its lines stay, with the attempt's number.
    pub fn forgive(&self, count: u64) {
        self.count.fetch_sub(count, Ordering::Relaxed);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether the limit was exceeded at any time.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Where the first one was met, and what was wrong with it.
    pub fn first(&self) -> Option<&str> {
        self.first.get().map(String::as_str)
    }

    /// The file, once it exists: other processes of the run append to it as well.
    pub fn file(&self) -> Option<&Path> {
        Some(self.path.as_path()).filter(|path| path.exists())
    }
}

impl<'a> Fragment<'a> {
    fn of(text: &'a str) -> Fragment<'a> {
        // A line break inside a fragment would break the line.
        match serde_json::from_str(text) {
            Ok(json) if !text.contains('\n') => Fragment::Json(json),
            _ => Fragment::Text(text),
        }
    }
}

/// Records may be personal: the file is for its owner only.
fn create(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("cannot write the file of dirty records {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn place() -> Place<'static> {
        Place {
            run: "r",
            task: "t",
            number: 0,
            attempt: 1,
            split: "a.csv",
            side: Side::Reader,
            plugin: "txtfilereader",
            unit: "line",
        }
    }

    #[test]
    fn the_first_record_over_the_limit_is_told_and_still_kept() {
        let folder = tempfile::tempdir().unwrap();
        let dirty = Dirty::new(Some(1), folder.path().join("dirty.jsonl"), Secrets::default());
        let record = DirtyRecord { cause: "bad", ..DirtyRecord::default() };
        assert_eq!(dirty.keep(&place(), &record).unwrap(), Verdict::Kept);
        assert_eq!(dirty.keep(&place(), &record).unwrap(), Verdict::OverLimit);
        assert_eq!(std::fs::read_to_string(dirty.file().unwrap()).unwrap().lines().count(), 2);
    }

    #[test]
    fn a_line_says_where_the_record_came_from_and_holds_it_whole() {
        let folder = tempfile::tempdir().unwrap();
        let dirty = Dirty::new(None, folder.path().join("dirty.jsonl"), Secrets::default());
        let record = DirtyRecord {
            position: Some(7),
            column: Some("price"),
            value: Some("1,\n2"),
            cause: "not a number",
            record: Some(r#"{"price":"1,\n2"}"#),
            place: Some(r#"{"file":"a.csv","byte":99}"#),
        };
        dirty.keep(&place(), &record).unwrap();
        assert_eq!(dirty.first(), Some("a.csv, line 7, column price, value \"1,\\n2\": not a number"));
        let text = std::fs::read_to_string(dirty.file().unwrap()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            line,
            json!({"run": "r", "task": "t", "number": 0, "attempt": 1, "split": "a.csv", "side": "reader", "plugin": "txtfilereader",
                   "unit": "line", "position": 7, "source": {"file": "a.csv", "byte": 99}, "column": "price", "value": "1,\n2",
                   "cause": "not a number", "record": {"price": "1,\n2"}})
        );
    }

    #[test]
    fn no_file_is_made_without_a_dirty_record() {
        let folder = tempfile::tempdir().unwrap();
        let dirty = Dirty::new(None, folder.path().join("dirty.jsonl"), Secrets::default());
        assert_eq!(dirty.file(), None);
        drop(dirty);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error_that_names_it() {
        let dirty = Dirty::new(None, PathBuf::from("/no/such/folder/dirty.jsonl"), Secrets::default());
        let error = dirty.keep(&place(), &DirtyRecord::default()).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder/dirty.jsonl"), "{error}");
    }
}

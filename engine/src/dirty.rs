//! Dirty records: counted, held against the job's limit, and every one of them kept in a file of JSON lines.

mod kind;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use transship_plugin_api::DirtyRecord;

use crate::config::DirtyLimit;
use crate::secrets::Secrets;

/// From so many records on a share of dirty ones is looked at while the job runs: before that a few bad lines at the beginning of a
/// source would say too much about the rest.
const SHARE_FROM_RECORDS: u64 = 10_000;
/// A value of more bytes is not shown in the summary.
const SHORT_VALUE: usize = 60;
/// Causes that are counted for themselves; what comes after them is counted together.
const MOST_CAUSES: usize = 100;
/// What stands in the place of causes beyond those.
const OTHER_CAUSES: &str = "other causes";

/// The dirty records of a job.
pub struct Dirty {
    limit: DirtyLimit,
    /// Records that may have been read and not been counted yet: a reader tells of the dirty ones before it gives the batch that they
    /// were in.
    under_way: u64,
    /// A plugin's own words may hold one; the record itself is data, and is kept as it is so that it can be replayed.
    secrets: Secrets,
    count: AtomicU64,
    /// All that were ever kept: nothing is taken back of it.
    kept: Arc<AtomicU64>,
    /// The records read so far, dirty ones included.
    read: AtomicU64,
    over: AtomicBool,
    /// What the limit was exceeded with, if it was while the job ran.
    objection: OnceLock<String>,
    /// Where the file may lie: the first place that can be written is taken.
    places: Vec<PathBuf>,
    path: OnceLock<PathBuf>,
    file: Mutex<Option<File>>,
    first: OnceLock<String>,
    watchers: Mutex<Vec<Arc<dyn Watcher>>>,
    /// How many there were for each kind of cause.
    causes: Mutex<BTreeMap<(Side, String, String), u64>>,
}

/// Somebody who wants to know which records became dirty: he has let them pass before.
pub trait Watcher: Send + Sync {
    /// The record at this position of this attempt's split is dirty.
    fn dirty(&self, task: u32, attempt: u32, position: u64);
}

/// Who reported a dirty record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    Masked(Value),
}

/// Whether a file of dirty records begins like this.
pub fn is_dirty_file(beginning: &[u8]) -> bool {
    beginning.starts_with(b"{\"run\":\"")
}

impl Dirty {
    /// No dirty record yet. The file is made when the first arrives, in the first of these places that can be written. `under_way`: how
    /// many records may at most have been read and not been counted yet.
    pub fn new(limit: DirtyLimit, under_way: u64, places: Vec<PathBuf>, secrets: Secrets) -> Dirty {
        Dirty {
            limit,
            under_way,
            secrets,
            count: AtomicU64::new(0),
            kept: Arc::default(),
            read: AtomicU64::new(0),
            over: AtomicBool::new(false),
            objection: OnceLock::new(),
            places,
            path: OnceLock::new(),
            file: Mutex::new(None),
            first: OnceLock::new(),
            watchers: Mutex::default(),
            causes: Mutex::default(),
        }
    }

    /// Has somebody told of every dirty record from now on.
    pub fn watch(&self, watcher: Arc<dyn Watcher>) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).push(watcher);
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
            source: record.place.map(|place| self.without_secrets(place)),
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
                *file = Some(self.create()?);
            }
            if let (Some(file), Some(path)) = (file.as_mut(), self.path.get()) {
                file.write_all(&text).map_err(|error| cannot_write(path, &error))?;
            }
        }
        self.first.get_or_init(|| {
            let position = record.position.map(|position| format!(", {} {position}", place.unit)).unwrap_or_default();
            let column = record.column.map(|column| format!(", column {column}")).unwrap_or_default();
            let short = record.value.filter(|value| value.len() <= SHORT_VALUE);
            let value = short.map(|value| format!(", value {value:?}")).unwrap_or_default();
            format!("{split}{position}{column}{value}: {cause}")
        });
        self.count_cause(place, &kind::of(&cause, record));
        if let Some(position) = record.position {
            let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            watchers.iter().for_each(|watcher| watcher.dirty(place.number, place.attempt, position));
        }
        // What a reader cannot read is no part of any batch.
        let read = if place.side == Side::Reader { self.read(1) } else { self.read.load(Ordering::Relaxed) };
        self.kept.fetch_add(1, Ordering::Relaxed);
        let dirty = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if self.limit.records.is_none() && read < SHARE_FROM_RECORDS {
            return Ok(Verdict::Kept);
        }
        let Some(objection) = self.limit.objection(dirty, read.saturating_add(self.under_way)) else {
            return Ok(Verdict::Kept);
        };
        self.objection.get_or_init(|| objection);
        self.over.store(true, Ordering::Relaxed);
        Ok(Verdict::OverLimit)
    }

    fn count_cause(&self, place: &Place<'_>, cause: &str) {
        let mut causes = self.causes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (place.side, place.plugin.to_string(), cause.to_string());
        if causes.len() >= MOST_CAUSES && !causes.contains_key(&key) {
            key.2 = OTHER_CAUSES.into();
        }
        *causes.entry(key).or_default() += 1;
    }

    /// How many there were for each kind of cause, those of failed attempts included; the most frequent come first.
    pub fn causes(&self) -> Vec<(Side, String, String, u64)> {
        let causes = self.causes.lock().unwrap_or_else(PoisonError::into_inner);
        let all = causes.iter().map(|((side, plugin, cause), count)| (*side, plugin.clone(), cause.clone(), *count));
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        all
    }

    /// What a plugin says of the source. Masked as text it might be JSON no longer.
    fn without_secrets<'a>(&self, place: &'a str) -> Fragment<'a> {
        if self.secrets.is_empty() {
            return Fragment::of(place);
        }
        let mut tree = serde_json::from_str(place).unwrap_or_else(|_| Value::from(place));
        self.secrets.mask_tree(&mut tree);
        Fragment::Masked(tree)
    }

    /// Counts records that a reader gave, for the share of those that are dirty; returns how many there are by now.
    pub fn read(&self, records: u64) -> u64 {
        self.read.fetch_add(records, Ordering::Relaxed) + records
    }

    /// Takes back what an attempt that is tried again had counted; its lines stay, with the attempt's number.
    pub fn forgive(&self, dirty: u64, read: u64) {
        self.count.fetch_sub(dirty, Ordering::Relaxed);
        self.read.fetch_sub(read, Ordering::Relaxed);
    }

    /// Why the job must not be committed, `dirty` of `read` records being what its tasks have reported.
    pub fn objection(&self, dirty: u64, read: u64) -> Option<String> {
        self.objection.get().cloned().or_else(|| self.limit.objection(self.count().max(dirty), read))
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Where all that were ever kept are counted, those of attempts that are tried again included.
    pub fn kept(&self) -> Arc<AtomicU64> {
        self.kept.clone()
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
        let made = self.path.get().map(PathBuf::as_path);
        made.or_else(|| self.places.iter().map(PathBuf::as_path).find(|path| path.exists()))
    }

    /// Makes the file. A folder that cannot be written is no reason to fail a job whose records can be kept elsewhere.
    fn create(&self) -> std::io::Result<File> {
        let mut first = None;
        for path in &self.places {
            match create(path) {
                Ok(file) => {
                    if let Some(error) = first {
                        log::warn!("{error}: dirty records are kept in {}", path.display());
                    }
                    self.path.get_or_init(|| path.clone());
                    return Ok(file);
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_else(|| std::io::Error::other("dirty records have no file")))
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
    std::io::Error::new(
        error.kind(),
        format!(
            "cannot write the file of dirty records {}: {error} (--dirty FILE keeps them elsewhere)",
            path.display()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        let dirty = Dirty::new(
            DirtyLimit { records: Some(1), share: None },
            0,
            vec![folder.path().join("dirty.jsonl")],
            Secrets::default(),
        );
        let record = DirtyRecord { cause: "bad", ..DirtyRecord::default() };
        assert_eq!(dirty.keep(&place(), &record).unwrap(), Verdict::Kept);
        assert_eq!(dirty.keep(&place(), &record).unwrap(), Verdict::OverLimit);
        assert_eq!(std::fs::read_to_string(dirty.file().unwrap()).unwrap().lines().count(), 2);
    }

    /// Trap 20.
    #[test]
    fn a_share_is_looked_at_while_the_job_runs_once_it_means_something() {
        let folder = tempfile::tempdir().unwrap();
        let limit = DirtyLimit { records: None, share: Some(0.01) };
        let dirty = Dirty::new(limit, 1_000, vec![folder.path().join("dirty.jsonl")], Secrets::default());
        let record = DirtyRecord { cause: "bad", ..DirtyRecord::default() };
        for _ in 0..100 {
            assert_eq!(dirty.keep(&place(), &record).unwrap(), Verdict::Kept, "of a hundred records");
        }
        // With the thousand that may be under way.
        dirty.read(9_899);
        assert_eq!(
            dirty.keep(&place(), &record).unwrap(),
            Verdict::Kept,
            "101 of 10,000 and the 1,000 that may be under way"
        );
        assert_eq!(dirty.objection(101, 1 << 40), None);
        let verdicts: Vec<Verdict> = (0..11).map(|_| dirty.keep(&place(), &record).unwrap()).collect();
        assert_eq!(verdicts[..9], [Verdict::Kept; 9]);
        assert_eq!(verdicts[9], Verdict::OverLimit, "111 of 11,010");
        assert!(dirty.is_over() && dirty.objection(112, 1 << 40).is_some(), "what was over once stays over");
    }

    #[test]
    fn a_line_says_where_the_record_came_from_and_holds_it_whole() {
        let folder = tempfile::tempdir().unwrap();
        let dirty = Dirty::new(DirtyLimit::default(), 0, vec![folder.path().join("dirty.jsonl")], Secrets::default());
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

    /// What was fetched from elsewhere may be a part of any of them.
    #[test]
    fn secrets_are_masked_in_all_that_a_plugin_says_and_stay_in_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let mut secrets = Secrets::default();
        secrets.add_all(&["a\"b\\c".to_string(), "300".to_string()]);
        let dirty = Dirty::new(DirtyLimit::default(), 0, vec![folder.path().join("dirty.jsonl")], secrets);
        let record = DirtyRecord {
            value: Some("a\"b\\c"),
            cause: "cannot use a\"b\\c",
            record: Some(r#"{"price":"a\"b\\c"}"#),
            place: Some(
                "{\"file\": \"/x/dir_a\\u0022b\\\\c/a.csv\",\n\"line\": 300, \"byte\": 12345678901234567890123}",
            ),
            ..DirtyRecord::default()
        };
        dirty.keep(&Place { split: "dir_a\"b\\c", ..place() }, &record).unwrap();
        dirty.keep(&place(), &DirtyRecord { place: Some("line 300 of a\"b\\c"), ..record }).unwrap();
        let text = std::fs::read_to_string(dirty.file().unwrap()).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["source"]["file"], "/x/dir_***/a.csv");
        assert_eq!(lines[0]["source"]["line"], 300);
        assert_eq!(lines[0]["source"]["byte"].to_string(), "12345678901234567890123");
        assert_eq!((&lines[0]["split"], &lines[0]["cause"]), (&json!("dir_***"), &json!("cannot use ***")));
        assert_eq!((&lines[0]["value"], &lines[0]["record"]["price"]), (&json!("a\"b\\c"), &json!("a\"b\\c")));
        assert_eq!(lines[1]["source"], "line *** of ***");
    }

    #[test]
    fn no_file_is_made_without_a_dirty_record() {
        let folder = tempfile::tempdir().unwrap();
        let dirty = Dirty::new(DirtyLimit::default(), 0, vec![folder.path().join("dirty.jsonl")], Secrets::default());
        assert_eq!(dirty.file(), None);
        drop(dirty);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_taken_back_was_kept_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let places = vec![folder.path().join("dirty.jsonl")];
        let dirty = Dirty::new(DirtyLimit::default(), 0, places, Secrets::default());
        let kept = dirty.kept();
        for _ in 0..3 {
            dirty.keep(&place(), &DirtyRecord::default()).unwrap();
        }
        dirty.forgive(2, 2);
        assert_eq!((dirty.count(), kept.load(Ordering::Relaxed)), (1, 3));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_passed_over_for_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let places = vec!["/no/such/folder/dirty.jsonl".into(), folder.path().join("dirty.jsonl")];
        let dirty = Dirty::new(DirtyLimit::default(), 0, places, Secrets::default());
        dirty.keep(&place(), &DirtyRecord::default()).unwrap();
        assert_eq!(dirty.file(), Some(folder.path().join("dirty.jsonl").as_path()));
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error_that_names_it() {
        let dirty =
            Dirty::new(DirtyLimit::default(), 0, vec!["/no/such/folder/dirty.jsonl".into()], Secrets::default());
        let error = dirty.keep(&place(), &DirtyRecord::default()).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder/dirty.jsonl"), "{error}");
    }
}

//! Writers: discarding, and the file that several tasks write together.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::json;
use transship_plugin_api::{Batch, Kind, Report, Writer, WriterTask};

use super::{batch, cancelled_host, host, run, task};

fn numbers(values: impl IntoIterator<Item = i64>) -> Batch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    batch(RecordBatch::try_from_iter([("id", ids)]).unwrap())
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]))
}

fn writer(directory: &Path) -> Box<dyn Writer> {
    crate::writer::new(&json!({ "path": directory, "fileName": "out.txt", "print": true }), host()).unwrap()
}

fn prepared(directory: &Path) -> Box<dyn Writer> {
    let mut writer = writer(directory);
    writer.prepare(&run(), Some(schema())).unwrap();
    writer
}

fn opened(writer: &mut dyn Writer, number: u32) -> Box<dyn WriterTask> {
    let mut task = writer.open(&task(number), schema(), host()).unwrap();
    task.prepare().unwrap();
    task
}

fn write(writer: &mut dyn Writer, number: u32, values: impl IntoIterator<Item = i64>) -> Report {
    let mut task = opened(writer, number);
    task.write(numbers(values)).unwrap();
    task.flush().unwrap();
    task.commit().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn discarded_records_are_counted() {
    let mut writer = crate::writer::new(&json!({ "print": false }), host()).unwrap();
    writer.prepare(&run(), None).unwrap();
    let mut task = writer.open(&task(1), schema(), host()).unwrap();
    task.prepare().unwrap();
    task.write(numbers(0..3)).unwrap();
    task.write(numbers(0..4)).unwrap();
    task.flush().unwrap();
    let report = task.commit().unwrap();
    assert_eq!((report.written, report.bytes), (7, 56));
    writer.commit(&[report]).unwrap();
}

#[test]
fn nothing_is_seen_under_the_name_before_the_job_commits() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("out.txt");
    fs::write(&target, "old").unwrap();
    let mut writer = prepared(directory.path());
    let report = write(writer.as_mut(), 1, [1, 2]);
    assert_eq!((report.written, report.bytes), (2, 4));
    assert_eq!(fs::read_to_string(&target).unwrap(), "old");
    writer.commit(&[report]).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "1\n2\n");
    assert_eq!(names(directory.path()), ["out.txt"]);
}

/// Trap 90.
#[test]
fn the_parts_of_all_tasks_become_one_file_once() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("new/out.txt");
    let mut writer = prepared(target.parent().unwrap());
    let reports: Vec<_> = [vec![1], vec![], vec![2, 3]]
        .into_iter()
        .zip(1..)
        .map(|(values, number)| write(writer.as_mut(), number, values))
        .collect();
    for _ in 0..3 {
        writer.commit(&reports).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "1\n2\n3\n");
        assert_eq!(names(target.parent().unwrap()), ["out.txt"]);
    }
}

#[test]
fn a_commit_that_was_interrupted_is_made_up_for() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = prepared(directory.path());
    let reports = [write(writer.as_mut(), 1, [1]), write(writer.as_mut(), 2, [2])];
    // It died after the rename, with one part removed and one left.
    fs::write(directory.path().join("out.txt"), "1\n2\n").unwrap();
    fs::remove_file(reports[0].detail["part"].as_str().unwrap()).unwrap();
    writer.commit(&reports).unwrap();
    assert_eq!(fs::read_to_string(directory.path().join("out.txt")).unwrap(), "1\n2\n");
    assert_eq!(names(directory.path()), ["out.txt"]);
}

#[test]
fn a_lost_part_fails_the_commit_and_leaves_the_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("out.txt");
    fs::write(&target, "old\n").unwrap();
    let mut writer = prepared(directory.path());
    let reports = [write(writer.as_mut(), 1, [1]), write(writer.as_mut(), 2, [2_000])];
    fs::remove_file(reports[0].detail["part"].as_str().unwrap()).unwrap();
    let error = writer.commit(&reports).unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
    assert_eq!(fs::read_to_string(&target).unwrap(), "old\n");
}

#[test]
fn a_job_without_tasks_makes_an_empty_file() {
    let directory = tempfile::tempdir().unwrap();
    prepared(directory.path()).commit(&[]).unwrap();
    assert_eq!(fs::read(directory.path().join("out.txt")).unwrap(), b"");
}

#[test]
fn the_file_can_be_committed_from_another_process() {
    let directory = tempfile::tempdir().unwrap();
    let state = writer(directory.path()).prepare(&run(), None).unwrap();
    let mut elsewhere = writer(directory.path());
    elsewhere.attach(&state).unwrap();
    let sent = serde_json::to_string(&write(elsewhere.as_mut(), 1, [5])).unwrap();
    let mut third = writer(directory.path());
    third.attach(&state).unwrap();
    third.commit(&[serde_json::from_str(&sent).unwrap()]).unwrap();
    assert_eq!(fs::read_to_string(directory.path().join("out.txt")).unwrap(), "5\n");
    assert!(writer(directory.path()).attach(&json!(null)).is_err());
}

#[test]
fn an_aborted_job_leaves_the_directory_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("out.txt"), "old").unwrap();
    fs::write(directory.path().join(".out.txt.run-0.attempt-1.part"), "of another run").unwrap();
    let before = names(directory.path());
    let mut writer = prepared(directory.path());
    let report = write(writer.as_mut(), 1, [1]);
    let mut failing = opened(writer.as_mut(), 2);
    failing.write(numbers([2])).unwrap();
    failing.abort().unwrap();
    failing.abort().unwrap();
    drop(opened(writer.as_mut(), 3));
    for _ in 0..2 {
        writer.abort(std::slice::from_ref(&report)).unwrap();
        assert_eq!(names(directory.path()), before);
    }
    assert_eq!(fs::read_to_string(directory.path().join("out.txt")).unwrap(), "old");
}

#[test]
fn a_target_that_cannot_be_written_is_said_at_once() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("out.txt")).unwrap();
    let error = writer(directory.path()).prepare(&run(), None).unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.message().contains("out.txt is a directory"), "{error}");

    fs::write(directory.path().join("file"), "").unwrap();
    let error = writer(&directory.path().join("file/below")).prepare(&run(), None).unwrap_err();
    assert!(error.message().contains("file/below") && error.message().contains("can't make the directory"), "{error}");
}

#[test]
fn a_task_sleeps_once_after_so_many_records() {
    let directory = tempfile::tempdir().unwrap();
    let parameter =
        json!({ "path": directory.path(), "fileName": "out.txt", "recordNumBeforeSleep": 5, "sleepTime": 1 });
    let mut writer = crate::writer::new(&parameter, host()).unwrap();
    writer.prepare(&run(), None).unwrap();
    let started = std::time::Instant::now();
    let mut task = opened(writer.as_mut(), 1);
    task.write(numbers(0..4)).unwrap();
    task.write(numbers(4..20)).unwrap();
    task.write(numbers(20..40)).unwrap();
    assert!(started.elapsed().as_secs() >= 1);
    let report = task.commit().unwrap();
    let part = fs::read_to_string(report.detail["part"].as_str().unwrap()).unwrap();
    assert_eq!(part, (0..40).map(|number| format!("{number}\n")).collect::<String>());
}

#[test]
fn a_sleeping_task_wakes_when_it_is_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let parameter =
        json!({ "path": directory.path(), "fileName": "out.txt", "recordNumBeforeSleep": 2, "sleepTime": 100_000 });
    let mut writer = crate::writer::new(&parameter, host()).unwrap();
    writer.prepare(&run(), None).unwrap();
    let mut sleeping = opened(writer.as_mut(), 1);
    let cancel = sleeping.cancel_handle().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sleeping.write(numbers(0..4)));
        cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().kind(), Kind::Cancelled);
    });
    let part = directory.path().join(".out.txt.run-1.attempt-1.part");
    assert_eq!(fs::read_to_string(part).unwrap(), "0\n1\n");
    let mut told_by_host = writer.open(&task(2), schema(), cancelled_host()).unwrap();
    told_by_host.prepare().unwrap();
    assert_eq!(told_by_host.write(numbers(0..4)).unwrap_err().kind(), Kind::Cancelled);
}

/// An output that fails in its own way.
struct Failing(std::io::ErrorKind);

impl std::io::Write for Failing {
    fn write(&mut self, _text: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_fails_is_an_error_of_its_task() {
    let error = crate::writer::print(&mut Failing(std::io::ErrorKind::BrokenPipe), b"1\n").unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::Io, "standard output was closed by whoever reads it"));
    let error = crate::writer::print(&mut Failing(std::io::ErrorKind::StorageFull), b"1\n").unwrap_err();
    assert!(error.message().starts_with("can't print to standard output: "), "{error}");
}

/// Trap 82.
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    // /dev/full takes no byte, and stands in for the part here.
    let directory = tempfile::tempdir().unwrap();
    let mut writer = prepared(directory.path());
    let part = directory.path().join(".out.txt.run-1.attempt-1.part");
    std::os::unix::fs::symlink("/dev/full", &part).unwrap();
    let mut task = opened(writer.as_mut(), 1);
    let error = task.write(numbers(0..4)).unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.message().contains("attempt-1.part"), "{error}");
    task.abort().unwrap();
    assert!(!part.exists());
}

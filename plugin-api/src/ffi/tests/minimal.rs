//! The plugin in C, compiled, opened as a library, and put together with readers and writers in Rust.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use serde_json::json;

use super::fixtures::{Memory, records, schema, some_host};
use crate::batch::{Batch, Origin};
use crate::error::Kind;
use crate::ffi::import::{LoadedPlugin, Trust};
use crate::reader::{Item, ReadOptions, Reader, Split, SplitRequest};
use crate::writer::{CommitClass, Report, TaskInfo, Writer};

/// The plugin, compiled and opened once for all tests of this file. The file may go once it is mapped.
fn minimal() -> LoadedPlugin {
    static MINIMAL: OnceLock<LoadedPlugin> = OnceLock::new();
    let load = || {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libtransship_minimal.so");
        compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/minimal.c"), &library);
        LoadedPlugin::open(&library, some_host(), Trust::Untrusted).unwrap()
    };
    MINIMAL.get_or_init(load).clone()
}

fn compile(source: &Path, library: &Path) {
    let output = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-I"])
        .args([&Path::new(env!("CARGO_MANIFEST_DIR")).join("include"), Path::new("-o"), library, source])
        .output()
        .unwrap_or_else(|error| panic!("cc is needed for this test: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn reader(count: u64) -> Box<dyn Reader> {
    minimal().reader("minimalreader", &json!({ "records": count }), some_host()).unwrap()
}

fn writer(path: &Path) -> Box<dyn Writer> {
    minimal().writer("minimalwriter", &json!({ "path": path }), some_host()).unwrap()
}

fn task_info(task: &str) -> TaskInfo {
    TaskInfo { run: "r".into(), task: task.into(), attempt: "a".into(), number: 1 }
}

/// All splits of a reader, asked for two at a time.
fn splits(reader: &mut dyn Reader) -> Vec<Split> {
    let mut all = Vec::new();
    loop {
        let some = reader.splits(&SplitRequest { channels: 4, max: 2 }).unwrap();
        assert!(some.len() <= 2);
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

/// Reads a split and hands its batches to `take`.
fn read(reader: &mut dyn Reader, split: &Split, options: &ReadOptions, mut take: impl FnMut(Batch)) {
    let mut task = reader.open(split, options, some_host()).unwrap();
    task.prepare().unwrap();
    loop {
        match task.next(Duration::ZERO).unwrap() {
            Item::Batch(batch) => take(batch),
            Item::End => return,
            other => panic!("{other:?}"),
        }
    }
}

/// The lines that the writer makes of the reader's records `from` to `to`.
fn lines(from: i64, to: i64) -> String {
    (from..to).map(|id| if id % 3 == 2 { format!("{id}\t\\N\n") } else { format!("{id}\tname {id}\n") }).collect()
}

#[test]
fn it_says_what_it_is() {
    let loaded = minimal();
    let description = loaded.description();
    assert_eq!((&*description.name, &*description.version), ("minimal", "1.0.0"));
    assert_eq!(description.readers[0].names, ["minimalreader"]);
    assert!(description.readers[0].parameters[0].required);
    assert_eq!(description.writers[0].parameters[0].name, "path");
    assert!(description.transformers.is_empty());
    let info = writer(Path::new("x")).info();
    assert_eq!((info.commit, info.max_open_tasks, info.idempotent), (CommitClass::Task, 0, false));
}

#[test]
fn rows_go_from_c_to_rust() {
    let mut reader = reader(2500);
    let splits = splits(&mut *reader);
    assert_eq!(splits.iter().map(|split| split.records.unwrap()).collect::<Vec<_>>(), [1000, 1000, 500]);
    let options = ReadOptions { batch_records: 300, ..ReadOptions::default() };
    let mut next = 0;
    for split in &splits {
        read(&mut *reader, split, &options, |mut batch| {
            let rows = batch.num_rows() as i64;
            assert!(rows <= 300 && batch.bytes > 8 * rows as usize);
            assert_eq!(batch.origin, Origin::from(next as u64));
            assert_eq!(batch.position, Some(json!(next + rows)));
            assert_eq!(batch.records().unwrap(), &records(next, next + rows));
            next += rows;
        });
    }
    assert_eq!(next, 2500);
}

#[test]
fn a_split_is_read_on_from_a_position() {
    let mut reader = reader(1000);
    let split = splits(&mut *reader).remove(0);
    let options = ReadOptions { position: Some(json!(990)), ..ReadOptions::default() };
    let mut ids = Vec::new();
    read(&mut *reader, &split, &options, |batch| {
        ids.extend_from_slice(batch.into_records().unwrap().column(0).as_primitive::<Int64Type>().values());
    });
    assert_eq!(ids, (990..1000).collect::<Vec<_>>());
}

#[test]
fn a_batch_of_the_c_reader_outlives_its_reader() {
    let mut reader = reader(10);
    let split = splits(&mut *reader).remove(0);
    let mut kept = Vec::new();
    read(&mut *reader, &split, &ReadOptions::default(), |batch| kept.push(batch));
    drop(reader);
    let batch = kept.remove(0);
    let imported = std::thread::scope(|scope| scope.spawn(|| batch.into_records().unwrap()).join().unwrap());
    assert_eq!(imported, records(0, 10));
}

#[test]
fn rows_go_from_rust_to_c() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.tsv");
    let mut writer = writer(&path);
    let mut task = writer.open(&task_info("t"), schema(), some_host()).unwrap();
    task.prepare().unwrap();
    task.write(Batch::measured(records(0, 7), Origin::default())).unwrap();
    // A slice begins in mid-byte of its bitmap and in mid-value of its offsets.
    task.write(Batch::measured(records(0, 100).slice(7, 30), Origin::default())).unwrap();
    task.write(Batch::measured(records(0, 0), Origin::default())).unwrap();
    task.flush().unwrap();
    assert!(!folder.path().join("out.tsv.t").exists());
    let report = task.commit().unwrap();
    assert_eq!(report, Report { written: 37, bytes: report.bytes, ..Report::default() });
    drop(task);
    assert_eq!(fs::read_to_string(folder.path().join("out.tsv.t")).unwrap(), lines(0, 37));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn rows_go_from_c_to_c() {
    let folder = tempfile::tempdir().unwrap();
    let mut reader = reader(2500);
    let mut writer = writer(&folder.path().join("out.tsv"));
    let mut written = 0;
    for split in splits(&mut *reader) {
        let mut task = writer.open(&task_info(&split.id), schema(), some_host()).unwrap();
        task.prepare().unwrap();
        read(&mut *reader, &split, &ReadOptions::default(), |batch| task.write(batch).unwrap());
        written += task.commit().unwrap().written;
    }
    assert_eq!(written, 2500);
    let file = |split: &str| fs::read_to_string(folder.path().join(format!("out.tsv.{split}"))).unwrap();
    assert_eq!(file("0") + &file("1000") + &file("2000"), lines(0, 2500));
}

#[test]
fn what_does_not_fit_into_a_line_is_dirty() {
    let folder = tempfile::tempdir().unwrap();
    let host = Memory::new();
    let schema = std::sync::Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, true)]));
    let texts = StringArray::from(vec![Some("good"), Some("a\tb"), None, Some("c\nd"), Some("")]);
    let records = RecordBatch::try_new(schema.clone(), vec![std::sync::Arc::new(texts)]).unwrap();
    let mut writer = writer(&folder.path().join("out"));
    let mut task = writer.open(&task_info("t"), schema, host.clone()).unwrap();
    task.prepare().unwrap();
    task.write(Batch::measured(records.clone(), Origin::from(100))).unwrap();
    let heard = host.heard();
    assert_eq!(heard.len(), 2);
    for part in
        ["position: Some(101)", "column: Some(\"text\")", "value: Some(\"a\\tb\")", "cause: \"a text with a tab"]
    {
        assert!(heard[0].contains(part), "{part}: {}", heard[0]);
    }
    host.limit_reached.store(true, std::sync::atomic::Ordering::SeqCst);
    let error = task.write(Batch::measured(records, Origin::default().take([5, 4, 3, 2, 1]))).unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::Cancelled, "more than 0 dirty records"));
    task.abort().unwrap();
    task.abort().unwrap();
    drop(task);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn its_errors_have_kinds_and_messages() {
    let loaded = minimal();
    let error = loaded.reader("minimalreader", &json!({}), some_host()).err().unwrap();
    assert_eq!(error.kind(), Kind::Config);
    assert_eq!(error.message(), "parameter.records is required, a whole number from 0 on");
    assert_eq!(loaded.writer("minimalwriter", &json!({ "path": "" }), some_host()).err().unwrap().kind(), Kind::Config);
    assert_eq!(loaded.transformer("any", &json!({}), some_host()).err().unwrap().kind(), Kind::Unsupported);

    let missing = Path::new("/nonexistent \"folder\"\\x/out");
    let mut task = writer(missing).open(&task_info("t"), schema(), some_host()).unwrap();
    let error = task.prepare().unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
    let message = "cannot create /nonexistent \"folder\"\\x/out.t.part: No such file or directory";
    assert_eq!(error.message(), message);

    let floats = std::sync::Arc::new(Schema::new(vec![Field::new("price", DataType::Float64, true)]));
    let error = writer(missing).open(&task_info("t"), floats, some_host()).err().unwrap();
    assert_eq!(error.kind(), Kind::Schema);
    assert_eq!(error.message(), "column \"price\" has the type g, but minimalwriter takes int64 and text only");
}

#[test]
fn a_file_that_is_no_library_is_an_io_error_with_the_systems_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libtransship_text.so");
    let error = LoadedPlugin::open(&path, some_host(), Trust::Trusted).unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.message().starts_with(&format!("cannot load {}: ", path.display())), "{error}");
    assert!(error.message().contains("No such file"), "{error}");
    fs::write(&path, "not a library").unwrap();
    assert_eq!(LoadedPlugin::open(&path, some_host(), Trust::Trusted).unwrap_err().kind(), Kind::Io);
}

#[test]
fn a_library_that_is_no_plugin_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join("other.c"), folder.path().join("libother.so"));
    fs::write(&source, "int other(void);\nint other(void) { return 1; }\n").unwrap();
    compile(&source, &path);
    let error = LoadedPlugin::open(&path, some_host(), Trust::Trusted).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    let message = format!("{} has no transship_plugin_init: it is not a transship plugin", path.display());
    assert_eq!(error.message(), message);
}

#[test]
fn a_library_that_needs_what_is_not_there_does_not_load() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join("needs.c"), folder.path().join("libneeds.so"));
    fs::write(
        &source,
        "int absent(void);\nint transship_plugin_init(void);\nint transship_plugin_init(void) { return absent(); }\n",
    )
    .unwrap();
    compile(&source, &path);
    let error = LoadedPlugin::open(&path, some_host(), Trust::Trusted).unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.message().contains("absent"), "{error}");
}

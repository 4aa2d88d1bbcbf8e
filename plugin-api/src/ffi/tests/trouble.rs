//! Errors and panics arrive as what they are and harm nobody else.

use std::panic::panic_any;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde_json::{Value, json};

use super::fixtures::{Memory, in_process, records, schema, some_host};
use crate::Plugin;
use crate::batch::{Batch, Origin};
use crate::error::{Error, Kind, Result};
use crate::ffi::import::LoadedPlugin;
use crate::host::{DirtyRecord, Host, HostRef};
use crate::reader::{Item, Mark, ReadOptions, Reader, ReaderTask, Split, SplitRequest};
use crate::transformer::Transformer;
use crate::writer::{CommitClass, Report, Run, TaskInfo, Writer, WriterInfo, WriterTask};

const READER_CALLS: &[&str] =
    &["new", "prepare", "attach", "schema", "splits", "open", "task prepare", "next", "ack", "task post", "post"];
const WRITER_CALLS: &[&str] = &[
    "new",
    "prepare",
    "attach",
    "open",
    "task prepare",
    "write",
    "mark",
    "flush",
    "checkpoint",
    "task commit",
    "task abort",
    "commit",
    "abort",
    "post",
];
const TRANSFORMER_CALLS: &[&str] = &["new", "schema", "push", "flush"];
const KINDS: &[Kind] = &[
    Kind::Config,
    Kind::Connect,
    Kind::Io,
    Kind::Schema,
    Kind::Data,
    Kind::Unsupported,
    Kind::Cancelled,
    Kind::Internal,
];

/// Fails or panics in one call, and works in all others.
#[derive(Clone)]
struct Trouble {
    call: String,
    kind: Option<Kind>,
    retryable: bool,
    host: HostRef,
}

impl Trouble {
    fn new(parameter: &Value, host: HostRef) -> Result<Trouble> {
        let trouble = Trouble {
            call: parameter["call"].as_str().unwrap_or("").to_string(),
            kind: parameter["kind"].as_i64().map(|code| Kind::from_code(code as i32)),
            retryable: parameter["retryable"].as_bool().unwrap_or(false),
            host,
        };
        trouble.meet("new")?;
        Ok(trouble)
    }

    fn meet(&self, call: &str) -> Result<()> {
        if self.call != call {
            return Ok(());
        }
        match self.kind {
            Some(kind) => Err(Error::new(kind, format!("trouble in {call}: \"é\"\n\0")).retryable(self.retryable)),
            None => panic!("trouble in {call}"),
        }
    }
}

impl Drop for Trouble {
    fn drop(&mut self) {
        if self.call == "drop" {
            self.call.clear();
            panic!("trouble in drop");
        }
    }
}

fn plugin() -> Plugin {
    fn reader(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
        Ok(Box::new(Trouble::new(parameter, host)?))
    }
    fn writer(parameter: &Value, host: HostRef) -> Result<Box<dyn Writer>> {
        Ok(Box::new(Trouble::new(parameter, host)?))
    }
    fn transformer(parameter: &Value, host: HostRef) -> Result<Box<dyn Transformer>> {
        Ok(Box::new(Trouble::new(parameter, host)?))
    }
    Plugin::new("trouble", "0").reader(&["trouble"], "", &[], reader).writer(&["trouble"], "", &[], writer).transformer(
        &["trouble"],
        "",
        &[],
        transformer,
    )
}

impl Reader for Trouble {
    fn prepare(&mut self) -> Result<Value> {
        self.meet("prepare").map(|()| Value::Null)
    }
    fn attach(&mut self, _: &Value) -> Result<()> {
        self.meet("attach")
    }
    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        self.meet("schema").map(|()| None)
    }
    fn splits(&mut self, _: &SplitRequest) -> Result<Vec<Split>> {
        self.meet("splits").map(|()| vec![Split::new("", "", Value::Null)])
    }
    fn open(&mut self, _: &Split, _: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        self.meet("open")?;
        let mut task = self.clone();
        task.host = host;
        Ok(Box::new(task))
    }
    fn post(&mut self) -> Result<()> {
        self.meet("post")
    }
}

impl ReaderTask for Trouble {
    fn prepare(&mut self) -> Result<SchemaRef> {
        self.meet("task prepare").map(|()| schema())
    }
    fn next(&mut self, _: Duration) -> Result<Item> {
        self.meet("next").map(|()| Item::Batch(Batch::measured(records(0, 3), Origin::default())))
    }
    fn ack(&mut self, _: &Value) -> Result<()> {
        self.meet("ack")
    }
    fn post(&mut self) -> Result<()> {
        self.meet("task post")
    }
}

impl Writer for Trouble {
    fn info(&self) -> WriterInfo {
        self.meet("info").expect("this test only panics here");
        WriterInfo { commit: CommitClass::Append, max_open_tasks: 0, target: String::new(), idempotent: false }
    }
    fn plan(&self) -> Vec<String> {
        self.meet("plan").expect("this test only panics here");
        Vec::new()
    }
    fn prepare(&mut self, _: &Run, _: Option<SchemaRef>) -> Result<Value> {
        self.meet("prepare").map(|()| Value::Null)
    }
    fn attach(&mut self, _: &Value) -> Result<()> {
        self.meet("attach")
    }
    fn open(&mut self, _: &TaskInfo, _: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        self.meet("open")?;
        let mut task = self.clone();
        task.host = host;
        Ok(Box::new(task))
    }
    fn commit(&mut self, _: &[Report]) -> Result<()> {
        self.meet("commit")
    }
    fn abort(&mut self, _: &[Report]) -> Result<()> {
        self.meet("abort")
    }
    fn post(&mut self) -> Result<()> {
        self.meet("post")
    }
}

impl WriterTask for Trouble {
    fn prepare(&mut self) -> Result<()> {
        self.meet("task prepare")
    }
    fn write(&mut self, _: Batch) -> Result<()> {
        self.meet("write")?;
        self.host.dirty(&DirtyRecord { cause: "always", ..DirtyRecord::default() })
    }
    fn mark(&mut self, _: Mark) -> Result<()> {
        self.meet("mark")
    }
    fn flush(&mut self) -> Result<()> {
        self.meet("flush")
    }
    fn checkpoint(&mut self, _: u64) -> Result<Option<Report>> {
        self.meet("checkpoint").map(|()| None)
    }
    fn commit(&mut self) -> Result<Report> {
        self.meet("task commit").map(|()| Report::default())
    }
    fn abort(&mut self) -> Result<()> {
        self.meet("task abort")
    }
}

impl Transformer for Trouble {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        self.meet("schema").map(|()| input)
    }
    fn push(&mut self, batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        out.push(batch);
        self.meet("push")
    }
    fn flush(&mut self, _: &mut Vec<Batch>) -> Result<()> {
        self.meet("flush")
    }
}

/// Makes every call of a reader and a task of it, and says which of them failed and how.
fn run_reader(loaded: &LoadedPlugin, parameter: &Value) -> Vec<(&'static str, Error)> {
    let mut failures = Vec::new();
    let mut note = |call, result: Result<()>| failures.extend(result.err().map(|error| (call, error)));
    let mut reader = match loaded.reader("trouble", parameter, some_host()) {
        Ok(reader) => reader,
        Err(error) => return vec![("new", error)],
    };
    note("prepare", reader.prepare().map(drop));
    note("attach", reader.attach(&Value::Null));
    note("schema", reader.schema().map(drop));
    note("splits", reader.splits(&SplitRequest { channels: 1, max: 1 }).map(drop));
    match reader.open(&Split::new("", "", Value::Null), &ReadOptions::default(), some_host()) {
        Err(error) => note("open", Err(error)),
        Ok(mut task) => {
            note("task prepare", task.prepare().map(drop));
            note("next", task.next(Duration::ZERO).map(drop));
            note("ack", task.ack(&Value::Null));
            note("task post", task.post());
        }
    }
    note("post", reader.post());
    failures
}

fn run_writer(loaded: &LoadedPlugin, parameter: &Value) -> Vec<(&'static str, Error)> {
    let mut failures = Vec::new();
    let mut note = |call, result: Result<()>| failures.extend(result.err().map(|error| (call, error)));
    let mut writer = match loaded.writer("trouble", parameter, some_host()) {
        Ok(writer) => writer,
        Err(error) => return vec![("new", error)],
    };
    note("prepare", writer.prepare(&Run { id: String::new(), job: String::new() }, None).map(drop));
    note("attach", writer.attach(&Value::Null));
    let info = TaskInfo { run: String::new(), task: String::new(), attempt: String::new(), number: 1 };
    match writer.open(&info, schema(), some_host()) {
        Err(error) => note("open", Err(error)),
        Ok(mut task) => {
            note("task prepare", task.prepare());
            note("write", task.write(Batch::measured(records(0, 3), Origin::default())));
            note("mark", task.mark(Mark::Flush));
            note("flush", task.flush());
            note("checkpoint", task.checkpoint(1).map(drop));
            note("task commit", task.commit().map(drop));
            note("task abort", task.abort());
        }
    }
    note("commit", writer.commit(&[]));
    note("abort", writer.abort(&[]));
    note("post", writer.post());
    failures
}

fn run_transformer(loaded: &LoadedPlugin, parameter: &Value) -> Vec<(&'static str, Error)> {
    let mut failures = Vec::new();
    let mut note = |call, result: Result<()>| failures.extend(result.err().map(|error| (call, error)));
    let mut transformer = match loaded.transformer("trouble", parameter, some_host()) {
        Ok(transformer) => transformer,
        Err(error) => return vec![("new", error)],
    };
    let result = transformer.schema(schema()).map(drop);
    let failed = result.is_err();
    note("schema", result);
    if !failed {
        let mut out = Vec::new();
        note("push", transformer.push(Batch::measured(records(0, 3), Origin::default()), &mut out));
        note("flush", transformer.flush(&mut out));
    }
    failures
}

type RunRole = fn(&LoadedPlugin, &Value) -> Vec<(&'static str, Error)>;
const ROLES: [(RunRole, &[&str]); 3] =
    [(run_reader, READER_CALLS), (run_writer, WRITER_CALLS), (run_transformer, TRANSFORMER_CALLS)];

#[test]
fn every_kind_of_error_arrives_from_every_call_as_it_was_made() {
    let loaded = in_process!(plugin());
    for (run, calls) in ROLES {
        assert!(run(&loaded, &json!({ "call": "none" })).is_empty());
        for (call, kind) in calls.iter().flat_map(|call| KINDS.iter().map(move |kind| (*call, *kind))) {
            for retryable in [true, false] {
                let parameter = json!({ "call": call, "kind": kind as i32, "retryable": retryable });
                let failures = run(&loaded, &parameter);
                let (failed, error) = failures.first().unwrap_or_else(|| panic!("{call} did not fail"));
                assert_eq!(*failed, call);
                assert_eq!(error.kind(), kind, "{call}");
                assert_eq!(error.is_retryable(), retryable, "{call}");
                assert_eq!(error.message(), format!("trouble in {call}: \"é\"\n\0"));
            }
        }
    }
}

#[test]
fn a_panic_in_any_call_is_an_internal_error_and_others_live() {
    let loaded = in_process!(plugin());
    for (run, calls) in ROLES {
        for call in calls {
            let failures = run(&loaded, &json!({ "call": call }));
            assert!(!failures.is_empty(), "{call}");
            let (failed, error) = &failures[0];
            assert_eq!(failed, call);
            assert_eq!(error.kind(), Kind::Internal, "{call}");
            assert_eq!(error.message(), format!("panic: trouble in {call}"));
            // From then on the object that panicked answers nothing else, but cleans up what it staged.
            for (later, error) in &failures[1..] {
                assert!(!later.contains("abort"), "{later} after {call}");
                assert_eq!(error.kind(), Kind::Internal, "{later} after {call}");
                assert!(error.message().contains("an earlier call of this object panicked"), "{}", error.message());
            }
            assert!(run(&loaded, &json!({ "call": "none" })).is_empty(), "another object, after a panic in {call}");
        }
    }
}

#[test]
fn a_panic_where_the_trait_knows_no_error_is_told_all_the_same() {
    let loaded = in_process!(plugin());
    let error = loaded.writer("trouble", &json!({ "call": "info" }), some_host()).err().unwrap();
    assert_eq!(error.message(), "panic: trouble in info");
    let writer = loaded.writer("trouble", &json!({ "call": "plan" }), some_host()).unwrap();
    assert_eq!(writer.plan(), ["the plan is not known: panic: trouble in plan"]);
}

#[test]
fn a_panic_in_a_drop_stays_inside() {
    let loaded = in_process!(plugin());
    drop(loaded.reader("trouble", &json!({ "call": "drop" }), some_host()).unwrap());
    assert!(run_reader(&loaded, &json!({})).is_empty());
}

#[test]
fn a_payload_that_panics_when_dropped_stays_inside() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("even in the drop");
        }
    }
    let error = crate::ffi::guard::catching(|| -> Result<()> { panic_any(Bomb) }).unwrap_err();
    assert_eq!(error.kind(), Kind::Internal);
    assert_eq!(error.message(), "panic: a value that is no text");
}

#[test]
fn too_many_dirty_records_come_back_as_cancelled() {
    let loaded = in_process!(plugin());
    let host = Memory::new();
    let mut writer = loaded.writer("trouble", &json!({}), some_host()).unwrap();
    let info = TaskInfo { run: String::new(), task: String::new(), attempt: String::new(), number: 1 };
    let mut task = writer.open(&info, schema(), host.clone()).unwrap();
    task.write(Batch::measured(records(0, 1), Origin::default())).unwrap();
    host.limit_reached.store(true, Ordering::SeqCst);
    let error = task.write(Batch::measured(records(0, 1), Origin::default())).unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::Cancelled, "more than 0 dirty records"));
    assert!(!error.is_retryable());
}

#[test]
fn a_host_that_panics_is_an_error_for_the_plugin() {
    struct Angry;
    impl Host for Angry {
        fn log(&self, _: log::Level, _: &str, _: &str) {
            panic!("no log");
        }
        fn dirty(&self, _: &DirtyRecord<'_>) -> Result<()> {
            panic!("no dirty records");
        }
        fn is_cancelled(&self) -> bool {
            panic!("no questions");
        }
    }
    fn reader(_: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
        host.log(log::Level::Info, "", "");
        assert!(host.is_cancelled(), "a host in that state wants no more work");
        Err(host.dirty(&DirtyRecord::default()).unwrap_err())
    }
    let loaded = in_process!(Plugin::new("asks", "0").reader(&["asks"], "", &[], reader));
    let error = loaded.reader("asks", &Value::Null, std::sync::Arc::new(Angry)).err().unwrap();
    assert_eq!((error.kind(), error.message()), (Kind::Internal, "panic: no dirty records"));
}

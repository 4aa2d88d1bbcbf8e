//! A reader, a writer and a transformer behave behind the tables as they do without: the same calls are made on both, and
//! what comes back, down to what the host hears, must be the same.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde_json::{Value, json};

use super::fixtures::{Memory, in_process, records, schema};
use crate::batch::{Batch, Origin};
use crate::error::Result;
use crate::host::{DirtyRecord, HostRef};
use crate::reader::{Item, Mark, ReadOptions, Reader, ReaderTask, Split, SplitRequest};
use crate::transformer::Transformer;
use crate::writer::{CommitClass, Report, Run, TaskInfo, Writer, WriterInfo, WriterTask};
use crate::{Parameter, Plugin};

const PARAMETERS: &[Parameter] =
    &[Parameter::required("path", "string", "Where."), Parameter::optional("records", "number", "10", "How many.")];

fn plugin() -> Plugin {
    Plugin::new("echo", "1.2.3")
        .reader(&["echoreader", "echo"], "Says what it hears.", PARAMETERS, new_reader)
        .writer(&["echowriter"], "Says what it hears.", PARAMETERS, new_writer)
        .transformer(&["echotransformer"], "Says what it hears.", &[], new_transformer)
}

fn say(host: &HostRef, what: impl Debug) {
    host.log(log::Level::Info, "echo", &format!("{what:?}"));
}

struct Echo {
    parameter: Value,
    host: HostRef,
    state: Value,
    asked: u32,
}

fn echo(parameter: &Value, host: HostRef) -> Echo {
    Echo { parameter: parameter.clone(), host, state: Value::Null, asked: 0 }
}

fn new_reader(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    Ok(Box::new(echo(parameter, host)))
}

fn new_writer(parameter: &Value, host: HostRef) -> Result<Box<dyn Writer>> {
    Ok(Box::new(echo(parameter, host)))
}

fn new_transformer(parameter: &Value, host: HostRef) -> Result<Box<dyn Transformer>> {
    say(&host, parameter);
    Ok(Box::new(Hold { host, held: Vec::new() }))
}

impl Reader for Echo {
    fn prepare(&mut self) -> Result<Value> {
        Ok(json!({ "parameter": self.parameter, "kanji": "漢字" }))
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        self.state = state.clone();
        Ok(())
    }

    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        Ok(Some(schema()))
    }

    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        self.asked += 1;
        if self.asked > 2 {
            return Ok(Vec::new());
        }
        let detail = json!({ "request": request, "state": self.state });
        let mut split = Split::new(format!("split {}", self.asked), "the label", detail);
        split.bytes = Some(u64::MAX);
        split.unit = "line".into();
        Ok(vec![split.clone(), Split::new("other", "", Value::Null)])
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        say(&host, (split, options));
        Ok(Box::new(EchoReaderTask { host, step: 0 }))
    }

    fn post(&mut self) -> Result<()> {
        say(&self.host, "reader post");
        Ok(())
    }
}

struct EchoReaderTask {
    host: HostRef,
    step: u32,
}

impl ReaderTask for EchoReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        say(&self.host, "task prepare");
        Ok(schema())
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        say(&self.host, timeout);
        self.step += 1;
        Ok(match self.step {
            1 => Item::Batch(Batch::new(records(0, 5), 123, Origin::from(7))),
            2 => {
                let mut batch = Batch::measured(records(0, 9).slice(3, 4), Origin::from(0).take([8, 6, 4, 2]));
                batch.position = Some(json!({ "offset": [1, 2.5, "x", null] }));
                Item::Batch(batch)
            }
            3 => Item::Mark(Mark::Watermark(-5)),
            4 => Item::Idle,
            5 => Item::Mark(Mark::Flush),
            6 => Item::Batch(Batch::measured(records(0, 0), Origin::default())),
            7 => Item::Mark(Mark::Epoch(u64::MAX)),
            _ => Item::End,
        })
    }

    fn ack(&mut self, position: &Value) -> Result<()> {
        say(&self.host, position);
        Ok(())
    }

    fn post(&mut self) -> Result<()> {
        say(&self.host, "task post");
        Ok(())
    }
}

impl Writer for Echo {
    fn info(&self) -> WriterInfo {
        WriterInfo { commit: CommitClass::Task, max_open_tasks: 3, target: "écho".into(), idempotent: true }
    }

    fn plan(&self) -> Vec<String> {
        vec!["DROP \"it\"".into(), String::new(), format!("{:?}", self.parameter)]
    }

    fn prepare(&mut self, run: &Run, schema: Option<SchemaRef>) -> Result<Value> {
        say(&self.host, (run, &schema));
        Ok(json!({ "columns": schema.map(|schema| schema.fields().len()) }))
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        say(&self.host, state);
        Ok(())
    }

    fn open(&mut self, task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        say(&host, (task, schema));
        Ok(Box::new(EchoWriterTask { host, written: 0 }))
    }

    fn commit(&mut self, reports: &[Report]) -> Result<()> {
        say(&self.host, ("commit", reports));
        Ok(())
    }

    fn abort(&mut self, reports: &[Report]) -> Result<()> {
        say(&self.host, ("abort", reports));
        Ok(())
    }

    fn post(&mut self) -> Result<()> {
        say(&self.host, "writer post");
        Ok(())
    }
}

struct EchoWriterTask {
    host: HostRef,
    written: u64,
}

impl WriterTask for EchoWriterTask {
    fn prepare(&mut self) -> Result<()> {
        say(&self.host, "task prepare");
        Ok(())
    }

    fn write(&mut self, mut batch: Batch) -> Result<()> {
        self.written += batch.num_rows() as u64;
        say(&self.host, (batch.bytes, batch.origin.clone(), batch.position.clone()));
        say(&self.host, batch.records()?);
        self.host.dirty(&DirtyRecord {
            position: Some(batch.origin.position(0)),
            column: Some("name"),
            value: Some("\0\u{1F600}"),
            cause: "it is the first",
            record: Some("{}"),
            place: None,
        })?;
        self.host.dirty(&DirtyRecord { cause: "nothing but a cause", ..DirtyRecord::default() })
    }

    fn mark(&mut self, mark: Mark) -> Result<()> {
        say(&self.host, mark);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        say(&self.host, ("flush", self.host.is_cancelled()));
        Ok(())
    }

    fn checkpoint(&mut self, epoch: u64) -> Result<Option<Report>> {
        Ok((epoch > 1).then(|| Report { written: epoch, ..Report::default() }))
    }

    fn commit(&mut self) -> Result<Report> {
        Ok(Report { written: self.written, duplicates: 3, bytes: 1 << 60, detail: json!({ "files": ["a", "b"] }) })
    }

    fn abort(&mut self) -> Result<()> {
        say(&self.host, "task abort");
        Ok(())
    }
}

/// Holds every batch until the next one comes, and then gives the old one twice.
struct Hold {
    host: HostRef,
    held: Vec<Batch>,
}

impl Transformer for Hold {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        say(&self.host, &input);
        Ok(input)
    }

    fn push(&mut self, mut batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        say(&self.host, (batch.bytes, batch.records()?));
        self.flush(out)?;
        self.held.push(batch.slice(0, 2)?);
        self.held.push(batch);
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        out.append(&mut self.held);
        Ok(())
    }
}

/// Everything that can be seen of a batch.
fn show(mut batch: Batch) -> String {
    let records = batch.records().unwrap().clone();
    format!("{} bytes, {:?}, {:?}, {records:?}", batch.bytes, batch.origin, batch.position)
}

fn use_reader(reader: &mut dyn Reader, host: &Memory) -> Vec<String> {
    let mut seen = Vec::new();
    let mut see = |what: &dyn Debug| seen.push(format!("{what:?}"));
    let state = reader.prepare().unwrap();
    see(&state);
    reader.attach(&state).unwrap();
    see(&reader.schema().unwrap());
    let request = SplitRequest { channels: 4, max: 2 };
    let splits = reader.splits(&request).unwrap();
    see(&splits);
    see(&reader.splits(&request).unwrap());
    see(&reader.splits(&request).unwrap());
    let options = ReadOptions { position: Some(json!([1])), ..ReadOptions::default() };
    let task_host = Memory::new();
    let mut task = reader.open(&splits[0], &options, task_host.clone()).unwrap();
    see(&task.prepare().unwrap());
    loop {
        match task.next(Duration::from_micros(1500)).unwrap() {
            Item::Batch(batch) => see(&show(batch)),
            Item::End => break,
            other => see(&other),
        }
    }
    task.ack(&json!({ "offset": 3 })).unwrap();
    task.post().unwrap();
    drop(task);
    reader.post().unwrap();
    see(&(task_host.heard(), host.heard()));
    seen
}

fn use_writer(writer: &mut dyn Writer, host: &Memory) -> Vec<String> {
    let mut seen = Vec::new();
    let mut see = |what: &dyn Debug| seen.push(format!("{what:?}"));
    see(&(writer.info(), writer.plan()));
    let run = Run { id: "r".into(), job: "job \"x\"".into() };
    see(&writer.prepare(&run, None).unwrap());
    see(&writer.prepare(&run, Some(schema())).unwrap());
    writer.attach(&json!({ "state": 1 })).unwrap();
    let info = TaskInfo { run: "r".into(), task: "t".into(), attempt: "a".into(), number: 2 };
    let task_host = Memory::new();
    let mut task = writer.open(&info, schema(), task_host.clone()).unwrap();
    task.prepare().unwrap();
    let mut batch = Batch::new(records(0, 4), 99, Origin::from(1).take([3, 2, 1, 0]));
    batch.position = Some(json!("here"));
    task.write(batch).unwrap();
    task.write(Batch::measured(records(0, 10).slice(4, 3), Origin::from(4))).unwrap();
    for mark in [Mark::Watermark(i64::MIN), Mark::Flush, Mark::Epoch(3)] {
        task.mark(mark).unwrap();
    }
    task_host.cancelled.store(true, std::sync::atomic::Ordering::SeqCst);
    task.flush().unwrap();
    see(&(task.checkpoint(1).unwrap(), task.checkpoint(2).unwrap()));
    let report = task.commit().unwrap();
    see(&report);
    task.abort().unwrap();
    drop(task);
    writer.commit(&[report.clone(), Report::default()]).unwrap();
    writer.abort(&[report]).unwrap();
    writer.post().unwrap();
    see(&(task_host.heard(), host.heard()));
    seen
}

fn use_transformer(transformer: &mut dyn Transformer, host: &Memory) -> Vec<String> {
    let mut seen = vec![format!("{:?}", transformer.schema(schema()).unwrap())];
    for from in [0, 5] {
        let mut out = Vec::new();
        let origin = Origin::from(from as u64).take([4, 2, 0, 1]);
        transformer.push(Batch::new(records(from, from + 4), 1000, origin), &mut out).unwrap();
        seen.push(format!("{:?}", out.into_iter().map(show).collect::<Vec<_>>()));
    }
    let mut out = Vec::new();
    transformer.flush(&mut out).unwrap();
    seen.push(format!("{:?}", out.into_iter().map(show).collect::<Vec<_>>()));
    seen.push(format!("{:?}", host.heard()));
    seen
}

#[test]
fn a_reader_behaves_the_same_behind_its_table() {
    let parameter = json!({ "path": "/tmp/é", "records": "5" });
    let (native_host, host) = (Memory::new(), Memory::new());
    let native = use_reader(&mut *new_reader(&parameter, native_host.clone()).unwrap(), &native_host);
    let mut reader = in_process!(plugin()).reader("echoreader", &parameter, host.clone()).unwrap();
    assert_eq!(use_reader(&mut *reader, &host), native);
    assert_eq!(native.len(), 14, "{native:#?}");
}

#[test]
fn a_writer_behaves_the_same_behind_its_table() {
    let parameter = json!({ "path": "p" });
    let (native_host, host) = (Memory::new(), Memory::new());
    let native = use_writer(&mut *new_writer(&parameter, native_host.clone()).unwrap(), &native_host);
    let mut writer = in_process!(plugin()).writer("echowriter", &parameter, host.clone()).unwrap();
    assert_eq!(use_writer(&mut *writer, &host), native);
    assert_eq!(native.len(), 6, "{native:#?}");
}

#[test]
fn a_transformer_behaves_the_same_behind_its_table() {
    let parameter = json!(null);
    let (native_host, host) = (Memory::new(), Memory::new());
    let native = use_transformer(&mut *new_transformer(&parameter, native_host.clone()).unwrap(), &native_host);
    let mut transformer = in_process!(plugin()).transformer("echotransformer", &parameter, host.clone()).unwrap();
    assert_eq!(use_transformer(&mut *transformer, &host), native);
    assert_eq!(native.len(), 5, "{native:#?}");
}

#[test]
fn what_a_plugin_says_of_itself_crosses_whole() {
    let loaded = in_process!(plugin());
    assert_eq!(loaded.description(), plugin().description());
    assert_eq!(loaded.description().readers[0].parameters, PARAMETERS);
    assert_eq!(loaded.path().to_str(), Some("in-process"));
}

#[test]
fn an_alias_names_the_same_reader_and_an_unknown_name_none() {
    let loaded = in_process!(plugin());
    assert!(loaded.reader("echo", &Value::Null, Memory::new()).is_ok());
    let error = loaded.reader("echowriter", &Value::Null, Memory::new()).err().unwrap();
    assert_eq!(error.kind(), crate::Kind::Unsupported);
    assert_eq!(error.message(), "the plugin echo has no reader named \"echowriter\"");
}

#[test]
fn a_schema_keeps_its_metadata() {
    use arrow_schema::{DataType, Field, Schema};
    let number = Field::new("amount", DataType::Utf8, true)
        .with_metadata([("ARROW:extension:name".to_string(), "transship.number".to_string())]);
    let of_schema = [("transship.source".to_string(), "orders".to_string())];
    let schema: SchemaRef = Arc::new(Schema::new(vec![number]).with_metadata(of_schema));
    let mut transformer = in_process!(plugin()).transformer("echotransformer", &Value::Null, Memory::new()).unwrap();
    assert_eq!(transformer.schema(schema.clone()).unwrap(), schema);
}

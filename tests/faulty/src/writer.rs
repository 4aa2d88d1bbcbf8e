//! The writer: it notes the ids that it is given in a file, and shows them as its commit class says.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde_json::{Value, json};
use transship_plugin_api::{
    Batch, CancelHandle, CommitClass, Error, HostRef, Mark, Params, Report, Result, Run, TaskInfo, Writer, WriterInfo,
    WriterTask,
};

use crate::fault::Faults;
use crate::journal::Journal;
use crate::reader::log_everywhere;
use crate::table;

struct FaultyWriter {
    config: Config,
    host: HostRef,
}

#[derive(Debug, Clone)]
struct Config {
    target: Option<PathBuf>,
    commit: CommitClass,
    max_open_tasks: u32,
    idempotent: bool,
    /// Records that its report tells beside those that it has written.
    lie: i64,
    plan: Vec<String>,
    dirty_every: Option<u64>,
    log: Option<String>,
    faults: Faults,
    journal: Journal,
}

pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Writer>> {
    let params = Params::new(parameter, "parameter")?;
    let classes = [("atomic", CommitClass::Atomic), ("task", CommitClass::Task), ("append", CommitClass::Append)];
    let config = Config {
        target: params.text("target")?.map(PathBuf::from),
        commit: params.choice("commit", &classes)?.unwrap_or(CommitClass::Task),
        max_open_tasks: params.whole("maxOpenTasks")?.unwrap_or(0) as u32,
        idempotent: params.truth("idempotent")?.unwrap_or(false),
        lie: params.integer("lie")?.unwrap_or(0),
        plan: params.texts("plan")?,
        dirty_every: params.whole("dirtyEvery")?,
        log: params.text("log")?,
        faults: Faults::read(&params)?,
        journal: Journal::read(&params)?,
    };
    config.journal.note("writer init");
    log_everywhere(config.log.as_deref());
    config.faults.at("init", host.as_ref())?;
    Ok(Box::new(FaultyWriter { config, host }))
}

impl FaultyWriter {
    fn step(&self, call: &str) -> Result<()> {
        self.config.journal.note(format!("writer {call}"));
        self.config.faults.at(call, self.host.as_ref())
    }
}

impl Writer for FaultyWriter {
    fn info(&self) -> WriterInfo {
        // It has no way to fail but a panic.
        let _ = self.step("info");
        let target = self.config.target.as_ref().map_or_else(|| "nowhere".into(), |path| path.display().to_string());
        WriterInfo {
            commit: self.config.commit,
            max_open_tasks: self.config.max_open_tasks,
            target: format!("faulty:{target}"),
            idempotent: self.config.idempotent,
        }
    }

    fn plan(&self) -> Vec<String> {
        let _ = self.step("plan");
        self.config.plan.clone()
    }

    fn prepare(&mut self, run: &Run, schema: Option<SchemaRef>) -> Result<Value> {
        let schema = if schema.is_some() { "known" } else { "unknown" };
        self.config.journal.note(format!("writer prepare, schema {schema}"));
        self.config.faults.at("prepare", self.host.as_ref())?;
        Ok(json!({ "run": run.id }))
    }

    fn attach(&mut self, _state: &Value) -> Result<()> {
        self.step("attach")
    }

    fn open(&mut self, task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        self.config.journal.note(format!("writer open attempt {}", task.number));
        self.config.faults.at("open", host.as_ref())?;
        if schema.fields().is_empty() {
            return Err(Error::schema("records without columns cannot be written"));
        }
        let config = Config { faults: self.config.faults.for_task(), ..self.config.clone() };
        Ok(Box::new(FaultyWriterTask {
            config,
            host,
            attempt: task.attempt.clone(),
            taken: 0,
            written: 0,
            staged: String::new(),
        }))
    }

    fn commit(&mut self, reports: &[Report]) -> Result<()> {
        self.config.journal.note(format!("writer commit of {}", reports.len()));
        self.config.faults.at("commit", self.host.as_ref())?;
        for staged in self.staged_files(reports) {
            // A file that is not there any more was committed by an earlier call.
            if let (Ok(text), Some(target)) = (std::fs::read_to_string(&staged), &self.config.target) {
                append(target, &text)?;
                std::fs::remove_file(&staged)?;
            }
        }
        Ok(())
    }

    fn abort(&mut self, reports: &[Report]) -> Result<()> {
        self.config.journal.note(format!("writer abort of {}", reports.len()));
        self.config.faults.at("abort", self.host.as_ref())?;
        for staged in self.staged_files(reports).into_iter().filter(|staged| staged.exists()) {
            std::fs::remove_file(staged)?;
        }
        Ok(())
    }

    fn post(&mut self) -> Result<()> {
        self.step("post")
    }
}

impl FaultyWriter {
    fn staged_files(&self, reports: &[Report]) -> Vec<PathBuf> {
        reports.iter().filter_map(|report| report.detail["staged"].as_str()).map(PathBuf::from).collect()
    }
}

impl Drop for FaultyWriter {
    fn drop(&mut self) {
        let _ = self.step("release");
    }
}

struct FaultyWriterTask {
    config: Config,
    host: HostRef,
    attempt: String,
    taken: u64,
    written: u64,
    /// What shows at a commit.
    staged: String,
}

impl FaultyWriterTask {
    fn step(&self, call: &str) -> Result<()> {
        self.config.journal.note(format!("writer {call}"));
        self.config.faults.at_record(call, self.host.as_ref(), self.taken, None)
    }

    /// The file that holds this attempt's ids until the job's commit.
    fn staged_file(&self) -> Option<PathBuf> {
        self.config.target.as_ref().map(|target| PathBuf::from(format!("{}.{}.staged", target.display(), self.attempt)))
    }
}

impl WriterTask for FaultyWriterTask {
    fn prepare(&mut self) -> Result<()> {
        self.step("task_prepare")
    }

    fn write(&mut self, mut batch: Batch) -> Result<()> {
        log_everywhere(self.config.log.as_deref());
        self.config.faults.at_record("write", self.host.as_ref(), self.taken, None)?;
        let mut lines = String::new();
        let ids = table::ids(&mut batch)?;
        for (row, id) in ids.iter().enumerate() {
            self.taken += 1;
            if self.config.dirty_every.is_some_and(|every| self.taken.is_multiple_of(every)) {
                batch.dirty(self.host.as_ref(), row, Some(0), "the writer does not like it")?;
            } else {
                self.written += 1;
                lines += &format!("{id}\n");
            }
        }
        self.config.journal.note(format!("writer took {}", ids.len()));
        match (&self.config.target, self.config.commit) {
            (Some(target), CommitClass::Append) => append(target, &lines),
            _ => {
                self.staged += &lines;
                Ok(())
            }
        }
    }

    fn mark(&mut self, mark: Mark) -> Result<()> {
        self.config.journal.note(format!("writer mark {mark:?}"));
        self.config.faults.at_record("mark", self.host.as_ref(), self.taken, None)
    }

    fn flush(&mut self) -> Result<()> {
        self.step("flush")
    }

    fn commit(&mut self) -> Result<Report> {
        self.step("commit_task")?;
        let mut detail = Value::Null;
        match (&self.config.target, self.config.commit) {
            (Some(target), CommitClass::Task) => append(target, &self.staged)?,
            (Some(_), CommitClass::Atomic) => {
                if let Some(path) = self.staged_file() {
                    std::fs::write(&path, &self.staged)?;
                    detail = json!({ "staged": path });
                }
            }
            _ => {}
        }
        Ok(Report { written: self.written.saturating_add_signed(self.config.lie), detail, ..Report::default() })
    }

    fn abort(&mut self) -> Result<()> {
        self.step("abort_task")?;
        match self.staged_file().filter(|path| path.exists()) {
            Some(path) => Ok(std::fs::remove_file(path)?),
            None => Ok(()),
        }
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        let bell = self.config.faults.bell.clone();
        Some(Arc::new(move || bell.ring()))
    }
}

impl Drop for FaultyWriterTask {
    fn drop(&mut self) {
        let _ = self.step("task_release");
    }
}

/// Appends in one write: whoever looks meanwhile sees all of it or nothing.
fn append(path: &std::path::Path, text: &str) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let written =
        OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Error::from(error).context(path.display()))
}

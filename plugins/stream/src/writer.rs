//! `streamwriter`: prints records, writes them to a file, or discards them.

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde_json::{Value, json};
use transship_plugin_api::{
    Batch, CancelHandle, CommitClass, Error, HostRef, Report, Result, Run, TaskInfo, Writer, WriterInfo, WriterTask,
};

use crate::config::{Sink, WriterConfig};
use crate::parts::{SharedFile, at, remove};
use crate::pause::Pause;
use crate::text::Lines;
use crate::work::{Guard, Work};

/// Makes a writer from its parameters.
pub(crate) fn new(parameter: &Value, _host: HostRef) -> Result<Box<dyn Writer>> {
    let config = WriterConfig::parse(parameter)?;
    let lines = Lines::new(&config.delimiter, config.formats.clone());
    let guard = config.work.as_ref().filter(|work| work.order.is_some()).map(|_| Arc::new(Guard::new()));
    Ok(Box::new(StreamWriter { config, lines, file: None, guard }))
}

struct StreamWriter {
    config: WriterConfig,
    lines: Lines,
    /// The file of this run, if records go to one, from `prepare` or `attach` on.
    file: Option<SharedFile>,
    /// What all tasks watch the order of records with, if they are to work and to watch.
    guard: Option<Arc<Guard>>,
}

impl Writer for StreamWriter {
    fn info(&self) -> WriterInfo {
        let (commit, target) = match &self.config.sink {
            Sink::Print => (CommitClass::Append, "stdout".into()),
            Sink::Discard => (CommitClass::Append, "discard".into()),
            Sink::File(path) => (CommitClass::Atomic, format!("file:{}", path.display())),
        };
        WriterInfo { commit, max_open_tasks: 0, target, idempotent: self.config.sink == Sink::Discard }
    }

    fn plan(&self) -> Vec<String> {
        vec![match &self.config.sink {
            Sink::Print => "print every record to standard output".into(),
            Sink::Discard => "discard every record".into(),
            Sink::File(path) => format!("write {}, in place of what is there", path.display()),
        }]
    }

    fn prepare(&mut self, run: &Run, _schema: Option<SchemaRef>) -> Result<Value> {
        self.enter(&run.id);
        if let Some(file) = &self.file {
            file.prepare()?;
        }
        Ok(json!({ "run": run.id }))
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        let run = state.get("run").and_then(|run| run.as_str());
        self.enter(run.ok_or_else(|| Error::internal(format!("not a state of this writer: {state}")))?);
        Ok(())
    }

    fn open(&mut self, task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        let lines = self.lines.clone();
        let sink: Box<dyn WriterTask> = match &self.config.sink {
            Sink::Discard => Box::new(Discard::default()),
            Sink::Print => {
                Box::new(Print { lines, text: String::new(), written: Report::default(), host: host.clone() })
            }
            Sink::File(path) => {
                let part = SharedFile::new(path, &task.run).part(&task.attempt);
                Box::new(WritePart {
                    lines,
                    text: String::new(),
                    part,
                    file: None,
                    written: Report::default(),
                    sleep: self.config.sleep,
                    pause: Pause::default(),
                    host: host.clone(),
                })
            }
        };
        match &self.config.work {
            None => Ok(sink),
            Some(work) => Ok(Box::new(Work::new(work, self.guard.as_ref(), task, &schema, host, sink)?)),
        }
    }

    fn commit(&mut self, reports: &[Report]) -> Result<()> {
        self.guard.as_ref().map_or(Ok(()), |guard| guard.verdict())?;
        self.file.as_ref().map_or(Ok(()), |file| file.commit(reports))
    }

    fn abort(&mut self, _reports: &[Report]) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.remove_parts())
    }
}

impl StreamWriter {
    fn enter(&mut self, run: &str) {
        if let Sink::File(path) = &self.config.sink {
            self.file = Some(SharedFile::new(path, run));
        }
    }
}

/// Counts records and never looks at one.
#[derive(Debug, Default)]
struct Discard {
    seen: Report,
}

impl WriterTask for Discard {
    fn write(&mut self, batch: Batch) -> Result<()> {
        self.seen.written += batch.num_rows() as u64;
        self.seen.bytes += batch.bytes as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn checkpoint(&mut self, _epoch: u64) -> Result<Option<Report>> {
        self.commit().map(Some)
    }

    fn commit(&mut self) -> Result<Report> {
        Ok(std::mem::take(&mut self.seen))
    }

    fn abort(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Prints records, a batch at a time, so that those of several tasks are not mixed within a line.
struct Print {
    lines: Lines,
    text: String,
    written: Report,
    host: HostRef,
}

impl WriterTask for Print {
    fn write(&mut self, mut batch: Batch) -> Result<()> {
        self.text.clear();
        let rows = 0..batch.num_rows();
        let written = self.lines.push(&mut batch, rows, self.host.as_ref(), &mut self.text)?;
        print(&mut io::stdout().lock(), self.text.as_bytes())?;
        self.written.written += written;
        self.written.bytes += self.text.len() as u64;
        Ok(())
    }

    /// Nothing is kept back: a library's buffer of standard output would be lost when the program ends.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn checkpoint(&mut self, _epoch: u64) -> Result<Option<Report>> {
        self.commit().map(Some)
    }

    fn commit(&mut self) -> Result<Report> {
        Ok(std::mem::take(&mut self.written))
    }

    fn abort(&mut self) -> Result<()> {
        Ok(())
    }
}

pub(crate) fn print(output: &mut impl io::Write, text: &[u8]) -> Result<()> {
    output.write_all(text).and_then(|()| output.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Error::io("standard output was closed by whoever reads it").with_source(error),
        _ => Error::io(format!("can't print to standard output: {error}")).with_source(error),
    })
}

/// Writes an attempt's records to a part of the file.
struct WritePart {
    lines: Lines,
    text: String,
    part: PathBuf,
    file: Option<File>,
    written: Report,
    /// Once so many records are written, and for so many seconds; taken when it has happened.
    sleep: Option<(u64, u64)>,
    pause: Pause,
    host: HostRef,
}

impl WriterTask for WritePart {
    fn prepare(&mut self) -> Result<()> {
        self.file = Some(File::create(&self.part).map_err(|error| at(&self.part, "can't make the file", error))?);
        Ok(())
    }

    fn write(&mut self, mut batch: Batch) -> Result<()> {
        let mut rows = 0..batch.num_rows();
        if let Some((records, seconds)) = self.sleep {
            let before = records.saturating_sub(self.written.written) as usize;
            if before <= rows.len() {
                self.sleep = None;
                self.push(&mut batch, 0..before)?;
                rows.start = before;
                self.pause.wait(Duration::from_secs(seconds), self.host.as_ref())?;
            }
        }
        self.push(&mut batch, rows)
    }

    fn flush(&mut self) -> Result<()> {
        self.open_file()?.sync_data().map_err(|error| at(&self.part, "can't write the file", error))
    }

    fn commit(&mut self) -> Result<Report> {
        self.open_file()?.sync_all().map_err(|error| at(&self.part, "can't write the file", error))?;
        self.file = None;
        Ok(SharedFile::report(&self.part, self.written.written, self.written.bytes))
    }

    fn abort(&mut self) -> Result<()> {
        self.file = None;
        remove(&self.part)
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        Some(self.pause.cancel_handle())
    }
}

impl WritePart {
    fn push(&mut self, batch: &mut Batch, rows: Range<usize>) -> Result<()> {
        self.text.clear();
        let count = self.lines.push(batch, rows, self.host.as_ref(), &mut self.text)?;
        let mut file = self.open_file()?;
        file.write_all(self.text.as_bytes()).map_err(|error| at(&self.part, "can't write the file", error))?;
        self.written.written += count;
        self.written.bytes += self.text.len() as u64;
        Ok(())
    }

    fn open_file(&self) -> Result<&File> {
        self.file.as_ref().ok_or_else(|| Error::internal(format!("{} is not open", self.part.display())))
    }
}

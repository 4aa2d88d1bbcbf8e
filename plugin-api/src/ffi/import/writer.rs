//! `ts_writer` and `ts_writer_task` as `Writer` and `WriterTask`.

use std::ptr;

use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use serde_json::Value;

use super::object::{Object, call, slot};
use crate::batch::Batch;
use crate::error::Result;
use crate::ffi::abi::{TsBatch, TsMark, TsText, TsWriterTable, TsWriterTaskTable};
use crate::ffi::arrow::export_schema;
use crate::ffi::batch::Outgoing;
use crate::ffi::text::{json, take_json};
use crate::host::HostRef;
use crate::reader::{CancelHandle, Mark};
use crate::writer::{Report, Run, TaskInfo, Writer, WriterInfo, WriterTask};

/// A writer in a plugin library.
pub(super) struct ImportedWriter {
    object: Object<TsWriterTable>,
    info: WriterInfo,
}

impl ImportedWriter {
    /// Asks for the writer's info, which never changes.
    pub(super) fn new(object: Object<TsWriterTable>) -> Result<ImportedWriter> {
        let mut text = TsText::empty();
        call!(object, TsWriterTable::info, &mut text)?;
        let info = take_json(&text, "writer's info")?;
        Ok(ImportedWriter { object, info })
    }
}

impl Writer for ImportedWriter {
    fn info(&self) -> WriterInfo {
        self.info.clone()
    }

    fn plan(&self) -> Vec<String> {
        if slot!(self.object.handle().table, TsWriterTable, plan).is_none() {
            return Vec::new();
        }
        let mut text = TsText::empty();
        // A plan is for people to read: what went wrong is its text then.
        call!(self.object, TsWriterTable::plan, &mut text)
            .and_then(|()| take_json::<Option<Vec<String>>>(&text, "writer's plan"))
            .map(Option::unwrap_or_default)
            .unwrap_or_else(|error| vec![format!("the plan is not known: {error}")])
    }

    fn prepare(&mut self, run: &Run, schema: Option<SchemaRef>) -> Result<Value> {
        if slot!(self.object.handle().table, TsWriterTable, prepare).is_none() {
            return Ok(Value::Null);
        }
        let run = json(run, "run")?;
        let mut offered = schema.map(|schema| export_schema(&schema)).transpose()?;
        let offered: *mut FFI_ArrowSchema = offered.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
        let mut state = TsText::empty();
        call!(self.object, TsWriterTable::prepare, run.as_ptr(), run.len(), offered, &mut state)?;
        take_json(&state, "writer's state")
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        if slot!(self.object.handle().table, TsWriterTable, attach).is_none() {
            return Ok(());
        }
        let state = json(state, "writer's state")?;
        call!(self.object, TsWriterTable::attach, state.as_ptr(), state.len())
    }

    fn open(&mut self, task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        let info = json(task, "task info")?;
        let mut offered = export_schema(&schema)?;
        let object = Object::open(self.object.trust(), host, self.object.parent(), |host, task| {
            call!(self.object, TsWriterTable::open, info.as_ptr(), info.len(), &mut offered, host, task)
        })?;
        let mut outgoing = Outgoing::default();
        outgoing.expect(schema);
        Ok(Box::new(ImportedWriterTask { object, outgoing }))
    }

    fn commit(&mut self, reports: &[Report]) -> Result<()> {
        if slot!(self.object.handle().table, TsWriterTable, commit).is_none() {
            return Ok(());
        }
        let reports = json(reports, "list of reports")?;
        call!(self.object, TsWriterTable::commit, reports.as_ptr(), reports.len())
    }

    fn abort(&mut self, reports: &[Report]) -> Result<()> {
        if slot!(self.object.handle().table, TsWriterTable, abort).is_none() {
            return Ok(());
        }
        let reports = json(reports, "list of reports")?;
        call!(self.object, TsWriterTable::abort, reports.as_ptr(), reports.len())
    }

    fn post(&mut self) -> Result<()> {
        if slot!(self.object.handle().table, TsWriterTable, post).is_none() {
            return Ok(());
        }
        call!(self.object, TsWriterTable::post)
    }
}

/// A writer task in a plugin library.
struct ImportedWriterTask {
    object: Object<TsWriterTaskTable>,
    outgoing: Outgoing,
}

impl WriterTask for ImportedWriterTask {
    fn prepare(&mut self) -> Result<()> {
        if slot!(self.object.handle().table, TsWriterTaskTable, prepare).is_none() {
            return Ok(());
        }
        call!(self.object, TsWriterTaskTable::prepare)
    }

    fn write(&mut self, batch: Batch) -> Result<()> {
        let mut offered = TsBatch::empty();
        // SAFETY: it is a place that holds nothing.
        unsafe { self.outgoing.put(batch, &mut offered) }?;
        call!(self.object, TsWriterTaskTable::write, &mut offered)
    }

    fn mark(&mut self, mark: Mark) -> Result<()> {
        if slot!(self.object.handle().table, TsWriterTaskTable, mark).is_none() {
            return Ok(());
        }
        call!(self.object, TsWriterTaskTable::mark, &TsMark::from(mark))
    }

    fn flush(&mut self) -> Result<()> {
        call!(self.object, TsWriterTaskTable::flush)
    }

    fn checkpoint(&mut self, epoch: u64) -> Result<Option<Report>> {
        if slot!(self.object.handle().table, TsWriterTaskTable, checkpoint).is_none() {
            return Ok(None);
        }
        let mut report = TsText::empty();
        call!(self.object, TsWriterTaskTable::checkpoint, epoch, &mut report)?;
        take_json(&report, "report")
    }

    fn commit(&mut self) -> Result<Report> {
        let mut report = TsText::empty();
        call!(self.object, TsWriterTaskTable::commit, &mut report)?;
        take_json(&report, "report")
    }

    fn abort(&mut self) -> Result<()> {
        if slot!(self.object.handle().table, TsWriterTaskTable, abort).is_none() {
            return Ok(());
        }
        call!(self.object, TsWriterTaskTable::abort)
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        self.object.cancel_handle()
    }
}

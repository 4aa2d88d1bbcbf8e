//! `Writer` and `WriterTask` as `ts_writer` and `ts_writer_task`.

use std::mem::size_of;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use serde_json::Value;

use super::object::{Exported, cancel, foreign_host, put_object, release, with, with_even_after_panic};
use crate::error::{Error, Result};
use crate::ffi::abi::{
    TsBatch, TsError, TsHost, TsMark, TsText, TsWriter, TsWriterTable, TsWriterTask, TsWriterTaskTable,
};
use crate::ffi::arrow::{Trust, import_schema, take_schema};
use crate::ffi::batch;
use crate::ffi::text::{borrow_json, put_json};
use crate::reader::Mark;
use crate::writer::{Report, Run, TaskInfo, Writer, WriterTask};

impl Exported for TsWriterTable {
    type Value = Box<dyn Writer>;
    const TABLE: &'static TsWriterTable = &TsWriterTable {
        size: size_of::<TsWriterTable>(),
        info: Some(info),
        plan: Some(plan),
        prepare: Some(prepare),
        attach: Some(attach),
        open: Some(open),
        commit: Some(commit),
        abort: Some(abort),
        post: Some(post),
        release: Some(release),
    };
}

unsafe extern "C" fn info(this: *mut TsWriter, out: *mut TsText, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |writer| put_json(out, &writer.info(), "writer's info")) }
}

unsafe extern "C" fn plan(this: *mut TsWriter, out: *mut TsText, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |writer| put_json(out, &writer.plan(), "writer's plan")) }
}

unsafe extern "C" fn prepare(
    this: *mut TsWriter,
    run: *const u8,
    run_len: usize,
    schema: *mut FFI_ArrowSchema,
    state: *mut TsText,
    error: *mut TsError,
) -> i32 {
    let call = |writer: &mut Box<dyn Writer>| {
        // SAFETY: the engine keeps to `transship.h`.
        let run: Run = unsafe { borrow_json(run, run_len, "run") }?;
        // SAFETY: as above.
        let schema = unsafe { take_schema(schema) }.map(import_schema).transpose()?;
        // SAFETY: as above.
        unsafe { put_json(state, &writer.prepare(&run, schema)?, "writer's state") }
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn attach(this: *mut TsWriter, state: *const u8, state_len: usize, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |writer| writer.attach(&borrow_json::<Value>(state, state_len, "writer's state")?)) }
}

unsafe extern "C" fn open(
    this: *mut TsWriter,
    task: *const u8,
    task_len: usize,
    schema: *mut FFI_ArrowSchema,
    host: *const TsHost,
    out: *mut TsWriterTask,
    error: *mut TsError,
) -> i32 {
    let call = |writer: &mut Box<dyn Writer>| {
        // SAFETY: the engine keeps to `transship.h`.
        let info: TaskInfo = unsafe { borrow_json(task, task_len, "task info") }?;
        // SAFETY: as above.
        let Some(schema) = (unsafe { take_schema(schema) }) else {
            return Err(Error::internal("a writer task was opened without a schema"));
        };
        let schema = import_schema(schema)?;
        // SAFETY: as above.
        let task = writer.open(&info, Arc::clone(&schema), unsafe { foreign_host(host) }?)?;
        let cancel = task.cancel_handle();
        // SAFETY: as above.
        unsafe { put_object(out, ExportedWriterTask { task, schema }, cancel) }
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn commit(this: *mut TsWriter, reports: *const u8, reports_len: usize, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe {
        with(this, error, |writer| writer.commit(&borrow_json::<Vec<Report>>(reports, reports_len, "list of reports")?))
    }
}

unsafe extern "C" fn abort(this: *mut TsWriter, reports: *const u8, reports_len: usize, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe {
        with_even_after_panic(this, error, |writer| {
            writer.abort(&borrow_json::<Vec<Report>>(reports, reports_len, "list of reports")?)
        })
    }
}

unsafe extern "C" fn post(this: *mut TsWriter, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |writer| writer.post()) }
}

/// A writer task, and the schema that it was opened with.
pub(super) struct ExportedWriterTask {
    task: Box<dyn WriterTask>,
    schema: SchemaRef,
}

impl Exported for TsWriterTaskTable {
    type Value = ExportedWriterTask;
    const TABLE: &'static TsWriterTaskTable = &TsWriterTaskTable {
        size: size_of::<TsWriterTaskTable>(),
        prepare: Some(task_prepare),
        write: Some(task_write),
        mark: Some(task_mark),
        flush: Some(task_flush),
        checkpoint: Some(task_checkpoint),
        commit: Some(task_commit),
        abort: Some(task_abort),
        cancel: Some(cancel),
        release: Some(release),
    };
}

unsafe extern "C" fn task_prepare(this: *mut TsWriterTask, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |exported| exported.task.prepare()) }
}

unsafe extern "C" fn task_write(this: *mut TsWriterTask, batch: *mut TsBatch, error: *mut TsError) -> i32 {
    let call = |exported: &mut ExportedWriterTask| {
        // The engine vouches for what it hands on: it has checked what comes from libraries that are not trusted.
        // SAFETY: the engine keeps to `transship.h`.
        let batch = unsafe { batch::take(batch, Arc::clone(&exported.schema), Trust::Trusted) }?;
        exported.task.write(batch)
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn task_mark(this: *mut TsWriterTask, mark: *const TsMark, error: *mut TsError) -> i32 {
    let call = |exported: &mut ExportedWriterTask| {
        if mark.is_null() {
            return Err(Error::internal("there is no mark: the pointer is null"));
        }
        // SAFETY: it is not null; the engine keeps to `transship.h`.
        exported.task.mark(Mark::try_from(unsafe { *mark })?)
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn task_flush(this: *mut TsWriterTask, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |exported| exported.task.flush()) }
}

unsafe extern "C" fn task_checkpoint(
    this: *mut TsWriterTask,
    epoch: u64,
    report: *mut TsText,
    error: *mut TsError,
) -> i32 {
    let call = |exported: &mut ExportedWriterTask| -> Result<()> {
        let checkpoint = exported.task.checkpoint(epoch)?;
        // SAFETY: the engine keeps to `transship.h`.
        unsafe { put_json(report, &checkpoint, "report") }
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn task_commit(this: *mut TsWriterTask, report: *mut TsText, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |exported| put_json(report, &exported.task.commit()?, "report")) }
}

unsafe extern "C" fn task_abort(this: *mut TsWriterTask, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with_even_after_panic(this, error, |exported| exported.task.abort()) }
}

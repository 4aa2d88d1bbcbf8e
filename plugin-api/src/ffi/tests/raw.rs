//! Plugins made of bare tables, for what a Rust plugin would never do: functions missing, garbage returned.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::size_of;
use std::ptr;
use std::sync::Mutex;

use arrow_schema::ffi::FFI_ArrowSchema;
use serde_json::Value;

use super::fixtures::{load, schema, some_host};
use crate::error::Result;
use crate::ffi::abi::{
    TS_ABI_VERSION, TS_OK, TsError, TsHost, TsListingTable, TsObject, TsPlugin, TsReader, TsReaderTable, TsReaderTask,
    TsReaderTaskTable, TsText, TsTransformer, TsTransformerTable, TsWriter, TsWriterTable, TsWriterTask,
    TsWriterTaskTable,
};
use crate::ffi::import::{LoadedPlugin, Trust};
use crate::reader::{ReadOptions, Reader, ReaderTask, Split};
use crate::transformer::Transformer;
use crate::writer::{TaskInfo, Writer, WriterTask};

pub(super) const NO_READER: TsReaderTable = TsReaderTable {
    size: size_of::<TsReaderTable>(),
    prepare: None,
    attach: None,
    schema: None,
    splits: None,
    open: None,
    post: None,
    release: None,
    listing: None,
};

pub(super) const NO_LISTING: TsListingTable =
    TsListingTable { size: size_of::<TsListingTable>(), splits: None, release: None };

pub(super) const NO_READER_TASK: TsReaderTaskTable = TsReaderTaskTable {
    size: size_of::<TsReaderTaskTable>(),
    prepare: None,
    next: None,
    ack: None,
    post: None,
    cancel: None,
    release: None,
};

pub(super) const NO_WRITER: TsWriterTable = TsWriterTable {
    size: size_of::<TsWriterTable>(),
    info: None,
    plan: None,
    prepare: None,
    attach: None,
    open: None,
    commit: None,
    abort: None,
    post: None,
    release: None,
};

pub(super) const NO_WRITER_TASK: TsWriterTaskTable = TsWriterTaskTable {
    size: size_of::<TsWriterTaskTable>(),
    prepare: None,
    write: None,
    mark: None,
    flush: None,
    checkpoint: None,
    commit: None,
    abort: None,
    cancel: None,
    release: None,
};

pub(super) const NO_TRANSFORMER: TsTransformerTable = TsTransformerTable {
    size: size_of::<TsTransformerTable>(),
    schema: None,
    push: None,
    flush: None,
    pull: None,
    release: None,
};

pub(super) const NO_PLUGIN: TsPlugin = TsPlugin {
    size: size_of::<TsPlugin>(),
    abi_version: TS_ABI_VERSION,
    reserved: 0,
    description: ptr::null(),
    description_len: 0,
    new_reader: None,
    new_writer: None,
    new_transformer: None,
    get_extension: None,
};

thread_local! {
    static PLUGIN: Cell<*const TsPlugin> = const { Cell::new(ptr::null()) };
    static READER: Cell<*const TsReaderTable> = const { Cell::new(ptr::null()) };
    static READER_TASK: Cell<*const TsReaderTaskTable> = const { Cell::new(ptr::null()) };
    static WRITER: Cell<*const TsWriterTable> = const { Cell::new(ptr::null()) };
    static WRITER_TASK: Cell<*const TsWriterTaskTable> = const { Cell::new(ptr::null()) };
    static TRANSFORMER: Cell<*const TsTransformerTable> = const { Cell::new(ptr::null()) };
    static DATA: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
    static TRUST: Cell<Trust> = const { Cell::new(Trust::Trusted) };
}

/// What the data pointer of the handles that follow points to.
pub(super) fn set_data(data: *mut c_void) {
    DATA.set(data);
}

/// How far what follows is believed.
pub(super) fn set_trust(trust: Trust) {
    TRUST.set(trust);
}

/// Opens a plugin whose init function gives this table.
pub(super) fn plugin(table: *const TsPlugin) -> Result<LoadedPlugin> {
    unsafe extern "C" fn init(_: u32, _: *const TsHost, plugin: *mut *const TsPlugin, _: *mut TsError) -> i32 {
        // SAFETY: the engine gives a place for the table.
        unsafe { plugin.write(PLUGIN.get()) };
        TS_OK
    }
    PLUGIN.set(table);
    load(init, TRUST.get())
}

macro_rules! new_object {
    ($name:ident, $handle:ty, $table:ident) => {
        unsafe extern "C" fn $name(
            _: *const TsPlugin,
            _: *const u8,
            _: usize,
            _: *const u8,
            _: usize,
            _: *const TsHost,
            out: *mut $handle,
            _: *mut TsError,
        ) -> i32 {
            // SAFETY: the engine gives a place for the handle.
            unsafe { out.write(TsObject { table: $table.get(), data: DATA.get() }) };
            TS_OK
        }
    };
}

new_object!(new_reader, TsReader, READER);
new_object!(new_writer, TsWriter, WRITER);
new_object!(new_transformer, TsTransformer, TRANSFORMER);

const DESCRIPTION: &str = r#"{"name":"raw","version":"0"}"#;

fn objects() -> LoadedPlugin {
    /// The tables of these plugins: reachable for ever, as the table of a library is.
    struct Tables(Vec<*mut TsPlugin>);
    // SAFETY: nobody looks at them; they are only kept.
    unsafe impl Send for Tables {}
    static TABLES: Mutex<Tables> = Mutex::new(Tables(Vec::new()));

    let table = Box::into_raw(Box::new(TsPlugin {
        description: DESCRIPTION.as_ptr(),
        description_len: DESCRIPTION.len(),
        new_reader: Some(new_reader),
        new_writer: Some(new_writer),
        new_transformer: Some(new_transformer),
        ..NO_PLUGIN
    }));
    TABLES.lock().unwrap().0.push(table);
    plugin(table).unwrap()
}

pub(super) fn reader(table: *const TsReaderTable) -> Result<Box<dyn Reader>> {
    READER.set(table);
    objects().reader("any", &Value::Null, some_host())
}

pub(super) fn writer(table: *const TsWriterTable) -> Result<Box<dyn Writer>> {
    WRITER.set(table);
    objects().writer("any", &Value::Null, some_host())
}

pub(super) fn transformer(table: *const TsTransformerTable) -> Result<Box<dyn Transformer>> {
    TRANSFORMER.set(table);
    objects().transformer("any", &Value::Null, some_host())
}

pub(super) fn reader_task(table: *const TsReaderTaskTable) -> Result<Box<dyn ReaderTask>> {
    unsafe extern "C" fn open(
        _: *mut TsReader,
        _: *const u8,
        _: usize,
        _: *const u8,
        _: usize,
        _: *const TsHost,
        out: *mut TsReaderTask,
        _: *mut TsError,
    ) -> i32 {
        // SAFETY: the engine gives a place for the handle.
        unsafe { out.write(TsObject { table: READER_TASK.get(), data: DATA.get() }) };
        TS_OK
    }
    static OPENS: TsReaderTable = TsReaderTable { open: Some(open), ..NO_READER };
    READER_TASK.set(table);
    reader(&OPENS)?.open(&Split::new("", "", Value::Null), &ReadOptions::default(), some_host())
}

pub(super) unsafe extern "C" fn some_info(_: *mut TsWriter, out: *mut TsText, _: *mut TsError) -> i32 {
    const INFO: &str = r#"{"commit":"task","max_open_tasks":0,"target":"","idempotent":false}"#;
    // SAFETY: the engine gives a place for the text.
    unsafe { put_text(out, INFO.as_bytes()) };
    TS_OK
}

pub(super) unsafe extern "C" fn open_writer_task(
    _: *mut TsWriter,
    _: *const u8,
    _: usize,
    _: *mut FFI_ArrowSchema,
    _: *const TsHost,
    out: *mut TsWriterTask,
    _: *mut TsError,
) -> i32 {
    // SAFETY: the engine gives a place for the handle.
    unsafe { out.write(TsObject { table: WRITER_TASK.get(), data: DATA.get() }) };
    TS_OK
}

pub(super) fn writer_task(table: *const TsWriterTaskTable) -> Result<Box<dyn WriterTask>> {
    static OPENS: TsWriterTable = TsWriterTable { info: Some(some_info), open: Some(open_writer_task), ..NO_WRITER };
    WRITER_TASK.set(table);
    let info = TaskInfo { run: String::new(), task: String::new(), attempt: String::new(), number: 1 };
    writer(&OPENS)?.open(&info, schema(), some_host())
}

/// Hands over a text that need not be released.
///
/// # Safety
/// `out` is a place for a text.
pub(super) unsafe fn put_text(out: *mut TsText, text: &'static [u8]) {
    // SAFETY: handed on from the caller.
    unsafe { out.write(TsText { data: text.as_ptr(), len: text.len(), release: None, private_data: ptr::null_mut() }) };
}

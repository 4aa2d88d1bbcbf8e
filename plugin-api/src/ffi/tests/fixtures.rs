//! What the tests share: a host that remembers, batches, and plugins without a library.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use log::Level;

use crate::error::{Error, Result};
use crate::ffi::abi::TsPluginInit;
use crate::ffi::import::{LoadedPlugin, Trust};
use crate::host::{DirtyRecord, Host, HostRef};

/// A host that writes down what it is told.
#[derive(Default)]
pub(super) struct Memory {
    heard: Mutex<Vec<String>>,
    pub(super) cancelled: AtomicBool,
    /// Refuse dirty records from now on.
    pub(super) limit_reached: AtomicBool,
}

impl Memory {
    pub(super) fn new() -> Arc<Memory> {
        Arc::default()
    }

    /// What it was told so far, and forget it.
    pub(super) fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    fn hear(&self, text: String) {
        self.heard.lock().unwrap().push(text);
    }
}

impl Host for Memory {
    fn log(&self, level: Level, target: &str, message: &str) {
        self.hear(format!("{level} {target}: {message}"));
    }

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        if self.limit_reached.load(Ordering::SeqCst) {
            return Err(Error::new(crate::Kind::Cancelled, "more than 0 dirty records"));
        }
        self.hear(format!("{record:?}"));
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}

/// A host that nobody looks at.
pub(super) fn some_host() -> HostRef {
    Memory::new()
}

/// Two columns: `id`, never null, and `name`, null in every third row.
pub(super) fn schema() -> SchemaRef {
    let columns = vec![Field::new("id", DataType::Int64, false), Field::new("name", DataType::Utf8, true)];
    Arc::new(Schema::new(columns))
}

/// Rows `from` to `to` of the columns of [`schema`].
pub(super) fn records(from: i64, to: i64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(from..to));
    let names: ArrayRef =
        Arc::new(StringArray::from_iter((from..to).map(|id| (id % 3 != 2).then(|| format!("name {id}")))));
    RecordBatch::try_new(schema(), vec![ids, names]).unwrap()
}

/// A plugin from its init function. `in_process!` makes one of a `Plugin`.
pub(super) fn load(init: TsPluginInit, trust: Trust) -> Result<LoadedPlugin> {
    // SAFETY: the tests' init functions keep to the header, or break it in a way that must not crash.
    unsafe { LoadedPlugin::from_init(Path::new("in-process"), init, some_host(), trust) }
}

/// A `Plugin` behind the tables, as if it came out of a library.
macro_rules! in_process {
    ($plugin:expr) => {{
        unsafe extern "C" fn init(
            version: u32,
            _host: *const $crate::ffi::abi::TsHost,
            plugin: *mut *const $crate::ffi::abi::TsPlugin,
            error: *mut $crate::ffi::abi::TsError,
        ) -> i32 {
            static PLUGIN: std::sync::OnceLock<$crate::ffi::export::ExportedPlugin> = std::sync::OnceLock::new();
            // SAFETY: handed on from the caller.
            unsafe {
                $crate::ffi::guard::guard(error, || {
                    $crate::ffi::export::hand_over(&PLUGIN, || $plugin, version, plugin)
                })
            }
        }
        $crate::ffi::tests::fixtures::load(init, $crate::ffi::import::Trust::Trusted).unwrap()
    }};
}

pub(super) use in_process;

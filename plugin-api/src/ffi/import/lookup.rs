//! `ts_lookup` as `Lookup`.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;

use super::object::{Object, call};
use crate::error::{Error, Result};
use crate::ffi::abi::TsLookupTable;
use crate::ffi::arrow::{export, export_schema, import_schema, same_columns};
use crate::ffi::calls::Calls;
use crate::lookup::{Answer, Lookup};
use crate::reader::CancelHandle;

/// A lookup in a plugin library.
pub(super) struct ImportedLookup {
    object: Shared,
    calls: Arc<Calls>,
    cancel: Option<CancelHandle>,
    keys: Option<SchemaRef>,
    most_keys: usize,
}

/// A lookup's object, which several threads may use at once.
struct Shared(Option<Object<TsLookupTable>>);

// SAFETY: `transship.h` lets `start` and `cancel` of a lookup be called from any thread, several at once; `prepare` is called
// through an exclusive reference, and the release comes with the last owner.
unsafe impl Sync for Shared {}

impl Shared {
    fn get(&self) -> Result<&Object<TsLookupTable>> {
        self.0.as_ref().ok_or_else(|| Error::internal("the lookup was released"))
    }
}

impl ImportedLookup {
    pub(super) fn new(object: Object<TsLookupTable>, calls: Arc<Calls>) -> ImportedLookup {
        let cancel = object.cancel_handle();
        ImportedLookup { object: Shared(Some(object)), calls, cancel, keys: None, most_keys: usize::MAX }
    }

    fn call(&self, keys: RecordBatch, call: u64) -> Result<()> {
        match &self.keys {
            None => return Err(Error::internal("a lookup was asked for rows before it was prepared")),
            Some(told) if !same_columns(told, &keys.schema()) => {
                return Err(Error::internal(format!("keys of {:?} where {told:?} was told", keys.schema())));
            }
            Some(_) => {}
        }
        let mut offered: FFI_ArrowArray = export(keys)?;
        call!(self.object.get()?, TsLookupTable::start, call, &mut offered)
    }
}

impl Lookup for ImportedLookup {
    fn prepare(&mut self, keys: SchemaRef) -> Result<SchemaRef> {
        let mut offered = export_schema(&keys)?;
        let (mut columns, mut most_keys) = (FFI_ArrowSchema::empty(), 0);
        call!(self.object.get()?, TsLookupTable::prepare, &mut offered, &mut columns, &mut most_keys)?;
        let columns = import_schema(columns)?;
        self.calls.expect(Arc::clone(&columns));
        self.keys = Some(keys);
        self.most_keys = usize::try_from(most_keys).ok().filter(|most| *most > 0).unwrap_or(usize::MAX);
        Ok(columns)
    }

    fn start(&self, keys: RecordBatch, answer: Answer) {
        let Some(number) = self.calls.begin(answer) else { return };
        if let Err(error) = self.call(keys, number)
            && let Some(answer) = self.calls.take(number)
        {
            answer.fail(error);
        }
    }

    fn most_keys(&self) -> usize {
        self.most_keys
    }

    fn cancel(&self) {
        if let Some(cancel) = &self.cancel {
            cancel();
        }
    }
}

impl Drop for ImportedLookup {
    fn drop(&mut self) {
        // Answers may still come while the plugin lets go of its threads; what is open after that gets none.
        self.object.0 = None;
        self.calls.close();
    }
}

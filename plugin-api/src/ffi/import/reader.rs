//! `ts_reader`, `ts_listing` and `ts_reader_task` as `Reader`, `Listing` and `ReaderTask`.

use std::sync::Arc;
use std::time::Duration;

use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use serde_json::Value;

use super::object::{Object, call, slot};
use crate::error::{Error, Result};
use crate::ffi::abi::{
    TS_ITEM_BATCH, TS_ITEM_END, TS_ITEM_IDLE, TS_ITEM_MARK, TsBatch, TsListingTable, TsMark, TsObject, TsReaderTable,
    TsReaderTaskTable, TsText,
};
use crate::ffi::arrow::import_schema;
use crate::ffi::batch;
use crate::ffi::text::{json, take_json};
use crate::host::HostRef;
use crate::reader::{CancelHandle, Item, Listing, Mark, ReadOptions, Reader, ReaderTask, Split, SplitRequest};

/// A reader in a plugin library.
pub(super) struct ImportedReader {
    object: Object<TsReaderTable>,
}

impl ImportedReader {
    pub(super) fn new(object: Object<TsReaderTable>) -> ImportedReader {
        ImportedReader { object }
    }
}

impl Reader for ImportedReader {
    fn prepare(&mut self) -> Result<Value> {
        if slot!(self.object.handle().table, TsReaderTable, prepare).is_none() {
            return Ok(Value::Null);
        }
        let mut state = TsText::empty();
        call!(self.object, TsReaderTable::prepare, &mut state)?;
        take_json(&state, "reader's state")
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        if slot!(self.object.handle().table, TsReaderTable, attach).is_none() {
            return Ok(());
        }
        let state = json(state, "reader's state")?;
        call!(self.object, TsReaderTable::attach, state.as_ptr(), state.len())
    }

    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        if slot!(self.object.handle().table, TsReaderTable, schema).is_none() {
            return Ok(None);
        }
        let mut schema = FFI_ArrowSchema::empty();
        call!(self.object, TsReaderTable::schema, &mut schema)?;
        if schema.release().is_none() { Ok(None) } else { import_schema(schema).map(Some) }
    }

    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        let request = json(request, "split request")?;
        let mut splits = TsText::empty();
        call!(self.object, TsReaderTable::splits, request.as_ptr(), request.len(), &mut splits)?;
        take_json(&splits, "list of splits")
    }

    fn listing(&mut self, request: &SplitRequest) -> Result<Option<Box<dyn Listing>>> {
        if slot!(self.object.handle().table, TsReaderTable, listing).is_none() {
            return Ok(None);
        }
        let request = json(request, "split request")?;
        let mut handle = TsObject::empty();
        call!(self.object, TsReaderTable::listing, request.as_ptr(), request.len(), &mut handle)?;
        if handle.table.is_null() {
            return Ok(None);
        }
        let object = Object::without_host(self.object.trust(), self.object.parent(), handle)?;
        Ok(Some(Box::new(ImportedListing { object })))
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let split = json(split, "split")?;
        let options = json(options, "read options")?;
        let object = Object::open(self.object.trust(), host, self.object.parent(), |host, task| {
            let (split, split_len) = (split.as_ptr(), split.len());
            call!(self.object, TsReaderTable::open, split, split_len, options.as_ptr(), options.len(), host, task)
        })?;
        Ok(Box::new(ImportedReaderTask { object, schema: None }))
    }

    fn post(&mut self) -> Result<()> {
        if slot!(self.object.handle().table, TsReaderTable, post).is_none() {
            return Ok(());
        }
        call!(self.object, TsReaderTable::post)
    }
}

/// A listing in a plugin library.
struct ImportedListing {
    object: Object<TsListingTable>,
}

impl Listing for ImportedListing {
    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        let request = json(request, "split request")?;
        let mut splits = TsText::empty();
        call!(self.object, TsListingTable::splits, request.as_ptr(), request.len(), &mut splits)?;
        take_json(&splits, "list of splits")
    }
}

/// A reader task in a plugin library.
struct ImportedReaderTask {
    object: Object<TsReaderTaskTable>,
    schema: Option<SchemaRef>,
}

impl ReaderTask for ImportedReaderTask {
    fn prepare(&mut self) -> Result<SchemaRef> {
        let mut schema = FFI_ArrowSchema::empty();
        call!(self.object, TsReaderTaskTable::prepare, &mut schema)?;
        let schema = import_schema(schema)?;
        self.schema = Some(Arc::clone(&schema));
        Ok(schema)
    }

    fn next(&mut self, timeout: Duration) -> Result<Item> {
        let micros = u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX);
        let (mut kind, mut offered, mut mark) = (TS_ITEM_END, TsBatch::empty(), TsMark::default());
        call!(self.object, TsReaderTaskTable::next, micros, &mut kind, &mut offered, &mut mark)?;
        match kind {
            TS_ITEM_BATCH => {
                let Some(schema) = self.schema.clone() else {
                    return Err(Error::internal("a batch came before its schema: prepare must be called first"));
                };
                // SAFETY: the plugin has filled it in, and what it lent is valid until the next call.
                Ok(Item::Batch(unsafe { batch::take(&mut offered, schema, self.object.trust()) }?))
            }
            TS_ITEM_MARK => Ok(Item::Mark(Mark::try_from(mark)?)),
            TS_ITEM_IDLE => Ok(Item::Idle),
            TS_ITEM_END => Ok(Item::End),
            other => Err(Error::internal(format!(
                "the reader gave an item of kind {other}, which this program does not know"
            ))),
        }
    }

    fn ack(&mut self, position: &Value) -> Result<()> {
        if slot!(self.object.handle().table, TsReaderTaskTable, ack).is_none() {
            return Ok(());
        }
        let position = json(position, "position")?;
        call!(self.object, TsReaderTaskTable::ack, position.as_ptr(), position.len())
    }

    fn post(&mut self) -> Result<()> {
        if slot!(self.object.handle().table, TsReaderTaskTable, post).is_none() {
            return Ok(());
        }
        call!(self.object, TsReaderTaskTable::post)
    }

    fn cancel_handle(&self) -> Option<CancelHandle> {
        self.object.cancel_handle()
    }
}

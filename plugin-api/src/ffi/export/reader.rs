//! `Reader`, `Listing` and `ReaderTask` as `ts_reader`, `ts_listing` and `ts_reader_task`.

use std::mem::size_of;
use std::time::Duration;

use arrow_schema::ffi::FFI_ArrowSchema;
use serde_json::Value;

use super::object::{Exported, cancel, foreign_host, put_object, release, with};
use crate::error::{Error, Result};
use crate::ffi::abi::{
    TS_ITEM_BATCH, TS_ITEM_END, TS_ITEM_IDLE, TS_ITEM_MARK, TsBatch, TsError, TsHost, TsListing, TsListingTable,
    TsMark, TsReader, TsReaderTable, TsReaderTask, TsReaderTaskTable, TsText,
};
use crate::ffi::arrow::put_schema;
use crate::ffi::batch::Outgoing;
use crate::ffi::text::{borrow_json, put_json};
use crate::reader::{Item, Listing, ReadOptions, Reader, ReaderTask, Split, SplitRequest};

impl Exported for TsReaderTable {
    type Value = Box<dyn Reader>;
    const TABLE: &'static TsReaderTable = &TsReaderTable {
        size: size_of::<TsReaderTable>(),
        prepare: Some(prepare),
        attach: Some(attach),
        schema: Some(schema),
        splits: Some(splits),
        open: Some(open),
        post: Some(post),
        release: Some(release),
        listing: Some(listing),
    };
}

unsafe extern "C" fn prepare(this: *mut TsReader, state: *mut TsText, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |reader| put_json(state, &reader.prepare()?, "reader's state")) }
}

unsafe extern "C" fn attach(this: *mut TsReader, state: *const u8, state_len: usize, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |reader| reader.attach(&borrow_json::<Value>(state, state_len, "reader's state")?)) }
}

unsafe extern "C" fn schema(this: *mut TsReader, out: *mut FFI_ArrowSchema, error: *mut TsError) -> i32 {
    let call = |reader: &mut Box<dyn Reader>| match reader.schema()? {
        // SAFETY: the engine keeps to `transship.h`.
        Some(schema) => unsafe { put_schema(out, &schema) },
        None => Ok(()),
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn splits(
    this: *mut TsReader,
    request: *const u8,
    request_len: usize,
    out: *mut TsText,
    error: *mut TsError,
) -> i32 {
    let call = |reader: &mut Box<dyn Reader>| {
        // SAFETY: the engine keeps to `transship.h`.
        let request: SplitRequest = unsafe { borrow_json(request, request_len, "split request") }?;
        // SAFETY: as above.
        unsafe { put_json(out, &reader.splits(&request)?, "list of splits") }
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn open(
    this: *mut TsReader,
    split: *const u8,
    split_len: usize,
    options: *const u8,
    options_len: usize,
    host: *const TsHost,
    out: *mut TsReaderTask,
    error: *mut TsError,
) -> i32 {
    let call = |reader: &mut Box<dyn Reader>| {
        // SAFETY: the engine keeps to `transship.h`.
        let split: Split = unsafe { borrow_json(split, split_len, "split") }?;
        // SAFETY: as above.
        let options: ReadOptions = unsafe { borrow_json(options, options_len, "read options") }?;
        // SAFETY: as above.
        let task = reader.open(&split, &options, unsafe { foreign_host(host) }?)?;
        let cancel = task.cancel_handle();
        // SAFETY: as above.
        unsafe { put_object(out, ExportedReaderTask { task, outgoing: Outgoing::default() }, cancel) }
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn post(this: *mut TsReader, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |reader| reader.post()) }
}

unsafe extern "C" fn listing(
    this: *mut TsReader,
    request: *const u8,
    request_len: usize,
    out: *mut TsListing,
    error: *mut TsError,
) -> i32 {
    let call = |reader: &mut Box<dyn Reader>| {
        // SAFETY: the engine keeps to `transship.h`.
        let request: SplitRequest = unsafe { borrow_json(request, request_len, "split request") }?;
        match reader.listing(&request)? {
            // SAFETY: as above.
            Some(listing) => unsafe { put_object(out, listing, None) },
            None => Ok(()),
        }
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

impl Exported for TsListingTable {
    type Value = Box<dyn Listing>;
    const TABLE: &'static TsListingTable =
        &TsListingTable { size: size_of::<TsListingTable>(), splits: Some(listing_splits), release: Some(release) };
}

unsafe extern "C" fn listing_splits(
    this: *mut TsListing,
    request: *const u8,
    request_len: usize,
    out: *mut TsText,
    error: *mut TsError,
) -> i32 {
    let call = |listing: &mut Box<dyn Listing>| {
        // SAFETY: the engine keeps to `transship.h`.
        let request: SplitRequest = unsafe { borrow_json(request, request_len, "split request") }?;
        // SAFETY: as above.
        unsafe { put_json(out, &listing.splits(&request)?, "list of splits") }
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

/// A reader task, and what it lent with its last batch.
pub(super) struct ExportedReaderTask {
    task: Box<dyn ReaderTask>,
    outgoing: Outgoing,
}

impl Exported for TsReaderTaskTable {
    type Value = ExportedReaderTask;
    const TABLE: &'static TsReaderTaskTable = &TsReaderTaskTable {
        size: size_of::<TsReaderTaskTable>(),
        prepare: Some(task_prepare),
        next: Some(task_next),
        ack: Some(task_ack),
        post: Some(task_post),
        cancel: Some(cancel),
        release: Some(release),
    };
}

unsafe extern "C" fn task_prepare(this: *mut TsReaderTask, out: *mut FFI_ArrowSchema, error: *mut TsError) -> i32 {
    let call = |exported: &mut ExportedReaderTask| {
        let schema = exported.task.prepare()?;
        // SAFETY: the engine keeps to `transship.h`.
        unsafe { put_schema(out, &schema) }?;
        exported.outgoing.expect(schema);
        Ok(())
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn task_next(
    this: *mut TsReaderTask,
    timeout_micros: u64,
    kind: *mut i32,
    batch: *mut TsBatch,
    mark: *mut TsMark,
    error: *mut TsError,
) -> i32 {
    let call = |exported: &mut ExportedReaderTask| {
        if kind.is_null() || mark.is_null() {
            return Err(Error::internal("there is no place for an item: the pointer is null"));
        }
        let found = match exported.task.next(Duration::from_micros(timeout_micros))? {
            Item::Batch(item) => {
                // SAFETY: the engine keeps to `transship.h`.
                unsafe { exported.outgoing.put(item, batch) }?;
                TS_ITEM_BATCH
            }
            Item::Mark(item) => {
                // SAFETY: it is not null (above).
                unsafe { mark.write(item.into()) };
                TS_ITEM_MARK
            }
            Item::Idle => TS_ITEM_IDLE,
            Item::End => TS_ITEM_END,
        };
        // SAFETY: it is not null (above).
        unsafe { kind.write(found) };
        Ok(())
    };
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn task_ack(
    this: *mut TsReaderTask,
    position: *const u8,
    position_len: usize,
    error: *mut TsError,
) -> i32 {
    let call = |exported: &mut ExportedReaderTask| -> Result<()> {
        // SAFETY: the engine keeps to `transship.h`.
        exported.task.ack(&unsafe { borrow_json::<Value>(position, position_len, "position") }?)
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn task_post(this: *mut TsReaderTask, error: *mut TsError) -> i32 {
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, |exported| exported.task.post()) }
}

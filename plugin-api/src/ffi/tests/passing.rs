//! A batch that goes from one library to another untouched is only moved; one from a library that is not trusted is looked
//! at all the same.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use serde_json::json;

use super::fixtures::{records, schema};
use super::raw::{self, NO_READER_TASK, NO_WRITER_TASK};
use crate::batch::{Batch, Origin};
use crate::error::{Kind, Result};
use crate::ffi::abi::*;
use crate::ffi::arrow::export;
use crate::ffi::batch::{self, Outgoing};
use crate::ffi::import::Trust;
use crate::ffi::structure::RawArray;
use crate::reader::Item;

thread_local! {
    /// What the reader gives next.
    static GIVEN: Cell<Option<FFI_ArrowArray>> = const { Cell::new(None) };
    /// What the writer took last: where its private data is, its first position, and its `resume`.
    static TAKEN: Cell<(*mut c_void, Option<u64>, usize)> = const { Cell::new((ptr::null_mut(), None, 0)) };
}

static POSITIONS: [u64; 4] = [9, 7, 5, 3];
static RESUME: &str = r#"{"line":10}"#;

unsafe extern "C" fn give_schema(_: *mut TsReaderTask, out: *mut FFI_ArrowSchema, _: *mut TsError) -> i32 {
    // SAFETY: the engine gives a place for the schema.
    unsafe { out.write(FFI_ArrowSchema::try_from(&*schema()).unwrap()) };
    TS_OK
}

unsafe extern "C" fn give(
    _: *mut TsReaderTask,
    _: u64,
    kind: *mut i32,
    batch: *mut TsBatch,
    _: *mut TsMark,
    _: *mut TsError,
) -> i32 {
    // SAFETY: the engine gives places for the kind and the batch.
    let (kind, batch) = unsafe { (&mut *kind, &mut *batch) };
    *kind = TS_ITEM_BATCH;
    batch.array = GIVEN.take().unwrap();
    (batch.n_bytes, batch.first, batch.positions) = (5, 9, POSITIONS.as_ptr());
    (batch.resume, batch.resume_len) = (RESUME.as_ptr(), RESUME.len());
    batch.read_share = 0.25;
    TS_OK
}

unsafe extern "C" fn take(_: *mut TsWriterTask, batch: *mut TsBatch, _: *mut TsError) -> i32 {
    // SAFETY: the engine offers a batch.
    let batch = unsafe { &mut *batch };
    // SAFETY: as above; there is a position for each row, or none at all.
    let first = if batch.array.is_empty() { None } else { unsafe { batch.positions.as_ref() }.copied() };
    TAKEN.set((batch.array.private_data(), first, batch.resume_len));
    TS_OK
}

static GIVES: TsReaderTaskTable = TsReaderTaskTable { prepare: Some(give_schema), next: Some(give), ..NO_READER_TASK };
static TAKES: TsWriterTaskTable = TsWriterTaskTable { write: Some(take), ..NO_WRITER_TASK };

/// What a library answers that gives this array.
fn next(array: FFI_ArrowArray, trust: Trust) -> Result<Item> {
    GIVEN.set(Some(array));
    raw::set_trust(trust);
    let mut task = raw::reader_task(&GIVES).unwrap();
    raw::set_trust(Trust::Trusted);
    task.prepare().unwrap();
    task.next(Duration::ZERO)
}

/// A batch out of a library, and where the private data of its array was there.
fn read(array: FFI_ArrowArray, trust: Trust) -> (Batch, *mut c_void) {
    let place = array.private_data();
    match next(array, trust).unwrap() {
        Item::Batch(batch) => (batch, place),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_untouched_batch_keeps_its_array_its_positions_and_its_position() {
    let (batch, place) = read(export(records(0, 4)).unwrap(), Trust::Trusted);
    assert_eq!((batch.num_rows(), batch.bytes), (4, 5));
    assert_eq!(batch.origin, Origin { first: 9, positions: Some(POSITIONS.into()) });
    assert_eq!(batch.position, Some(json!({ "line": 10 })));
    assert_eq!(batch.read_share, Some(0.25));
    raw::writer_task(&TAKES).unwrap().write(batch).unwrap();
    assert_eq!(TAKEN.get(), (place, Some(9), RESUME.len()));
}

#[test]
fn a_batch_that_was_looked_into_is_exported_anew() {
    let (mut batch, place) = read(export(records(0, 4)).unwrap(), Trust::Trusted);
    assert_eq!(batch.records().unwrap(), &records(0, 4));
    raw::writer_task(&TAKES).unwrap().write(batch).unwrap();
    assert_ne!(TAKEN.get().0, place);
}

fn not_utf8() -> FFI_ArrowArray {
    let mut array = export(records(0, 4)).unwrap();
    // SAFETY: both mirror the same C struct, whose second column has three buffers.
    unsafe {
        let raw: &mut RawArray = &mut *ptr::from_mut(&mut array).cast();
        *(**raw.children.add(1)).buffers.add(2) = [0xffu8; 64].as_ptr().cast();
    }
    array
}

#[test]
fn a_batch_of_a_trusted_library_is_passed_on_as_it_is() {
    let (batch, place) = read(not_utf8(), Trust::Trusted);
    raw::writer_task(&TAKES).unwrap().write(batch).unwrap();
    assert_eq!(TAKEN.get().0, place);
}

#[test]
fn a_batch_of_an_untrusted_library_is_checked_where_it_comes_out() {
    let (batch, place) = read(export(records(0, 4)).unwrap(), Trust::Untrusted);
    raw::writer_task(&TAKES).unwrap().write(batch).unwrap();
    assert_ne!(TAKEN.get().0, place);
    let error = next(not_utf8(), Trust::Untrusted).unwrap_err();
    assert_eq!(error.kind(), Kind::Internal);
    assert!(error.message().starts_with("a malformed batch: "), "{error}");
}

/// Release builds believe the values of trusted libraries.
#[cfg(debug_assertions)]
#[test]
fn a_batch_that_could_not_be_imported_is_empty_from_then_on() {
    let (mut batch, _) = read(not_utf8(), Trust::Trusted);
    assert!(batch.records().is_err());
    assert_eq!((batch.num_rows(), batch.bytes), (0, 0));
}

#[test]
fn an_empty_batch_that_nobody_has_looked_into_crosses_as_one() {
    let (batch, _) = read(export(records(0, 0)).unwrap(), Trust::Untrusted);
    raw::writer_task(&TAKES).unwrap().write(batch).unwrap();
    assert!(!TAKEN.get().0.is_null());
}

/// Libraries that were built with an older header have a shorter `ts_batch`: nothing is written or read behind its end.
#[test]
fn a_batch_of_an_older_library_is_as_long_as_it_says() {
    let mut place = TsBatch { size: TsBatch::FIRST_SIZE, read_share: 7.0, ..TsBatch::empty() };
    let mut given = Batch::measured(records(0, 4), Origin::from(3));
    given.read_share = Some(0.5);
    let mut outgoing = Outgoing::default();
    outgoing.expect(schema());
    // SAFETY: the place holds nothing.
    unsafe { outgoing.put(given, &mut place) }.unwrap();
    assert_eq!((place.size, place.first, place.read_share), (TsBatch::FIRST_SIZE, 3, 7.0));
    // SAFETY: the batch is the one that was put there.
    let taken = unsafe { batch::take(&mut place, schema(), Trust::Trusted) }.unwrap();
    assert_eq!((taken.num_rows(), taken.origin, taken.read_share), (4, Origin::from(3), None));
}

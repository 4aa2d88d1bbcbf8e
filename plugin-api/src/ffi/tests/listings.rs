//! Listings: parts of a source that are listed on other threads than their reader's, and what becomes of them when something is wrong.

use std::collections::VecDeque;
use std::mem::offset_of;
use std::ptr;
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::thread;

use serde_json::{Value, json};

use super::fixtures::{Memory, in_process, some_host};
use super::raw::{self, NO_LISTING, NO_READER};
use crate::Plugin;
use crate::error::{Error, Kind, Result};
use crate::ffi::abi::*;
use crate::ffi::export::{ExportedPlugin, hand_over};
use crate::ffi::host::ExportedHost;
use crate::host::HostRef;
use crate::reader::{Listing, ReadOptions, Reader, ReaderTask, Split, SplitRequest};

const REQUEST: SplitRequest = SplitRequest { channels: 3, max: 2 };

/// A reader with as many listings as its parameter says, a folder each; or with the trouble that it says.
struct Folders {
    parameter: Value,
    given: u64,
    host: HostRef,
}

/// It has two splits.
struct Folder {
    name: String,
    left: VecDeque<Split>,
    trouble: Option<String>,
    host: HostRef,
    /// Where the threads that list folders meet, so that it is sure that they run at the same time.
    meeting: Option<Arc<Barrier>>,
}

static MEETING: OnceLock<Arc<Barrier>> = OnceLock::new();

fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    Ok(Box::new(Folders { parameter: parameter.clone(), given: 0, host }))
}

fn folders() -> Plugin {
    Plugin::new("folders", "0").reader(&["folders"], "", &[], new)
}

impl Folders {
    fn trouble(&self, call: &str) -> Option<String> {
        let (at, how) = (self.parameter["at"].as_str()?, self.parameter["how"].as_str()?);
        (at == call).then(|| how.to_string())
    }
}

fn meet(trouble: Option<&str>) -> Result<()> {
    match trouble {
        Some("panic") => panic!("as it was told to"),
        Some(message) => Err(Error::connect(message).retryable(true)),
        None => Ok(()),
    }
}

impl Reader for Folders {
    fn splits(&mut self, _: &SplitRequest) -> Result<Vec<Split>> {
        Err(Error::internal("there are listings"))
    }

    fn listing(&mut self, request: &SplitRequest) -> Result<Option<Box<dyn Listing>>> {
        meet(self.trouble("listing").as_deref())?;
        if self.given == self.parameter["folders"].as_u64().unwrap_or(1) {
            return Ok(None);
        }
        let name = format!("folder {}", self.given);
        self.given += 1;
        let split = |number| Split::new(format!("{name}/{number}"), "é", json!({ "request": request }));
        let left = [split(0), split(1)].into();
        let trouble = self.trouble(&name);
        let meeting = self.parameter["meet"].as_bool().and_then(|_| MEETING.get().cloned());
        Ok(Some(Box::new(Folder { name, left, trouble, host: self.host.clone(), meeting })))
    }

    fn open(&mut self, _: &Split, _: &ReadOptions, _: HostRef) -> Result<Box<dyn ReaderTask>> {
        Err(Error::unsupported("nothing to open"))
    }
}

impl Listing for Folder {
    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        if let Some(meeting) = self.meeting.take() {
            meeting.wait();
        }
        meet(self.trouble.as_deref())?;
        self.host.log(log::Level::Info, &self.name, &format!("{request:?}"));
        Ok(self.left.pop_front().into_iter().collect())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.host.log(log::Level::Info, &self.name, "released");
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        self.host.log(log::Level::Info, "reader", "released");
    }
}

fn reader(parameter: Value, host: HostRef) -> Box<dyn Reader> {
    in_process!(folders()).reader("folders", &parameter, host).unwrap()
}

fn all_of(listing: &mut dyn Listing) -> Result<Vec<Split>> {
    let mut all = Vec::new();
    loop {
        let splits = listing.splits(&REQUEST)?;
        if splits.is_empty() {
            return Ok(all);
        }
        all.extend(splits);
    }
}

fn error_of<T>(result: Result<T>) -> Error {
    result.err().unwrap()
}

#[test]
fn listings_behave_the_same_behind_their_tables() {
    let use_reader = |mut reader: Box<dyn Reader>, host: Arc<Memory>| {
        let mut first = reader.listing(&REQUEST).unwrap().unwrap();
        let mut second = reader.listing(&REQUEST).unwrap().unwrap();
        assert!(reader.listing(&REQUEST).unwrap().is_none());
        let splits = (all_of(&mut *second).unwrap(), all_of(&mut *first).unwrap());
        drop((first, second, reader));
        (splits, host.heard())
    };
    let (native_host, host) = (Memory::new(), Memory::new());
    let parameter = json!({ "folders": 2 });
    let native = use_reader(new(&parameter, native_host.clone()).unwrap(), native_host);
    assert_eq!(use_reader(reader(parameter, host.clone()), host), native);
    assert_eq!(native.0.0.iter().map(|split| &split.id[..]).collect::<Vec<_>>(), ["folder 1/0", "folder 1/1"]);
}

#[test]
fn listings_run_beside_each_other_and_beside_their_reader() {
    const FOLDERS: usize = 3;
    MEETING.get_or_init(|| Arc::new(Barrier::new(FOLDERS + 1)));
    let mut reader = reader(json!({ "folders": FOLDERS, "meet": true }), some_host());
    let listings: Vec<_> = std::iter::from_fn(|| reader.listing(&REQUEST).unwrap()).collect();
    assert_eq!(listings.len(), FOLDERS);
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for mut listing in listings {
            let found = &found;
            scope.spawn(move || {
                let splits = all_of(&mut *listing).unwrap();
                found.lock().unwrap().extend(splits);
            });
        }
        // While all of them are in a call.
        let opened = reader.open(&Split::new("", "", Value::Null), &ReadOptions::default(), some_host());
        assert_eq!(error_of(opened).message(), "nothing to open");
        MEETING.get().unwrap().wait();
    });
    assert_eq!(found.into_inner().unwrap().len(), 2 * FOLDERS);
}

#[test]
fn a_reader_is_released_after_its_listings() {
    let host = Memory::new();
    let mut reader = reader(json!({}), host.clone());
    let listing = reader.listing(&REQUEST).unwrap();
    drop(reader);
    assert_eq!(host.heard(), [""; 0]);
    drop(listing);
    assert_eq!(host.heard(), ["INFO folder 0: released", "INFO reader: released"]);
}

#[test]
fn an_error_or_panic_in_a_listing_concerns_it_alone() {
    for (how, kind) in [("out of reach", Kind::Connect), ("panic", Kind::Internal)] {
        let mut reader = reader(json!({ "folders": 2, "at": "folder 0", "how": how }), some_host());
        let mut first = reader.listing(&REQUEST).unwrap().unwrap();
        let error = error_of(first.splits(&REQUEST));
        assert_eq!(error.kind(), kind);
        let words = if how == "panic" { "as it was told to" } else { how };
        assert!(error.message().contains(words), "{error}");
        assert_eq!(error.is_retryable(), kind == Kind::Connect);
        if how == "panic" {
            assert!(error_of(first.splits(&REQUEST)).message().contains("unusable"));
        }
        let mut second = reader.listing(&REQUEST).unwrap().unwrap();
        assert_eq!(all_of(&mut *second).unwrap().len(), 2);
    }
}

#[test]
fn an_error_or_panic_before_there_is_a_listing_is_that_of_the_reader() {
    for (how, words) in [("out of reach", "out of reach"), ("panic", "as it was told to")] {
        let mut reader = reader(json!({ "at": "listing", "how": how }), some_host());
        let error = error_of(reader.listing(&REQUEST));
        assert!(error.message().contains(words), "{error}");
    }
}

#[test]
fn a_reader_in_rust_has_no_listings_unless_it_says_so() {
    struct Plain;
    impl Reader for Plain {
        fn splits(&mut self, _: &SplitRequest) -> Result<Vec<Split>> {
            Ok(Vec::new())
        }
        fn open(&mut self, _: &Split, _: &ReadOptions, _: HostRef) -> Result<Box<dyn ReaderTask>> {
            Err(Error::unsupported("nothing to open"))
        }
    }
    let loaded = in_process!(Plugin::new("plain", "0").reader(&["plain"], "", &[], |_, _| Ok(Box::new(Plain))));
    let mut reader = loaded.reader("plain", &Value::Null, some_host()).unwrap();
    assert!(reader.listing(&REQUEST).unwrap().is_none());
}

unsafe extern "C" fn never(_: *mut TsReader, _: *const u8, _: usize, _: *mut TsListing, _: *mut TsError) -> i32 {
    std::process::abort();
}

#[test]
fn a_table_of_before_there_were_listings_has_none() {
    static ABSENT: TsReaderTable = TsReaderTable { ..NO_READER };
    static SHORT: TsReaderTable =
        TsReaderTable { size: offset_of!(TsReaderTable, listing), listing: Some(never), ..NO_READER };
    static HALF: TsReaderTable =
        TsReaderTable { size: offset_of!(TsReaderTable, listing) + 4, listing: Some(never), ..NO_READER };
    for table in [&ABSENT, &SHORT, &HALF] {
        assert!(raw::reader(table).unwrap().listing(&REQUEST).unwrap().is_none());
    }
}

#[test]
fn a_listing_of_bare_tables_can_do_what_its_functions_do() {
    static EMPTY: TsListingTable = TsListingTable { ..NO_LISTING };
    static GARBAGE: TsListingTable = TsListingTable { splits: Some(garbage), ..NO_LISTING };
    unsafe extern "C" fn garbage(
        _: *mut TsListing,
        _: *const u8,
        _: usize,
        splits: *mut TsText,
        _: *mut TsError,
    ) -> i32 {
        // SAFETY: the engine gives a place for the text.
        unsafe { raw::put_text(splits, b"{}") };
        TS_OK
    }
    unsafe extern "C" fn empty(_: *mut TsReader, _: *const u8, _: usize, out: *mut TsListing, _: *mut TsError) -> i32 {
        // SAFETY: the engine gives a place for the handle.
        unsafe { out.write(TsListing { table: &EMPTY, data: ptr::null_mut() }) };
        TS_OK
    }
    unsafe extern "C" fn mad(_: *mut TsReader, _: *const u8, _: usize, out: *mut TsListing, _: *mut TsError) -> i32 {
        // SAFETY: the engine gives a place for the handle.
        unsafe { out.write(TsListing { table: &GARBAGE, data: ptr::null_mut() }) };
        TS_OK
    }
    unsafe extern "C" fn crooked(
        _: *mut TsReader,
        _: *const u8,
        _: usize,
        out: *mut TsListing,
        _: *mut TsError,
    ) -> i32 {
        // SAFETY: the engine gives a place for the handle.
        unsafe { out.write(TsListing { table: ptr::without_provenance(3), data: ptr::null_mut() }) };
        TS_OK
    }
    unsafe extern "C" fn failed(_: *mut TsReader, _: *const u8, _: usize, out: *mut TsListing, _: *mut TsError) -> i32 {
        // SAFETY: the engine gives a place for the handle, and ignores it.
        unsafe { out.write(TsListing { table: ptr::without_provenance(3), data: ptr::null_mut() }) };
        TS_IO
    }
    static OF_EMPTY: TsReaderTable = TsReaderTable { listing: Some(empty), ..NO_READER };
    static OF_GARBAGE: TsReaderTable = TsReaderTable { listing: Some(mad), ..NO_READER };
    static CROOKED: TsReaderTable = TsReaderTable { listing: Some(crooked), ..NO_READER };
    static FAILED: TsReaderTable = TsReaderTable { listing: Some(failed), ..NO_READER };
    let listing = |table| raw::reader(table).unwrap().listing(&REQUEST);
    let splits = |table| error_of(listing(table).unwrap().unwrap().splits(&REQUEST));
    let absent = splits(&OF_EMPTY);
    assert_eq!((absent.kind(), absent.message()), (Kind::Unsupported, "the plugin's listing has no function `splits`"));
    let garbled = splits(&OF_GARBAGE);
    assert!(garbled.message().starts_with("the list of splits is not what transship.h says of it: "), "{garbled}");
    let crooked = error_of(listing(&CROOKED));
    assert_eq!(crooked.message(), "the plugin said that it made a listing, but gave none");
    assert_eq!(error_of(listing(&FAILED)).kind(), Kind::Io);
}

#[test]
fn null_pointers_into_a_listing_are_errors_and_a_second_release_does_nothing() {
    static PLUGIN: OnceLock<ExportedPlugin> = OnceLock::new();
    let memory = Memory::new();
    let host = ExportedHost::new(memory.clone());
    let (mut plugin, mut reader, mut listing) = (ptr::null(), TsReader::empty(), TsListing::empty());
    let (name, null) = ("folders", ptr::null_mut());
    let request = r#"{"channels":1,"max":1}"#;
    let (at, len) = (request.as_ptr(), request.len());
    // SAFETY: null, or what the header asks for; that null is an error is what is tested.
    unsafe {
        hand_over(&PLUGIN, folders, TS_ABI_VERSION, &mut plugin).unwrap();
        let new_reader = (*plugin).new_reader.unwrap();
        let status =
            new_reader(plugin, name.as_ptr(), name.len(), ptr::null(), 0, host.table(), &mut reader, ptr::null_mut());
        assert_eq!(status, TS_OK);
        let make = (*reader.table).listing.unwrap();
        assert_eq!(make(ptr::null_mut(), at, len, &mut listing, null), TS_INTERNAL);
        assert_eq!(make(&mut reader, ptr::null(), 0, &mut listing, null), TS_INTERNAL);
        assert!(listing.table.is_null());
        assert_eq!(make(&mut reader, at, len, &mut listing, null), TS_OK);

        let calls = &*listing.table;
        let (splits, release) = (calls.splits.unwrap(), calls.release.unwrap());
        let mut text = TsText::empty();
        assert_eq!(splits(ptr::null_mut(), at, len, &mut text, null), TS_INTERNAL);
        assert_eq!(splits(&mut listing, ptr::null(), 0, &mut text, null), TS_INTERNAL);
        assert_eq!(splits(&mut listing, at, len, ptr::null_mut(), null), TS_INTERNAL);
        assert_eq!(splits(&mut listing, at, len, &mut text, null), TS_OK);
        release(ptr::null_mut());
        release(&mut listing);
        assert!(listing.data.is_null());
        release(&mut listing);
        assert_eq!(splits(&mut listing, at, len, &mut text, null), TS_INTERNAL, "after its release");

        // There are no more: the handle stays as it is.
        let mut none = TsListing::empty();
        assert_eq!(make(&mut reader, at, len, &mut none, null), TS_OK);
        assert!(none.table.is_null());
        (*reader.table).release.unwrap()(&mut reader);
        assert_eq!(make(&mut reader, at, len, &mut none, null), TS_INTERNAL, "after its release");
    }
    let released = memory.heard().into_iter().filter(|heard| heard.ends_with("released")).count();
    assert_eq!(released, 2, "the listing and the reader");
}

#[test]
fn a_listing_without_a_place_for_it_is_an_error() {
    static PLUGIN: OnceLock<ExportedPlugin> = OnceLock::new();
    let host = ExportedHost::new(some_host());
    let (mut plugin, mut reader) = (ptr::null(), TsReader::empty());
    let (name, request) = ("folders", r#"{"channels":1,"max":1}"#);
    // SAFETY: as above.
    unsafe {
        hand_over(&PLUGIN, folders, TS_ABI_VERSION, &mut plugin).unwrap();
        let (at, len) = (name.as_ptr(), name.len());
        let null = ptr::null_mut();
        (*plugin).new_reader.unwrap()(plugin, at, len, ptr::null(), 0, host.table(), &mut reader, null);
        let make = (*reader.table).listing.unwrap();
        assert_eq!(make(&mut reader, request.as_ptr(), request.len(), ptr::null_mut(), null), TS_INTERNAL);
        (*reader.table).release.unwrap()(&mut reader);
    }
}

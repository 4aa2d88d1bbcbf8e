//! Release, cancel and hosts, in any order and from any thread.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use arrow_schema::SchemaRef;
use serde_json::Value;

use super::fixtures::{Memory, in_process, schema, some_host};
use super::raw::{self, NO_READER_TASK};
use crate::error::{Error, Kind, Result};
use crate::ffi::abi::*;
use crate::ffi::export::{ExportedPlugin, hand_over};
use crate::ffi::host::{ExportedHost, ForeignHost};
use crate::host::{DirtyRecord, Host, HostRef};
use crate::reader::{CancelHandle, Item, ReadOptions, Reader, ReaderTask, Split, SplitRequest};
use crate::{Plugin, ffi};

/// What an object with a `Guarded` in it has gone through.
#[derive(Default)]
struct Fate {
    cancels: AtomicU32,
    drops: Mutex<Vec<&'static str>>,
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

/// A reader whose task waits in `next` until it is cancelled.
struct Sleeper {
    what: &'static str,
    fate: Arc<Fate>,
    host: HostRef,
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.fate.drops.lock().unwrap().push(self.what);
    }
}

impl Reader for Sleeper {
    fn splits(&mut self, _: &SplitRequest) -> Result<Vec<Split>> {
        Ok(Vec::new())
    }
    fn open(&mut self, _: &Split, _: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        Ok(Box::new(Sleeper { what: "task", fate: Arc::clone(&self.fate), host }))
    }
}

impl ReaderTask for Sleeper {
    fn prepare(&mut self) -> Result<SchemaRef> {
        Ok(schema())
    }
    fn next(&mut self, _: Duration) -> Result<Item> {
        let mut state = self.fate.state.lock().unwrap();
        state.0 = true;
        self.fate.changed.notify_all();
        let _cancelled = self.fate.changed.wait_while(state, |(_, cancelled)| !*cancelled).unwrap();
        self.host.log(log::Level::Warn, "sleeper", "woken up");
        Err(Error::cancelled())
    }
    fn cancel_handle(&self) -> Option<CancelHandle> {
        let fate = Arc::clone(&self.fate);
        Some(Arc::new(move || {
            fate.cancels.fetch_add(1, Ordering::SeqCst);
            fate.state.lock().unwrap().1 = true;
            fate.changed.notify_all();
        }))
    }
}

/// The fate of the one sleeper that a test makes: parameters are JSON, and this is none.
static FATES: Mutex<Vec<(String, Arc<Fate>)>> = Mutex::new(Vec::new());

fn sleeper(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    let name = parameter.as_str().unwrap();
    let fates = FATES.lock().unwrap();
    let (_, fate) = fates.iter().find(|(test, _)| test == name).unwrap();
    Ok(Box::new(Sleeper { what: "reader", fate: Arc::clone(fate), host }))
}

fn sleeping_plugin() -> Plugin {
    Plugin::new("sleeper", "0").reader(&["sleeper"], "", &[], sleeper)
}

fn fate_of(test: &str) -> Arc<Fate> {
    let fate = Arc::new(Fate::default());
    FATES.lock().unwrap().push((test.to_string(), Arc::clone(&fate)));
    fate
}

fn some_split() -> Split {
    Split::new("", "", Value::Null)
}

#[test]
fn cancel_interrupts_a_call_that_waits() {
    let fate = fate_of("interrupts");
    let mut reader = in_process!(sleeping_plugin()).reader("sleeper", &"interrupts".into(), some_host()).unwrap();
    let host = Memory::new();
    let mut task = reader.open(&some_split(), &ReadOptions::default(), host.clone()).unwrap();
    let cancel = task.cancel_handle().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| task.next(Duration::from_secs(3600)));
        let state = fate.state.lock().unwrap();
        drop(fate.changed.wait_while(state, |(waiting, _)| !*waiting).unwrap());
        cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().kind(), Kind::Cancelled);
    });
    assert_eq!(host.heard(), ["WARN sleeper: woken up"]);
}

#[test]
fn cancel_after_the_end_of_the_task_reaches_nobody() {
    let fate = fate_of("after");
    let mut reader = in_process!(sleeping_plugin()).reader("sleeper", &"after".into(), some_host()).unwrap();
    let task = reader.open(&some_split(), &ReadOptions::default(), some_host()).unwrap();
    let cancel = task.cancel_handle().unwrap();
    cancel();
    assert_eq!(fate.cancels.load(Ordering::SeqCst), 1);
    drop(task);
    cancel();
    drop(reader);
    cancel();
    assert_eq!(fate.cancels.load(Ordering::SeqCst), 1);
    assert_eq!(Arc::strong_count(&fate), 2, "the test's and the list's: the object is gone in spite of the handle");
}

#[test]
fn a_reader_is_released_after_its_tasks() {
    let fate = fate_of("order");
    let mut reader = in_process!(sleeping_plugin()).reader("sleeper", &"order".into(), some_host()).unwrap();
    let task = reader.open(&some_split(), &ReadOptions::default(), some_host()).unwrap();
    drop(reader);
    assert!(fate.drops.lock().unwrap().is_empty());
    drop(task);
    assert_eq!(*fate.drops.lock().unwrap(), ["task", "reader"]);
}

#[test]
fn release_and_cancel_never_overlap() {
    /// What the data pointer of the task points to.
    #[derive(Default)]
    struct Watched {
        released: AtomicBool,
        late: AtomicU32,
    }
    unsafe extern "C" fn cancel(task: *mut TsReaderTask) {
        // SAFETY: the test keeps what it points to for longer than the task.
        let watched = unsafe { &*(*task).data.cast::<Watched>() };
        thread::yield_now();
        if watched.released.load(Ordering::SeqCst) {
            watched.late.fetch_add(1, Ordering::SeqCst);
        }
    }
    unsafe extern "C" fn release(task: *mut TsReaderTask) {
        // SAFETY: as above.
        unsafe { &*(*task).data.cast::<Watched>() }.released.store(true, Ordering::SeqCst);
    }
    static TABLE: TsReaderTaskTable =
        TsReaderTaskTable { cancel: Some(cancel), release: Some(release), ..NO_READER_TASK };
    for _ in 0..200 {
        let watched = Watched::default();
        raw::set_data(ptr::from_ref(&watched).cast_mut().cast::<c_void>());
        let task = raw::reader_task(&TABLE).unwrap();
        let cancel = task.cancel_handle().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..50 {
                    cancel();
                }
            });
            scope.spawn(move || drop(task));
        });
        assert!(watched.released.load(Ordering::SeqCst));
        assert_eq!(watched.late.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn a_second_release_does_nothing() {
    let fate = fate_of("twice");
    static PLUGIN: OnceLock<ExportedPlugin> = OnceLock::new();
    let host = ExportedHost::new(some_host());
    let (mut plugin, mut reader) = (ptr::null(), TsReader::empty());
    let (name, parameter) = ("sleeper", "\"twice\"");
    // SAFETY: what the header asks for, but for the second release, which is what is tested.
    unsafe {
        hand_over(&PLUGIN, sleeping_plugin, TS_ABI_VERSION, &mut plugin).unwrap();
        let new_reader = (*plugin).new_reader.unwrap();
        let (at, len) = (parameter.as_ptr(), parameter.len());
        let status = new_reader(plugin, name.as_ptr(), name.len(), at, len, host.table(), &mut reader, ptr::null_mut());
        assert_eq!(status, TS_OK);
        let release = (*reader.table).release.unwrap();
        release(&mut reader);
        assert!(reader.data.is_null());
        release(&mut reader);
    }
    assert_eq!(*fate.drops.lock().unwrap(), ["reader"]);
}

#[test]
fn texts_and_errors_are_released_once_even_if_asked_twice() {
    let (mut text, mut error) = (TsText::empty(), TsError::empty());
    // SAFETY: both hold nothing when they are filled in.
    unsafe {
        ffi::text::put_json(&mut text, "a text", "text").unwrap();
        ffi::guard::put_error(&mut error, Error::data("an error"));
        let (release_text, release_error) = (text.release.unwrap(), error.release.unwrap());
        release_text(&mut text);
        release_text(&mut text);
        release_error(&mut error);
        release_error(&mut error);
    }
    assert!(text.data.is_null() && error.message.is_null());
}

#[test]
fn a_host_lives_as_long_as_a_plugin_holds_it() {
    let memory = Memory::new();
    let watch: Weak<Memory> = Arc::downgrade(&memory);
    let exported = ExportedHost::new(memory);
    // SAFETY: the host is alive.
    let held = unsafe { ForeignHost::retain(exported.table()) }.unwrap();
    drop(exported);
    held.log(log::Level::Info, "late", "still here");
    held.dirty(&DirtyRecord { cause: "late", ..DirtyRecord::default() }).unwrap();
    assert_eq!(watch.upgrade().unwrap().heard().len(), 2);
    drop(held);
    assert!(watch.upgrade().is_none());
}

#[test]
fn a_host_can_be_used_from_several_threads() {
    let memory = Memory::new();
    let exported = ExportedHost::new(memory.clone());
    // SAFETY: the host is alive.
    let host = unsafe { ForeignHost::retain(exported.table()) }.unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| host.log(log::Level::Trace, "", "")));
        }
    });
    assert_eq!(memory.heard().len(), 100);
}

#[test]
fn what_a_plugin_reports_that_is_no_text_is_repaired() {
    let memory = Memory::new();
    let exported = ExportedHost::new(memory.clone());
    let (table, bytes) = (exported.table(), b"caf\xe9");
    let record = TsDirty {
        size: size_of::<TsDirty>(),
        has_position: 0,
        reserved: 0,
        position: 5,
        column: ptr::null(),
        column_len: 9,
        value: bytes.as_ptr(),
        value_len: bytes.len(),
        cause: ptr::null(),
        cause_len: 0,
        record: ptr::null(),
        record_len: 0,
        place: ptr::null(),
        place_len: 0,
    };
    // SAFETY: the host is alive, and the texts are lent for the calls.
    unsafe {
        let host = &*table;
        host.log.unwrap()(table, 77, bytes.as_ptr(), bytes.len(), ptr::null(), 3);
        assert_eq!(host.dirty.unwrap()(table, &record, ptr::null_mut()), TS_OK);
        assert_eq!(host.dirty.unwrap()(table, ptr::null(), ptr::null_mut()), TS_INTERNAL);
        assert!(host.get_extension.unwrap()(table, b"transship.none/1".as_ptr(), 16).is_null());
    }
    let expected = DirtyRecord { value: Some("caf\u{fffd}"), cause: "no cause was given", ..DirtyRecord::default() };
    assert_eq!(memory.heard(), ["TRACE caf\u{fffd}: ".to_string(), format!("{expected:?}")]);
}

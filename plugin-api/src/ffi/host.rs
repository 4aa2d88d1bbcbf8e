//! The host over the boundary, both ways: the engine's [`Host`] as a `ts_host`, and a `ts_host` as the plugin's [`Host`].

use std::borrow::Cow;
use std::ffi::c_void;
use std::mem::size_of;
use std::sync::Arc;
use std::{ptr, slice};

use log::Level;

use super::abi::{
    TS_LOG_DEBUG, TS_LOG_ERROR, TS_LOG_INFO, TS_LOG_OFF, TS_LOG_TRACE, TS_LOG_WARN, TS_LOOKUP_EXTENSION, TsDirty,
    TsError, TsHost,
};
use super::calls::{Calls, LOOKUP_HOST};
use super::guard::{catching, guard, guard_quietly, outcome};
use super::text::borrow;
use crate::error::{Error, Result};
use crate::host::{DirtyRecord, Host, HostRef};

/// The engine's host as plugins get it. It lives as long as this, or until the last plugin that retained it releases it.
#[derive(Clone)]
pub(super) struct ExportedHost(Arc<HostTable>);

/// The table comes first: a pointer to it is a pointer to the whole.
#[repr(C)]
struct HostTable {
    table: TsHost,
    host: HostRef,
    /// The calls that this host takes answers to, where it is that of a lookup.
    calls: Option<Arc<Calls>>,
}

// SAFETY: the table holds numbers, functions and a null pointer; the host and the calls are Send and Sync.
unsafe impl Send for HostTable {}
// SAFETY: as above.
unsafe impl Sync for HostTable {}

impl ExportedHost {
    pub(super) fn new(host: HostRef) -> ExportedHost {
        ExportedHost::make(host, None)
    }

    /// The host of a lookup, through which its calls are answered.
    pub(super) fn with_calls(host: HostRef, calls: Arc<Calls>) -> ExportedHost {
        ExportedHost::make(host, Some(calls))
    }

    fn make(host: HostRef, calls: Option<Arc<Calls>>) -> ExportedHost {
        let table = TsHost {
            size: size_of::<TsHost>(),
            data: ptr::null_mut(),
            log_level: level_filter_code(log::max_level()),
            reserved: 0,
            log: Some(host_log),
            dirty: Some(host_dirty),
            is_cancelled: Some(host_is_cancelled),
            retain: Some(host_retain),
            release: Some(host_release),
            get_extension: Some(host_get_extension),
            started: Some(host_started),
            doing: Some(host_doing),
        };
        ExportedHost(Arc::new(HostTable { table, host, calls }))
    }

    /// The table, valid as long as this host.
    pub(super) fn table(&self) -> *const TsHost {
        Arc::as_ptr(&self.0).cast()
    }
}

/// # Safety
/// `host` came from an [`ExportedHost`] that is still alive.
unsafe fn exported<'a>(host: *const TsHost) -> &'a HostRef {
    // SAFETY: the table is the first member of a `HostTable` (repr(C)), which is alive.
    unsafe { &(*host.cast::<HostTable>()).host }
}

/// The calls that a host takes answers to.
///
/// # Safety
/// `host` is null, or came from an [`ExportedHost`] that is still alive.
pub(super) unsafe fn calls_of<'a>(host: *const TsHost) -> Option<&'a Calls> {
    if host.is_null() {
        return None;
    }
    // SAFETY: the table is the first member of a `HostTable` (repr(C)), which is alive.
    unsafe { &(*host.cast::<HostTable>()).calls }.as_deref()
}

unsafe extern "C" fn host_log(
    host: *const TsHost,
    level: i32,
    target: *const u8,
    target_len: usize,
    message: *const u8,
    message_len: usize,
) {
    guard_quietly(|| {
        // SAFETY: plugins call with a host that is alive, and with texts that they lend for the call.
        let (host, target, message) =
            unsafe { (exported(host), lossy(target, target_len), lossy(message, message_len)) };
        host.log(level_from_code(level), target.as_deref().unwrap_or(""), message.as_deref().unwrap_or(""));
    });
}

unsafe extern "C" fn host_dirty(host: *const TsHost, record: *const TsDirty, error: *mut TsError) -> i32 {
    let call = || {
        // SAFETY: plugins call with a host that is alive, and with a record whose first member is its size.
        let host = unsafe { exported(host) };
        // SAFETY: as above.
        if record.is_null() || unsafe { (*record).size } < size_of::<TsDirty>() {
            return Err(Error::internal("host.dirty was called without a record, or with one whose size is not set"));
        }
        // SAFETY: it is there in full (above).
        let record = unsafe { &*record };
        // SAFETY: its texts are lent for the call.
        let [column, value, cause, text, place] = unsafe {
            [
                lossy(record.column, record.column_len),
                lossy(record.value, record.value_len),
                lossy(record.cause, record.cause_len),
                lossy(record.record, record.record_len),
                lossy(record.place, record.place_len),
            ]
        };
        host.dirty(&DirtyRecord {
            position: (record.has_position != 0).then_some(record.position),
            column: column.as_deref(),
            value: value.as_deref(),
            cause: cause.as_deref().unwrap_or("no cause was given"),
            record: text.as_deref(),
            place: place.as_deref(),
        })
    };
    // SAFETY: `error` is null or an empty `ts_error`, as the header asks of callers.
    unsafe { guard(error, call) }
}

unsafe extern "C" fn host_is_cancelled(host: *const TsHost) -> i32 {
    // SAFETY: plugins call with a host that is alive.
    // A host that panics at the question is in no state to go on.
    catching(|| Ok(unsafe { exported(host) }.is_cancelled())).unwrap_or(true).into()
}

unsafe extern "C" fn host_retain(host: *const TsHost) {
    // SAFETY: the pointer came out of an Arc that is alive, for the caller holds a reference to it.
    unsafe { Arc::increment_strong_count(host.cast::<HostTable>()) }
}

unsafe extern "C" fn host_release(host: *const TsHost) {
    // SAFETY: the caller gives back a reference that it took with `retain`.
    guard_quietly(|| unsafe { Arc::decrement_strong_count(host.cast::<HostTable>()) });
}

unsafe extern "C" fn host_get_extension(host: *const TsHost, id: *const u8, id_len: usize) -> *const c_void {
    let find = || {
        // SAFETY: the id is lent for this call.
        let id = unsafe { borrow(id, id_len, "id of an extension") }?;
        // SAFETY: plugins call with a host that is alive.
        let has = id == Some(TS_LOOKUP_EXTENSION) && unsafe { calls_of(host) }.is_some();
        Ok(if has { ptr::from_ref(&LOOKUP_HOST).cast() } else { ptr::null() })
    };
    catching(find).unwrap_or(ptr::null())
}

unsafe extern "C" fn host_started(host: *const TsHost, first_row: u64, moments: *const u64, count: usize) {
    guard_quietly(|| {
        if moments.is_null() || count > isize::MAX as usize / size_of::<u64>() {
            return;
        }
        // SAFETY: plugins call with a host that is alive, and with so many moments that they lend for the call.
        let (host, moments) = unsafe { (exported(host), slice::from_raw_parts(moments, count)) };
        host.started(first_row as usize, moments);
    });
}

unsafe extern "C" fn host_doing(host: *const TsHost, what: *const u8, what_len: usize) {
    guard_quietly(|| {
        // SAFETY: plugins call with a host that is alive, and with a text that they lend for the call.
        let (host, what) = unsafe { (exported(host), lossy(what, what_len)) };
        host.doing(what.as_deref().unwrap_or(""));
    });
}

/// A text that the other side lent; what is no UTF-8 in it is replaced, for it is often the very thing that is reported.
///
/// # Safety
/// `data` is null, or `len` bytes are readable there for as long as `'a`.
unsafe fn lossy<'a>(data: *const u8, len: usize) -> Option<Cow<'a, str>> {
    if data.is_null() || len > isize::MAX as usize {
        return None;
    }
    // SAFETY: it is not null (above), and readable (the caller).
    Some(String::from_utf8_lossy(unsafe { slice::from_raw_parts(data, len) }))
}

/// The engine, as a plugin sees it: a reference to the engine's `ts_host`.
pub(super) struct ForeignHost {
    table: *const TsHost,
}

// SAFETY: `transship.h` lets every function of a host be called from any thread, several at once.
unsafe impl Send for ForeignHost {}
// SAFETY: as above.
unsafe impl Sync for ForeignHost {}

impl ForeignHost {
    /// # Safety
    /// `table` is null, or a host that is alive during this call.
    pub(super) unsafe fn retain(table: *const TsHost) -> Result<ForeignHost> {
        if table.is_null() {
            return Err(Error::internal("the engine gave no host"));
        }
        // SAFETY: it is alive (the caller), and has every member of the first version.
        if unsafe { (*table).size } < TsHost::FIRST_SIZE {
            return Err(Error::internal("the engine's host lacks functions of the first version of the contract"));
        }
        // SAFETY: as above.
        if let Some(retain) = unsafe { (*table).retain } {
            // SAFETY: as above.
            unsafe { retain(table) };
        }
        Ok(ForeignHost { table })
    }

    /// The table of an extension of the engine, valid as long as this host; null if it has none with this id.
    pub(super) fn extension(&self, id: &str) -> *const c_void {
        // SAFETY: the host is alive, and the id is lent for the call.
        unsafe { (*self.table).get_extension.map_or(ptr::null(), |get| get(self.table, id.as_ptr(), id.len())) }
    }

    /// The host itself, alive as long as this.
    pub(super) fn pointer(&self) -> *const TsHost {
        self.table
    }

    /// The most detailed level that the engine wants to hear.
    pub(super) fn log_level(&self) -> log::LevelFilter {
        // SAFETY: it is not null and was retained at the start (`retain`).
        match unsafe { (*self.table).log_level } {
            TS_LOG_OFF => log::LevelFilter::Off,
            code => level_from_code(code).to_level_filter(),
        }
    }

    /// What the engine does with this, if it has a use for it: of an older engine's table only the first members are there.
    fn takes_doing(&self) -> Option<unsafe extern "C" fn(*const TsHost, *const u8, usize)> {
        // SAFETY: it is not null and was retained at the start (`retain`); it has the member if its size says so.
        unsafe { if (*self.table).size < TsHost::WITH_DOING { None } else { (*self.table).doing } }
    }
}

impl Drop for ForeignHost {
    fn drop(&mut self) {
        // SAFETY: it was retained at the start.
        if let Some(release) = unsafe { (*self.table).release } {
            // SAFETY: as above.
            unsafe { release(self.table) }
        }
    }
}

impl Host for ForeignHost {
    fn log(&self, level: Level, target: &str, message: &str) {
        // SAFETY: the host is alive.
        if let Some(log) = unsafe { (*self.table).log } {
            // SAFETY: the host is alive, and the texts outlive the call.
            unsafe {
                log(self.table, level as i32, target.as_ptr(), target.len(), message.as_ptr(), message.len());
            }
        }
    }

    fn dirty(&self, record: &DirtyRecord<'_>) -> Result<()> {
        // SAFETY: the host is alive.
        let Some(dirty) = (unsafe { (*self.table).dirty }) else {
            return Err(Error::internal("the engine takes no dirty records"));
        };
        let (column, column_len) = lend(record.column);
        let (value, value_len) = lend(record.value);
        let (cause, cause_len) = lend(Some(record.cause));
        let (text, record_len) = lend(record.record);
        let (place, place_len) = lend(record.place);
        let lent = TsDirty {
            size: size_of::<TsDirty>(),
            has_position: record.position.is_some().into(),
            reserved: 0,
            position: record.position.unwrap_or(0),
            column,
            column_len,
            value,
            value_len,
            cause,
            cause_len,
            record: text,
            record_len,
            place,
            place_len,
        };
        let mut error = TsError::empty();
        // SAFETY: the host is alive, and the record and its texts outlive the call.
        let status = unsafe { dirty(self.table, &lent, &mut error) };
        outcome(status, error, "the engine")
    }

    fn is_cancelled(&self) -> bool {
        // SAFETY: the host is alive.
        unsafe { (*self.table).is_cancelled.is_some_and(|is_cancelled| is_cancelled(self.table) != 0) }
    }

    fn started(&self, first_row: usize, moments: &[u64]) {
        // SAFETY: the host is alive.
        if let Some(started) = unsafe { (*self.table).started } {
            // SAFETY: the host is alive, and the moments outlive the call.
            unsafe { started(self.table, first_row as u64, moments.as_ptr(), moments.len()) }
        }
    }

    fn doing(&self, what: &str) {
        if let Some(doing) = self.takes_doing() {
            // SAFETY: the host is alive, and the text outlives the call.
            unsafe { doing(self.table, what.as_ptr(), what.len()) }
        }
    }
}

fn lend(text: Option<&str>) -> (*const u8, usize) {
    text.map_or((ptr::null(), 0), |text| (text.as_ptr(), text.len()))
}

fn level_from_code(code: i32) -> Level {
    match code {
        TS_LOG_ERROR => Level::Error,
        TS_LOG_WARN => Level::Warn,
        TS_LOG_INFO => Level::Info,
        TS_LOG_DEBUG => Level::Debug,
        code if code <= TS_LOG_OFF => Level::Error,
        _ => Level::Trace,
    }
}

fn level_filter_code(level: log::LevelFilter) -> i32 {
    match level.to_level() {
        None => TS_LOG_OFF,
        Some(Level::Error) => TS_LOG_ERROR,
        Some(Level::Warn) => TS_LOG_WARN,
        Some(Level::Info) => TS_LOG_INFO,
        Some(Level::Debug) => TS_LOG_DEBUG,
        Some(Level::Trace) => TS_LOG_TRACE,
    }
}

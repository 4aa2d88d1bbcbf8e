//! The `#[repr(C)]` mirror of `include/transship.h`: same names, same order, same sizes (`tests/layout.rs` compares the
//! two through the C compiler). What each member means, who owns it and for how long is written there, and only there.
#![allow(missing_docs, reason = "the header is the documentation, and it must not have a second copy that drifts")]

use std::ffi::c_void;
use std::mem::{offset_of, size_of};
use std::ptr;

use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;

use crate::error::Kind;

pub const TS_ABI_VERSION: u32 = 1;

pub const TS_OK: i32 = 0;
pub const TS_CONFIG: i32 = Kind::Config as i32;
pub const TS_CONNECT: i32 = Kind::Connect as i32;
pub const TS_IO: i32 = Kind::Io as i32;
pub const TS_SCHEMA: i32 = Kind::Schema as i32;
pub const TS_DATA: i32 = Kind::Data as i32;
pub const TS_UNSUPPORTED: i32 = Kind::Unsupported as i32;
pub const TS_CANCELLED: i32 = Kind::Cancelled as i32;
pub const TS_INTERNAL: i32 = Kind::Internal as i32;

pub const TS_LOG_OFF: i32 = 0;
pub const TS_LOG_ERROR: i32 = 1;
pub const TS_LOG_WARN: i32 = 2;
pub const TS_LOG_INFO: i32 = 3;
pub const TS_LOG_DEBUG: i32 = 4;
pub const TS_LOG_TRACE: i32 = 5;

pub const TS_ITEM_END: i32 = 0;
pub const TS_ITEM_BATCH: i32 = 1;
pub const TS_ITEM_MARK: i32 = 2;
pub const TS_ITEM_IDLE: i32 = 3;
pub const TS_ITEM_SCHEMA: i32 = 4;

pub const TS_MARK_WATERMARK: i32 = 1;
pub const TS_MARK_FLUSH: i32 = 2;
pub const TS_MARK_EPOCH: i32 = 3;

/// A text that its receiver releases.
#[repr(C)]
#[derive(Debug)]
pub struct TsText {
    pub data: *const u8,
    pub len: usize,
    pub release: Option<unsafe extern "C" fn(*mut TsText)>,
    pub private_data: *mut c_void,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsError {
    pub size: usize,
    pub kind: i32,
    pub retryable: i32,
    pub message: *const u8,
    pub message_len: usize,
    pub release: Option<unsafe extern "C" fn(*mut TsError)>,
    pub private_data: *mut c_void,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsBatch {
    pub size: usize,
    pub array: FFI_ArrowArray,
    pub n_bytes: u64,
    pub first: u64,
    pub positions: *const u64,
    pub resume: *const u8,
    pub resume_len: usize,
    // From here on: what an older library does not know of.
    pub read_share: f64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct TsMark {
    pub kind: i32,
    pub reserved: i32,
    pub value: i64,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsDirty {
    pub size: usize,
    pub has_position: i32,
    pub reserved: i32,
    pub position: u64,
    pub column: *const u8,
    pub column_len: usize,
    pub value: *const u8,
    pub value_len: usize,
    pub cause: *const u8,
    pub cause_len: usize,
    pub record: *const u8,
    pub record_len: usize,
    pub place: *const u8,
    pub place_len: usize,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsHost {
    pub size: usize,
    pub data: *mut c_void,
    pub log_level: i32,
    pub reserved: i32,
    pub log: Option<unsafe extern "C" fn(*const TsHost, i32, *const u8, usize, *const u8, usize)>,
    pub dirty: Option<unsafe extern "C" fn(*const TsHost, *const TsDirty, *mut TsError) -> i32>,
    pub is_cancelled: Option<unsafe extern "C" fn(*const TsHost) -> i32>,
    pub retain: Option<unsafe extern "C" fn(*const TsHost)>,
    pub release: Option<unsafe extern "C" fn(*const TsHost)>,
    pub get_extension: Option<unsafe extern "C" fn(*const TsHost, *const u8, usize) -> *const c_void>,
    pub started: Option<unsafe extern "C" fn(*const TsHost, u64, *const u64, usize)>,
    // From here on: what an older engine does not have.
    pub doing: Option<unsafe extern "C" fn(*const TsHost, *const u8, usize)>,
}

/// A handle: the table of its kind and the data of one object. The engine keeps it; the plugin fills it in.
#[repr(C)]
#[derive(Debug)]
pub struct TsObject<Table> {
    pub table: *const Table,
    pub data: *mut c_void,
}

pub type TsReader = TsObject<TsReaderTable>;
pub type TsReaderTask = TsObject<TsReaderTaskTable>;
pub type TsListing = TsObject<TsListingTable>;
pub type TsWriter = TsObject<TsWriterTable>;
pub type TsWriterTask = TsObject<TsWriterTaskTable>;
pub type TsTransformer = TsObject<TsTransformerTable>;
pub type TsLookup = TsObject<TsLookupTable>;

/// A call that takes nothing and gives nothing.
pub type Call<Table> = Option<unsafe extern "C" fn(*mut TsObject<Table>, *mut TsError) -> i32>;
/// A call that takes a text.
pub type CallWithText<Table> =
    Option<unsafe extern "C" fn(*mut TsObject<Table>, *const u8, usize, *mut TsError) -> i32>;
/// A call that gives a text.
pub type CallForText<Table> = Option<unsafe extern "C" fn(*mut TsObject<Table>, *mut TsText, *mut TsError) -> i32>;
/// A call that gives a schema.
pub type CallForSchema<Table> =
    Option<unsafe extern "C" fn(*mut TsObject<Table>, *mut FFI_ArrowSchema, *mut TsError) -> i32>;
/// A call that takes a batch.
pub type CallWithBatch<Table> = Option<unsafe extern "C" fn(*mut TsObject<Table>, *mut TsBatch, *mut TsError) -> i32>;
/// A call that cannot fail: `cancel` and `release`.
pub type Signal<Table> = Option<unsafe extern "C" fn(*mut TsObject<Table>)>;
/// A call that makes an object from a component's name and its parameters.
pub type CallForNew<Table> = Option<
    unsafe extern "C" fn(
        *const TsPlugin,
        *const u8,
        usize,
        *const u8,
        usize,
        *const TsHost,
        *mut TsObject<Table>,
        *mut TsError,
    ) -> i32,
>;

#[repr(C)]
#[derive(Debug)]
pub struct TsPlugin {
    pub size: usize,
    pub abi_version: u32,
    pub reserved: u32,
    pub description: *const u8,
    pub description_len: usize,
    pub new_reader: CallForNew<TsReaderTable>,
    pub new_writer: CallForNew<TsWriterTable>,
    pub new_transformer: CallForNew<TsTransformerTable>,
    pub get_extension: Option<unsafe extern "C" fn(*const TsPlugin, *const u8, usize) -> *const c_void>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsReaderTable {
    pub size: usize,
    pub prepare: CallForText<TsReaderTable>,
    pub attach: CallWithText<TsReaderTable>,
    pub schema: CallForSchema<TsReaderTable>,
    pub splits: Option<unsafe extern "C" fn(*mut TsReader, *const u8, usize, *mut TsText, *mut TsError) -> i32>,
    pub open: Option<
        unsafe extern "C" fn(
            *mut TsReader,
            *const u8,
            usize,
            *const u8,
            usize,
            *const TsHost,
            *mut TsReaderTask,
            *mut TsError,
        ) -> i32,
    >,
    pub post: Call<TsReaderTable>,
    pub release: Signal<TsReaderTable>,
    pub listing: Option<unsafe extern "C" fn(*mut TsReader, *const u8, usize, *mut TsListing, *mut TsError) -> i32>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsListingTable {
    pub size: usize,
    pub splits: Option<unsafe extern "C" fn(*mut TsListing, *const u8, usize, *mut TsText, *mut TsError) -> i32>,
    pub release: Signal<TsListingTable>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsReaderTaskTable {
    pub size: usize,
    pub prepare: CallForSchema<TsReaderTaskTable>,
    pub next:
        Option<unsafe extern "C" fn(*mut TsReaderTask, u64, *mut i32, *mut TsBatch, *mut TsMark, *mut TsError) -> i32>,
    pub ack: CallWithText<TsReaderTaskTable>,
    pub post: Call<TsReaderTaskTable>,
    pub cancel: Signal<TsReaderTaskTable>,
    pub release: Signal<TsReaderTaskTable>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsWriterTable {
    pub size: usize,
    pub info: CallForText<TsWriterTable>,
    pub plan: CallForText<TsWriterTable>,
    pub prepare: Option<
        unsafe extern "C" fn(*mut TsWriter, *const u8, usize, *mut FFI_ArrowSchema, *mut TsText, *mut TsError) -> i32,
    >,
    pub attach: CallWithText<TsWriterTable>,
    pub open: Option<
        unsafe extern "C" fn(
            *mut TsWriter,
            *const u8,
            usize,
            *mut FFI_ArrowSchema,
            *const TsHost,
            *mut TsWriterTask,
            *mut TsError,
        ) -> i32,
    >,
    pub commit: CallWithText<TsWriterTable>,
    pub abort: CallWithText<TsWriterTable>,
    pub post: Call<TsWriterTable>,
    pub release: Signal<TsWriterTable>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsWriterTaskTable {
    pub size: usize,
    pub prepare: Call<TsWriterTaskTable>,
    pub write: CallWithBatch<TsWriterTaskTable>,
    pub mark: Option<unsafe extern "C" fn(*mut TsWriterTask, *const TsMark, *mut TsError) -> i32>,
    pub flush: Call<TsWriterTaskTable>,
    pub checkpoint: Option<unsafe extern "C" fn(*mut TsWriterTask, u64, *mut TsText, *mut TsError) -> i32>,
    pub commit: CallForText<TsWriterTaskTable>,
    pub abort: Call<TsWriterTaskTable>,
    pub cancel: Signal<TsWriterTaskTable>,
    pub release: Signal<TsWriterTaskTable>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsTransformerTable {
    pub size: usize,
    pub schema: Option<
        unsafe extern "C" fn(*mut TsTransformer, *mut FFI_ArrowSchema, *mut FFI_ArrowSchema, *mut TsError) -> i32,
    >,
    pub push: CallWithBatch<TsTransformerTable>,
    pub flush: Call<TsTransformerTable>,
    pub pull: Option<unsafe extern "C" fn(*mut TsTransformer, *mut i32, *mut TsBatch, *mut TsError) -> i32>,
    pub release: Signal<TsTransformerTable>,
}

/// The name of the extension that lookups are, on both sides.
pub const TS_LOOKUP_EXTENSION: &str = "transship.lookup/1";

#[repr(C)]
#[derive(Debug)]
pub struct TsLookupPlugin {
    pub size: usize,
    pub new_lookup: CallForNew<TsLookupTable>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsLookupTable {
    pub size: usize,
    pub prepare: Option<
        unsafe extern "C" fn(*mut TsLookup, *mut FFI_ArrowSchema, *mut FFI_ArrowSchema, *mut u64, *mut TsError) -> i32,
    >,
    pub start: Option<unsafe extern "C" fn(*mut TsLookup, u64, *mut FFI_ArrowArray, *mut TsError) -> i32>,
    pub cancel: Signal<TsLookupTable>,
    pub release: Signal<TsLookupTable>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsLookupHost {
    pub size: usize,
    pub complete: Option<unsafe extern "C" fn(*const TsHost, u64, *mut TsFound)>,
    pub fail: Option<unsafe extern "C" fn(*const TsHost, u64, i32, i32, *const u8, usize)>,
    pub is_wanted: Option<unsafe extern "C" fn(*const TsHost, u64) -> i32>,
}

#[repr(C)]
#[derive(Debug)]
pub struct TsFound {
    pub size: usize,
    pub rows: FFI_ArrowArray,
    pub key_of_row: *const u32,
    pub failed: *const TsFailedKey,
    pub n_failed: usize,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct TsFailedKey {
    pub key: u32,
    pub kind: i32,
    pub retryable: i32,
    pub reserved: i32,
    pub message: *const u8,
    pub message_len: usize,
}

/// The signature of `transship_plugin_init`.
pub type TsPluginInit = unsafe extern "C" fn(u32, *const TsHost, *mut *const TsPlugin, *mut TsError) -> i32;

impl TsText {
    pub const fn empty() -> TsText {
        TsText { data: ptr::null(), len: 0, release: None, private_data: ptr::null_mut() }
    }
}

impl Drop for TsText {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: a text with a release callback is released by whoever holds it, and this is its only holder.
            unsafe { release(self) }
        }
    }
}

impl TsError {
    pub const fn empty() -> TsError {
        TsError {
            size: size_of::<TsError>(),
            kind: TS_OK,
            retryable: 0,
            message: ptr::null(),
            message_len: 0,
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl Drop for TsError {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: an error with a release callback is released by whoever holds it, and this is its only holder.
            unsafe { release(self) }
        }
    }
}

/// How large a member is, without a value of it.
const fn size_of_member<T, Member>(_: fn(&T) -> &Member) -> usize {
    size_of::<Member>()
}

impl TsHost {
    /// The size of the first `ts_host` that there was: an engine may have no more.
    pub const FIRST_SIZE: usize = offset_of!(TsHost, doing);
    /// The least size of one that has the member.
    pub const WITH_DOING: usize = offset_of!(TsHost, doing) + size_of_member(|host: &TsHost| &host.doing);
}

impl TsBatch {
    /// The size of the first `ts_batch` that there was: a library may know of no more.
    pub const FIRST_SIZE: usize = offset_of!(TsBatch, read_share);
    /// The least size of one that has the member.
    pub const WITH_READ_SHARE: usize =
        offset_of!(TsBatch, read_share) + size_of_member(|batch: &TsBatch| &batch.read_share);

    pub fn empty() -> TsBatch {
        TsBatch {
            size: size_of::<TsBatch>(),
            array: FFI_ArrowArray::empty(),
            n_bytes: 0,
            first: 0,
            positions: ptr::null(),
            resume: ptr::null(),
            resume_len: 0,
            read_share: 0.0,
        }
    }
}

impl<Table> Clone for TsObject<Table> {
    fn clone(&self) -> TsObject<Table> {
        *self
    }
}

impl<Table> Copy for TsObject<Table> {}

impl<Table> TsObject<Table> {
    pub const fn empty() -> TsObject<Table> {
        TsObject { table: ptr::null(), data: ptr::null_mut() }
    }
}

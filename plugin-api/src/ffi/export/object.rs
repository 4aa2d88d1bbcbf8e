//! What the data pointer of an exported handle points to, and the way from a C call to the Rust object behind it.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ffi::abi::{TsError, TsHost, TsObject};
use crate::ffi::guard::{guard, guard_quietly};
use crate::ffi::host::ForeignHost;
use crate::host::HostRef;
use crate::reader::CancelHandle;

/// A table, and what an object with this table is in Rust.
pub(super) trait Exported: Sized + 'static {
    /// What the object is.
    type Value;
    /// The functions of all such objects.
    const TABLE: &'static Self;
}

/// An object as the other side holds it. `cancel` may be read while another thread is in a call that uses the rest, so
/// nothing ever borrows the whole.
struct Kept<Value> {
    cancel: Option<CancelHandle>,
    panicked: bool,
    value: Value,
}

/// Hands an object over.
///
/// # Safety
/// `out` is null or points to a handle that holds nothing.
pub(super) unsafe fn put_object<Table: Exported>(
    out: *mut TsObject<Table>,
    value: Table::Value,
    cancel: Option<CancelHandle>,
) -> Result<()> {
    if out.is_null() {
        return Err(Error::internal("there is no place for the object: the pointer is null"));
    }
    let data = Box::into_raw(Box::new(Kept { cancel, panicked: false, value })).cast();
    // SAFETY: it is not null (above) and holds nothing (the caller).
    unsafe { out.write(TsObject { table: Table::TABLE, data }) };
    Ok(())
}

/// Runs a call on an object. After a panic the object answers `Internal` to everything but its release and its abort.
///
/// # Safety
/// `this` is null, or a handle that `put_object` filled in and that no other thread uses but for `cancel`.
/// `error` is null or points to a `ts_error` that holds nothing.
pub(super) unsafe fn with<Table: Exported>(
    this: *mut TsObject<Table>,
    error: *mut TsError,
    call: impl FnOnce(&mut Table::Value) -> Result<()>,
) -> i32 {
    // SAFETY: handed on from the caller.
    unsafe { run(this, error, false, call) }
}

/// Runs an abort on an object: also after a panic, since what it had staged at its target should not stay behind.
///
/// # Safety
/// As for `with`.
pub(super) unsafe fn with_even_after_panic<Table: Exported>(
    this: *mut TsObject<Table>,
    error: *mut TsError,
    call: impl FnOnce(&mut Table::Value) -> Result<()>,
) -> i32 {
    // SAFETY: handed on from the caller.
    unsafe { run(this, error, true, call) }
}

/// # Safety
/// As for `with`.
unsafe fn run<Table: Exported>(
    this: *mut TsObject<Table>,
    error: *mut TsError,
    even_after_panic: bool,
    call: impl FnOnce(&mut Table::Value) -> Result<()>,
) -> i32 {
    let guarded = || {
        // SAFETY: handed on from the caller.
        let kept = unsafe { kept(this) };
        if kept.is_null() {
            return Err(Error::internal("a call on an object that was released, or never made"));
        }
        // SAFETY: it is alive, and these two members are this thread's during the call.
        let (panicked, value) = unsafe { (&mut (*kept).panicked, &mut (*kept).value) };
        if *panicked && !even_after_panic {
            return Err(Error::internal("the plugin is unusable since an earlier call of this object panicked"));
        }
        // Taken back below, unless the call panics.
        let before = std::mem::replace(panicked, true);
        let result = call(value);
        *panicked = before;
        result
    };
    // SAFETY: handed on from the caller.
    unsafe { guard(error, guarded) }
}

/// Runs a call on an object whose calls may come from several threads at once: none of them changes it. A panic concerns
/// only the call that it happens in.
///
/// # Safety
/// `this` is null, or a handle that `put_object` filled in and on which no call but this kind is under way.
/// `error` is null or points to a `ts_error` that holds nothing.
pub(super) unsafe fn shared<Table: Exported>(
    this: *mut TsObject<Table>,
    error: *mut TsError,
    call: impl FnOnce(&Table::Value) -> Result<()>,
) -> i32 {
    let guarded = || {
        // SAFETY: handed on from the caller.
        let kept = unsafe { kept(this) };
        if kept.is_null() {
            return Err(Error::internal("a call on an object that was released, or never made"));
        }
        // SAFETY: it is alive, and nobody borrows it for more than reading.
        call(unsafe { &(*kept).value })
    };
    // SAFETY: handed on from the caller.
    unsafe { guard(error, guarded) }
}

/// The `cancel` function of an object: it looks at the cancel handle and at nothing else.
///
/// # Safety
/// `this` is null, or a handle that `put_object` filled in and that is not being released.
pub(super) unsafe extern "C" fn cancel<Table: Exported>(this: *mut TsObject<Table>) {
    guard_quietly(|| {
        // SAFETY: handed on from the caller.
        let kept = unsafe { kept(this) };
        if kept.is_null() {
            return;
        }
        // SAFETY: it is alive, and this member never changes.
        if let Some(cancel) = unsafe { &(*kept).cancel } {
            cancel();
        }
    });
}

/// The `release` function of an object. On a handle that was released already it does nothing.
///
/// # Safety
/// `this` is null, or a handle that `put_object` filled in and that no other thread uses.
pub(super) unsafe extern "C" fn release<Table: Exported>(this: *mut TsObject<Table>) {
    guard_quietly(|| {
        // SAFETY: handed on from the caller.
        let kept = unsafe { kept(this) };
        if kept.is_null() {
            return;
        }
        // SAFETY: it came from `Box::into_raw` in `put_object`, and the handle is emptied before anything can go wrong.
        let kept = unsafe {
            (*this).data = std::ptr::null_mut();
            Box::from_raw(kept)
        };
        drop(kept);
    });
}

/// # Safety
/// `this` is null or points to a handle.
unsafe fn kept<Table: Exported>(this: *mut TsObject<Table>) -> *mut Kept<Table::Value> {
    // SAFETY: it is not null here, hence a handle (the caller).
    if this.is_null() { std::ptr::null_mut() } else { unsafe { (*this).data.cast() } }
}

/// The engine's host, alive for as long as anything here holds it.
///
/// # Safety
/// `host` is null or alive during this call.
pub(super) unsafe fn foreign_host(host: *const TsHost) -> Result<HostRef> {
    // SAFETY: handed on from the caller.
    Ok(Arc::new(unsafe { ForeignHost::retain(host) }?))
}

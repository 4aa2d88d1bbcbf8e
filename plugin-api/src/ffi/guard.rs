//! What stands in every function that the other side calls: a panic becomes an error, an error becomes a status and a
//! `ts_error`. A panic that left an `extern "C"` function would end the process.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::{forget, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use super::abi::{TS_OK, TsError};
use crate::error::{Error, Kind, Result};

thread_local! {
    /// Whether a panic of this thread becomes the error of a call: then that error tells of it.
    static IS_TOLD: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic of this thread happened, as the panic hook saw it: a caught payload does not tell.
    static PANIC_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of a panic for the error that will be made of it. For the panic hook.
pub(super) fn note_panic_place(place: String) {
    PANIC_PLACE.with(|noted| {
        // A panic while the place of another is being noted: that one has no place then.
        if let Ok(mut noted) = noted.try_borrow_mut() {
            *noted = Some(place);
        }
    });
}

/// Whether somebody is going to be told of a panic that happens now. For the panic hook.
pub(super) fn panic_is_told() -> bool {
    IS_TOLD.get()
}

/// Runs a call; a panic in it is an `Internal` error.
pub(super) fn catching<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    catching_and(true, call)
}

fn catching_and<T>(telling: bool, call: impl FnOnce() -> Result<T>) -> Result<T> {
    // Calls nest where both sides are in one library.
    let before = IS_TOLD.replace(telling);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    IS_TOLD.set(before);
    match outcome {
        Ok(result) => result,
        Err(payload) => Err(panic_error(payload)),
    }
}

/// Runs a call that the other side made: the status is what it is told, and `error` gets the rest.
///
/// # Safety
/// `error` is null or points to a `ts_error` that holds nothing, as `transship.h` asks.
pub(super) unsafe fn guard(error: *mut TsError, call: impl FnOnce() -> Result<()>) -> i32 {
    match catching(call) {
        Ok(()) => TS_OK,
        // SAFETY: handed on from the caller.
        Err(cause) => unsafe { put_error(error, cause) },
    }
}

/// Runs a call that the other side made and that cannot fail: of a panic in it only the log tells.
pub(super) fn guard_quietly(call: impl FnOnce()) {
    let _ = catching_and(false, || {
        call();
        Ok(())
    });
}

fn panic_error(payload: Box<dyn Any + Send>) -> Error {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_string(),
        (_, Some(text)) => text.clone(),
        _ => "a value that is no text".to_string(),
    };
    // Dropping the payload runs code of whoever panicked, which may panic again.
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload)))
        && !second.is::<&str>()
        && !second.is::<String>()
    {
        forget(second);
    }
    let place = PANIC_PLACE.with(|noted| noted.try_borrow_mut().ok().and_then(|mut noted| noted.take()));
    Error::internal(match place {
        Some(place) => format!("panic at {place}: {text}"),
        None => format!("panic: {text}"),
    })
}

/// Writes an error for the other side to read and release, and returns its status.
///
/// # Safety
/// As for [`guard`].
pub(super) unsafe fn put_error(error: *mut TsError, cause: Error) -> i32 {
    let kind = cause.kind() as i32;
    // SAFETY: `error` points to a `ts_error` of at least the first version's size, whose first member is its own size.
    if error.is_null() || unsafe { (*error).size } < size_of::<TsError>() {
        return kind;
    }
    let message: Box<[u8]> = cause.message().as_bytes().into();
    let len = message.len();
    let written = TsError {
        size: size_of::<TsError>(),
        kind,
        retryable: cause.is_retryable().into(),
        message: Box::into_raw(message) as *const u8,
        message_len: len,
        release: Some(release_error),
        private_data: ptr::null_mut(),
    };
    // SAFETY: it is not null and large enough (above), and holds nothing that would have to be released first.
    unsafe { error.write(written) };
    kind
}

unsafe extern "C" fn release_error(error: *mut TsError) {
    // SAFETY: only `put_error` installs this function, with a message that was a boxed slice of that length.
    unsafe {
        if error.is_null() || (*error).release.take().is_none() {
            return;
        }
        drop(Box::from_raw(ptr::slice_from_raw_parts_mut((*error).message.cast_mut(), (*error).message_len)));
        (*error).message = ptr::null();
        (*error).message_len = 0;
    }
}

/// What the other side's call came to. `speaker` is that side, for an error that has no words of its own.
pub(super) fn outcome(status: i32, error: TsError, speaker: &str) -> Result<()> {
    if status == TS_OK {
        return Ok(());
    }
    let message = if error.message.is_null() || error.message_len == 0 {
        format!("{}, of which {speaker} said nothing", in_words(status))
    } else {
        // SAFETY: the message belongs to `error` until that is dropped, below; lossy, for its text may be anything.
        String::from_utf8_lossy(unsafe { slice::from_raw_parts(error.message, error.message_len) }).into_owned()
    };
    let kind = Kind::from_code(status);
    // Without a `ts_error` filled in, what is known of retrying is what the kind says.
    let made = Error::new(kind, message);
    Err(if error.kind == status { made.retryable(error.retryable != 0) } else { made })
}

/// What kind of error a status stands for, as a noun.
fn in_words(status: i32) -> String {
    let words = match Kind::from_code(status) {
        Kind::Config => "a configuration error",
        Kind::Connect => "a connection error",
        Kind::Io => "an I/O error",
        Kind::Schema => "a schema error",
        Kind::Data => "a data error",
        Kind::Unsupported => "an unsupported request",
        Kind::Cancelled => "a cancellation",
        Kind::Internal if status == Kind::Internal as i32 => "an internal error",
        Kind::Internal => return format!("an error with the unknown status {status}"),
    };
    words.into()
}

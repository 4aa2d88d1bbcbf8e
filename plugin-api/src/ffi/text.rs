//! Texts and JSON over the boundary: a pointer and a length where they are lent, a `ts_text` where they are handed over.

use std::{ptr, slice, str};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::abi::TsText;
use crate::error::{Error, Result};

/// The text at a pointer that the other side lent for this call; `None` for a null pointer.
///
/// # Safety
/// `data` is null, or `len` bytes are readable there for as long as `'a`.
pub(super) unsafe fn borrow<'a>(data: *const u8, len: usize, what: &str) -> Result<Option<&'a str>> {
    if data.is_null() {
        return Ok(None);
    }
    if len > isize::MAX as usize {
        return Err(Error::internal(format!("the {what} has an impossible length, {len} bytes")));
    }
    // SAFETY: handed on from the caller, and the length is one that a slice may have.
    let bytes = unsafe { slice::from_raw_parts(data, len) };
    match str::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(Error::internal(format!("the {what} is no UTF-8: {error}"))),
    }
}

/// The JSON at a pointer that the other side lent for this call; a null pointer stands for `null`.
///
/// # Safety
/// As for [`borrow`].
pub(super) unsafe fn borrow_json<T: DeserializeOwned>(data: *const u8, len: usize, what: &str) -> Result<T> {
    // SAFETY: handed on from the caller.
    parse(unsafe { borrow(data, len, what) }?.unwrap_or("null"), what)
}

/// The JSON in a text that the other side handed over; an empty one stands for `null`.
pub(super) fn take_json<T: DeserializeOwned>(text: &TsText, what: &str) -> Result<T> {
    // SAFETY: the bytes belong to `text`, which outlives this call.
    match unsafe { borrow(text.data, text.len, what) }? {
        None | Some("") => parse("null", what),
        Some(json) => parse(json, what),
    }
}

fn parse<T: DeserializeOwned>(json: &str, what: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| {
        Error::internal(format!("the {what} is not what transship.h says of it: {error}")).with_source(error)
    })
}

/// The JSON of a value, to be lent to the other side.
pub(super) fn json<T: Serialize + ?Sized>(value: &T, what: &str) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::internal(format!("the {what} does not go into JSON: {error}")).with_source(error))
}

/// Hands a value over as JSON.
///
/// # Safety
/// `out` is null or points to a `ts_text` that holds nothing.
pub(super) unsafe fn put_json<T: Serialize + ?Sized>(out: *mut TsText, value: &T, what: &str) -> Result<()> {
    if out.is_null() {
        return Err(Error::internal(format!("there is no place for the {what}: the pointer is null")));
    }
    let text: Box<[u8]> = json(value, what)?.into_bytes().into();
    let len = text.len();
    let data = Box::into_raw(text) as *const u8;
    // SAFETY: `out` is not null (above) and holds nothing (the caller).
    unsafe { out.write(TsText { data, len, release: Some(release_text), private_data: ptr::null_mut() }) };
    Ok(())
}

unsafe extern "C" fn release_text(text: *mut TsText) {
    // SAFETY: only `put_json` installs this function, with data that was a boxed slice of that length.
    unsafe {
        if text.is_null() || (*text).release.take().is_none() {
            return;
        }
        drop(Box::from_raw(ptr::slice_from_raw_parts_mut((*text).data.cast_mut(), (*text).len)));
        (*text).data = ptr::null();
        (*text).len = 0;
    }
}

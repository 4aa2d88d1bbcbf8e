//! The calls of a lookup that wait for an answer: plugins name one by its number and never hold a pointer to it, so that an
//! answer that comes twice, late or never can do no harm. The engine's side; the plugin's is `export/lookup`.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{mem, slice};

use arrow_schema::SchemaRef;

use super::abi::{TS_OK, TsFailedKey, TsFound, TsHost, TsLookupHost};
use super::arrow::{ForeignArray, Trust, take_array};
use super::guard::{catching, guard_quietly};
use super::host::calls_of;
use crate::error::{Error, Kind, Result};
use crate::lookup::{Answer, Found};

/// With so many calls open it is worth looking which of them nobody waits for any more.
const MANY: usize = 1024;

/// What the engine gives the plugin to answer with.
pub(super) static LOOKUP_HOST: TsLookupHost = TsLookupHost {
    size: size_of::<TsLookupHost>(),
    complete: Some(complete),
    fail: Some(fail),
    is_wanted: Some(is_wanted),
};

/// The open calls of one lookup.
pub(super) struct Calls {
    /// The columns of the rows, once the plugin has told them.
    columns: OnceLock<SchemaRef>,
    trust: Trust,
    open: Mutex<Open>,
}

struct Open {
    answers: HashMap<u64, Answer>,
    /// Numbers are never used twice.
    next: u64,
    sweep_at: usize,
    /// The lookup was released: what comes now is too late.
    closed: bool,
}

impl Calls {
    pub(super) fn new(trust: Trust) -> Arc<Calls> {
        let open = Open { answers: HashMap::new(), next: 1, sweep_at: MANY, closed: false };
        Arc::new(Calls { columns: OnceLock::new(), trust, open: Mutex::new(open) })
    }

    /// What rows consist of.
    pub(super) fn expect(&self, columns: SchemaRef) {
        // It is told once; a second time is refused by whoever asks.
        let _ = self.columns.set(columns);
    }

    /// Opens a call. Calls that were given up and never answered are forgotten now and then.
    pub(super) fn begin(&self, answer: Answer) -> Option<u64> {
        let mut unwanted = Vec::new();
        let mut open = self.lock();
        if open.closed {
            return None;
        }
        if open.answers.len() >= open.sweep_at {
            unwanted.extend(open.answers.extract_if(|_, answer| !answer.is_wanted()));
            open.sweep_at = MANY.max(2 * open.answers.len());
        }
        let call = open.next;
        open.next += 1;
        open.answers.insert(call, answer);
        drop(open);
        // Not under the lock: it is the engine that is told.
        drop(unwanted);
        Some(call)
    }

    /// Answers all that is open with a failure, and takes no answers any more.
    pub(super) fn close(&self) {
        let mut open = self.lock();
        open.closed = true;
        let answers = mem::take(&mut open.answers);
        drop(open);
        drop(answers);
    }

    /// The answer to a call, for whoever comes first.
    pub(super) fn take(&self, call: u64) -> Option<Answer> {
        self.lock().answers.remove(&call)
    }

    /// How many are open.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().answers.len()
    }

    fn is_wanted(&self, call: u64) -> bool {
        self.lock().answers.get(&call).is_some_and(Answer::is_wanted)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

unsafe extern "C" fn complete(host: *const TsHost, call: u64, found: *mut TsFound) {
    guard_quietly(|| {
        // SAFETY: plugins call with a host that is alive.
        let Some(calls) = (unsafe { calls_of(host) }) else { return };
        let Some(answer) = calls.take(call) else { return };
        // SAFETY: what was found is null, or as `transship.h` describes it and lent for this call.
        answer.give(catching(|| unsafe { take_found(calls, found) }));
    });
}

unsafe extern "C" fn fail(
    host: *const TsHost,
    call: u64,
    kind: i32,
    retryable: i32,
    message: *const u8,
    message_len: usize,
) {
    guard_quietly(|| {
        // SAFETY: plugins call with a host that is alive.
        let Some(calls) = (unsafe { calls_of(host) }) else { return };
        let Some(answer) = calls.take(call) else { return };
        // SAFETY: the message is null or lent for this call.
        answer.fail(unsafe { failure(kind, retryable, message, message_len) });
    });
}

unsafe extern "C" fn is_wanted(host: *const TsHost, call: u64) -> i32 {
    // SAFETY: plugins call with a host that is alive.
    catching(|| Ok(unsafe { calls_of(host) }.is_some_and(|calls| calls.is_wanted(call)))).unwrap_or(false).into()
}

/// # Safety
/// `found` is null or points to a `ts_found` whose rows this side may move and whose lists are readable.
unsafe fn take_found(calls: &Calls, found: *mut TsFound) -> Result<Found> {
    // SAFETY: it is not null; its first member is its size.
    if found.is_null() || unsafe { (*found).size } < size_of::<TsFound>() {
        return Err(Error::internal("the lookup answered with nothing, or with something whose size is not set"));
    }
    let Some(columns) = calls.columns.get() else {
        return Err(Error::internal("the lookup answered before it told the columns of its rows"));
    };
    // SAFETY: it is there in full (above), and nobody else looks at it during the call.
    let found = unsafe { &mut *found };
    // SAFETY: the array may be moved by whoever is offered it.
    let array = unsafe { take_array(&mut found.rows) };
    let rows = ForeignArray::new(columns.clone(), array, calls.trust)?.import()?;
    let key_of_row = match found.key_of_row {
        keys if keys.is_null() => (0..rows.num_rows() as u32).collect(),
        keys if !keys.is_aligned() => {
            return Err(Error::internal("the keys of the rows that were found are not aligned"));
        }
        // SAFETY: a key for each row is what `transship.h` asks for.
        keys => unsafe { slice::from_raw_parts(keys, rows.num_rows()) }.to_vec(),
    };
    let failed: &[TsFailedKey] = match found.n_failed {
        0 => &[],
        _ if found.failed.is_null() || !found.failed.is_aligned() => {
            return Err(Error::internal("the list of keys that failed is null or not aligned"));
        }
        // SAFETY: so many of them is what the plugin says that there are.
        count => unsafe { slice::from_raw_parts(found.failed, count) },
    };
    let failed = failed
        .iter()
        // SAFETY: the messages are null or lent for this call.
        .map(|key| (key.key, unsafe { failure(key.kind, key.retryable, key.message, key.message_len) }))
        .collect();
    Ok(Found { rows, key_of_row, failed })
}

/// # Safety
/// `message` is null, or readable for its length.
unsafe fn failure(kind: i32, retryable: i32, message: *const u8, len: usize) -> Error {
    let kind = if kind == TS_OK { Kind::Internal } else { Kind::from_code(kind) };
    let message = if message.is_null() || len == 0 || len > isize::MAX as usize {
        format!("the lookup failed ({}) and did not say why", kind.word())
    } else {
        // SAFETY: it is not null (above) and readable (the caller); its text may be anything.
        String::from_utf8_lossy(unsafe { slice::from_raw_parts(message, len) }).into_owned()
    };
    Error::new(kind, message).retryable(retryable != 0)
}

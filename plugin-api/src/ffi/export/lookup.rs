//! `Lookup` as `ts_lookup`.

use std::cell::Cell;
use std::mem::size_of;
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;

use super::object::{Exported, release, shared};
use crate::error::{Error, Result};
use crate::ffi::abi::{
    TS_LOOKUP_EXTENSION, TsError, TsFailedKey, TsFound, TsLookup, TsLookupHost, TsLookupTable, TsObject,
};
use crate::ffi::arrow::{
    ForeignArray, Trust, export, import_schema, put_schema, same_columns, take_array, take_schema,
};
use crate::ffi::guard::catching;
use crate::ffi::host::ForeignHost;
use crate::lookup::{Answer, Call, Found, Lookup};

/// A lookup before and after it was prepared. Its calls come from several threads, so nothing in it is borrowed to be changed.
pub(super) struct ExportedLookup {
    fresh: Mutex<Option<Box<dyn Lookup>>>,
    ready: OnceLock<Ready>,
    engine: Result<Arc<Engine>>,
}

struct Ready {
    lookup: Box<dyn Lookup>,
    keys: SchemaRef,
    columns: SchemaRef,
}

/// Where answers go.
struct Engine {
    host: ForeignHost,
    table: *const TsLookupHost,
}

// SAFETY: `transship.h` lets every function of a host, and of its extensions, be called from any thread, several at once.
unsafe impl Send for Engine {}
// SAFETY: as above.
unsafe impl Sync for Engine {}

impl ExportedLookup {
    pub(super) fn new(lookup: Box<dyn Lookup>, host: Result<ForeignHost>) -> ExportedLookup {
        let engine = host.and_then(Engine::new).map(Arc::new);
        ExportedLookup { fresh: Mutex::new(Some(lookup)), ready: OnceLock::new(), engine }
    }

    fn prepare(&self, keys: SchemaRef) -> Result<&Ready> {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut lookup) = fresh.take() else {
            return Err(Error::internal("a lookup was prepared twice"));
        };
        let columns = lookup.prepare(Arc::clone(&keys))?;
        Ok(self.ready.get_or_init(|| Ready { lookup, keys, columns }))
    }

    fn ready(&self) -> Result<&Ready> {
        self.ready.get().ok_or_else(|| Error::internal("a lookup was asked for rows before it was prepared"))
    }
}

impl Engine {
    fn new(host: ForeignHost) -> Result<Engine> {
        let table: *const TsLookupHost = host.extension(TS_LOOKUP_EXTENSION).cast();
        // SAFETY: a table that is not null begins with its size.
        if table.is_null() || unsafe { (*table).size } < size_of::<TsLookupHost>() {
            return Err(Error::internal(format!("the engine makes a lookup, but has no {TS_LOOKUP_EXTENSION}")));
        }
        Ok(Engine { host, table })
    }

    fn table(&self) -> &TsLookupHost {
        // SAFETY: it is valid as long as the host, which this holds.
        unsafe { &*self.table }
    }

    fn complete(&self, call: u64, found: Found) -> Result<()> {
        let failed: Vec<TsFailedKey> = found
            .failed
            .iter()
            .map(|(key, error)| TsFailedKey {
                key: *key,
                kind: error.kind() as i32,
                retryable: error.is_retryable().into(),
                reserved: 0,
                message: error.message().as_ptr(),
                message_len: error.message().len(),
            })
            .collect();
        let mut offered = TsFound {
            size: size_of::<TsFound>(),
            rows: export(found.rows)?,
            key_of_row: found.key_of_row.as_ptr(),
            failed: failed.as_ptr(),
            n_failed: failed.len(),
        };
        if let Some(complete) = self.table().complete {
            // SAFETY: the host is alive; what was found outlives the call, and its rows are released here if they stay.
            unsafe { complete(self.host.pointer(), call, &mut offered) };
        }
        Ok(())
    }

    fn fail(&self, call: u64, error: &Error) {
        if let Some(fail) = self.table().fail {
            let (kind, retryable, message) = (error.kind() as i32, error.is_retryable().into(), error.message());
            // SAFETY: the host is alive, and the message outlives the call.
            unsafe { fail(self.host.pointer(), call, kind, retryable, message.as_ptr(), message.len()) };
        }
    }

    fn is_wanted(&self, call: u64) -> bool {
        // SAFETY: the host is alive.
        self.table().is_wanted.is_none_or(|is_wanted| unsafe { is_wanted(self.host.pointer(), call) } != 0)
    }
}

thread_local! {
    /// The call that this thread is starting: of a panic in it the status of `start` tells, and better than a dropped answer.
    static STARTING: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A call of the engine's, by its number.
struct ForeignCall {
    engine: Arc<Engine>,
    call: u64,
    columns: SchemaRef,
}

impl ForeignCall {
    fn check(&self, found: &Found) -> Result<()> {
        let (rows, keys) = (found.rows.num_rows(), found.key_of_row.len());
        if rows != keys {
            return Err(Error::internal(format!("the lookup found {rows} rows, but told the keys of {keys}")));
        }
        if !same_columns(&self.columns, &found.rows.schema()) {
            let (found, told) = (found.rows.schema(), &self.columns);
            return Err(Error::internal(format!("the lookup found rows of {found:?} where it had told {told:?}")));
        }
        Ok(())
    }
}

impl Call for ForeignCall {
    fn answered(self: Box<Self>, outcome: Result<Found>) {
        let given = outcome.and_then(|found| {
            self.check(&found)?;
            self.engine.complete(self.call, found)
        });
        if let Err(error) = given {
            self.engine.fail(self.call, &error);
        }
    }

    fn forgotten(self: Box<Self>) {
        let panicking = std::thread::panicking();
        if panicking && STARTING.get() == Some(self.call) {
            return;
        }
        let how = if panicking { "panicked (the log says where)" } else { "dropped its call" };
        self.engine.fail(self.call, &Error::internal(format!("the lookup {how} and gave no answer")));
    }

    fn is_wanted(&self) -> bool {
        self.engine.is_wanted(self.call)
    }
}

impl Exported for TsLookupTable {
    type Value = ExportedLookup;
    const TABLE: &'static TsLookupTable = &TsLookupTable {
        size: size_of::<TsLookupTable>(),
        prepare: Some(prepare),
        start: Some(start),
        cancel: Some(cancel),
        release: Some(release),
    };
}

unsafe extern "C" fn prepare(
    this: *mut TsLookup,
    keys: *mut FFI_ArrowSchema,
    columns: *mut FFI_ArrowSchema,
    most_keys: *mut u64,
    error: *mut TsError,
) -> i32 {
    let call = |exported: &ExportedLookup| {
        // SAFETY: the engine keeps to `transship.h`.
        let Some(keys) = (unsafe { take_schema(keys) }) else {
            return Err(Error::internal("a lookup was prepared without the columns of its keys"));
        };
        let ready = exported.prepare(import_schema(keys)?)?;
        if !most_keys.is_null() {
            // SAFETY: it is not null, and the engine's to be written to.
            unsafe { most_keys.write(ready.lookup.most_keys() as u64) };
        }
        // SAFETY: the engine keeps to `transship.h`.
        unsafe { put_schema(columns, &ready.columns) }
    };
    // SAFETY: as above.
    unsafe { shared(this, error, call) }
}

unsafe extern "C" fn start(this: *mut TsLookup, call: u64, keys: *mut FFI_ArrowArray, error: *mut TsError) -> i32 {
    let starting = |exported: &ExportedLookup| {
        let ready = exported.ready()?;
        let engine = exported.engine.as_ref().map_err(|error| Error::internal(error.message()))?;
        if keys.is_null() {
            return Err(Error::internal("a lookup was called without keys: the pointer is null"));
        }
        // The engine vouches for what it hands on.
        // SAFETY: it is not null, and offered to this side.
        let keys = ForeignArray::new(Arc::clone(&ready.keys), unsafe { take_array(keys) }, Trust::Trusted)?.import()?;
        let columns = Arc::clone(&ready.columns);
        let answer = Answer::new(ForeignCall { engine: Arc::clone(engine), call, columns });
        // Calls nest where an answer given at once leads to the next call.
        let before = STARTING.replace(Some(call));
        let outcome = catching(|| {
            ready.lookup.start(keys, answer);
            Ok(())
        });
        STARTING.set(before);
        outcome
    };
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { shared(this, error, starting) }
}

unsafe extern "C" fn cancel(this: *mut TsObject<TsLookupTable>) {
    let call = |exported: &ExportedLookup| {
        if let Some(ready) = exported.ready.get() {
            ready.lookup.cancel();
        }
        Ok(())
    };
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { shared(this, ptr::null_mut(), call) };
}

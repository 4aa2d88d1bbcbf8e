//! An object of a plugin as the engine holds it: called by one thread at a time, cancelled by any, released once.
//! What the calls of each kind of object are is said in `reader`, `writer`, `transformer` and `lookup`.

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::ffi::abi::{
    Signal, TsHost, TsListingTable, TsLookupTable, TsObject, TsReaderTable, TsReaderTaskTable, TsTransformerTable,
    TsWriterTable, TsWriterTaskTable,
};
use crate::ffi::arrow::Trust;
use crate::ffi::host::ExportedHost;
use crate::host::HostRef;
use crate::reader::CancelHandle;

/// A function of a table, or `None` where the table ends before it or has null there.
macro_rules! slot {
    ($pointer:expr, $table:ident, $slot:ident) => {{
        let table: *const $table = $pointer;
        let end = std::mem::offset_of!($table, $slot) + std::mem::size_of::<*const ()>();
        // SAFETY: tables stay where they are until the process ends and begin with their size; nothing behind it is read.
        unsafe { if end <= (*table).size { (&raw const (*table).$slot).read() } else { None } }
    }};
}

/// Calls a function of an object that returns a status; one that is absent is `Unsupported`.
macro_rules! call {
    ($object:expr, $table:ident :: $slot:ident $(, $argument:expr)*) => {{
        let mut handle: $crate::ffi::abi::TsObject<$table> = $object.handle();
        match $crate::ffi::import::object::slot!(handle.table, $table, $slot) {
            None => Err($crate::ffi::import::object::absent::<$table>(stringify!($slot))),
            Some(function) => {
                let mut error = $crate::ffi::abi::TsError::empty();
                // SAFETY: the object is alive, for whoever calls has it; the arguments are what `transship.h` asks for; and
                // no other thread is in a call of this object, which is not Sync.
                let status = unsafe { function(&mut handle, $($argument,)* &mut error) };
                $crate::ffi::guard::outcome(status, error, "the plugin")
            }
        }
    }};
}

pub(super) use {call, slot};

/// The table of an object, and what every object has in it.
pub(super) trait Imported: Sized + 'static {
    /// What such an object is called in messages.
    const WHAT: &'static str;
    /// Its `release` function.
    fn release(table: *const Self) -> Signal<Self>;
    /// Its `cancel` function.
    fn cancel(table: *const Self) -> Signal<Self> {
        let _ = table;
        None
    }
}

impl Imported for TsReaderTable {
    const WHAT: &'static str = "reader";
    fn release(table: *const Self) -> Signal<Self> {
        slot!(table, TsReaderTable, release)
    }
}

impl Imported for TsListingTable {
    const WHAT: &'static str = "listing";
    fn release(table: *const Self) -> Signal<Self> {
        slot!(table, TsListingTable, release)
    }
}

impl Imported for TsReaderTaskTable {
    const WHAT: &'static str = "reader task";
    fn release(table: *const Self) -> Signal<Self> {
        slot!(table, TsReaderTaskTable, release)
    }
    fn cancel(table: *const Self) -> Signal<Self> {
        slot!(table, TsReaderTaskTable, cancel)
    }
}

impl Imported for TsWriterTable {
    const WHAT: &'static str = "writer";
    fn release(table: *const Self) -> Signal<Self> {
        slot!(table, TsWriterTable, release)
    }
}

impl Imported for TsWriterTaskTable {
    const WHAT: &'static str = "writer task";
    fn release(table: *const Self) -> Signal<Self> {
        slot!(table, TsWriterTaskTable, release)
    }
    fn cancel(table: *const Self) -> Signal<Self> {
        slot!(table, TsWriterTaskTable, cancel)
    }
}

impl Imported for TsTransformerTable {
    const WHAT: &'static str = "transformer";
    fn release(table: *const Self) -> Signal<Self> {
        slot!(table, TsTransformerTable, release)
    }
}

impl Imported for TsLookupTable {
    const WHAT: &'static str = "lookup";
    fn release(table: *const Self) -> Signal<Self> {
        slot!(table, TsLookupTable, release)
    }
    fn cancel(table: *const Self) -> Signal<Self> {
        slot!(table, TsLookupTable, cancel)
    }
}

/// A plugin's object. It is released when this is dropped and all tasks that it has opened are.
pub(super) struct Object<Table: Imported> {
    owner: Arc<Owner<Table>>,
    trust: Trust,
    /// Not Sync: one thread at a time.
    _one_thread: PhantomData<Cell<()>>,
}

/// Keeps an object, its host and what it was opened by alive, and lets go of them in this order.
struct Owner<Table: Imported> {
    shared: Arc<Shared<Table>>,
    _host: Option<ExportedHost>,
    _parent: Option<Parent>,
}

/// The reader or writer that a task or listing was opened by.
pub(super) type Parent = Arc<dyn Any + Send + Sync>;

/// What an object shares with its cancel handles, which may outlive it.
struct Shared<Table> {
    handle: TsObject<Table>,
    /// Whether the object may still be cancelled: not released. Who holds the lock keeps it from being released.
    alive: Mutex<bool>,
}

// SAFETY: `transship.h` lets an object be called by any thread, one at a time, and `cancel` beside another call; of what is
// shared, only `Object` (not Sync) makes calls, cancel handles call `cancel`, and the last owner calls `release`.
unsafe impl<Table> Send for Shared<Table> {}
// SAFETY: as above.
unsafe impl<Table> Sync for Shared<Table> {}

impl<Table: Imported> Object<Table> {
    /// An object that `make` asks the plugin for, given the host and a handle to fill in.
    pub(super) fn open(
        trust: Trust,
        host: HostRef,
        parent: Option<Parent>,
        make: impl FnOnce(*const TsHost, *mut TsObject<Table>) -> Result<()>,
    ) -> Result<Object<Table>> {
        Object::open_on(trust, ExportedHost::new(host), parent, make)
    }

    /// The same on a host that is exported already.
    pub(super) fn open_on(
        trust: Trust,
        host: ExportedHost,
        parent: Option<Parent>,
        make: impl FnOnce(*const TsHost, *mut TsObject<Table>) -> Result<()>,
    ) -> Result<Object<Table>> {
        let mut handle = TsObject::empty();
        make(host.table(), &mut handle)?;
        Object::keep(trust, Some(host), parent, handle)
    }

    /// An object that has no host but that of its parent.
    pub(super) fn without_host(trust: Trust, parent: Option<Parent>, handle: TsObject<Table>) -> Result<Object<Table>> {
        Object::keep(trust, None, parent, handle)
    }

    fn keep(
        trust: Trust,
        host: Option<ExportedHost>,
        parent: Option<Parent>,
        handle: TsObject<Table>,
    ) -> Result<Object<Table>> {
        if handle.table.is_null() || !handle.table.is_aligned() {
            return Err(Error::internal(format!("the plugin said that it made a {}, but gave none", Table::WHAT)));
        }
        let shared = Arc::new(Shared { handle, alive: Mutex::new(true) });
        let owner = Arc::new(Owner { shared, _host: host, _parent: parent });
        Ok(Object { owner, trust, _one_thread: PhantomData })
    }

    /// Keeps this object from being released, for a task or listing that it opens.
    pub(super) fn parent(&self) -> Option<Parent> {
        Some(self.owner.clone())
    }

    /// How far its arrays are believed.
    pub(super) fn trust(&self) -> Trust {
        self.trust
    }

    /// The handle, for one call: a copy, so that no call touches memory that another one reads.
    pub(super) fn handle(&self) -> TsObject<Table> {
        self.owner.shared.handle
    }

    /// A way to call `cancel` from any thread, which does nothing once the object is released.
    pub(super) fn cancel_handle(&self) -> Option<CancelHandle> {
        let cancel = Table::cancel(self.handle().table)?;
        let shared = Arc::clone(&self.owner.shared);
        Some(Arc::new(move || {
            let alive = shared.alive.lock().unwrap_or_else(PoisonError::into_inner);
            if *alive {
                let mut handle = shared.handle;
                // SAFETY: the object is not released while the lock is held, and `cancel` may be called beside other calls.
                unsafe { cancel(&mut handle) };
            }
        }))
    }
}

impl<Table: Imported> Drop for Owner<Table> {
    fn drop(&mut self) {
        *self.shared.alive.lock().unwrap_or_else(PoisonError::into_inner) = false;
        let mut handle = self.shared.handle;
        if let Some(release) = Table::release(handle.table) {
            // SAFETY: nobody is in a call of this object (this is its last owner), nor will be (above).
            unsafe { release(&mut handle) };
        }
    }
}

/// The error of a call that the plugin has no function for.
pub(super) fn absent<Table: Imported>(slot: &str) -> Error {
    Error::unsupported(format!("the plugin's {} has no function `{slot}`", Table::WHAT))
}

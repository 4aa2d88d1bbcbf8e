//! The plugin's side of the boundary: a [`Plugin`] and the objects that it makes, as the tables of `transship.h`.

mod lookup;
mod object;
mod reader;
mod transformer;
mod writer;

use std::collections::HashMap;
use std::ffi::c_void;
use std::mem::size_of;
use std::ptr;
use std::sync::OnceLock;

use serde_json::Value;

use self::lookup::ExportedLookup;
use self::object::{Exported, foreign_host, put_object};
use self::transformer::ExportedTransformer;
use super::abi::{
    TS_ABI_VERSION, TS_LOOKUP_EXTENSION, TsError, TsHost, TsLookup, TsLookupPlugin, TsObject, TsPlugin, TsReader,
    TsTransformer, TsWriter,
};
use super::bridge;
use super::guard::{catching, guard};
use super::host::ForeignHost;
use super::text::{borrow, borrow_json, json};
use crate::Plugin;
use crate::error::{Error, Result};
use crate::host::HostRef;

/// A plugin with its table. `export_plugin!` keeps one for the life of the process.
#[repr(C)]
pub struct ExportedPlugin {
    /// It comes first: a pointer to it is a pointer to the whole.
    table: TsPlugin,
    plugin: Plugin,
    description: String,
}

// SAFETY: the table's pointers are to functions and to `description`, which never changes.
unsafe impl Send for ExportedPlugin {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for ExportedPlugin {}

impl ExportedPlugin {
    fn new(plugin: Plugin) -> Result<ExportedPlugin> {
        let description = json(plugin.description(), "description")?;
        let table = TsPlugin {
            size: size_of::<TsPlugin>(),
            abi_version: TS_ABI_VERSION,
            reserved: 0,
            description: description.as_ptr(),
            description_len: description.len(),
            new_reader: Some(new_reader),
            new_writer: Some(new_writer),
            new_transformer: Some(new_transformer),
            get_extension: Some(get_extension),
        };
        Ok(ExportedPlugin { table, plugin, description })
    }
}

/// The body of `transship_plugin_init`. The log records and panics of this library go to the engine from now on.
///
/// # Safety
/// The arguments are what `transship.h` asks of the engine: null, or valid for the call.
pub unsafe fn init(
    exported: &'static OnceLock<ExportedPlugin>,
    make: impl FnOnce() -> Plugin,
    host_abi_version: u32,
    host: *const TsHost,
    plugin: *mut *const TsPlugin,
    error: *mut TsError,
) -> i32 {
    let call = || {
        // SAFETY: handed on from the caller.
        unsafe { hand_over(exported, make, host_abi_version, plugin) }?;
        // SAFETY: the host lives at least as long as this call.
        bridge::install(unsafe { ForeignHost::retain(host) }?);
        Ok(())
    };
    // SAFETY: handed on from the caller.
    unsafe { guard(error, call) }
}

/// [`init`] without its effect on the whole library.
///
/// # Safety
/// `plugin` is null or may be written to.
pub(super) unsafe fn hand_over(
    exported: &'static OnceLock<ExportedPlugin>,
    make: impl FnOnce() -> Plugin,
    host_abi_version: u32,
    plugin: *mut *const TsPlugin,
) -> Result<()> {
    if host_abi_version != TS_ABI_VERSION {
        return Err(Error::unsupported(format!(
            "the plugin speaks version {TS_ABI_VERSION} of the plugin contract, the program version {host_abi_version}: \
             use a plugin and a program that were built from the same version"
        )));
    }
    if plugin.is_null() {
        return Err(Error::internal("there is no place for the plugin's table: the pointer is null"));
    }
    if exported.get().is_none() {
        // Two threads may both get here; the first one's plugin stays.
        let _ = exported.set(ExportedPlugin::new(make())?);
    }
    let Some(exported) = exported.get() else {
        return Err(Error::internal("the plugin was lost"));
    };
    // SAFETY: it is not null (above) and may be written to (the caller).
    unsafe { plugin.write(ptr::from_ref(exported).cast()) };
    Ok(())
}

/// What the engine asks of `new_reader`, `new_writer`, `new_transformer` and `new_lookup`: the same arguments, but for what is made.
struct Asked {
    plugin: *const TsPlugin,
    name: (*const u8, usize),
    parameter: (*const u8, usize),
    host: *const TsHost,
}

/// What makes a component, by the component's name.
type Makers<Object> = HashMap<&'static str, fn(&Value, HostRef) -> Result<Box<Object>>>;

impl Asked {
    /// Makes a component: finds its maker by name, reads its parameters, and hands over what it makes.
    ///
    /// # Safety
    /// The arguments are what `transship.h` asks of the engine.
    unsafe fn make<Table: Exported, Object: ?Sized>(
        self,
        role: &str,
        makers: impl FnOnce(&Plugin) -> &Makers<Object>,
        keep: impl FnOnce(Box<Object>) -> Table::Value,
        out: *mut TsObject<Table>,
        error: *mut TsError,
    ) -> i32 {
        let call = || {
            if self.plugin.is_null() {
                return Err(Error::internal("the pointer to the plugin's table is null"));
            }
            // SAFETY: the engine got this pointer from `hand_over`, where it was made of an `ExportedPlugin`.
            let plugin = unsafe { &(*self.plugin.cast::<ExportedPlugin>()).plugin };
            // SAFETY: name and parameter are lent for this call.
            let name = unsafe { borrow(self.name.0, self.name.1, "name") }?.unwrap_or("");
            let Some(maker) = makers(plugin).get(name) else {
                let plugin = &plugin.description().name;
                return Err(Error::unsupported(format!("the plugin {plugin} has no {role} named \"{name}\"")));
            };
            // SAFETY: as above.
            let parameter: Value = unsafe { borrow_json(self.parameter.0, self.parameter.1, "parameter") }?;
            // SAFETY: the host lives at least as long as this call.
            let object = maker(&parameter, unsafe { foreign_host(self.host) }?)?;
            // SAFETY: `out` is null or an empty handle.
            unsafe { put_object(out, keep(object), None) }
        };
        // SAFETY: `error` is null or an empty `ts_error`.
        unsafe { guard(error, call) }
    }
}

unsafe extern "C" fn new_reader(
    plugin: *const TsPlugin,
    name: *const u8,
    name_len: usize,
    parameter: *const u8,
    parameter_len: usize,
    host: *const TsHost,
    out: *mut TsReader,
    error: *mut TsError,
) -> i32 {
    let asked = Asked { plugin, name: (name, name_len), parameter: (parameter, parameter_len), host };
    // SAFETY: handed on from the caller.
    unsafe { asked.make("reader", |plugin| &plugin.new_reader, |reader| reader, out, error) }
}

unsafe extern "C" fn new_writer(
    plugin: *const TsPlugin,
    name: *const u8,
    name_len: usize,
    parameter: *const u8,
    parameter_len: usize,
    host: *const TsHost,
    out: *mut TsWriter,
    error: *mut TsError,
) -> i32 {
    let asked = Asked { plugin, name: (name, name_len), parameter: (parameter, parameter_len), host };
    // SAFETY: handed on from the caller.
    unsafe { asked.make("writer", |plugin| &plugin.new_writer, |writer| writer, out, error) }
}

unsafe extern "C" fn new_transformer(
    plugin: *const TsPlugin,
    name: *const u8,
    name_len: usize,
    parameter: *const u8,
    parameter_len: usize,
    host: *const TsHost,
    out: *mut TsTransformer,
    error: *mut TsError,
) -> i32 {
    let asked = Asked { plugin, name: (name, name_len), parameter: (parameter, parameter_len), host };
    // SAFETY: handed on from the caller.
    unsafe { asked.make("transformer", |plugin| &plugin.new_transformer, ExportedTransformer::new, out, error) }
}

unsafe extern "C" fn new_lookup(
    plugin: *const TsPlugin,
    name: *const u8,
    name_len: usize,
    parameter: *const u8,
    parameter_len: usize,
    host: *const TsHost,
    out: *mut TsLookup,
    error: *mut TsError,
) -> i32 {
    let asked = Asked { plugin, name: (name, name_len), parameter: (parameter, parameter_len), host };
    // SAFETY: the host lives at least as long as this call.
    let keep = |lookup| ExportedLookup::new(lookup, unsafe { ForeignHost::retain(host) });
    // SAFETY: handed on from the caller.
    unsafe { asked.make("lookup", |plugin| &plugin.new_lookup, keep, out, error) }
}

static LOOKUPS: TsLookupPlugin = TsLookupPlugin { size: size_of::<TsLookupPlugin>(), new_lookup: Some(new_lookup) };

unsafe extern "C" fn get_extension(plugin: *const TsPlugin, id: *const u8, id_len: usize) -> *const c_void {
    let find = || {
        if plugin.is_null() {
            return Ok(ptr::null());
        }
        // SAFETY: the engine got this pointer from `hand_over`, where it was made of an `ExportedPlugin`.
        let plugin = unsafe { &(*plugin.cast::<ExportedPlugin>()).plugin };
        // SAFETY: the id is lent for this call.
        let is_lookup = unsafe { borrow(id, id_len, "id of an extension") }? == Some(TS_LOOKUP_EXTENSION);
        let has = is_lookup && !plugin.new_lookup.is_empty();
        Ok(if has { ptr::from_ref(&LOOKUPS).cast() } else { ptr::null() })
    };
    catching(find).unwrap_or(ptr::null())
}

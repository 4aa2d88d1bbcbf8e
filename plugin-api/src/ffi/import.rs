//! The engine's side of the boundary: the tables of a plugin library, as [`Reader`], [`Writer`], [`Transformer`] and [`Lookup`].

mod lookup;
mod object;
#[cfg(feature = "host")]
mod open;
mod reader;
mod transformer;
mod writer;

use std::ffi::c_void;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use serde_json::Value;

use self::lookup::ImportedLookup;
use self::object::{Imported, Object, slot};
use self::reader::ImportedReader;
use self::transformer::ImportedTransformer;
use self::writer::ImportedWriter;
use super::abi::{CallForNew, TS_ABI_VERSION, TS_LOOKUP_EXTENSION, TsError, TsLookupPlugin, TsPlugin, TsPluginInit};
pub use super::arrow::Trust;
use super::calls::Calls;
use super::guard::outcome;
use super::host::ExportedHost;
use super::text::{borrow_json, json};
use crate::error::{Error, Result};
use crate::host::HostRef;
use crate::lookup::Lookup;
use crate::plugin::Description;
use crate::reader::Reader;
use crate::transformer::Transformer;
use crate::writer::Writer;

/// A plugin library that is open. Cheap to clone. Libraries are never unloaded: batches, log records and threads of theirs
/// may outlive every object.
#[derive(Clone)]
pub struct LoadedPlugin {
    library: Arc<Library>,
}

struct Library {
    path: PathBuf,
    table: *const TsPlugin,
    description: Description,
    trust: Trust,
    _host: ExportedHost,
}

// SAFETY: `transship.h` lets the functions of a plugin's table be called from any thread, several at once, and the table
// stays where it is until the process ends.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl std::fmt::Debug for LoadedPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedPlugin")
            .field("path", &self.library.path)
            .field("name", &self.description().name)
            .finish()
    }
}

impl LoadedPlugin {
    /// A plugin from its `transship_plugin_init` function; `path` is for messages. A plugin in Rust keeps the host for its
    /// log until the process ends.
    ///
    /// # Errors
    /// `Unsupported` if the plugin speaks another version of the contract; `Internal` if it breaks the contract.
    ///
    /// # Safety
    /// The function must keep to `transship.h`, and so must all that it hands out.
    pub unsafe fn from_init(path: &Path, init: TsPluginInit, host: HostRef, trust: Trust) -> Result<LoadedPlugin> {
        let mut table: *const TsPlugin = ptr::null();
        let mut error = TsError::empty();
        let host = ExportedHost::new(host);
        // SAFETY: the arguments are what `transship.h` asks for.
        let status = unsafe { init(TS_ABI_VERSION, host.table(), &mut table, &mut error) };
        // SAFETY: after success the table is one that keeps to `transship.h`; null is found out there.
        let description = outcome(status, error, "the plugin")
            .and_then(|()| unsafe { describe(table) })
            .map_err(|error| error.context(path.display()))?;
        Ok(LoadedPlugin {
            library: Arc::new(Library { path: path.to_path_buf(), table, description, trust, _host: host }),
        })
    }

    /// What the plugin says of itself.
    pub fn description(&self) -> &Description {
        &self.library.description
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        &self.library.path
    }

    /// Makes a reader, by a name or alias of it, from its parameters.
    ///
    /// # Errors
    /// The plugin's; `Unsupported` if it has no such reader.
    pub fn reader(&self, name: &str, parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
        let object = self.make(slot!(self.library.table, TsPlugin, new_reader), "readers", name, parameter, host)?;
        Ok(Box::new(ImportedReader::new(object)))
    }

    /// Makes a writer, by a name or alias of it, from its parameters.
    ///
    /// # Errors
    /// The plugin's; `Unsupported` if it has no such writer.
    pub fn writer(&self, name: &str, parameter: &Value, host: HostRef) -> Result<Box<dyn Writer>> {
        let object = self.make(slot!(self.library.table, TsPlugin, new_writer), "writers", name, parameter, host)?;
        Ok(Box::new(ImportedWriter::new(object)?))
    }

    /// Makes a transformer, by a name or alias of it, from its parameters.
    ///
    /// # Errors
    /// The plugin's; `Unsupported` if it has no such transformer.
    pub fn transformer(&self, name: &str, parameter: &Value, host: HostRef) -> Result<Box<dyn Transformer>> {
        let object =
            self.make(slot!(self.library.table, TsPlugin, new_transformer), "transformers", name, parameter, host)?;
        Ok(Box::new(ImportedTransformer::new(object)))
    }

    /// Makes a lookup, by a name or alias of it, from its parameters.
    ///
    /// # Errors
    /// The plugin's; `Unsupported` if it has no such lookup.
    pub fn lookup(&self, name: &str, parameter: &Value, host: HostRef) -> Result<Box<dyn Lookup>> {
        let extension =
            self.extension(TS_LOOKUP_EXTENSION).map(|table| table.cast::<TsLookupPlugin>().as_ptr().cast_const());
        let new = extension.and_then(|table| slot!(table, TsLookupPlugin, new_lookup));
        let calls = Calls::new(self.library.trust);
        let host = ExportedHost::with_calls(host, calls.clone());
        Ok(Box::new(ImportedLookup::new(self.make_on(new, "lookups", name, parameter, host)?, calls)))
    }

    /// The table of an extension, or `None` where the plugin has no extension with this id.
    pub fn extension(&self, id: &str) -> Option<ptr::NonNull<c_void>> {
        let get_extension = slot!(self.library.table, TsPlugin, get_extension)?;
        // SAFETY: the id is lent for the call.
        ptr::NonNull::new(unsafe { get_extension(self.library.table, id.as_ptr(), id.len()) }.cast_mut())
    }

    fn make<Table: Imported>(
        &self,
        new: CallForNew<Table>,
        role: &str,
        name: &str,
        parameter: &Value,
        host: HostRef,
    ) -> Result<Object<Table>> {
        self.make_on(new, role, name, parameter, ExportedHost::new(host))
    }

    fn make_on<Table: Imported>(
        &self,
        new: CallForNew<Table>,
        role: &str,
        name: &str,
        parameter: &Value,
        host: ExportedHost,
    ) -> Result<Object<Table>> {
        let Some(new) = new else {
            let path = self.path().display();
            return Err(Error::unsupported(format!("{path} has no {role}, so none named \"{name}\"")));
        };
        let parameter = json(parameter, "parameter")?;
        Object::open_on(self.library.trust, host, None, |host, handle| {
            let (table, parameter, parameter_len) = (self.library.table, parameter.as_ptr(), parameter.len());
            let mut error = TsError::empty();
            // SAFETY: the texts are lent for the call; the host lives as long as the object.
            let status =
                unsafe { new(table, name.as_ptr(), name.len(), parameter, parameter_len, host, handle, &mut error) };
            outcome(status, error, "the plugin")
        })
    }
}

/// Checks a plugin's table and reads its description.
///
/// # Safety
/// `table` is null or a table that keeps to `transship.h` of some version.
unsafe fn describe(table: *const TsPlugin) -> Result<Description> {
    if table.is_null() || !table.is_aligned() {
        return Err(Error::internal("the plugin said that it is ready, but gave no table"));
    }
    // SAFETY: size and version are the first members in every version of the contract.
    let (size, version) = unsafe { ((*table).size, (*table).abi_version) };
    if version != TS_ABI_VERSION {
        return Err(Error::unsupported(format!(
            "the plugin speaks version {version} of the plugin contract, this program version {TS_ABI_VERSION}: use a \
             plugin and a program that were built from the same version"
        )));
    }
    if size < offset_of!(TsPlugin, new_reader) {
        return Err(Error::internal(format!("the plugin's table is too short for a description: {size} bytes")));
    }
    // SAFETY: the table is long enough (above), and the text is the plugin's until the process ends.
    unsafe { borrow_json((*table).description, (*table).description_len, "plugin's description") }
}

//! Opens plugin libraries.

use std::path::{Path, absolute};

use libloading::Library;

use super::{LoadedPlugin, Trust};
use crate::error::{Error, Result};
use crate::ffi::abi::TsPluginInit;
use crate::host::HostRef;

/// The one symbol that a plugin library exports.
const INIT: &str = "transship_plugin_init";

impl LoadedPlugin {
    /// Opens a plugin library. It is never unloaded, and a plugin in Rust keeps the host for its log
    /// until the process ends.
    ///
    /// # Errors
    /// `Io` if the file cannot be loaded, `Unsupported` if it is no transship plugin or speaks another version of the
    /// contract, `Internal` if it breaks the contract.
    pub fn open(path: &Path, host: HostRef, trust: Trust) -> Result<LoadedPlugin> {
        let library = load(path)?;
        // SAFETY: a symbol of this name has the type that `transship.h` gives it.
        let init = unsafe { library.get::<TsPluginInit>(INIT) }.map(|init| *init);
        // Never unloaded: what it has handed out, or the threads it has started, may run until the process ends.
        std::mem::forget(library);
        let init = init.map_err(|_| {
            Error::unsupported(format!("{} has no {INIT}: it is not a transship plugin", path.display()))
        })?;
        // SAFETY: a library that exports this symbol says with it that it keeps to `transship.h`.
        unsafe { LoadedPlugin::from_init(path, init, host, trust) }
    }
}

/// Maps the library with all its symbols resolved: one that is missing shows now, not in the middle of a job.
fn load(path: &Path) -> Result<Library> {
    // A bare file name would be searched for in the system's library folders.
    let file = absolute(path).map_err(|error| Error::from(error).context(path.display()))?;
    #[cfg(unix)]
    // SAFETY: loading runs the initialisers of the library. That it is one to be run is the user's word.
    let loaded = unsafe {
        use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};
        UnixLibrary::open(Some(&file), RTLD_NOW | RTLD_LOCAL).map(Library::from)
    };
    #[cfg(not(unix))]
    // SAFETY: as above.
    let loaded = unsafe { Library::new(&file) };
    loaded.map_err(|error| {
        // The operating system's words are in the source.
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        Error::io(format!("cannot load {}: {cause}", path.display())).with_source(error)
    })
}

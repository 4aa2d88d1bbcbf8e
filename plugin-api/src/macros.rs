//! `export_plugin!`: the one symbol that a plugin library exports.

/// Exports a [`Plugin`](crate::Plugin) under the one symbol that the engine looks for.
///
/// ```standalone_crate
/// use transship_plugin_api::{Plugin, export_plugin};
///
/// export_plugin!(Plugin::new("mine", env!("CARGO_PKG_VERSION")));
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_plugin {
    ($plugin:expr) => {
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn transship_plugin_init(
            host_abi_version: u32,
            host: *const $crate::ffi::abi::TsHost,
            plugin: *mut *const $crate::ffi::abi::TsPlugin,
            error: *mut $crate::ffi::abi::TsError,
        ) -> i32 {
            static PLUGIN: ::std::sync::OnceLock<$crate::ffi::export::ExportedPlugin> = ::std::sync::OnceLock::new();
            // SAFETY: the arguments are the engine's, as `transship.h` says of this function; they are passed on untouched.
            unsafe { $crate::ffi::export::init(&PLUGIN, || $plugin, host_abi_version, host, plugin, error) }
        }
    };
}

//! Trait object to table: the plugin's side.
#![allow(missing_docs, clippy::missing_safety_doc)]
use super::abi::*;
use crate::Plugin;
pub unsafe fn init(plugin: &'static std::sync::OnceLock<Plugin>, make: impl FnOnce() -> Plugin, _v: u32, _h: *const TsHost, _p: *mut TsPlugin, _e: *mut TsError) -> i32 {
    plugin.get_or_init(make);
    0
}

//! The C boundary, and the only unsafe code in the workspace. The contract is `include/transship.h`; this folder keeps it
//! on both sides, so that neither plugins in Rust nor the engine see anything but traits.
//!
//! | file | what it does |
//! | --- | --- |
//! | [`abi`] | the header's structs, as Rust sees them |
//! | [`export`] | a Rust plugin and its objects, as tables: the plugin's side |
//! | [`import`] | tables, as `Box<dyn Reader>` and so on; opens libraries: the engine's side |
//! | `host` | the host, both ways |
//! | `calls` | the calls of lookups that wait for an answer, and how plugins give it |
//! | [`arrow`], `batch`, `mark`, `text` | what crosses: columns, the batch around them, marks, JSON |
//! | `structure` | what must hold of an array from the other side before arrow-rs looks at it |
//! | `guard` | panics and errors, as statuses |
//! | `bridge` | a plugin's log records and panics, to the engine |
//! | `malloc` | the heap that all libraries share |
//!
//! What is promised to the other side, whatever happens here: no panic leaves a function; no pointer is used after the call
//! that lent it; a null pointer is an error, not a crash; an object that panicked answers `internal` and harms no other;
//! release can be called twice.

pub mod abi;
pub mod arrow;
mod batch;
mod bridge;
mod calls;
pub mod export;
mod guard;
mod host;
pub mod import;
mod malloc;
mod mark;
mod structure;
#[cfg(test)]
mod tests;
mod text;

pub use malloc::set_malloc_thresholds;

//! What a transship plugin may know.
//!
//! A plugin is a shared library with one exported symbol. Rust authors implement [`Reader`] and [`ReaderTask`], or
//! [`Writer`] and [`WriterTask`], and hand them to [`export_plugin!`]; the C contract below (`include/transship.h`) is
//! taken care of. Data travels as Arrow record batches ([`Batch`]); the [`row`] layer lets a reader append values row by
//! row and a writer see a row as typed values. The guide for authors, with a whole plugin in it, is this crate's `README.md`.

#![warn(unreachable_pub)]

pub mod batch;
pub mod dates;
mod digits;
pub mod encoding;
pub mod error;
pub mod ffi;
pub mod fields;
pub mod host;
pub mod lookup;
mod macros;
pub mod params;
pub mod plugin;
pub mod reader;
pub mod row;
pub mod transformer;
pub mod writer;

pub use batch::{Batch, Origin};
pub use dates::{ColumnFormats, DatePattern};
pub use encoding::Encoding;
pub use error::{Error, Kind, Result};
pub use host::{Begun, DirtyRecord, Host, HostRef};
pub use lookup::{Answer, Found, Lookup};
pub use params::Params;
pub use plugin::{Parameter, Plugin};
pub use reader::{CancelHandle, Item, Limit, Listing, Mark, ReadOptions, Reader, ReaderTask, Split, SplitRequest};
pub use transformer::Transformer;
pub use writer::{CommitClass, Report, Run, TaskInfo, Writer, WriterInfo, WriterTask};

/// The guide's plugin compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Guide;

//! The binary form of values and rows, as `COPY … (FORMAT binary)` has it, both ways.
//! Not here: what is done with rows that do not fit (`reader`, `writer`).

pub(crate) mod cells;
pub(crate) mod columns;
mod magnitude;
pub(crate) mod numeric;
pub(crate) mod rows;

/// Days from 1970-01-01 to 2000-01-01, from which the server counts.
pub(crate) const EPOCH_DAYS: i32 = 10_957;
/// The same in microseconds.
pub(crate) const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * 86_400_000_000;

/// What a stream of rows begins with: a signature, no flags, no extension.
pub(crate) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What it ends with, in the place of a number of columns.
pub(crate) const TRAILER: [u8; 2] = [0xff, 0xff];

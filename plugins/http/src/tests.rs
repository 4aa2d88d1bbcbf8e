//! Tests of what needs no server; those of the whole plugin, against a real one, are in `tests/e2e/http`.

mod paging;
mod parameters;
mod records;
mod secrets;
mod values;

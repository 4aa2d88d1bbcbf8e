//! Tests of what needs no server, or only one that answers; those of the whole plugin, against a real one, are in `tests/e2e/http`.

mod paging;
mod parameters;
mod progress;
mod records;
mod secrets;
mod values;

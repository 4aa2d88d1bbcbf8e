//! What the words of tables mean, what is told of a `parameter` object, and what the JSON Schema holds. Whether job files are
//! valid by it is told by a validator, among the tests of the program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod document;
mod takes;
mod violations;

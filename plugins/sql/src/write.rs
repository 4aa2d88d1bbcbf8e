//! How records get into a table: write modes and their statements, `create table`, the bad rows of a batch.

mod bad_rows;
mod create;
mod mapping;
mod mode;
mod statement;

pub use bad_rows::{BadRow, RowsError, store};
pub use create::{NewColumn, create_table};
pub use mapping::Mapping;
pub use mode::WriteMode;
pub use statement::{Statement, Target};

#[cfg(test)]
mod tests;

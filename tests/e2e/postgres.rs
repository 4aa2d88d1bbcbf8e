//! PostgreSQL, read and written by whole jobs against a real server; what is in the tables is told by psql.

mod bad_records;
mod failure;
mod locks;
mod messages;
mod progress;
mod reading;
mod swapping;
mod values;
mod writing;

use transship_tests::Database;
use transship_tests::{Job, Value, json, plugin};

fn reader(database: &Database, parameter: Value) -> Value {
    plugin("postgresqlreader", database.parameter(parameter))
}

fn writer(database: &Database, parameter: Value) -> Value {
    plugin("postgresqlwriter", database.parameter(parameter))
}

/// All columns of a table into all columns of another, by their places.
fn copy(database: &Database, from: &str, to: &str) -> Job {
    Job::new(
        reader(database, json!({ "table": [from], "column": ["*"] })),
        writer(database, json!({ "table": [to], "column": ["*"] })),
    )
}

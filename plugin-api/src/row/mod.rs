//! The row layer: build a batch row by row ([`RowBuilder`]), read a batch as rows of typed values ([`Rows`]).
//!
//! It costs some five nanoseconds a cell over working column by column, which is nothing beside a database driver.
//! Readers and writers of columnar formats use arrow's arrays directly.

mod build;
mod cells;
mod clock;
mod column_text;
mod dated;
mod float;
mod json;
mod meaning;
mod read;
#[cfg(test)]
mod tests;
mod text;
mod value;

use arrow_array::{Array, RecordBatch};
use arrow_schema::Field;

pub use build::RowBuilder;
pub use column_text::{ColumnText, NoText};
pub use float::write_plain_float;
pub use meaning::{Infinity, Meaning, write_uuid};
pub use read::{Column, Row, Rows};
pub use value::{Cell, Value};

/// A record as a JSON object of column name to value, for dirty records. Numbers keep every digit: decimals are strings.
/// Bytes are hexadecimal text, UUIDs have hyphens, dates and times are ISO 8601. Of several columns with one name, the later ones are called
/// `name (2)`, `name (3)`…
pub fn record_to_json(records: &RecordBatch, row: usize) -> serde_json::Value {
    json::record(records, row)
}

/// A cell as text, `None` for NULL, for messages and dirty records. It has every digit of a number and the shortest text
/// that gives the same float again; dates and times are ISO 8601, bytes hexadecimal, lists and structs JSON. Where the field
/// is known, [`cell_of_field_to_text`] understands more.
pub fn cell_to_text(column: &dyn Array, row: usize) -> Option<String> {
    cell_text(Meaning::default(), column, row)
}

/// As [`cell_to_text`], with what the cell's field says of it: UUIDs have hyphens, infinite dates are words.
pub fn cell_of_field_to_text(field: &Field, column: &dyn Array, row: usize) -> Option<String> {
    cell_text(Meaning::of(field), column, row)
}

fn cell_text(meaning: Meaning, column: &dyn Array, row: usize) -> Option<String> {
    match Column::new(column).get(row) {
        Value::Null => None,
        value => {
            let mut text = String::new();
            if !meaning.write(&value, &mut text) {
                value.write_text(&mut text);
            }
            Some(text)
        }
    }
}

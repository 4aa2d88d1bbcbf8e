//! Tests of the module above: what the server is sent as text.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Date32Array, TimestampMicrosecondArray};
use arrow_schema::Field;
use transship_plugin_api::ColumnFormats;
use transship_plugin_api::fields::INFINITY_KEY;

use super::*;
use crate::table;
use crate::types::{ServerType, oid};

fn place(oid: u32, name: &str) -> Place {
    let server_type = ServerType { oid, modifier: -1, name: name.into() };
    let column =
        table::Column { name: "a".into(), server_type, generated: false, identity_always: false, not_null: false };
    let metadata = std::collections::HashMap::from([(INFINITY_KEY.to_string(), "true".to_string())]);
    let field = Field::new("a", DataType::Utf8, true).with_metadata(metadata);
    Place::new(&column, &field, &ColumnFormats::default(), true, false)
}

fn written(place: &Place, array: ArrayRef) -> Vec<String> {
    let column = Column::new(array.as_ref());
    let cells = (0..array.len()).map(|row| {
        let mut out = Vec::new();
        put(place, column.get(row), &mut out, &mut String::new()).unwrap();
        String::from_utf8(out).unwrap()
    });
    cells.collect()
}

#[test]
fn what_separates_cells_and_rows_is_escaped() {
    let texts = Arc::new(arrow_array::StringArray::from(vec![Some("a\tb\nc\rd\\e"), Some("\\N"), Some(""), None]));
    let escaped = ["a\\tb\\nc\\rd\\\\e", "\\\\N", "", "\\N"];
    assert_eq!(written(&place(oid::TEXT, "text"), texts.clone()), escaped);
    assert_eq!(written(&place(869, "inet"), texts), escaped);
}

#[test]
fn years_before_the_first_are_counted_backwards() {
    // 0044-03-15 BC, the day before 0001-01-01, both ends.
    let days = Arc::new(Date32Array::from(vec![-735_160, -719_163, i32::MIN, i32::MAX, 0]));
    let texts = ["0044-03-15 BC", "0001-12-31 BC", "-infinity", "infinity", "1970-01-01"];
    assert_eq!(written(&place(oid::DATE, "date"), days), texts);
    let moments = Arc::new(TimestampMicrosecondArray::from(vec![-62_135_596_800_000_001, 0, i64::MAX]));
    let texts = ["0001-12-31 23:59:59.999999 BC", "1970-01-01 00:00:00", "infinity"];
    assert_eq!(written(&place(oid::TIMESTAMP, "timestamp without time zone"), moments), texts);
}

#[test]
fn lists_become_arrays() {
    let mut numbers = ListBuilder::new(Int32Builder::new());
    numbers.append_value([Some(1), None, Some(2)]);
    numbers.append_value([]);
    assert_eq!(written(&place(1007, "integer[]"), Arc::new(numbers.finish())), ["{\"1\",NULL,\"2\"}", "{}"]);
    let mut texts = ListBuilder::new(StringBuilder::new());
    texts.append_value([Some("a,b"), Some("c\"d"), Some(""), Some("NULL")]);
    // The backslash of the array is doubled by COPY's own.
    assert_eq!(written(&place(1009, "text[]"), Arc::new(texts.finish())), ["{\"a,b\",\"c\\\\\"d\",\"\",\"NULL\"}"]);
}

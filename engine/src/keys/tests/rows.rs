//! Keys of records: the same bytes wherever the values are.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt8Array};
use arrow_schema::{Field, Schema};

use crate::keys::{Key, KeyExtractor};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

#[test]
fn numbers_keep_their_value() {
    let records = batch(vec![("id", Arc::new(Int64Array::from(vec![Some(-1), None, Some(7)])))]);
    let keys = KeyExtractor::new(&records.schema(), vec![0], false).unwrap().of(&records).unwrap();
    assert_eq!(keys.key(0), Key::Number(-1, &(-1i64).to_le_bytes()));
    assert_eq!(keys.key(1), Key::Alone);
    let small = batch(vec![("id", Arc::new(UInt8Array::from(vec![7])))]);
    let small = KeyExtractor::new(&small.schema(), vec![0], true).unwrap().of(&small).unwrap();
    assert_eq!(small.key(0), keys.key(2));
}

#[test]
fn several_columns_are_one_key() {
    let records = batch(vec![
        ("shop", Arc::new(StringArray::from(vec![Some("a"), Some("ab"), Some("a"), None]))),
        ("till", Arc::new(StringArray::from(vec![Some("bc"), Some("c"), Some("bc"), Some("bc")]))),
    ]);
    let keys = KeyExtractor::new(&records.schema(), vec![0, 1], true).unwrap().of(&records).unwrap();
    assert_eq!(keys.key(0), keys.key(2));
    assert_ne!(keys.key(0), keys.key(1), "\"a\", \"bc\" and \"ab\", \"c\" are not the same");
    assert_eq!(keys.key(3), Key::Null);
}

#[test]
fn texts_are_their_bytes_also_in_a_slice() {
    let records = batch(vec![("name", Arc::new(StringArray::from(vec!["x", "y", "z"])))]).slice(1, 2);
    let keys = KeyExtractor::new(&records.schema(), vec![0], true).unwrap().of(&records).unwrap();
    assert_eq!((keys.key(0), keys.key(1)), (Key::Bytes(b"y"), Key::Bytes(b"z")));
}

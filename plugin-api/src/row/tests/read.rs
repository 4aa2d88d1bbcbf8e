//! Tests of [`Rows`].

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryViewArray, Date64Array, Decimal32Array, Decimal64Array, DictionaryArray, Int64Array, ListArray,
    RecordBatch, StringArray, StringViewArray, Time32MillisecondArray, Time32SecondArray, TimestampNanosecondArray,
    TimestampSecondArray,
};

use crate::row::{Column, Rows, Value};

fn only(array: ArrayRef) -> Vec<Value<'static>> {
    // Leaked so that values can be returned; it is a test.
    let array: &'static ArrayRef = Box::leak(Box::new(array));
    let column = Column::new(array.as_ref());
    (0..array.len()).map(|row| column.get(row)).collect()
}

#[test]
fn a_value_is_small() {
    assert!(size_of::<Value<'_>>() <= 32);
}

#[test]
fn rows_and_columns_are_walked_in_order() {
    let ids = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])) as ArrayRef;
    let names = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap();
    let rows = Rows::new(&batch);
    let seen: Vec<Vec<_>> = rows.iter().map(|row| row.values().collect()).collect();
    let expected = [[Value::Int(1), Value::Text("a")], [Value::Null, Value::Text("b")], [Value::Int(3), Value::Null]];
    assert_eq!(seen, expected);
    assert_eq!((rows.len(), rows.columns().len(), rows.get(2, 0)), (3, 2, Value::Int(3)));
    assert_eq!(rows.iter().map(|row| row.index()).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn sliced_batches_show_their_own_rows() {
    let ids = Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)])) as ArrayRef;
    let names = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, Some("d")])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("id", ids), ("name", names)]).unwrap().slice(1, 2);
    let rows = Rows::new(&batch);
    assert_eq!((rows.get(0, 0), rows.get(1, 0)), (Value::Null, Value::Int(3)));
    assert_eq!((rows.get(0, 1), rows.get(1, 1)), (Value::Text("b"), Value::Null));
}

#[test]
fn other_units_of_time_become_microseconds_where_that_is_exact() {
    assert_eq!(only(Arc::new(Time32SecondArray::from(vec![1]))), [Value::Time(1_000_000)]);
    assert_eq!(only(Arc::new(Time32MillisecondArray::from(vec![1]))), [Value::Time(1_000)]);
    assert_eq!(only(Arc::new(Date64Array::from(vec![-86_400_000]))), [Value::Timestamp(-86_400_000_000)]);
    let zoned = TimestampSecondArray::from(vec![-1]).with_timezone("Europe/Berlin");
    assert_eq!(only(Arc::new(zoned)), [Value::Instant(-1_000_000)]);
    assert_eq!(only(Arc::new(TimestampNanosecondArray::from(vec![-1_000]))), [Value::Timestamp(-1)]);
}

#[test]
fn moments_that_microseconds_cannot_hold_stay_cells() {
    let values = only(Arc::new(TimestampNanosecondArray::from(vec![1])));
    assert!(matches!(values[0], Value::Other(cell) if cell.row == 0), "{values:?}");
    let values = only(Arc::new(TimestampSecondArray::from(vec![i64::MAX])));
    assert!(matches!(values[0], Value::Other(_)), "{values:?}");
}

#[test]
fn narrow_decimals_views_and_dictionaries_are_read_as_what_they_hold() {
    let decimal = |value| Value::Decimal { value, scale: 2 };
    let narrow = Decimal32Array::from(vec![150]).with_precision_and_scale(5, 2).unwrap();
    assert_eq!(only(Arc::new(narrow)), [decimal(150)]);
    let narrow = Decimal64Array::from(vec![-150]).with_precision_and_scale(5, 2).unwrap();
    assert_eq!(only(Arc::new(narrow)), [decimal(-150)]);
    assert_eq!(only(Arc::new(StringViewArray::from(vec!["a"]))), [Value::Text("a")]);
    assert_eq!(only(Arc::new(BinaryViewArray::from(vec![b"a".as_slice()]))), [Value::Bytes(b"a")]);
    let dictionary: DictionaryArray<Int8Type> = [Some("x"), None, Some("x")].into_iter().collect();
    assert_eq!(only(Arc::new(dictionary)), [Value::Text("x"), Value::Null, Value::Text("x")]);
}

#[test]
fn lists_stay_cells_and_their_nulls_are_nulls() {
    let list = ListArray::from_iter_primitive::<Int8Type, _, _>([Some(vec![Some(1)]), None]);
    let values = only(Arc::new(list));
    assert!(matches!(values[0], Value::Other(_)));
    assert_eq!(values[1], Value::Null);
    assert_eq!(values[0], values[0]);
}

//! Tests of values that the column which is to take them cannot store.

use super::write::records;
use super::*;

/// Trap 63.
#[test]
fn a_value_that_its_column_cannot_store_is_dirty() {
    let place = Place::with("CREATE TABLE t (a TEXT, b INTEGER); CREATE TABLE s (a INTEGER, b INTEGER) STRICT;");
    let rows = [(Some(1), Some("12")), (Some(2), Some("abc")), (Some(3), Some(""))];
    let written = write(place.parameter(json!({"table": "t", "column": ["*"]})), vec![records(&rows)]).unwrap();
    assert_eq!(written.dirty[0].column.as_deref(), Some("name"));
    assert_eq!(written.dirty[0].value.as_deref(), Some("abc"));
    assert_eq!(written.dirty[0].cause, "column \"b\" INTEGER cannot store it: the text is no number");
    assert_eq!(place.rows("SELECT * FROM t")[1], [Stored::Text("3".into()), Stored::Null]);
    let rows = [(Some(1), Some("1.5")), (Some(2), Some("2"))];
    let strict = write(place.parameter(json!({"table": "s", "column": ["*"]})), vec![records(&rows)]).unwrap();
    assert_eq!(strict.dirty[0].cause, "cannot store REAL value in INTEGER column s.b");
    assert_eq!(strict.dirty[0].column.as_deref(), Some("name"));
    assert_eq!(place.one("SELECT a FROM s"), "2");
}

/// Trap 63.
#[test]
fn what_is_no_date_is_dirty_in_a_column_of_dates() {
    for declared in ["date", "DATETIME", "timestamp(6)", "time", "timestamp with time zone"] {
        let place = Place::with(&format!("CREATE TABLE t (a INTEGER, b {declared})"));
        let rows = [(Some(1), Some("nonsense")), (Some(2), Some("")), (Some(3), None), (Some(4), Some("23:59:59"))];
        let written = write(place.parameter(json!({"table": "t", "column": ["*"]})), vec![records(&rows)]).unwrap();
        let dirty: Vec<_> =
            written.dirty.iter().map(|dirty| (dirty.column.as_deref(), dirty.value.as_deref())).collect();
        assert_eq!(dirty, [(Some("name"), Some("nonsense")), (Some("name"), Some(""))], "{declared}");
        let cause = format!("column \"b\" {declared} cannot store it: the text is ");
        assert!(written.dirty.iter().all(|dirty| dirty.cause.starts_with(&cause)), "{:?}", written.dirty[0].cause);
        assert_eq!(place.one("SELECT group_concat(concat_ws('/', a, b)) FROM t"), "3,4/23:59:59");
    }
}

//! Typed columns, and records that are no values of them.

use arrow_schema::{DataType, TimeUnit};

use super::*;

/// Traps 31, 75.
#[test]
fn the_options_of_a_datax_job() {
    let place = Place::new();
    let path = place.put(
        "visits.csv",
        "visit_no,ship_tag,tonnage,arrived_on\n1,GULL,1200.50,2024.02.01\n2,TERN,,2024.02.02\n3,\\N,88.0,2024.02.03\n",
    );
    let read = read(json!({
        "path": [path],
        "encoding": " utf8 ",
        "compress": "",
        "skipHeader": "true",
        "nullFormat": "\\N",
        "fieldDelimiter": ",",
        "column": [
            {"index": "0", "type": "LONG"},
            {"index": 1, "type": "String"},
            {"index": 2, "type": "double"},
            {"index": 3, "type": "date", "format": "yyyy.MM.dd"},
            {"type": "string", "value": "berth-a"},
        ],
        "csvReaderConfig": {"safetySwitch": false, "skipEmptyRecords": false, "useTextQualifier": false},
    }))
    .unwrap();
    assert_eq!(
        read.rows,
        rows(&[
            &["1", "GULL", "1200.50", "2024-02-01T00:00:00", "berth-a"],
            &["3", "NULL", "88.0", "2024-02-03T00:00:00", "berth-a"]
        ])
    );
    let types: Vec<_> = read.schema.fields().iter().map(|field| field.data_type().clone()).collect();
    let date = DataType::Timestamp(TimeUnit::Microsecond, None);
    assert_eq!(types, [DataType::Int64, DataType::Utf8, DataType::Utf8, date, DataType::Utf8]);
    assert_eq!(read.dirty.len(), 1);
    let dirty = &read.dirty[0];
    assert_eq!((dirty.position, dirty.column.as_deref(), dirty.value.as_deref()), (Some(3), Some("tonnage"), Some("")));
    assert_eq!(dirty.record, json!("2,TERN,,2024.02.02"));
}

/// Trap 75.
#[test]
fn a_record_with_a_bad_value_is_dirty_and_the_others_stay() {
    let place = Place::new();
    let path = place.put("dirty.csv", "10,GULL,5\nbad,TERN,6\n11,AUK,oops\nworse,X,bad\n12,IBIS,7\n");
    let column = json!([{"index": 0, "type": "long"}, {"index": 1, "type": "string"}, {"index": 2, "type": "long"}]);
    let read = read(json!({"path": path, "column": column})).unwrap();
    assert_eq!(read.rows, rows(&[&["10", "GULL", "5"], &["12", "IBIS", "7"]]));
    assert_eq!(read.positions, [1, 5]);
    let told: Vec<_> = read
        .dirty
        .iter()
        .map(|dirty| (dirty.position.unwrap(), dirty.column.as_deref().unwrap(), dirty.value.as_deref().unwrap()))
        .collect();
    assert_eq!(told, [(2, "col0", "bad"), (3, "col2", "oops"), (4, "col0", "worse")]);
}

/// Trap 34.
#[test]
fn null_is_looked_at_before_the_type() {
    let place = Place::new();
    let path = place.put("a.csv", "-,-,-,-\n1,true,2.50,2020-01-02\n");
    let column: Vec<_> = ["long", "boolean", "double", "date"]
        .iter()
        .enumerate()
        .map(|(index, kind)| json!({"index": index, "type": kind}))
        .collect();
    let read = read(json!({"path": path, "nullFormat": "-", "column": column})).unwrap();
    assert_eq!(read.rows, rows(&[&["NULL", "NULL", "NULL", "NULL"], &["1", "true", "2.50", "2020-01-02T00:00:00"]]));
    assert!(read.dirty.is_empty());
}

#[test]
fn constants_have_a_type_and_may_be_null() {
    let place = Place::new();
    let path = place.put("a.csv", "x\ny\n");
    let column = json!([
        {"value": 7, "type": "long"}, {"value": "true", "type": "boolean"}, {"value": "2020-01-02", "type": "date"},
        {"value": "1.50", "type": "double"}, {"value": "-", "type": "long"}, {"index": 0, "type": "string"},
    ]);
    let read = read(json!({"path": path, "nullFormat": "-", "column": column})).unwrap();
    let expected = |last| {
        vec![
            Some("7".into()),
            Some("true".into()),
            Some("2020-01-02T00:00:00".into()),
            Some("1.50".into()),
            None,
            Some(String::from(last)),
        ]
    };
    assert_eq!(read.rows, [expected("x"), expected("y")]);
}

/// Trap 75.
#[test]
fn a_field_may_be_read_twice_and_others_left_out() {
    let place = Place::new();
    let path = place.put("a.csv", "1,x,2\n3,y,4,5\n6\n");
    let column = json!([{"index": 2, "type": "long"}, {"index": 2, "type": "string"}, {"index": 0, "type": "string"}]);
    let read = read(json!({"path": path, "column": column})).unwrap();
    assert_eq!(read.rows, rows(&[&["2", "2", "1"], &["4", "4", "3"]]));
    assert_eq!(read.dirty.len(), 1);
    assert_eq!(read.dirty[0].column.as_deref(), Some("col2"));
    assert!(read.dirty[0].cause.contains("1 field"), "{}", read.dirty[0].cause);
}

#[test]
fn rows_of_another_width_than_the_first_are_dirty() {
    let place = Place::new();
    let path = place.put("a.csv", "a,b,c\n1,2\n1,2,3\n1,2,3,4\n\n5,6,7");
    let read = read(json!({"path": path, "skipHeader": true})).unwrap();
    assert_eq!(read.rows, rows(&[&["1", "2", "3"], &["5", "6", "7"]]));
    assert_eq!(read.positions, [3, 6]);
    let told: Vec<_> =
        read.dirty.iter().map(|dirty| (dirty.position.unwrap(), dirty.record.as_str().unwrap())).collect();
    assert_eq!(told, [(2, "1,2"), (4, "1,2,3,4")]);
    assert!(read.dirty[0].cause.contains(&format!("has 2 fields instead of 3, the number in line 1 of {path}")));
}

/// Traps 25, 27.
#[test]
fn dates_follow_the_formats_of_the_job_unless_the_column_has_its_own() {
    let place = Place::new();
    let path =
        place.put("a.csv", "03/02/2024 10:30,2024.02.03\n2024-02-03T10:30:00.5,2024.02.04\n2024-02-30,2024.02.05\n");
    let column = json!([{"index": 0, "type": "date"}, {"index": 1, "type": "date", "format": "yyyy.MM.dd"}]);
    let common = json!({"column": {"datetimeFormat": "dd/MM/yyyy HH:mm", "timeZone": "America/New_York"}});
    let read = read(json!({"path": path, "column": column, "common": common})).unwrap();
    assert_eq!(
        read.rows,
        rows(&[&["2024-02-03T10:30:00", "2024-02-03T00:00:00"], &["2024-02-03T10:30:00.5", "2024-02-04T00:00:00"],])
    );
    assert_eq!((read.dirty[0].position, read.dirty[0].column.as_deref()), (Some(3), Some("col0")));
}

/// Trap 28.
#[test]
fn dates_before_the_calendar_was_reformed_come_out_as_they_went_in() {
    let place = Place::new();
    let path = place.put("a.csv", "1582-10-04\n1582-10-10\n0001-01-01\n1000-02-29\n");
    let read = read(json!({"path": path, "column": [{"index": 0, "type": "date"}]})).unwrap();
    assert_eq!(read.rows, rows(&[&["1582-10-04T00:00:00"], &["1582-10-10T00:00:00"], &["0001-01-01T00:00:00"]]));
    assert!(read.dirty[0].cause.contains("does not exist"), "the Julian calendar alone has that day");
}

/// Trap 32.
#[test]
fn a_long_beyond_64_bits_is_dirty_and_says_which_types_keep_it() {
    let place = Place::new();
    let path = place.put("a.csv", "18446744073709551615\n-9223372036854775808\n");
    let of_type = |kind: &str| read(json!({"path": path, "column": [{"index": 0, "type": kind}]})).unwrap();
    let long = of_type("long");
    assert_eq!(long.rows, rows(&[&["-9223372036854775808"]]));
    assert!(long.dirty[0].cause.contains("read the column as double or string"), "{}", long.dirty[0].cause);
    for kept in ["double", "string"] {
        assert_eq!(of_type(kept).rows, rows(&[&["18446744073709551615"], &["-9223372036854775808"]]));
    }
}

/// Traps 29, 37.
#[test]
fn an_empty_text_is_no_value_of_any_type_and_digits_are_those_of_ascii() {
    let place = Place::new();
    let path = place.put("a.csv", ",x\n１２,x\n");
    for kind in ["long", "double", "boolean", "date"] {
        let column = json!([{"index": 0, "type": kind}, {"index": 1, "type": "string"}]);
        let read = read(json!({"path": path, "column": column})).unwrap();
        assert_eq!((read.rows.len(), read.dirty.len()), (0, 2), "{kind}");
        assert!(read.dirty[0].cause.contains("is empty") && read.dirty[0].cause.contains("nullFormat"));
    }
}

#[test]
fn a_constant_keeps_the_digits_that_it_is_written_with() {
    let place = Place::new();
    let path = place.put("a.csv", "x\n");
    let value: Value = serde_json::from_str("1.50").unwrap();
    let column = json!([{"value": value, "type": "double"}, {"value": value, "type": "string"}]);
    assert_eq!(read(json!({"path": path, "column": column})).unwrap().rows, rows(&[&["1.50", "1.50"]]));
}

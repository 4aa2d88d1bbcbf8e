//! Tables of one column, where a record without a character is an empty line.

use super::*;

fn one(texts: &[&str]) -> Vec<Row> {
    texts.iter().map(|text| row(&[text])).collect()
}

#[test]
fn an_empty_text_is_enclosed_and_a_null_written_as_nothing_is_dirty() {
    let place = Place::new();
    let batch = batch_of(&one(&["a", "", "NULL", "b"]), 1);
    let csv = json!({"fileFormat": "csv", "nullFormat": ""});
    let (content, dirty, report) = write(&place, csv, std::slice::from_ref(&batch)).unwrap();
    assert_eq!((content.as_slice(), report.written), (&b"a\n\"\"\nb\n"[..], 3));
    assert_eq!((dirty.len(), dirty[0].position, dirty[0].column.as_deref()), (1, Some(3), Some("c0")));
    assert!(dirty[0].cause.contains("NULL") && dirty[0].cause.contains("nullFormat"), "{}", dirty[0].cause);
    let read = read(json!({"path": place.path("out"), "nullFormat": "", "nullWhenQuoted": false})).unwrap();
    assert_eq!(read.rows, one(&["a", "", "b"]));
}

#[test]
fn a_format_that_encloses_nothing_cannot_express_an_empty_line() {
    let batch = batch_of(&one(&["a", "", "NULL"]), 1);
    for more in [
        json!({}),
        json!({"fileFormat": "csv", "csvWriterConfig": {"useTextQualifier": false}}),
        json!({"fileFormat": "csv", "csvWriterConfig": {"useTextQualifier": false, "escapeMode": 2}}),
    ] {
        let (content, dirty, _) = write(&Place::new(), more.clone(), std::slice::from_ref(&batch)).unwrap();
        assert_eq!((content.as_slice(), dirty.len()), (&b"a\nnull\n"[..], 1), "{more}");
        assert!(dirty[0].cause.contains("empty line") || dirty[0].cause.contains("would be empty"));
        let more = merge(&more, json!({"nullFormat": ""}));
        let (content, dirty, _) = write(&Place::new(), more, std::slice::from_ref(&batch)).unwrap();
        assert_eq!((content.as_slice(), dirty.len()), (&b"a\n"[..], 2));
    }
    let two = batch_of(&rows(&[&["", "NULL"]]), 2);
    assert_eq!(write(&Place::new(), json!({"nullFormat": ""}), &[two]).unwrap().0, b",\n");
}

#[test]
fn a_header_is_no_empty_line() {
    let batch = batch_of(&one(&["a"]), 1);
    let error = write(&Place::new(), json!({"header": [""]}), std::slice::from_ref(&batch)).unwrap_err();
    assert_eq!(error.kind(), transship_plugin_api::Kind::Config);
    assert_eq!(write(&Place::new(), json!({"header": [""], "fileFormat": "csv"}), &[batch]).unwrap().0, b"\"\"\na\n");
}

/// Trap 73.
#[test]
fn an_empty_line_is_a_record_where_records_have_one_field() {
    let place = Place::new();
    let path = place.put("a.csv", "\na\n\nb\r\n\r\n");
    let first_field = json!([{"index": 0, "type": "string"}, {"value": "x", "type": "string"}]);
    logged();
    assert_eq!(read(json!({"path": path})).unwrap().rows, one(&["", "a", "", "b", ""]));
    assert_eq!(read(json!({"path": path, "nullFormat": ""})).unwrap().rows, one(&["NULL", "a", "NULL", "b", "NULL"]));
    assert_eq!(read(json!({"path": path, "column": first_field})).unwrap().rows.len(), 5);
    assert_eq!(logged(), [""; 0]);
    for skip in [true, false] {
        let read = read(json!({"path": path, "csvReaderConfig": {"skipEmptyRecords": skip}})).unwrap();
        assert_eq!(read.rows.len(), if skip { 2 } else { 5 });
    }
    assert_eq!(logged(), [format!("{path}: 3 empty line(s) passed over (csvReaderConfig.skipEmptyRecords)")]);
}

#[test]
fn a_header_of_one_field_is_the_first_line_that_is_not_empty() {
    let place = Place::new();
    let path = place.put("a.csv", "\n\nname\n\nb\n");
    let read = read(json!({"path": path, "skipHeader": true})).unwrap();
    assert_eq!(read.schema.field(0).name(), "name");
    assert_eq!((read.rows, read.positions), (one(&["", "b"]), vec![4, 5]));
}

#[test]
fn an_empty_line_is_passed_over_and_told_where_records_have_more_fields() {
    let place = Place::new();
    let path = place.put("a.csv", "\na,b\n\n\nc,d\n");
    logged();
    for more in [json!({}), json!({"column": [{"index": 0, "type": "string"}]}), json!({"fieldDelimiter": ",,"})] {
        let delimiter_is_comma = more.get("fieldDelimiter").is_none();
        let read = read(merge(&json!({"path": path}), more)).unwrap();
        assert_eq!(read.rows.len(), if delimiter_is_comma { 2 } else { 5 });
        assert_eq!(logged().len(), usize::from(delimiter_is_comma));
    }
    place.put("many/a.csv", "a,b\n\n");
    for number in 0..70 {
        place.put(&format!("many/b{number}.csv"), "a,b\n\n\nc,d\n");
    }
    read(json!({"path": place.path("many")})).unwrap();
    let told = logged();
    assert!(told.len() == 1 && told[0].contains("141 empty line(s)"), "{told:?}");
}

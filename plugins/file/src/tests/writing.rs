//! Writing: formats, modes, and what is visible when.

use std::sync::Arc;

use arrow_array::{BinaryArray, Date32Array, Int64Array, TimestampMicrosecondArray};
use transship_plugin_api::Kind;

use super::*;

fn text(content: Vec<u8>) -> String {
    String::from_utf8(content).unwrap()
}

/// What a batch of these rows becomes.
fn written(more: Value, cells: &[&[&str]]) -> (String, Vec<Dirty>) {
    let cells = rows(cells);
    let (content, dirty, report) = write(&Place::new(), more, &[batch_of(&cells, cells[0].len())]).unwrap();
    assert_eq!(report.written as usize + dirty.len(), cells.len());
    assert_eq!(report.bytes as usize, content.len());
    (text(content), dirty)
}

/// Traps 74, 79.
#[test]
fn text_is_joined_with_the_delimiter() {
    let (content, dirty) = written(json!({}), &[&["a", " b ", "NULL"], &["\"", "", "#"]]);
    assert_eq!(content, "a, b ,null\n\",,#\n");
    assert!(dirty.is_empty());
    let (content, _) =
        written(json!({"fieldDelimiter": "|^|", "lineDelimiter": "\\r\\n", "nullFormat": "\\N"}), &[&["a", "NULL"]]);
    assert_eq!(content, "a|^|\\N\r\n");
}

/// Trap 79.
#[test]
fn a_text_file_cannot_express_delimiters_so_their_records_are_dirty() {
    let (content, dirty) =
        written(json!({}), &[&["a", "b"], &["a,b", "c"], &["d", "e\nf"], &["g", "h\r"], &["i", "j"]]);
    assert_eq!(content, "a,b\ni,j\n");
    let told: Vec<_> = dirty.iter().map(|dirty| (dirty.position.unwrap(), dirty.column.as_deref().unwrap())).collect();
    assert_eq!(told, [(2, "c0"), (3, "c1"), (4, "c1")]);
    assert!(dirty[0].cause.contains("delimiter"), "{}", dirty[0].cause);
    let (content, dirty) = written(json!({"fieldDelimiter": ";;"}), &[&["a;", "b"], &["a;b", ";b"], &["a;;b", "c"]]);
    assert_eq!((content.as_str(), dirty.len()), ("a;b;;;b\n", 2));
    let (content, dirty) = written(json!({"lineDelimiter": "\u{1}", "fieldDelimiter": "\t"}), &[&["a\nb", "c"]]);
    assert_eq!((content.as_str(), dirty.len()), ("a\nb\tc\u{1}", 0));
}

/// Traps 79, 83.
#[test]
fn csv_encloses_what_needs_it_and_nothing_else() {
    let cells: &[&[&str]] = &[
        &["a", "b c", "NULL"],
        &["a,b", "say \"x\"", "a\nb"],
        &["", "", "null"],
        &["#a", "#a", "a\rb"],
        &[" a", "a\t", "'"],
    ];
    let (content, dirty) = written(json!({"fileFormat": "CSV"}), cells);
    assert_eq!(
        content,
        "a,b c,null\n\"a,b\",\"say \"\"x\"\"\",\"a\nb\"\n\"\",,\"null\"\n\"#a\",#a,\"a\rb\"\n\" a\",\"a\t\",'\n"
    );
    assert!(dirty.is_empty());
}

#[test]
fn csv_settings_of_the_writer() {
    let csv =
        |config: Value, cells: &[&[&str]]| written(json!({"fileFormat": "csv", "csvWriterConfig": config}), cells).0;
    assert_eq!(csv(json!({"forceQualifier": "true"}), &[&["a", "NULL"]]), "\"a\",null\n");
    assert_eq!(
        csv(json!({"textQualifier": "'", "delimiter": ";", "recordDelimiter": "|"}), &[&["a;b'c", "d\"|"]]),
        "'a;b''c';'d\"|'|"
    );
    assert_eq!(csv(json!({"escapeMode": 2}), &[&["a\"b", "c\\d"]]), "\"a\\\"b\",\"c\\\\d\"\n");
    assert_eq!(csv(json!({"escapeMode": 2, "useTextQualifier": false}), &[&["a,b", "c\\d\n"]]), "a\\,b,c\\\\d\\\n\n");
    let (content, dirty) = written(
        json!({"fileFormat": "csv", "csvWriterConfig": {"useTextQualifier": false}}),
        &[&["a,b", "c"], &["d", "e"]],
    );
    assert_eq!((content.as_str(), dirty.len()), ("d,e\n", 1));
}

#[test]
fn empty_null_text_is_told_from_empty_text() {
    let (content, _) = written(json!({"fileFormat": "csv", "nullFormat": ""}), &[&["a", "NULL", ""]]);
    assert_eq!(content, "a,,\"\"\n");
}

/// Trap 80.
#[test]
fn a_header_comes_first_in_every_file() {
    let (content, _) = written(json!({"header": ["id", "the,name"], "fileFormat": "csv"}), &[&["1", "x"]]);
    assert_eq!(content, "id,\"the,name\"\n1,x\n");
    let (content, _) = written(json!({"header": true}), &[&["1", "x"]]);
    assert_eq!(content, "c0,c1\n1,x\n");
    let place = Place::new();
    let (content, _, report) = write(&place, json!({"header": ["id"], "fileFormat": "csv"}), &[]).unwrap();
    assert_eq!((text(content).as_str(), report.written), ("id\n", 0));
    let error = write(&Place::new(), json!({"header": ["a,b"]}), &[batch_of(&rows(&[&["x"]]), 1)]).unwrap_err();
    assert_eq!(error.kind(), Kind::Config);
}

#[test]
fn statements_insert_rows() {
    let more = json!({"fileFormat": "sql", "table": "t", "quoteChar": "`", "header": ["a", "b"], "commitSize": 2});
    let (content, _) = written(more, &[&["it's", "NULL"], &["null", "x\\"], &["", "y"]]);
    let expected = "INSERT INTO `t` (`a`,`b`) VALUES('it''s',NULL);\n\
                    INSERT INTO `t` (`a`,`b`) VALUES('null','x\\');\ncommit;\n\
                    INSERT INTO `t` (`a`,`b`) VALUES('','y');\ncommit;\n";
    assert_eq!(content, expected);
}

#[test]
fn characters_that_the_encoding_lacks_make_their_record_dirty() {
    let cells = rows(&[&["1", "泊位"], &["2", "é"], &["3", "😀"]]);
    let batch = batch_of(&cells, 2);
    let (content, dirty, _) = write(&Place::new(), json!({"encoding": "GBK"}), std::slice::from_ref(&batch)).unwrap();
    assert_eq!(encoding_rs::GBK.decode(&content).0, "1,泊位\n2,é\n");
    assert_eq!((dirty[0].position, dirty[0].column.as_deref()), (Some(3), Some("c1")));
    assert!(dirty[0].cause.contains('😀') && dirty[0].cause.contains("GBK"));
    let (content, dirty, _) =
        write(&Place::new(), json!({"encoding": "latin1"}), std::slice::from_ref(&batch)).unwrap();
    assert_eq!((content.as_slice(), dirty.len()), (&b"2,\xe9\n"[..], 2));
    let (content, dirty, _) =
        write(&Place::new(), json!({"encoding": "UTF-16", "header": ["ä", "b"]}), &[batch]).unwrap();
    let units: Vec<u16> = content.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    assert_eq!((String::from_utf16(&units).unwrap().as_str(), dirty.len()), ("\u{feff}ä,b\n1,泊位\n2,é\n3,😀\n", 0));
}

/// Trap 36.
#[test]
fn values_of_other_types_are_written_as_text() {
    let batch = RecordBatch::try_from_iter([
        ("n", Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef),
        ("t", Arc::new(TimestampMicrosecondArray::from(vec![0, 1]))),
        ("b", Arc::new(BinaryArray::from(vec![&b"ok"[..], &[0xff]]))),
    ])
    .unwrap();
    let (content, dirty, _) =
        write(&Place::new(), json!({"dateFormat": "yyyy"}), std::slice::from_ref(&batch)).unwrap();
    assert_eq!(text(content), "1,1970,ok\n");
    assert_eq!((dirty.len(), dirty[0].column.as_deref()), (1, Some("b")));
    let (content, _, _) = write(&Place::new(), json!({"byteEncoding": "Base64", "format": "MM"}), &[batch]).unwrap();
    assert_eq!(text(content), "1,01,b2s=\nnull,01,/w==\n");
}

#[test]
fn packed_files_are_read_again() {
    let cells = rows(&[&["a", "b"], &["c", "d"]]);
    for (name, compression) in [("gzip", "gzip"), ("GZ", "gzip"), ("bzip2", "bzip2")] {
        let place = Place::new();
        write(&place, json!({"compress": name}), &[batch_of(&cells, 2)]).unwrap();
        assert_eq!(read(json!({"path": place.path("out"), "compress": compression})).unwrap().rows, cells);
    }
}

#[test]
fn plans_touch_nothing() {
    let place = Place::new();
    let writer = crate::writer::new(&committing::parameter(&place, "truncate"), Arc::new(Recorder::default())).unwrap();
    let plan = writer.plan().join("\n");
    assert!(
        plan.contains("out/f__<id>.csv") && plan.contains("remove the older") && plan.contains("out/f.csv and"),
        "{plan}"
    );
    assert!(writer.info().target.ends_with("out/f"));
    assert!(place.names("out").is_empty() && !place.folder.path().join("out").exists());
}

#[test]
fn a_target_that_cannot_be_written_is_an_error_that_names_it() {
    let place = Place::new();
    place.put("out", "a file");
    let error = Writing::prepare(&committing::parameter(&place, "append")).err().unwrap();
    assert!(error.message().contains("out"), "{error}");
    let error =
        Writing::prepare(&json!({"path": "/proc/nowhere", "fileName": "f", "writeMode": "append"})).err().unwrap();
    assert_eq!(error.kind(), Kind::Io);
    assert!(error.message().contains("/proc/nowhere"), "{error}");
}

/// Traps 25, 26.
#[test]
fn dates_are_written_as_the_job_says_and_by_the_writers_own_format_before_that() {
    let batch = RecordBatch::try_from_iter([
        ("local", Arc::new(TimestampMicrosecondArray::from(vec![1_500_000])) as ArrayRef),
        ("instant", Arc::new(TimestampMicrosecondArray::from(vec![1_500_000]).with_timezone("UTC"))),
        ("day", Arc::new(Date32Array::from(vec![19_782]))),
    ])
    .unwrap();
    let written = |more: Value| text(write(&Place::new(), more, std::slice::from_ref(&batch)).unwrap().0);
    assert_eq!(written(json!({})), "1970-01-01 00:00:01.5,1970-01-01 00:00:01.5+00:00,2024-02-29\n");
    let zone = json!({"column": {"timeZone": "GMT+8"}});
    assert_eq!(written(json!({"common": zone})), "1970-01-01 00:00:01.5,1970-01-01 08:00:01.5,2024-02-29\n");
    let formats = json!({"column": {"datetimeFormat": "yyyy-MM-dd HH:mm:ss", "dateFormat": "d.M.yyyy"}});
    assert_eq!(written(json!({"common": formats})), "1970-01-01 00:00:01,1970-01-01 00:00:01,29.2.2024\n");
    let both = json!({"common": {"column": {"timeZone": "GMT+8", "datetimeFormat": "yyyy"}}, "dateFormat": "MMdd HH"});
    assert_eq!(written(both), "0101 00,0101 08,0229 00\n");
}

/// Trap 36.
#[test]
fn bytes_become_text_by_the_encoding_of_the_job() {
    let bytes: [&[u8]; 2] = [b"\xb2\xb4", b"\xff"];
    let batch = RecordBatch::try_from_iter([("b", Arc::new(BinaryArray::from(bytes.to_vec())) as ArrayRef)]).unwrap();
    let (content, dirty, _) =
        write(&Place::new(), json!({"common": {"column": {"encoding": "gbk"}}}), std::slice::from_ref(&batch)).unwrap();
    assert_eq!((text(content).as_str(), dirty.len()), ("泊\n", 1));
    assert!(dirty[0].cause.contains("common.column.encoding"), "{}", dirty[0].cause);
}

/// Trap 74.
#[test]
fn without_a_null_format_a_null_comes_back_as_the_word() {
    let place = Place::new();
    write(&place, json!({}), &[batch_of(&rows(&[&["a", "NULL"]]), 2)]).unwrap();
    assert_eq!(read(json!({"path": place.path("out")})).unwrap().rows, rows(&[&["a", "null"]]));
    let told = read(json!({"path": place.path("out"), "nullFormat": "null"})).unwrap();
    assert_eq!(told.rows, rows(&[&["a", "NULL"]]));
}

/// Trap 79.
#[test]
fn values_keep_their_blanks_and_lines_their_whole_end() {
    let more = json!({"fileFormat": "csv", "lineDelimiter": "\r\n"});
    assert_eq!(written(more, &[&[" a ", "b"]]).0, "\" a \",b\r\n");
}

/// Trap 80.
#[test]
fn a_name_is_the_file_name_two_underscores_an_id_and_the_suffix_and_packing_adds_nothing() {
    for (more, suffix) in
        [(json!({"compress": "gzip"}), ""), (json!({"compress": "gzip", "suffix": ".csv.gz"}), ".csv.gz")]
    {
        let place = Place::new();
        write(&place, more, &[]).unwrap();
        let name = place.names("out").remove(0);
        let id = name.strip_prefix("f__").and_then(|name| name.strip_suffix(suffix)).unwrap();
        assert!(id.len() == 36 && id.split('_').count() == 5, "{name}");
    }
}

#[test]
fn the_older_name_of_date_format_counts_where_the_newer_one_is_not_written() {
    let batch =
        RecordBatch::try_from_iter([("t", Arc::new(TimestampMicrosecondArray::from(vec![0])) as ArrayRef)]).unwrap();
    let written = |more: Value| text(write(&Place::new(), more, std::slice::from_ref(&batch)).unwrap().0);
    assert_eq!(written(json!({"format": "yyyy"})), "1970\n");
    assert_eq!(written(json!({"format": "yyyy", "dateFormat": "MM"})), "01\n");
}

//! Reading: columns, headers, NULL, encodings, batches, splits.

use super::*;

#[test]
fn without_a_column_list_every_field_is_a_text_column() {
    let place = Place::new();
    let path = place.put("a.csv", "a,b\n1,\"x,\ny\"\n3,\n");
    let read = read(json!({"path": path})).unwrap();
    assert_eq!(read.rows, rows(&[&["a", "b"], &["1", "x,\ny"], &["3", ""]]));
    assert_eq!(read.schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["col0", "col1"]);
    assert_eq!(read.positions, [1, 2, 4]);
}

/// Trap 77.
#[test]
fn a_header_names_the_columns_even_if_it_goes_over_several_lines() {
    let place = Place::new();
    let path = place.put("a.csv", "\"the\nid\",b,b,\n1,2,3,4\n");
    let read = read(json!({"path": [path], "skipHeader": "true", "column": ["*"]})).unwrap();
    assert_eq!(read.rows, rows(&[&["1", "2", "3", "4"]]));
    assert_eq!(read.positions, [3]);
    let names: Vec<_> = read.schema.fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["the\nid", "b", "b_2", "col3"]);
}

/// Trap 77.
#[test]
fn the_width_is_that_of_the_first_record_behind_the_header() {
    let place = Place::new();
    let names = |read: &Read| read.schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    for (text, expected_names, expected) in [
        ("id,name\n1,a,\n2,b,\n", &["id", "name", "col2"][..], rows(&[&["1", "a", ""], &["2", "b", ""]])),
        ("Report 2026\n\n1,a\n\n2,b\n", &["Report 2026", "col1"], rows(&[&["1", "a"], &["2", "b"]])),
        ("id,name,\n1,a\n", &["id", "name"], rows(&[&["1", "a"]])),
        ("col1,\n1,a\n", &["col1", "col1_2"], rows(&[&["1", "a"]])),
        ("id,name\n1\n\n", &["id"], rows(&[&["1"], &[""]])),
        ("id,name\n", &["id", "name"], vec![]),
    ] {
        let path = place.put("a.csv", text);
        let read = read(json!({"path": path, "skipHeader": true})).unwrap();
        assert_eq!(
            (names(&read), &read.rows, &read.dirty),
            (expected_names.iter().map(|name| name.to_string()).collect(), &expected, &vec![]),
            "{text}"
        );
    }
}

/// Trap 77.
#[test]
fn a_file_with_only_a_header_leaves_the_width_to_the_next() {
    let place = Place::new();
    place.put("in/a.csv", "id,name\n");
    place.put("in/b.csv", "other\n1,a,\n");
    place.put("in/c.csv", "id,name\n2,b,\n3,c\n");
    let read = read(json!({"path": place.path("in"), "skipHeader": true})).unwrap();
    assert_eq!(read.schema.field(1).name(), "name");
    assert_eq!(read.rows, rows(&[&["1", "a", ""], &["2", "b", ""]]));
    let cause = &read.dirty[0].cause;
    assert!(cause.contains("has 2 fields instead of 3"), "{cause}");
    assert!(cause.contains(&format!("the number in line 2 of {}", place.path("in/b.csv"))), "{cause}");
}

/// Trap 77.
#[test]
fn every_range_of_a_file_has_the_columns_of_its_first_record() {
    let place = Place::new();
    let text: String = (0..500).map(|number| format!("{number},a,\n")).collect();
    let path = place.put("a.csv", format!("id,name\n{text}"));
    let read = read(json!({"path": path, "skipHeader": true, "splitBytes": 500})).unwrap();
    assert!(read.splits.len() > 5);
    assert_eq!((read.rows.len(), read.schema.fields().len(), read.dirty), (500, 3, vec![]));
}

#[test]
fn listed_columns_take_their_names_from_the_list_then_the_header() {
    let place = Place::new();
    let path = place.put("a.csv", "x,y,z\n1,2,3\n");
    let column = json!([
        {"index": 2, "type": "string"}, {"index": "0", "type": "STRING", "name": "first"}, {"value": "c", "type": "string"},
    ]);
    let read = read(json!({"path": path, "skipHeader": true, "column": column})).unwrap();
    assert_eq!(read.rows, rows(&[&["3", "1", "c"]]));
    let names: Vec<_> = read.schema.fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["z", "first", "value2"]);
}

/// Trap 77.
#[test]
fn the_header_of_every_file_is_skipped() {
    let place = Place::new();
    place.put("in/a.csv", "x\n1\n");
    place.put("in/b.csv", "x\n2\n");
    let read = read(json!({"path": place.path("in"), "skipHeader": true})).unwrap();
    assert_eq!(read.rows, rows(&[&["1"], &["2"]]));
    assert_eq!(read.splits.len(), 2);
}

/// Trap 74.
#[test]
fn null_is_what_null_format_says() {
    let place = Place::new();
    let path = place.put("a.csv", "\\N,\"\\N\",,n\n");
    let parameter = json!({"path": path});
    assert_eq!(read(parameter.clone()).unwrap().rows, rows(&[&["\\N", "\\N", "", "n"]]));
    let with = |more| read(merge(&parameter, more)).unwrap().rows;
    assert_eq!(with(json!({"nullFormat": "\\N"})), rows(&[&["NULL", "NULL", "", "n"]]));
    assert_eq!(with(json!({"nullFormat": "\\N", "nullWhenQuoted": false})), rows(&[&["NULL", "\\N", "", "n"]]));
    assert_eq!(with(json!({"nullFormat": ""})), rows(&[&["\\N", "\\N", "NULL", "n"]]));
}

#[test]
fn delimiters_may_be_written_in_several_ways() {
    let place = Place::new();
    let tabs = place.put("a.tsv", "a\tb\n");
    for delimiter in ["\t", "\\t", "\\u0009", "\\x09"] {
        assert_eq!(
            read(json!({"path": tabs, "fieldDelimiter": delimiter})).unwrap().rows,
            rows(&[&["a", "b"]]),
            "{delimiter}"
        );
    }
    let control = place.put("b.txt", "1\u{1}GULL\u{1}\\N\n");
    let read_control = read(json!({"path": control, "fieldDelimiter": "\u{1}", "nullFormat": "\\N"})).unwrap();
    assert_eq!(read_control.rows, rows(&[&["1", "GULL", "NULL"]]));
    let several = place.put("c.txt", "a|^|\"b|^|c\"\n");
    assert_eq!(read(json!({"path": several, "fieldDelimiter": "|^|"})).unwrap().rows, rows(&[&["a", "b|^|c"]]));
}

#[test]
fn csv_reader_config_may_be_json_text_and_goes_before_field_delimiter() {
    let place = Place::new();
    let path = place.put("a.csv", "'a;b'; c\n\n#x\n");
    let config = json!({
        "textQualifier": "'", "delimiter": ";", "trimWhitespace": "false", "useComments": true, "skipEmptyRecords": true,
    });
    let expected = rows(&[&["a;b", " c"]]);
    assert_eq!(read(json!({"path": path, "csvReaderConfig": config})).unwrap().rows, expected);
    let as_text = config.to_string();
    assert_eq!(read(json!({"path": path, "fieldDelimiter": ",", "csvReaderConfig": as_text})).unwrap().rows, expected);
}

/// Trap 73.
#[test]
fn a_byte_order_mark_is_no_part_of_the_first_field() {
    let place = Place::new();
    let quoted = place.put("a.csv", b"\xef\xbb\xbf\"id\",\"v\"\n1,2\n");
    let read_quoted = read(json!({"path": quoted, "skipHeader": true})).unwrap();
    assert_eq!(read_quoted.schema.field(0).name(), "id");
    let utf16: Vec<u8> = "\u{feff}a,é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16 = place.put("b.csv", utf16);
    assert_eq!(read(json!({"path": utf16, "encoding": "UTF-16"})).unwrap().rows, rows(&[&["a", "é"]]));
    let error = read(json!({"path": utf16})).unwrap_err();
    assert!(error.message().contains("UTF-16") && error.message().contains("b.csv"), "{error}");
}

#[test]
fn encodings_are_decoded() {
    let place = Place::new();
    let gbk = place.put("a.csv", b"31,\xb2\xb4\xce\xbb\xd7\n32,\xb2\xb4\xce\xbb\xd2\xd2\n");
    let read_gbk = read(json!({"path": gbk, "encoding": "gbk"})).unwrap();
    assert_eq!(read_gbk.rows, rows(&[&["32", "泊位乙"]]));
    assert_eq!(read_gbk.dirty.len(), 1);
    let latin1 = place.put("b.csv", b"\x80\xe9,x\n");
    assert_eq!(read(json!({"path": latin1, "encoding": "ISO-8859-1"})).unwrap().rows, rows(&[&["\u{80}é", "x"]]));
    assert_eq!(read(json!({"path": latin1, "encoding": "windows-1252"})).unwrap().rows, rows(&[&["€é", "x"]]));
    let utf16: Vec<u8> = "a,😀\nb,é\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let utf16 = place.put("c.csv", utf16);
    for encoding in ["UTF-16BE", "UTF-16"] {
        assert_eq!(
            read(json!({"path": utf16, "encoding": encoding})).unwrap().rows,
            rows(&[&["a", "😀"], &["b", "é"]])
        );
    }
}

/// Trap 36.
#[test]
fn bytes_that_are_no_text_make_their_record_dirty() {
    let place = Place::new();
    let path = place.put("a.csv", b"a,b\nc,\xd6\xd0\nd,e\n");
    let read = read(json!({"path": path})).unwrap();
    assert_eq!(read.rows, rows(&[&["a", "b"], &["d", "e"]]));
    assert_eq!(read.positions, [1, 3]);
    assert_eq!(read.dirty.len(), 1);
    assert_eq!(read.dirty[0].column.as_deref(), Some("col1"));
    assert!(read.dirty[0].cause.contains("UTF-8"), "{}", read.dirty[0].cause);
}

#[test]
fn an_empty_file_has_no_records() {
    let place = Place::new();
    let path = place.put("a.csv", "");
    let read_empty = read(json!({"path": path})).unwrap();
    assert!(read_empty.rows.is_empty() && read_empty.schema.fields().is_empty());
    let header_only = place.put("b.csv", "a,b\n");
    let read_header = read(json!({"path": header_only, "skipHeader": true})).unwrap();
    assert!(read_header.rows.is_empty());
    assert_eq!(read_header.schema.fields().len(), 2);
    let both = read(json!({"path": [path, header_only], "skipHeader": true})).unwrap();
    assert_eq!(both.schema.fields().len(), 2);
}

#[test]
fn a_missing_file_is_an_error_of_the_job_file() {
    let error = read(json!({"path": "/nowhere/at/all.csv"})).unwrap_err();
    assert_eq!(error.kind(), transship_plugin_api::Kind::Config);
    assert!(error.message().contains("/nowhere/at/all.csv"));
}

#[test]
fn batches_end_where_the_options_say() {
    let place = Place::new();
    let text: String = (0..100).map(|number| format!("{number},{}\n", "x".repeat(100))).collect();
    let path = place.put("a.csv", text);
    let sizes = |options: ReadOptions| {
        let read = read_with(json!({"path": path}), 1, &options).unwrap();
        assert_eq!(read.rows.len(), 100);
        read.batches.into_iter().map(|(rows, _)| rows).collect::<Vec<_>>()
    };
    assert_eq!(sizes(ReadOptions { batch_records: 30, ..ReadOptions::default() }), [30, 30, 30, 10]);
    assert_eq!(sizes(ReadOptions { batch_records: 1, ..ReadOptions::default() }), [1; 100]);
    let by_bytes = sizes(ReadOptions { batch_bytes: 1000, ..ReadOptions::default() });
    let (_, full) = by_bytes.split_last().unwrap();
    assert!(full.iter().all(|rows| (8..=9).contains(rows)), "{by_bytes:?}");
    assert_eq!(sizes(ReadOptions { batch_bytes: 1, ..ReadOptions::default() }), [1; 100]);
}

/// Trap 78.
#[test]
fn many_small_files_share_a_split_and_lines_are_counted_over_all() {
    let place = Place::new();
    for number in 0..200 {
        place.put(&format!("in/{number:03}.csv"), format!("{number},a\n{}\n", if number == 150 { "x" } else { "y,b" }));
    }
    let read = read(json!({"path": place.path("in/*.csv")})).unwrap();
    assert_eq!(read.splits.len(), 1);
    assert_eq!(read.splits[0].label, format!("200 files from {}", place.path("in/000.csv")));
    assert_eq!(read.splits[0].unit, "line");
    assert_eq!(read.rows.len(), 399);
    assert_eq!(read.positions, (1..=400).filter(|line| *line != 302).collect::<Vec<u64>>());
    assert_eq!(read.dirty[0].position, Some(302));
    assert_eq!(read.dirty[0].place["line"], 2);
    assert!(read.dirty[0].place["file"].as_str().unwrap().ends_with("150.csv"));
}

#[test]
fn a_last_line_without_an_end_is_a_line() {
    let place = Place::new();
    let files: Vec<String> = (0..70).map(|number| place.put(&format!("{number:02}"), "a,b\n\"c\",d")).collect();
    let read = read(json!({"path": files})).unwrap();
    assert_eq!(read.splits.len(), 1);
    assert_eq!(read.positions, (1..=140).collect::<Vec<u64>>());
}

/// Trap 78.
#[test]
fn a_large_file_is_cut_and_nothing_is_lost() {
    let place = Place::new();
    let text: String = (0..2000).map(|number| format!("{number},\"a\n{number}\"\n")).collect();
    let path = place.put("a.csv", format!("id,text\n{text}"));
    let parameter = json!({"path": path, "skipHeader": true});
    let whole = read(parameter.clone()).unwrap();
    let cut = read(merge(&parameter, json!({"splitBytes": 1000}))).unwrap();
    assert!(cut.splits.len() > 20);
    assert_eq!(cut.rows, whole.rows);
    assert_eq!(cut.positions, whole.positions);
    assert_eq!(
        cut.splits.iter().map(|split| split.bytes.unwrap()).sum::<u64>(),
        std::fs::metadata(&path).unwrap().len()
    );
    let again = read(merge(&parameter, json!({"splitBytes": 1000}))).unwrap();
    assert_eq!(again.splits, cut.splits);
}

#[test]
fn a_file_that_shrank_after_it_was_cut_is_an_error() {
    let place = Place::new();
    let path = place.put("a.csv", "a,b\n".repeat(100));
    let host = Arc::new(Recorder::default());
    let parameter = json!({"path": path, "splitBytes": 100});
    let mut reader = crate::reader::new(&parameter, host.clone()).unwrap();
    reader.prepare().unwrap();
    let mut splits = Vec::new();
    while let [range] = &reader.splits(&SplitRequest { channels: 1, max: 100 }).unwrap()[..] {
        splits.push(range.clone());
    }
    std::fs::write(&path, "a,b\n".repeat(50)).unwrap();
    let mut read = Read::nothing(reader.schema().unwrap().unwrap());
    let error = read_split(&mut *reader, splits.last().unwrap(), &ReadOptions::default(), host, &mut read).unwrap_err();
    assert!(error.message().contains("a.csv") && error.message().contains("shorter"), "{error}");
}

#[test]
fn reading_goes_on_at_the_position_of_any_batch() {
    let place = Place::new();
    let text: String = (0..50).map(|number| format!("{number},\"ä\n{number}\"\n\n")).collect();
    let gbk = encoding_rs::GBK.encode(&text).0.into_owned();
    let files = [
        place.put("plain.csv", &text),
        place.put("marked.csv", [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat()),
        place.put("gbk.csv", gbk),
        place.put("packed.csv.gz", super::packed::gzip(text.as_bytes())),
    ];
    for (path, more) in
        files.iter().zip([json!({}), json!({}), json!({"encoding": "GBK"}), json!({"compress": "gzip"})])
    {
        let parameter = merge(&json!({"path": path}), more);
        let options = ReadOptions { batch_records: 7, ..ReadOptions::default() };
        let whole = read_with(parameter.clone(), 1, &options).unwrap();
        assert_eq!(whole.rows.len(), 50);
        for (number, (_, position)) in whole.batches.iter().enumerate() {
            let rest =
                read_with(parameter.clone(), 1, &ReadOptions { position: Some(position.clone()), ..options.clone() })
                    .unwrap();
            let done = (7 * (number + 1)).min(50);
            assert_eq!(rest.rows, whole.rows[done..], "{path} behind batch {number}");
            assert_eq!(rest.positions, whole.positions[done..]);
        }
    }
}

#[test]
fn the_state_of_one_process_serves_another() {
    let place = Place::new();
    let path = place.put("a.csv", "x,y\n1,2\n");
    let parameter = json!({"path": path, "skipHeader": true});
    let host = Arc::new(Recorder::default());
    let mut first = crate::reader::new(&parameter, host.clone()).unwrap();
    let state = first.prepare().unwrap();
    let split = first.splits(&SplitRequest { channels: 1, max: 1 }).unwrap().remove(0);
    let split: Split = serde_json::from_str(&serde_json::to_string(&split).unwrap()).unwrap();
    let mut second = crate::reader::new(&parameter, host.clone()).unwrap();
    second.attach(&state).unwrap();
    let mut read = Read::nothing(first.schema().unwrap().unwrap());
    read_split(&mut *second, &split, &ReadOptions::default(), host, &mut read).unwrap();
    assert_eq!(read.rows, rows(&[&["1", "2"]]));
}

#[test]
fn a_cancelled_task_stops() {
    let place = Place::new();
    let path = place.put("a.csv", "a,b\n".repeat(100_000));
    let host = Arc::new(Recorder::default());
    let mut reader = crate::reader::new(&json!({"path": path}), host.clone()).unwrap();
    reader.prepare().unwrap();
    let split = reader.splits(&SplitRequest { channels: 1, max: 1 }).unwrap().remove(0);
    let mut task = reader.open(&split, &ReadOptions::default(), host.clone()).unwrap();
    task.prepare().unwrap();
    assert!(matches!(task.next(Duration::ZERO), Ok(Item::Batch(_))));
    host.cancelled.store(true, Ordering::Relaxed);
    assert_eq!(task.next(Duration::ZERO).unwrap_err().kind(), transship_plugin_api::Kind::Cancelled);
}

#[test]
fn the_error_limit_ends_a_task() {
    let place = Place::new();
    let path = place.put("a.csv", "a,b\nc\nd\ne\n");
    let host = Arc::new(Recorder { limit: Some(1), ..Recorder::default() });
    let mut reader = crate::reader::new(&json!({"path": path}), host.clone()).unwrap();
    reader.prepare().unwrap();
    let split = reader.splits(&SplitRequest { channels: 1, max: 1 }).unwrap().remove(0);
    let mut task = reader.open(&split, &ReadOptions::default(), host.clone()).unwrap();
    task.prepare().unwrap();
    assert_eq!(task.next(Duration::ZERO).unwrap_err().kind(), transship_plugin_api::Kind::Cancelled);
    assert_eq!(host.dirty.lock().unwrap().len(), 2);
}

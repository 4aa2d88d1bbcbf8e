//! Where dirty records are said to be: file, line, byte. And quotes that are never closed.

use super::*;

#[test]
fn places_are_exact() {
    let place = Place::new();
    let path = place.put("a.csv", "a,b\r\n\"x\ny\",2\r\nshort\r\nc,d\r\n\"q\"z,1\r\n");
    let read = read(json!({"path": path})).unwrap();
    let told: Vec<_> = read.dirty.iter().map(|dirty| (dirty.position.unwrap(), dirty.place.clone())).collect();
    assert_eq!(
        told,
        [(4, json!({"file": path, "line": 4, "byte": 14})), (6, json!({"file": path, "line": 6, "byte": 26})),]
    );
    assert_eq!(read.dirty[1].record, json!("\"q\"z,1"));
    assert_eq!(read.positions, [1, 2, 5]);
}

#[test]
fn places_count_a_byte_order_mark_and_the_bytes_of_the_file() {
    let place = Place::new();
    let marked = place.put("a.csv", b"\xef\xbb\xbfa,b\nshort\n");
    assert_eq!(read(json!({"path": marked})).unwrap().dirty[0].place["byte"], 7);
    let text = "ä,ö\n泊位乙,x\nshort\n";
    let gbk = place.put("b.csv", encoding_rs::GBK.encode(text).0);
    let found = read(json!({"path": gbk, "encoding": "GBK"})).unwrap().dirty[0].place["byte"].clone();
    assert_eq!(found, encoding_rs::GBK.encode("ä,ö\n泊位乙,x\n").0.len());
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16 = place.put("c.csv", utf16);
    assert_eq!(read(json!({"path": utf16, "encoding": "UTF-16LE"})).unwrap().dirty[0].place["byte"], 20);
}

#[test]
fn places_are_exact_in_a_long_file_of_another_encoding() {
    let place = Place::new();
    let mut text = String::new();
    let mut expected = Vec::new();
    for number in 0..60_000 {
        if number % 9_973 == 5 {
            expected.push(encoding_rs::GBK.encode(&text).0.len());
            text.push_str("kurz\n");
        } else {
            text.push_str(&format!("{number},泊位{}\n", "ä".repeat(number % 7)));
        }
    }
    let path = place.put("a.csv", encoding_rs::GBK.encode(&text).0);
    let read = read(json!({"path": path, "encoding": "GBK"})).unwrap();
    let found: Vec<_> = read.dirty.iter().map(|dirty| dirty.place["byte"].as_u64().unwrap() as usize).collect();
    assert_eq!(found, expected);
}

#[test]
fn places_are_exact_behind_a_long_line_of_another_encoding() {
    let place = Place::new();
    let text = format!("a{},b\nshort\n", "泊".repeat(200_000));
    let bytes = encoding_rs::GBK.encode(&text).0.into_owned();
    let path = place.put("a.csv", &bytes);
    let read = read(json!({"path": path, "encoding": "GBK"})).unwrap();
    assert_eq!(read.dirty[0].place["byte"], bytes.len() - "short\n".len());
}

#[test]
fn places_in_a_range_are_those_in_the_file() {
    let place = Place::new();
    let text: String = (0..500)
        .map(|number| if number % 50 == 49 { "short\n".to_string() } else { format!("{number},\"a\nb\"\n") })
        .collect();
    let path = place.put("a.csv", text);
    let whole = read(json!({"path": path})).unwrap();
    let cut = read(json!({"path": path, "splitBytes": 300})).unwrap();
    assert_eq!(whole.dirty.len(), 10);
    assert_eq!(cut.dirty, whole.dirty);
}

/// Trap 73.
#[test]
fn a_quote_that_is_never_closed_names_its_line() {
    let place = Place::new();
    let path = place.put("a.csv", "1,ok\n2,\"abc\n3,def\n4,ghi\n");
    let error = read(json!({"path": path})).unwrap_err();
    assert_eq!(error.kind(), transship_plugin_api::Kind::Data);
    assert!(error.message().contains("a.csv") && error.message().contains("line 2"), "{error}");
    let plain = read(json!({"path": path, "csvReaderConfig": {"useTextQualifier": false}})).unwrap();
    assert_eq!(plain.rows.len(), 4);
}

#[test]
fn an_open_quote_in_the_very_last_line_makes_only_that_record_dirty() {
    let place = Place::new();
    let path = place.put("a.csv", "1,ok\n2,\"abc");
    let read = read(json!({"path": path})).unwrap();
    assert_eq!(read.rows, rows(&[&["1", "ok"]]));
    assert_eq!(read.dirty[0].position, Some(2));
    assert_eq!(read.dirty[0].value.as_deref(), Some("abc"));
}

#[test]
fn records_that_are_too_long_are_passed_over() {
    let place = Place::new();
    let long = "x".repeat(700_000);
    let path = place.put("a.csv", format!("a,b\n\"{long}\n{long}\",c\n{},d\ne,f\n", "y".repeat(2_000)));
    let options = ReadOptions { max_record_bytes: 1_000, ..ReadOptions::default() };
    let read = read_with(json!({"path": path}), 1, &options).unwrap();
    assert_eq!(read.rows, rows(&[&["a", "b"], &["e", "f"]]));
    assert_eq!(read.positions, [1, 5]);
    let told: Vec<_> =
        read.dirty.iter().map(|dirty| (dirty.position.unwrap(), dirty.place["byte"].as_u64().unwrap())).collect();
    assert_eq!(told, [(2, 4), (4, 4 + 1_400_001 + 5)]);
    assert!(read.dirty.iter().all(|dirty| dirty.cause.contains("1000")), "{:?}", read.dirty[1].cause);
    let endless = place.put("b.csv", format!("a,\"{long}\n{long}"));
    assert!(read_with(json!({"path": endless}), 1, &options).unwrap_err().message().contains("line 1"));
}

#[test]
fn a_long_record_that_is_allowed_is_read() {
    let place = Place::new();
    let long = "x".repeat(3_000_000);
    let path = place.put("a.csv", format!("a,b\n\"{long}\",c\ne,f\n"));
    let read = read(json!({"path": path})).unwrap();
    assert_eq!(read.rows.len(), 3);
    assert_eq!(read.rows[1][0].as_ref().unwrap().len(), 3_000_000);
}

#[test]
fn the_bytes_of_a_record_that_is_no_text_are_kept() {
    let place = Place::new();
    let hex = |parameter: Value| -> Vec<Value> {
        read(parameter).unwrap().dirty.iter().map(|dirty| dirty.place["record_hex"].clone()).collect()
    };
    let utf8 = place.put("a.csv", b"1,a\nshort\n2,\xd6\xd0\r\n");
    assert_eq!(hex(json!({"path": utf8})), [Value::Null, json!("322cd6d0")]);
    let ascii = place.put("b.csv", b"1,a\n2,\xd6\n");
    assert_eq!(hex(json!({"path": ascii, "encoding": "us-ascii"})), [json!("322cd6")]);
    let gbk = place.put("c.csv", b"31,\xb2\xb4\n3,\xb2\xb4\xff\xd7\n32,x\n");
    assert_eq!(hex(json!({"path": gbk, "encoding": "gbk"})), [json!("332cb2b4ffd7")]);
    let utf16: Vec<u8> = [&b"\xff\xfe"[..], b"a\0,\0b\0\n\0c\0,\0\0\xd8\n\0"].concat();
    let utf16 = place.put("d.csv", utf16);
    assert_eq!(hex(json!({"path": utf16, "encoding": "UTF-16"})), [json!("63002c0000d8")]);
}

#[test]
fn the_bytes_of_a_record_are_kept_wherever_it_stands() {
    let place = Place::new();
    let mut content = Vec::new();
    let mut expected = Vec::new();
    for number in 0..60_000 {
        let start = content.len();
        content.extend_from_slice(&encoding_rs::GBK.encode(&format!("{number},泊位{}", "ä".repeat(number % 7))).0);
        if number % 9_973 == 5 {
            content.push(0xff);
            expected.push(content[start..].iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        }
        content.push(b'\n');
    }
    for (name, content, compress) in
        [("a.csv", content.clone(), "none"), ("a.csv.gz", super::packed::gzip(&content), "gzip")]
    {
        let path = place.put(name, content);
        let read = read(json!({"path": path, "encoding": "GBK", "compress": compress})).unwrap();
        let found: Vec<&str> = read.dirty.iter().map(|dirty| dirty.place["record_hex"].as_str().unwrap()).collect();
        assert_eq!(found, expected);
    }
}

//! Packed files: every member is read, and what is cut short or damaged is an error.

use std::io::Write;

use super::*;

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A zip file of these entries, packed if `deflated`.
pub(super) fn zip(entries: &[(&str, &[u8])], deflated: bool) -> Vec<u8> {
    let method = if deflated { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_directory("folder", options).unwrap();
    for (name, content) in entries {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn long_text() -> String {
    (0..20_000).map(|number| format!("{number},{}\n", number * 7919 % 10_007)).collect()
}

/// Trap 76.
#[test]
fn all_members_are_read() {
    let place = Place::new();
    let expected = rows(&[&["1", "a"], &["2", "b"], &["3", "c"]]);
    for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("bzip2", bzip2)] {
        let members = [pack(b"id,v\n1,a\n"), pack(b"2,b"), pack(b"\n3,c\n")].concat();
        let path = place.put(name, &members);
        let read_members =
            |path: &str| read(json!({"path": path, "compress": name.to_uppercase(), "skipHeader": true}));
        assert_eq!(read_members(&path).unwrap().rows, expected);
        let padded = place.put("padded", [&members[..], &[0; 700]].concat());
        assert_eq!(read_members(&padded).unwrap().rows, expected);
        let garbage = place.put("garbage", [&members[..], b"something"].concat());
        let error = read_members(&garbage).unwrap_err();
        assert!(error.message().contains(&format!("byte {}", members.len())), "{error}");
    }
}

#[test]
fn a_file_cut_short_is_an_error_wherever_it_is_cut() {
    let place = Place::new();
    let text = long_text();
    let packs = [
        ("gzip", gzip(text.as_bytes())),
        ("bzip2", bzip2(text.as_bytes())),
        ("zip", zip(&[("a.csv", text.as_bytes())], true)),
    ];
    for (name, packed) in packs {
        let whole = place.put(name, &packed);
        assert_eq!(read(json!({"path": whole, "compress": name})).unwrap().rows.len(), 20_000);
        for keep in [0, 1, 10, packed.len() / 2, packed.len() - 9, packed.len() - 1] {
            let path = place.put("cut", &packed[..keep]);
            let error = read(json!({"path": path, "compress": name})).unwrap_err();
            assert!(error.message().contains("cut"), "{name} {keep}: {error}");
            assert!(
                matches!(error.kind(), transship_plugin_api::Kind::Data | transship_plugin_api::Kind::Io),
                "{error:?}"
            );
        }
    }
}

#[test]
fn a_packed_file_is_not_read_as_plain_text() {
    let place = Place::new();
    for (format, packed) in [
        ("gzip", gzip(b"1,a\n")),
        ("bzip2", bzip2(b"1,a\n")),
        ("bzip2", bzip2(b"")),
        ("zip", zip(&[("a.csv", b"1,a\n")], true)),
        ("zip", zip::ZipWriter::new(std::io::Cursor::new(Vec::new())).finish().unwrap().into_inner()),
    ] {
        let path = place.put("a.csv", &packed);
        let columns = json!([{"index": 1, "type": "string", "name": "x"}]);
        for more in [json!({}), json!({"compress": "auto"}), json!({"column": columns}), json!({"splitBytes": 10})] {
            let error = read(merge(&json!({"path": path}), more)).unwrap_err();
            assert_eq!(error.kind(), transship_plugin_api::Kind::Data);
            let message = error.message();
            assert!(
                message.contains("a.csv") && message.contains(&format!("\"compress\" to \"{format}\"")),
                "{message}"
            );
        }
    }
    let text = place.put("b.csv", "BZh9,PK\n\u{1f},x\n");
    assert_eq!(read(json!({"path": text})).unwrap().rows.len(), 2);
}

#[test]
fn a_range_of_a_packed_file_is_refused_too() {
    let place = Place::new();
    let path = place.put("a.csv", [gzip(b"1,a\n"), b"\n".repeat(100)].concat());
    let piece = crate::source::Piece { path, start: 60, end: Some(70), line: 5 };
    let opened =
        crate::source::Texts::open(&piece, crate::compression::Compression::None, crate::encoding::Encoding::Utf8);
    assert!(opened.err().unwrap().message().contains("is packed with gzip"));
}

#[test]
fn a_plain_file_is_not_unpacked() {
    let place = Place::new();
    let path = place.put("a.csv", "1,a\n");
    let other = place.put("b.gz", zip(&[("a", b"1,a\n")], true));
    for format in ["gzip", "bzip2", "zip"] {
        let error = read(json!({"path": path, "compress": format})).unwrap_err();
        assert!(error.message().contains(&format!("a.csv: is no {format} file")), "{error}");
    }
    let error = read(json!({"path": other, "compress": "auto"})).unwrap_err();
    assert!(error.message().contains("b.gz: is no gzip file, but is packed with zip"), "{error}");
}

#[test]
fn a_changed_byte_is_an_error() {
    let place = Place::new();
    let text = long_text();
    for (name, mut packed) in [
        ("gzip", gzip(text.as_bytes())),
        ("bzip2", bzip2(text.as_bytes())),
        ("zip", zip(&[("a", text.as_bytes())], false)),
    ] {
        let middle = packed.len() / 2;
        packed[middle] ^= 1;
        let path = place.put(name, &packed);
        assert!(read(json!({"path": path, "compress": name})).is_err(), "{name}");
    }
}

#[test]
fn the_error_of_a_cut_file_names_file_and_byte() {
    let place = Place::new();
    let packed = gzip(long_text().as_bytes());
    let path = place.put("a.csv.gz", &packed[..packed.len() / 2]);
    let error = read(json!({"path": path, "compress": "gzip"})).unwrap_err();
    assert!(
        error.message().contains("a.csv.gz") && error.message().contains(&format!("byte {}", packed.len() / 2)),
        "{error}"
    );
}

/// Traps 76, 77.
#[test]
fn entries_of_a_zip_file_are_files_of_their_own() {
    let place = Place::new();
    for deflated in [true, false] {
        let path = place.put("a.zip", zip(&[("a.csv", b"id,v\n1,a"), ("folder/b.csv", b"id,v\n2\n3,c\n")], deflated));
        let read = read(json!({"path": path, "compress": "zip", "skipHeader": true})).unwrap();
        assert_eq!(read.rows, rows(&[&["1", "a"], &["3", "c"]]));
        assert_eq!(read.dirty[0].place["entry"], "folder/b.csv");
        assert_eq!(read.dirty[0].place["line"], 2);
    }
}

#[test]
fn suffixes_count_only_if_asked() {
    let place = Place::new();
    place.put("in/a.csv", "1,a\n");
    place.put("in/b.csv.gz", gzip(b"2,b\n"));
    place.put("in/c.csv.BZ2", bzip2(b"3,c\n"));
    place.put("in/d.zip", zip(&[("d", b"4,d\n")], true));
    let parameter = json!({"path": place.path("in"), "compress": "auto"});
    assert_eq!(read(parameter).unwrap().rows, rows(&[&["1", "a"], &["2", "b"], &["3", "c"], &["4", "d"]]));
    let error = read(json!({"path": place.path("in/a.csv"), "compress": "gzip"})).unwrap_err();
    assert!(error.message().contains("a.csv"), "{error}");
}

/// Trap 77.
#[test]
fn the_width_may_come_from_a_later_entry() {
    let place = Place::new();
    let path = place.put("a.zip", zip(&[("a.csv", b"id,name\n"), ("b.csv", b"id,name\n1,a,\n2,b\n")], true));
    let read = read(json!({"path": path, "compress": "zip", "skipHeader": true})).unwrap();
    assert_eq!(read.rows, rows(&[&["1", "a", ""]]));
    assert!(read.dirty[0].cause.contains(&format!("line 2 of {path} (b.csv)")), "{}", read.dirty[0].cause);
}

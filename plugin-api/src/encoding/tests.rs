//! Tests of encodings: names, and text there and back.

use super::*;

#[test]
fn encodings_have_many_names() {
    for (name, encoding) in [
        ("UTF8", "UTF-8"),
        ("utf-8", "UTF-8"),
        ("latin1", "ISO-8859-1"),
        ("ISO8859_1", "ISO-8859-1"),
        ("cp936", "GBK"),
        ("GB2312", "GBK"),
        ("gb18030", "gb18030"),
        ("EUC_CN", "GBK"),
        ("EUC-CN", "GBK"),
        ("x-mswin-936", "GBK"),
        ("EUC_KR", "EUC-KR"),
        ("MS949", "EUC-KR"),
        ("EUC_JP", "EUC-JP"),
        ("ISO8859_2", "ISO-8859-2"),
        ("8859_15", "ISO-8859-15"),
        ("Cp1251", "windows-1251"),
        ("windows-1252", "windows-1252"),
        ("utf-16le", "UTF-16LE"),
    ] {
        assert_eq!(Encoding::from_name(name).map(Encoding::name), Some(encoding), "{name}");
    }
}

#[test]
fn encodings_without_a_table_have_no_name() {
    for name in ["UTF-32", "UTF_32", "Cp037", "Cp850", "iso-2022-kr", "8859_99", "klingon", ""] {
        assert_eq!(Encoding::from_name(name), None, "{name}");
    }
}

/// Trap 36.
#[test]
fn text_becomes_bytes_and_the_bytes_that_text() {
    for (name, text, bytes) in [
        ("utf-8", "泊é", &b"\xe6\xb3\x8a\xc3\xa9"[..]),
        ("gbk", "泊", b"\xb2\xb4"),
        ("iso-8859-1", "é\u{80}", b"\xe9\x80"),
        ("us-ascii", "a", b"a"),
        ("utf-16", "é", b"\x00\xe9"),
        ("utf-16be", "é", b"\x00\xe9"),
        ("utf-16le", "é", b"\xe9\x00"),
    ] {
        let encoding = Encoding::from_name(name).unwrap();
        let mut encoded = Vec::new();
        assert_eq!(encoding.encode(text, &mut encoded), Ok(()));
        assert_eq!(encoded, bytes, "{name}");
        assert_eq!(encoding.decode(bytes).as_deref(), Some(text), "{name}");
    }
    let marked = Encoding::from_name("utf-16").unwrap();
    assert_eq!(marked.decode(b"\xff\xfe\xe9\x00").as_deref(), Some("é"));
    assert_eq!(marked.decode(b"\xfe\xff\x00\xe9").as_deref(), Some("é"));
}

/// Trap 36.
#[test]
fn what_cannot_be_converted_is_told() {
    for (name, bytes) in [
        ("utf-8", &b"a\xff"[..]),
        ("gbk", b"\xff"),
        ("us-ascii", b"\x80"),
        ("utf-16", b"\x00"),
        ("utf-16", b"\xd8\x00"),
    ] {
        assert_eq!(Encoding::from_name(name).unwrap().decode(bytes), None, "{name}");
    }
    for (name, text, lacking) in [("us-ascii", "aé", 'é'), ("latin1", "a泊", '泊'), ("gbk", "a😀", '😀')] {
        assert_eq!(Encoding::from_name(name).unwrap().encode(text, &mut Vec::new()), Err(lacking), "{name}");
    }
}

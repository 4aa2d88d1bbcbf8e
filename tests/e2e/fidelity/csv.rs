//! CSV files, written and read byte by byte: a library would not tell NULL from the text for it.

use std::path::Path;

use transship_tests::{Value as Json, json};

const NULL: &str = "\\N";

/// Parameters of a reader that takes files exactly as they are.
pub(super) fn reader(path: &Path, columns: &[Json]) -> Json {
    json!({
        "path": [path], "column": columns, "nullFormat": NULL, "nullWhenQuoted": false, "byteEncoding": "hex",
        "csvReaderConfig": { "trimWhitespace": false },
    })
}

/// Parameters of a writer of such files.
pub(super) fn writer(folder: &Path, name: &str) -> Json {
    json!({
        "path": folder, "fileName": name, "writeMode": "truncate", "fileFormat": "csv", "nullFormat": NULL, "byteEncoding": "hex",
    })
}

/// Appends a line; every value stands between quotes.
pub(super) fn push_line(lines: &mut String, cells: &[Option<String>]) {
    let cell = |cell: &Option<String>| match cell {
        Some(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        None => NULL.into(),
    };
    lines.push_str(&cells.iter().map(cell).collect::<Vec<_>>().join(","));
    lines.push('\n');
}

/// The records of a file. NULL is its marker without quotes.
pub(super) fn parse(file: &[u8]) -> Vec<Vec<Option<String>>> {
    let text = std::str::from_utf8(file).unwrap();
    let (mut records, mut record) = (Vec::new(), Vec::new());
    let mut rest = text;
    while !rest.is_empty() {
        let cell;
        (cell, rest) = take_cell(rest);
        record.push(cell);
        match rest.chars().next() {
            Some(',') => rest = &rest[1..],
            Some('\n') => {
                records.push(std::mem::take(&mut record));
                rest = &rest[1..];
            }
            other => panic!("{other:?} behind a cell"),
        }
    }
    records
}

fn take_cell(text: &str) -> (Option<String>, &str) {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap();
        return (Some(text[..end].to_string()).filter(|cell| cell != NULL), &text[end..]);
    };
    let mut cell = String::new();
    loop {
        let end = rest.find('"').unwrap();
        cell.push_str(&rest[..end]);
        match rest[end + 1..].strip_prefix('"') {
            Some(behind) => {
                cell.push('"');
                rest = behind;
            }
            None => return (Some(cell), &rest[end + 1..]),
        }
    }
}

//! What is written is read again as it was, in every dialect.

use proptest::prelude::*;

use super::*;

/// Values made of what dialects trip over.
fn cell() -> impl Strategy<Value = Option<String>> {
    let piece = prop_oneof![
        Just(","),
        Just(";"),
        Just(";;"),
        Just("\t"),
        Just(" "),
        Just("\""),
        Just("'"),
        Just("\\"),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("#"),
        Just("|"),
        Just("a"),
        Just("é"),
        Just("泊"),
        Just("null"),
        Just("\\N"),
        Just("n"),
        Just("0")
    ];
    let text = prop_oneof![
        1 => Just(String::new()),
        6 => proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat()),
    ];
    prop_oneof![1 => Just(None), 6 => text.prop_map(Some)]
}

fn table() -> impl Strategy<Value = Vec<Row>> {
    (1..4usize).prop_flat_map(|columns| proptest::collection::vec(proptest::collection::vec(cell(), columns), 1..12))
}

/// The settings of a writer, and those of a reader that reads what it wrote.
#[derive(Debug, Clone)]
struct Pair {
    writer: Value,
    reader: Value,
}

fn pairs() -> impl Strategy<Value = Pair> {
    let delimiter = prop_oneof![Just(","), Just("\t"), Just(";;"), Just("|^|"), Just("é"), Just(" ")];
    let line = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let null = prop_oneof![Just("null"), Just("\\N"), Just("")];
    let encoding = prop_oneof![3 => Just("UTF-8"), 1 => Just("GB18030"), 1 => Just("UTF-16")];
    let qualifier = prop_oneof![Just("\""), Just("'")];
    (delimiter, line, null, encoding, qualifier, 1..3u32, any::<(bool, bool)>()).prop_map(
        |(delimiter, line, null_text, encoding, qualifier, escape_mode, (force, trim))| Pair {
            writer: json!({
                "fileFormat": "csv", "fieldDelimiter": delimiter, "lineDelimiter": line,
                "nullFormat": null_text, "encoding": encoding,
                "csvWriterConfig": {"textQualifier": qualifier, "escapeMode": escape_mode, "forceQualifier": force},
            }),
            reader: json!({
                "fieldDelimiter": delimiter, "nullFormat": null_text, "nullWhenQuoted": false, "encoding": encoding,
                "csvReaderConfig": {"textQualifier": qualifier, "escapeMode": escape_mode, "trimWhitespace": trim},
            }),
        },
    )
}

/// Whether the line of a row would be empty where nothing encloses an empty text.
fn is_empty_line(row: &Row) -> bool {
    matches!(&row[..], [Some(text)] if text.is_empty())
}

/// Writes rows and reads them again.
fn there_and_back(cells: &[Row], pair: &Pair) -> (Vec<Row>, Vec<Dirty>) {
    let place = Place::new();
    let columns = cells[0].len();
    let batches: Vec<RecordBatch> = cells.chunks(5).map(|rows| batch_of(rows, columns)).collect();
    let (_, dirty, report) = write(&place, pair.writer.clone(), &batches).unwrap();
    assert_eq!(report.written as usize + dirty.len(), cells.len());
    let found = read(merge(&json!({"path": place.path("out")}), pair.reader.clone())).unwrap();
    assert_eq!(found.dirty, [], "what was written can be read");
    (found.rows, dirty)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn csv_in_every_dialect(cells in table(), pair in pairs()) {
        // A single column that is NULL and written as nothing would be an empty line.
        let unwritable = |row: &Row| pair.writer["nullFormat"] == "" && matches!(row[..], [None]);
        let kept: Vec<Row> = cells.iter().filter(|row| !unwritable(row)).cloned().collect();
        let (found, dirty) = there_and_back(&cells, &pair);
        prop_assert_eq!(dirty.len(), cells.len() - kept.len());
        prop_assert_eq!(found, kept);
    }

    #[test]
    fn backslashes_without_a_qualifier(cells in table(), delimiter in prop_oneof![Just(","), Just(";;"), Just("\t")]) {
        // There is no telling NULL from its text here.
        let without_null = |row: Row| row.into_iter().map(|cell| Some(cell.unwrap_or_default())).collect();
        let cells: Vec<Row> = cells.into_iter().map(without_null).collect();
        let pair = Pair {
            writer: json!({
                "fileFormat": "csv", "fieldDelimiter": delimiter,
                "csvWriterConfig": {"useTextQualifier": false, "escapeMode": 2},
            }),
            reader: json!({
                "fieldDelimiter": delimiter,
                "csvReaderConfig": {"useTextQualifier": false, "escapeMode": 2, "trimWhitespace": false},
            }),
        };
        let kept: Vec<Row> = cells.iter().filter(|row| !is_empty_line(row)).cloned().collect();
        let (found, dirty) = there_and_back(&cells, &pair);
        prop_assert_eq!(dirty.len(), cells.len() - kept.len());
        prop_assert_eq!(found, kept);
    }

    #[test]
    fn text_that_can_be_expressed(cells in table(), delimiter in prop_oneof![Just(","), Just(";;"), Just("\u{1}")]) {
        let pair = Pair {
            writer: json!({"fileFormat": "text", "fieldDelimiter": delimiter, "nullFormat": "\u{2}"}),
            reader: json!({
                "fieldDelimiter": delimiter,
                "nullFormat": "\u{2}",
                "csvReaderConfig": {"useTextQualifier": false, "trimWhitespace": false},
            }),
        };
        let (found, dirty) = there_and_back(&cells, &pair);
        let unwritable: Vec<u64> = dirty.iter().map(|dirty| dirty.position.unwrap()).collect();
        let breaks = |cell: &Option<String>| {
            let cell = cell.as_deref().unwrap_or("\u{2}");
            let early = format!("{cell}{delimiter}").find(delimiter) != Some(cell.len());
            cell.contains(delimiter) || cell.contains(['\n', '\r']) || early
        };
        let kept: Vec<Row> = cells.iter().filter(|row| !row.iter().any(breaks) && !is_empty_line(row)).cloned().collect();
        prop_assert_eq!(unwritable.len(), cells.len() - kept.len());
        prop_assert_eq!(found, kept);
    }

    #[test]
    fn ranges_read_what_the_whole_file_holds(
        cells in table(), repeat in 1..30usize, size in 1..400u64, packed in any::<bool>()
    ) {
        let place = Place::new();
        let cells: Vec<Row> = cells.iter().cycle().take(cells.len() * repeat).cloned().collect();
        let batch = batch_of(&cells, cells[0].len());
        write(&place, json!({"fileFormat": "csv", "nullFormat": "\\N"}), &[batch]).unwrap();
        let parameter = json!({"path": place.path("out"), "nullFormat": "\\N", "nullWhenQuoted": false});
        let options = ReadOptions { batch_records: if packed { 8192 } else { 3 }, ..ReadOptions::default() };
        let whole = read_with(parameter.clone(), 1, &options).unwrap();
        let cut = read_with(merge(&parameter, json!({"splitBytes": size})), 4, &options).unwrap();
        prop_assert_eq!(&whole.rows, &cells);
        prop_assert_eq!(&cut.rows, &cells);
        prop_assert_eq!(cut.positions, whole.positions);
        prop_assert!(cut.dirty.is_empty());
    }
}

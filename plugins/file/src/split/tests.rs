//! Tests of cutting files into ranges.

use proptest::prelude::*;

use super::*;
use crate::csv::{Cutter, Run};
use crate::dialect::Terminator;
use crate::source::Piece;

/// Where the records of a text begin, and in which line, by cutting all of it.
fn record_starts(text: &[u8], dialect: &Dialect) -> Vec<(u64, u64)> {
    let mut cutter = Cutter::new(dialect.clone());
    let mut run = Run::default();
    let (mut from, mut line) = (0, 1);
    let mut starts = Vec::new();
    while from < text.len() {
        from += cutter.cut(&text[from..], true, &mut run);
        let base = from - run.used;
        starts.extend(
            run.records.iter().map(|record| ((base + record.start as usize) as u64, line + u64::from(record.line))),
        );
        line += u64::from(run.lines);
    }
    starts
}

fn ranges(text: &[u8], dialect: &Dialect, size: u64) -> Vec<Piece> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.csv");
    std::fs::write(&path, text).unwrap();
    let found = FoundFile { path: path.to_str().unwrap().into(), size: text.len() as u64 };
    let mut cutting = Cutting::begin(&found, size, dialect).unwrap().unwrap();
    let mut ranges = Vec::new();
    while let Some(piece) = cutting.next_range(&|| true).unwrap() {
        ranges.push(piece);
    }
    ranges
}

#[test]
fn ranges_meet_at_records_and_know_their_lines() {
    let text = b"a,b\n\"x\ny\",2\nc,d\ne,f\n";
    let pieces = ranges(text, &Dialect::default(), 5);
    let told: Vec<_> = pieces.iter().map(|piece| (piece.start, piece.end.unwrap(), piece.line)).collect();
    assert_eq!(told, [(0, 12, 1), (12, 16, 4), (16, 20, 5)]);
}

/// PS-03.
#[test]
fn a_file_that_is_a_little_too_large_is_halved() {
    let sizes = |bytes: usize| {
        let pieces = ranges(&b"\n".repeat(bytes), &Dialect { skip_empty: false, ..Dialect::default() }, 10);
        pieces.iter().map(|piece| piece.end.unwrap() - piece.start).collect::<Vec<_>>()
    };
    assert_eq!(sizes(10), [10]);
    assert_eq!(sizes(11), [5, 6]);
    assert_eq!(sizes(20), [10, 10]);
    assert_eq!(sizes(21), [10, 5, 6]);
    assert_eq!(sizes(40), [10, 10, 10, 10]);
}

#[test]
fn a_quote_in_the_middle_of_a_field_opens_nothing() {
    let text = b"5\" pipe,x\n6\" pipe,y\n7\" pipe,z\n8,a\n";
    let pieces = ranges(text, &Dialect::default(), 8);
    let starts: Vec<_> = pieces.iter().map(|piece| (piece.start, piece.line)).collect();
    assert_eq!(starts, [(0, 1), (10, 2), (20, 3), (30, 4)]);
}

#[test]
fn a_quote_that_is_never_closed_leaves_the_rest_in_one_range() {
    let text = b"a\nb\nc,\"d\ne\nf\ng\nh\ni\n";
    let pieces = ranges(text, &Dialect::default(), 3);
    assert_eq!(pieces.last().unwrap().start, 4);
    assert_eq!(pieces.last().unwrap().end, Some(text.len() as u64));
}

#[test]
fn small_files_and_packed_ones_are_not_cut() {
    let file = |path: &str, size: u64| FoundFile { path: path.into(), size };
    let gib = 1 << 30;
    assert_eq!(largest_range(gib, None, 1), None);
    assert_eq!(largest_range(32 << 20, None, 8), None);
    assert_eq!(largest_range((32 << 20) + 1, None, 8), Some(32 << 20));
    assert_eq!(largest_range(gib, None, 4), Some(64 << 20));
    assert_eq!(largest_range(gib, Some(0), 4), None);
    assert_eq!(largest_range(1000, Some(100), 1), Some(100));
    assert_eq!(largest_range(100, Some(100), 1), None);
    let can = |encoding, compression| can_cut(&file("a.gz", gib), &Dialect::default(), encoding, compression);
    assert!(can(Encoding::Utf8, Compression::None));
    assert!(!can(Encoding::Utf8, Compression::Gzip));
    assert!(!can(Encoding::Utf8, Compression::BySuffix));
    assert!(!can(Encoding::from_name("gbk").unwrap(), Compression::None));
    let commented = Dialect { comment: Some(b'#'), ..Dialect::default() };
    assert!(!can_cut(&file("a", gib), &commented, Encoding::Utf8, Compression::None));
}

fn dialects() -> impl Strategy<Value = Dialect> {
    let delimiters = prop_oneof![Just(b','), Just(b'\t'), Just(b' ')];
    let terminators = prop_oneof![3 => Just(Terminator::Line), 1 => Just(Terminator::Byte(b'|'))];
    (delimiters, any::<bool>(), terminators, any::<bool>()).prop_map(|(delimiter, qualified, terminator, trim)| {
        Dialect {
            delimiter: vec![delimiter],
            qualifier: qualified.then_some(b'"'),
            terminator,
            trim,
            ..Dialect::default()
        }
    })
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => Just(b'"'),
        3 => prop_oneof![Just(b','), Just(b'\t'), Just(b' ')],
        3 => prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'|')],
        3 => Just(b'x'),
    ];
    proptest::collection::vec(byte, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn walking_in_chunks_finds_the_borders_of_cutting(
        text in texts(), dialect in dialects(), sizes in proptest::collection::vec(1..30usize, 1..20)
    ) {
        let starts = record_starts(&text, &dialect);
        let mut borders = Borders::new(&dialect).unwrap();
        let (mut chunk_start, mut at) = (0, 0);
        let mut chunks = sizes.iter().cycle();
        let mut ends = Vec::new();
        while chunk_start < text.len() {
            let chunk_end = (chunk_start + chunks.next().unwrap()).min(text.len());
            while let Some(border) = borders.next_border(&text[at..chunk_end]) {
                at += border;
                ends.push((at as u64, borders.lines + 1));
                if at == chunk_end {
                    break;
                }
            }
            at = chunk_end;
            chunk_start = chunk_end;
        }
        // Every record but the first begins at a border, with the same line; other borders are those of empty lines.
        let empty_dialect = Dialect { skip_empty: false, ..dialect.clone() };
        let all_starts = record_starts(&text, &empty_dialect);
        let behind: Vec<_> = all_starts.iter().skip(1).copied().collect();
        let found: Vec<_> = ends.iter().filter(|(end, _)| *end < text.len() as u64).copied().collect();
        prop_assert_eq!(found, behind);
        prop_assert!(starts.iter().all(|start| all_starts.contains(start)));
    }

    #[test]
    fn ranges_hold_every_record_once(
        text in texts(), dialect in dialects(), size in 1..60u64, marked in any::<bool>()
    ) {
        let mut text = text;
        if marked {
            text.splice(0..0, [0xef, 0xbb, 0xbf]);
        }
        let mark = if marked { 3 } else { 0 };
        let starts = record_starts(&text[mark..], &dialect);
        let pieces = ranges(&text, &dialect, size);
        let mut end = 0;
        let mut found = Vec::new();
        for piece in &pieces {
            prop_assert_eq!(piece.start, end);
            end = piece.end.unwrap();
            let front = if piece.start == 0 { mark } else { piece.start as usize };
            let of_piece = record_starts(&text[front..end as usize], &dialect);
            let place = |start: u64| start + front as u64 - mark as u64;
            found.extend(of_piece.iter().map(|(start, line)| (place(*start), line + piece.line - 1)));
        }
        prop_assert_eq!(end, text.len() as u64);
        prop_assert_eq!(found, starts);
    }
}

//! Tests of cutting: what each dialect makes of a text, and that both ways to cut come to the same.

use proptest::prelude::*;

use super::extended::Extended;
use super::fast::Fast;
use super::*;
use crate::dialect::{Escape, Terminator, is_blank};

/// A record as a test sees it: its fields and whether each was qualified, its line, and what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    fields: Vec<(String, bool)>,
    line: u32,
    start: usize,
    end: usize,
    problem: Option<Problem>,
}

/// All records of a text, cut from a buffer that grows by `step` bytes whenever a record is unfinished.
fn cut_in_steps(
    text: &[u8],
    dialect: &Dialect,
    step: usize,
    mut cut: impl FnMut(&[u8], bool, &mut Run),
) -> (Vec<Seen>, u32) {
    let (mut from, mut to, mut line) = (0, step.min(text.len()), 0);
    let mut seen = Vec::new();
    let mut run = Run::default();
    loop {
        let last = to == text.len();
        run.clear();
        cut(&text[from..to], last, &mut run);
        for (place, record) in run.records.iter().enumerate() {
            let problem =
                run.problems.iter().find(|(record, _)| *record as usize == place).map(|(_, problem)| *problem);
            let fields = run.fields_of(place).iter().map(|field| {
                let content = field.content(&text[from..to], &run.side, dialect.trim);
                (String::from_utf8_lossy(content).into_owned(), field.is_qualified())
            });
            seen.push(Seen {
                // What a broken record has for fields means nothing.
                fields: if problem.is_none() { fields.collect() } else { Vec::new() },
                line: line + record.line,
                start: from + record.start as usize,
                end: from + record.end as usize,
                problem,
            });
        }
        from += run.used;
        line += run.lines;
        if run.records.is_empty() {
            if last {
                assert_eq!(from, text.len(), "everything is used up at the end");
                return (seen, line);
            }
            to = (to + step).min(text.len());
        }
    }
}

fn seen(text: &[u8], dialect: &Dialect) -> Vec<Seen> {
    let mut cutter = Cutter::new(dialect.clone());
    cut_in_steps(text, dialect, text.len().max(1), |text, last, run| {
        cutter.cut(text, last, run);
    })
    .0
}

fn fields(text: &str, dialect: &Dialect) -> Vec<Vec<String>> {
    let records = seen(text.as_bytes(), dialect);
    records
        .into_iter()
        .map(|record| {
            assert_eq!(record.problem, None, "{text:?}");
            record.fields.into_iter().map(|(field, _)| field).collect()
        })
        .collect()
}

fn problems(text: &str, dialect: &Dialect) -> Vec<Option<Problem>> {
    seen(text.as_bytes(), dialect).into_iter().map(|record| record.problem).collect()
}

/// Trap 73.
#[test]
fn plain_fields_are_trimmed_and_qualified_ones_are_not() {
    let dialect = Dialect::default();
    assert_eq!(fields(" a ,\tb\t,\" c \"\n", &dialect), [["a", "b", " c "]]);
    assert_eq!(fields(" \"a,b\" , c", &dialect), [["a,b", "c"]]);
    assert_eq!(fields("a b,c", &dialect), [["a b", "c"]]);
    let keeping = Dialect { trim: false, ..Dialect::default() };
    assert_eq!(fields(" a ,\tb\t", &keeping), [[" a ", "\tb\t"]]);
}

#[test]
fn quotes_enclose_delimiters_line_ends_and_doubled_quotes() {
    let dialect = Dialect::default();
    assert_eq!(fields("1,\"a\nb\",x\r\n2,\"c\r\nd\",y\r\n", &dialect), [["1", "a\nb", "x"], ["2", "c\r\nd", "y"]]);
    assert_eq!(fields("\"a\"\"b\",\"\"\"\",\"\"", &dialect), [["a\"b", "\"", ""]]);
    assert_eq!(fields("1,5\" pipe,x\n2,ok,y\n", &dialect), [["1", "5\" pipe", "x"], ["2", "ok", "y"]]);
}

#[test]
fn every_kind_of_line_end_ends_a_record() {
    let dialect = Dialect::default();
    assert_eq!(fields("a\nb\rc\r\nd", &dialect), [["a"], ["b"], ["c"], ["d"]]);
    assert_eq!(fields("a,\n,b\n", &dialect), [["a", ""], ["", "b"]]);
    assert_eq!(fields("a,", &dialect), [["a", ""]]);
}

/// Trap 73.
#[test]
fn empty_lines_are_skipped_or_are_records() {
    let dialect = Dialect::default();
    assert_eq!(fields("\n\na\r\n\r\nb\n\n", &dialect), [["a"], ["b"]]);
    assert_eq!(fields("a\n  \nb", &dialect), [["a"], [""], ["b"]]);
    let keeping = Dialect { skip_empty: false, ..Dialect::default() };
    assert_eq!(fields("a\r\n\r\nb\n\n", &keeping), [["a"], [""], ["b"], [""]]);
}

#[test]
fn comments_are_passed_over_where_there_are_any() {
    assert_eq!(fields("#a\nb", &Dialect::default()), [["#a"], ["b"]]);
    let dialect = Dialect { comment: Some(b'#'), ..Dialect::default() };
    assert_eq!(fields("#a,\"\n  # c\nb,#\n#end", &dialect), [["b", "#"]]);
}

/// Trap 73.
#[test]
fn text_behind_a_closing_quote_is_a_problem() {
    let dialect = Dialect::default();
    assert_eq!(problems("1,\"a\"b,c\n2,b,c\n", &dialect), [Some(Problem::TextAfterQuote { field: 1 }), None]);
    assert_eq!(problems("\"a\"  ,b", &dialect), [None]);
    assert_eq!(problems("\"a\"\"b\"c\"\n", &dialect), [Some(Problem::TextAfterQuote { field: 0 })]);
}

#[test]
fn an_open_quote_at_the_end_is_a_problem_of_its_line() {
    let dialect = Dialect::default();
    assert_eq!(problems("a\n1,\"abc\n2,def\n", &dialect), [None, Some(Problem::UnclosedQuote { field: 1, line: 0 })]);
    assert_eq!(problems("\"x\ny\",\"abc\n", &dialect), [Some(Problem::UnclosedQuote { field: 1, line: 1 })]);
    assert_eq!(problems("\"", &dialect), [Some(Problem::UnclosedQuote { field: 0, line: 0 })]);
    assert_eq!(problems("\"a\"\"", &dialect), [Some(Problem::UnclosedQuote { field: 0, line: 0 })]);
}

#[test]
fn without_a_qualifier_quotes_are_characters() {
    let dialect = Dialect { qualifier: None, ..Dialect::default() };
    assert_eq!(fields("\"a,b\"\n", &dialect), [["\"a", "b\""]]);
}

#[test]
fn a_record_delimiter_of_ones_own_makes_line_ends_characters() {
    let dialect = Dialect { terminator: Terminator::Byte(b';'), ..Dialect::default() };
    assert_eq!(fields("a,b\nc;\"d;\",e;", &dialect), [["a", "b\nc"], ["d;", "e"]]);
}

#[test]
fn delimiters_of_several_bytes() {
    let dialect = |delimiter: &str| Dialect { delimiter: delimiter.as_bytes().to_vec(), ..Dialect::default() };
    assert_eq!(fields("a;;b\n1;;2\n", &dialect(";;")), [["a", "b"], ["1", "2"]]);
    assert_eq!(fields("a|^|\"b|^|\"|^||\n", &dialect("|^|")), [["a", "b|^|", "|"]]);
    assert_eq!(fields("a¦ b ¦c", &dialect("¦")), [["a", "b", "c"]]);
    assert_eq!(fields("a;b;;;c", &dialect(";;")), [["a;b", ";c"]]);
}

#[test]
fn backslash_escapes_in_qualified_fields() {
    let dialect = Dialect { escape: Escape::Backslash, ..Dialect::default() };
    assert_eq!(fields(r#"1,"name: \"x\"",a\b"#, &dialect), [["1", "name: \"x\"", r"a\b"]]);
    assert_eq!(fields(r#""\n\t\\\q\x41\u00e9\101\d065\ud83d\ude00""#, &dialect), [["\n\t\\qAéAA😀"]]);
    assert_eq!(problems(r#""\ud83dx""#, &dialect), [Some(Problem::BadEscape { field: 0 })]);
    assert_eq!(problems(r#"a,"\xzz""#, &dialect), [Some(Problem::BadEscape { field: 1 })]);
}

#[test]
fn backslash_escapes_where_there_is_no_qualifier() {
    let dialect = Dialect { escape: Escape::Backslash, qualifier: None, ..Dialect::default() };
    assert_eq!(fields("a\\,b,c\\\nd\n\\N,\"x\"", &dialect), [["a,b", "c\nd"], ["N", "\"x\""]]);
}

/// Trap 84.
#[test]
fn a_field_too_long_for_the_safety_switch_is_a_problem() {
    let dialect = Dialect { longest_field: Some(3), ..Dialect::default() };
    assert_eq!(problems("abc,éüö,abcd\nabc\n", &dialect), [Some(Problem::TooLong { field: 2 }), None]);
}

#[test]
fn lines_are_counted_over_everything() {
    let dialect = Dialect { comment: Some(b'#'), ..Dialect::default() };
    let lines: Vec<u32> = seen(b"a\n\n#c\r\nb,\"x\ny\r\nz\"\rc\n", &dialect).iter().map(|record| record.line).collect();
    assert_eq!(lines, [0, 3, 6]);
}

#[test]
fn a_record_larger_than_the_window_is_cut() {
    let long = "x".repeat(300_000);
    let dialect = Dialect::default();
    let text = format!("a,\"{long}\n\"\"{long}\"\nb,{long}\nc,d\n");
    let records = fields(&text, &dialect);
    assert_eq!(records.len(), 3);
    assert_eq!(records[0][1].len(), 600_002);
    assert_eq!(records[2], ["c", "d"]);
}

/// Dialects of the standard kind, in every combination that matters.
fn standard_dialects() -> impl Strategy<Value = Dialect> {
    let delimiters = prop_oneof![Just(b','), Just(b'\t'), Just(b' '), Just(b';')];
    let terminators = prop_oneof![3 => Just(Terminator::Line), 1 => Just(Terminator::Byte(b'|'))];
    let comments = prop_oneof![2 => Just(None), 1 => Just(Some(b'#'))];
    (delimiters, any::<bool>(), terminators, any::<bool>(), comments, any::<bool>()).prop_map(
        |(delimiter, qualified, terminator, trim, comment, skip_empty)| Dialect {
            delimiter: vec![delimiter],
            qualifier: qualified.then_some(b'"'),
            escape: Escape::Doubled,
            terminator,
            trim,
            comment,
            skip_empty,
            longest_field: None,
        },
    )
}

/// Texts of the characters that matter, in all the wrong places.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => Just(b'"'),
        4 => prop_oneof![Just(b','), Just(b'\t'), Just(b' '), Just(b';')],
        3 => prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'|')],
        1 => Just(b'#'),
        1 => Just(b'\\'),
        3 => Just(b'x'),
        1 => any::<u8>(),
    ];
    proptest::collection::vec(byte, 0..120)
}

/// The fields of all records, by the library and nothing else.
fn read_by_library(text: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv_core::Reader::new();
    let (mut output, mut ends) = (vec![0; text.len() + 1], vec![0; text.len() + 2]);
    let mut rest = text;
    let mut records = Vec::new();
    let (mut written, mut ended) = (0, 0);
    loop {
        let (result, read, count, fields) = reader.read_record(rest, &mut output[written..], &mut ends[ended..]);
        rest = &rest[read..];
        written += count;
        ended += fields;
        match result {
            csv_core::ReadRecordResult::Record => {
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let bounds = starts.zip(&ends[..ended]);
                records.push(
                    bounds.map(|(start, end)| String::from_utf8_lossy(&output[start..*end]).into_owned()).collect(),
                );
                (written, ended) = (0, 0);
            }
            csv_core::ReadRecordResult::End => return records,
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_way_and_the_careful_way_come_to_the_same(
        text in texts(), dialect in standard_dialects(), step in 1..40usize
    ) {
        let extended = Extended::new(&dialect);
        let careful = cut_in_steps(&text, &dialect, text.len().max(1), |text, last, run| extended.cut(text, last, run));
        let mut fast = Fast::new(&dialect);
        let at_once = cut_in_steps(&text, &dialect, text.len().max(1), |text, last, run| fast.cut(text, last, run));
        prop_assert_eq!(&at_once, &careful);
        let in_steps = cut_in_steps(&text, &dialect, step, |text, last, run| fast.cut(text, last, run));
        prop_assert_eq!(&in_steps, &careful);
        let careful_in_steps = cut_in_steps(&text, &dialect, step, |text, last, run| extended.cut(text, last, run));
        prop_assert_eq!(&careful_in_steps, &careful);
    }

    #[test]
    fn other_dialects_are_cut_the_same_in_steps(
        text in texts(),
        delimiter in prop_oneof![Just(","), Just(",,"), Just("; "), Just("é")],
        backslash in any::<bool>(),
        standard in standard_dialects(),
        step in 1..40usize,
    ) {
        let escape = if backslash { Escape::Backslash } else { Escape::Doubled };
        let dialect = Dialect { delimiter: delimiter.into(), escape, ..standard };
        let extended = Extended::new(&dialect);
        let at_once = cut_in_steps(&text, &dialect, text.len().max(1), |text, last, run| extended.cut(text, last, run));
        let in_steps = cut_in_steps(&text, &dialect, step, |text, last, run| extended.cut(text, last, run));
        prop_assert_eq!(at_once, in_steps);
    }

    #[test]
    fn whole_files_are_read_as_the_library_alone_reads_them(text in texts()) {
        // It knows no blanks around quotes, and takes broken records in its stride.
        let text: Vec<u8> = text.into_iter().filter(|byte| !is_blank(*byte)).collect();
        let records = seen(&text, &Dialect { trim: false, ..Dialect::default() });
        let has_mark = text.starts_with(&[0xef, 0xbb, 0xbf]);
        if !has_mark && records.iter().all(|record| record.problem.is_none()) {
            let fields = |record: Seen| record.fields.into_iter().map(|(field, _)| field).collect::<Vec<_>>();
            let records: Vec<_> = records.into_iter().map(fields).collect();
            prop_assert_eq!(records, read_by_library(&text));
        }
    }
}

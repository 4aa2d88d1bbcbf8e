//! Records written out, and read as the server does.

use proptest::prelude::*;

use super::*;

/// What the server makes of a file: `None` for NULL.
fn read_lines(bytes: &[u8]) -> Vec<Vec<Option<Vec<u8>>>> {
    let (mut records, mut fields, mut field, mut is_null) = (Vec::new(), Vec::new(), Vec::new(), false);
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => match rest.next().unwrap() {
                b'N' => is_null = true,
                b't' => field.push(b'\t'),
                b'n' => field.push(b'\n'),
                other => field.push(*other),
            },
            b'\t' | b'\n' => {
                let value = std::mem::take(&mut field);
                fields.push((!std::mem::take(&mut is_null)).then_some(value));
                if *byte == b'\n' {
                    records.push(std::mem::take(&mut fields));
                }
            }
            other => field.push(*other),
        }
    }
    records
}

fn text(value: &Option<String>) -> Sent<'_> {
    value.as_deref().map_or(Sent::Null, Sent::Text)
}

#[test]
fn values_are_told_apart_by_how_they_are_written() {
    let mut rows = Rows::new(Form::Values);
    for sent in
        [Sent::Null, Sent::Number("-1"), Sent::Plain("2024-01-01"), Sent::Text("it's\\\0"), Sent::Bytes(b"\x00it's")]
    {
        rows.push(sent);
    }
    rows.end_row();
    assert_eq!(String::from_utf8_lossy(rows.range(0..1)), r"(NULL,-1,'2024-01-01','it\'s\\\0',_binary'\0it\'s')");
}

#[test]
fn a_range_has_its_own_records_and_no_comma_before_them() {
    let mut rows = Rows::new(Form::Values);
    for number in ["1", "2", "3"] {
        rows.push(Sent::Number(number));
        rows.end_row();
    }
    assert_eq!(rows.range(0..3), b"(1),(2),(3)");
    assert_eq!(rows.range(1..3), b"(2),(3)");
    assert_eq!(rows.range(1..1), b"");
}

#[test]
fn a_record_that_was_given_up_leaves_nothing() {
    for form in [Form::Lines, Form::Values] {
        let mut rows = Rows::new(form);
        rows.push(Sent::Number("1"));
        rows.end_row();
        let before = rows.range(0..1).to_vec();
        rows.push(Sent::Text("half"));
        rows.drop_row();
        assert_eq!((rows.bytes(), rows.range(0..1)), (before.len(), &before[..]));
        rows.push(Sent::Number("2"));
        rows.end_row();
        assert!(rows.range(1..2) == b"2\n" || rows.range(1..2) == b"(2)");
    }
}

proptest! {
    #[test]
    fn a_file_says_what_the_records_say(records in prop::collection::vec(prop::collection::vec(prop::option::of(any::<String>()), 3), 0..5)) {
        let mut rows = Rows::new(Form::Lines);
        for record in &records {
            record.iter().for_each(|value| rows.push(text(value)));
            rows.end_row();
        }
        let expected: Vec<Vec<_>> = records.into_iter().map(|record| record.into_iter().map(|value| value.map(String::into_bytes)).collect()).collect();
        prop_assert_eq!(read_lines(rows.range(0..expected.len())), expected);
    }
}

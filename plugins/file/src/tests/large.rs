//! Large records among small ones: read and written whole, through no more memory than they need.

use super::*;

/// Texts of these lengths, no two alike, in which nothing needs quotes.
fn texts(lengths: &[usize]) -> Vec<String> {
    let of = |(number, length): (usize, &usize)| {
        let letters = ('a'..='z').cycle().skip(number).map(|letter| if letter == 'q' { '7' } else { letter });
        letters.take(*length).collect()
    };
    lengths.iter().enumerate().map(of).collect()
}

const LENGTHS: &[usize] = &[3, 300_000, 0, 131_072, 131_071, 700_000, 5, 5, 400_000, 1];

#[test]
fn large_values_stand_in_the_file_as_small_ones_do() {
    let texts = texts(LENGTHS);
    let cells: Vec<Vec<&str>> =
        texts.iter().enumerate().map(|(row, text)| vec![text, ["x", "NULL"][row % 2]]).collect();
    let all: Vec<&[&str]> = cells.iter().map(Vec::as_slice).collect();
    let mut expected = String::new();
    for row in &all {
        let quoted = if row[0].is_empty() { "\"\"" } else { row[0] };
        expected += &format!("{quoted},{}\n", if row[1] == "NULL" { "null" } else { row[1] });
    }
    // In one batch, where rows are large on the average, and each in a batch of its own.
    let alone: Vec<RecordBatch> = all.iter().map(|cells| batch_of(&rows(&[cells]), 2)).collect();
    for batches in [vec![batch_of(&rows(&all), 2)], alone] {
        let (content, dirty, report) = write(&Place::new(), json!({"fileFormat": "csv"}), &batches).unwrap();
        assert_eq!((dirty.len(), report.written as usize), (0, LENGTHS.len()));
        assert!(content == expected.as_bytes(), "{} bytes instead of {}", content.len(), expected.len());
    }
}

#[test]
fn statements_with_large_values_are_committed_like_others() {
    let long = "x".repeat(200_000);
    let more = json!({"fileFormat": "sql", "table": "t", "quoteChar": "", "header": ["a"], "commitSize": 2});
    let batch = batch_of(&rows(&[&[&long], &[&long], &[&long]]), 1);
    let (content, _, report) = write(&Place::new(), more, &[batch]).unwrap();
    let insert = format!("INSERT INTO t (a) VALUES('{long}');\n");
    let expected = [&insert, &insert, "commit;\n", &insert, "commit;\n"].concat();
    assert!(content == expected.as_bytes());
    assert_eq!(report.written, 3);
}

#[test]
fn large_records_are_read_whole_wherever_buffers_end() {
    let texts = texts(LENGTHS);
    for quote in ["", "\""] {
        let place = Place::new();
        let mut file = String::new();
        for (number, text) in texts.iter().enumerate() {
            file += &format!("{number},{quote}{text}{quote}\n");
        }
        let path = place.put("large.csv", &file);
        let read = read(json!({"path": path, "csvReaderConfig": {"safetySwitch": false}})).unwrap();
        let found: Vec<(String, usize)> =
            read.rows.iter().map(|row| (row[0].clone().unwrap(), row[1].as_ref().unwrap().len())).collect();
        let expected: Vec<_> =
            LENGTHS.iter().enumerate().map(|(number, length)| (number.to_string(), *length)).collect();
        assert_eq!(found, expected);
        let are_same = read.rows.iter().zip(&texts).all(|(row, text)| row[1].as_ref() == Some(text));
        assert!(are_same && read.dirty.is_empty());
    }
}

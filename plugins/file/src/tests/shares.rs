//! How much of its split a batch says is read: the place in the files' bytes, whatever is buffered ahead of it.

use super::packed::{bzip2, gzip, zip};
use super::*;

/// Records that are all about as long, so that their number tells how much is read.
fn records(count: usize) -> String {
    (0..count).map(|number| format!("{:06},{}\n", number, number * 7919 % 10_007 + 100_000)).collect()
}

/// The rows of each split and what its batches say, with batches of so many records.
fn shares(parameter: &Value, channels: u32, batch_records: usize) -> Vec<Vec<(usize, f64)>> {
    let options = ReadOptions { batch_records, ..ReadOptions::default() };
    let all = read_with(parameter.clone(), channels, &options).unwrap();
    let mut told = all.batches.iter().map(|(rows, _)| *rows).zip(all.shares);
    let by_split = all.splits.iter().map(|split| {
        let mut told_of_split = Vec::new();
        while told_of_split.last().is_none_or(|(_, share)| *share < 0.999) {
            told_of_split.push(told.next().unwrap_or_else(|| panic!("{} is never read to its end", split.label)));
        }
        told_of_split
    });
    let by_split: Vec<_> = by_split.collect();
    assert_eq!(told.next(), None, "batches behind the end of a split");
    by_split
}

/// The largest difference between what batches said and how many of the split's records had been read by then.
fn worst(splits: &[Vec<(usize, f64)>]) -> f64 {
    let of_split = |split: &Vec<(usize, f64)>| {
        let all: usize = split.iter().map(|(rows, _)| rows).sum();
        let mut read = 0;
        let differences = split.iter().map(|(rows, share)| {
            read += rows;
            (share - read as f64 / all as f64).abs()
        });
        differences.fold(0.0, f64::max)
    };
    splits.iter().map(of_split).fold(0.0, f64::max)
}

#[test]
fn the_share_of_a_file_is_that_of_its_records() {
    let place = Place::new();
    let text = records(100_000);
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let third = text.len() / 3;
    let entries = [("a", &text.as_bytes()[..14 * 100]), ("b", &text.as_bytes()[14 * 100..])];
    let cases = [
        (text.clone().into_bytes(), json!({}), 0.001),
        (utf_16, json!({"encoding": "UTF-16LE"}), 0.001),
        (gzip(text.as_bytes()), json!({"compress": "gzip"}), 0.02),
        (
            [gzip(&text.as_bytes()[..third]), gzip(&text.as_bytes()[third..])].concat(),
            json!({"compress": "gzip"}),
            0.02,
        ),
        (zip(&entries, true), json!({"compress": "zip"}), 0.001),
        (zip(&entries, false), json!({"compress": "zip"}), 0.001),
        // Its blocks are large beside it.
        (bzip2(text.as_bytes()), json!({"compress": "bzip2"}), 0.1),
        (bzip2(records(700_000).as_bytes()), json!({"compress": "bzip2"}), 0.03),
    ];
    for (content, more, tolerance) in cases {
        let path = place.put("f", content);
        for batch_records in [1_000, 3_777] {
            let told = shares(&merge(&more, json!({"path": path})), 1, batch_records);
            assert_eq!(told.len(), 1);
            assert!(worst(&told) < tolerance, "{more}: {} off, {:?}", worst(&told), told[0]);
        }
    }
}

#[test]
fn the_share_of_a_range_counts_from_its_front() {
    let place = Place::new();
    let path = place.put("f", records(50_000));
    let told = shares(&json!({"path": path, "splitBytes": 100_000, "skipHeader": true}), 4, 500);
    assert!(told.len() > 5, "{} ranges", told.len());
    assert!(worst(&told) < 0.001, "{} off", worst(&told));
}

#[test]
fn the_share_of_files_that_are_read_together_counts_those_before() {
    let place = Place::new();
    for (suffix, pack) in [("", (|text| text.to_vec()) as fn(&[u8]) -> Vec<u8>), (".gz", gzip), (".bz2", bzip2)] {
        for number in 0..70 {
            let text = records(number % 7 * 100 + 50);
            place.put(&format!("in{suffix}/{number:02}{suffix}"), pack(text.as_bytes()));
        }
        let parameter = json!({"path": place.path(&format!("in{suffix}")), "compress": "auto"});
        let told = shares(&parameter, 1, 300);
        assert_eq!(told.len(), 1);
        assert!(worst(&told) < 0.03, "{suffix}: {} off, {:?}", worst(&told), told[0]);
    }
}

#[test]
fn an_attempt_that_goes_on_tells_the_share_of_the_whole_split() {
    let place = Place::new();
    for number in 0..70 {
        place.put(&format!("in/{number:02}.gz"), gzip(records(number % 7 * 100 + 50).as_bytes()));
    }
    place.put("a.zip", zip(&[("a", records(900).as_bytes()), ("b", records(500).as_bytes())], true));
    place.put("b", records(1_000));
    for (path, more) in [("in", json!({"compress": "gzip"})), ("a.zip", json!({"compress": "zip"})), ("b", json!({}))] {
        let parameter = merge(&more, json!({"path": place.path(path)}));
        let options = ReadOptions { batch_records: 90, ..ReadOptions::default() };
        let whole = read_with(parameter.clone(), 1, &options).unwrap();
        for behind in [0, whole.batches.len() / 2, whole.batches.len() - 2] {
            let from = ReadOptions { position: Some(whole.batches[behind].1.clone()), ..options.clone() };
            let rest = read_with(parameter.clone(), 1, &from).unwrap();
            let differences =
                rest.shares.iter().zip(&whole.shares[behind + 1..]).map(|(one, other)| (one - other).abs());
            assert!(differences.fold(0.0, f64::max) < 0.01, "{path} behind batch {behind}: {:?}", rest.shares);
        }
    }
}

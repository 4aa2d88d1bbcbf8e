//! Many files in one split: each is read as if it were alone.

use proptest::prelude::*;

use super::*;

/// More files than have a split each.
const MANY: usize = 70;

/// Texts with what a reader has to keep in mind from one read to the next: quotes, line ends of two bytes, marks, long records.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        4 => "[a-z,]{0,5}",
        2 => Just("\"q,\r\n\"\"q\"".to_owned()),
        2 => prop_oneof![Just("\n".to_owned()), Just("\r\n".to_owned()), Just("\r".to_owned())],
        1 => Just("x".repeat(300)),
    ];
    let text = (any::<bool>(), proptest::collection::vec(piece, 0..12))
        .prop_map(|(marked, pieces)| format!("{}{}", if marked { "\u{feff}" } else { "" }, pieces.concat()));
    proptest::collection::vec(text, MANY)
}

/// What a person learns of a dirty record.
fn told(dirty: &[Dirty]) -> Vec<(Value, Value, Value, String)> {
    let told = dirty.iter().map(|dirty| {
        let place = &dirty.place;
        (place["file"].clone(), place["line"].clone(), place["byte"].clone(), dirty.cause.clone())
    });
    told.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_file_of_a_split_is_read_as_if_it_were_alone(texts in texts(), skip_header in any::<bool>()) {
        let place = Place::new();
        let paths: Vec<String> =
            texts.iter().enumerate().map(|(number, text)| place.put(&format!("{number:03}.csv"), text)).collect();
        let column = json!([{"index": 0, "type": "string", "name": "a"}, {"index": 1, "type": "string", "name": "b"}]);
        let parameter = json!({"column": column, "skipHeader": skip_header});
        // A record of 300 bytes is too long.
        let options = ReadOptions { max_record_bytes: 100, ..ReadOptions::default() };
        let together = read_with(merge(&parameter, json!({"path": &paths})), 1, &options);
        let alone = paths.iter().map(|path| read_with(merge(&parameter, json!({"path": path})), 1, &options));
        match (together, alone.collect::<Result<Vec<_>>>()) {
            (Ok(together), Ok(alone)) => {
                prop_assert_eq!(together.splits.len(), 1);
                prop_assert_eq!(&together.rows, &alone.iter().flat_map(|read| read.rows.clone()).collect::<Vec<_>>());
                let dirty: Vec<Dirty> = alone.into_iter().flat_map(|read| read.dirty).collect();
                prop_assert_eq!(told(&together.dirty), told(&dirty));
            }
            // A quote that is never closed ends the reading.
            (Err(together), Err(alone)) => prop_assert_eq!(together.to_string(), alone.to_string()),
            (together, alone) => prop_assert!(false, "{:?} but {:?}", together.err(), alone.err()),
        }
    }
}

#[test]
fn a_position_in_a_split_of_many_files_is_gone_on_from() {
    let place = Place::new();
    for number in 0..MANY {
        place.put(&format!("in/{number:03}.csv"), format!("{number},a\n{number},b\n"));
    }
    let parameter = json!({"path": place.path("in")});
    let options = ReadOptions { batch_records: 9, ..ReadOptions::default() };
    let whole = read_with(parameter.clone(), 1, &options).unwrap();
    assert_eq!(whole.rows.len(), 2 * MANY);
    for (number, (_, position)) in whole.batches.iter().enumerate() {
        let from = ReadOptions { position: Some(position.clone()), ..options.clone() };
        let rest = read_with(parameter.clone(), 1, &from).unwrap();
        let done = (9 * (number + 1)).min(2 * MANY);
        assert_eq!((&rest.rows[..], &rest.positions[..]), (&whole.rows[done..], &whole.positions[done..]));
    }
}

#[test]
fn several_walkers_are_given_for_folders_and_one_for_files() {
    let place = Place::new();
    let path = place.put("in/a.csv", "a\n");
    let count = |path: String| {
        let mut reader = crate::reader::new(&json!({"path": path}), Arc::new(Recorder::default())).unwrap();
        reader.prepare().unwrap();
        let request = SplitRequest { channels: 2, max: 10 };
        let mut first = reader.listing(&request).unwrap().unwrap();
        let more = reader.listing(&request).unwrap().is_some();
        assert_eq!(first.splits(&request).unwrap().len(), 1);
        assert_eq!(first.splits(&request).unwrap(), []);
        assert!(reader.listing(&request).unwrap().is_none(), "there is nothing left to be listed");
        more
    };
    assert!(count(place.path("in")));
    assert!(!count(path));
}

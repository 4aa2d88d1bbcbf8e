//! In which order records leave, and that each does once.

use serde_json::json;

use super::*;

/// FL-01.
/// FL-02.
/// FL-03.
/// FL-04.
#[test]
fn what_came_before_a_mark_leaves_before_it_and_more_than_the_capacity_passes() {
    each_mode(ALL, |mode| {
        let mut story = Story::new(json!({ "mode": mode, "capacity": 2 }), double);
        story.push(1, &[1, 2]).unwrap();
        story.flush().unwrap();
        assert_eq!(story.sorted(), [(1, Some(2), 1), (2, Some(4), 2)], "{mode}: all, before the mark");
        story.push(3, &[3, 4, 5, 6, 7, 8, 9]).unwrap();
        story.end().unwrap();
        let left = story.left();
        let expected: Vec<Left> = (3..10).map(|x| (x, Some(2 * x), x as u64)).collect();
        if mode == "ordered" {
            assert_eq!(left, expected);
        }
        let mut sorted = left;
        sorted.sort_unstable();
        assert_eq!(sorted, expected, "{mode}");
    });
}

/// FL-05: the records of one lookup go through another.
#[test]
fn lookups_follow_each_other() {
    let mut first = Story::new(json!({ "capacity": 6, "columns": [{ "name": "y", "as": "x" }] }), double);
    let mut second = Story::new(json!({ "mode": "unordered", "capacity": 3 }), double);
    first.push(0, &[5, 6, 7, 8, 9]).unwrap();
    first.end().unwrap();
    for mut batch in first.out.drain(..) {
        let doubled = batch.records().unwrap().clone();
        let plus_one: Vec<i64> = doubled.column(0).as_primitive::<Int64Type>().values().iter().map(|x| x + 1).collect();
        second.push(batch.origin.first, &plus_one).unwrap();
    }
    second.end().unwrap();
    let expected = [(11, Some(22), 0), (13, Some(26), 1), (15, Some(30), 2), (17, Some(34), 3), (19, Some(38), 4)];
    assert_eq!(second.sorted(), expected);
}

#[test]
fn in_order_a_slow_head_keeps_the_others_and_in_any_order_it_does_not() {
    each_mode(ALL, |mode| {
        let mut story = Story::new(json!({ "mode": mode, "capacity": 4 }), later);
        story.push(0, &[1, 2, 3]).unwrap();
        story.calls.take(2).complete(doubled(&[3]));
        story.calls.take(1).complete(doubled(&[2]));
        story.turn(0).unwrap();
        let early = story.found();
        story.calls.take(0).complete(doubled(&[1]));
        story.end().unwrap();
        match mode {
            "ordered" => assert_eq!((early.len(), story.found()), (0, vec![Some(2), Some(4), Some(6)])),
            _ => assert_eq!((early, story.found()), (vec![Some(6), Some(4)], vec![Some(2)])),
        }
    });
}

/// FK-01.
#[test]
fn records_of_one_key_leave_in_order_and_those_of_others_pass_them() {
    let mut story = Story::new(json!({ "mode": "key", "capacity": 2 }), later);
    // The key is x: 1 comes three times.
    story.push(0, &[1, 2, 1, 1, 2]).unwrap();
    assert_eq!(story.calls.keys(), [[1], [2]], "one of each key");
    story.calls.take(1).complete(doubled(&[2]));
    story.turn(0).unwrap();
    assert_eq!(story.left(), [(2, Some(4), 1)], "the second record is not held up by the first");
    assert_eq!(story.calls.keys(), [[1], [2], [2]]);
    for call in [0, 2, 3, 4] {
        story.calls.double_all();
        story.turn(0).unwrap();
        assert!(story.calls.count() > call);
    }
    story.end().unwrap();
    let left = story.left();
    let of_key = |key: i64| left.iter().filter(move |(x, ..)| *x == key).map(|(.., position)| *position);
    assert_eq!((of_key(1).collect::<Vec<_>>(), of_key(2).collect::<Vec<_>>()), (vec![0, 2, 3], vec![4]));
}

/// FL-32.
#[test]
fn a_record_may_find_no_row_one_or_several_and_keeps_its_position() {
    each_mode(ALL, |mode| {
        let behaviour = |keys: &[i64], answer: Answer| {
            answer.complete(rows(keys, |key| (0..key).map(|row| 10 * key + row).collect()));
            None
        };
        let mut story = Story::new(json!({ "mode": mode, "onMissing": "drop", "capacity": 1 }), behaviour);
        story.push(7, &[0, 1, 3, 0]).unwrap();
        story.end().unwrap();
        assert_eq!(story.left(), [(1, Some(10), 8), (3, Some(30), 9), (3, Some(31), 9), (3, Some(32), 9)], "{mode}");
        assert_eq!(story.step.left_out(), 2, "{mode}: what comes out does not tell");
    });
}

#[test]
fn rows_need_not_be_in_the_order_of_their_keys() {
    let behaviour = |_: &[i64], answer: Answer| {
        let rows = RecordBatch::try_new(found_columns(), vec![Arc::new(Int64Array::from(vec![30, 10, 31, 11]))]);
        answer.complete(Found::new(rows.unwrap(), vec![2, 0, 2, 0]));
        None
    };
    let mut story = Story::new(json!({ "batch": { "size": 3 } }), behaviour);
    story.push(0, &[1, 2, 3]).unwrap();
    story.end().unwrap();
    let expected = [(1, Some(10), 0), (1, Some(11), 0), (2, None, 1), (3, Some(30), 2), (3, Some(31), 2)];
    assert_eq!(story.left(), expected);
}

#[test]
fn ten_thousand_records_leave_once_each_however_their_answers_are_mixed() {
    each_mode(ALL, |mode| {
        let parameter = json!({ "mode": mode, "capacity": 64, "batch": { "size": 5 } });
        let mut story = Story::new(parameter, later);
        let (mut given, mut next) = (0, 0i64);
        while next < 10_000 {
            let many =
                story.step.records_at_once(&Batch::measured(records(&[0; 64]), Origin::default())).min(10) as i64;
            // A key comes again after 50 others.
            let xs: Vec<i64> = (next..next + many).map(|x| x % 50).collect();
            if story.calls.lock().iter().filter(|asked| asked.answer.is_some()).count() > 8 {
                // Every third open call, then all: never in the order in which they were made.
                let open: Vec<usize> =
                    (0..story.calls.count()).filter(|call| story.calls.lock()[*call].answer.is_some()).collect();
                let (some, others): (Vec<usize>, Vec<usize>) =
                    open.into_iter().rev().partition(|call| (call + given) % 3 == 0);
                given += 1;
                for call in some.into_iter().chain(others) {
                    let keys = story.calls.lock()[call].keys.clone();
                    story.calls.take(call).complete(doubled(&keys));
                }
                story.turn(1).unwrap();
                continue;
            }
            story.push(next as u64, &xs).unwrap();
            next += many;
        }
        while story.step.patience().is_some() {
            story.calls.double_all();
            story.turn(1).unwrap();
        }
        let left = story.left();
        assert!(left.iter().all(|(x, found, position)| *found == Some(2 * x) && *x == *position as i64 % 50));
        let positions: Vec<u64> = left.iter().map(|(.., position)| *position).collect();
        match mode {
            "ordered" => assert!(positions.is_sorted()),
            "key" => assert!((0..50).all(|key| positions.iter().filter(|position| *position % 50 == key).is_sorted())),
            _ => assert!(!positions.is_sorted(), "or the test would show nothing"),
        }
        let mut sorted = positions;
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..next as u64), "{mode}: each once");
    });
}

//! With a cache, a key that is under way is not asked for again: all records of it wait for the one answer.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use super::*;

fn sharing(mode: &str, behaviour: impl Fn(&[i64], Answer) -> Option<Answer> + Send + Sync + 'static) -> Story {
    let parameter = json!({
        "mode": mode, "cache": { "entries": 10 }, "capacity": 100, "timeout": "1 s", "onFailure": "null",
    });
    Story::new(parameter, behaviour)
}

#[test]
fn a_key_that_is_under_way_is_asked_for_once() {
    each_mode(ALL, |mode| {
        let mut story = sharing(mode, later);
        story.push(0, &[1, 2, 1, 1, 2]).unwrap();
        story.push(5, &[1, 3]).unwrap();
        assert_eq!(story.calls.keys(), [[1], [2], [3]], "{mode}");
        story.calls.take(0).complete(doubled(&[1]));
        story.turn(0).unwrap();
        let early = story.left();
        story.push(7, &[1]).unwrap();
        story.calls.double_all();
        story.end().unwrap();
        let late = story.left();
        let positions = |left: &[Left]| left.iter().map(|(.., position)| *position).collect::<Vec<_>>();
        match mode {
            "ordered" => assert_eq!((positions(&early), positions(&late)), (vec![0], (1..8).collect())),
            _ => assert_eq!((positions(&early), positions(&late)), (vec![0, 2, 3, 5], vec![7, 1, 4, 6])),
        }
        assert!(early.iter().chain(&late).all(|(x, found, _)| *found == Some(2 * x)));
        assert_eq!((story.calls.count(), story.figure("shared answers"), story.figure("cache hits")), (3, 4, 1));
    });
}

/// What a call fails with concerns all that wait for it: it was tried as often as the job wants.
#[test]
fn a_failure_is_shared_and_not_remembered() {
    each_mode(ALL, |mode| {
        let mut story = sharing(mode, later);
        story.push(0, &[1, 1]).unwrap();
        story.calls.take(0).fail(Error::io("it is down"));
        story.turn(0).unwrap();
        assert_eq!(story.left(), [(1, None, 0), (1, None, 1)], "{mode}");
        assert_eq!(story.figure("failures"), 2);
        story.push(2, &[1]).unwrap();
        assert_eq!(story.calls.count(), 2, "{mode}: the next record asks again");
    });
}

#[test]
fn who_waits_for_another_has_its_own_time_and_takes_over_the_call() {
    each_mode(&["ordered", "unordered"], |mode| {
        let mut story = sharing(mode, later);
        story.push(0, &[1]).unwrap();
        story.turn(400).unwrap();
        story.push(1, &[1]).unwrap();
        story.turn(400).unwrap();
        story.push(2, &[1]).unwrap();
        story.turn(200).unwrap();
        assert_eq!(story.left(), [(1, None, 0)], "{mode}: a second after it came");
        story.turn(400).unwrap();
        assert_eq!(story.left(), [(1, None, 1)], "{mode}: and so the next");
        story.calls.take(0).complete(doubled(&[1]));
        story.turn(0).unwrap();
        assert_eq!(story.left(), [(1, Some(2), 2)], "{mode}: the first call was in time for the third");
        let figures = ["calls", "time-outs", "late answers", "shared answers"].map(|name| story.figure(name));
        assert_eq!(figures, [1, 2, 0, 2], "{mode}");
        story.end().unwrap();
        assert_eq!((story.step.patience(), story.left()), (None, vec![]), "{mode}: no alarm is left");
    });
}

/// Each has its whole time from the moment at which it is the one that is called.
#[test]
fn in_key_order_the_next_takes_over_the_call() {
    let mut story = sharing("key", later);
    story.push(0, &[1, 1, 1]).unwrap();
    story.turn(1000).unwrap();
    assert_eq!(story.left(), [(1, None, 0)]);
    story.turn(999).unwrap();
    story.calls.take(0).complete(doubled(&[1]));
    story.turn(0).unwrap();
    assert_eq!(story.left(), [(1, Some(2), 1), (1, Some(2), 2)]);
    assert_eq!(story.calls.count(), 1);
}

#[test]
fn a_call_whose_last_record_is_over_time_is_not_wanted_and_the_next_record_asks_anew() {
    let mut story = sharing("unordered", later);
    story.push(0, &[1, 1]).unwrap();
    story.turn(1000).unwrap();
    assert_eq!(story.left().len(), 2);
    let late = story.calls.take(0);
    assert!(!late.is_wanted());
    story.push(2, &[1]).unwrap();
    late.complete(doubled(&[1]));
    story.turn(0).unwrap();
    assert_eq!((story.left(), story.calls.count()), (vec![], 2));
    story.calls.double_all();
    story.turn(0).unwrap();
    assert_eq!(story.left(), [(1, Some(2), 2)]);
}

/// While the first rests before its next attempt, its time is over: the next rests on in its place.
#[test]
fn a_pause_goes_on_for_the_next() {
    let retry = json!({ "strategy": "fixed", "max": 3, "delay": "300 ms", "on": "error" });
    let parameter = json!({
        "mode": "unordered", "cache": { "entries": 10 }, "capacity": 10, "timeout": "1 s", "retry": retry,
        "onFailure": "null",
    });
    let mut story = Story::new(parameter, later);
    story.push(0, &[1]).unwrap();
    story.turn(100).unwrap();
    story.push(1, &[1]).unwrap();
    story.turn(700).unwrap();
    story.calls.take(0).fail(Error::io("slow"));
    story.turn(0).unwrap();
    story.turn(200).unwrap();
    assert_eq!((story.left(), story.calls.count()), (vec![(1, None, 0)], 1));
    story.turn(99).unwrap();
    assert_eq!(story.calls.count(), 1);
    story.turn(1).unwrap();
    assert_eq!((story.left(), story.calls.count()), (vec![(1, None, 1)], 1), "its own time is over as well");
    story.push(2, &[1]).unwrap();
    assert_eq!(story.calls.count(), 2);
}

/// Whatever comes in between: time-outs, failures, answers in any order, marks.
#[test]
fn each_record_leaves_once_and_no_key_is_asked_for_twice_at_a_time() {
    each_mode(ALL, |mode| {
        let mut random = StdRng::seed_from_u64(7);
        let mut story = sharing(mode, later);
        let (mut next, mut left) = (0u64, Vec::new());
        while next < 5_000 {
            // Not more than there is room for: nobody else answers.
            if story.step.records_at_once(&Batch::measured(records(&[0; 100]), Origin::default())) > 25 {
                let count = random.random_range(1..10);
                let xs: Vec<i64> = (0..count).map(|_| random.random_range(0..40)).collect();
                story.push(next, &xs).unwrap();
                next += count;
            }
            let open: Vec<usize> =
                (0..story.calls.count()).filter(|call| story.calls.lock()[*call].answer.is_some()).collect();
            let mut wanted: Vec<i64> = Vec::new();
            for call in &open {
                let asked = story.calls.lock();
                if asked[*call].answer.as_ref().unwrap().is_wanted() {
                    wanted.extend(&asked[*call].keys);
                }
            }
            let count = wanted.len();
            wanted.sort_unstable();
            wanted.dedup();
            assert_eq!(wanted.len(), count, "{mode}: a key is asked for twice at a time");
            for call in open {
                let keys = story.calls.lock()[call].keys.clone();
                match random.random_range(0..20) {
                    0 => story.calls.take(call).fail(Error::io("it is down")),
                    1..5 => story.calls.take(call).complete(doubled(&keys)),
                    _ => {}
                }
            }
            story.turn(random.random_range(0..400)).unwrap();
            left.extend(story.left());
        }
        while story.step.patience().is_some() {
            story.calls.double_all();
            story.turn(1000).unwrap();
        }
        story.end().unwrap();
        left.extend(story.left());
        assert!(left.iter().all(|(x, found, _)| found.is_none_or(|found| found == 2 * x)), "{mode}");
        let found = left.iter().filter(|(_, found, _)| found.is_some()).count();
        assert!(found > 1_000 && found < left.len(), "{mode}: {found}");
        let in_order = |left: &[Left]| left.is_sorted_by_key(|(.., position)| *position);
        match mode {
            "ordered" => assert!(in_order(&left)),
            "key" => assert!((0..40).all(|key| {
                let of_key: Vec<Left> = left.iter().copied().filter(|(x, ..)| *x == key).collect();
                in_order(&of_key)
            })),
            _ => {}
        }
        let mut positions: Vec<u64> = left.iter().map(|(.., position)| *position).collect();
        positions.sort_unstable();
        assert!(positions.iter().copied().eq(0..next), "{mode}: each once");
    });
}

//! Attempts after the first.

use std::collections::HashMap;

use serde_json::json;

use super::*;

fn twice(on: &str) -> Value {
    json!({ "strategy": "fixed", "max": 2, "delay": "10 ms", "on": on })
}

/// FL-16.
/// FL-17.
#[test]
fn what_finds_nothing_is_looked_up_again_as_often_as_it_may() {
    each_mode(ALL, |mode| {
        let odd_empty = |keys: &[i64], answer: Answer| {
            answer.complete(rows(keys, |key| if key % 2 == 0 { vec![2 * key] } else { vec![] }));
            None
        };
        let parameter = json!({ "mode": mode, "capacity": 6, "retry": twice("missing"), "onMissing": "drop" });
        let mut story = Story::new(parameter, odd_empty);
        story.push(1, &[1, 2, 3, 4, 5, 6]).unwrap();
        (0..2).for_each(|_| story.turn(10).unwrap());
        assert_eq!(story.sorted(), [(2, Some(4), 2), (4, Some(8), 4), (6, Some(12), 6)], "{mode}");
        story.end().unwrap();
        assert!(story.left().is_empty());
        let mut calls: HashMap<i64, usize> = HashMap::new();
        story.calls.keys().iter().flatten().for_each(|key| *calls.entry(*key).or_default() += 1);
        assert_eq!((calls[&1], calls[&2], calls[&3], calls[&5]), (3, 1, 3, 3));
        assert_eq!(story.figure("retries"), 6);
    });
}

/// FL-18.
#[test]
fn the_time_out_covers_all_attempts() {
    each_mode(ALL, |mode| {
        let retry = json!({ "strategy": "fixed", "max": 5, "delay": "100 ms", "on": "error" });
        let parameter = json!({ "mode": mode, "capacity": 10, "timeout": "1 s", "retry": retry, "onFailure": "null" });
        let mut story = Story::new(parameter, later);
        story.push(1, &[1, 2]).unwrap();
        story.turn(501).unwrap();
        (0..2).for_each(|call| story.calls.take(call).fail(Error::io("slow")));
        // The second attempts would be answered 501 ms after they began.
        story.turn(0).unwrap();
        story.turn(100).unwrap();
        assert_eq!(story.calls.count(), 4);
        assert!(story.left().is_empty());
        story.turn(399).unwrap();
        assert_eq!(story.sorted(), [(1, None, 1), (2, None, 2)], "{mode}: a second after they came");
        (2..4).for_each(|call| story.calls.take(call).fail(Error::io("slow")));
        story.turn(200).unwrap();
        assert_eq!((story.calls.count(), story.step.patience()), (4, None), "and that is the end of it");
    });
}

/// FL-37.
#[test]
fn an_attempt_that_runs_at_the_end_is_the_last_one() {
    let mut story = Story::new(json!({ "retry": twice("error"), "onFailure": "null" }), later);
    story.push(0, &[1]).unwrap();
    story.calls.take(0).fail(Error::io("once"));
    story.turn(0).unwrap();
    story.turn(10).unwrap();
    assert_eq!(story.calls.count(), 2);
    story.step.end();
    assert_eq!(story.calls.count(), 2, "no second call beside it");
    story.calls.take(1).fail(Error::io("twice"));
    story.flush().unwrap();
    assert_eq!((story.left(), story.calls.count()), (vec![(1, None, 0)], 2));
}

/// FL-39.
#[test]
fn at_the_end_nobody_waits_for_a_pause() {
    let once = |keys: &[i64], answer: Answer| match keys {
        [1] => {
            answer.fail(Error::io("not yet").retryable(true));
            None
        }
        _ => double(keys, answer),
    };
    let retry = json!({ "delay": "1 h", "cap": "1 h" });
    let parameter = json!({ "retry": retry, "timeout": "2 h", "onFailure": "null" });
    each_mode(ALL, |mode| {
        let mut parameter = parameter.clone();
        parameter["mode"] = json!(mode);
        let mut story = Story::new(parameter, once);
        story.push(0, &[1, 2]).unwrap();
        story.turn(0).unwrap();
        assert_eq!(story.calls.count(), 2);
        story.end().unwrap();
        assert_eq!((story.sorted(), story.calls.count()), (vec![(1, None, 0), (2, Some(4), 1)], 3), "{mode}");
    });
}

#[test]
fn only_what_the_job_names_is_tried_again() {
    let calls = |on: Value, error: fn() -> Error| {
        let fail = move |_: &[i64], answer: Answer| {
            answer.fail(error());
            None
        };
        let retry = json!({ "strategy": "fixed", "max": 1, "delay": "1 ms", "on": on });
        let mut story = Story::new(json!({ "retry": retry, "onFailure": "null" }), fail);
        story.push(0, &[1]).unwrap();
        story.turn(1).unwrap();
        story.calls.count()
    };
    let io = || Error::io("broken").retryable(false);
    let retryable = || Error::data("busy").retryable(true);
    assert_eq!(
        (calls(json!(null), io), calls(json!(null), retryable)),
        (1, 2),
        "where the lookup says that it may help"
    );
    assert_eq!((calls(json!("io"), io), calls(json!("io"), retryable)), (2, 1));
    assert_eq!((calls(json!(["error"]), io), calls(json!(["data", "connect"]), io)), (2, 1));
}

#[test]
fn while_a_record_rests_it_keeps_its_place() {
    let mut story = Story::new(json!({ "capacity": 2, "retry": twice("error") }), later);
    story.push(0, &[1, 2]).unwrap();
    story.calls.take(0).fail(Error::io("once"));
    story.calls.take(1).complete(doubled(&[2]));
    story.turn(0).unwrap();
    assert!(story.left().is_empty(), "2 is done, but stands behind 1");
    assert_eq!(story.step.records_at_once(&Batch::measured(records(&[3, 4]), Origin::default())), 1, "it is full");
    story.turn(10).unwrap();
    story.calls.double_all();
    story.turn(0).unwrap();
    assert_eq!(story.found(), [Some(2), Some(4)]);
}

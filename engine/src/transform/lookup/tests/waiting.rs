//! Time-outs, failures, and waiting for room.

use std::thread;

use serde_json::json;

use super::*;

fn message(result: Result<()>) -> String {
    result.unwrap_err().message().to_string()
}

/// FL-08.
#[test]
fn a_time_out_fails_the_task_and_names_the_key() {
    let mut story = Story::new(json!({ "capacity": 2, "timeout": "10 ms" }), later);
    story.push(0, &[1]).unwrap();
    story.turn(5).unwrap();
    story.push(5, &[2]).unwrap();
    story.turn(4).unwrap();
    assert_eq!(message(story.turn(2)), "test for x = 1: no answer within 10ms (1 attempt)");
    assert_eq!(story.figure("time-outs"), 1);
}

/// FL-09.
#[test]
fn a_time_out_may_leave_columns_without_values() {
    let mut story = Story::new(json!({ "capacity": 2, "timeout": "10 ms", "onFailure": "null" }), later);
    story.push(0, &[1]).unwrap();
    story.turn(5).unwrap();
    story.push(5, &[2]).unwrap();
    story.turn(6).unwrap();
    story.calls.double_all();
    story.end().unwrap();
    assert_eq!(story.left(), [(1, None, 0), (2, Some(4), 5)], "the late answer for 1 is thrown away");
    assert_eq!((story.figure("late answers"), story.figure("failures")), (1, 1));
}

/// FL-10.
#[test]
fn no_alarm_is_left_behind() {
    let mut story = Story::new(json!({ "mode": "unordered", "capacity": 1, "timeout": "1 s" }), double);
    story.push(1, &[42]).unwrap();
    story.end().unwrap();
    assert_eq!((story.left(), story.step.patience()), (vec![(42, Some(84), 1)], None));
}

/// FL-11.
#[test]
fn an_answer_that_came_in_time_counts_though_it_is_looked_at_late() {
    each_mode(ALL, |mode| {
        let mut story = Story::new(json!({ "mode": mode, "timeout": "10 ms" }), later);
        story.push(0, &[1]).unwrap();
        story.calls.double_all();
        story.turn(1000).unwrap();
        assert_eq!((story.found(), story.figure("time-outs")), (vec![Some(2)], 0), "{mode}");
    });
}

/// FL-12.
#[test]
fn an_error_fails_the_task_with_and_without_retry() {
    each_mode(ALL, |mode| {
        for retry in [json!(null), json!({ "strategy": "fixed", "max": 2, "delay": "10 ms", "on": "error" })] {
            let attempts = if retry.is_null() { 1 } else { 3 };
            let mut story = Story::new(json!({ "mode": mode, "retry": retry }), err);
            let mut failure = story.push(0, &[1]).err();
            while failure.is_none() && story.calls.count() < 10 {
                failure = story.turn(10).err();
            }
            let failure = failure.unwrap();
            assert_eq!(failure.message(), "test for x = 1: it is down");
            assert!(failure.is_retryable(), "as the lookup said");
            assert_eq!(story.calls.count(), attempts);
        }
    });
}

/// FL-13.
/// FL-35.
#[test]
fn a_lookup_that_never_answers_is_over_with_the_time_and_not_tried_again() {
    each_mode(ALL, |mode| {
        for on in ["missing", "error"] {
            let retry = json!({ "strategy": "fixed", "max": 2, "delay": "1 ms", "on": ["retryable", on] });
            let mut story =
                Story::new(json!({ "mode": mode, "capacity": 2, "timeout": "10 ms", "retry": retry }), later);
            story.push(0, &[1]).unwrap();
            assert!(message(story.turn(10)).contains("no answer within 10ms"), "{mode}");
            assert_eq!(story.calls.count(), 1);
            assert!(!story.calls.take(0).is_wanted(), "and the lookup can know");
        }
    });
}

/// FL-28.
#[test]
fn a_failure_does_not_wait_for_its_turn() {
    let mut story = Story::new(json!({}), later);
    story.push(0, &[1, 2]).unwrap();
    story.calls.take(1).fail(Error::data("no such thing"));
    assert_eq!(message(story.turn(0)), "test for x = 2: no such thing");
}

/// FL-40.
#[test]
fn an_answer_that_is_dropped_is_a_failure() {
    let forget = |_: &[i64], answer: Answer| {
        drop(answer);
        None
    };
    let mut story = Story::new(json!({}), forget);
    assert_eq!(message(story.push(0, &[1])), "test for x = 1: the lookup dropped its call and gave no answer");
    let mut story = Story::new(json!({ "onFailure": "dirty" }), forget);
    story.push(3, &[1]).unwrap();
    story.end().unwrap();
    assert_eq!(story.dirty(), [(3, "the lookup failed: the lookup dropped its call and gave no answer".into())]);
}

/// FL-41.
#[test]
fn a_dirty_record_leaves_no_gap_in_the_order_of_the_others() {
    each_mode(ALL, |mode| {
        let some_fail = |keys: &[i64], answer: Answer| {
            let mut found = rows(keys, |key| if key % 3 == 0 { vec![] } else { vec![2 * key] });
            let third = keys.iter().enumerate().filter(|(_, key)| *key % 3 == 0);
            found.failed = third.map(|(index, key)| (index as u32, Error::data(format!("{key} is a third")))).collect();
            answer.complete(found);
            None
        };
        let mut story = Story::new(json!({ "mode": mode, "onFailure": "dirty", "batch": { "size": 4 } }), some_fail);
        story.push(1, &[1, 2, 3, 4, 5, 6]).unwrap();
        story.end().unwrap();
        assert_eq!(story.left(), [1, 2, 4, 5].map(|x| (x, Some(2 * x), x as u64)), "{mode}");
        let dirty = [3, 6].map(|x| (x as u64, format!("the lookup failed: {x} is a third")));
        assert_eq!(story.dirty(), dirty);
        let host = Witness { limit: Some(0), ..Witness::default() };
        let mut story = Story::with(json!({ "mode": mode, "onFailure": "dirty" }), some_fail, usize::MAX, host);
        assert_eq!(
            story.push(0, &[3]).unwrap_err().kind(),
            transship_plugin_api::Kind::Cancelled,
            "the limit is reached"
        );
    });
}

#[test]
fn a_key_that_is_not_found_ends_as_the_job_wants_it() {
    let nothing = |_: &[i64], answer: Answer| {
        answer.complete(Found::nothing(found_columns()));
        None
    };
    let with = |on_missing: &str| {
        let mut story = Story::new(json!({ "onMissing": on_missing }), nothing);
        let result = story.push(4, &[1]).and_then(|()| story.end());
        (story.left(), story.dirty().len(), result.map_err(|error| error.message().to_string()))
    };
    assert_eq!(with("null"), (vec![(1, None, 4)], 0, Ok(())));
    assert_eq!(with("drop"), (vec![], 0, Ok(())));
    assert_eq!(with("dirty"), (vec![], 1, Ok(())));
    assert_eq!(with("fail"), (vec![], 0, Err("nothing was found for x = 1".into())));
}

#[test]
fn a_key_with_null_is_not_looked_up() {
    each_mode(ALL, |mode| {
        let mut story = Story::new(json!({ "mode": mode }), double);
        story.push(0, &[1, i64::MIN, 2]).unwrap();
        story.end().unwrap();
        assert_eq!(story.sorted(), [(i64::MIN, None, 1), (1, Some(2), 0), (2, Some(4), 2)], "{mode}");
        assert_eq!(story.calls.keys(), [[1], [2]]);
    });
}

/// A full queue waits for an answer, and goes on with it.
#[test]
fn who_waits_for_room_is_woken_by_an_answer_from_another_thread() {
    each_mode(ALL, |mode| {
        let mut story = Story::new(json!({ "mode": mode, "capacity": 1, "batch": { "size": 1 } }), later);
        let calls = story.calls.clone();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut answered = 0;
                while answered < 100 {
                    answered += calls.double_all();
                    thread::yield_now();
                }
            });
            story.push(0, &(0..100).collect::<Vec<_>>()).unwrap();
            story.end().unwrap();
        });
        assert_eq!(story.sorted(), (0..100).map(|x| (x, Some(2 * x), x as u64)).collect::<Vec<_>>(), "{mode}");
    });
}

/// FL-15.
#[test]
fn who_waits_is_woken_when_the_attempt_is_given_up() {
    each_mode(ALL, |mode| {
        let mut story = Story::new(json!({ "mode": mode, "capacity": 5 }), later);
        story.push(0, &[1, 2]).unwrap();
        let cancel = story.step.cancel_handle().unwrap();
        let failure = thread::scope(|scope| {
            scope.spawn(move || cancel());
            story.end().unwrap_err()
        });
        assert_eq!(failure.kind(), transship_plugin_api::Kind::Cancelled);
        story.calls.double_all();
        assert!(story.step.poll(&mut story.out).is_err() && story.left().is_empty(), "{mode}: nothing leaves any more");
    });
}

//! What is remembered is not asked for again.

use serde_json::json;

use super::*;

fn remembering(cache: Value) -> Story {
    let only_even = |keys: &[i64], answer: Answer| {
        answer.complete(rows(keys, |key| if key % 2 == 0 { vec![2 * key, 2 * key + 1] } else { vec![] }));
        None
    };
    Story::new(json!({ "cache": cache, "capacity": 100 }), only_even)
}

#[test]
fn a_key_is_asked_for_once_while_it_is_remembered_found_or_not() {
    let mut story = remembering(json!({ "entries": 10 }));
    for _ in 0..3 {
        story.push(0, &[2, 3]).unwrap();
        story.end().unwrap();
        assert_eq!(story.left(), [(2, Some(4), 0), (2, Some(5), 0), (3, None, 1)]);
    }
    assert_eq!(story.calls.keys(), [[2], [3]]);
    assert_eq!((story.figure("cache hits"), story.figure("cache misses")), (4, 2));
}

#[test]
fn the_least_recently_used_key_leaves_first() {
    let mut story = remembering(json!({ "entries": 2 }));
    for x in [2, 4, 2, 6, 2, 4] {
        story.push(0, &[x]).unwrap();
    }
    assert_eq!(story.calls.keys(), [[2], [4], [6], [4]]);
}

#[test]
fn what_was_found_counts_no_longer_than_it_may() {
    let mut story = remembering(json!({ "entries": 10, "timeToLive": "10 s" }));
    story.push(0, &[2]).unwrap();
    story.turn(9_999).unwrap();
    story.push(1, &[2]).unwrap();
    assert_eq!(story.calls.count(), 1);
    story.turn(1).unwrap();
    story.push(2, &[2]).unwrap();
    assert_eq!(story.calls.count(), 2, "since it was found, not since it was used");
}

#[test]
fn that_there_is_nothing_is_forgotten_where_the_job_says_so() {
    let mut story = remembering(json!({ "entries": 10, "missing": false }));
    story.push(0, &[2]).unwrap();
    story.push(1, &[3]).unwrap();
    story.push(2, &[2]).unwrap();
    story.push(3, &[3]).unwrap();
    assert_eq!(story.calls.keys(), [[2], [3], [3]]);
}

#[test]
fn failures_are_not_remembered() {
    let mut story = Story::new(json!({ "cache": { "entries": 10 }, "onFailure": "null" }), err);
    story.push(0, &[1]).unwrap();
    story.push(1, &[1]).unwrap();
    assert_eq!(story.calls.count(), 2);
}

//! An attempt that is given up, and the one after it.

use serde_json::json;

use super::*;

/// FL-06.
/// FL-14.
/// FL-34.
/// FK-03.
/// FK-04.
#[test]
fn a_new_attempt_looks_everything_up_again_whatever_the_last_one_left() {
    each_mode(ALL, |mode| {
        let mut given_up = Story::new(json!({ "mode": mode, "capacity": 10 }), later);
        given_up.push(0, &(0..10).collect::<Vec<_>>()).unwrap();
        let calls = given_up.calls.clone();
        assert_eq!(calls.count(), 10);
        drop(given_up);
        let late = calls.take(0);
        assert!(!late.is_wanted());
        late.complete(doubled(&[0]));
        for capacity in [3, 10, 40] {
            let mut again = Story::new(json!({ "mode": mode, "capacity": capacity }), double);
            again.push(0, &(0..10).collect::<Vec<_>>()).unwrap();
            again.push(10, &[10, 11]).unwrap();
            again.end().unwrap();
            assert_eq!(again.sorted(), (0..12).map(|x| (x, Some(2 * x), x as u64)).collect::<Vec<_>>(), "{mode}");
        }
    });
}

#[test]
fn tasks_share_one_lookup_which_is_prepared_once() {
    let mut first = Story::new(json!({}), double);
    let mut step = make(&json!({ "lookup": "test", "key": "x" }), Some(&first.shared), first.host.clone()).unwrap();
    step.schema(records(&[]).schema()).unwrap();
    first.push(0, &[1]).unwrap();
    step.push(Batch::measured(records(&[2]), Origin::from(0)), &mut Vec::new()).unwrap();
    assert_eq!(first.calls.keys(), [[1], [2]], "both calls went to one object");
    assert_eq!(first.figure("keys"), 2);

    let other = Arc::new(Schema::new(vec![Field::new("x", DataType::Utf8, true)]));
    let mut step = make(&json!({ "lookup": "test", "key": "x" }), Some(&first.shared), first.host.clone()).unwrap();
    let refused = step.schema(other).unwrap_err();
    assert_eq!(refused.message(), "the key columns are (x Utf8) here, but (x Int64) elsewhere");
}

#[test]
fn a_plugin_that_breaks_the_contract_fails_the_task_whatever_failures_do() {
    let broken = |answers: fn() -> Found| {
        let behaviour = move |_: &[i64], answer: Answer| {
            answer.complete(answers());
            None
        };
        let mut story = Story::new(json!({ "onFailure": "null" }), behaviour);
        story.push(0, &[1]).unwrap_err().message().to_string()
    };
    let too_few_keys = || Found::new(rows(&[1], |_| vec![1, 2]).rows, vec![0]);
    let strange_key = || Found::new(rows(&[1], |_| vec![1]).rows, vec![1]);
    let strange_failure = || {
        let mut found = Found::nothing(found_columns());
        found.failed.push((7, Error::io("")));
        found
    };
    let other_columns = || Found::nothing(Arc::new(Schema::new(vec![Field::new("y", DataType::Utf8, true)])));
    assert_eq!(broken(too_few_keys), "the lookup broke its contract: it found 2 rows, but told the keys of 1");
    assert_eq!(broken(strange_key), "the lookup broke its contract: it answered for key 1 of a call with 1 keys");
    assert_eq!(broken(strange_failure), "the lookup broke its contract: it answered for key 7 of a call with 1 keys");
    assert!(broken(other_columns).starts_with("the lookup broke its contract: it found rows of"));
}

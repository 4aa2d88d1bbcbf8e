//! How keys go together into calls.

use serde_json::json;

use super::*;

fn sizes(story: &Story) -> Vec<usize> {
    story.calls.keys().iter().map(Vec::len).collect()
}

/// FB-01.
/// FB-02.
#[test]
fn calls_are_as_large_as_they_may_be_and_the_last_one_is_what_is_left() {
    each_mode(ALL, |mode| {
        for (size, expected) in [(3, vec![3, 2]), (1, vec![1; 5]), (10, vec![5])] {
            let parameter = json!({ "mode": mode, "batch": { "size": size, "linger": "1 h" } });
            let mut story = Story::new(parameter, double);
            story.push(0, &[1, 2]).unwrap();
            story.push(2, &[3, 4, 5]).unwrap();
            story.end().unwrap();
            assert_eq!(sizes(&story), expected, "{mode}");
            assert_eq!(story.sorted(), (1..6).map(|x| (x, Some(2 * x), x as u64 - 1)).collect::<Vec<_>>());
        }
    });
    let mut story = Story::new(json!({}), double);
    story.end().unwrap();
    assert_eq!(sizes(&story), [0; 0], "without records no call");
}

#[test]
fn a_lookup_gets_no_more_keys_than_it_takes() {
    let parameter = json!({ "batch": { "size": 10 } });
    let mut story = Story::with(parameter, double, 2, Witness::default());
    story.push(0, &[1, 2, 3, 4, 5]).unwrap();
    story.end().unwrap();
    assert_eq!(sizes(&story), [2, 2, 1]);
}

#[test]
fn by_default_a_call_is_a_quarter_of_the_capacity() {
    let mut story = Story::new(json!({ "capacity": 8, "batch": {} }), double);
    story.push(0, &[1, 2, 3, 4, 5]).unwrap();
    story.end().unwrap();
    assert_eq!(sizes(&story), [2, 2, 1]);
}

/// FB-03.
/// FB-04.
/// FB-05.
#[test]
fn a_key_waits_for_others_no_longer_than_the_linger() {
    let with = |size: usize, linger: &str| Story::new(json!({ "batch": { "size": size, "linger": linger } }), double);
    let mut story = with(10, "50 ms");
    story.push(0, &[1]).unwrap();
    story.turn(49).unwrap();
    assert_eq!(story.calls.count(), 0);
    assert_eq!(story.step.patience(), Some(Duration::from_millis(1)));
    story.turn(1).unwrap();
    assert_eq!((sizes(&story), story.found()), (vec![1], vec![Some(2)]));

    let mut story = with(2, "1 h");
    story.push(0, &[1, 2]).unwrap();
    assert_eq!(sizes(&story), [2]);
    (0..5).for_each(|_| story.turn(3_600_000).unwrap());
    assert_eq!(sizes(&story), [2]);

    let mut story = with(3, "100 ms");
    story.push(0, &[1, 2, 3]).unwrap();
    story.turn(200).unwrap();
    story.push(3, &[4]).unwrap();
    story.turn(99).unwrap();
    assert_eq!(sizes(&story), [3], "it waits since it came, not since the last call");
    story.turn(1).unwrap();
    story.turn(99).unwrap();
    story.push(4, &[5, 6, 7]).unwrap();
    assert_eq!(sizes(&story), [3, 1, 3]);
}

#[test]
fn a_full_queue_waits_for_nobody_to_be_called_with() {
    let mut story = Story::new(json!({ "capacity": 3, "batch": { "size": 3, "linger": "1 h" } }), later);
    story.push(0, &[1, 2]).unwrap();
    assert_eq!(story.calls.count(), 0);
    story.flush_partly();
    assert_eq!(sizes(&story), [2], "at a mark, nor does anybody there");
}

impl Story {
    /// A flush whose answers are given by another thread.
    fn flush_partly(&mut self) {
        let calls = self.calls.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while calls.count() == 0 {
                    std::thread::yield_now();
                }
                calls.double_all();
            });
            self.flush().unwrap();
        });
    }
}

/// FB-07.
/// FB-09.
#[test]
fn a_call_that_fails_is_made_again_for_all_its_keys() {
    let run = |failures: usize, most: u32, on: &str| {
        let count = Arc::new(Mutex::new(0));
        let seen = count.clone();
        let fails_first = move |keys: &[i64], answer: Answer| {
            let mut count = seen.lock().unwrap();
            *count += 1;
            if *count <= failures {
                answer.fail(Error::io("not yet"));
                return None;
            }
            double(keys, answer)
        };
        let retry = json!({ "strategy": "fixed", "max": most, "delay": "10 ms", "on": on });
        let mut story = Story::new(json!({ "batch": { "size": 3 }, "retry": retry, "timeout": "5 s" }), fails_first);
        let mut result = story.push(0, &[1, 2, 3]);
        for _ in 0..5 {
            result = result.and_then(|()| story.turn(10));
        }
        (sizes(&story), story.found().len(), story.figure("retries"), result.is_ok())
    };
    assert_eq!(run(0, 3, "error"), (vec![3], 3, 0, true), "all is well at once");
    assert_eq!(run(2, 3, "error"), (vec![3, 3, 3], 3, 6, true));
    assert_eq!(run(9, 2, "error"), (vec![3, 3, 3], 0, 6, false), "the retries are used up");
    assert_eq!(run(1, 3, "connect"), (vec![3], 0, 0, false), "another kind of error");
}

/// FB-08.
/// FB-09.
#[test]
fn a_call_that_hangs_is_over_with_the_time_of_its_keys() {
    let parameter = |on_failure: &str| {
        let retry = json!({ "strategy": "fixed", "max": 2, "delay": "10 ms", "on": "error" });
        json!({ "batch": { "size": 2 }, "timeout": "50 ms", "retry": retry, "onFailure": on_failure })
    };
    let mut story = Story::new(parameter("dirty"), later);
    story.push(0, &[1, 2]).unwrap();
    story.calls.take(0).fail(Error::io("once"));
    story.turn(0).unwrap();
    story.turn(10).unwrap();
    assert_eq!(sizes(&story), [2, 2], "the second call hangs");
    story.turn(40).unwrap();
    assert_eq!((story.dirty().len(), story.figure("time-outs")), (2, 2));
    assert!(!story.calls.take(1).is_wanted());
    story.end().unwrap();
    assert!(story.left().is_empty());
    let mut story = Story::new(parameter("fail"), later);
    story.push(0, &[1, 2]).unwrap();
    assert!(story.turn(50).unwrap_err().message().contains("no answer within 50ms"));
}

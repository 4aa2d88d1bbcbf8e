//! How long a key is remembered: from the record that was let through, to the tick.

use serde_json::json;

use super::{Job, borrowed, ids};

/// KA-11.
#[test]
fn a_key_is_remembered_for_the_window_and_not_a_tick_longer() {
    let job = Job::new(json!({}));
    let mut attempt = job.attempt(0, 1);
    let seen = [0.0, 9.999, 10.0, 19.999].map(|seconds| {
        job.at(seconds);
        attempt.passes("a")
    });
    assert_eq!(seen, [true, false, true, false]);
    assert_eq!(attempt.step.duplicates, 2);
}

/// KA-12.
#[test]
fn duplicates_do_not_make_the_window_longer() {
    let job = Job::new(json!({}));
    let mut attempt = job.attempt(0, 1);
    let seen = [0.0, 6.0, 12.0, 21.9, 22.0].map(|seconds| {
        job.at(seconds);
        attempt.passes("a")
    });
    assert_eq!(seen, [true, false, true, false, true]);
}

/// KA-13.
#[test]
fn only_the_key_decides_and_nothing_else_of_the_record() {
    let job = Job::new(json!({}));
    let column = |texts: [&str; 1]| std::sync::Arc::new(arrow_array::StringArray::from(texts.to_vec())) as _;
    let field = |name| arrow_schema::Field::new(name, arrow_schema::DataType::Utf8, true);
    let mut attempt = job.attempt(0, 1);
    let mut from =
        |client| attempt.push(vec![(field("client"), column([client])), (field("id"), column(["a"]))]).unwrap();
    assert_eq!(from("1000"), [0]);
    job.at(1.0);
    assert!(from("1001").is_empty());
}

#[test]
fn of_records_that_come_together_the_first_passes() {
    let job = Job::new(json!({}));
    let mut attempt = job.attempt(0, 1);
    assert_eq!(attempt.passing(&["a", "b", "a", "c", "b", "a"]), ["a", "b", "c"]);
    assert_eq!(attempt.step.duplicates, 3);
    assert_eq!((job.figure("distinct"), job.figure("duplicates")), (3, 3));
}

#[test]
fn tasks_of_a_job_share_the_window() {
    let job = Job::new(json!({}));
    let (mut one, mut other) = (job.attempt(0, 1), job.attempt(1, 1));
    assert_eq!(one.passing(&["a", "b"]), ["a", "b"]);
    assert_eq!(other.passing(&["b", "c"]), ["c"]);
    assert_eq!(one.passing(&["c", "d"]), ["d"]);
}

#[test]
fn without_a_window_a_key_is_remembered_for_the_whole_run() {
    let job = Job::new(json!({ "window": 0 }));
    let mut attempt = job.attempt(0, 1);
    assert!(attempt.passes("a"));
    job.at(1e9);
    assert!(!attempt.passes("a"));
    assert_eq!(job.window.setting(), "window the whole run, at most 64 MiB");
}

/// KA-15.
#[test]
fn what_is_remembered_is_told_right_at_every_moment_without_traffic_too() {
    let job = Job::new(json!({ "window": "10 s" }));
    let mut attempt = job.attempt(0, 1);
    let mut most = 0;
    for second in 0..60_u32 {
        for millis in 0..1_000 {
            job.at(f64::from(second) + f64::from(millis) / 1_000.0);
            attempt.passes(&format!("{second}.{millis}"));
        }
        let remembered = job.remembered();
        most = remembered.max(most);
        assert_eq!(remembered, u64::from((second + 1).min(10) * 1_000), "after {second} s");
    }
    assert_eq!(most, 10_000);
    // The last came at 59.999 s, and half of the keys five seconds before.
    job.at(64.9995);
    assert_eq!(job.remembered(), 5_000);
    job.at(69.9985);
    assert_eq!(job.remembered(), 1);
    job.at(69.999);
    assert_eq!((job.remembered(), job.figure("remembered bytes")), (0, 0));
    assert_eq!((job.figure("distinct"), job.figure("evicted")), (60_000, 0));
}

#[test]
fn keys_of_one_batch_leave_while_those_of_the_next_stay() {
    let job = Job::new(json!({ "window": "1 s" }));
    let mut attempt = job.attempt(0, 1);
    let all = ids(0..30_000);
    let all = borrowed(&all);
    for (tenth, ids) in all.chunks(3_000).enumerate() {
        job.at(tenth as f64 / 10.0);
        assert_eq!(attempt.passing(ids).len(), 3_000);
    }
    for tenth in 0..10 {
        job.at(1.0 + f64::from(tenth) / 10.0);
        let from = 3_000 * (tenth as usize + 1);
        assert_eq!(job.remembered() as usize, 30_000 - from);
        assert!(from >= all.len() || !attempt.passes(all[from]), "the oldest that is left");
        // The youngest that is gone is new again; it is put out of the way for the sums above.
        let mut other = job.attempt(1, 1);
        assert!(other.passes(all[from - 1]));
        job.window.abandon(other.step.attempt);
    }
}

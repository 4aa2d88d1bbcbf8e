//! What a record's failure means for its key.

use serde_json::json;

use super::super::super::{Chain, Tally};
use super::*;
use crate::calls::Doing;
use crate::cancel::Cancel;
use crate::dirty::{Place, Side};
use crate::host::{Source, Sources, TaskHost};

impl Job {
    /// A record turns out dirty further down, in an attempt at the task.
    fn fails(&self, task: u32, attempt: u32, position: u64) {
        let place =
            Place { run: "", task: "", number: task, attempt, split: "", side: Side::Writer, plugin: "", unit: "" };
        self.dirty.keep(&place, &DirtyRecord { position: Some(position), ..DirtyRecord::default() }).unwrap();
    }
}

#[test]
fn an_attempt_does_not_find_the_records_of_the_one_before_it() {
    let job = Job::new(json!({}));
    let (mut first, mut other) = (job.attempt(0, 1), job.attempt(1, 1));
    assert_eq!(first.passing(&["a", "b"]), ["a", "b"]);
    assert_eq!(other.passing(&["c", "b"]), ["c"]);
    first.step.abandon();
    assert_eq!(job.remembered(), 1);
    let mut second = job.attempt(0, 2);
    assert_eq!(second.passing(&["a", "b", "c"]), ["a", "b"]);
    assert_eq!(other.passing(&["a", "b", "c", "d"]), ["d"]);
    assert_eq!((job.figure("distinct"), job.figure("duplicates")), (4, 5), "the aborted attempt does not count");
}

#[test]
fn a_key_that_another_attempt_brings_meanwhile_stays_with_it() {
    let job = Job::new(json!({}));
    let mut first = job.attempt(0, 1);
    assert!(first.passes("a"));
    first.step.abandon();
    assert!(job.attempt(1, 1).passes("a"));
    assert!(!job.attempt(0, 2).passes("a"));
}

#[test]
fn the_window_of_a_key_begins_anew_with_the_attempt_that_brings_it_again() {
    let job = Job::new(json!({}));
    let mut first = job.attempt(0, 1);
    assert!(first.passes("a"));
    first.step.abandon();
    job.at(5.0);
    let mut second = job.attempt(0, 2);
    assert!(second.passes("a"));
    job.at(14.0);
    assert!(!second.passes("a"));
    job.at(15.0);
    assert!(second.passes("a"));
}

/// KA-18.
#[test]
fn the_key_of_a_record_that_failed_is_kept_or_forgotten_as_the_job_says() {
    for forget in [false, true] {
        let job = Job::new(json!({ "forgetOnFailure": forget }));
        let mut attempt = job.attempt(3, 1);
        let all = ids(0..1_000);
        let all = borrowed(&all);
        for ids in all.chunks(50) {
            assert_eq!(attempt.passing(ids).len(), 50);
        }
        // One of a hundred fails.
        (0..10).for_each(|failed| job.fails(3, 1, failed * 100 + 7));
        job.at(1.0);
        let again = attempt.passing(&all);
        let expected: Vec<&str> = (0..10).filter(|_| forget).map(|failed| all[failed * 100 + 7]).collect();
        assert_eq!(again, expected);
        if forget {
            assert_eq!(job.figure("forgotten"), 10);
        }
    }
}

#[test]
fn only_the_record_that_failed_is_forgotten() {
    let job = Job::new(json!({ "forgetOnFailure": true }));
    let (mut one, mut other) = (job.attempt(0, 1), job.attempt(1, 1));
    assert_eq!(one.passing(&["a", "b", "b", "c"]), ["a", "b", "c"]);
    assert_eq!(other.passing(&["d", "e", "f", "g"]), ["d", "e", "f", "g"]);
    // Another task, an attempt that there was not, a position without a key, one whose record was a duplicate.
    for (task, attempt, position) in [(1, 2, 1), (2, 1, 1), (0, 1, 77), (0, 1, 2)] {
        job.fails(task, attempt, position);
    }
    assert_eq!(job.figure("forgotten"), 0);
    job.fails(1, 1, 1);
    job.fails(1, 1, 1);
    assert_eq!(job.figure("forgotten"), 1);
    assert_eq!(one.passing(&["a", "b", "c", "d", "e", "f", "g"]), ["e"]);
}

/// A record that was made of another has its position.
#[test]
fn every_key_from_the_place_of_a_failed_record_is_forgotten() {
    let job = Job::new(json!({ "forgetOnFailure": true }));
    let mut attempt = job.attempt(0, 1);
    attempt.passing(&["a"]);
    attempt.next = 0;
    attempt.passing(&["b", "c"]);
    job.fails(0, 1, 0);
    assert_eq!(attempt.passing(&["a", "b", "c"]), ["a", "b"]);
}

#[test]
fn keys_are_found_by_position_when_older_ones_have_left() {
    let job = Job::new(json!({ "forgetOnFailure": true, "capacity": "100 KiB", "window": "1 s" }));
    let (mut attempt, mut other) = (job.attempt(0, 1), job.attempt(1, 1));
    let all = ids(0..20_000);
    let all = borrowed(&all);
    for (number, ids) in all.chunks(10).enumerate() {
        job.at(number as f64 / 100.0);
        attempt.passing(ids);
        job.fails(0, 1, number as u64 * 10 + 3);
        assert_eq!(other.passing(ids), [ids[3]]);
    }
    assert_eq!(job.figure("forgotten"), 2_000);
}

fn source(task: u32) -> Source {
    Source { task: String::new(), number: task, attempt: 1, split: String::new(), unit: String::new() }
}

fn chain(job: &Job) -> (Chain, Arc<TaskHost>) {
    let host = Arc::new(TaskHost {
        run: String::new(),
        sources: Sources::new(Arc::new(source(5))),
        side: Side::Transformer,
        plugin: "dedup".into(),
        cancel: Cancel::new(),
        dirty: job.dirty.clone(),
        count: 0.into(),
        started: Mutex::default(),
        reach: Arc::default(),
        doing: Doing::default(),
    });
    let mut chain = Chain::default();
    let step = Dedup::new(job.settings.clone(), job.window.clone(), host.clone());
    chain.add("dedup", Box::new(step), host.clone());
    (chain, host)
}

fn texts(texts: &[&str]) -> Batch {
    let column: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    Batch::measured(RecordBatch::try_from_iter([("id", column)]).unwrap(), Origin::from(0))
}

fn through(chain: &mut Chain, ids: &[&str]) -> usize {
    chain.schema(texts(&[]).schema()).unwrap();
    chain.put(texts(ids));
    let mut passed = 0;
    while let Some(batch) = chain.next_batch().unwrap() {
        passed += batch.num_rows();
    }
    passed
}

#[test]
fn a_chain_counts_duplicates_apart_from_what_is_dirty_or_filtered() {
    let job = Job::new(json!({ "type": "uuid", "malformed": "dirty" }));
    let (mut chain, _) = chain(&job);
    let uuid = "11111111-2222-3333-4444-555555555555";
    assert_eq!(through(&mut chain, &[uuid, "none", uuid, uuid]), 1);
    assert_eq!(chain.tally(), Tally { duplicates: 2, dirty: 1, ..Tally::default() });
}

#[test]
fn a_chain_tells_its_transformers_whose_it_is_and_when_it_was_for_nothing() {
    let job = Job::new(json!({ "forgetOnFailure": true }));
    let (mut first, host) = chain(&job);
    assert_eq!(through(&mut first, &["a", "b"]), 2);
    host.dirty(&DirtyRecord { position: Some(1), ..DirtyRecord::default() }).unwrap();
    assert_eq!(job.remembered(), 1);
    first.abandon();
    assert_eq!(job.remembered(), 0);
}

/// In a lane, where records of one task follow those of another.
#[test]
fn a_chain_in_a_lane_is_told_whose_records_follow() {
    let job = Job::new(json!({ "forgetOnFailure": true }));
    let (mut chain, host) = chain(&job);
    for (task, ids) in [(7, ["a", "b"]), (8, ["c", "d"]), (7, ["e", "f"])] {
        host.sources.turn_to(Arc::new(source(task)));
        assert_eq!(through(&mut chain, &ids), 2);
    }
    job.fails(8, 1, 1);
    assert_eq!((job.remembered(), job.attempt(9, 1).passing(&["a", "b", "c", "d", "e", "f"])), (5, vec!["d"]));
    // Both batches of the other task came from the same places.
    job.fails(7, 1, 0);
    assert_eq!(job.remembered(), 4);
}

//! The room that the remembered keys may take: the oldest leaves when it is used up, and that is told.

use serde_json::json;

use super::super::ids::BYTES_OF_A_KEY;
use super::{Job, borrowed, ids};

/// KA-16.
#[test]
fn beyond_its_capacity_the_oldest_keys_leave_and_nothing_waits() {
    let job = Job::new(json!({ "capacity": 65_536 * BYTES_OF_A_KEY }));
    let mut attempt = job.attempt(0, 1);
    let burst = ids(0..100_000);
    let burst = borrowed(&burst);
    for (hundredth, ids) in burst.chunks(1_000).enumerate() {
        job.at(hundredth as f64 / 100.0);
        assert_eq!(attempt.passing(ids).len(), 1_000);
        assert!(job.remembered() <= 65_536);
    }
    assert_eq!((job.remembered(), job.figure("evicted")), (65_536, 34_464));
    assert!(!attempt.passes(burst[34_464]), "the oldest that is left");
    assert!(attempt.passes(burst[34_463]), "the youngest that had to leave");
    assert_eq!(job.figure("evicted"), 34_465, "it took the place of another");
    let remark = format!(
        "34465 keys were evicted before the window was over: duplicates of them may have come through; a larger capacity than {} KiB \
         keeps them",
        64 * BYTES_OF_A_KEY
    );
    assert_eq!(job.window.remarks(), [remark]);
}

#[test]
fn a_duplicate_evicts_nobody() {
    let job = Job::new(json!({ "capacity": 100 * BYTES_OF_A_KEY }));
    let mut attempt = job.attempt(0, 1);
    let all = ids(0..100);
    assert_eq!(attempt.passing(&borrowed(&all)).len(), 100);
    for _ in 0..3 {
        assert!(attempt.passing(&borrowed(&all)).is_empty());
    }
    assert_eq!((job.figure("evicted"), job.window.remarks()), (0, vec![]));
}

#[test]
fn long_keys_take_more_room_and_leave_it_all_behind() {
    let job = Job::new(json!({ "capacity": "1 MiB" }));
    let mut attempt = job.attempt(0, 1);
    for number in 0..5_000 {
        let id = format!("{number:0>length$}", length = 1 + number * 7 % 5_000);
        attempt.passes(&id);
        assert!(job.figure("remembered bytes") <= 1 << 20);
        assert!(!attempt.passes(&id), "the newest is always there");
    }
    assert!(job.figure("evicted") > 4_000, "{:?}", job.window.figures());
    job.at(10.0);
    assert_eq!((job.remembered(), job.figure("remembered bytes")), (0, 0));
}

#[test]
fn a_key_that_is_larger_than_all_room_passes_and_evicts_nobody_else() {
    let job = Job::new(json!({ "capacity": "10 KiB" }));
    let mut attempt = job.attempt(0, 1);
    assert!(attempt.passes("a"));
    let huge = "x".repeat(11_000);
    assert!(attempt.passes(&huge) && attempt.passes(&huge));
    assert!(!attempt.passes("a"));
    assert_eq!((job.remembered(), job.figure("evicted")), (1, 2));
    assert!(job.window.remarks()[0].starts_with("2 keys were evicted"));
}

#[test]
fn forgotten_keys_make_way_before_others_have_to_leave() {
    let job = Job::new(json!({ "capacity": 1_000 * BYTES_OF_A_KEY }));
    let (mut one, mut other) = (job.attempt(0, 1), job.attempt(1, 1));
    let all = ids(0..1_400);
    let all = borrowed(&all);
    // They come by turns, so that those that are forgotten lie among the others.
    for ids in all[..1_000].chunks(20) {
        one.passing(&ids[..8]);
        other.passing(&ids[8..]);
    }
    job.window.abandon(one.step.attempt);
    assert_eq!(job.remembered(), 600);
    assert_eq!(other.passing(&all[1_000..]).len(), 400);
    assert_eq!((job.remembered(), job.figure("evicted")), (1_000, 0));
    let again = other.passing(&all[..1_000]);
    assert!(again[..8] == all[..8] && again.len() >= 400, "what was forgotten is new");
}

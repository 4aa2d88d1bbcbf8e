//! When an attempt follows another.

use std::time::Duration;

use super::super::{Backoff, Retry, RetryOn};

fn exponential(jitter: f64) -> Retry {
    let [first, cap] = [100, 2000].map(Duration::from_millis);
    let backoff = Backoff::Exponential { first, factor: 2.0, cap };
    Retry { most: 10, backoff, jitter, on: RetryOn::default() }
}

/// FL-25.
#[test]
fn exponential_pauses_grow_to_their_cap_and_depend_on_nothing_but_the_attempt() {
    let retry = exponential(0.0);
    assert!(retry.may_follow(10) && !retry.may_follow(11));
    for _ in 0..6 {
        let pauses: Vec<u128> = (1..=10).map(|attempt| retry.pause(attempt, 0.5).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000, 2000]);
    }
    assert_eq!(retry.pause(u32::MAX, 0.0).as_millis(), 2000, "however large the power");
}

#[test]
fn jitter_makes_pauses_shorter_by_its_share_at_most() {
    let retry = exponential(0.5);
    assert_eq!(retry.pause(2, 0.0).as_millis(), 200);
    assert_eq!(retry.pause(2, 0.5).as_millis(), 150);
    assert_eq!(retry.pause(2, 1.0).as_millis(), 100);
}

#[test]
fn fixed_pauses_are_all_the_same() {
    let retry = Retry { backoff: Backoff::Fixed(Duration::from_millis(7)), ..exponential(0.0) };
    assert_eq!([1, 2, 9].map(|attempt| retry.pause(attempt, 0.3).as_millis()), [7, 7, 7]);
}

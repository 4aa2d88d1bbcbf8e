//! The queue, step by step and against a naive model.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::time::Duration;

use proptest::prelude::*;

use crate::keys::{Dispatch, Gauge, Hand, Key, Queue, Want};

const ONE: Want = Want { keys: 1, entries: usize::MAX };

fn queue() -> Queue<u32> {
    Queue::new(Dispatch::Free)
}

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn enter(queue: &mut Queue<u32>, key: u8, value: u32, millis: u64) {
    queue.enter(Key::Bytes(&[key]), value, 0, 0, at(millis));
}

fn values(hand: &Hand<u32>) -> Vec<u32> {
    hand.entries.iter().map(|taken| taken.value).collect()
}

#[test]
fn a_key_that_is_held_is_not_taken_until_it_is_given_back() {
    let mut queue = queue();
    enter(&mut queue, 1, 10, 0);
    let first = queue.take(0, ONE, 0).unwrap();
    enter(&mut queue, 1, 11, 1);
    assert!(queue.take(1, ONE, 0).is_none());
    queue.give_back(first, at(5));
    let second = queue.take(1, ONE, 0).unwrap();
    assert_eq!(values(&second), [11]);
    assert_eq!((second.entries[0].came, second.entries[0].worked), (at(1), at(0)));
    queue.give_back(second, at(6));
    assert!(queue.is_idle());
}

/// However many hands it took until its turn came.
#[test]
fn an_entry_knows_how_long_its_key_was_worked_on_since_it_came() {
    let mut queue = queue();
    for value in 0..3 {
        enter(&mut queue, 1, value, 0);
    }
    let one = Want { keys: 1, entries: 1 };
    for (turn, expected) in [0, 10, 20].into_iter().enumerate() {
        let mut hand = queue.take(0, one, 0).unwrap();
        assert_eq!(hand.entries[0].worked, at(expected));
        // It waits five for a lane each time, then takes ten.
        let began = at(15 * turn as u64 + 5);
        hand.worked = vec![(began, began + at(10))];
        if turn == 1 {
            queue.enter(Key::Bytes(&[1]), 3, 0, 0, began + at(4));
        }
        queue.give_back(hand, began + at(10));
    }
    let last = queue.take(0, one, 0).unwrap();
    assert_eq!(last.entries[0].worked, at(20), "the rest of one, and another: at most by what was done of the first");
}

#[test]
fn the_key_with_the_oldest_entry_comes_first_also_when_it_was_given_back_late() {
    let mut queue = queue();
    enter(&mut queue, 1, 10, 0);
    let held = queue.take(0, ONE, 0).unwrap();
    enter(&mut queue, 1, 11, 1);
    enter(&mut queue, 2, 20, 2);
    queue.give_back(held, at(3));
    assert_eq!(values(&queue.take(0, ONE, 0).unwrap()), [11]);
}

#[test]
fn several_keys_come_in_the_order_of_their_entries() {
    let mut queue = queue();
    for (key, value) in [(1, 10), (2, 20), (1, 11), (3, 30), (2, 21)] {
        enter(&mut queue, key, value, 0);
    }
    let hand = queue.take(0, Want { keys: 2, entries: usize::MAX }, 0).unwrap();
    assert_eq!(values(&hand), [10, 20, 11, 21]);
    assert_eq!(hand.keys(), 2);
    let limited = queue.take(0, Want { keys: 5, entries: 1 }, 0).unwrap();
    assert_eq!(values(&limited), [30]);
}

#[test]
fn entries_of_different_groups_or_eras_are_never_taken_together() {
    let mut queue = queue();
    for (value, group, era) in [(1, 7, 0), (2, 7, 0), (3, 8, 0), (4, 8, 1)] {
        queue.enter(Key::Bytes(b"k"), value, group, era, at(0));
    }
    let mut taken = Vec::new();
    let all = Want { keys: 9, entries: 9 };
    for era in [0, 0, 1] {
        let hand = queue.take(0, all, era).unwrap();
        taken.push(values(&hand));
        queue.give_back(hand, at(0));
        if taken.len() == 2 {
            assert!(queue.take(0, all, 0).is_none(), "what comes behind a mark waits for it");
        }
    }
    assert_eq!(taken, [vec![1, 2], vec![3], vec![4]]);
}

#[test]
fn entries_without_a_key_wait_for_nobody() {
    let mut queue = queue();
    for value in 0..3 {
        queue.enter(Key::Alone, value, 0, 0, at(0));
        queue.enter(Key::Null, 10 + value, 0, 0, at(0));
    }
    let hands: Vec<_> = std::iter::from_fn(|| queue.take(0, ONE, 0)).collect();
    assert_eq!(hands.iter().map(values).collect::<Vec<_>>(), [vec![0], vec![10, 11, 12], vec![1], vec![2]]);
}

/// KA-22.
#[test]
fn every_number_has_a_lane() {
    let lanes = NonZeroUsize::new(12).unwrap();
    for dispatch in [Dispatch::Free, Dispatch::Modulo(lanes), Dispatch::Hash(lanes)] {
        let mut queue = Queue::new(dispatch);
        for number in [0, -1, i64::MIN, i64::MAX, 1_000_000_007] {
            queue.enter(Key::Number(number.into(), &number.to_le_bytes()), number, 0, 0, at(0));
        }
        let taken: usize = (0..12).map(|lane| std::iter::from_fn(|| queue.take(lane, ONE, 0)).count()).sum();
        assert_eq!(taken, 5, "{dispatch:?}");
    }
}

/// KA-24.
#[test]
fn the_gauge_counts_what_waits() {
    let mut queue = queue();
    for value in 0..35 {
        enter(&mut queue, (value % 5) as u8, value, 0);
    }
    let held = queue.take(0, Want { keys: 1, entries: 2 }, 0).unwrap();
    assert_eq!(queue.gauge(), Gauge { waiting: 33, most_of_a_key: 7, ready: 4, held: 1 });
    queue.give_back(held, at(0));
    assert_eq!(queue.gauge(), Gauge { waiting: 33, most_of_a_key: 7, ready: 5, held: 0 });
}

/// KA-26: what is done leaves nothing behind.
#[test]
fn keys_that_are_done_are_forgotten() {
    let mut queue = queue();
    for number in 0..100_000u32 {
        queue.enter(Key::Bytes(&number.to_le_bytes()), number, 0, 0, at(0));
        let hand = queue.take(0, ONE, 0).unwrap();
        queue.give_back(hand, at(0));
    }
    assert!(queue.is_idle());
    assert!(queue.room() <= 64, "{} places are kept", queue.room());
}

#[derive(Debug, Clone)]
enum Step {
    Enter { key: u8, group: u32 },
    Take { keys: usize, entries: usize },
    GiveBack(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..6u8, 0..2u32).prop_map(|(key, group)| Step::Enter { key, group }),
        2 => (1..4usize, 1..5usize).prop_map(|(keys, entries)| Step::Take { keys, entries }),
        2 => (0..4usize).prop_map(Step::GiveBack),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    /// MC-20, MC-21 without threads: order for each key, one hand for each, and no lane idle while a key is ready.
    #[test]
    fn it_does_what_a_naive_one_does(steps in steps()) {
        let mut queue = queue();
        let mut waiting: BTreeMap<u8, Vec<(u32, u32)>> = BTreeMap::new();
        let mut held: HashSet<u8> = HashSet::new();
        let mut hands: Vec<Hand<u32>> = Vec::new();
        let key_of = |value: u32| (value % 256) as u8;
        for (number, step) in (0u32..).zip(steps) {
            match step {
                Step::Enter { key, group } => {
                    let value = number * 256 + u32::from(key);
                    queue.enter(Key::Bytes(&[key]), value, group, 0, at(0));
                    waiting.entry(key).or_default().push((value, group));
                }
                Step::Take { keys, entries } => {
                    let ready = waiting.iter().filter(|(key, waits)| !waits.is_empty() && !held.contains(key));
                    let oldest = ready.map(|(_, waits)| waits[0]).min();
                    let Some(hand) = queue.take(0, Want { keys, entries }, 0) else {
                        prop_assert_eq!(oldest, None, "a key is ready and is not taken");
                        continue;
                    };
                    prop_assert_eq!(Some(hand.entries[0].value), oldest.map(|(value, _)| value));
                    prop_assert!(hand.entries.len() <= entries && hand.keys() <= keys);
                    let of_hand: HashSet<u8> = hand.entries.iter().map(|taken| key_of(taken.value)).collect();
                    for key in &of_hand {
                        prop_assert!(held.insert(*key), "a key is in two hands");
                    }
                    for taken in &hand.entries {
                        let waits = waiting.get_mut(&key_of(taken.value)).unwrap();
                        prop_assert_eq!(waits.remove(0), (taken.value, hand.entries[0].group));
                    }
                    hands.push(hand);
                }
                Step::GiveBack(index) if index < hands.len() => {
                    let hand = hands.swap_remove(index);
                    for taken in &hand.entries {
                        held.remove(&key_of(taken.value));
                    }
                    queue.give_back(hand, at(0));
                }
                Step::GiveBack(_) => {}
            }
            prop_assert_eq!(queue.waiting(), waiting.values().map(Vec::len).sum::<usize>());
        }
    }
}

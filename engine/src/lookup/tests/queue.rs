//! The order in which entries leave.

use super::super::{Item, Queue};

type Numbers = Queue<u32, u64>;

fn all(queue: &mut Numbers) -> Vec<Item<u32, u64>> {
    std::iter::from_fn(|| queue.pop()).collect()
}

fn both() -> [Numbers; 2] {
    [Queue::in_order(), Queue::in_any_order()]
}

use Item::{Entry, Mark};

/// FL-19.
/// FL-20.
#[test]
fn a_mark_leaves_before_the_entry_behind_it_and_takes_a_place_as_long() {
    for mut queue in both() {
        queue.put_mark(0);
        let place = queue.put(42);
        assert_eq!(queue.len(), 2);
        assert_eq!(all(&mut queue), [Mark(0)]);
        assert_eq!(queue.len(), 1);
        queue.done(place, 42);
        assert_eq!(all(&mut queue), [Entry(42)]);
        assert!(queue.is_empty());
    }
}

/// FL-21.
#[test]
fn an_entry_that_has_left_makes_room() {
    for mut queue in both() {
        let place = queue.put(1);
        assert_eq!(queue.pop(), None, "it is not done");
        queue.done(place, 1);
        assert_eq!((queue.pop(), queue.len()), (Some(Entry(1)), 0));
        let place = queue.put(2);
        queue.done(place, 2);
        assert_eq!(all(&mut queue), [Entry(2)]);
    }
}

/// FL-22.
#[test]
fn marks_one_behind_another_keep_their_order() {
    for mut queue in both() {
        queue.put_mark(2);
        queue.put_mark(5);
        assert_eq!(all(&mut queue), [Mark(2), Mark(5)]);
        assert_eq!(queue.len(), 0);
    }
}

/// FL-23.
#[test]
fn in_order_only_the_first_can_leave() {
    let mut queue: Numbers = Queue::in_order();
    let [first, second] = [1, 2].map(|id| queue.put(id));
    queue.put_mark(2);
    let third = queue.put(3);
    queue.done(second, 2);
    queue.done(third, 3);
    assert_eq!(queue.pop(), None);
    queue.done(first, 1);
    assert_eq!(all(&mut queue), [Entry(1), Entry(2), Mark(2), Entry(3)]);
}

/// FL-24.
#[test]
fn in_any_order_nothing_passes_a_mark() {
    let mut queue: Numbers = Queue::in_any_order();
    let [r1, r2] = [1, 2].map(|id| queue.put(id));
    queue.put_mark(2);
    let [r3, r4] = [3, 4].map(|id| queue.put(id));
    queue.put_mark(5);
    let [r5, r6] = [5, 6].map(|id| queue.put(id));
    queue.done(r3, 3);
    assert_eq!((queue.pop(), queue.len()), (None, 8));
    queue.done(r2, 2);
    assert_eq!((all(&mut queue), queue.len()), (vec![Entry(2)], 7));
    queue.done(r6, 6);
    queue.done(r4, 4);
    assert_eq!(queue.pop(), None);
    queue.done(r1, 1);
    assert_eq!(all(&mut queue), [Entry(1), Mark(2), Entry(3), Entry(4), Mark(5), Entry(6)]);
    assert_eq!(queue.len(), 1);
    queue.done(r5, 5);
    assert_eq!(all(&mut queue), [Entry(5)]);
}

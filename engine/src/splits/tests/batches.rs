//! Several splits at once. Where it matters how many calls of the source that takes, the source is one that is asked only when somebody waits.

use super::loading::{Fake, Step, fill};
use super::*;

/// How many splits a batch has, and whether it is the last.
type Answer = Result<(usize, bool), Stop<Error>>;

/// What batches of these sizes give, and how many calls of the source that took. The queue itself has room for few.
fn batches(source: &Fake, enough: usize, most: &[usize]) -> (Vec<Answer>, usize) {
    let (queue, loader) = queue_of(11, enough, 1);
    let sizes = thread::scope(|scope| {
        fill(scope, source, loader);
        let take = |most: &usize| queue.next_batch(number(*most)).map(|batch| (batch.splits.len(), batch.is_last));
        let sizes = most.iter().map(take).collect();
        queue.stop();
        sizes
    });
    (sizes, source.asked.load(Ordering::Relaxed))
}

fn calls(number: usize, splits: usize) -> Vec<Step> {
    (0..number).map(|_| Step::Splits(splits)).collect()
}

/// PB-01.
#[test]
fn a_batch_waits_until_it_is_worth_it_and_no_longer() {
    let source = Fake::on_demand([calls(25, 1)]);
    let (sizes, asked) = batches(&source, 10, &[20, 6, 20]);
    assert_eq!(sizes, [Ok((10, false)), Ok((6, false)), Ok((9, true))]);
    assert_eq!(asked, 26, "the last call tells the end");
}

/// PB-02.
#[test]
fn what_comes_beyond_a_batch_for_free_is_in_it() {
    let source = Fake::on_demand([calls(2, 11)]);
    let (sizes, asked) = batches(&source, 10, &[200, 200, 200]);
    assert_eq!(sizes, [Ok((11, false)), Ok((11, false)), Ok((0, true))]);
    assert_eq!(asked, 3);
}

/// PB-03.
#[test]
fn ten_thousand_splits_one_by_one_make_full_batches() {
    let source = Fake::new([calls(10_000, 1)]);
    let (sizes, _) = batches(&source, usize::MAX, &[1000; 11]);
    assert!(sizes[..9].iter().all(|size| *size == Ok((1000, false))), "{sizes:?}");
    // Whether the end is known by then is a matter of luck.
    assert!(matches!(sizes[9], Ok((1000, _))), "{:?}", sizes[9]);
    assert_eq!(sizes[10], Ok((0, true)));
}

/// PB-04.
#[test]
fn a_source_without_splits_is_one_empty_batch() {
    let source = Fake::on_demand([vec![]]);
    assert_eq!(batches(&source, 10, &[20]), (vec![Ok((0, true))], 1));
}

/// PB-05.
#[test]
fn a_batch_that_waits_is_completed_by_splits_the_end_or_a_failure() {
    let waits = |queue: &Queue<u32, Error>| queue.queued() == 0 && queue.waiting_takers() == 1;
    let (queue, loader) = queue_of(100, 10, 1);
    thread::scope(|scope| {
        let taking = scope.spawn(|| [queue.next_batch(number(10)), queue.next_batch(number(10))]);
        loader.put(some(0..9)).unwrap();
        until(|| waits(&queue));
        loader.put(some([9])).unwrap();
        until(|| waits(&queue));
        loader.end();
        let [full, last] = taking.join().unwrap();
        assert_eq!(full.unwrap(), Batch { splits: (0..10).collect(), is_last: false });
        assert_eq!(last.unwrap(), Batch { splits: vec![], is_last: true });
    });
    let source = Fake::on_demand([calls(1, 5)]);
    assert_eq!(batches(&source, 10, &[10]).0, [Ok((5, true))]);
    let source = Fake::on_demand([vec![Step::Splits(5), Step::Fail("no more")]]);
    assert_eq!(batches(&source, 10, &[10]).0, [Err(Stop::Failed("no more"))]);
    let source = Fake::on_demand([calls(2, 8)]);
    assert_eq!(batches(&source, 10, &[20]).0, [Ok((16, false))]);
}

/// PB-06.
#[test]
fn the_end_may_be_told_after_the_last_split() {
    let source = Fake::on_demand([calls(1, 1)]);
    assert_eq!(batches(&source, 1, &[10, 10]), (vec![Ok((1, false)), Ok((0, true))], 2));
}

/// PB-07.
#[test]
fn what_was_collected_before_a_failure_is_not_given() {
    let source = Fake::on_demand([vec![Step::Fail("at once")]]);
    assert_eq!(batches(&source, 10, &[10]), (vec![Err(Stop::Failed("at once"))], 1));
    let source = Fake::on_demand([vec![Step::Splits(1), Step::Fail("then")]]);
    assert_eq!(batches(&source, 2, &[2]), (vec![Err(Stop::Failed("then"))], 2));
}

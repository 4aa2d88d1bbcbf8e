//! What must hold under every schedule of the threads, tried exhaustively by the model checker:
//! `RUSTFLAGS="--cfg transship_loom" cargo test -p transship-engine --lib --release loom`

use std::time::Duration;

use super::{CallId, Closed, Inbox, Item, Options, Order, Outcome, Record, Stage};
use crate::sync::{Arc, thread};

const TIMEOUT: Duration = Duration::from_millis(10);

fn stage(capacity: usize) -> Stage {
    Stage::new(Options {
        order: Order::Ordered,
        capacity,
        timeout: Some(TIMEOUT),
        retry: None,
        call_size: 1,
        linger: Duration::ZERO,
    })
}

fn enter(stage: &mut Stage, row: u32) -> CallId {
    stage.enter(Record { source: 0, row }, None, None, Duration::ZERO);
    stage.next_call(Duration::ZERO).expect("it is its turn").id
}

fn settle(stage: &mut Stage, inbox: &Inbox<CallId>, now: Duration) -> Result<(), Closed> {
    let mut letters = Vec::new();
    inbox.take(&mut letters)?;
    for id in letters {
        stage.answered(id, now, |_, _| Outcome::Missing);
    }
    stage.pass_time(now);
    Ok(())
}

fn left(stage: &mut Stage) -> Vec<u32> {
    std::iter::from_fn(|| stage.pop())
        .filter_map(|item| match item {
            Item::Entry(done) => Some(done.record.row),
            Item::Mark(()) => None,
        })
        .collect()
}

/// MC-17.
/// FL-29.
#[test]
fn of_two_answers_and_a_time_out_one_counts() {
    ::loom::model(|| {
        let inbox = Arc::new(Inbox::new());
        let mut stage = stage(2);
        let id = enter(&mut stage, 7);
        let answers: Vec<_> = (0..2)
            .map(|_| {
                let inbox = inbox.clone();
                thread::spawn(move || inbox.put(id))
            })
            .collect();
        settle(&mut stage, &inbox, TIMEOUT).unwrap();
        assert_eq!(left(&mut stage), [7]);
        // Its id may be another record's by now.
        stage.enter(Record { source: 0, row: 8 }, None, Some(Outcome::Missing), TIMEOUT);
        for answer in answers {
            answer.join().unwrap();
        }
        settle(&mut stage, &inbox, TIMEOUT * 2).unwrap();
        assert_eq!((left(&mut stage), stage.is_empty(), stage.next_due()), (vec![8], true, None));
    });
}

/// MC-18.
/// FL-30.
#[test]
fn who_waits_for_room_goes_on_with_the_answer() {
    ::loom::model(|| {
        let inbox = Arc::new(Inbox::new());
        let mut stage = stage(1);
        let id = enter(&mut stage, 1);
        let answering = {
            let inbox = inbox.clone();
            thread::spawn(move || inbox.put(id))
        };
        while stage.room() == 0 {
            inbox.wait(None);
            settle(&mut stage, &inbox, Duration::ZERO).unwrap();
            left(&mut stage);
        }
        enter(&mut stage, 2);
        answering.join().unwrap();
    });
}

/// Two answers, from two threads: whoever waits for both gets both.
#[test]
fn no_answer_is_lost_between_two_waits() {
    ::loom::model(|| {
        let inbox = Arc::new(Inbox::new());
        let mut stage = stage(2);
        let ids = [enter(&mut stage, 1), enter(&mut stage, 2)];
        let answering = ids.map(|id| {
            let inbox = inbox.clone();
            thread::spawn(move || inbox.put(id))
        });
        let mut all = Vec::new();
        while all.len() < 2 {
            inbox.wait(None);
            settle(&mut stage, &inbox, Duration::ZERO).unwrap();
            all.extend(left(&mut stage));
        }
        assert_eq!(all, [1, 2]);
        answering.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn who_waits_is_woken_when_the_work_is_given_up() {
    ::loom::model(|| {
        let inbox = Arc::new(Inbox::new());
        let mut stage = stage(1);
        let id = enter(&mut stage, 1);
        let closing = {
            let inbox = inbox.clone();
            thread::spawn(move || {
                inbox.close();
                inbox.put(id);
            })
        };
        let end = loop {
            inbox.wait(None);
            if let Err(end) = settle(&mut stage, &inbox, Duration::ZERO) {
                break end;
            }
        };
        assert_eq!(end, Closed);
        closing.join().unwrap();
    });
}

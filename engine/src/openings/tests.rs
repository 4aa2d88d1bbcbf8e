//! Which tasks are opened, by scenarios.

use std::num::NonZeroUsize;
use std::sync::mpsc;

use super::*;

fn most(tasks: usize) -> NonZeroUsize {
    NonZeroUsize::new(tasks).unwrap()
}

/// Who opens a task if these contents ask for one.
fn opened(openings: &Openings, asking: &[usize]) -> Option<usize> {
    let mut state = openings.state();
    for (number, content) in &mut state.contents {
        content.asks = asking.contains(&number).then(|| vec![None]);
    }
    let next = state.next();
    if let Some(next) = next {
        assert!(state.open_one_of(next).is_some());
    }
    next
}

fn close(openings: &Openings, content: usize) {
    drop(Opening { openings: openings.clone(), content, limit: None });
}

/// PP-11.
#[test]
fn contents_open_tasks_in_turn_up_to_their_own_limits() {
    let openings = Openings::new(6, 64);
    let _openers = [(); 3].map(|()| openings.opener(1, most(2)));
    let order: Vec<_> = std::iter::from_fn(|| opened(&openings, &[0, 1, 2])).collect();
    assert_eq!(order, [0, 1, 2, 0, 1, 2]);
    // One has come to its end: the others stay at two.
    close(&openings, 0);
    close(&openings, 0);
    assert_eq!(opened(&openings, &[1, 2]), None);
}

#[test]
fn what_is_guaranteed_comes_before_turns_and_does_not_need_a_slot() {
    let openings = Openings::new(2, 64);
    let _openers = [(); 4].map(|()| openings.opener(1, most(2)));
    assert_eq!([opened(&openings, &[0]), opened(&openings, &[0])], [Some(0), Some(0)]);
    assert_eq!(opened(&openings, &[0, 2]), Some(2), "it has none yet, though there are as many as slots");
    assert_eq!(opened(&openings, &[2]), None, "no more than its guarantee, while there are as many as slots");
    close(&openings, 0);
    close(&openings, 0);
    assert_eq!([opened(&openings, &[0, 2]), opened(&openings, &[0, 2])], [Some(0), None]);
}

#[test]
fn never_more_are_open_than_the_run_allows() {
    let openings = Openings::new(2, 3);
    let _openers = [(); 5].map(|()| openings.opener(1, most(2)));
    let order: Vec<_> = std::iter::from_fn(|| opened(&openings, &[0, 1, 2, 3, 4])).collect();
    assert_eq!(order, [0, 1, 2]);
    close(&openings, 1);
    assert_eq!(opened(&openings, &[3, 4]), Some(3));
}

#[test]
fn what_is_guaranteed_goes_round_too() {
    let openings = Openings::new(1, 1);
    let _openers = [(); 3].map(|()| openings.opener(1, most(1)));
    let mut order = Vec::new();
    for _ in 0..6 {
        let next = opened(&openings, &[0, 1, 2]).unwrap();
        order.push(next);
        close(&openings, next);
    }
    assert_eq!(order, [0, 1, 2, 0, 1, 2], "the first does not come again before the others have had theirs");
}

#[test]
fn a_content_is_forgotten_with_the_last_of_its_tasks() {
    let openings = Openings::new(2, 2);
    let opener = openings.opener(1, most(1));
    let Ok(Answer::Open(_, opening)) = opener.open(&[None], false, &Cancel::new()) else { panic!("one is free") };
    drop(opener);
    assert_eq!(openings.state().contents.len(), 1);
    drop(opening);
    let state = openings.state();
    assert_eq!((state.contents.len(), state.open), (0, 0));
}

/// PX-09, PX-10.
#[test]
fn of_one_connection_no_more_are_open_than_it_allows() {
    let openings = Openings::new(8, 64);
    let opener = openings.opener(1, most(8));
    let (one, two) = (Limit { name: "one".into(), open: 1 }, Limit { name: "two".into(), open: 2 });
    let cancel = Cancel::new();
    let open = |tasks: &[Option<&Limit>]| match opener.open(tasks, true, &cancel) {
        Ok(Answer::Open(place, opening)) => Some((place, opening)),
        _ => None,
    };
    let (place, first) = open(&[Some(&one), Some(&one)]).unwrap();
    assert_eq!(place, 0);
    assert!(open(&[Some(&one), Some(&one)]).is_none(), "the connection has one open");
    let (place, _second) = open(&[Some(&one), Some(&two)]).unwrap();
    assert_eq!(place, 1, "another connection's comes before it");
    let _third = open(&[Some(&two)]).unwrap();
    assert!(open(&[Some(&two)]).is_none());
    drop(first);
    assert!(open(&[Some(&one)]).is_some());
}

#[test]
fn who_waits_is_woken_when_a_task_ends_and_when_the_work_is_cancelled() {
    let openings = Openings::new(1, 1);
    let (first, second) = (openings.opener(1, most(1)), openings.opener(1, most(1)));
    let cancel = Cancel::new();
    let Ok(Answer::Open(_, opening)) = first.open(&[None], true, &cancel) else { panic!("one is free") };
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let (second, cancel) = (&second, &cancel);
        let waiting = scope.spawn(move || {
            let Ok(Answer::Open(_, opening)) = second.open(&[None], false, cancel) else { panic!("not cancelled yet") };
            tell.send(()).unwrap();
            drop(opening);
            second.openings.state().most = 0;
            second.open(&[None], false, cancel).is_err()
        });
        while second.openings.state().contents[1].asks.is_none() {
            std::thread::yield_now();
        }
        drop(opening);
        told.recv().unwrap();
        cancel.cancel();
        assert!(waiting.join().unwrap());
    });
}

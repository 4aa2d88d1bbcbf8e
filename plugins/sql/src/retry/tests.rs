//! Tests of trying again. Nobody waits: the pauses are only noted.

use transship_plugin_api::Error;

use super::*;

const SCHEDULE: Schedule =
    Schedule { attempts: 4, first: Duration::from_millis(100), longest: Duration::from_millis(250) };

fn deadlock() -> Error {
    Error::io("deadlock").retryable(true)
}

/// Runs attempts that fail as given, and returns how it ended, how many were made, and the pauses between.
fn run(mut failures: Vec<Error>) -> (Result<u32>, u32, Vec<Duration>) {
    let (mut made, mut pauses) = (0, Vec::new());
    failures.reverse();
    let result = with_retries(
        SCHEDULE,
        7,
        "storing",
        |pause| {
            pauses.push(pause);
            Ok(())
        },
        |number| {
            made += 1;
            assert_eq!(number, made);
            failures.pop().map_or(Ok(number), Err)
        },
    );
    (result, made, pauses)
}

#[test]
fn what_can_succeed_later_is_tried_again() {
    let (result, made, pauses) = run(vec![deadlock(), deadlock()]);
    assert_eq!((result.unwrap(), made, pauses.len()), (3, 3, 2));
}

#[test]
fn what_cannot_is_not() {
    let (result, made, _) = run(vec![Error::data("too long")]);
    assert_eq!((result.unwrap_err().message().to_string(), made), ("too long".into(), 1));
    let (result, made, _) = run(vec![Error::cancelled().retryable(true)]);
    assert_eq!((result.unwrap_err().kind(), made), (Kind::Cancelled, 1));
}

#[test]
fn trying_ends_and_says_so() {
    let (result, made, pauses) = run((0..9).map(|_| deadlock()).collect());
    let error = result.unwrap_err();
    assert_eq!((error.message(), made, pauses.len()), ("after 4 attempts: deadlock", 4, 3));
    assert!(error.is_retryable());
}

#[test]
fn a_cancelled_pause_ends_the_trying() {
    let result: Result<()> = with_retries(SCHEDULE, 7, "storing", |_| Err(Error::cancelled()), |_| Err(deadlock()));
    assert_eq!(result.unwrap_err().kind(), Kind::Cancelled);
}

#[test]
fn pauses_grow_to_a_limit_and_differ_between_tasks() {
    for salt in 0..100 {
        let pauses: Vec<_> = (1..=40).map(|attempt| SCHEDULE.pause(attempt, salt).as_millis()).collect();
        assert!((50..=100).contains(&pauses[0]) && (100..=200).contains(&pauses[1]), "{pauses:?}");
        assert!(pauses[2..].iter().all(|pause| (125..=250).contains(pause)), "{pauses:?}");
    }
    let of_all: std::collections::BTreeSet<_> = (0..100).map(|salt| SCHEDULE.pause(1, salt)).collect();
    assert!(of_all.len() > 50, "{of_all:?}");
}

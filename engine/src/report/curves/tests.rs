//! What curves say of seconds.

use super::*;
use crate::perf::recording::{EndLine, RunLine};

const BEGIN: u64 = 1_800_000_000_000_000;

/// A recording that was sampled each second, with so many records read by then.
fn recording(read: impl IntoIterator<Item = u64>) -> Recording {
    let seconds = (1..).zip(read).map(|(second, read_records)| Second {
        micros: BEGIN + second * 1_000_000,
        read_records,
        queued_records: second,
        fill: 0.5,
        open_tasks: 2,
        ..Second::default()
    });
    Recording {
        run: RunLine { start_micros: BEGIN, ..RunLine::default() },
        seconds: seconds.collect(),
        ..Recording::default()
    }
}

fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

#[test]
fn rates_are_those_between_two_samples_and_the_rest_as_it_was_at_each() {
    let curves = Curves::of(&recording([100, 150, 150]), BEGIN - 500_000);
    assert_eq!(curves.at, [1.5, 2.5, 3.5], "by a line of time that begins half a second earlier");
    assert_eq!(curves.read.mean, some(&[100.0, 50.0, 0.0]));
    assert_eq!(curves.queued.mean, some(&[1.0, 2.0, 3.0]));
    assert_eq!((curves.fill.mean, curves.open_tasks.mean), (some(&[0.5; 3]), some(&[2.0; 3])));
    assert_eq!((curves.seconds_a_point, curves.read.least), (1, None));
}

#[test]
fn the_end_is_a_point_of_its_own_unless_it_comes_at_once() {
    let ended = |micros, read, aborted_read| {
        let end = EndLine { micros: BEGIN + micros, read, aborted_read, ..EndLine::default() };
        Curves::of(&Recording { end: Some(end), ..recording([100]) }, BEGIN).read.mean
    };
    assert_eq!(ended(1_100_000, 100, 0), some(&[100.0]));
    assert_eq!(ended(1_500_000, 200, 0), some(&[100.0, 200.0]), "100 more in half a second");
    assert_eq!(ended(2_000_000, 60, 80), some(&[100.0, 40.0]), "what was read in vain was read");
    assert_eq!(ended(2_000_000, 60, 0), [Some(100.0), None], "less than before is not a rate of zero");
}

#[test]
fn a_day_has_few_points_and_its_stall_and_its_peak_are_seen() {
    let mut read = 0;
    let day = (0..86_400).map(|second| {
        read += match second {
            40_000 => 0,
            70_000 => 5000,
            _ => 100,
        };
        read
    });
    let curves = Curves::of(&recording(day), BEGIN);
    let points = curves.at.len();
    assert!((POINTS / 2..=POINTS).contains(&points), "{points}");
    assert_eq!(curves.at.last(), Some(&86_400.0));
    let least = curves.read.least.unwrap().into_iter().flatten().fold(f64::INFINITY, f64::min);
    let most = curves.read.most.unwrap().into_iter().flatten().fold(0.0, f64::max);
    assert_eq!((least, most), (0.0, 5000.0));
    let every = curves.seconds_a_point as f64;
    let last = 86_400.0 - every * (points - 1) as f64;
    let sum: f64 = curves
        .read
        .mean
        .iter()
        .enumerate()
        .map(|(place, mean)| mean.unwrap() * if place + 1 == points { last } else { every })
        .sum();
    assert!((sum - read as f64).abs() < 1.0, "means keep the whole: {sum} of {read}");
}

#[test]
fn what_waits_for_its_key_is_a_curve_where_there_is_order() {
    let seconds = recording([100, 200, 300]);
    assert_eq!(Curves::of(&seconds, BEGIN).waiting, None);
    let second = |second: u64| BEGIN + second * 1_000_000;
    let waiting = vec![(second(1), 7.0), (second(1), 2.0), (second(3), 5.0)];
    let curve = Curves::of(&Recording { waiting, ..seconds }, BEGIN).waiting.unwrap();
    assert_eq!(curve.mean, [Some(9.0), None, Some(5.0)], "those of all stages together; not known of the second");
}

#[test]
fn a_run_without_a_second_has_no_points() {
    assert_eq!(Curves::of(&recording([]), BEGIN).at, [0.0; 0]);
}

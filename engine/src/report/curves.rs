//! What was sampled each second as curves for the page. A run of a day has more seconds than a screen has points: each point is then the
//! mean of several, beside it the least and the most of them, so that no stall and no peak is lost. Not here: how they are drawn.

use std::collections::HashMap;

use serde::Serialize;

use crate::perf::recording::{Recording, Second};

/// So many points at most.
const POINTS: usize = 2000;
/// An end that comes so soon after the last second, in microseconds, has no point of its own.
const SOON: u64 = 200_000;

/// The curves of an entry, all over the same points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Curves {
    /// In seconds since the line of time begins.
    at: Vec<f64>,
    /// How many samples a point stands for.
    seconds_a_point: usize,
    /// Records a second.
    read: Curve,
    written: Curve,
    /// Records in channels.
    queued: Curve,
    /// Records that wait for their key, in a job with `order`.
    waiting: Option<Curve>,
    /// How full channels are, from 0 to 1.
    fill: Curve,
    open_tasks: Curve,
}

/// The values of a curve. None: not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Curve {
    mean: Vec<Option<f64>>,
    /// Where a point stands for several samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<Vec<Option<f64>>>,
}

/// How things were in the time until a sample was taken.
struct Sample {
    micros: u64,
    /// How long that time was, in seconds.
    took: f64,
    /// Records a second; not known where there are fewer than before, since the end does not count what failed attempts had written.
    read: Option<f64>,
    written: Option<f64>,
    queued: f64,
    waiting: Option<f64>,
    fill: f64,
    open_tasks: f64,
}

impl Curves {
    /// The curves of this entry on a line of time that begins then, in microseconds since 1970.
    pub(super) fn of(recording: &Recording, begin: u64) -> Curves {
        let samples = samples(recording);
        let seconds_a_point = samples.len().div_ceil(POINTS).max(1);
        let points: Vec<&[Sample]> = samples.chunks(seconds_a_point).collect();
        let curve = |value: fn(&Sample) -> Option<f64>| Curve::of(&points, seconds_a_point, value);
        let last = points.iter().filter_map(|point| point.last());
        Curves {
            at: last.map(|sample| sample.micros.saturating_sub(begin) as f64 / 1e6).collect(),
            seconds_a_point,
            read: curve(|sample| sample.read),
            written: curve(|sample| sample.written),
            queued: curve(|sample| Some(sample.queued)),
            waiting: (!recording.waiting.is_empty()).then(|| curve(|sample| sample.waiting)),
            fill: curve(|sample| Some(sample.fill)),
            open_tasks: curve(|sample| Some(sample.open_tasks)),
        }
    }
}

impl Curve {
    fn of(points: &[&[Sample]], seconds_a_point: usize, value: fn(&Sample) -> Option<f64>) -> Curve {
        let known = |point: &[Sample]| point.iter().filter_map(value).collect::<Vec<f64>>();
        let edge = |edge: fn(f64, f64) -> f64| {
            let edges = points.iter().map(|point| known(point).into_iter().reduce(edge));
            (seconds_a_point > 1).then(|| edges.collect())
        };
        Curve {
            mean: points.iter().map(|point| mean(point, value)).collect(),
            least: edge(f64::min),
            most: edge(f64::max),
        }
    }
}

/// The mean of what is known, where longer times weigh more.
fn mean(point: &[Sample], value: fn(&Sample) -> Option<f64>) -> Option<f64> {
    let known: Vec<(f64, f64)> = point.iter().filter_map(|sample| Some((sample.took, value(sample)?))).collect();
    let took: f64 = known.iter().map(|(took, _)| took).sum();
    (took > 0.0).then(|| known.iter().map(|(weight, value)| weight * value).sum::<f64>() / took)
}

/// What was sampled, and how it ended, each beside what came before it.
fn samples(recording: &Recording) -> Vec<Sample> {
    let begin = Second { micros: recording.run.start_micros, ..Second::default() };
    let last = recording.seconds.last().unwrap_or(&begin).micros;
    // Seconds count what attempts had read that failed as well.
    let end = recording.end.as_ref().filter(|end| end.micros > last + SOON).map(|end| Second {
        micros: end.micros,
        read_records: end.read + end.aborted_read,
        written_records: end.written,
        ..Second::default()
    });
    let seconds = recording.seconds.iter().chain(&end);
    let mut waiting: HashMap<u64, f64> = HashMap::new();
    for (micros, records) in &recording.waiting {
        *waiting.entry(*micros).or_default() += records;
    }
    let before = std::iter::once(&begin).chain(&recording.seconds);
    let pairs = before.zip(seconds).filter(|(before, now)| now.micros > before.micros);
    pairs.map(|(before, now)| sample(before, now, waiting.get(&now.micros).copied())).collect()
}

fn sample(before: &Second, now: &Second, waiting: Option<f64>) -> Sample {
    let took = (now.micros - before.micros) as f64 / 1e6;
    let rate = |before: u64, now: u64| now.checked_sub(before).map(|moved| moved as f64 / took);
    Sample {
        micros: now.micros,
        took,
        read: rate(before.read_records, now.read_records),
        written: rate(before.written_records, now.written_records),
        queued: now.queued_records as f64,
        waiting,
        fill: now.fill,
        open_tasks: now.open_tasks as f64,
    }
}

#[cfg(test)]
mod tests;

//! What transformers counted and measured, as people read it: in the summary, and each second of a run.

use std::fmt::Write;

use super::figures::count_text;
use crate::metrics::{Latency, StageMetrics};

/// One line for each second of a run: `order: waiting 3, ready keys 1 | start ms: count 1,000, p50 0.02, …`.
pub(super) fn line(stages: &[StageMetrics]) -> String {
    let stages = stages.iter().map(|stage| {
        let latencies = stage.latencies.iter().map(|latency| format!(" | {} ms: {}", latency.name, waits(latency)));
        format!("{}: {}{}", stage.stage, figures(stage), latencies.collect::<String>())
    });
    stages.collect::<Vec<_>>().join(" | ")
}

/// The lines of a stage in the summary, without its name: the first goes beside that.
pub(super) fn lines(stage: &StageMetrics) -> Vec<String> {
    let mut first = stage.setting.clone();
    let figures = figures(stage);
    if !figures.is_empty() {
        let _ = write!(first, "{}{figures}", if first.is_empty() { "" } else { ": " });
    }
    let latencies = stage.latencies.iter().map(|latency| format!("{:<9} ms: {}", latency.name, waits(latency)));
    std::iter::once(first).chain(latencies).chain(stage.remarks.iter().cloned()).collect()
}

fn figures(stage: &StageMetrics) -> String {
    let figures = stage.figures.iter().map(|figure| format!("{} {}", figure.name, count_text(figure.value)));
    figures.collect::<Vec<_>>().join(", ")
}

/// All that is told of a distribution, in milliseconds.
fn waits(latency: &Latency) -> String {
    let told = &latency.distribution;
    let millis = |micros: f64| format!("{:.2}", micros / 1000.0);
    let figures = [
        ("min", told.min as f64),
        ("max", told.max as f64),
        ("mean", told.mean),
        ("stddev", told.stddev),
        ("median", told.p50 as f64),
        ("p75", told.p75 as f64),
        ("p95", told.p95 as f64),
        ("p98", told.p98 as f64),
        ("p99", told.p99 as f64),
        ("p999", told.p999 as f64),
    ];
    let figures = figures.iter().map(|(name, micros)| format!(", {name} {}", millis(*micros)));
    format!("count {}{}", count_text(told.count), figures.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Distribution;
    use crate::metrics::{Figure, Waited};

    /// KA-23: nothing that the kata reports is missing.
    #[test]
    fn a_line_has_every_figure() {
        let distribution =
            Distribution { count: 1000, min: 10, max: 15_900, mean: 520.0, p999: 15_100, ..Distribution::default() };
        let stage = StageMetrics {
            stage: "order".into(),
            place: "job.content[0].transformer[1]".into(),
            setting: "12 lanes".into(),
            figures: vec![Figure::gauge("waiting", 3)],
            latencies: vec![Latency {
                name: "start".into(),
                distribution,
                buckets: Vec::new(),
                so_far: Waited::default(),
            }],
            remarks: Vec::new(),
        };
        assert_eq!(
            line(&[stage]),
            "order: waiting 3 | start ms: count 1,000, min 0.01, max 15.90, mean 0.52, stddev 0.00, median 0.00, p75 0.00, p95 0.00, \
             p98 0.00, p99 0.00, p999 15.10"
        );
    }
}

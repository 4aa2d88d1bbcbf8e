//! What a transformer counts and measures beside the records that pass it: plain values, for the summary of a run and for
//! whoever watches one. Not here: how they are shown (`cli`).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::latency::{Bucket, Distribution, Histogram};

/// The figures of one transformer of a job, over all its tasks, at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageMetrics {
    /// Its name in the job file.
    pub stage: String,
    /// Where it stands there: `job.content[0].transformer[0]`.
    pub place: String,
    /// How it is set, in a few words: `window 10 s, at most 64 MiB`.
    pub setting: String,
    pub figures: Vec<Figure>,
    /// How long records waited, by what for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<Latency>,
    /// What a person should know about how it went, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A distribution of waits with a name, in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub name: Cow<'static, str>,
    #[serde(flatten)]
    pub distribution: Distribution,
    /// The histogram, where it is of the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<Bucket>,
    /// Since the job began, whatever the distribution is of: for those who look less often than each second.
    #[serde(skip)]
    pub so_far: Waited,
}

/// Times added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waited {
    /// How many there were.
    pub count: u64,
    pub micros: u64,
}

/// A number with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    pub name: Cow<'static, str>,
    pub kind: FigureKind,
    pub value: u64,
}

/// How a number moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// It counts what has happened: the difference of two moments means something.
    Counter,
    /// It tells how things are.
    Gauge,
}

impl Latency {
    /// What is told of waits: of those lately, or (`ever`) of all, with their histogram.
    pub fn of(name: &'static str, lately: &Histogram, all: &Histogram, ever: bool) -> Latency {
        Latency {
            name: name.into(),
            distribution: if ever { all } else { lately }.distribution(),
            buckets: if ever { all.buckets() } else { Vec::new() },
            so_far: Waited { count: all.count(), micros: all.micros() },
        }
    }
}

impl Figure {
    /// How often something has happened.
    pub fn counter(name: &'static str, value: u64) -> Figure {
        Figure { name: name.into(), kind: FigureKind::Counter, value }
    }

    /// How much there is of something now.
    pub fn gauge(name: &'static str, value: u64) -> Figure {
        Figure { name: name.into(), kind: FigureKind::Gauge, value }
    }
}

impl StageMetrics {
    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<u64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }
}

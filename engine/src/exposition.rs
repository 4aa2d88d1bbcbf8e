//! What a run shows to a Prometheus server: its counters and the figures of its transformers, read at the moment somebody asks, as
//! text. Names of jobs and transformers are shown, with secrets masked; nothing of records, statements or settings is.
//! Not here: what is shown (`families`), how it is asked for and sent (`server`).

use std::collections::HashSet;
use std::sync::Arc;

use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::registry::Registry;

use crate::metrics::StageMetrics;
use crate::progress::{Progress, Snapshot};

mod accept;
mod address;
mod families;
mod server;
#[cfg(test)]
mod tests;

pub use address::Address;
pub use server::Door;

/// What each name of a metric begins with.
const PREFIX: &str = "transship";

/// The jobs of a run, as they are shown.
pub struct Exposition<'a> {
    jobs: Vec<(String, &'a Progress)>,
    mask: Mask<'a>,
}

/// Takes the secrets out of a text.
pub type Mask<'a> = Box<dyn Fn(&str) -> String + Sync + 'a>;

/// How the text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' own text format, 0.0.4, which anything can read.
    Plain,
}

/// The jobs at one moment.
#[derive(Debug)]
struct Moment {
    jobs: Vec<JobNow>,
}

/// A job at one moment.
#[derive(Debug)]
struct JobNow {
    name: String,
    counters: Snapshot,
    /// How much of its work is done, from 0 to 1, where that can be said.
    done: Option<f64>,
    stages: Vec<StageNow>,
}

/// A transformer at one moment.
#[derive(Debug)]
struct StageNow {
    name: String,
    place: String,
    /// Those of all transformers of the job, and which it is.
    metrics: Arc<Vec<StageMetrics>>,
    number: usize,
}

impl Format {
    /// The media type that tells it.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Plain => prometheus_text::CONTENT_TYPE,
        }
    }
}

impl<'a> Exposition<'a> {
    /// These jobs, by what a person calls them. Of those with the same title the second is shown as `TITLE #2`.
    pub fn new(jobs: impl IntoIterator<Item = (&'a str, &'a Progress)>, mask: Mask<'a>) -> Exposition<'a> {
        let mut taken = HashSet::new();
        let mut named = |title: &str| {
            let title = mask(title);
            let others = (2..).map(|number| format!("{title} #{number}"));
            let free = std::iter::once(title.clone()).chain(others).find(|name| !taken.contains(name));
            let name = free.unwrap_or(title);
            taken.insert(name.clone());
            name
        };
        let jobs = jobs.into_iter().map(|(title, progress)| (named(title), progress)).collect();
        Exposition { jobs, mask }
    }

    /// How the jobs are now.
    pub fn text(&self, format: Format) -> String {
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register_collector(Box::new(self.now()));
        let mut written = String::new();
        let result = match format {
            Format::OpenMetrics => text::encode(&mut written, &registry),
            Format::Plain => prometheus_text::encode(&mut written, &registry),
        };
        debug_assert!(result.is_ok(), "a text takes whatever is written to it");
        written
    }

    fn now(&self) -> Moment {
        Moment { jobs: self.jobs.iter().map(|(name, progress)| self.job_now(name, progress)).collect() }
    }

    fn job_now(&self, name: &str, progress: &Progress) -> JobNow {
        let all = progress.stages().unwrap_or_default();
        let stage = |(number, stage): (usize, &StageMetrics)| StageNow {
            name: (self.mask)(&stage.stage),
            place: (self.mask)(&stage.place),
            metrics: all.clone(),
            number,
        };
        JobNow {
            name: name.into(),
            counters: progress.snapshot(),
            done: progress.work().share(),
            stages: all.iter().enumerate().map(stage).collect(),
        }
    }
}

impl StageNow {
    fn metrics(&self) -> &StageMetrics {
        &self.metrics[self.number]
    }
}

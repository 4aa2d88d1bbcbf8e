//! What a program that watches a run is told: a line of JSON for each thing that happens (`--json=events`).

use std::time::{Duration, Instant};

use serde::Serialize;

use super::console::Console;
use super::forecast::{Forecast, shown_share, slowest};
use super::lately::{Period, is_yet_to_begin};
use super::monitor::Watched;
use crate::perf::now_micros;
use crate::progress::{OpenTask, Snapshot, Unit};

/// How often progress is told.
const INTERVAL: Duration = Duration::from_secs(1);

/// What happens in a run, each as one line of JSON on stdout. The member `event` says which it is.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event<'a> {
    /// How far a job is that is under way.
    Progress(Progressed<'a>),
    /// A Prometheus server finds the run at this URL, as long as it lasts.
    Metrics { micros: u64, url: &'a str },
    /// Nothing has moved for a while.
    Stall { micros: u64, message: &'a str },
    /// Something is odd, though not wrong.
    Warning { micros: u64, message: &'a str },
    /// Something is wrong; the run ends with this exit code, unless another came before.
    Error { micros: u64, message: &'a str, exit_code: i32 },
    /// What a job came to.
    Summary { micros: u64, summary: &'a serde_json::Value },
    /// What a dry run would do.
    Plan { micros: u64, plan: &'a serde_json::Value },
}

/// How far a job is.
#[derive(Serialize)]
pub(super) struct Progressed<'a> {
    micros: u64,
    job: &'a str,
    read_records: u64,
    read_bytes: u64,
    written_records: u64,
    dirty_records: u64,
    /// Since the event before.
    records_per_second: u64,
    bytes_per_second: u64,
    tasks: Tasks,
    /// How much of what is known so far is done, by `unit`: from 0 to what is shown of a job that has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slowest: Option<Slowest>,
}

#[derive(Serialize)]
struct Tasks {
    known: u64,
    all_known: bool,
    done: u64,
    open: u64,
}

/// The open task that will end last, as far as one can tell.
#[derive(Serialize)]
struct Slowest {
    task: u32,
    split: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    open_seconds: f64,
}

/// Tells how far jobs are.
pub(super) struct Events<'a> {
    console: &'a Console,
    watched: &'a [Watched<'a>],
    told: Vec<Told>,
}

/// What was told of a job.
struct Told {
    snapshot: Snapshot,
    /// When; before anything is, when it had yet to begin.
    at: Instant,
    forecast: Forecast,
}

impl<'a> Events<'a> {
    pub(super) fn new(console: &'a Console, watched: &'a [Watched<'a>]) -> Events<'a> {
        let told = watched.iter().map(|_| Told {
            snapshot: Snapshot::default(),
            at: Instant::now(),
            forecast: Forecast::default(),
        });
        Events { console, watched, told: told.collect() }
    }

    /// Tells how far the jobs are that are under way, if it is time.
    pub(super) fn update(&mut self) {
        if !self.console.tells_events() {
            return;
        }
        for (job, told) in self.watched.iter().zip(&mut self.told) {
            let now = job.snapshot();
            if is_yet_to_begin(&now) {
                told.at = Instant::now();
            } else if now.has_begun && !now.has_ended && told.at.elapsed() >= INTERVAL {
                self.console.tell(&Event::Progress(told.progressed(job, now)));
            }
        }
    }
}

impl Told {
    fn progressed<'a>(&mut self, job: &Watched<'a>, now: Snapshot) -> Progressed<'a> {
        let period = Period { before: self.snapshot, now, time: self.at.elapsed() };
        (self.snapshot, self.at) = (now, Instant::now());
        let work = job.progress.work();
        self.forecast.look(&work, self.at);
        Progressed {
            micros: now_micros(),
            job: job.title,
            read_records: now.read_records,
            read_bytes: now.read_bytes,
            written_records: now.written_records,
            dirty_records: now.dirty_records,
            records_per_second: period.records_per_second(),
            bytes_per_second: period.bytes_per_second(),
            tasks: Tasks {
                known: now.tasks_known,
                all_known: now.all_tasks_known,
                done: now.tasks_done,
                open: now.open_tasks,
            },
            share: work.share().map(shown_share),
            unit: match work.unit {
                Unit::Bytes => "bytes",
                Unit::Records => "records",
                Unit::Splits => "splits",
            },
            left_seconds: self.forecast.left(&work).map(|left| left.as_secs_f64()),
            limit: period.limit(),
            slowest: slowest(&work).map(Slowest::of),
        }
    }
}

impl Slowest {
    fn of(task: &OpenTask) -> Slowest {
        Slowest {
            task: task.number,
            split: task.label.clone(),
            share: task.share.map(shown_share),
            open_seconds: task.lasts.as_secs_f64(),
        }
    }
}

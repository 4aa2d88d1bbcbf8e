//! The metrics that are shown: their names, what they mean, and where their values come from. `docs/metrics.md` lists them for people.

use std::fmt::Error;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    CounterValueEncoder, DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, GaugeValueEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

use super::{JobNow, Moment, StageNow};
use crate::metrics::{Figure, FigureKind, Latency};
use crate::slots::Standing;

/// The label that says which job. Not `job`: a Prometheus server has that for itself, and would rename ours.
const JOB: &str = "job_name";

/// A metric that every job has.
struct Family {
    name: &'static str,
    unit: Option<Unit>,
    kind: MetricType,
    /// Without quotation marks: OpenMetrics would have them escaped, and the encoder does not.
    help: &'static str,
    values: fn(&JobNow) -> Vec<Sample>,
}

/// A value with its labels.
struct Sample {
    labels: Labels,
    value: Number,
}

type Labels = Vec<(&'static str, String)>;

#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(u64),
    Real(f64),
}

const OF_JOBS: &[Family] = &[
    counter("read_records", None, "Records that readers gave in batches, those of repeated attempts included", |job| {
        one(job.counters.read_records)
    }),
    counter("read", Some(Unit::Bytes), "Their bytes, as counted in the channel", |job| one(job.counters.read_bytes)),
    counter("written_records", None, "Records that writers took, those of repeated attempts included", |job| {
        one(job.counters.written_records)
    }),
    counter("dirty_records", None, "Records kept as dirty, those of repeated attempts included", |job| {
        one(job.counters.dirty_records)
    }),
    gauge("known_tasks", None, "Tasks found so far", |job| one(job.counters.tasks_known)),
    gauge("all_tasks_known", None, "1 once no more tasks will be found", |job| flag(job.counters.all_tasks_known)),
    counter("done_tasks", None, "Tasks that have ended, whatever they came to", |job| one(job.counters.tasks_done)),
    gauge(
        "open_tasks",
        None,
        "Tasks whose reader has a slot, waits for one or for something else, or has read all",
        |job| {
            let Standing { running, waiting, blocked, .. } = job.counters.standing;
            let readers = [("running", running), ("waiting", waiting), ("blocked", blocked)];
            let mut samples: Vec<_> = readers.map(|(state, tasks)| labelled("state", state, tasks as u64)).into();
            samples.push(labelled("state", "writing", job.counters.only_writing()));
            samples
        },
    ),
    gauge("source_known", Some(Unit::Bytes), "Bytes of the tasks found so far, where the source tells them", |job| {
        one(job.counters.source_bytes)
    }),
    counter(
        "source_done",
        Some(Unit::Bytes),
        "Bytes of the tasks that have ended, where the source tells them",
        |job| one(job.counters.source_bytes_done),
    ),
    gauge("done_ratio", None, "How much of the work known so far is done, from 0 to 1", |job| {
        job.done.map(|share| Sample::of(Number::Real(share))).into_iter().collect()
    }),
    counter("wait_for_reader", Some(Unit::Seconds), "How long writers waited for records, added up", |job| {
        seconds(job.counters.wait_for_reader_nanos)
    }),
    counter("wait_for_writer", Some(Unit::Seconds), "How long readers waited for writers, added up", |job| {
        seconds(job.counters.wait_for_writer_nanos)
    }),
    counter("slot", Some(Unit::Seconds), "How long tasks had slots of the run, added up", |job| {
        vec![Sample::of(Number::Real(job.counters.standing.scheduled.as_secs_f64()))]
    }),
    gauge("slot_level", None, "The level that the job has come to by that, from 0", |job| {
        one(job.counters.standing.level as u64)
    }),
    gauge("job_begun", None, "1 once the job has begun", |job| flag(job.counters.has_begun)),
    gauge("job_ended", None, "1 once the job has come to its end, whatever that was", |job| {
        flag(job.counters.has_ended)
    }),
];

impl Collector for Moment {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        encoder.encode_descriptor("build", "The program that runs", None, MetricType::Info)?.encode_info(&version)?;
        for family in OF_JOBS {
            let samples =
                self.jobs.iter().flat_map(|job| (family.values)(job).into_iter().map(|value| value.of_job(job)));
            write(&mut encoder, family.name, family.help, family.unit.as_ref(), family.kind, samples)?;
        }
        self.encode_figures(&mut encoder)?;
        self.encode_latencies(&mut encoder)
    }
}

impl Moment {
    fn stages(&self) -> impl Iterator<Item = (&JobNow, &StageNow)> {
        self.jobs.iter().flat_map(|job| job.stages.iter().map(move |stage| (job, stage)))
    }

    /// Each name of a figure is a metric of its own.
    fn encode_figures(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut names: Vec<(&str, FigureKind)> = Vec::new();
        for figure in self.stages().flat_map(|(_, stage)| &stage.metrics().figures) {
            if !names.contains(&(&figure.name, figure.kind)) {
                names.push((&figure.name, figure.kind));
            }
        }
        for (name, kind) in names {
            let same = |figure: &&Figure| (figure.name.as_ref(), figure.kind) == (name, kind);
            let samples = self.stages().filter_map(|(job, stage)| {
                let figure = stage.metrics().figures.iter().find(same)?;
                Some(Sample::of(Number::Whole(figure.value)).of_stage(job, stage))
            });
            let (kind, how) = match kind {
                FigureKind::Counter => (MetricType::Counter, "counted by a transformer since the job began"),
                FigureKind::Gauge => (MetricType::Gauge, "how things are at a transformer"),
            };
            let help = format!("{name}: {how}, as of the last second");
            match name.strip_suffix(" bytes") {
                Some(name) => write(encoder, &metric_name(name), &help, Some(&Unit::Bytes), kind, samples)?,
                None => write(encoder, &metric_name(name), &help, None, kind, samples)?,
            }
        }
        Ok(())
    }

    fn encode_latencies(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let latencies = || {
            self.stages()
                .flat_map(|(job, stage)| stage.metrics().latencies.iter().map(move |latency| (job, stage, latency)))
        };
        if latencies().next().is_none() {
            return Ok(());
        }
        let of_all = |value: fn(&Latency) -> Number| {
            latencies().map(move |(job, stage, latency)| Sample::of(value(latency)).of_latency(job, stage, latency))
        };
        let quantiles = latencies().flat_map(|(job, stage, latency)| {
            quantiles(latency).into_iter().map(move |value| value.of_latency(job, stage, latency))
        });
        let seconds = Some(&Unit::Seconds);
        let help = "How long records waited, by quantile, in the last second; of a job that has ended, in all";
        write(encoder, "stage_wait", help, seconds, MetricType::Gauge, quantiles)?;
        let help = "Those waits added up since the job began, as of the last second";
        let sums = of_all(|latency| micros(latency.so_far.micros));
        write(encoder, "stage_waited", help, seconds, MetricType::Counter, sums)?;
        let counts = of_all(|latency| Number::Whole(latency.so_far.count));
        write(encoder, "stage_waited_records", "How many waits these are", None, MetricType::Counter, counts)
    }
}

/// Writes a metric with all its values.
fn write(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    kind: MetricType,
    samples: impl Iterator<Item = Sample>,
) -> Result<(), Error> {
    let mut encoder = encoder.encode_descriptor(name, help, unit, kind)?;
    for Sample { labels, value } in samples {
        let mut encoder = encoder.encode_family(&labels)?;
        match kind {
            MetricType::Counter => encoder.encode_counter::<NoLabelSet, _, f64>(&value, None)?,
            _ => encoder.encode_gauge(&value)?,
        }
    }
    Ok(())
}

/// What a figure of a transformer is called: `cache hits` is `stage_cache_hits`.
fn metric_name(figure: &str) -> String {
    let letters = figure.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
    format!("stage_{}", letters.collect::<String>().to_ascii_lowercase())
}

/// The least and the greatest of them are the quantiles 0 and 1. Where nothing waited there is nothing to tell.
fn quantiles(latency: &Latency) -> Vec<Sample> {
    let told = &latency.distribution;
    let all = [
        ("0", told.min),
        ("0.5", told.p50),
        ("0.75", told.p75),
        ("0.95", told.p95),
        ("0.98", told.p98),
        ("0.99", told.p99),
        ("0.999", told.p999),
        ("1", told.max),
    ];
    let sample =
        |(quantile, time): (&str, u64)| Sample { labels: vec![("quantile", quantile.into())], value: micros(time) };
    if told.count == 0 { Vec::new() } else { all.map(sample).into() }
}

const fn counter(
    name: &'static str,
    unit: Option<Unit>,
    help: &'static str,
    values: fn(&JobNow) -> Vec<Sample>,
) -> Family {
    Family { name, unit, kind: MetricType::Counter, help, values }
}

const fn gauge(
    name: &'static str,
    unit: Option<Unit>,
    help: &'static str,
    values: fn(&JobNow) -> Vec<Sample>,
) -> Family {
    Family { name, unit, kind: MetricType::Gauge, help, values }
}

fn one(value: u64) -> Vec<Sample> {
    vec![Sample::of(Number::Whole(value))]
}

fn flag(is_so: bool) -> Vec<Sample> {
    one(u64::from(is_so))
}

fn seconds(nanos: u64) -> Vec<Sample> {
    vec![Sample::of(Number::Real(nanos as f64 / 1e9))]
}

fn labelled(label: &'static str, name: &str, value: u64) -> Sample {
    Sample { labels: vec![(label, name.into())], value: Number::Whole(value) }
}

fn micros(micros: u64) -> Number {
    Number::Real(micros as f64 / 1e6)
}

impl Sample {
    fn of(value: Number) -> Sample {
        Sample { labels: Labels::new(), value }
    }

    fn of_job(mut self, job: &JobNow) -> Sample {
        self.labels.insert(0, (JOB, job.name.clone()));
        self
    }

    fn of_stage(mut self, job: &JobNow, stage: &StageNow) -> Sample {
        let labels = [(JOB, job.name.clone()), ("stage", stage.name.clone()), ("place", stage.place.clone())];
        self.labels.splice(0..0, labels);
        self
    }

    fn of_latency(mut self, job: &JobNow, stage: &StageNow, latency: &Latency) -> Sample {
        self.labels.insert(0, ("latency", latency.name.clone().into_owned()));
        self.of_stage(job, stage)
    }
}

impl EncodeCounterValue for Number {
    fn encode(&self, encoder: &mut CounterValueEncoder<'_>) -> Result<(), Error> {
        match self {
            Number::Whole(value) => EncodeCounterValue::encode(value, encoder),
            Number::Real(value) => EncodeCounterValue::encode(value, encoder),
        }
    }
}

impl EncodeGaugeValue for Number {
    fn encode(&self, encoder: &mut GaugeValueEncoder<'_>) -> Result<(), Error> {
        match self {
            Number::Whole(value) => EncodeGaugeValue::encode(value, encoder),
            Number::Real(value) => EncodeGaugeValue::encode(value, encoder),
        }
    }
}

//! The text that a Prometheus server gets is read back here: names, types, labels and values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use transship_plugin_api::Split;

use super::*;
use crate::cancel::Cancel;
use crate::clock::SystemClock;
use crate::latency::Histogram;
use crate::metrics::{Figure, Latency, Waited};
use crate::slots::{Rules, Slots};

/// A sample that was read back: the labels in their order of names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: String,
}

/// What was read back: the types of metrics, and all samples.
struct Read {
    types: BTreeMap<String, String>,
    samples: Vec<Sample>,
}

impl Read {
    /// The values of a metric with these labels.
    fn values(&self, name: &str, labels: &[(&str, &str)]) -> Vec<&str> {
        let has =
            |sample: &Sample| labels.iter().all(|(name, value)| sample.labels.get(*name).is_some_and(|is| is == value));
        let same = self.samples.iter().filter(|sample| sample.name == name && has(sample));
        same.map(|sample| sample.value.as_str()).collect()
    }
}

/// Reads an exposition. What does not belong there fails the test.
fn read(text: &str) -> Read {
    let mut read = Read { types: BTreeMap::new(), samples: Vec::new() };
    let mut family = String::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            family = name.to_string();
            assert_eq!(read.types.insert(name.into(), kind.into()), None, "{name} comes twice");
        } else if line.starts_with("# HELP ") {
            assert!(!line.contains(['"', '\\']), "{line} would have to be escaped");
        } else if !line.starts_with("# UNIT ") {
            let sample = sample(line);
            assert!(sample.name.starts_with(&family), "{line} stands among those of {family}");
            read.samples.push(sample);
        }
    }
    let identities: BTreeSet<_> = read.samples.iter().map(|sample| (&sample.name, &sample.labels)).collect();
    assert_eq!(identities.len(), read.samples.len(), "a sample comes twice:\n{text}");
    read
}

fn sample(line: &str) -> Sample {
    let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap());
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    while let Some(inside) = rest.strip_prefix(['{', ',']) {
        let (label, value) = inside.split_once("=\"").unwrap();
        let (value, behind) = unescaped(value);
        assert_eq!(labels.insert(label.to_string(), value), None, "{line}");
        rest = behind;
    }
    let value = rest.strip_prefix('}').unwrap_or(rest).strip_prefix(' ').unwrap();
    assert!(value.parse::<f64>().is_ok(), "{line}");
    Sample { name: name.into(), labels, value: value.into() }
}

/// The value of a label, and what comes behind its closing quote.
fn unescaped(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => match letters.next().unwrap().1 {
                'n' => value.push('\n'),
                escaped @ ('\\' | '"') => value.push(escaped),
                other => panic!("\\{other} is no escape"),
            },
            letter => value.push(letter),
        }
    }
    panic!("no end of {text}");
}

fn unmasked<'a>() -> Mask<'a> {
    Box::new(str::to_string)
}

fn show(title: &str, progress: &Progress, format: Format) -> Read {
    read(&Exposition::new([(title, progress)], unmasked()).text(format))
}

fn split(bytes: u64) -> Split {
    Split { bytes: Some(bytes), ..Split::new("1", "secret-table", serde_json::Value::Null) }
}

/// A job with something of everything.
fn under_way() -> Progress {
    let progress = Progress::default();
    progress.begin();
    progress.read(300, 4096);
    progress.written(250);
    progress.counts_dirty(Arc::new(AtomicU64::new(7)));
    progress.waited_for_reader(Duration::from_millis(1500));
    progress.waited_for_writer(Duration::from_millis(250));
    for _ in 0..2 {
        progress.task_known(&split(100));
    }
    drop(progress.open_task(0, &split(100)));
    progress
}

fn stage() -> StageMetrics {
    let mut waits = Histogram::default();
    waits.record_many(Duration::from_millis(2), 10);
    StageMetrics {
        stage: "order".into(),
        place: "job.content[0].transformer[1]".into(),
        setting: "hunter2".into(),
        figures: vec![
            Figure::gauge("ready keys", 3),
            Figure::counter("time-outs", 2),
            Figure::gauge("remembered bytes", 1024),
        ],
        latencies: vec![Latency {
            name: "key wait".into(),
            distribution: waits.distribution(),
            buckets: Vec::new(),
            so_far: Waited { count: 40, micros: 80_000 },
        }],
        remarks: vec!["hunter2".into()],
    }
}

#[test]
fn every_counter_of_a_job_is_shown_with_its_value() {
    let expected = [
        ("all_tasks_known", "0"),
        ("dirty_records_total", "7"),
        ("done_ratio", "0.5"),
        ("done_tasks_total", "1"),
        ("job_begun", "1"),
        ("job_ended", "0"),
        ("known_tasks", "2"),
        ("read_bytes_total", "4096"),
        ("read_records_total", "300"),
        ("slot_level", "0"),
        ("slot_seconds_total", "0.0"),
        ("source_done_bytes_total", "100"),
        ("source_known_bytes", "200"),
        ("wait_for_reader_seconds_total", "1.5"),
        ("wait_for_writer_seconds_total", "0.25"),
        ("written_records_total", "250"),
    ];
    for format in [Format::OpenMetrics, Format::Plain] {
        let read = show("orders", &under_way(), format);
        let of_job =
            read.samples.iter().filter(|sample| sample.labels.len() == 1 && sample.labels.contains_key("job_name"));
        let mut told: Vec<_> = of_job
            .map(|sample| {
                assert_eq!(sample.labels["job_name"], "orders");
                (sample.name.strip_prefix("transship_").unwrap(), sample.value.as_str())
            })
            .collect();
        told.sort_unstable();
        assert_eq!(told, expected, "{format:?}");
        assert_eq!(read.values("transship_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), ["1"]);
    }
}

#[test]
fn open_tasks_are_told_by_what_they_wait_for() {
    let slots = Slots::new(1, Rules::default(), SystemClock::new());
    let share = Arc::new(slots.share(1));
    let progress = Progress::default();
    progress.shares_slots(&share);
    let cancel = Cancel::new();
    let (mut running, _blocked) = (share.pass(&cancel), share.pass(&cancel));
    running.take().unwrap();
    let read = show("orders", &progress, Format::Plain);
    let tasks = |state| read.values("transship_open_tasks", &[("state", state)]);
    assert_eq!((tasks("running"), tasks("waiting"), tasks("blocked")), (vec!["1"], vec!["0"], vec!["1"]));
    assert_eq!(read.values("transship_done_ratio", &[]), [""; 0], "nothing is known yet");
}

#[test]
fn a_transformer_shows_its_figures_by_their_kind_and_how_long_records_waited() {
    let progress = Progress::default();
    progress.second(vec![stage()]);
    for format in [Format::OpenMetrics, Format::Plain] {
        let read = show("orders", &progress, format);
        let labels = [("job_name", "orders"), ("stage", "order"), ("place", "job.content[0].transformer[1]")];
        let of_stage = |name: &str| read.values(&format!("transship_stage_{name}"), &labels);
        assert_eq!(of_stage("ready_keys"), ["3"]);
        assert_eq!(of_stage("time_outs_total"), ["2"]);
        assert_eq!(of_stage("remembered_bytes"), ["1024"]);
        assert_eq!(of_stage("waited_seconds_total"), ["0.08"]);
        assert_eq!(of_stage("waited_records_total"), ["40"]);
        let quantiles = read.samples.iter().filter(|sample| sample.name == "transship_stage_wait_seconds");
        let quantiles: Vec<_> = quantiles
            .map(|sample| {
                assert_eq!(sample.labels["latency"], "key wait");
                assert!((sample.value.parse::<f64>().unwrap() - 0.002).abs() < 0.00001, "{sample:?}");
                sample.labels["quantile"].as_str()
            })
            .collect();
        assert_eq!(quantiles, ["0", "0.5", "0.75", "0.95", "0.98", "0.99", "0.999", "1"]);
    }
    let of_type = |text: &str, name: &str| read(text).types[&format!("transship_stage_{name}")].clone();
    let text = Exposition::new([("orders", &progress)], unmasked()).text(Format::Plain);
    assert_eq!(
        ["ready_keys", "time_outs_total", "wait_seconds"].map(|name| of_type(&text, name)),
        ["gauge", "counter", "gauge"]
    );
}

#[test]
fn where_nothing_waited_in_a_second_no_quantile_is_told() {
    let mut stage = stage();
    stage.latencies[0].distribution = Histogram::default().distribution();
    let progress = Progress::default();
    progress.second(vec![stage]);
    let read = show("orders", &progress, Format::OpenMetrics);
    assert_eq!(read.values("transship_stage_wait_seconds", &[]), [""; 0]);
    assert_eq!(read.values("transship_stage_waited_records_total", &[]), ["40"]);
}

#[test]
fn what_a_job_came_to_in_all_stays_when_it_has_ended() {
    let progress = Progress::default();
    progress.second(vec![stage()]);
    let mut whole = stage();
    whole.figures[1].value = 5;
    progress.whole(&[whole]);
    progress.end();
    let read = show("orders", &progress, Format::Plain);
    assert_eq!(read.values("transship_stage_time_outs_total", &[]), ["5"]);
    assert_eq!(read.values("transship_job_ended", &[]), ["1"]);
}

/// Both who prints each second and who asks now and then are told.
#[test]
fn a_second_is_new_once_and_stays_to_be_shown() {
    let progress = Progress::default();
    let mut seen = None;
    assert_eq!(progress.new_second(&mut seen), None);
    for _ in 0..2 {
        // The same figures in another second are another second.
        progress.second(vec![stage()]);
        assert!(progress.new_second(&mut seen).is_some_and(|second| *second == [stage()]));
        assert_eq!(progress.new_second(&mut seen), None);
        assert!(progress.stages().is_some());
    }
    progress.whole(&[]);
    assert_eq!(progress.new_second(&mut seen), None, "the whole job is no second");
}

#[test]
fn no_name_can_break_out_of_its_label() {
    let hostile = "a\"} 1\ntransship_fake 2\\\\\" # EOF\n# TYPE x\r{,=\u{202e}日本\\n";
    let mut stage = stage();
    stage.stage = hostile.into();
    let progress = Progress::default();
    progress.second(vec![stage]);
    for format in [Format::OpenMetrics, Format::Plain] {
        let read = show(hostile, &progress, format);
        assert!(!read.samples.iter().any(|sample| sample.name == "transship_fake"));
        assert_eq!(read.values("transship_job_begun", &[("job_name", hostile)]), ["0"], "{format:?}");
        assert_eq!(read.values("transship_stage_ready_keys", &[("stage", hostile)]), ["3"], "{format:?}");
    }
}

#[test]
fn secrets_in_names_are_masked_and_nothing_else_of_a_job_is_told() {
    let progress = under_way();
    let mut stage = stage();
    stage.stage = "lookup-hunter2".into();
    progress.second(vec![stage]);
    let _open = progress.open_task(1, &split(100));
    let mask: Mask<'_> = Box::new(|text| text.replace("hunter2", "***"));
    let text = Exposition::new([("job hunter2", &progress)], mask).text(Format::Plain);
    assert!(!text.contains("hunter2") && !text.contains("secret-table"), "{text}");
    assert_eq!(
        read(&text).values("transship_stage_ready_keys", &[("job_name", "job ***"), ("stage", "lookup-***")]),
        ["3"]
    );
}

#[test]
fn jobs_of_one_name_are_told_apart() {
    let jobs: Vec<Progress> = (1..=4)
        .map(|records| {
            let progress = Progress::default();
            progress.read(records, 0);
            progress
        })
        .collect();
    // Masked, the first and the last are called the same as well.
    let titles = ["a", "a #2", "a", "b"];
    let mask: Mask<'_> = Box::new(|text| text.replace('b', "a"));
    let text = Exposition::new(titles.into_iter().zip(&jobs), mask).text(Format::OpenMetrics);
    let records = |name| read(&text).values("transship_read_records_total", &[("job_name", name)]).concat();
    assert_eq!(["a", "a #2", "a #3", "a #4"].map(records), ["1", "2", "3", "4"]);
}

#[test]
fn counters_end_in_total_units_are_told_and_open_metrics_has_an_end() {
    let progress = under_way();
    progress.second(vec![stage()]);
    let exposition = Exposition::new([("orders", &progress)], unmasked());
    let plain = read(&exposition.text(Format::Plain));
    for (name, kind) in &plain.types {
        assert!(name.starts_with("transship_"), "{name}");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{name} is a {kind}");
    }
    let text = exposition.text(Format::OpenMetrics);
    assert!(text.ends_with("\n# EOF\n") && text.contains("\n# UNIT transship_read_bytes bytes\n"), "{text}");
    let open = read(&text);
    assert_eq!(open.samples, plain.samples, "the formats differ in their comments alone");
}

/// Of no jobs there is nothing to tell but the program.
#[test]
fn a_run_without_jobs_has_a_text_too() {
    let text = Exposition::new([], unmasked()).text(Format::OpenMetrics);
    assert_eq!(read(&text).samples.len(), 1, "{text}");
}

#[test]
fn the_page_for_people_names_every_metric() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md")).unwrap();
    let progress = under_way();
    progress.second(vec![stage()]);
    let shown = show("orders", &progress, Format::Plain);
    // The figures of transformers have names of their own, which the page explains.
    let is_figure =
        |name: &str| stage().figures.iter().any(|figure| name.contains(&figure.name.replace([' ', '-'], "_")));
    for (name, kind) in shown.types.iter().filter(|(name, _)| !is_figure(name)) {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` | {kind} |")));
        assert!(row.is_some(), "docs/metrics.md has no row for {name}, a {kind}");
    }
}

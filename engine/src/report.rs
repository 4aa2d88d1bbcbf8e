//! What was recorded of a run as one page of HTML that needs nothing else: no other file, no network. The page draws itself from the
//! data that lies in it (`report/page.js`). Not here: what the figures mean and what limited the run (`perf::diagnosis`).

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::perf::Phase;
use crate::perf::diagnosis::{self, Diagnosis, Part, TaskRow};
use crate::perf::recording::{AttemptLines, DirtyLine, EndLine, PhaseLine, Recording, RunLine};

mod curves;
#[cfg(test)]
mod tests;

use curves::Curves;

const PAGE: &str = include_str!("report/page.html");

/// What stands in the place of a page until the run has ended.
const PLACEHOLDER: &str = include_str!("report/placeholder.html");

/// One of them is near the beginning of each page. Those of earlier programs had only a title.
const MARKS: [&str; 2] = ["<meta name=\"generator\" content=\"transship ", "<title>transship</title>"];

/// What stands in the places of the page. The place that is left is the one of the data.
const PARTS: [(&str, &str); 9] = [
    ("version", env!("CARGO_PKG_VERSION")),
    ("uplot.css", include_str!("report/uplot/uPlot.min.css")),
    ("page.css", include_str!("report/page.css")),
    ("uplot.js", include_str!("report/uplot/uPlot.iife.min.js")),
    ("text.js", include_str!("report/text.js")),
    ("timeline.js", include_str!("report/timeline.js")),
    ("curves.js", include_str!("report/curves.js")),
    ("tables.js", include_str!("report/tables.js")),
    ("page.js", include_str!("report/page.js")),
];

/// So many attempts at tasks are listed, and so many lanes; the timeline has all.
const LISTED: usize = 50;

/// Whether a page, or what stands in the place of one, begins like this.
pub fn is_page(beginning: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(beginning);
    MARKS.iter().any(|mark| beginning.contains(mark))
}

/// Writes what stands in the place of a page until the run has ended: it tells which command makes the page.
pub fn write_placeholder(out: &mut dyn Write, command: &str) -> io::Result<()> {
    let command = command.replace('&', "&amp;").replace('<', "&lt;");
    out.write_all(
        PLACEHOLDER.replace("{{version}}", env!("CARGO_PKG_VERSION")).replace("{{command}}", &command).as_bytes(),
    )
}

/// Writes the page of these recordings, piece by piece: each with the sentence that names its bottleneck, and compared with an earlier
/// run where there is one.
pub fn write(out: &mut dyn Write, recordings: &[Recording], earlier: Option<&[Recording]>) -> io::Result<()> {
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (place, after) = after.split_once("}}").unwrap_or((after, ""));
        match PARTS.iter().find(|(name, _)| *name == place) {
            Some((_, part)) => out.write_all(part.as_bytes())?,
            None => serde_json::to_writer(WithoutTags(out), &Entries { recordings, earlier })?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// Writes JSON so that no text in it ends the script element that it lies in.
struct WithoutTags<'a>(&'a mut dyn Write);

impl Write for WithoutTags<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (place, piece) in bytes.split(|byte| *byte == b'<').enumerate() {
            if place > 0 {
                self.0.write_all(b"\\u003c")?;
            }
            self.0.write_all(piece)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The data of the page. Of each entry it is made when it is written.
struct Entries<'a> {
    recordings: &'a [Recording],
    earlier: Option<&'a [Recording]>,
}

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.recordings.len()).map(|place| self.entry(place)))
    }
}

/// All that the page shows of an entry. Times without another unit are microseconds since `begin`.
#[derive(Serialize)]
struct Entry<'a> {
    title: String,
    run: &'a RunLine,
    /// Where its line of time begins, in microseconds since 1970.
    begin: u64,
    until: u64,
    #[serde(flatten)]
    figures: Figures<'a>,
    job: Vec<Stretch>,
    attempts: Attempts<'a>,
    splits: Listed,
    lanes: Listed,
    curves: Curves,
    stages: &'a [Value],
    causes: &'a [DirtyLine],
    dirty_file: Option<&'a str>,
    earlier: Option<Earlier<'a>>,
}

/// An entry of the run that this one is compared with.
#[derive(Serialize)]
struct Earlier<'a> {
    title: String,
    run: &'a str,
    start_micros: u64,
    #[serde(flatten)]
    figures: Figures<'a>,
}

/// How it ended, how much was moved, how long it took, and where the time went.
#[derive(Serialize)]
struct Figures<'a> {
    result: &'a str,
    /// How it ended, in words.
    ending: String,
    all_dirty: bool,
    message: Option<&'a str>,
    verdict: String,
    read: u64,
    read_bytes: u64,
    written: u64,
    filtered: Option<u64>,
    duplicates: Option<u64>,
    dirty: u64,
    aborted_read: u64,
    aborted_dirty: Option<u64>,
    /// In seconds.
    elapsed: f64,
    /// How long records moved, in seconds.
    moving: f64,
    parts: Vec<PartOfTime>,
}

#[derive(Serialize)]
struct PartOfTime {
    part: Part,
    words: &'static str,
    seconds: f64,
    share: f64,
}

/// Where a phase has its place on the line of time: when it began and how long it took.
#[derive(Serialize)]
struct Stretch(Phase, u64, u64);

/// The first of so many attempts: those that failed, then the slowest.
#[derive(Serialize)]
struct Listed {
    count: usize,
    shown: Vec<TaskRow>,
}

/// All attempts, with the phases that have a place on the line of time that begins then.
struct Attempts<'a> {
    all: Vec<AttemptLines<'a>>,
    begin: u64,
}

impl Serialize for Attempts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.all.iter().map(|lines| Attempt::of(lines, self.begin)))
    }
}

#[derive(Serialize)]
struct Attempt<'a> {
    number: u32,
    attempt: u32,
    split: &'a str,
    slot: Option<u32>,
    at: u64,
    took: Option<u64>,
    result: &'a str,
    message: Option<&'a str>,
    records: Option<u64>,
    bytes: Option<u64>,
    parts: Vec<Stretch>,
}

impl<'a> Entries<'a> {
    fn entry(&self, place: usize) -> Entry<'a> {
        let recording = &self.recordings[place];
        let diagnosis = diagnosis::of(recording);
        let figures = Figures::of(recording, &diagnosis);
        let of_job = || recording.phases.iter().filter(|line| line.task.is_none() && line.phase.is_stretch());
        let begin = of_job().map(|line| line.start_micros).fold(recording.run.start_micros, u64::min);
        let (splits, lanes) = diagnosis.listed();
        Entry {
            title: recording.run.title(),
            run: &recording.run,
            begin,
            until: recording.until().saturating_sub(begin),
            figures,
            job: of_job().map(|line| Stretch::of(line, begin)).collect(),
            attempts: Attempts { all: recording.attempts(), begin },
            splits: Listed::of(&splits),
            lanes: Listed::of(&lanes),
            curves: Curves::of(recording, begin),
            stages: &recording.stages,
            causes: &recording.dirty,
            dirty_file: recording.end.as_ref().and_then(|end| end.dirty_file.as_deref()),
            earlier: self.earlier.and_then(|earlier| self.earlier(recording, earlier)),
        }
    }

    /// What an entry is compared with.
    fn earlier(&self, this: &Recording, all: &'a [Recording]) -> Option<Earlier<'a>> {
        let found = this.counterpart(self.recordings, all)?;
        Some(Earlier {
            title: found.run.title(),
            run: &found.run.run,
            start_micros: found.run.start_micros,
            figures: Figures::of(found, &diagnosis::of(found)),
        })
    }
}

impl<'a> Figures<'a> {
    fn of(recording: &'a Recording, diagnosis: &Diagnosis) -> Figures<'a> {
        let counts = recording.counts();
        let end = recording.end.as_ref();
        let part = |share: &diagnosis::PartShare| PartOfTime {
            part: share.part,
            words: share.part.words(),
            seconds: share.seconds,
            share: share.share,
        };
        Figures {
            result: end.map_or("open", |end| &end.result),
            ending: end.map_or_else(|| "not ended".into(), EndLine::words),
            all_dirty: end.is_some_and(EndLine::is_all_dirty),
            message: end.and_then(|end| end.message.as_deref()),
            verdict: diagnosis.limit.sentence.clone(),
            read: counts.read,
            read_bytes: counts.read_bytes,
            written: counts.written,
            filtered: counts.filtered,
            duplicates: counts.duplicates,
            dirty: counts.dirty,
            aborted_read: counts.aborted_read,
            aborted_dirty: end.map(|end| end.aborted_dirty),
            elapsed: diagnosis.wall_seconds,
            moving: diagnosis.moving_seconds,
            parts: diagnosis.parts.iter().map(part).collect(),
        }
    }
}

impl Stretch {
    fn of(line: &PhaseLine, begin: u64) -> Stretch {
        Stretch(line.phase, line.start_micros.saturating_sub(begin), line.elapsed_nanos / 1000)
    }
}

impl Listed {
    fn of(rows: &[&TaskRow]) -> Listed {
        Listed { count: rows.len(), shown: rows.iter().take(LISTED).copied().cloned().collect() }
    }
}

impl<'a> Attempt<'a> {
    fn of(lines: &AttemptLines<'a>, begin: u64) -> Attempt<'a> {
        let task = lines.task;
        let total = lines.of(Phase::TaskTotal);
        let drawn = lines.phases.iter().filter(|line| line.phase.is_stretch() && line.phase != Phase::TaskTotal);
        Attempt {
            number: task.number,
            attempt: task.attempt,
            split: &task.split,
            slot: task.slot,
            at: task.start_micros.saturating_sub(begin),
            took: total.map(|line| line.elapsed_nanos / 1000),
            result: lines.result(),
            message: total.and_then(|line| line.message.as_deref()),
            records: total.and_then(|line| line.records),
            bytes: total.and_then(|line| line.bytes),
            parts: drawn.map(|line| Stretch::of(line, begin)).collect(),
        }
    }
}

//! What a person can turn to make a run faster: only what its reader and its writer have.

use std::collections::HashSet;

use serde_json::Value;

use crate::perf::recording::{Recording, Tuning};

/// How a source is cut up.
const SPLITTING: [&str; 3] = ["splitPk", "splitFactor", "splitBytes"];
/// How much is written at once.
const BATCHES: [&str; 2] = ["batchSize", "batchByteSize"];

/// The knobs of a run.
pub(super) struct Knobs<'a> {
    recording: &'a Recording,
    /// `None`: it is not known which parameters they have, so none is named.
    tuning: Option<&'a Tuning>,
}

impl<'a> Knobs<'a> {
    pub(super) fn of(recording: &'a Recording) -> Knobs<'a> {
        Knobs { recording, tuning: recording.run.tuning.as_ref() }
    }

    /// Whether it is known which there are.
    pub(super) fn are_known(&self) -> bool {
        self.tuning.is_some()
    }

    pub(super) fn reader_has(&self, name: &str) -> bool {
        self.tuning.is_some_and(|tuning| tuning.reader.iter().any(|known| known == name))
    }

    pub(super) fn writer_has(&self, name: &str) -> bool {
        self.tuning.is_some_and(|tuning| tuning.writer.iter().any(|known| known == name))
    }

    /// How more of the work is done at once.
    pub(super) fn more_at_once(&self) -> String {
        let recording = self.recording;
        let reading = recording.tasks.iter().filter(|task| task.slot.is_some());
        let begun = reading.map(|task| task.number).collect::<HashSet<u32>>().len() as u64;
        let known = recording.seconds.last().map_or(0, |second| second.tasks_known);
        let channels = recording.run.plan.get("channels").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let has_lanes = recording.tasks.iter().any(|task| task.slot.is_none());
        let tasks = match begun.max(known) {
            0 => return "raise speed.channel".into(),
            tasks if tasks > channels || has_lanes => return "raise speed.channel".into(),
            1 => "there was one task".into(),
            tasks => format!("there were {tasks} tasks"),
        };
        let splitting: Vec<&str> = SPLITTING.into_iter().filter(|name| self.reader_has(name)).collect();
        let named = if splitting.is_empty() { String::new() } else { format!(" ({})", splitting.join(", ")) };
        format!("{tasks}, and more channels only help with more splits{named}")
    }

    /// How a target has less to do for each record.
    pub(super) fn lighter_writing(&self) -> Vec<String> {
        let batches: Vec<&str> = BATCHES.into_iter().filter(|name| self.writer_has(name)).collect();
        let mut tips = Vec::new();
        if !self.are_known() {
            tips.push("write larger batches".into());
        } else if !batches.is_empty() {
            tips.push(format!("raise {}", batches.join(" or ")));
        }
        // Who runs statements before has tables.
        if self.writer_has("preSql") {
            tips.push("drop indexes while loading".into());
        }
        tips
    }

    /// How splits become smaller.
    pub(super) fn smaller_splits(&self) -> String {
        let ways = [
            ("splitPk", "splitPk with values that are spread evenly"),
            ("splitFactor", "a larger splitFactor"),
            ("splitBytes", "a smaller splitBytes"),
        ];
        let ways: Vec<&str> = ways.into_iter().filter(|(name, _)| self.reader_has(name)).map(|(_, way)| way).collect();
        let named = if ways.is_empty() { String::new() } else { format!(" ({})", ways.join(", ")) };
        format!("make splits smaller or even{named}")
    }
}

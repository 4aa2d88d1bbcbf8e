//! What became of a task, as a value that can travel between processes: the records that went through it, its perf records, its failure.

use std::iter::Sum;

use serde::{Deserialize, Serialize};
use transship_plugin_api::Report;

use crate::error::Failure;
use crate::perf::Perf;
use crate::plan::TaskSpec;

/// What became of a task, as a value: it is the same whether the task ran in this process or in another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskReport {
    pub task: String,
    pub number: u32,
    /// The split's label.
    pub split: String,
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Role::is_whole")]
    pub role: Role,
    /// The records of the attempt that counts.
    pub counts: Counts,
    /// The records of attempts that were aborted.
    pub aborted: Counts,
    /// What the writer reported at its commit, nothing if it was another's to write; `None`: the task failed.
    pub committed: Option<Report>,
    pub failure: Option<Failure>,
    /// The perf records of the last attempt.
    pub perf: Perf,
    /// The attempts before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierAttempt>,
}

/// Which part of the way a task sees to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// From the reader to the writer.
    #[default]
    Whole,
    /// From the reader into the lanes.
    Feeder,
    /// From the readers of all tasks to the writer.
    Lane,
    /// A lane that hands on what it has done, or that had nothing to do.
    Passing,
}

impl Role {
    /// Whether it has a writer task of its own.
    pub fn writes(self) -> bool {
        matches!(self, Role::Whole | Role::Lane)
    }

    /// Whether it reads a split.
    pub fn reads(self) -> bool {
        matches!(self, Role::Whole | Role::Feeder)
    }

    fn is_whole(&self) -> bool {
        *self == Role::Whole
    }
}

/// An attempt that failed and was tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierAttempt {
    pub failure: Failure,
    pub perf: Perf,
}

/// Where records went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Records that the reader gave, dirty ones included.
    pub read: u64,
    /// Their bytes in the channel.
    pub read_bytes: u64,
    /// Records that transformers made.
    pub added: u64,
    /// Records that transformers dropped.
    pub filtered: u64,
    /// Records that were left out because they had come before, or were at the target already.
    pub duplicates: u64,
    pub dirty_at_reader: u64,
    pub dirty_at_transformers: u64,
    pub dirty_at_writer: u64,
    /// Records that the target accepted.
    pub written: u64,
    pub written_bytes: u64,
    /// Records that a reader handed on to the lanes, or a lane to the line behind it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub handed_on: u64,
    /// Records that were taken on from others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub taken_on: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'a> Sum<&'a Counts> for Counts {
    fn sum<I: Iterator<Item = &'a Counts>>(all: I) -> Counts {
        all.fold(Counts::default(), |sum, counts| sum.with(counts, u64::saturating_add))
    }
}

impl Counts {
    pub fn dirty(&self) -> u64 {
        self.dirty_at_reader + self.dirty_at_transformers + self.dirty_at_writer
    }

    /// Whether every record is accounted for: `read + added = written + filtered + duplicates + dirty`, and what was taken on is
    /// accounted for like what was read, what was handed on like what was written.
    pub fn add_up(&self) -> bool {
        // Wider than the counts: a writer's report may hold any number.
        let sum = |counts: &[u64]| counts.iter().map(|count| u128::from(*count)).sum::<u128>();
        sum(&[self.read, self.added, self.taken_on])
            == sum(&[self.written, self.filtered, self.duplicates, self.dirty(), self.handed_on])
    }

    pub fn add(&mut self, other: &Counts) {
        *self = self.with(other, u64::saturating_add);
    }

    /// What is left without a part of it.
    pub fn without(&self, part: &Counts) -> Counts {
        self.with(part, u64::saturating_sub)
    }

    fn with(&self, other: &Counts, of: fn(u64, u64) -> u64) -> Counts {
        Counts {
            read: of(self.read, other.read),
            read_bytes: of(self.read_bytes, other.read_bytes),
            added: of(self.added, other.added),
            filtered: of(self.filtered, other.filtered),
            duplicates: of(self.duplicates, other.duplicates),
            dirty_at_reader: of(self.dirty_at_reader, other.dirty_at_reader),
            dirty_at_transformers: of(self.dirty_at_transformers, other.dirty_at_transformers),
            dirty_at_writer: of(self.dirty_at_writer, other.dirty_at_writer),
            written: of(self.written, other.written),
            written_bytes: of(self.written_bytes, other.written_bytes),
            handed_on: of(self.handed_on, other.handed_on),
            taken_on: of(self.taken_on, other.taken_on),
        }
    }
}

impl TaskReport {
    /// Masks what plugins said in their own words.
    pub fn mask(&mut self, mask: &dyn Fn(&str) -> String) {
        let failures = self.earlier.iter_mut().map(|earlier| &mut earlier.failure).chain(&mut self.failure);
        for failure in failures {
            failure.message = mask(&failure.message);
        }
        self.split = mask(&self.split);
    }

    /// The report of a task that has not begun.
    pub(super) fn of(spec: &TaskSpec) -> TaskReport {
        TaskReport {
            task: spec.id.clone(),
            number: spec.number,
            split: spec.split.label.clone(),
            attempts: 0,
            role: Role::Whole,
            counts: Counts::default(),
            aborted: Counts::default(),
            committed: None,
            failure: None,
            perf: Perf::default(),
            earlier: Vec::new(),
        }
    }
}

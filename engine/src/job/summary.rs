//! What a job tells when it has ended. Not here: how that looks (`cli/summary`).

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use transship_plugin_api::CommitClass;

use crate::error::Failure;
use crate::metrics::StageMetrics;
use crate::perf::Perf;
use crate::slots::Standing;
use crate::task::{Counts, TaskReport};

/// What became of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub job: String,
    /// Which entry of `job.content` it was, from 0.
    pub content: usize,
    /// How many entries run.
    pub contents: usize,
    /// The number that whoever started the run calls it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<i64>,
    pub run: String,
    pub reader: String,
    pub writer: String,
    pub started: DateTime<Utc>,
    pub ended: DateTime<Utc>,
    /// How long data moved: the schedule phase.
    pub moving_seconds: f64,
    pub commit_class: CommitClass,
    /// Whether what tasks wrote was made safe while they went on.
    pub checkpoints: bool,
    pub channels: u32,
    /// How it shared the slots of the run.
    pub standing: Standing,
    /// `outcome` is a word; what was wrong, if anything was, is `cause`.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Whether reading was ended before its end, and what had been read was written.
    pub drained: bool,
    pub committed: Committed,
    /// The sum over committed tasks.
    pub counts: Counts,
    /// The sum over aborted attempts.
    pub aborted: Counts,
    pub tasks: Vec<TaskReport>,
    /// What transformers have counted and measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageMetrics>,
    /// The phases of the job itself.
    pub perf: Perf,
    /// The file that holds the dirty records, if there are any.
    pub dirty_file: Option<PathBuf>,
    /// Where the first of them was met, and what was wrong with it.
    pub first_dirty: Option<String>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "cause", rename_all = "snake_case")]
pub enum Outcome {
    Done,
    Failed(Failure),
    /// More records were dirty than the job allows.
    DirtyLimit {
        message: String,
    },
    /// It was asked to stop.
    Cancelled,
}

/// Whether the writer's commit has made records visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Committed {
    No,
    /// It was begun and failed.
    Unknown,
    Yes,
}

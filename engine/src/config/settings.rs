//! `job.setting` and `core`: how to move. DataX's keys, and its rules for what counts as written.

use std::num::NonZeroU32;
use std::time::Duration;

use transship_plugin_api::Params;

use super::amounts;
use super::reading::Notes;

/// How to move: what a job file says, with DataX's keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Setting {
    pub speed: Speed,
    pub dirty: DirtyLimit,
    /// Nothing is moved: the job is only tried, as far as that can be done without changing its target.
    pub dry_run: bool,
    /// Every entry of `job.content` runs, not the first alone.
    pub all_contents: bool,
    pub schedule: Schedule,
    /// After so much time what was written is made safe and visible.
    pub checkpoint: Option<Duration>,
    pub transport: Transport,
    pub retry: Retry,
}

/// `job.setting.schedule`: how the running slots are shared. `None`: as transship does by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The entries of `job.content` run one after another.
    pub in_order: bool,
    /// How long a task keeps its slot while others wait for one.
    pub quantum: Option<Duration>,
    /// No open task waits for longer between two slices.
    pub longest_gap: Option<Duration>,
    /// So many tasks of each content may be open, however many slots there are.
    pub guaranteed: Option<NonZeroU32>,
    /// No more tasks are open at once, over all contents of a run.
    pub open_tasks: Option<NonZeroU32>,
    /// Threads that look for splits.
    pub split_loaders: Option<NonZeroU32>,
    /// Fewer tasks are open where targets are slow.
    pub adaptive: bool,
}

/// `job.setting.speed`, limits for the whole job. `None`: no limit given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Speed {
    pub channels: Option<u32>,
    pub bytes_per_second: Option<u64>,
    pub records_per_second: Option<u64>,
}

/// `job.setting.errorLimit`: how many records may be dirty. As in DataX a limit in records outweighs one in shares, and neither
/// means that there is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DirtyLimit {
    /// More dirty records than this fail the job.
    pub records: Option<u64>,
    /// A larger share of dirty records than this (0 to 1) fails the job.
    pub share: Option<f64>,
}

/// `core.transport.channel`, limits for each channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transport {
    pub capacity_records: Option<u64>,
    pub capacity_bytes: Option<u64>,
    pub bytes_per_second: Option<u64>,
    pub records_per_second: Option<u64>,
}

/// `core.container.task.failOver`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retry {
    pub max_attempts: Option<u32>,
    pub pause_millis: Option<u64>,
}

/// A longer time is a mistake, and some would be past the end of all time.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// So many threads would only wait for each other.
const MOST_LOADERS: u32 = 64;
/// Each has a thread or two, and mostly a connection.
const MOST_TASKS: u32 = 1024;

/// Reads the settings of a job file, `root` being the whole of it.
pub(super) fn read(root: &Params<'_>, job: &Params<'_>, notes: &mut Notes<'_>) -> Setting {
    let mut setting = Setting::default();
    if let Some(written) = section(job, "setting", notes) {
        if let Some(speed) = section(&written, "speed", notes) {
            setting.speed = Speed {
                channels: limit(&speed, "channel", notes).map(|channels| u32::try_from(channels).unwrap_or(u32::MAX)),
                bytes_per_second: limit(&speed, "byte", notes),
                records_per_second: limit(&speed, "record", notes),
            };
        }
        if let Some(error_limit) = section(&written, "errorLimit", notes) {
            setting.dirty = dirty_limit(&error_limit, notes);
        }
        setting.dry_run = notes.kept(written.truth("dryRun")).unwrap_or_default();
        setting.all_contents =
            notes.kept(written.choice("contents", &[("all", true), ("first", false)])).unwrap_or(false);
        setting.checkpoint = above_zero(&written, "checkpoint", notes);
        if let Some(schedule) = section(&written, "schedule", notes) {
            setting.schedule = Schedule {
                in_order: notes.kept(schedule.truth("inOrder")).unwrap_or_default(),
                quantum: above_zero(&schedule, "quantum", notes),
                longest_gap: above_zero(&schedule, "maxGap", notes),
                guaranteed: number(&schedule, "guaranteed", MOST_TASKS, notes),
                open_tasks: number(&schedule, "openTasks", MOST_TASKS, notes),
                split_loaders: number(&schedule, "splitLoaders", MOST_LOADERS, notes),
                adaptive: notes.kept(schedule.truth("adaptive")).unwrap_or_default(),
            };
        }
    }
    let Some(core) = section(root, "core", notes) else { return setting };
    if let Some(channel) = inside(&core, &["transport", "channel"], notes) {
        setting.transport.capacity_records = limit(&channel, "capacity", notes);
        setting.transport.capacity_bytes = limit(&channel, "byteCapacity", notes);
        if let Some(speed) = section(&channel, "speed", notes) {
            setting.transport.bytes_per_second = limit(&speed, "byte", notes);
            setting.transport.records_per_second = limit(&speed, "record", notes);
        }
    }
    if let Some(retry) = inside(&core, &["container", "task", "failOver"], notes) {
        setting.retry.max_attempts =
            limit(&retry, "maxRetryTimes", notes).map(|times| u32::try_from(times).unwrap_or(u32::MAX));
        setting.retry.pause_millis =
            notes.kept(retry.integer("retryIntervalInMsec")).and_then(|millis| u64::try_from(millis).ok());
    }
    setting
}

/// An object inside another. Anything else in its place is passed over, as DataX does, but not in silence.
pub(super) fn section<'a>(params: &Params<'a>, key: &str, notes: &mut Notes<'_>) -> Option<Params<'a>> {
    params.object(key).unwrap_or_else(|error| {
        notes.warn(&format!("{error}: it is ignored, as in DataX"));
        None
    })
}

fn inside<'a>(params: &Params<'a>, keys: &[&str], notes: &mut Notes<'_>) -> Option<Params<'a>> {
    keys.iter().try_fold(params.clone(), |found, key| section(&found, key, notes))
}

/// A limit as DataX writes it: 0 and negative numbers mean that there is none. An empty text is an error there too: it is what an
/// unfilled template has.
fn limit(params: &Params<'_>, key: &str, notes: &mut Notes<'_>) -> Option<u64> {
    if params.value(key).and_then(|value| value.as_str()).is_some_and(|text| text.trim().is_empty()) {
        notes.refuse(params.error(key, "is empty: write a number, or leave it out").message());
        return None;
    }
    let limit = notes.kept(params.integer(key))?;
    u64::try_from(limit).ok().filter(|limit| *limit > 0)
}

/// A length of time that is not 0.
fn above_zero(params: &Params<'_>, key: &str, notes: &mut Notes<'_>) -> Option<Duration> {
    let time = notes.kept(amounts::duration(params, key))?;
    if time.is_zero() || time > LONGEST {
        let problem = if time.is_zero() { "must be more than 0" } else { "must be at most 365 days" };
        notes.refuse(params.error(key, problem).message());
        return None;
    }
    Some(time)
}

/// A whole number from 1 to `most`.
pub(super) fn number(params: &Params<'_>, key: &str, most: u32, notes: &mut Notes<'_>) -> Option<NonZeroU32> {
    let written = notes.kept(params.integer(key))?;
    let number = u32::try_from(written).ok().filter(|number| *number <= most).and_then(NonZeroU32::new);
    if number.is_none() {
        let problem = format_args!("is {written}, but must lie between 1 and {most}");
        notes.refuse(params.error(key, problem).message());
    }
    number
}

fn dirty_limit(error_limit: &Params<'_>, notes: &mut Notes<'_>) -> DirtyLimit {
    let records = notes.kept(error_limit.integer("record")).and_then(|records| match u64::try_from(records) {
        Ok(records) => Some(records),
        Err(_) => {
            let problem = format_args!("is {records}, but must be 0 or more; leave it out for no limit");
            notes.refuse(error_limit.error("record", problem).message());
            None
        }
    });
    let share = notes.kept(error_limit.number("percentage")).filter(|share| {
        let fits = (0.0..=1.0).contains(share);
        if !fits {
            let problem = format_args!("is {share}, but must lie between 0 and 1 (0.02 is two percent)");
            notes.refuse(error_limit.error("percentage", problem).message());
        }
        fits
    });
    DirtyLimit { records, share }
}

impl DirtyLimit {
    /// What to say where this many dirty records are more than the job allows.
    pub fn objection(&self, dirty: u64, read: u64) -> Option<String> {
        if let Some(limit) = self.records {
            let (records, are) = if dirty == 1 { ("record", "is") } else { ("records", "are") };
            let message =
                || format!("{dirty} dirty {records} {are} more than job.setting.errorLimit.record allows ({limit})");
            return (dirty > limit).then(message);
        }
        let limit = self.share?;
        let share = dirty as f64 / read.max(1) as f64;
        let message = || {
            format!(
                "{dirty} dirty of {read} records ({share:.4}) are more than job.setting.errorLimit.percentage allows ({limit})"
            )
        };
        (read > 0 && share > limit).then(message)
    }
}

//! From settings and splits to tasks: how many at once, how large their channels, how fast, how often tried. Pure: it knows no
//! plugin and does no input or output.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use transship_plugin_api::{Run, Split};
use uuid::Uuid;

use crate::batch::BatchLimit;
use crate::config::Setting;
use crate::slots::Rules;

/// How a job will run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Tasks that run at once.
    pub channels: u32,
    /// The capacity of each task's channel.
    pub capacity: BatchLimit,
    /// The size of the batches that readers are asked for.
    pub batch: BatchLimit,
    /// A larger record is dirty.
    pub max_record_bytes: usize,
    /// What all channels of the job may hold together.
    pub memory_bytes: usize,
    /// Limits for the whole job.
    pub bytes_per_second: Option<u64>,
    pub records_per_second: Option<u64>,
    /// Limits for each channel, beside those for the job.
    #[serde(default)]
    pub channel_bytes_per_second: Option<u64>,
    #[serde(default)]
    pub channel_records_per_second: Option<u64>,
    /// How often a task is tried (1: never again).
    pub max_attempts: u32,
    pub retry_pause_millis: u64,
    /// After so much time what was written is made safe and visible, while the task goes on.
    #[serde(default)]
    pub checkpoint: Option<Duration>,
    /// What a person should know about these choices.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What the machine and the command line offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    pub cores: usize,
    pub memory_bytes: usize,
    /// Tasks of other contents and jobs that may be open beside those of a job: all share the memory.
    pub other_tasks: usize,
}

/// What the contents of all jobs of a run share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// Tasks that work at once.
    pub slots: usize,
    /// Tasks that are open at once, at most.
    pub open_tasks: usize,
    /// Tasks that will be open at once if there are enough.
    pub expected_tasks: usize,
    /// Contents that are under way at once.
    pub contents: usize,
    /// How slots are shared.
    pub rules: Rules,
}

/// One task: a split, on its way through a channel to a writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// Made from run and split, so the same in every attempt and process.
    pub id: String,
    /// A small number for people, in the order in which splits were found, from 0.
    pub number: u32,
    pub split: Split,
}

/// A prepared run as a value: all that another process needs, beside the job file, to run its tasks. It holds no secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    pub run: Run,
    /// Which entry of `job.content` it runs.
    pub content: usize,
    pub reader_state: Value,
    pub writer_state: Value,
    pub plan: Plan,
    pub tasks: Vec<TaskSpec>,
}

/// Each channel has two threads: with more of them a machine spends its time between threads, not in them.
const MAX_CHANNELS: u32 = 1024;
const BATCH_RECORDS: usize = 8192;
const BATCH_BYTES: usize = 2 << 20;
/// At least so many batches a second, where a rate is limited.
const BATCHES_PER_SECOND: u64 = 32;
/// 64 batches of the default size.
const CAPACITY_RECORDS: usize = 64 * BATCH_RECORDS;
/// 8 batches of the default size: more would only be more memory. It is of large records that a channel holds so much.
const CAPACITY_BYTES: usize = 16 << 20;
const MAX_RECORD_BYTES: usize = 256 << 20;
const RETRY_PAUSE_MILLIS: u64 = 10_000;
/// What all channels of a job may hold together, unless `--memory` says otherwise.
pub const MEMORY_BYTES: usize = 64 << 20;

/// Open tasks that a run has at most, unless it has more slots or its settings say otherwise.
const OPEN_TASKS: usize = 64;
/// Tasks of each content that are open however few slots there are.
const GUARANTEED: usize = 1;

/// What jobs with these settings and numbers of contents share when they run beside each other, or one after another (`in_order`).
/// `slots` says how many tasks work at once, where not the jobs' channels do. Where jobs differ the strictest counts.
pub fn shared(jobs: &[(&Setting, usize)], machine: Machine, slots: Option<usize>, in_order: bool) -> Shared {
    let add = |numbers: &mut dyn Iterator<Item = usize>| match in_order {
        true => numbers.max().unwrap_or(1),
        false => numbers.fold(0, usize::saturating_add).max(1),
    };
    let channels = |setting: &Setting| channels(setting, machine, &mut Vec::new()) as usize;
    let at_once = |(setting, contents): &(&Setting, usize)| if setting.schedule.in_order { 1 } else { *contents };
    let slots = slots.unwrap_or_else(|| add(&mut jobs.iter().map(|(setting, _)| channels(setting)))).max(1);
    let written = jobs.iter().filter_map(|(setting, _)| setting.schedule.open_tasks);
    let open_tasks = written.min().map_or(OPEN_TASKS.max(slots), |tasks| tasks.get() as usize);
    let guaranteed = jobs.iter().map(|job| at_once(job).saturating_mul(guaranteed(job.0)));
    let expected_tasks = add(&mut guaranteed.into_iter()).max(slots).min(open_tasks);
    let defaults = Rules::default();
    let quantum = jobs.iter().filter_map(|(setting, _)| setting.schedule.quantum).min();
    let longest_gap = jobs.iter().filter_map(|(setting, _)| setting.schedule.longest_gap).min();
    Shared {
        slots,
        open_tasks,
        expected_tasks,
        contents: if in_order { 1 } else { add(&mut jobs.iter().map(at_once)).min(open_tasks) },
        rules: Rules {
            quantum: quantum.unwrap_or(defaults.quantum),
            longest_gap: longest_gap.unwrap_or(defaults.longest_gap),
        },
    }
}

/// So many tasks of a content of this job are open however few slots there are.
pub fn guaranteed(setting: &Setting) -> usize {
    setting.schedule.guaranteed.map_or(GUARANTEED, |tasks| tasks.get() as usize)
}

/// How a job with these settings runs on this machine.
///
/// The number of channels follows DataX: a limit for the job divided by the limit for a channel where both are given
/// (`speed.channel` is then ignored), else `speed.channel`. A limit without one for each channel is divided over the channels,
/// and a job without any speed runs one channel a core, where DataX refuses both.
pub fn plan(setting: &Setting, machine: Machine) -> Plan {
    let mut notes = Vec::new();
    let channels = channels(setting, machine, &mut notes);
    let transport = &setting.transport;
    let capacity_records = transport.capacity_records.map_or(CAPACITY_RECORDS, |records| records as usize);
    // By default channels share the job's memory evenly, so that none can starve another; a written capacity is honoured.
    let tasks = (channels as usize).saturating_add(machine.other_tasks);
    let even_share = (machine.memory_bytes / tasks).max(1 << 20);
    let capacity_bytes = transport.capacity_bytes.map_or(CAPACITY_BYTES.min(even_share), |bytes| bytes as usize);
    let speed = &setting.speed;
    // A limited job moves many small batches: a few large ones would each overshoot the limit.
    let small = |job: Option<u64>, channel: Option<u64>| {
        let limit = job.into_iter().chain(channel).min();
        limit.map_or(usize::MAX, |limit| (limit / BATCHES_PER_SECOND).max(1) as usize)
    };
    Plan {
        channels,
        capacity: BatchLimit { records: capacity_records, bytes: capacity_bytes },
        batch: BatchLimit {
            records: capacity_records
                .min(BATCH_RECORDS)
                .min(small(speed.records_per_second, transport.records_per_second)),
            bytes: (capacity_bytes / 4)
                .clamp(1, BATCH_BYTES)
                .min(small(speed.bytes_per_second, transport.bytes_per_second)),
        },
        max_record_bytes: MAX_RECORD_BYTES,
        memory_bytes: machine
            .memory_bytes
            .max(transport.capacity_bytes.map_or(0, |bytes| (bytes as usize).saturating_mul(channels as usize))),
        bytes_per_second: speed.bytes_per_second,
        records_per_second: speed.records_per_second,
        channel_bytes_per_second: transport.bytes_per_second,
        channel_records_per_second: transport.records_per_second,
        max_attempts: setting.retry.max_attempts.unwrap_or(1).max(1),
        retry_pause_millis: setting.retry.pause_millis.unwrap_or(RETRY_PAUSE_MILLIS),
        checkpoint: setting.checkpoint,
        notes,
    }
}

fn channels(setting: &Setting, machine: Machine, notes: &mut Vec<String>) -> u32 {
    let wanted = wanted_channels(setting, machine, notes);
    if wanted > MAX_CHANNELS {
        notes.push(format!("{wanted} channels are too many: {MAX_CHANNELS} run at once"));
    }
    wanted.min(MAX_CHANNELS)
}

fn wanted_channels(setting: &Setting, machine: Machine, notes: &mut Vec<String>) -> u32 {
    let (speed, transport) = (&setting.speed, &setting.transport);
    let from = |total: Option<u64>, each: Option<u64>| Some(u32::try_from(total? / each?).unwrap_or(u32::MAX).max(1));
    let computed = [
        from(speed.bytes_per_second, transport.bytes_per_second),
        from(speed.records_per_second, transport.records_per_second),
    ];
    if let Some(channels) = computed.into_iter().flatten().min() {
        if speed.channels.is_some_and(|written| written != channels) {
            notes.push(format!(
                "job.setting.speed.channel is ignored: the limits for the job and for each channel make {channels}"
            ));
        }
        return channels;
    }
    let channels = speed.channels.unwrap_or_else(|| {
        let cores = u32::try_from(machine.cores.max(1)).unwrap_or(1);
        notes.push(format!("job.setting.speed.channel is not set, or not above 0: {cores}, one for each core"));
        cores
    });
    if channels > 1 && (speed.bytes_per_second.is_some() || speed.records_per_second.is_some()) {
        notes.push(format!("the limit in job.setting.speed is shared by the job's {channels} channels"));
    }
    channels
}

/// The task that moves this split in this run.
pub fn task(run: &Run, content: usize, number: u32, split: Split) -> TaskSpec {
    let namespace = Uuid::parse_str(&run.id).unwrap_or(Uuid::NAMESPACE_OID);
    let id = Uuid::new_v5(&namespace, format!("{content}/{}", split.id).as_bytes()).to_string();
    TaskSpec { id, number, split }
}

/// A lane of this run, as the task that it is for its writer.
pub fn lane(run: &Run, content: usize, number: usize) -> TaskSpec {
    let name = format!("lane {number}");
    task(run, content, number as u32, Split::new(name.clone(), name, Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    use crate::config::{Schedule, Speed, Transport};

    const MACHINE: Machine = Machine { cores: 2, memory_bytes: MEMORY_BYTES, other_tasks: 0 };

    fn planned(speed: Speed, transport: Transport) -> Plan {
        plan(&Setting { speed, transport, ..Setting::default() }, MACHINE)
    }

    #[test]
    fn defaults_share_the_memory_and_use_every_core() {
        let plan = planned(Speed::default(), Transport::default());
        assert_eq!(plan.channels, 2);
        assert_eq!(plan.capacity, BatchLimit { records: 64 * 8192, bytes: 16 << 20 });
        assert_eq!(plan.batch, BatchLimit { records: 8192, bytes: 2 << 20 });
        assert_eq!(plan.notes, ["job.setting.speed.channel is not set, or not above 0: 2, one for each core"]);
        let many = planned(Speed { channels: Some(8), ..Speed::default() }, Transport::default());
        assert_eq!(many.capacity.bytes, 8 << 20);
    }

    #[test]
    fn contents_and_jobs_share_slots_and_each_has_a_task_open() {
        let job =
            |channels| Setting { speed: Speed { channels: Some(channels), ..Speed::default() }, ..Setting::default() };
        let (two, three) = (job(2), job(3));
        let all = shared(&[(&two, 21), (&three, 1)], MACHINE, None, false);
        assert_eq!((all.slots, all.open_tasks, all.expected_tasks, all.contents), (5, 64, 22, 22));
        let in_order = shared(&[(&two, 21), (&three, 1)], MACHINE, None, true);
        assert_eq!((in_order.slots, in_order.contents), (3, 1));
        let told = shared(&[(&two, 21), (&three, 1)], MACHINE, Some(1), false);
        assert_eq!((told.slots, told.expected_tasks), (1, 22));
        let beside = Machine { other_tasks: 20, ..MACHINE };
        assert_eq!(plan(&two, beside).capacity.bytes, MEMORY_BYTES / 22);
    }

    #[test]
    fn of_the_rules_of_several_jobs_the_strictest_counts() {
        let job = |quantum, tasks| Setting {
            schedule: Schedule {
                quantum: Some(Duration::from_millis(quantum)),
                open_tasks: NonZeroU32::new(tasks),
                ..Schedule::default()
            },
            ..Setting::default()
        };
        let shared = shared(&[(&job(50, 9), 1), (&job(20, 12), 40), (&Setting::default(), 1)], MACHINE, None, false);
        assert_eq!(shared.rules, Rules { quantum: Duration::from_millis(20), ..Rules::default() });
        assert_eq!((shared.open_tasks, shared.expected_tasks, shared.contents), (9, 9, 9));
    }

    /// Trap 1.
    #[test]
    fn a_job_limit_divided_by_a_channel_limit_gives_the_channels() {
        let speed = Speed { channels: Some(3), bytes_per_second: Some(10 << 20), records_per_second: Some(100) };
        let transport =
            Transport { bytes_per_second: Some(1 << 20), records_per_second: Some(25), ..Transport::default() };
        let plan = planned(speed, transport);
        assert_eq!(plan.channels, 4, "the smaller of 10 and 4");
        assert_eq!((plan.bytes_per_second, plan.records_per_second), (Some(10 << 20), Some(100)));
        assert_eq!(plan.notes.len(), 1);
    }

    #[test]
    fn more_channels_than_a_machine_can_run_are_not_started() {
        let plan = planned(Speed { channels: Some(100_000), ..Speed::default() }, Transport::default());
        assert_eq!(plan.channels, 1024);
        assert_eq!(plan.notes, ["100000 channels are too many: 1024 run at once"]);
    }

    #[test]
    fn a_job_limit_alone_is_shared_by_the_channels() {
        let plan = planned(
            Speed { channels: Some(5), bytes_per_second: Some(1000), ..Speed::default() },
            Transport::default(),
        );
        assert_eq!((plan.channels, plan.bytes_per_second), (5, Some(1000)));
    }

    /// Trap 2.
    #[test]
    fn a_channel_limit_alone_holds_for_each_channel() {
        let transport = Transport { records_per_second: Some(10), ..Transport::default() };
        let plan = planned(Speed { channels: Some(3), ..Speed::default() }, transport);
        assert_eq!((plan.records_per_second, plan.channel_records_per_second), (None, Some(10)));
        assert_eq!(plan.batch.records, 1);
    }

    #[test]
    fn written_capacities_are_honoured_and_batches_fit_them() {
        let transport = Transport { capacity_records: Some(512), capacity_bytes: Some(4096), ..Transport::default() };
        let plan = planned(Speed { channels: Some(1), ..Speed::default() }, transport);
        assert_eq!(plan.capacity, BatchLimit { records: 512, bytes: 4096 });
        assert_eq!(plan.batch, BatchLimit { records: 512, bytes: 1024 });
        let large = Transport { capacity_bytes: Some(1 << 30), ..Transport::default() };
        assert_eq!(planned(Speed { channels: Some(2), ..Speed::default() }, large).memory_bytes, 2 << 30);
    }

    #[test]
    fn batches_of_a_limited_job_are_small() {
        let plan = planned(
            Speed { records_per_second: Some(320), bytes_per_second: Some(1 << 20), channels: Some(1) },
            Transport::default(),
        );
        assert_eq!(plan.batch, BatchLimit { records: 10, bytes: 32768 });
    }

    #[test]
    fn a_task_keeps_its_id_whatever_its_number() {
        let run = Run { id: Uuid::nil().to_string(), job: "j".into() };
        let split = || Split::new("a.csv", "a.csv", Value::Null);
        assert_eq!(task(&run, 0, 1, split()).id, task(&run, 0, 9, split()).id);
        assert_ne!(task(&run, 0, 1, split()).id, task(&run, 1, 1, split()).id);
        let other = Run { id: Uuid::max().to_string(), job: "j".into() };
        assert_ne!(task(&run, 0, 1, split()).id, task(&other, 0, 1, split()).id);
    }
}

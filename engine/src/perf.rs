//! Perf records: what each phase of each task took, with DataX's names; how they are written while a run goes on, read again, and what
//! they say about it. Not here: threads, printing, what a plugin is.

use std::time::{Duration, Instant, SystemTime};

use serde::de::IntoDeserializer;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::{Deserialize, Serialize};

mod cpu;
pub mod diagnosis;
pub mod ending;
pub mod meter;
pub mod recorder;
pub mod recording;
pub mod trace;

use cpu::CpuTime;

/// The version of the records: it grows when a field changes its meaning or goes away, not when one is added.
pub const VERSION: u32 = 1;

/// A phase of a job or of a task. Names and order are DataX's (`PerfRecord.PHASE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    JobInit,
    JobPrepare,
    JobSplit,
    JobSchedule,
    JobCommit,
    JobPost,
    JobDestroy,
    TaskTotal,
    ReadTaskInit,
    ReadTaskPrepare,
    ReadTaskData,
    ReadTaskPost,
    ReadTaskDestroy,
    WriteTaskInit,
    WriteTaskPrepare,
    WriteTaskData,
    WriteTaskPost,
    WriteTaskDestroy,
    /// The writer waited for records.
    WaitReadTime,
    /// The reader waited for room in the channel.
    WaitWriteTime,
    /// The writer waited for its turn at a target that takes only so many tasks at once.
    WaitTurnTime,
    /// The reader waited because of the job's speed limit.
    WaitLimitTime,
    TransformerTime,
    /// The part of it that lookups took: asking, and waiting for answers.
    LookupTime,
    /// The reader had one of the run's slots.
    ScheduledTime,
    /// The reader waited for a slot, because others had them.
    WaitSlotTime,
    /// The reader had no slot and waited for none: it waited for room in the channel, for the speed limit, or for its source.
    BlockedTime,
}

/// Who goes through a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Job,
    /// The thread that reads, or in a lane the one that transforms and writes.
    Reader,
    Writer,
}

impl Phase {
    /// Its name in perf records: `READ_TASK_DATA`.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_string()
    }

    /// The phase of this name, if this program knows it.
    pub fn named(name: &str) -> Option<Phase> {
        let name: StrDeserializer<'_, Unknown> = name.into_deserializer();
        Phase::deserialize(name).ok()
    }

    /// Who goes through it.
    pub fn side(self) -> Side {
        match self {
            phase if phase < Phase::TaskTotal => Side::Job,
            phase if (Phase::WriteTaskInit..=Phase::WriteTaskDestroy).contains(&phase) => Side::Writer,
            Phase::WaitReadTime | Phase::WaitTurnTime => Side::Writer,
            _ => Side::Reader,
        }
    }

    /// Whether it is one stretch of time, which has a place; others are sums of many short times.
    pub fn is_stretch(self) -> bool {
        self <= Phase::WriteTaskDestroy && self != Phase::JobSplit
    }
}

/// What one phase took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfRecord {
    pub phase: Phase,
    /// When it began, in microseconds since 1970-01-01 UTC.
    pub start_micros: u64,
    /// How long it took, in nanoseconds. For the waiting phases: the sum of all waits.
    pub elapsed_nanos: u64,
    /// CPU time of the thread that went through it, in nanoseconds; absent where no single thread did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_nanos: Option<u64>,
    /// How long that thread could have run and waited for a CPU, in nanoseconds; absent also where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_wait_nanos: Option<u64>,
    /// Records that went through it, where it has any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub records: u64,
    /// Bytes that went through it, as counted in the channel.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// With `SCHEDULED_TIME`: the level that the content had come to by then, from 0 (it has used little) to 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The perf records of a task or a job, in the order in which phases ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Perf {
    pub records: Vec<PerfRecord>,
}

/// A phase that has begun.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    started: Instant,
    start_micros: u64,
    /// What this thread had had of the CPUs until then.
    cpu: CpuTime,
}

/// Microseconds since 1970-01-01 UTC.
pub fn now_micros() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

impl Watch {
    /// A phase begins now, on this thread.
    pub fn start() -> Watch {
        Watch { started: Instant::now(), start_micros: now_micros(), cpu: CpuTime::of_thread() }
    }

    /// How long ago it began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Perf {
    /// A phase ends now.
    pub fn end(&mut self, phase: Phase, watch: Watch) {
        self.end_with(phase, watch, 0, 0);
    }

    /// A phase ends now, on the thread on which it began, through which so many records and bytes went.
    pub fn end_with(&mut self, phase: Phase, watch: Watch, records: u64, bytes: u64) {
        self.add(phase, watch, watch.elapsed(), records, bytes);
        if let Some(last) = self.records.last_mut() {
            let cpu = CpuTime::of_thread().since(watch.cpu);
            last.cpu_nanos = Some(cpu.used.as_nanos() as u64);
            last.cpu_wait_nanos = cpu.waited.map(|waited| waited.as_nanos() as u64);
        }
    }

    /// A phase that consists of many short times.
    pub fn add(&mut self, phase: Phase, watch: Watch, elapsed: Duration, records: u64, bytes: u64) {
        let elapsed_nanos = elapsed.as_nanos() as u64;
        let start_micros = watch.start_micros;
        self.records.push(PerfRecord {
            phase,
            start_micros,
            elapsed_nanos,
            cpu_nanos: None,
            cpu_wait_nanos: None,
            records,
            bytes,
            level: None,
        });
    }

    /// The level of the content when the last phase ended.
    pub fn note_level(&mut self, level: usize) {
        if let Some(last) = self.records.last_mut() {
            last.level = u8::try_from(level).ok();
        }
    }

    /// How long a phase took, zero if it never ran.
    pub fn elapsed(&self, phase: Phase) -> Duration {
        let nanos = self.records.iter().filter(|record| record.phase == phase).map(|record| record.elapsed_nanos).sum();
        Duration::from_nanos(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_spelt_as_in_datax() {
        let words: Vec<String> = [Phase::TaskTotal, Phase::ReadTaskData, Phase::WaitWriteTime]
            .iter()
            .map(|phase| serde_json::to_string(phase).unwrap())
            .collect();
        assert_eq!(words, ["\"TASK_TOTAL\"", "\"READ_TASK_DATA\"", "\"WAIT_WRITE_TIME\""]);
    }

    #[test]
    fn a_phase_is_found_by_its_name() {
        let names = [Phase::JobInit.name(), Phase::BlockedTime.name(), "READ_TASK_NEW".into(), String::new()];
        let found = names.map(|name| Phase::named(&name));
        assert_eq!(found, [Some(Phase::JobInit), Some(Phase::BlockedTime), None, None]);
    }
}

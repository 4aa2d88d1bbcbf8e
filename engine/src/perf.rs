//! Perf records: what each phase of each task took, with DataX's names. Not here: threads, printing, what a plugin is.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

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
    /// The reader had one of the run's slots.
    ScheduledTime,
    /// The reader waited for a slot, because others had them.
    WaitSlotTime,
    /// The reader had no slot and waited for none: it waited for room in the channel, for the speed limit, or for its source.
    BlockedTime,
}

/// What one phase took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerfRecord {
    pub phase: Phase,
    /// When it began, in microseconds since 1970-01-01 UTC.
    pub start_micros: u64,
    /// How long it took, in nanoseconds. For the waiting phases: the sum of all waits.
    pub elapsed_nanos: u64,
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
}

impl Watch {
    /// A phase begins now.
    pub fn start() -> Watch {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Watch { started: Instant::now(), start_micros: since.as_micros() as u64 }
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

    /// A phase ends now, through which so many records and bytes went.
    pub fn end_with(&mut self, phase: Phase, watch: Watch, records: u64, bytes: u64) {
        self.add(phase, watch, watch.elapsed(), records, bytes);
    }

    /// A phase that consists of many short times.
    pub fn add(&mut self, phase: Phase, watch: Watch, elapsed: Duration, records: u64, bytes: u64) {
        let elapsed_nanos = elapsed.as_nanos() as u64;
        let start_micros = watch.start_micros;
        self.records.push(PerfRecord { phase, start_micros, elapsed_nanos, records, bytes, level: None });
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

/// Whose perf records these are.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Owner<'a> {
    pub run: &'a str,
    pub job: &'a str,
    /// `None`: the job's own phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// Writes one JSON line for each record.
pub fn write_lines(out: &mut impl Write, owner: &Owner<'_>, perf: &Perf) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        #[serde(flatten)]
        owner: &'a Owner<'a>,
        #[serde(flatten)]
        record: &'a PerfRecord,
    }
    for record in &perf.records {
        serde_json::to_writer(&mut *out, &Line { owner, record })?;
        out.write_all(b"\n")?;
    }
    Ok(())
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
    fn a_line_holds_owner_and_record() {
        let mut perf = Perf::default();
        perf.add(Phase::ReadTaskData, Watch::start(), Duration::from_millis(2), 10, 80);
        let owner = Owner { run: "r", job: "j", task: Some("t"), split: Some("a.csv"), attempt: Some(1) };
        let mut out = Vec::new();
        write_lines(&mut out, &owner, &perf).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(line["task"], "t");
        assert_eq!(line["phase"], "READ_TASK_DATA");
        assert_eq!(
            (&line["elapsed_nanos"], &line["records"], &line["bytes"]),
            (&2_000_000.into(), &10.into(), &80.into())
        );
    }
}

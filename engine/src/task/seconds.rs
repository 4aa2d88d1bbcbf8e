//! What perf records say of each second of a job: from its beginning to its end, whether tasks run or not.

use std::sync::Arc;
use std::time::Duration;

use transship_plugin_api::Run;

use super::Queues;
use crate::calls::Calls;
use crate::intervals::Intervals;
use crate::perf::meter::Attempts;
use crate::perf::now_micros;
use crate::perf::recorder::{Owner, Recorder};
use crate::perf::recording::{LongCall, Second};
use crate::progress::Progress;

pub const SECOND: Duration = Duration::from_secs(1);
/// A call of a plugin that has lasted so long is worth a word.
const LONG_CALL: Duration = Duration::from_secs(1);

/// Where to look each second.
pub struct Seconds<'a> {
    pub run: Run,
    pub recorder: &'a Recorder,
    pub progress: &'a Progress,
    pub queues: Arc<Queues>,
    pub attempts: Attempts,
    pub calls: Calls,
}

impl Seconds<'_> {
    /// Records each second while something is done.
    pub fn record_while<T>(&self, work: impl FnOnce() -> T) -> T {
        let intervals = Intervals::default();
        std::thread::scope(|scope| {
            intervals.every(SECOND, scope, ("seconds", "nothing is recorded of each second"), || self.record());
            let _end = intervals.end();
            work()
        })
    }

    fn record(&self) {
        self.recorder.second(Owner { run: &self.run.id, job: &self.run.job }, self.now());
    }

    fn now(&self) -> Second {
        let now = self.progress.snapshot();
        let queued = self.queues.queued();
        let (open_readers_nanos, open_writers_nanos) = self.attempts.so_far();
        Second {
            micros: now_micros(),
            read_records: now.read_records,
            read_bytes: now.read_bytes,
            written_records: now.written_records,
            queued_records: queued.records as u64,
            queued_bytes: queued.bytes as u64,
            fill: self.queues.fill().unwrap_or_default(),
            dirty_records: now.dirty_records,
            open_tasks: now.open_tasks,
            tasks_known: now.tasks_known,
            tasks_done: now.tasks_done,
            wait_for_reader_nanos: now.wait_for_reader_nanos,
            wait_for_writer_nanos: now.wait_for_writer_nanos,
            open_readers_nanos,
            open_writers_nanos,
            longest_call: self.longest_call(),
        }
    }

    /// The call of a plugin for this job that has lasted longest, if it has lasted a while.
    fn longest_call(&self) -> Option<LongCall> {
        let longest = self.calls.under_way().into_iter().next()?;
        let is_long = longest.lasting >= LONG_CALL;
        is_long.then(|| LongCall {
            who: longest.who,
            call: longest.call.into(),
            seconds: longest.lasting.as_secs_f64(),
            doing: longest.doing,
        })
    }
}

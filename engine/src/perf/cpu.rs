//! What a thread had of the CPUs: how long it ran, and how long it could have run and waited for one.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Where Linux tells of the thread that reads it: nanoseconds on a CPU, nanoseconds ready to run without one, times that it ran.
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";
/// Room for three numbers.
const SCHEDSTAT_BYTES: usize = 64;

thread_local! {
    /// Kept open: to open it costs ten times as much as to read it.
    static OF_THREAD: Option<File> = File::open(SCHEDSTAT).ok();
}

/// What a thread had since it began, or since another moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuTime {
    pub used: Duration,
    /// `None`: the system does not tell.
    pub waited: Option<Duration>,
}

impl CpuTime {
    /// Of this thread. It reads a file, about a microsecond: cheap enough for the ends of a phase, too dear for each batch.
    pub(super) fn of_thread() -> CpuTime {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        let used = Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0));
        CpuTime { used, waited: waited() }
    }

    /// What came since that moment.
    pub(super) fn since(self, before: CpuTime) -> CpuTime {
        let waited = self.waited.zip(before.waited).map(|(now, before)| now.saturating_sub(before));
        CpuTime { used: self.used.saturating_sub(before.used), waited }
    }
}

fn waited() -> Option<Duration> {
    let mut text = [0; SCHEDSTAT_BYTES];
    // A thread that ends has it no more.
    let length = OF_THREAD.try_with(|file| file.as_ref()?.read_at(&mut text, 0).ok()).ok()??;
    told(std::str::from_utf8(&text[..length]).ok()?)
}

/// What this text says. A kernel that does not count says that the thread which asks has never run.
fn told(text: &str) -> Option<Duration> {
    let mut numbers = text.split_whitespace().map(|word| word.parse::<u64>().ok());
    let [_used, waited, times] = [numbers.next()??, numbers.next()??, numbers.next()??];
    (times > 0).then_some(Duration::from_nanos(waited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_the_system_tells_the_second_number_counts_if_it_counts_at_all() {
        assert_eq!(told("93021 1759341 12\n"), Some(Duration::from_nanos(1_759_341)));
        assert_eq!(told("0 0 0\n"), None, "it does not count");
        assert_eq!((told(""), told("93021 17"), told("a b c")), (None, None, None));
    }

    #[test]
    fn what_came_since_is_a_difference_and_unknown_where_one_is() {
        let at = |used, waited: Option<u64>| CpuTime {
            used: Duration::from_millis(used),
            waited: waited.map(Duration::from_millis),
        };
        let since = at(9, Some(7)).since(at(4, Some(6)));
        assert_eq!((since.used, since.waited), (Duration::from_millis(5), Some(Duration::from_millis(1))));
        assert_eq!(at(9, Some(7)).since(at(4, None)).waited, None);
    }
}

//! The throttle on clocks of the tests' own, and, where waking up is what matters, on the machine's.

use std::thread;
use std::time::Instant;

use super::*;
use crate::clock::HandClock;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A clock on which waiting takes no time: it jumps to where the wait would have ended.
#[derive(Default)]
struct Jumping(HandClock);

impl Clock for Jumping {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

impl Pastime for Jumping {
    fn wait(&self, _turn: &Turn, time: Duration) {
        self.0.turn(time);
    }
}

/// A clock that stands still: whoever waits for time to pass waits until called.
#[derive(Default)]
struct Standing(HandClock);

impl Clock for Standing {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

impl Pastime for Standing {
    fn wait(&self, turn: &Turn, _time: Duration) {
        turn.wait();
    }
}

impl Throttle<Standing> {
    fn let_time_pass(&self, time: Duration) {
        self.clock.0.turn(time);
        if let Some(first) = self.line.lock().unwrap().waiting.front() {
            first.call();
        }
    }
}

fn waiting<C>(throttle: &Throttle<C>) -> usize {
    throttle.line.lock().unwrap().waiting.len()
}

fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(10), "what was waited for did not come");
        thread::yield_now();
    }
}

fn bytes(bytes: usize) -> Size {
    Size { records: 1, bytes }
}

/// When each batch passed, until the clock shows the end.
fn run(throttle: &Throttle<Jumping>, size: Size, end: Duration) -> Vec<Duration> {
    let never = Cancel::new();
    let mut passed = Vec::new();
    loop {
        throttle.take(size, &never).unwrap();
        let now = throttle.clock.now();
        if now > end {
            return passed;
        }
        passed.push(now);
    }
}

/// The largest number of batches within any window of a second.
fn busiest_second(passed: &[Duration]) -> usize {
    let second = Duration::from_secs(1);
    let within = |first: usize| passed[first..].partition_point(|time| *time < passed[first] + second);
    (0..passed.len()).map(within).max().unwrap_or(0)
}

fn assert_within_a_percent(actual: usize, expected: usize) {
    assert!(actual.abs_diff(expected) * 100 <= expected, "{actual} instead of {expected}");
}

/// Trap 2.
/// DX-13: 1 MiB/s with a burst of 64 KiB, records of 1 KiB, for 10 s.
#[test]
fn the_limit_in_bytes_holds_in_sum_and_in_every_second() {
    let throttle = Throttle::with_clock(Jumping::default(), Some(MIB as u64), None);
    let passed = run(&throttle, bytes(KIB), Duration::from_secs(10));
    assert_within_a_percent(passed.len() * KIB, 10 * MIB + 64 * KIB);
    assert!(busiest_second(&passed) * KIB <= MIB + 64 * KIB);
}

/// Trap 2.
/// DX-13: the same for records, and for batches of many.
#[test]
fn the_limit_in_records_holds_in_sum_and_in_every_second() {
    let throttle = Throttle::with_clock(Jumping::default(), None, Some(16_000));
    let batch = Size { records: 100, bytes: MIB };
    let passed = run(&throttle, batch, Duration::from_secs(10));
    assert_within_a_percent(passed.len() * 100, 160_000 + 1000);
    assert!(busiest_second(&passed) * 100 <= 16_000 + 1000);
}

/// DX-13: with both limits the stricter one counts, whichever it is.
#[test]
fn of_two_limits_the_stricter_counts() {
    for (bytes, records) in [(MIB as u64, 1_000_000), (1 << 40, 1024)] {
        let throttle = Throttle::with_clock(Jumping::default(), Some(bytes), Some(records));
        let passed = run(&throttle, Size { records: 1, bytes: KIB }, Duration::from_secs(10));
        assert_within_a_percent(passed.len(), 10 * 1024 + 64);
    }
}

#[test]
fn a_rest_earns_one_burst_and_no_more() {
    let throttle = Throttle::with_clock(Jumping::default(), Some(16_000), None);
    let never = Cancel::new();
    throttle.clock.0.turn(Duration::from_secs(3600));
    for _ in 0..10 {
        assert_eq!(throttle.take(bytes(100), &never), Ok(Duration::ZERO));
    }
    assert_eq!(throttle.take(bytes(16), &never), Ok(Duration::from_millis(1)));
}

#[test]
fn a_batch_larger_than_the_burst_passes_and_is_paid_for_afterwards() {
    let throttle = Throttle::with_clock(Jumping::default(), Some(MIB as u64), None);
    let never = Cancel::new();
    assert_eq!(throttle.take(bytes(2 * MIB), &never), Ok(Duration::ZERO));
    assert_eq!(throttle.take(bytes(64 * KIB), &never), Ok(Duration::from_secs(2)));
    let passed = run(&throttle, bytes(2 * MIB), Duration::from_secs(202));
    assert_within_a_percent(passed.len() * 2 * MIB, 200 * MIB);
}

#[test]
fn an_absurd_size_is_a_long_wait_for_the_next_and_no_overflow() {
    let throttle = Throttle::with_clock(Jumping::default(), Some(1), Some(1));
    let never = Cancel::new();
    let absurd = Size { records: usize::MAX, bytes: usize::MAX };
    assert_eq!(throttle.take(absurd, &never), Ok(Duration::ZERO));
    assert_eq!(throttle.take(absurd, &never), Ok(Duration::from_secs(usize::MAX as u64)));
}

#[test]
fn no_limit_lets_everything_pass() {
    for none in [None, Some(0)] {
        let throttle = Throttle::new(none, none);
        assert!(throttle.is_unlimited());
        assert_eq!(throttle.take(bytes(usize::MAX), &Cancel::new()), Ok(Duration::ZERO));
    }
    assert!(!Throttle::new(None, Some(1)).is_unlimited());
}

#[test]
fn tasks_are_served_in_the_order_of_asking() {
    let throttle = Throttle::with_clock(Standing::default(), Some(1), None);
    let never = Cancel::new();
    throttle.take(bytes(1), &never).unwrap();
    let served = std::sync::Mutex::new(Vec::new());
    thread::scope(|scope| {
        for name in 0..3 {
            let (throttle, never, served) = (&throttle, &never, &served);
            scope.spawn(move || {
                throttle.take(bytes(1), never).unwrap();
                served.lock().unwrap().push(name);
            });
            until(|| waiting(throttle) == name + 1);
        }
        for count in 1..=3 {
            throttle.let_time_pass(Duration::from_secs(1));
            until(|| served.lock().unwrap().len() == count);
        }
    });
    assert_eq!(*served.lock().unwrap(), [0, 1, 2]);
}

/// The first in the line waits for a lot; when it is cancelled, the second needs no more than what has been earned.
#[test]
fn a_cancelled_task_takes_nothing_and_lets_the_next_one_pass() {
    let throttle = Throttle::with_clock(Standing::default(), Some(160), None);
    let (patient, impatient) = (Cancel::new(), Cancel::new());
    throttle.take(bytes(10), &patient).unwrap();
    thread::scope(|scope| {
        let first = scope.spawn(|| throttle.take(bytes(10), &impatient));
        until(|| waiting(&throttle) == 1);
        let second = scope.spawn(|| throttle.take(bytes(1), &patient));
        until(|| waiting(&throttle) == 2);
        throttle.let_time_pass(Duration::from_millis(10));
        assert_eq!(waiting(&throttle), 2, "the second does not overtake");
        impatient.cancel();
        assert_eq!(first.join().unwrap(), Err(Cancelled));
        assert_eq!(second.join().unwrap(), Ok(Duration::from_millis(10)));
    });
    assert_eq!(waiting(&throttle), 0);
}

/// DX-14: on the machine's clock, a wait that would take many years is over within 10 ms of being cancelled.
#[test]
fn a_cancelled_wait_is_over_at_once() {
    let woken_after = (0..10).map(|_| {
        let throttle = Throttle::new(Some(1), None);
        let cancel = Cancel::new();
        throttle.take(bytes(usize::MAX), &cancel).unwrap();
        thread::scope(|scope| {
            let first = scope.spawn(|| throttle.take(bytes(1), &cancel));
            let second = scope.spawn(|| throttle.take(bytes(1), &cancel));
            until(|| waiting(&throttle) == 2);
            let start = Instant::now();
            cancel.cancel();
            assert_eq!((first.join().unwrap(), second.join().unwrap()), (Err(Cancelled), Err(Cancelled)));
            start.elapsed()
        })
    });
    let quickest = woken_after.min().unwrap();
    assert!(quickest < Duration::from_millis(10), "took {quickest:?}");
}

/// The machine's clock is really waited for.
#[test]
fn on_the_clock_of_the_machine_time_passes() {
    let throttle = Throttle::new(None, Some(1000));
    let never = Cancel::new();
    let batch = Size { records: 50, bytes: 0 };
    let start = Instant::now();
    let first = throttle.take(batch, &never).unwrap();
    let second = throttle.take(batch, &never).unwrap();
    assert!(second > Duration::ZERO && first + second <= start.elapsed());
    // The burst of 62 covers the first batch: the second has to wait for what is missing of its 50.
    assert!(start.elapsed() >= Duration::from_millis(38), "took {:?}", start.elapsed());
}

//! What sharing slots costs: for a reader whom nobody waits for, and to pass a slot on to another thread; what it costs to note in which
//! phase a task is; beside passing a token between
//! two threads by a bare mutex and condition variables.
//!
//! `cargo bench -p transship-engine --bench slots`. Results are kept in `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::sync::{Barrier, Condvar, Mutex};
use std::time::{Duration, Instant};

use transship_engine::cancel::Cancel;
use transship_engine::clock::SystemClock;
use transship_engine::perf::Phase;
use transship_engine::perf::meter::Attempts;
use transship_engine::slots::{Rules, Slots};

const RUNS: usize = 7;
const ALONE: u32 = 2_000_000;
const TURNS: u32 = 4_000;

/// How long each works on its turn.
const SLICE: Duration = Duration::from_micros(200);

fn main() {
    println!("medians of {RUNS} runs\n");
    row("between two batches, nobody waits", &[("ns", 1e9)], || [alone()]);
    row("a wait for something else, nobody waits", &[("ns", 1e9)], || [give_back_and_take()]);
    row("a phase within another is entered and left", &[("ns", 1e9)], || [enter_and_leave()]);
    let units = [("µs", 1e6), ("µs of CPU", 1e6)];
    row("a slot passed on, 2 tasks on 1 slot", &units, || pass_on(2));
    row("a slot passed on, 20 tasks on 1 slot", &units, || pass_on(20));
    row("a token passed on, 2 threads, mutex and condition variables", &units, token);
}

/// Prints the median of each figure.
fn row<const N: usize>(what: &str, units: &[(&str, f64); N], measure: impl Fn() -> [Duration; N]) {
    let runs: Vec<[Duration; N]> = (0..RUNS).map(|_| measure()).collect();
    let median = |index: usize| {
        let mut figures: Vec<Duration> = runs.iter().map(|run| run[index]).collect();
        figures.sort_unstable();
        figures[RUNS / 2]
    };
    let figures = units.iter().enumerate();
    let figures: Vec<String> =
        figures.map(|(index, (unit, scale))| format!("{:>8.1} {unit}", median(index).as_secs_f64() * scale)).collect();
    println!("{what:<60} {}", figures.join(" "));
}

fn alone() -> Duration {
    let share = Slots::new(1, Rules::default(), SystemClock::new()).share(1);
    let mut pass = share.pass(&Cancel::new());
    let start = Instant::now();
    for _ in 0..ALONE {
        pass.take().expect("nobody cancels");
        pass.yield_now().expect("nobody cancels");
    }
    start.elapsed() / ALONE
}

fn give_back_and_take() -> Duration {
    let share = Slots::new(1, Rules::default(), SystemClock::new()).share(1);
    let mut pass = share.pass(&Cancel::new());
    let start = Instant::now();
    for _ in 0..ALONE {
        pass.take().expect("nobody cancels");
        pass.give_back();
    }
    start.elapsed() / ALONE
}

/// What it costs to pass a slot on, beside the work on each turn.
fn pass_on(tasks: u32) -> [Duration; 2] {
    let slots = Slots::new(1, Rules { quantum: SLICE, longest_gap: Duration::MAX }, SystemClock::new());
    let shares: Vec<_> = (0..tasks).map(|_| slots.share(1)).collect();
    // Whoever began alone would have done all its turns before the others are there.
    let all_are_there = Barrier::new(tasks as usize);
    beside_the_work(shares.iter().map(|share| {
        let all_are_there = &all_are_there;
        move || {
            let mut pass = share.pass(&Cancel::new());
            all_are_there.wait();
            pass.take().expect("nobody cancels");
            for _ in 0..TURNS / tasks {
                work();
                pass.yield_now().expect("nobody cancels");
            }
        }
    }))
}

/// Each side of a task notes what it is at (`perf::meter`): with this it waits for a slot, a record or room.
fn enter_and_leave() -> Duration {
    let times = Attempts::default().begin();
    times.reader.enter(Phase::ReadTaskData);
    let start = Instant::now();
    for _ in 0..ALONE {
        times.reader.during(Phase::WaitSlotTime, || ());
    }
    start.elapsed() / ALONE
}

fn token() -> [Duration; 2] {
    let (holder, changed) = (Mutex::new(0), [Condvar::new(), Condvar::new()]);
    beside_the_work((0..2).map(|own| {
        let (holder, changed) = (&holder, &changed);
        move || {
            for _ in 0..TURNS / 2 {
                let mut now = holder.lock().expect("nobody panics");
                while *now != own {
                    now = changed[own].wait(now).expect("nobody panics");
                }
                drop(now);
                work();
                *holder.lock().expect("nobody panics") = 1 - own;
                changed[1 - own].notify_one();
            }
        }
    }))
}

/// The wall time, and the time of CPU, that a turn takes beside the work on it.
fn beside_the_work<W: FnOnce() + Send>(workers: impl Iterator<Item = W>) -> [Duration; 2] {
    let start = Instant::now();
    let cpu: Duration = std::thread::scope(|scope| {
        let workers: Vec<_> = workers
            .map(|worker| {
                scope.spawn(|| {
                    worker();
                    cpu_of_thread()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("nobody panics")).sum()
    });
    [start.elapsed(), cpu].map(|time| (time / TURNS).saturating_sub(SLICE))
}

fn work() {
    let start = Instant::now();
    while start.elapsed() < SLICE {
        std::hint::spin_loop();
    }
}

/// How long this thread has run.
fn cpu_of_thread() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    Duration::from_nanos(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("a number"))
}

//! What sharing slots costs: for a reader whom nobody waits for, and to pass a slot on to another thread; beside passing a token between
//! two threads by a bare mutex and condition variables.
//!
//! `cargo bench -p transship-engine --bench slots`. Results are kept in `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use transship_engine::cancel::Cancel;
use transship_engine::clock::SystemClock;
use transship_engine::slots::{Rules, Slots};

const RUNS: usize = 7;
const ALONE: u32 = 2_000_000;
const TURNS: u32 = 50_000;

/// A slice that is over at once.
const AT_ONCE: Rules = Rules { quantum: Duration::ZERO, longest_gap: Duration::MAX };

fn main() {
    println!("nanoseconds, medians of {RUNS} runs\n");
    row("between two batches, nobody waits", || alone(Rules::default()));
    row("a wait for something else, nobody waits", || give_back_and_take(Rules::default()));
    row("a slot passed on, 2 tasks on 1 slot", || pass_on(2));
    row("a slot passed on, 20 tasks on 1 slot", || pass_on(20));
    row("a token passed on, 2 threads, mutex and condition variables", token);
}

fn row(what: &str, measure: impl Fn() -> Duration) {
    let mut runs: Vec<Duration> = (0..RUNS).map(|_| measure()).collect();
    runs.sort_unstable();
    println!("{what:<60} {:>8.1}", runs[RUNS / 2].as_secs_f64() * 1e9);
}

fn alone(rules: Rules) -> Duration {
    let share = Slots::new(1, rules, SystemClock::new()).share(1);
    let mut pass = share.pass(&Cancel::new());
    let start = Instant::now();
    for _ in 0..ALONE {
        pass.take().expect("nobody cancels");
        pass.yield_now().expect("nobody cancels");
    }
    start.elapsed() / ALONE
}

fn give_back_and_take(rules: Rules) -> Duration {
    let share = Slots::new(1, rules, SystemClock::new()).share(1);
    let mut pass = share.pass(&Cancel::new());
    let start = Instant::now();
    for _ in 0..ALONE {
        pass.take().expect("nobody cancels");
        pass.give_back();
    }
    start.elapsed() / ALONE
}

/// The time from one task's turn to the next one's.
fn pass_on(tasks: u32) -> Duration {
    let slots = Slots::new(1, AT_ONCE, SystemClock::new());
    let shares: Vec<_> = (0..tasks).map(|_| slots.share(1)).collect();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for share in &shares {
            scope.spawn(move || {
                let mut pass = share.pass(&Cancel::new());
                pass.take().expect("nobody cancels");
                for _ in 0..TURNS / tasks {
                    pass.yield_now().expect("nobody cancels");
                }
            });
        }
    });
    start.elapsed() / TURNS
}

fn token() -> Duration {
    let (holder, changed) = (Mutex::new(0), [Condvar::new(), Condvar::new()]);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for own in 0..2 {
            let (holder, changed) = (&holder, &changed);
            scope.spawn(move || {
                for _ in 0..TURNS / 2 {
                    let mut now = holder.lock().expect("nobody panics");
                    while *now != own {
                        now = changed[own].wait(now).expect("nobody panics");
                    }
                    *now = 1 - own;
                    drop(now);
                    changed[1 - own].notify_one();
                }
            });
        }
    });
    start.elapsed() / TURNS
}

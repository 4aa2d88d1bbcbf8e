//! The scenarios of the small-scale stream processing kata on a virtual clock: its event generator, as many workers as one likes, and
//! the queue between them. Limits are those of an independent simulation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};

use crate::keys::{Dispatch, Hand, Key, Queue, Want};

/// What is simulated.
#[derive(Clone, Copy)]
struct Kata {
    clients: u64,
    workers: usize,
    dispatch: Dispatch,
    seconds: u64,
    /// Added to the 10 ms of each event.
    overshoot: f64,
    /// The share of events that one client more gets.
    hot: f64,
    /// Events that a worker takes at once.
    batch: usize,
}

const KATA: Kata =
    Kata { clients: 100, workers: 12, dispatch: Dispatch::Free, seconds: 70, overshoot: 0.0, hot: 0.0, batch: 8192 };

/// What became of an event, in milliseconds.
struct Event {
    client: u64,
    came: f64,
    started: f64,
    key_wait: f64,
}

impl Event {
    fn latency(&self) -> f64 {
        self.started - self.came
    }
}

struct Worker {
    hand: Option<Hand<(u64, u64)>>,
    /// The next event of its hand.
    next: usize,
}

const NANOS: f64 = 1e6;

impl Kata {
    /// Runs it, and drops the first ten seconds.
    fn run(self, seed: u64) -> Vec<Event> {
        let mut random = StdRng::seed_from_u64(seed);
        let service = Normal::new(10.0 + self.overshoot, 1.0).unwrap();
        let mut queue = Queue::new(self.dispatch);
        let mut workers: Vec<Worker> = (0..self.workers).map(|_| Worker { hand: None, next: 0 }).collect();
        let mut events: Vec<Event> = Vec::new();
        let arrivals: Vec<(u64, u64)> = (0..self.seconds * 1000)
            .map(|tick| {
                let hot = random.random_bool(self.hot);
                let client = if hot { 5000 } else { 1000 + random.random_range(0..self.clients) };
                (((tick as f64 + random.random_range(0.0..1.0)) * NANOS) as u64, client)
            })
            .collect();
        let mut arrivals = arrivals.into_iter().peekable();
        // When which worker has done with an event.
        let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        loop {
            let end = ends.peek().map(|Reverse((at, _))| *at);
            let (now, done) = match arrivals.next_if(|(at, _)| end.is_none_or(|end| *at < end)) {
                Some((at, client)) => {
                    let bytes = client.to_le_bytes();
                    queue.enter(Key::Number(client.into(), &bytes), (client, at), 0, 0, Duration::from_nanos(at));
                    (at, None)
                }
                None => match ends.pop() {
                    Some(Reverse((at, index))) => (at, Some(index)),
                    None => break,
                },
            };
            if let Some(index) = done {
                let worker = &mut workers[index];
                worker.next += 1;
                if let Some(last) = worker.hand.as_mut().and_then(|hand| hand.worked.last_mut()) {
                    last.1 = Duration::from_nanos(now);
                }
                if worker.hand.as_ref().is_some_and(|hand| worker.next >= hand.entries.len())
                    && let Some(hand) = worker.hand.take()
                {
                    queue.give_back(hand, Duration::from_nanos(now));
                }
                if worker.hand.is_some() {
                    begin(worker, index, now, &mut events, &mut ends, service.sample(&mut random));
                }
            }
            for (index, worker) in workers.iter_mut().enumerate().filter(|(_, worker)| worker.hand.is_none()) {
                let keys = queue.share(index, self.workers);
                if let Some(hand) = queue.take(index, Want { keys, entries: self.batch }, 0) {
                    *worker = Worker { hand: Some(hand), next: 0 };
                    begin(worker, index, now, &mut events, &mut ends, service.sample(&mut random));
                }
            }
        }
        assert!(queue.is_idle());
        events.retain(|event| event.came >= 10_000.0);
        events
    }
}

/// A worker begins the next event of its hand.
fn begin(
    worker: &mut Worker,
    index: usize,
    now: u64,
    events: &mut Vec<Event>,
    ends: &mut BinaryHeap<Reverse<(u64, usize)>>,
    service: f64,
) {
    let hand = worker.hand.as_mut().unwrap();
    let begins = Duration::from_nanos(now);
    hand.worked.push((begins, begins));
    let taken = &hand.entries[worker.next];
    let (client, came) = taken.value;
    let before = hand.entries[..worker.next].iter().zip(&hand.worked).filter(|(before, _)| before.key == taken.key);
    let before: Duration = before.map(|(_, (began, ended))| *ended - *began).sum();
    events.push(Event {
        client,
        came: came as f64 / NANOS,
        started: now as f64 / NANOS,
        key_wait: taken.key_wait(begins, before).as_nanos() as f64 / NANOS,
    });
    ends.push(Reverse((now + (service.max(0.0) * NANOS) as u64, index)));
}

/// As semantics define it: position q (n + 1), interpolated.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = (q * (sorted.len() as f64 + 1.0)).clamp(1.0, sorted.len() as f64);
    let below = position.floor() as usize;
    let above = below.min(sorted.len() - 1);
    sorted[below - 1] + (position - below as f64) * (sorted[above] - sorted[below - 1])
}

/// Median, p99 and p999 of the start latency.
fn figures<'a>(events: impl IntoIterator<Item = &'a Event>) -> [f64; 3] {
    let mut latencies: Vec<f64> = events.into_iter().map(Event::latency).collect();
    latencies.sort_by(f64::total_cmp);
    [0.5, 0.99, 0.999].map(|q| quantile(&latencies, q))
}

/// The mean of the figures over three seeds.
fn mean(kata: Kata) -> [f64; 3] {
    let runs: Vec<[f64; 3]> = (1..=3).map(|seed| figures(&kata.run(seed))).collect();
    std::array::from_fn(|index| runs.iter().map(|run| run[index]).sum::<f64>() / runs.len() as f64)
}

/// The limits hold within five in a hundred, and nobody is much faster than they allow.
#[track_caller]
fn reaches([p50, p99, p999]: [f64; 3], limits: [f64; 2]) {
    assert!(p50 < 0.1, "p50 {p50}");
    for (figure, limit) in [p99, p999].into_iter().zip(limits) {
        assert!(figure <= 1.05 * limit && figure > 0.75 * limit, "p99 {p99} and p999 {p999} instead of {limits:?}");
    }
}

/// KA-03.
#[test]
fn free_lanes_reach_the_limit_of_the_order_alone() {
    reaches(mean(KATA), [9.20, 15.6]);
    reaches(mean(Kata { workers: 16, ..KATA }), [9.35, 15.9]);
    reaches(mean(Kata { workers: 20, ..KATA }), [9.18, 15.1]);
}

/// KA-04.
#[test]
fn with_many_clients_hardly_anything_waits() {
    reaches(mean(Kata { clients: 1000, ..KATA }), [0.59, 8.91]);
}

/// KA-06.
#[test]
fn lanes_by_remainder_are_an_order_of_magnitude_worse() {
    let lanes = NonZeroUsize::new(12).unwrap();
    let figures = mean(Kata { dispatch: Dispatch::Modulo(lanes), seconds: 130, ..KATA });
    assert!((110.0..190.0).contains(&figures[1]), "{figures:?}");
}

/// KA-07.
#[test]
fn a_late_timer_is_borne_by_eleven_workers() {
    let figures = figures(&Kata { workers: 11, overshoot: 0.5, ..KATA }.run(1));
    assert!(figures[1] < 13.0, "{figures:?}");
}

/// KA-08.
#[test]
fn a_hot_client_does_not_slow_the_others() {
    let events = Kata { clients: 1000, hot: 0.05, ..KATA }.run(1);
    let all = figures(&events);
    assert!(all[1] < 12.0 && all[2] < 45.0, "{all:?}");
    let others = figures(events.iter().filter(|event| event.client != 5000));
    assert!(others[1] < 1.5 && others[2] < 11.0, "{others:?}");
}

/// KA-25.
#[test]
fn waiting_for_the_own_client_is_told_apart_from_waiting_for_a_worker() {
    let shares = |kata: Kata| {
        let events = kata.run(1);
        assert!(events.iter().all(|event| event.key_wait <= event.latency() + 1e-6));
        let sum = |wait: fn(&Event) -> f64| events.iter().map(wait).sum::<f64>();
        sum(|event| event.key_wait) / sum(Event::latency).max(1e-9)
    };
    let one_client = shares(Kata { clients: 1, seconds: 14, ..KATA });
    assert!(one_client > 0.999, "{one_client}");
    let one_by_one = shares(Kata { clients: 1, seconds: 14, batch: 1, ..KATA });
    assert!(one_by_one > 0.999, "{one_by_one}");
    // One at a time: who takes several keys at once makes the others of each wait for all of them.
    let few_workers = shares(Kata { clients: 1000, workers: 5, seconds: 30, batch: 1, ..KATA });
    assert!(few_workers < 0.05, "{few_workers}");
}

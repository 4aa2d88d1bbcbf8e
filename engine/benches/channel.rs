//! What the channel costs: per item when both sides are busy, and to wake a writer that sleeps; beside two well-known
//! channels in the same run. Neither of them can limit bytes; they are the yardstick, not a choice.
//!
//! `cargo bench -p transship-engine --bench channel`. Results are kept in `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use transship_engine::channel::{self, Budget, Capacity, Size};
use transship_plugin_api::{Batch, Origin};

const RUNS: usize = 7;
const ITEMS: usize = 400_000;
const WAKE_UPS: usize = 2000;
const PAUSE: Duration = Duration::from_micros(500);

/// As many bytes as a batch, so that moving an item costs what moving a batch does.
type Payload = [u64; size_of::<Batch>() / 8];

#[derive(Clone, Copy, PartialEq)]
enum Contestant {
    Transship,
    TransshipWithBudget,
    Crossbeam,
    Std,
}

const CONTESTANTS: [(Contestant, &str); 4] = [
    (Contestant::Transship, "transship"),
    (Contestant::TransshipWithBudget, "transship, shared budget"),
    (Contestant::Crossbeam, "crossbeam bounded"),
    (Contestant::Std, "std sync_channel"),
];

/// What the sender's thread does with each item; `None` ends the channel.
type Put<T> = Box<dyn FnMut(Option<T>) + Send>;
/// What the receiver's thread does for each item; `None` is the end.
type Take<T> = Box<dyn FnMut() -> Option<T> + Send>;

impl Contestant {
    fn open<T: Send + 'static>(self, depth: usize) -> (Put<T>, Take<T>) {
        match self {
            Contestant::Transship => own(channel::bounded(capacity(depth))),
            Contestant::TransshipWithBudget => own(channel::bounded_within(capacity(depth), &Budget::new(128 << 20))),
            Contestant::Crossbeam => {
                let (sender, receiver) = crossbeam::channel::bounded(depth);
                (put(sender, |sender, item| drop(sender.send(item))), Box::new(move || receiver.recv().ok()))
            }
            Contestant::Std => {
                let (sender, receiver) = std::sync::mpsc::sync_channel(depth);
                (put(sender, |sender, item| drop(sender.send(item))), Box::new(move || receiver.recv().ok()))
            }
        }
    }
}

fn own<T: Send + 'static>((sender, mut receiver): (channel::Sender<T>, channel::Receiver<T>)) -> (Put<T>, Take<T>) {
    let mut sender = Some(sender);
    let put = move |item| match item {
        Some(item) => {
            let size = Size { records: 1, bytes: 100 };
            drop(sender.as_mut().expect("nothing is sent after the end").send(item, size));
        }
        None => sender.take().expect("there is one end").end(),
    };
    (Box::new(put), Box::new(move || receiver.recv().ok().and_then(|(item, _)| item)))
}

/// Sends each item; the end is the drop of the sender.
fn put<S: Send + 'static, T: 'static>(sender: S, send: impl Fn(&S, T) + Send + 'static) -> Put<T> {
    let mut sender = Some(sender);
    Box::new(move |item| match (item, &sender) {
        (Some(item), Some(open)) => send(open, item),
        _ => sender = None,
    })
}

fn capacity(depth: usize) -> Capacity {
    let records = NonZeroUsize::new(depth).expect("a depth is not zero");
    Capacity { records, bytes: NonZeroUsize::new(64 << 20).expect("a constant") }
}

/// What a run cost, per item, over both threads.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: f64,
    processor: f64,
    sleeps: f64,
}

fn throughput(contestant: Contestant, depth: usize) -> Cost {
    let (mut put, mut take) = contestant.open::<Payload>(depth);
    let start = Instant::now();
    let (sending, receiving) = thread::scope(|scope| {
        let receiving = scope.spawn(move || {
            let before = Usage::of_this_thread();
            let mut received = 0;
            while let Some(item) = take() {
                assert_eq!(item[0], received, "items arrive in order");
                received += 1;
            }
            assert_eq!(received, ITEMS as u64, "no item is lost");
            Usage::of_this_thread().since(before)
        });
        let before = Usage::of_this_thread();
        for number in 0..ITEMS {
            let mut item = Payload::default();
            item[0] = number as u64;
            put(Some(item));
        }
        put(None);
        (Usage::of_this_thread().since(before), receiving.join().expect("the receiver does not panic"))
    });
    let each = |total: f64| total / ITEMS as f64;
    Cost {
        wall: each(start.elapsed().as_nanos() as f64),
        processor: each((sending.nanoseconds + receiving.nanoseconds) as f64),
        sleeps: each((sending.sleeps + receiving.sleeps) as f64),
    }
}

/// What the kernel says a thread has used.
#[derive(Clone, Copy)]
struct Usage {
    nanoseconds: u64,
    sleeps: u64,
}

impl Usage {
    /// Zero where the kernel does not tell.
    fn of_this_thread() -> Usage {
        let schedule = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let sleeps = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        Usage { nanoseconds: number(schedule.split(' ').next()), sleeps: number(sleeps) }
    }

    fn since(self, before: Usage) -> Usage {
        Usage { nanoseconds: self.nanoseconds - before.nanoseconds, sleeps: self.sleeps - before.sleeps }
    }
}

fn number(text: Option<&str>) -> u64 {
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// How the sender spends the pause before each item: asleep, like a reader that waits for its source, or busy.
#[derive(Clone, Copy)]
enum Pause {
    Asleep,
    Busy,
}

impl Pause {
    fn pass(self) {
        let start = Instant::now();
        while start.elapsed() < PAUSE {
            match self {
                Pause::Asleep => thread::park_timeout(PAUSE.saturating_sub(start.elapsed())),
                Pause::Busy => std::hint::spin_loop(),
            }
        }
    }
}

/// From just before a batch of one record is sent until the receiver, which slept, has it: in microseconds.
fn wake_ups(contestant: Contestant, pause: Pause) -> Vec<f64> {
    let (mut put, mut take) = contestant.open::<(Instant, Batch)>(64);
    let record = one_record();
    thread::scope(|scope| {
        let receiving = scope.spawn(move || {
            let mut waits = Vec::with_capacity(WAKE_UPS);
            while let Some((sent, _batch)) = take() {
                waits.push(sent.elapsed().as_nanos() as f64 / 1000.0);
            }
            waits
        });
        for number in 0..WAKE_UPS {
            let batch = Batch::new(record.clone(), 80, Origin::from(number as u64));
            pause.pass();
            put(Some((Instant::now(), batch)));
        }
        put(None);
        receiving.join().expect("the receiver does not panic")
    })
}

fn one_record() -> RecordBatch {
    let fields: Vec<Field> = (0..10).map(|number| Field::new(format!("c{number}"), DataType::Int64, false)).collect();
    let columns = (0..10).map(|number| Arc::new(Int64Array::from(vec![number])) as ArrayRef).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("ten columns of one value")
}

fn quantile(mut values: Vec<f64>, quantile: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * quantile) as usize]
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    quantile(costs.iter().map(of).collect(), 0.5)
}

fn main() {
    println!("{ITEMS} items of {} bytes, both sides busy; medians of {RUNS} interleaved runs\n", size_of::<Payload>());
    println!("| depth | channel | wall ns/item | to transship | CPU ns/item | sleeps per 1000 items |");
    println!("|---|---|---|---|---|---|");
    for depth in [64, 8] {
        let mut costs = CONTESTANTS.map(|_| Vec::new());
        for _ in 0..RUNS {
            for (place, (contestant, _)) in CONTESTANTS.iter().enumerate() {
                costs[place].push(throughput(*contestant, depth));
            }
        }
        let own = median(&costs[0], |cost| cost.wall);
        for ((_, name), costs) in CONTESTANTS.iter().zip(&costs) {
            let (wall, processor) = (median(costs, |cost| cost.wall), median(costs, |cost| cost.processor));
            let sleeps = median(costs, |cost| cost.sleeps) * 1000.0;
            println!("| {depth} | {name} | {wall:.0} | {:.2} | {processor:.0} | {sleeps:.0} |", wall / own);
        }
    }

    println!("\n{WAKE_UPS} batches of one record, one every {} µs, to a sleeping receiver\n", PAUSE.as_micros());
    println!("| sender meanwhile | channel | median µs | to transship | p99 µs |");
    println!("|---|---|---|---|---|");
    for (pause, meanwhile) in [(Pause::Asleep, "asleep"), (Pause::Busy, "busy")] {
        let waits = CONTESTANTS.map(|(contestant, _)| wake_ups(contestant, pause));
        let own = quantile(waits[0].clone(), 0.5);
        for ((_, name), waits) in CONTESTANTS.iter().zip(waits) {
            let middle = quantile(waits.clone(), 0.5);
            println!("| {meanwhile} | {name} | {middle:.1} | {:.2} | {:.1} |", middle / own, quantile(waits, 0.99));
        }
    }
}

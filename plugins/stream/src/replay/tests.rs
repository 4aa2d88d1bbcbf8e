//! Replays: which events there are, and when each travels.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMicrosecondType};
use serde_json::{Value, json};
use transship_plugin_api::{Item, Kind, Params, ReadOptions, ReaderTask};

use super::config::ReplayConfig;
use super::events::{Event, Events};
use super::task::{Line, Sight};
use crate::tests::{all_splits, batches, host, options, reader};

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLI;

fn events(replay: Value, seed: u64) -> Events {
    let config = ReplayConfig::parse(&Params::new(&replay, "parameter.replay").unwrap()).unwrap();
    Events::new(&config, seed)
}

fn all(replay: Value, seed: u64) -> Vec<Event> {
    let mut events = events(replay, seed);
    std::iter::from_fn(|| events.next_by(u64::MAX)).collect()
}

/// Those that come for the first time, and those that come again.
fn once_and_again(events: &[Event]) -> (Vec<Event>, Vec<Event>) {
    events.iter().partition(|event| event.due == event.created)
}

fn task(replay: Value, options: &ReadOptions) -> Box<dyn ReaderTask> {
    let mut reader = reader(json!({ "replay": replay }));
    let split = all_splits(reader.as_mut(), 4).remove(0);
    let mut task = reader.open(&split, options, host()).unwrap();
    task.prepare().unwrap();
    task
}

#[test]
fn there_is_an_event_in_every_period_and_each_client_sends_as_many_as_the_others() {
    let (fresh, _) = once_and_again(&all(json!({ "seconds": 60 }), 1));
    assert_eq!(fresh.len(), 60_000);
    assert!(fresh.iter().enumerate().all(|(tick, event)| event.due / MILLI == tick as u64));
    let mean = fresh.iter().map(|event| (event.due % MILLI) as f64).sum::<f64>() / 60_000.0;
    assert!((450_000.0..550_000.0).contains(&mean), "{mean}");
    let mut sent: HashMap<i64, i64> = HashMap::new();
    for event in &fresh {
        let next = sent.entry(event.client).or_default();
        assert_eq!(event.sequence, *next, "{event:?}");
        *next += 1;
    }
    assert_eq!(sent.len(), 100);
    assert!(sent.iter().all(|(client, sent)| (1_000..1_100).contains(client) && (450..750).contains(sent)), "{sent:?}");
}

#[test]
fn one_event_in_a_hundred_comes_again_within_five_seconds_and_is_the_same() {
    let events = all(json!({ "seconds": 60 }), 2);
    assert!(events.is_sorted_by_key(|event| event.due));
    let (fresh, again) = once_and_again(&events);
    assert!((520..680).contains(&again.len()), "{}", again.len());
    let originals: HashMap<[u8; 16], Event> = fresh.iter().map(|event| (event.id, *event)).collect();
    assert_eq!(originals.len(), fresh.len());
    let mut delays = Vec::new();
    for event in &again {
        let original = originals[&event.id];
        assert_eq!(Event { due: original.due, ..*event }, original);
        delays.push(event.due - original.due);
    }
    assert!(delays.iter().all(|delay| (10 * MILLI..=5 * SECOND).contains(delay)));
    let mean = delays.iter().sum::<u64>() / delays.len() as u64;
    assert!((2_300 * MILLI..2_700 * MILLI).contains(&mean), "{mean}");
}

#[test]
fn an_id_is_a_uuid_of_version_4() {
    for event in all(json!({ "events": 100 }), 3) {
        assert_eq!((event.id[6] >> 4, event.id[8] >> 6), (4, 0b10), "{event:?}");
    }
}

#[test]
fn a_seed_makes_the_same_events_and_another_one_others() {
    let some = json!({ "events": 1_000, "duplicates": 0.1 });
    assert_eq!(all(some.clone(), 4), all(some.clone(), 4));
    assert!(all(some.clone(), 4).iter().zip(all(some, 5)).all(|(one, other)| one.id != other.id));
}

#[test]
fn a_hot_client_sends_its_share_beside_its_part_of_the_others() {
    let events = all(json!({ "events": 100_000, "clients": 1_000, "duplicates": 0, "hotShare": 0.05 }), 6);
    let hot = events.iter().filter(|event| event.client == 1_000).count();
    assert!((4_800..5_400).contains(&hot), "{hot}");
}

/// KA-22.
#[test]
fn clients_may_have_any_numbers() {
    for first in [i64::MIN, -50, 0, i64::MAX - 99] {
        let clients: HashSet<i64> =
            all(json!({ "events": 10_000, "firstClient": first }), 7).iter().map(|event| event.client).collect();
        assert_eq!(clients, (first..=first + 99).collect());
    }
}

#[test]
fn an_event_travels_when_the_oldest_has_waited_long_enough() {
    let mut line = Line::new(events(json!({ "duplicates": 0 }), 8), 5 * MILLI, 100);
    let Sight::Later(first) = line.look(0) else { panic!("nothing is due at the beginning") };
    assert!(first < MILLI);
    assert_eq!(line.look(first), Sight::Later(first + 5 * MILLI));
    assert_eq!(line.look(first + 4 * MILLI), Sight::Later(first + 5 * MILLI));
    assert_eq!(line.look(first + 5 * MILLI), Sight::Ready);
    let travelling = line.take();
    assert!((5..=6).contains(&travelling.len()), "{travelling:?}");
    assert!(travelling.iter().all(|event| event.due <= first + 5 * MILLI));
    assert!(matches!(line.look(first + 5 * MILLI), Sight::Later(next) if next > first + 5 * MILLI));
}

#[test]
fn as_many_events_as_fill_a_batch_wait_for_no_other() {
    let mut line = Line::new(events(json!({ "duplicates": 0 }), 9), 5 * SECOND, 3);
    assert!(matches!(line.look(2 * MILLI), Sight::Later(_)));
    assert_eq!(line.look(10 * MILLI), Sight::Ready);
    assert_eq!(line.take().len(), 3);
    // Whoever looks late finds the next batch ready, and no more than a batch.
    assert_eq!(line.look(10 * MILLI), Sight::Ready);
    assert_eq!(line.take().len(), 3);
}

#[test]
fn the_last_events_wait_for_nobody_and_late_duplicates_still_come() {
    let replay = json!({ "events": 2, "duplicates": 1, "delay": "1 s" });
    let mut line = Line::new(events(replay, 10), SECOND / 2, 100);
    assert_eq!(line.look(SECOND / 2 + 2 * MILLI), Sight::Ready);
    assert_eq!(line.take().len(), 2);
    let Sight::Later(again) = line.look(SECOND / 2 + 2 * MILLI) else { panic!("the duplicates are a second late") };
    assert!((SECOND..SECOND + 2 * MILLI).contains(&again));
    assert_eq!(line.look(SECOND + 2 * MILLI), Sight::Ready);
    assert_eq!(line.take().len(), 2);
    assert_eq!(line.look(SECOND + 2 * MILLI), Sight::Ready);
    assert!(line.take().is_empty());
}

#[test]
fn without_real_time_everything_comes_at_once_and_the_same_in_every_run() {
    let replay = json!({ "events": 20_000, "seed": 11, "realTime": false });
    let read = || {
        let mut reader = reader(json!({ "replay": replay }));
        let splits = all_splits(reader.as_mut(), 4);
        assert_eq!(splits.len(), 1);
        batches(reader.as_mut(), &splits[0], &options(8_192))
    };
    let first = read();
    let sizes: Vec<usize> = first.iter().map(|records| records.num_rows()).collect();
    let again = sizes.iter().sum::<usize>() - 20_000;
    assert!(sizes[..2] == [8_192, 8_192] && (130..270).contains(&again), "{sizes:?}");
    let made = first[0].column(2).as_primitive::<TimestampMicrosecondType>();
    assert_eq!(made.value(0).div_euclid(1_000), 1_704_067_200_000);
    assert_eq!(first, read());
}

#[test]
fn an_attempt_goes_on_behind_what_is_safe() {
    let replay = json!({ "events": 1_000, "seed": 12, "realTime": false, "duplicates": 0.2 });
    let mut reader = reader(json!({ "replay": replay }));
    let split = all_splits(reader.as_mut(), 1).remove(0);
    let whole = batches(reader.as_mut(), &split, &options(1_000));
    let rest = ReadOptions { position: Some(json!(100)), ..options(900) };
    let rest = batches(reader.as_mut(), &split, &rest);
    assert_eq!(rest[0], whole[0].slice(100, 900));
}

#[test]
fn batches_tell_how_much_of_all_deliveries_has_come() {
    let replay = json!({ "events": 1_000, "seed": 12, "realTime": false, "duplicates": 0.2 });
    for (position, expected) in [(None, vec![0.25, 0.5, 0.75, 1.0]), (Some(json!(300)), vec![0.5, 0.75, 1.0])] {
        let mut task = task(replay.clone(), &ReadOptions { position, ..options(300) });
        let mut shares = Vec::new();
        while let Item::Batch(batch) = task.next(Duration::ZERO).unwrap() {
            shares.push(batch.read_share.unwrap());
        }
        let is_about = |(share, expected): (&f64, &f64)| (share - expected).abs() < 0.05;
        // How many come again is a matter of chance.
        assert!(shares.len().abs_diff(expected.len()) <= 1, "{shares:?}");
        assert!(shares.iter().zip(&expected).all(is_about), "{shares:?} instead of {expected:?}");
    }
}

#[test]
fn an_attempt_that_goes_on_waits_for_nothing_that_has_passed() {
    let replay = json!({ "events": 3, "seed": 13, "rate": 0.001, "duplicates": 0 });
    let mut task = task(replay, &ReadOptions { position: Some(json!(2)), ..options(10) });
    assert!(matches!(task.next(Duration::from_secs(60)).unwrap(), Item::Batch(batch) if batch.origin.first == 2));
    assert!(matches!(task.next(Duration::from_secs(60)).unwrap(), Item::End));
}

#[test]
fn events_come_at_their_times_and_are_as_old_as_they_say() {
    let started = Instant::now();
    let mut task = task(json!({ "events": 20, "linger": "0", "duplicates": 0, "seed": 14 }), &options(100));
    let mut seen = 0;
    while let Item::Batch(batch) = task.next(Duration::from_secs(60)).unwrap() {
        assert_eq!((batch.num_rows(), batch.origin.first), (1, seen));
        let records = batch.into_records().unwrap();
        let created = records.column(2).as_primitive::<TimestampMicrosecondType>().value(0);
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        assert!(created <= since.as_micros() as i64 + 1, "an event of the future");
        assert!(records.column(0).as_primitive::<Int64Type>().value(0) >= 1_000);
        seen += 1;
    }
    assert_eq!(seen, 20);
    assert!(started.elapsed() >= Duration::from_millis(19));
}

#[test]
fn a_task_is_idle_until_an_event_is_due() {
    let mut task = task(json!({ "rate": 0.00001, "seed": 15 }), &options(10));
    assert!(matches!(task.next(Duration::ZERO).unwrap(), Item::Idle));
    let asked = Instant::now();
    assert!(matches!(task.next(Duration::from_millis(20)).unwrap(), Item::Idle));
    assert!(asked.elapsed() >= Duration::from_millis(20));
}

#[test]
fn a_wait_ends_when_the_task_is_cancelled() {
    let mut task = task(json!({ "rate": 0.00001, "seed": 16 }), &options(10));
    let cancel = task.cancel_handle().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| task.next(Duration::from_secs(100_000)));
        cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().kind(), Kind::Cancelled);
    });
}

#[test]
fn parameters_that_mean_nothing_are_refused() {
    let refused = |parameter: Value, expected: &str| {
        let Err(error) = crate::reader::new(&parameter, host()) else { panic!("{parameter} was taken") };
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.message().contains(expected), "{error}");
    };
    let replay = |replay: Value, expected: &str| refused(json!({ "replay": replay }), expected);
    refused(json!({ "replay": 1 }), "parameter.replay must be an object");
    refused(json!({ "replay": {}, "rate": 5 }), "parameter.rate has no place beside replay");
    refused(json!({ "replay": {}, "column": [] }), "parameter.column has no place beside replay");
    replay(json!({ "rate": 0 }), "parameter.replay.rate must be from 0.000001 to a billion, not 0");
    replay(json!({ "clients": 0 }), "parameter.replay.clients must be from 1 to 100000000, not 0");
    replay(json!({ "firstClient": i64::MAX }), "parameter.replay.firstClient leaves no room");
    replay(json!({ "events": 1, "seconds": 1 }), "parameter.replay.events and seconds both say");
    replay(json!({ "seconds": -1 }), "parameter.replay.seconds must be a number from 0 on, not -1");
    replay(json!({ "duplicates": 1.5 }), "parameter.replay.duplicates must be a share from 0 to 1, not 1.5");
    for delay in [json!("5"), json!(["5 s", "1 s"]), json!(["1 s", "2 s", "3 s"])] {
        replay(json!({ "delay": delay }), "parameter.replay.delay must be the shortest and the longest delay");
    }
    replay(json!({ "linger": 5 }), "parameter.replay.linger must be a length of time with its unit");
}

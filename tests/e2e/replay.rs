//! A stream of events made by `streamreader`, and the slow service that `streamwriter` can be: from outside, in real time and
//! without.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use transship_tests::records::number;
use transship_tests::{Finished, Job, Scratch, Signal, Value, json, plugin};

fn replay(replay: Value) -> Value {
    plugin("streamreader", json!({ "replay": replay }))
}

fn work(work: Value) -> Value {
    plugin("streamwriter", json!({ "work": work }))
}

fn printed(scratch: &Scratch, replayed: Value) -> Finished {
    scratch.job("job.json", &Job::new(replay(replayed), plugin("streamwriter", json!({ "print": true }))));
    scratch.transship(["run", "job.json"]).run().succeeds()
}

#[test]
fn events_are_printed_with_client_id_moment_and_number() {
    let scratch = Scratch::new();
    let replayed = json!({ "events": 3_000, "duplicates": 0.1, "seed": 1, "realTime": false });
    let run = printed(&scratch, replayed.clone());
    let mut next: HashMap<String, u64> = HashMap::new();
    let mut seen = HashSet::new();
    let mut again = 0;
    for line in run.stdout.lines() {
        let [client, id, created, sequence] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not four columns: {line}");
        };
        assert!((1_000..1_100).contains(&client.parse::<u64>().unwrap()), "{line}");
        assert_eq!(id.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{line}");
        assert!(created.starts_with("2024-01-01 00:00:0"), "{line}");
        if !seen.insert(line) {
            again += 1;
            continue;
        }
        let next = next.entry(client.into()).or_default();
        assert_eq!(sequence.parse::<u64>().unwrap(), *next, "{line}");
        *next += 1;
    }
    assert_eq!(seen.len(), 3_000, "{run}");
    assert!((230..370).contains(&again), "{again} came again");
    assert_eq!(printed(&scratch, replayed).stdout, run.stdout, "a seed makes the same events");
}

#[test]
fn events_come_at_their_times() {
    let scratch = Scratch::new();
    let run = printed(&scratch, json!({ "seconds": 1, "rate": 200, "duplicates": 0 }));
    assert_eq!(run.stdout.lines().count(), 200);
    assert!(run.elapsed() >= Duration::from_millis(990), "{:?}", run.elapsed());
}

#[test]
fn a_stream_without_end_runs_until_a_signal_stops_it() {
    let scratch = Scratch::new();
    let writer = plugin("streamwriter", json!({ "path": ".", "fileName": "out.txt" }));
    scratch.job("job.json", &Job::new(replay(json!({ "linger": "0" })), writer));
    let mut run = scratch.transship(["run", "job.json", "--json"]).start();
    run.wait_until("the first events", || {
        let part = |name: &String| name.contains("out.txt") && !scratch.read(name).is_empty();
        scratch.files().iter().any(part)
    });
    run.signal(Signal::Terminate);
    let run = run.finish().fails_with(143);
    assert_eq!(run.error(), "stopped by SIGTERM", "{run}");
}

#[test]
fn a_service_takes_its_time_and_stops_at_once() {
    let scratch = Scratch::new();
    let reader = || replay(json!({ "events": 50, "rate": 1e6, "duplicates": 0 }));
    scratch.job("job.json", &Job::new(reader(), work(json!({ "mean": "4 ms", "deviation": "1 ms" }))));
    let run = scratch.transship(["run", "job.json"]).env("TRANSSHIP_LOG", "info").run().succeeds();
    assert!(run.elapsed() >= Duration::from_millis(170), "{:?}", run.elapsed());
    run.says(["worked on 50 records for "]);

    let writer = json!({ "work": { "mean": "1 h" }, "path": ".", "fileName": "out.txt" });
    scratch.job("job.json", &Job::new(reader(), plugin("streamwriter", writer)));
    let mut run = scratch.transship(["run", "job.json", "--json"]).start();
    run.wait_until("the work begins", || scratch.files().iter().any(|name| name.contains("out.txt")));
    run.signal(Signal::Terminate);
    run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
}

/// KA-09.
#[test]
fn the_guard_of_the_service_finds_nothing_where_all_is_in_order() {
    let scratch = Scratch::new();
    let order = json!({ "order": { "key": "client", "sequence": "sequence" } });
    let reader = replay(json!({ "events": 20_000, "duplicates": 0, "realTime": false }));
    let run = scratch.run(&Job::new(reader, work(order))).succeeds();
    assert_eq!(number(&run.summary(), "/counts/written"), 20_000);
}

#[test]
fn the_guard_of_the_service_fails_a_job_that_handles_events_twice() {
    let scratch = Scratch::new();
    let order = json!({ "order": { "key": "client", "sequence": "sequence" } });
    let reader = replay(json!({ "events": 20_000, "duplicates": 0.01, "seed": 1, "realTime": false }));
    let run = scratch.run(&Job::new(reader, work(order))).fails_with(1);
    run.says([
        "work.order was violated: ",
        " records came after a later one of their key, or a second time; 0 were handled while",
    ]);
}

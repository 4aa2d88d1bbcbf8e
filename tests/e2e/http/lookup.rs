//! `httplookup`, through the transformer that asks it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use transship_tests::http::{Reply, Request, with_server};
use transship_tests::{Finished, Job, Scratch, Signal, Value, json, plugin};

use super::reply;

/// Prints records with the numbers 1, 2, 3… and what is found for them.
fn enriching(records: u64, lookup: Value, transformer: Value) -> Job {
    enriching_at(1e9, records, lookup, transformer)
}

/// The same at so many records a second.
fn enriching_at(rate: f64, records: u64, lookup: Value, transformer: Value) -> Job {
    let column = json!([{ "name": "client", "type": "LONG", "sequence": "1,1" }]);
    let mut parameter = json!({ "lookup": { "name": "httplookup", "parameter": lookup }, "key": "client" });
    parameter.as_object_mut().unwrap().extend(transformer.as_object().unwrap().clone());
    Job::new(
        plugin("streamreader", json!({ "sliceRecordCount": records, "column": column, "rate": rate })),
        plugin("streamwriter", json!({ "print": true, "fieldDelimiter": "|" })),
    )
    .transformer(plugin("lookup", parameter))
}

fn run(job: &Job) -> Finished {
    let scratch = Scratch::new();
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json"]).run()
}

/// The client that a path like `/clients/7` asks for.
fn client(request: &Request) -> u64 {
    request.path().rsplit('/').next().unwrap().parse().unwrap()
}

fn names() -> Value {
    json!([{ "name": "name" }, { "name": "level", "pointer": "/rating/level", "type": "long" }])
}

#[test]
fn what_a_service_knows_of_a_key_is_put_into_the_record() {
    let answer = |request: &Request| match client(request) {
        2 => Reply::new(404, "no such client"),
        3 => Reply::new(204, ""),
        4 => reply(json!({ "name": "four" })),
        id => reply(json!({ "name": format!("n{id}"), "rating": { "level": id * 10 } })),
    };
    with_server(answer, |server| {
        let lookup =
            json!({ "url": format!("{}/clients/{{client}}", server.url()), "column": names(), "token": "t0k3n-value" });
        let run = run(&enriching(5, lookup, json!({}))).succeeds();
        assert_eq!(
            run.stdout.lines().collect::<Vec<_>>(),
            ["1|n1|10", "2|null|null", "3|null|null", "4|four|null", "5|n5|50"]
        );
        assert!(server.requests().iter().all(|request| request.header("authorization") == Some("Bearer t0k3n-value")));
    });
}

#[test]
fn a_key_goes_into_query_and_body_as_what_it_is() {
    let answer = |request: &Request| {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        assert_eq!(body, json!({ "id": 1, "why": "for 1" }), "{request:?}");
        assert_eq!((request.method.as_str(), request.query("id"), request.query("v")), ("POST", Some("c1"), Some("2")));
        reply(json!({ "found": [{ "name": "a" }, { "name": "b" }] }))
    };
    with_server(answer, |server| {
        let lookup = json!({
            "url": format!("{}/find?v=2", server.url()), "query": { "id": "c{client}" }, "records": "/found",
            "body": { "id": "{client}", "why": "for {client}" }, "column": [{ "name": "name" }]
        });
        let run = run(&enriching(1, lookup, json!({}))).succeeds();
        assert_eq!(run.stdout.lines().collect::<Vec<_>>(), ["1|a", "1|b"], "{run}");
    });
}

#[test]
fn many_keys_are_asked_for_at_once_and_told_apart_by_their_values() {
    let answer = |request: &Request| {
        let ids: Vec<u64> = request.query("ids").unwrap().split("%2C").map(|id| id.parse().unwrap()).collect();
        assert!(ids.len() <= 10);
        // The answers come backwards, and of every third there is nothing.
        let found = ids
            .iter()
            .rev()
            .filter(|id| *id % 3 != 0)
            .map(|id| json!({ "key": id.to_string(), "name": format!("n{id}") }));
        reply(found.collect())
    };
    with_server(answer, |server| {
        let lookup = json!({
            "url": server.url(), "query": { "ids": "{client}" }, "batch": { "size": 10, "match": { "client": "/key" } },
            "column": [{ "name": "name" }]
        });
        let batches = json!({ "batch": { "size": 10, "linger": "1 s" } });
        let run = run(&enriching(40, lookup, batches)).succeeds();
        let expected: Vec<String> =
            (1..=40).map(|id| if id % 3 == 0 { format!("{id}|null") } else { format!("{id}|n{id}") }).collect();
        assert_eq!(run.stdout.lines().collect::<Vec<_>>(), expected);
        assert!(server.requests().len() < 20, "{}", server.requests().len());
    });
}

#[test]
fn a_service_that_is_busy_or_gone_is_asked_again_by_the_transformer() {
    let retry = || json!({ "retry": { "strategy": "fixed", "delay": "1 ms", "max": 3 } });
    let asked = AtomicUsize::new(0);
    let answer = |request: &Request| match client(request) {
        1 => match asked.fetch_add(1, Ordering::SeqCst) {
            0 => Reply::new(503, "busy"),
            1 => Reply::ok("{\"name\": \"x\"}").cut_after(5),
            2 => Reply::new(429, "slow"),
            _ => reply(json!({ "name": "y" })),
        },
        _ => reply(json!({ "name": "z" })),
    };
    with_server(answer, |server| {
        let lookup = json!({ "url": format!("{}/{{client}}", server.url()), "column": [{ "name": "name" }] });
        // At the end of the input nothing is waited for: there is more after the first record.
        let job = enriching_at(4.0, 3, lookup, retry());
        assert_eq!(run(&job).succeeds().stdout, "1|y\n2|z\n3|z\n");
        assert_eq!(asked.load(Ordering::SeqCst), 4);
    });
    with_server(
        |_| Reply::new(403, "not you"),
        |server| {
            let lookup = json!({ "url": format!("{}/{{client}}", server.url()), "column": [{ "name": "name" }] });
            let job = enriching_at(4.0, 2, lookup, retry());
            run(&job).fails_with(1).says(["answered 403 Forbidden: not you"]);
            assert_eq!(server.requests().len(), 1);
        },
    );
}

#[test]
fn answers_that_cannot_be_understood_are_dirty_if_the_job_says_so() {
    let answer = |request: &Request| match client(request) {
        1 => Reply::ok("<html>"),
        2 => reply(json!({ "rating": { "level": "high" } })),
        id => reply(json!({ "rating": { "level": id } })),
    };
    with_server(answer, |server| {
        let lookup = json!({ "url": format!("{}/{{client}}", server.url()), "column": names() });
        let scratch = Scratch::new();
        scratch.job("job.json", &enriching(3, lookup, json!({ "onFailure": "dirty" })));
        let run = scratch.transship(["run", "job.json"]).run().succeeds();
        assert_eq!(run.stdout, "3|null|3\n", "{run}");
        let causes: Vec<String> =
            scratch.dirty_records().iter().map(|record| record["cause"].as_str().unwrap().to_string()).collect();
        assert_eq!(causes.len(), 2, "{run}");
        assert!(
            causes.iter().any(|cause| cause.contains("is no JSON"))
                && causes.iter().any(|cause| cause.contains("\"high\", is no whole number")),
            "{causes:?}"
        );
    });
}

#[test]
fn names_that_are_no_keys_are_said_before_anything_moves() {
    let lookup = json!({ "url": "http://127.0.0.1:9/{customer}", "column": [{ "name": "name" }] });
    run(&enriching(1, lookup, json!({})))
        .fails_with(1)
        .says(["the lookup has {customer}, which is no key column; those are client"]);
}

#[test]
fn many_requests_are_under_way_at_once_and_no_more_than_the_job_says() {
    let late =
        |request: &Request| reply(json!({ "name": format!("n{}", client(request)) })).after(Duration::from_millis(100));
    for (connections, at_least) in [(4, 3), (200, 100)] {
        with_server(late, |server| {
            let lookup = json!({ "url": format!("{}/{{client}}", server.url()), "column": [{ "name": "name" }], "connections": connections });
            let records = if connections == 4 { 12 } else { 400 };
            let run = run(&enriching(records, lookup, json!({ "capacity": 400, "mode": "unordered" }))).succeeds();
            assert_eq!(run.stdout.lines().count() as u64, records);
            let most = server.most_at_once();
            assert!((at_least..=connections).contains(&most), "{most} of {connections}");
        });
    }
}

#[test]
fn a_thousand_requests_are_under_way_at_once() {
    const ALL: usize = 1_000;
    let (asked, changed) = (Mutex::new(0), Condvar::new());
    // Nobody gets an answer before all have asked.
    let answer = |request: &Request| {
        let mut count = asked.lock().unwrap();
        *count += 1;
        changed.notify_all();
        let (count, late) = changed.wait_timeout_while(count, Duration::from_secs(50), |count| *count < ALL).unwrap();
        drop(count);
        if late.timed_out() {
            Reply::new(500, "too few")
        } else {
            reply(json!({ "name": format!("n{}", client(request)) }))
        }
    };
    with_server(answer, |server| {
        let lookup = json!({ "url": format!("{}/{{client}}", server.url()), "column": [{ "name": "name" }], "connections": ALL });
        let run = run(&enriching(ALL as u64, lookup, json!({ "capacity": ALL }))).succeeds();
        let expected: Vec<String> = (1..=ALL).map(|id| format!("{id}|n{id}")).collect();
        assert!(run.stdout.lines().eq(expected.iter().map(String::as_str)), "{run}");
        assert_eq!(server.most_at_once(), ALL);
    });
}

#[test]
fn a_signal_ends_the_wait_for_a_service_at_once() {
    with_server(
        |_| Reply::never(),
        |server| {
            let lookup = json!({ "url": format!("{}/{{client}}", server.url()), "column": [{ "name": "name" }] });
            let scratch = Scratch::new();
            scratch.job("job.json", &enriching(30, lookup, json!({})));
            let run = scratch.transship(["run", "job.json"]).start();
            server.wait_for_requests(16);
            run.signal(Signal::Terminate);
            let signalled = Instant::now();
            run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
            assert!(signalled.elapsed() < Duration::from_secs(3), "{:?}", signalled.elapsed());
        },
    );
}

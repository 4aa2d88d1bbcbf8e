//! What `httpwriter` sends, and what becomes of what is refused.

use transship_tests::http::{Reply, Request, Server, with_server};
use transship_tests::records::number;
use transship_tests::{Finished, Job, Scratch, Value, json, plugin};

fn numbered(records: u64, writer: Value) -> Job {
    let column = json!([{ "name": "id", "type": "LONG", "sequence": "1,1" }, { "name": "name", "value": "a\"ü" }]);
    Job::new(
        plugin("streamreader", json!({ "sliceRecordCount": records, "column": column })),
        plugin("httpwriter", writer),
    )
}

fn run(scratch: &Scratch, job: &Job) -> Finished {
    scratch.run(job)
}

fn written(run: &Finished) -> u64 {
    number(&run.summary(), "/counts/written")
}

/// The ids in each request.
fn ids(server: &Server) -> Vec<Vec<u64>> {
    server.requests().iter().map(ids_in).collect()
}

fn ids_in(request: &Request) -> Vec<u64> {
    let body: Value = serde_json::from_str(&request.body).unwrap();
    body.as_array().unwrap().iter().map(|record| record["id"].as_u64().unwrap()).collect()
}

#[test]
fn lists_of_records_are_cut_by_their_number_and_by_their_bytes() {
    with_server(
        |_| Reply::new(201, ""),
        |server| {
            let scratch = Scratch::new();
            let run = run(&scratch, &numbered(25, json!({ "url": server.url(), "batchSize": 10 }))).succeeds();
            assert_eq!(written(&run), 25);
            assert_eq!(ids(server), [(1..=10).collect::<Vec<_>>(), (11..=20).collect(), (21..=25).collect()]);
            let first = &server.requests()[0];
            assert_eq!((first.method.as_str(), first.header("content-type")), ("POST", Some("application/json")));
            assert!(first.body.starts_with(r#"[{"id":1,"name":"a\"ü"},{"id":2,"#), "{}", first.body);
        },
    );
    with_server(
        |_| Reply::new(204, ""),
        |server| {
            // A record has 24 bytes.
            run(&Scratch::new(), &numbered(5, json!({ "url": server.url(), "batchByteSize": 50 }))).succeeds();
            assert_eq!(ids(server), [vec![1, 2], vec![3, 4], vec![5]]);
        },
    );
    with_server(
        |_| Reply::new(204, ""),
        |server| {
            run(&Scratch::new(), &numbered(2, json!({ "url": server.url(), "batchByteSize": 3 }))).succeeds();
            assert_eq!(ids(server), [[1], [2]]);
        },
    );
}

#[test]
fn records_stand_in_lines_in_an_envelope_or_alone() {
    with_server(
        |_| Reply::ok("thanks"),
        |server| {
            let send = |more: Value| {
                let mut writer = json!({ "url": server.url(), "column": ["id"] });
                writer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                assert_eq!(written(&run(&Scratch::new(), &numbered(2, writer)).succeeds()), 2);
            };
            send(json!({ "format": "jsonl" }));
            send(json!({ "envelope": "events" }));
            send(json!({ "format": "record", "method": "PUT" }));
            let requests = server.requests();
            let bodies: Vec<&str> = requests.iter().map(|request| request.body.as_str()).collect();
            assert_eq!(
                bodies,
                ["{\"id\":1}\n{\"id\":2}\n", r#"{"events":[{"id":1},{"id":2}]}"#, r#"{"id":1}"#, r#"{"id":2}"#]
            );
            assert_eq!(requests[0].header("content-type"), Some("application/x-ndjson"));
            assert_eq!(requests[3].method, "PUT");
        },
    );
}

#[test]
fn values_of_columns_are_encoded_into_the_url_and_share_requests() {
    with_server(
        |_| Reply::ok(""),
        |server| {
            let reader = json!({ "url": format!("{}/in", server.url()), "column": [{ "name": "shop" }, { "name": "n", "type": "long" }] });
            drop(reader);
            let scratch = Scratch::new();
            scratch.write("in.csv", "a/b,1\na/b,2\nü,3\n..,4\n");
            let column =
                json!([{ "index": 0, "type": "string", "name": "shop" }, { "index": 1, "type": "long", "name": "n" }]);
            let job = Job::new(
                plugin("txtfilereader", json!({ "path": "in.csv", "column": column })),
                plugin(
                    "httpwriter",
                    json!({ "url": format!("{}/shops/{{shop}}/orders", server.url()), "column": ["n"] }),
                ),
            );
            assert_eq!(written(&run(&scratch, &job).succeeds()), 3);
            let sent: Vec<(String, String)> =
                server.requests().into_iter().map(|request| (request.target, request.body)).collect();
            assert_eq!(
                sent,
                [
                    ("/shops/a%2Fb/orders".to_string(), r#"[{"n":1},{"n":2}]"#.to_string()),
                    ("/shops/%C3%BC/orders".to_string(), r#"[{"n":3}]"#.to_string())
                ]
            );
            let dirty = scratch.dirty_records();
            assert_eq!((dirty.len(), dirty[0]["column"].as_str()), (1, Some("shop")), "{dirty:?}");
        },
    );
}

/// Refuses all requests in which one of these is.
fn refusing(bad: &'static [u64], status: u16) -> impl Fn(&Request) -> Reply + Sync {
    move |request| match ids_in(request).iter().any(|id| bad.contains(id)) {
        true => Reply::new(status, "{\"error\": \"bad id\"}"),
        false => Reply::ok(""),
    }
}

#[test]
fn bad_records_are_found_by_halving_and_all_others_are_written() {
    with_server(refusing(&[3, 77, 78], 422), |server| {
        let scratch = Scratch::new();
        let run = run(&scratch, &numbered(100, json!({ "url": server.url(), "bisect": true }))).succeeds();
        assert_eq!(written(&run), 97);
        let mut dirty = scratch.dirty_records();
        dirty.sort_by_key(|record| record["record"]["id"].as_u64());
        let found: Vec<u64> = dirty.iter().map(|record| record["record"]["id"].as_u64().unwrap()).collect();
        assert_eq!(found, [3, 77, 78]);
        assert!(
            dirty[0]["cause"].as_str().unwrap().ends_with("answered 422 Unprocessable Entity: {\"error\": \"bad id\"}"),
            "{dirty:?}"
        );
        assert!(server.requests().len() < 50, "{}", server.requests().len());
    });
}

#[test]
fn without_halving_a_refused_batch_fails_the_job() {
    with_server(refusing(&[3], 400), |server| {
        let run = run(&Scratch::new(), &numbered(10, json!({ "url": server.url() }))).fails_with(1);
        run.says([
            "10 records were refused (bisect finds the bad ones)",
            "answered 400 Bad Request: {\"error\": \"bad id\"}",
        ]);
        assert_eq!(server.requests().len(), 1);
    });
}

#[test]
fn what_is_too_large_is_halved_until_it_is_not() {
    let answer = |request: &Request| if ids_in(request).len() > 3 { Reply::new(413, "") } else { Reply::ok("") };
    with_server(answer, |server| {
        assert_eq!(written(&run(&Scratch::new(), &numbered(10, json!({ "url": server.url() }))).succeeds()), 10);
        let taken: Vec<u64> = ids(server).into_iter().filter(|ids| ids.len() <= 3).flatten().collect();
        assert_eq!(taken, (1..=10).collect::<Vec<_>>());
    });
}

#[test]
fn what_a_server_refused_for_the_moment_is_sent_again_and_what_it_may_have_done_is_not() {
    let busy_once = |request: &Request| if request.number == 0 { Reply::new(429, "") } else { Reply::ok("") };
    with_server(busy_once, |server| {
        assert_eq!(
            written(&run(&Scratch::new(), &numbered(3, json!({ "url": server.url(), "pause": "1 ms" }))).succeeds()),
            3
        );
        assert_eq!(ids(server), [[1, 2, 3], [1, 2, 3]]);
    });
    let broken_once = |request: &Request| {
        if request.number == 0 { Reply::ok("1234").cut_after(0).header("x", "y") } else { Reply::ok("") }
    };
    let failing_once = |request: &Request| if request.number == 0 { Reply::new(500, "") } else { Reply::ok("") };
    with_server(failing_once, |server| {
        let writer = json!({ "url": server.url(), "pause": "1 ms" });
        run(&Scratch::new(), &numbered(3, writer)).fails_with(1).says(["answered 500 Internal Server Error"]);
        assert_eq!(server.requests().len(), 1);
    });
    with_server(failing_once, |server| {
        let writer = json!({ "url": server.url(), "pause": "1 ms", "idempotent": true });
        assert_eq!(written(&run(&Scratch::new(), &numbered(3, writer)).succeeds()), 3);
        assert_eq!(server.requests().len(), 2);
    });
    with_server(broken_once, |server| {
        // The head of the answer said that all was well.
        assert_eq!(written(&run(&Scratch::new(), &numbered(3, json!({ "url": server.url() }))).succeeds()), 3);
        assert_eq!(server.requests().len(), 1);
    });
}

#[test]
fn a_redirect_that_would_make_a_question_of_it_is_an_error() {
    let answer = |request: &Request| match request.path() {
        "/302" => Reply::new(302, "").header("location", "/new?token=t0k3n-value"),
        "/307" => Reply::new(307, "").header("location", "/new"),
        _ => Reply::ok(""),
    };
    with_server(answer, |server| {
        let to = |path: &str| numbered(2, json!({ "url": format!("{}{path}", server.url()) }));
        run(&Scratch::new(), &to("/302")).fails_with(1).says(["answered 302 Found, and points to ", "/new?token=***"]);
        assert_eq!(written(&run(&Scratch::new(), &to("/307")).succeeds()), 2);
        let last = server.requests().pop().unwrap();
        assert_eq!((last.method.as_str(), last.path(), ids_in(&last)), ("POST", "/new", vec![1, 2]));
    });
}

#[test]
fn values_that_json_lacks_are_dirty() {
    with_server(
        |_| Reply::ok(""),
        |server| {
            let scratch = Scratch::new();
            scratch.write("in.csv", "1.50\nNaN\n1e400\n");
            let job = Job::new(
                plugin(
                    "txtfilereader",
                    json!({ "path": "in.csv", "column": [{ "index": 0, "type": "double", "name": "n" }] }),
                ),
                plugin("httpwriter", json!({ "url": server.url() })),
            );
            assert_eq!(written(&run(&scratch, &job).succeeds()), 2);
            assert_eq!(server.requests()[0].body, r#"[{"n":1.50},{"n":1e400}]"#);
            let dirty = scratch.dirty_records();
            assert_eq!((dirty.len(), dirty[0]["value"].as_str()), (1, Some("NaN")), "{dirty:?}");
        },
    );
}

#[test]
fn what_a_job_would_send_is_planned_without_asking_anybody() {
    let scratch = Scratch::new();
    scratch.job(
        "job.json",
        &numbered(2, json!({ "url": "https://shop.invalid/{id}?token=t0k3n-value", "format": "record" })),
    );
    let run = scratch.transship(["plan", "job.json"]).run().succeeds();
    assert!(run.stdout.contains("POST each record to https://shop.invalid/_?token=***"), "{run}");
    assert!(!run.stdout.contains("t0k3n-value"), "{run}");
}

//! What goes wrong: servers that are busy, slow, gone in the middle, or say something else than expected.

use std::time::{Duration, Instant};

use transship_tests::http::{Reply, Request, with_server};
use transship_tests::records::json_lines;
use transship_tests::{Job, Scratch, Signal, json, plugin};

use super::{number_in, numbers, page_of_35, printed, printing, records, reply, run};

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let answer = |request: &Request| match request.number {
        0 => Reply::new(429, "slow down").header("retry-after", "1"),
        1 => Reply::new(503, ""),
        _ => reply(json!(records(0..3))),
    };
    with_server(answer, |server| {
        let started = Instant::now();
        assert_eq!(printed(json!({ "url": server.url(), "pause": "10 ms" })), numbers(0..3));
        assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
        assert_eq!(server.requests().len(), 3);
    });
}

#[test]
fn a_server_that_stays_busy_is_given_up() {
    with_server(
        |_| Reply::new(503, "{\"error\":\n \"busy\"}"),
        |server| {
            let scratch = Scratch::new();
            let run =
                run(&scratch, &printing(json!({ "url": server.url(), "pause": "1 ms", "retries": 2 }))).fails_with(1);
            run.says([format!(
                "{}/ answered 503 Service Unavailable: {{\"error\": \"busy\"}} (3 attempts)",
                server.url()
            )
            .as_str()]);
            assert_eq!(server.requests().len(), 3);
        },
    );
}

#[test]
fn a_connection_that_breaks_in_the_middle_loses_nothing_and_repeats_nothing() {
    let body = json!(records(0..2_000)).to_string();
    let answer = |request: &Request| match request.number {
        0 => Reply::ok(body.clone()).cut_after(5_000),
        1 => Reply::ok(body.clone()).cut_after(15_000),
        2 => Reply::ok("").cut_after(0),
        _ => Reply::ok(body.clone()),
    };
    with_server(answer, |server| {
        let parameter = json!({ "url": server.url(), "pause": "1 ms", "column": [{ "name": "id" }] });
        assert_eq!(printed(parameter), numbers(0..2_000));
    });
}

#[test]
fn a_page_that_has_changed_when_it_is_asked_for_again_is_not_mixed_with_what_came() {
    let answer = |request: &Request| match request.number {
        0 => Reply::ok(json!(records(0..2_000)).to_string()).cut_after(5_000),
        _ => reply(json!(records(1..2_000))),
    };
    with_server(answer, |server| {
        let scratch = Scratch::new();
        let parameter = json!({ "url": server.url(), "pause": "1 ms", "column": [{ "name": "id" }] });
        run(&scratch, &printing(parameter))
            .fails_with(1)
            .says(["was asked again after a part of its records had come, and its records are others now"]);
    });
}

#[test]
fn what_is_no_json_is_named_with_its_page_and_place() {
    let failing = |body: &'static str, expected: &[&str]| {
        let answer = |request: &Request| match number_in(request, "page") {
            1 => reply(json!(records(0..2))),
            _ => Reply::ok(body),
        };
        with_server(answer, |server| {
            let scratch = Scratch::new();
            let parameter =
                json!({ "url": server.url(), "paging": { "by": "page" }, "column": [{ "name": "id" }], "retries": 0 });
            run(&scratch, &printing(parameter)).fails_with(1).says(expected.iter().copied());
        });
    };
    failing("[{\"id\": 1}, {\"id\": 01}]", &["page 2", "is no JSON in record 4, which begins at byte 12"]);
    failing("[{\"id\": 1} {\"id\": 2}]", &["page 2: ", "is no JSON: a '{' at byte 11 has no place there"]);
    failing("[{\"id\": 1},]", &["page 2: ", "a ']' at byte 11 has no place there"]);
    failing("[{\"id\": 1}", &["page 2: ", "ends in the middle, after 10 bytes"]);
    failing("", &["page 2: ", "ends in the middle, after 0 bytes"]);
    failing("<html>sorry</html>", &["page 2: ", "is no JSON: expected value", "it begins with <html>sorry"]);
    failing("{\"items\": [], \"next\": null}", &["page 3: it has the same records as the page before"]);
}

#[test]
fn records_that_are_somewhere_else_are_asked_for_with_the_keys_there_are() {
    with_server(
        |_| reply(json!({ "data": [], "next": null })),
        |server| {
            let scratch = Scratch::new();
            let parameter = json!({ "url": server.url(), "records": "/items", "column": [{ "name": "id" }] });
            run(&scratch, &printing(parameter))
                .fails_with(1)
                .says(["has nothing at \"/items\", where its records should be; it has the keys data, next"]);
        },
    );
}

#[test]
fn statuses_that_another_attempt_cannot_change_end_the_job_at_once() {
    for (status, expected) in
        [(401, "answered 401 Unauthorized: who are you?"), (404, "answered 404 Not Found"), (418, "answered 418")]
    {
        with_server(
            |_| Reply::new(status, "who are\n you?"),
            |server| {
                let scratch = Scratch::new();
                run(&scratch, &printing(json!({ "url": server.url() }))).fails_with(1).says([expected]);
                assert_eq!(server.requests().len(), 1);
            },
        );
    }
}

#[test]
fn pages_that_lead_in_a_circle_or_away_are_errors() {
    let failing = |next: &str, expected: &str| {
        with_server(
            |request: &Request| reply(json!({ "next": next, "items": records(request.number as u64..10) })),
            |server| {
                let scratch = Scratch::new();
                let parameter = json!({ "url": server.url(), "records": "/items", "paging": { "by": "next" }, "column": [{ "name": "id" }] });
                run(&scratch, &printing(parameter)).fails_with(1).says([expected]);
            },
        );
    };
    failing("/a", "page 2: the page leads to itself");
    failing("http://elsewhere.invalid/a", "the next page is on another server, http://elsewhere.invalid/a");
}

#[test]
fn redirects_are_followed_but_not_with_secrets_to_another_server() {
    with_server(
        |_| reply(json!(records(0..2))),
        |elsewhere| {
            let answer = |request: &Request| match request.path() {
                "/old" => Reply::new(302, "").header("location", "/new"),
                "/away" => Reply::new(307, "").header("location", elsewhere.url()),
                "/round" => Reply::new(302, "").header("location", "/round"),
                _ => reply(json!(records(5..6))),
            };
            with_server(answer, |server| {
                let url = |path: &str| format!("{}{path}", server.url());
                assert_eq!(printed(json!({ "url": url("/old"), "token": "t0k3n-value" })), ["5"]);
                assert_eq!(printed(json!({ "url": url("/away") })), ["0", "1"]);
                let scratch = Scratch::new();
                run(&scratch, &printing(json!({ "url": url("/away"), "headers": { "X-Api-Key": "k3y-value" } })))
                    .fails_with(1)
                    .says(["redirects to another server, http://127.0.0.1:"]);
                run(&scratch, &printing(json!({ "url": url("/round") })))
                    .fails_with(1)
                    .says(["redirects more than 10 times"]);
                assert_eq!(elsewhere.requests().len(), 1);
            });
        },
    );
}

#[test]
fn a_server_that_says_nothing_is_given_up_after_the_timeout() {
    with_server(
        |request: &Request| if request.path() == "/head" { Reply::never() } else { Reply::ok("[1, 2]").hangs_after(3) },
        |server| {
            for path in ["/head", "/body"] {
                let scratch = Scratch::new();
                let parameter = json!({ "url": format!("{}{path}", server.url()), "timeout": "50 ms", "retries": 0, "column": [{ "name": "id" }] });
                run(&scratch, &printing(parameter)).fails_with(1).says(["sent nothing for 0.05 s (timeout)"]);
            }
        },
    );
}

#[test]
fn nobody_at_an_address_is_said_with_the_address() {
    let scratch = Scratch::new();
    run(&scratch, &printing(json!({ "url": "http://127.0.0.1:9/x", "retries": 0 })))
        .fails_with(1)
        .says(["can't reach http://127.0.0.1:9/x: ", "refused"]);
}

#[test]
fn a_signal_ends_the_wait_for_a_server_at_once() {
    with_server(
        |request: &Request| if request.path() == "/head" { Reply::never() } else { Reply::ok("[1, 2]").hangs_after(3) },
        |server| {
            let jobs = [
                printing(json!({ "url": format!("{}/head", server.url()), "column": [{ "name": "id" }] })),
                printing(json!({ "url": format!("{}/body", server.url()), "column": [{ "name": "id" }] })),
                Job::new(
                    plugin("streamreader", json!({ "sliceRecordCount": 1, "column": [{ "value": 1 }] })),
                    plugin("httpwriter", json!({ "url": format!("{}/head", server.url()) })),
                ),
            ];
            for (number, job) in jobs.iter().enumerate() {
                let scratch = Scratch::new();
                scratch.job("job.json", job);
                let run = scratch.transship(["run", "job.json"]).start();
                server.wait_for_requests(number + 1);
                run.signal(Signal::Terminate);
                let signalled = Instant::now();
                run.finish().fails_with(143).does_not_say(["ignores that the work was cancelled"]);
                assert!(signalled.elapsed() < Duration::from_secs(3), "{:?}", signalled.elapsed());
            }
        },
    );
}

#[test]
fn the_request_that_waits_for_its_answer_is_named() {
    with_server(
        |_| Reply::never(),
        |server| {
            let jobs = [
                (printing(json!({ "url": format!("{}/slow?api_key=t0k3n", server.url()) })), "GET"),
                (
                    Job::new(
                        plugin("streamreader", json!({ "sliceRecordCount": 1, "column": [{ "value": 1 }] })),
                        plugin("httpwriter", json!({ "url": format!("{}/slow?api_key=t0k3n", server.url()) })),
                    ),
                    "POST",
                ),
            ];
            for (job, method) in &jobs {
                let scratch = Scratch::new();
                scratch.job("job.json", job);
                let mut run = scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).start();
                let is_told = || scratch.lines("perf.jsonl").iter().any(|line| line.contains("longest_call"));
                run.wait_until("a call that lasts", is_told);
                run.signal(Signal::Terminate);
                run.finish().fails_with(143);
                let lines = json_lines(&scratch.read("perf.jsonl"));
                let call = lines.iter().find_map(|line| line["longest_call"].as_object()).expect("a call that lasts");
                assert_eq!(call["doing"], format!("{method} {}/slow?api_key=***", server.url()), "{call:?}");
            }
        },
    );
}

#[test]
fn pages_are_not_asked_for_before_they_are_needed() {
    // Nobody takes the records: the reader waits with them.
    with_server(
        |request: &Request| reply(json!(page_of_35(number_in(request, "page")))),
        |server| {
            let scratch = Scratch::new();
            let parameter =
                json!({ "url": server.url(), "paging": { "by": "page", "most": 2 }, "column": [{ "name": "id" }] });
            run(&scratch, &printing(parameter))
                .fails_with(1)
                .says(["there are more than 2 pages, which is paging.most"]);
            assert_eq!(server.requests().len(), 2);
        },
    );
}

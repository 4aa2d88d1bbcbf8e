//! `--metrics`: a run is asked how it goes while it goes on, over HTTP, and nobody who asks holds it up.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use transship_tests::records::{json_lines, number, text};
use transship_tests::{Job, Running, Scratch, Value, faulty, faulty_transformer, json, plugin, until};

/// An answer over HTTP.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

/// Sends a request as it stands here, and reads until the connection is closed.
fn send(address: &str, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_ascii_lowercase(), body: body.into() }
}

fn ask(address: &str, method: &str, path: &str, more: &str) -> Answer {
    send(address, &format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n{more}\r\n"))
}

fn metrics(address: &str) -> String {
    let answer = ask(address, "GET", "/metrics", "");
    assert_eq!(answer.status, 200, "{}", answer.head);
    answer.body
}

/// The value of the only sample that begins so.
#[track_caller]
fn value(text: &str, sample: &str) -> u64 {
    let found: Vec<_> = text.lines().filter_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')).collect();
    let [value] = found[..] else { panic!("{sample} is there {} times in:\n{text}", found.len()) };
    value.parse().unwrap()
}

/// Where a run says that it can be asked.
fn address_of(run: &mut Running) -> String {
    run.wait_for_stderr("/metrics\n");
    let stderr = run.stderr();
    let line = stderr.lines().find_map(|line| line.strip_prefix("metrics at http://")).unwrap();
    line.strip_suffix("/metrics").unwrap().to_string()
}

/// A job that ends when there is a file `go_on`, its records having been read.
fn held() -> Job {
    let fail = json!({ "at": "task_post", "how": "wait_for_file", "file": "go_on", "marker": "held" });
    faulty(json!({ "fail": fail }), json!({ "target": "held_ids" }))
}

/// Starts these jobs, and the one that is held beside them.
fn start(scratch: &Scratch, jobs: &[&str], options: &[&str]) -> (Running, String) {
    scratch.job("held.json", &held());
    let arguments = ["run"].iter().chain(jobs).chain(&["held.json", "--json", "--metrics", "0"]).chain(options);
    let mut run = scratch.transship(arguments).start();
    let address = address_of(&mut run);
    run.wait_for_file("held");
    (run, address)
}

#[test]
fn what_a_job_has_done_agrees_with_its_summary_while_another_goes_on() {
    let scratch = Scratch::new();
    let parameter = json!({ "splits": 3, "dirtyEvery": 10 });
    let writer = json!({ "dirtyEvery": 25 });
    scratch.job("first.json", &faulty(parameter, writer).transformer(faulty_transformer(json!({ "dropEvery": 9 }))));
    let (mut run, address) = start(&scratch, &["first.json"], &[]);
    run.wait_for_stderr("job first (");
    let text = metrics(&address);
    // All that is behind a writer is there before its reader is asked for its end.
    let all_written = || value(&metrics(&address), "transship_written_records_total{job_name=\"held\"}") == 100;
    run.wait_until("all records at the writer", all_written);
    scratch.write("go_on", "");
    let run = run.finish().succeeds();
    let summary = &run.summaries()[0];
    let count = |name: &str| number(summary, &format!("/counts/{name}"));
    let of_first = |name: &str| value(&text, &format!("transship_{name}{{job_name=\"first\"}}"));
    assert_eq!(of_first("read_records_total"), count("read"), "{text}");
    assert_eq!(of_first("read_bytes_total"), count("read_bytes"));
    assert_eq!(of_first("written_records_total"), count("written") + count("dirty_at_writer"));
    assert_eq!(of_first("dirty_records_total"), count("dirty_at_reader") + count("dirty_at_writer"));
    assert!(count("dirty_at_writer") > 0 && count("filtered") > 0, "{summary}");
    assert_eq!(
        ["known_tasks", "all_tasks_known", "done_tasks_total", "job_begun", "job_ended"].map(of_first),
        [3, 1, 3, 1, 1]
    );
    let of_held = |name: &str| value(&text, &format!("transship_{name}{{job_name=\"held\"}}"));
    assert_eq!(["known_tasks", "done_tasks_total", "job_begun", "job_ended"].map(of_held), [1, 0, 1, 0]);
    assert_eq!(of_held("read_records_total"), 100);
    assert_eq!(value(&text, &format!("transship_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))), 1);
}

#[test]
fn a_run_half_way_shows_what_is_open_and_how_far_it_is() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "next", "split": 1, "after": 50, "how": "wait_for_file", "file": "go_on" });
    scratch.job("job.json", &faulty(json!({ "splits": 4, "fail": fail }), json!({})));
    let mut run = scratch.transship(["run", "job.json", "--metrics", "0"]).start();
    let address = address_of(&mut run);
    let written = "transship_written_records_total{job_name=\"job\"} 150\n";
    let text = until("the records of a split and a half", || {
        let text = metrics(&address);
        // The first look that finds them may come before they are counted as a part of their split.
        (text.contains(written) && text.contains("transship_done_ratio{job_name=\"job\"} 0.375\n")).then_some(text)
    });
    scratch.write("go_on", "");
    run.finish().succeeds();
    let of_job = |name: &str| value(&text, &format!("transship_{name}{{job_name=\"job\"}}"));
    assert_eq!(
        ["known_tasks", "done_tasks_total", "read_records_total", "job_begun", "job_ended"].map(of_job),
        [4, 1, 150, 1, 0]
    );
    let open = |state: &str| value(&text, &format!("transship_open_tasks{{job_name=\"job\",state=\"{state}\"}}"));
    assert_eq!(["running", "waiting", "blocked"].map(open).iter().sum::<u64>(), 1, "{text}");
}

#[test]
fn jobs_of_the_same_name_are_told_apart() {
    let scratch = Scratch::new();
    scratch.job("other/held.json", &faulty(json!({ "records": 20 }), json!({})));
    let (mut run, address) = start(&scratch, &["other/held.json"], &["--in-order"]);
    run.wait_for_stderr("job held (");
    let text = metrics(&address);
    scratch.write("go_on", "");
    run.finish().succeeds();
    let read = |name: &str| value(&text, &format!("transship_read_records_total{{job_name=\"{name}\"}}"));
    assert_eq!(["held", "held #2"].map(read), [20, 100]);
}

#[test]
fn transformers_show_what_they_count_while_a_job_goes_on_and_all_of_it_at_its_end() {
    let scratch = Scratch::new();
    let with_transformers = |job: Job| {
        let order = plugin("order", json!({ "key": "id", "lanes": 2 }));
        job.transformer(plugin("dedup", json!({ "key": "id", "window": 0 }))).transformer(order)
    };
    scratch.job("first.json", &with_transformers(faulty(json!({ "splits": 2 }), json!({}))));
    scratch.job("held.json", &with_transformers(held()));
    let mut run = scratch.transship(["run", "first.json", "held.json", "--json", "--metrics", "0"]).start();
    let address = address_of(&mut run);
    run.wait_for_stderr("job first (");
    let labels = |job: &str, place: usize| {
        let stage = ["dedup", "order"][place];
        format!("job_name=\"{job}\",stage=\"{stage}\",place=\"job.content[0].transformer[{place}]\"")
    };
    // Those of a job that goes on are told each second.
    let distinct = format!("transship_stage_distinct{{{}}} 100\n", labels("held", 0));
    let text = until("a second", || Some(metrics(&address)).filter(|text| text.contains(&distinct)));
    scratch.write("go_on", "");
    let run = run.finish().succeeds();
    let stages = run.summaries()[0]["stages"].as_array().unwrap().clone();
    assert_eq!(stages.len(), 2, "{run}");
    for (place, stage) in stages.iter().enumerate() {
        for figure in stage["figures"].as_array().unwrap() {
            let name = figure["name"].as_str().unwrap().replace(' ', "_");
            let end = if figure["kind"] == "counter" { "_total" } else { "" };
            let sample = format!("transship_stage_{name}{end}{{{}}}", labels("first", place));
            assert_eq!(value(&text, &sample), number(figure, "/value"), "{sample}");
        }
        for latency in stage.get("latencies").and_then(Value::as_array).into_iter().flatten() {
            let labels = format!("{},latency=\"{}\"", labels("first", place), latency["name"].as_str().unwrap());
            assert_eq!(value(&text, &format!("transship_stage_waited_records_total{{{labels}}}")), 200);
            let longest = format!("transship_stage_wait_seconds{{{labels},quantile=\"1\"}} ");
            let longest: f64 = text.lines().find_map(|line| line.strip_prefix(&longest)).unwrap().parse().unwrap();
            assert_eq!((longest * 1e6).round() as u64, number(latency, "/max"), "{labels}");
        }
    }
}

#[test]
fn it_is_found_at_its_path_and_can_only_be_read() {
    let scratch = Scratch::new();
    let (run, address) = start(&scratch, &[], &[]);
    let head = ask(&address, "HEAD", "/metrics", "");
    assert!(head.status == 200 && head.body.is_empty() && head.head.contains("\r\ncontent-length: "), "{}", head.head);
    assert!(head.head.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{}", head.head);
    let open = ask(&address, "GET", "/metrics", "Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\n");
    assert!(open.head.contains("\r\ncontent-type: application/openmetrics-text; version=1.0.0"), "{}", open.head);
    assert!(open.body.ends_with("\n# EOF\n"), "{}", open.body);
    assert_eq!(ask(&address, "GET", "/metric", "").status, 404);
    let post = ask(&address, "POST", "/metrics", "Content-Length: 0\r\n");
    assert!(post.status == 405 && post.head.contains("\r\nallow: get, head"), "{}", post.head);
    let root = ask(&address, "GET", "/", "");
    assert!(root.status == 200 && root.body.lines().count() == 1 && root.body.contains("/metrics"), "{}", root.body);
    assert_eq!(send(&address, "nonsense\r\n\r\n").status, 400);
    scratch.write("go_on", "");
    run.finish().succeeds();
}

#[test]
fn clients_that_keep_silent_do_not_keep_a_run_from_its_end() {
    let scratch = Scratch::new();
    let (run, address) = start(&scratch, &[], &[]);
    let silent: Vec<TcpStream> = (0..30).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let mut slow = TcpStream::connect(&address).unwrap();
    slow.write_all(b"GET /metrics HTTP/1.1\r\nHost").unwrap();
    scratch.write("go_on", "");
    let released = std::time::Instant::now();
    run.finish().succeeds();
    assert!(released.elapsed() < Duration::from_secs(4), "it took {:?}", released.elapsed());
    assert!(TcpStream::connect(&address).is_err(), "nobody listens when the run is over");
    drop(silent);
}

#[test]
fn a_signal_ends_a_run_that_is_being_asked() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "next", "how": "hang_until_cancelled", "marker": "hanging" });
    scratch.job("job.json", &faulty(json!({ "fail": fail }), json!({})));
    let mut run = scratch.transship(["run", "job.json", "--metrics", "0"]).start();
    let address = address_of(&mut run);
    let _silent = TcpStream::connect(&address).unwrap();
    run.wait_for_file("hanging");
    run.signal(transship_tests::Signal::Terminate);
    run.finish().fails_with(143);
}

#[test]
fn a_port_that_is_taken_is_refused_before_anything_runs() {
    let scratch = Scratch::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    scratch.write("perf.jsonl", "an earlier run");
    let arguments = ["run", "job.json", "--metrics", &address, "--perf", "perf.jsonl"];
    let run = scratch.transship(arguments).run().fails_with(2);
    assert!(run.error().starts_with(&format!("--metrics: cannot listen at {address}: ")), "{run}");
    assert_eq!(scratch.files(), ["job.json", "perf.jsonl"], "{run}");
    assert_eq!(scratch.read("perf.jsonl"), "an earlier run");
}

#[test]
fn what_is_no_address_is_refused() {
    let scratch = Scratch::new();
    for address in ["", "localhost", "99999", "http://localhost:9464"] {
        let run = scratch.transship(["run", "job.json", "--metrics", address]).run().ends_with(2);
        run.says([format!("\"{address}\" is no address: write HOST:PORT, :PORT or PORT").as_str()]);
    }
    let run = scratch.transship(["run", "job.json", "--metrics", "no-such-host.invalid:1"]).run().fails_with(2);
    run.says(["--metrics: cannot listen at no-such-host.invalid:1: "]);
}

#[test]
fn only_this_machine_reaches_it_unless_a_host_says_otherwise() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    let run = |address| scratch.transship(["run", "job.json", "--metrics", address]).run().succeeds();
    for address in ["0", ":0", "localhost:0"] {
        run(address).does_not_say(["warning: "]);
    }
    run(":0").says(["metrics at http://127.0.0.1:"]);
    run("0.0.0.0:0").says([
        "metrics at http://0.0.0.0:",
        "warning: --metrics: http://0.0.0.0:",
        "anybody who reaches it",
    ]);
}

#[test]
fn where_it_is_found_is_an_event_and_told_even_by_a_quiet_run_if_any_port_would_do() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    let run = |address: &str| {
        let run = scratch.transship(["run", "job.json", "--quiet", "--json=events", "--metrics", address]).run();
        let run = run.succeeds();
        let events = json_lines(&run.stdout);
        let event = events.iter().find(|event| event["event"] == "metrics").unwrap_or_else(|| panic!("{run}"));
        (text(event, "/url").to_string(), run)
    };
    let (url, told) = run("0");
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/metrics"), "{url}");
    assert_eq!(told.stderr, format!("metrics at {url}\n"));

    // An address of this machine that nobody else uses: a port of it that was free is free.
    let free = TcpListener::bind("127.53.91.7:0").unwrap().local_addr().unwrap().to_string();
    let (url, silent) = run(&free);
    assert_eq!(url, format!("http://{free}/metrics"));
    assert_eq!(silent.stderr, "", "who chose it knows it");

    let (_, warned) = run("0.0.0.0:0");
    warned.says(["metrics at http://0.0.0.0:", "warning: --metrics: http://0.0.0.0:", "anybody who reaches it"]);
}

/// What waits in a slow transformer or for a slow writer is read and not written; whatever is counted, nothing is undone.
#[test]
fn the_share_of_a_job_that_is_done_never_falls() {
    let scratch = Scratch::new();
    let delays = |at: &str, millis: u64| json!({ "fail": { "at": at, "how": "delay", "millis": millis } });
    let job = faulty(json!({ "records": 300, "batch": 20 }), delays("write", 60));
    scratch.job("slow.json", &job.transformer(faulty_transformer(delays("push", 80))));
    let (run, address) = start(&scratch, &["slow.json"], &[]);
    let mut shares = Vec::new();
    until("the end of the slow job", || {
        let text = metrics(&address);
        let of_slow = |name: &str| {
            let sample = format!("transship_{name}{{job_name=\"slow\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&sample)?.parse::<f64>().ok())
        };
        shares.extend(of_slow("done_ratio"));
        (of_slow("job_ended") == Some(1.0)).then_some(())
    });
    scratch.write("go_on", "");
    run.finish().succeeds();
    assert!(shares.len() > 20 && shares.last() == Some(&1.0), "{shares:?}");
    assert!(shares.is_sorted(), "{shares:?}");
}

#[test]
fn secrets_and_hostile_names_are_not_shown_as_they_are() {
    let scratch = Scratch::new();
    let secret = "canary-7391-plain";
    let name = format!("a \"{secret}\" \\ b.json");
    let fail = json!({ "at": "task_post", "how": "wait_for_file", "file": "go_on", "marker": "held" });
    let reader = json!({ "fail": fail, "password": secret, "label": format!("split {secret}") });
    scratch.job(&name, &faulty(reader, json!({ "token": "another-canary" })));
    let mut run = scratch.transship(["run", &name, "--metrics", "0"]).start();
    let address = address_of(&mut run);
    run.wait_for_file("held");
    let text = until("all records", || {
        let text = metrics(&address);
        text.contains("transship_written_records_total{job_name=\"a \\\"***\\\" \\\\ b\"} 100\n").then_some(text)
    });
    for word in [secret, "another-canary", "split", "faulty"] {
        assert!(!text.contains(word), "{word} is in:\n{text}");
    }
    scratch.write("go_on", "");
    run.finish().succeeds();
}

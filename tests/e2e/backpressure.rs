//! A slow writer, narrow channels, large records, little memory: the reader waits instead of running ahead, and every record
//! arrives once.

use transship_tests::{Job, Running, Scratch, faulty, faulty_transformer, json};

/// How far the reader is ahead of the writer at most, in records, by the journal. The journal is written in the order of the
/// calls, so this is the truth whatever the threads did.
fn furthest_ahead(scratch: &Scratch) -> i64 {
    let count =
        |line: &str, beginning: &str| -> Option<i64> { line.strip_prefix(beginning)?.split(' ').next()?.parse().ok() };
    let mut ahead = 0;
    let states = scratch.lines("journal").into_iter().map(|line| {
        ahead += count(&line, "reader gave ").unwrap_or(0) - count(&line, "writer took ").unwrap_or(0);
        ahead
    });
    states.max().unwrap_or(0)
}

/// A writer that waits at its first record until the file `go` is there.
fn waiting_writer() -> serde_json::Value {
    json!({ "fail": { "at": "write", "how": "wait_for_file", "file": "go", "marker": "waiting" } })
}

/// Starts a job whose writer waits, and lets the writer go once the reader is so many records ahead.
fn run_when_ahead(scratch: &Scratch, job: &Job, records: i64) {
    scratch.job("job.json", job);
    let mut run: Running = scratch.transship(["run", "job.json"]).start();
    run.wait_for_file("waiting");
    run.wait_until("a reader that runs ahead", || furthest_ahead(scratch) >= records);
    scratch.write("go", "");
    run.finish().succeeds();
}

#[test]
fn a_reader_waits_when_the_channel_has_as_many_records_as_it_holds() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "records": 20_000, "batch": 10 }), waiting_writer())
        .with("core.transport.channel.capacity", 100);
    // The channel, one batch in the reader's hands, and one in the writer's.
    run_when_ahead(&scratch, &job, 100);
    let ahead = furthest_ahead(&scratch);
    assert!((100..=120).contains(&ahead), "{ahead} records ahead");
    assert_eq!(scratch.ids(), (1..=20_000).collect::<Vec<_>>());
}

#[test]
fn a_reader_waits_when_the_channel_has_as_many_bytes_as_it_holds() {
    let scratch = Scratch::new();
    // Ten records of a batch have some 10 KiB.
    let job = faulty(json!({ "records": 5000, "batch": 10, "textBytes": 1000 }), waiting_writer())
        .with("core.transport.channel.byteCapacity", 100 << 10);
    run_when_ahead(&scratch, &job, 90);
    let ahead = furthest_ahead(&scratch);
    assert!((90..=130).contains(&ahead), "{ahead} records ahead");
    assert_eq!(scratch.ids().len(), 5000);
}

/// Trap 16.
#[test]
fn a_channel_of_one_record_moves_everything() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "records": 500, "batch": 50, "markEvery": 100 }), json!({}))
        .with("core.transport.channel.capacity", 1);
    scratch.run(&job).succeeds();
    assert_eq!(scratch.ids(), (1..=500).collect::<Vec<_>>());
    assert_eq!(scratch.calls("writer took 1"), 500, "batches are cut to what the channel holds");
}

/// Trap 17.
#[test]
fn a_record_larger_than_the_channel_travels_alone() {
    let scratch = Scratch::new();
    // Record 250 has 2,000 bytes of text, the channel holds 500.
    let job = faulty(json!({ "records": 500, "batch": 20, "textBytes": 20, "longRecord": 250 }), json!({}))
        .with("core.transport.channel.byteCapacity", 500);
    scratch.run(&job).succeeds();
    assert_eq!(scratch.ids(), (1..=500).collect::<Vec<_>>());
    let taken: Vec<String> =
        scratch.lines("journal").into_iter().filter(|line| line.starts_with("writer took")).collect();
    assert!(taken.contains(&"writer took 1".to_string()), "{taken:?}");
    assert!(
        taken.iter().all(|line| line.strip_prefix("writer took ").unwrap().parse::<u32>().unwrap() <= 20),
        "{taken:?}"
    );
}

/// Trap 17.
#[test]
fn a_channel_of_one_byte_moves_everything() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "records": 300, "batch": 50 }), json!({})).with("core.transport.channel.byteCapacity", 1);
    scratch.run(&job).succeeds();
    assert_eq!(scratch.ids(), (1..=300).collect::<Vec<_>>());
    assert_eq!(scratch.calls("writer took 1"), 300);
}

#[test]
fn many_tasks_with_narrow_channels_and_one_turn_at_the_target_come_to_an_end() {
    let scratch = Scratch::new();
    let writer = json!({ "maxOpenTasks": 1, "commit": "atomic" });
    let job = faulty(json!({ "splits": 20, "batch": 7 }), writer)
        .transformer(faulty_transformer(json!({ "holdBack": true })))
        .channels(6)
        .with("core.transport.channel.capacity", 3)
        .with("core.transport.channel.byteCapacity", 100);
    scratch.run(&job).succeeds();
    assert_eq!(scratch.ids(), (1..=2000).collect::<Vec<_>>());
}

#[test]
fn all_channels_together_keep_to_the_memory_of_the_job() {
    let scratch = Scratch::new();
    // Four channels of 1 MiB each would be 4 MiB; together they may have 2 MiB. A batch of ten has 100 KiB.
    let job =
        faulty(json!({ "splits": 4, "records": 1000, "batch": 10, "textBytes": 10_000 }), waiting_writer()).channels(4);
    scratch.job("job.json", &job);
    let mut run = scratch.transship(["run", "job.json", "--memory", "2M"]).start();
    run.wait_for_file("waiting");
    run.wait_until("readers that run ahead", || furthest_ahead(&scratch) >= 180);
    scratch.write("go", "");
    run.finish().succeeds();
    // 2 MiB are some 210 records; each reader and each writer may have a batch in its hands.
    let ahead = furthest_ahead(&scratch);
    assert!(ahead <= 210 + 8 * 10, "{ahead} records ahead");
    assert_eq!(scratch.ids().len(), 4000);
}

#[test]
fn a_job_takes_no_more_memory_for_more_records() {
    // The writer's last call waits, so that the memory of the process can be looked at when all is done.
    let peak_kilobytes = |records: u64| {
        let scratch = Scratch::new();
        let fail = json!({ "at": "commit", "how": "wait_for_file", "file": "go", "marker": "waiting" });
        let reader = json!({ "records": records, "batch": 100, "textBytes": 10_000 });
        scratch.job("job.json", &faulty(reader, json!({ "fail": fail })));
        let mut run = scratch.transship(["run", "job.json", "--memory", "4M"]).start();
        run.wait_for_file("waiting");
        let status = std::fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap();
        scratch.write("go", "");
        run.finish().succeeds();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let (little, much) = (peak_kilobytes(1_000), peak_kilobytes(20_000));
    assert!(much < little + 20_000, "10 MB of records took {little} KB, 200 MB of records {much} KB");
}

/// Trap 2.
#[test]
fn a_rate_holds_for_the_whole_job() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "splits": 2, "records": 200, "batch": 20 }), json!({}))
        .channels(2)
        .with("job.setting.speed.record", 400);
    let run = scratch.run(&job).succeeds();
    let seconds = run.summary()["moving_seconds"].as_f64().unwrap();
    // 400 records at 400 a second; what the throttle lets through at the start is not waited for.
    assert!((0.4..20.0).contains(&seconds), "{seconds} s");
    assert_eq!(scratch.ids().len(), 400);
}

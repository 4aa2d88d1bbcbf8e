//! SIGINT and SIGTERM: whatever the run is doing, it stops in good order, says so, and leaves nothing visible. A second signal
//! ends it at once.

use std::time::{Duration, Instant};

use transship_tests::{
    Finished, Job, Running, Scratch, Signal, faulty, faulty_reader, faulty_transformer, json, plugin,
};

/// What is said of a call that goes on after all patience is over: it was not interrupted then.
const LEFT_BEHIND: &str = "ignores that the work was cancelled";

fn start(scratch: &Scratch, job: &Job) -> Running {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json", "--json"]).start()
}

/// Runs a job, sends it a signal once the marker `hanging` is there, and waits for its end.
fn interrupt(scratch: &Scratch, job: &Job, signal: Signal) -> Finished {
    let mut run = start(scratch, job);
    run.wait_for_file("hanging");
    run.signal(signal);
    run.finish()
}

/// It was stopped by SIGTERM and says so, in words and in the summary.
fn check_terminated(run: Finished, what: &str) -> Finished {
    assert_eq!(run.code(), Some(143), "{what}: {run}");
    let run = run.fails_with(143);
    assert_eq!(run.error(), "stopped by SIGTERM", "{what}: {run}");
    assert_eq!(run.summary()["outcome"], "cancelled", "{what}: {run}");
    run.says([": STOPPED\n", "accounting", "visible at target"]);
    run.does_not_say([LEFT_BEHIND]);
    run
}

fn reader_that_hangs(at: &str) -> Job {
    let fail = json!({ "at": at, "how": "hang_until_cancelled", "marker": "hanging" });
    faulty(json!({ "fail": fail }), json!({ "commit": "atomic" }))
}

fn writer_that_hangs(at: &str) -> Job {
    let fail = json!({ "at": at, "how": "hang_until_cancelled", "marker": "hanging" });
    faulty(json!({ "markEvery": 20 }), json!({ "commit": "atomic", "fail": fail }))
}

#[test]
fn a_signal_stops_a_job_in_any_call_of_the_reader() {
    for at in ["prepare", "schema", "splits", "open", "task_prepare", "next", "task_post"] {
        let scratch = Scratch::new();
        let run = check_terminated(interrupt(&scratch, &reader_that_hangs(at), Signal::Terminate), at);
        assert_eq!(scratch.files(), ["hanging", "job.json", "journal"], "{at}: {run}");
    }
}

#[test]
fn a_signal_stops_a_job_in_any_call_of_the_writer() {
    for at in ["prepare", "open", "task_prepare", "write", "flush", "commit_task", "commit"] {
        let scratch = Scratch::new();
        let run = check_terminated(interrupt(&scratch, &writer_that_hangs(at), Signal::Terminate), at);
        assert_eq!(scratch.files(), ["hanging", "job.json", "journal"], "{at}: {run}");
        assert_eq!(scratch.calls("writer abort of"), 1, "{at}: {run}");
    }
}

#[test]
fn a_signal_stops_a_job_in_a_transformer() {
    let fail = json!({ "at": "push", "after": 50, "how": "hang_until_cancelled", "marker": "hanging" });
    let job = faulty(json!({}), json!({})).transformer(faulty_transformer(json!({ "fail": fail })));
    let scratch = Scratch::new();
    check_terminated(interrupt(&scratch, &job, Signal::Terminate), "push");
    assert_eq!(scratch.files(), ["hanging", "job.json", "journal"]);
}

#[test]
fn a_signal_stops_a_plugin_that_is_just_being_made() {
    for job in [reader_that_hangs("init"), writer_that_hangs("init")] {
        let scratch = Scratch::new();
        interrupt(&scratch, &job, Signal::Terminate).fails_with(143).does_not_say([LEFT_BEHIND]);
    }
}

#[test]
fn a_signal_after_the_commit_takes_nothing_back() {
    for job in [reader_that_hangs("post"), writer_that_hangs("post")] {
        let scratch = Scratch::new();
        check_terminated(interrupt(&scratch, &job, Signal::Terminate), "post");
        assert_eq!(scratch.ids(), (1..=100).collect::<Vec<_>>());
        assert_eq!(scratch.calls("writer abort of"), 0);
    }
}

#[test]
fn an_interrupt_from_the_keyboard_exits_with_130() {
    let scratch = Scratch::new();
    let run = interrupt(&scratch, &writer_that_hangs("write"), Signal::Interrupt).fails_with(130);
    assert_eq!(run.error(), "stopped by SIGINT");
}

#[test]
fn a_signal_ends_the_wait_of_the_throttle() {
    let scratch = Scratch::new();
    // At one record a second, the records after the first batch are ten seconds and more away.
    let writer = json!({ "fail": { "at": "write", "how": "go_on", "marker": "hanging" } });
    let job = faulty(json!({ "records": 10_000 }), writer).with("job.setting.speed.record", 1);
    check_terminated(interrupt(&scratch, &job, Signal::Terminate), "throttle");
    assert_eq!(scratch.ids(), [0; 0]);
}

#[test]
fn a_signal_ends_the_wait_for_room_in_a_channel() {
    let scratch = Scratch::new();
    let writer = json!({ "fail": { "at": "write", "how": "hang_until_cancelled", "marker": "hanging" } });
    let job = faulty(json!({ "records": 10_000, "batch": 1 }), writer).with("core.transport.channel.capacity", 1);
    check_terminated(interrupt(&scratch, &job, Signal::Terminate), "channel");
    assert!(scratch.calls("reader gave") < 10, "the reader did not wait for room");
}

#[test]
fn a_signal_ends_the_reading_of_an_idle_source() {
    let scratch = Scratch::new();
    let writer = json!({ "fail": { "at": "flush", "how": "go_on", "marker": "hanging" } });
    check_terminated(interrupt(&scratch, &faulty(json!({ "idle": true }), writer), Signal::Terminate), "idle");
    assert_eq!(scratch.ids(), [0; 0]);
}

#[test]
fn a_signal_ends_the_pause_before_another_attempt() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "fail": { "at": "next", "after": 50, "how": "error:io" } }), json!({}))
        .with("core.container.task.failOver.maxRetryTimes", 5)
        .with("core.container.task.failOver.retryIntervalInMsec", i64::MAX);
    let mut run = start(&scratch, &job);
    run.wait_for_stderr("attempt 1 of 5 failed");
    run.signal(Signal::Terminate);
    check_terminated(run.finish(), "pause");
}

#[test]
fn a_signal_ends_the_wait_for_a_turn_at_the_target() {
    let scratch = Scratch::new();
    let writer =
        json!({ "maxOpenTasks": 1, "fail": { "at": "write", "how": "hang_until_cancelled", "marker": "hanging" } });
    let job = faulty(json!({ "splits": 4 }), writer).channels(4);
    check_terminated(interrupt(&scratch, &job, Signal::Terminate), "turn");
    assert_eq!(scratch.calls("writer open"), 1);
}

#[test]
fn a_signal_ends_the_wait_for_a_lock_of_a_database() {
    // The writer waits for the lock while it prepares, or with its first records.
    for table_is_locked_first in [true, false] {
        let scratch = Scratch::new();
        let database = rusqlite::Connection::open(scratch.path("out.db")).unwrap();
        database.execute_batch("create table ids (id integer, text text)").unwrap();
        let lock = || database.execute_batch("begin exclusive").unwrap();
        let fail = if table_is_locked_first {
            lock();
            json!({ "at": "schema", "how": "go_on", "marker": "hanging" })
        } else {
            json!([
                { "at": "task_prepare", "how": "wait_for_file", "file": "locked", "marker": "prepared" },
                { "at": "next", "after": 100, "how": "go_on", "marker": "hanging" },
            ])
        };
        let writer = json!({ "path": "out.db", "table": "ids", "column": ["*"], "busyTimeout": 600_000 });
        let job = Job::new(faulty_reader(json!({ "fail": fail })), plugin("sqlitewriter", writer));
        let mut run = start(&scratch, &job);
        if !table_is_locked_first {
            run.wait_for_file("prepared");
            lock();
            scratch.write("locked", "");
        }
        run.wait_for_file("hanging");
        run.signal(Signal::Terminate);
        let run = check_terminated(run.finish(), "lock");
        assert!(run.elapsed() < Duration::from_secs(4), "it went on waiting: {run}");
        database.execute_batch("rollback").unwrap();
        let rows: i64 = database.query_row("select count(*) from ids", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0);
    }
}

#[test]
fn a_second_signal_ends_the_run_at_once() {
    for (at, second, code) in
        [("write", Signal::Terminate, 143), ("write", Signal::Interrupt, 130), ("commit", Signal::Terminate, 143)]
    {
        let scratch = Scratch::new();
        let fail = json!({ "at": at, "how": "hang_after_cancelled", "marker": "hanging" });
        let mut run = start(&scratch, &faulty(json!({}), json!({ "commit": "atomic", "fail": fail })));
        run.wait_for_file("hanging");
        run.signal(Signal::Terminate);
        run.wait_for_file("hanging.cancelled");
        run.signal_until_it_ends(second).ends_with(code).does_not_say([LEFT_BEHIND]);
        assert_eq!(scratch.ids(), [0; 0]);
    }
}

/// `timeout` signals a process and then its whole group: the two are one wish.
#[test]
fn two_signals_at_once_are_one_and_leave_everything_in_order() {
    let scratch = Scratch::new();
    let mut run = start(&scratch, &writer_that_hangs("write"));
    run.wait_for_file("hanging");
    run.signal_twice(Signal::Terminate);
    check_terminated(run.finish(), "two at once");
}

#[test]
fn a_terminal_that_hangs_up_stops_a_run_in_good_order_unless_nobody_cares() {
    let scratch = Scratch::new();
    let mut run = start(&scratch, &writer_that_hangs("write"));
    run.wait_for_file("hanging");
    run.signal(Signal::HangUp);
    run.finish().ends_with(129).says(["stopped by SIGHUP"]);

    let scratch = Scratch::new();
    let fail = json!({ "at": "write", "how": "wait_for_file", "file": "go", "marker": "hanging" });
    scratch.job("job.json", &faulty(json!({}), json!({ "fail": fail })));
    let mut run = scratch.transship(["run", "job.json"]).within(r#"trap "" HUP; exec "$@""#).start();
    run.wait_for_file("hanging");
    run.signal(Signal::HangUp);
    scratch.write("go", "");
    run.finish().succeeds();
}

#[test]
fn while_job_files_are_read_a_signal_ends_the_program_at_once() {
    for (command, signal, code) in [("check", Signal::Interrupt, 130), ("run", Signal::Terminate, 143)] {
        let scratch = Scratch::new();
        // A pipe that is open for reading and writing, and never written to.
        let script = r#"mkfifo slow && exec 3<>slow && exec "$@""#;
        let mut run = scratch.transship([command, "slow"]).within(script).start();
        let id = run.id();
        run.wait_until("a wait for the job file", || reads_a_pipe(id));
        run.signal(signal);
        run.finish().ends_with(code);
    }
}

/// Whether the first thread of a process is asleep in a call that reads from a pipe of its own opening.
fn reads_a_pipe(id: u32) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{id}/task/{id}/syscall")).unwrap_or_default();
    let mut words = call.split(' ');
    let is_read = words.next() == Some("0");
    let file = words.next().and_then(|file| u32::from_str_radix(file.trim_start_matches("0x"), 16).ok());
    is_read
        && file.is_some_and(|file| {
            let name = std::fs::read_link(format!("/proc/{id}/fd/{file}")).unwrap_or_default();
            name.to_string_lossy().ends_with("slow")
        })
}

#[test]
fn a_call_that_ignores_a_signal_is_named_and_left_behind() {
    let jobs = ["prepare", "splits", "next"]
        .map(|at| (at, faulty(json!({ "fail": { "at": at, "how": "hang", "marker": "hanging" } }), json!({}))));
    let init = faulty(json!({ "fail": { "at": "init", "how": "hang", "marker": "hanging" } }), json!({}));
    // Each of them takes the five seconds of grace: they run at the same time.
    let runs = jobs.into_iter().chain([("init", init)]).map(|(at, job)| {
        let scratch = Scratch::new();
        let mut run = start(&scratch, &job);
        run.wait_for_file("hanging");
        run.signal(Signal::Terminate);
        (at, run, scratch)
    });
    for (at, run, _scratch) in runs.collect::<Vec<_>>() {
        let run = run.finish();
        assert_eq!(run.code(), Some(143), "{at}: {run}");
        run.fails_with(143).says([format!("`{at}`").as_str(), "has lasted"]);
    }
}

#[test]
fn a_signal_ends_a_run_whose_messages_nobody_reads() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "records": 1_000_000, "log": "x".repeat(500) }), json!({})));
    // A pipe that is open for reading, and is never read.
    let script = r#"mkfifo full && exec 3<>full && exec "$@" 2>full"#;
    let run = scratch.transship(["run", "job.json"]).env("TRANSSHIP_LOG", "trace").within(script);
    let mut run = run.start();
    let id = run.id();
    run.wait_until("a thread that waits to write to stderr", || writes_to_stderr(id));
    let sent = Instant::now();
    run.signal(Signal::Terminate);
    run.finish().ends_with(143);
    assert!(sent.elapsed() < Duration::from_secs(10), "it took {:?}", sent.elapsed());
    assert_eq!(scratch.ids(), [0; 0]);
}

/// Whether a thread of a process is asleep in a call on the file descriptor 2. Nothing else than writing keeps it there.
fn writes_to_stderr(id: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else { return false };
    threads.flatten().any(|thread| {
        let call = std::fs::read_to_string(thread.path().join("syscall")).unwrap_or_default();
        call.split(' ').nth(1) == Some("0x2")
    })
}

#[test]
fn a_signal_stops_the_jobs_that_were_still_to_come() {
    let scratch = Scratch::new();
    scratch.job("first.json", &writer_that_hangs("write"));
    scratch.job("second.json", &faulty(json!({}), json!({ "target": "second.out" })));
    let mut run = scratch.transship(["run", "--in-order", "first.json", "second.json"]).start();
    run.wait_for_file("hanging");
    run.signal(Signal::Interrupt);
    run.finish().fails_with(130);
    assert_eq!(scratch.calls("reader prepare"), 1, "the second job was begun");
}

#[test]
fn a_list_of_splits_that_a_signal_cuts_short_is_not_taken_for_the_whole() {
    for command in ["prepare", "plan"] {
        let scratch = Scratch::new();
        // The reader gives two splits at a time, and the signal comes while it gives the first.
        let fail = json!({ "at": "splits", "how": "go_on_when_cancelled", "marker": "hanging" });
        scratch.job("job.json", &faulty(json!({ "splits": 40, "fail": fail }), json!({})));
        let mut run = scratch.transship([command, "job.json"]).start();
        run.wait_for_file("hanging");
        run.signal(Signal::Terminate);
        let run = run.finish().fails_with(143);
        assert_eq!(run.stdout, "", "{command}: {run}");
    }
}

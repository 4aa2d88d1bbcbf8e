//! What a failed job leaves in the process that goes on to the next one: no thread, no open file of the target.

use transship_tests::{Job, Scratch, Value, faulty, json};

/// The names of a process's threads.
fn threads(id: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", id)).unwrap().flatten();
    let mut names: Vec<String> = tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
        .map(|name| name.trim().to_string())
        .collect();
    names.sort();
    names
}

/// The files that a process has open.
fn open_files(id: u32) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{}/fd", id)).unwrap().flatten();
    files.filter_map(|file| std::fs::read_link(file.path()).ok()).map(|path| path.display().to_string()).collect()
}

/// The second job of every run: it waits at its first record, and is looked at then.
fn waiting() -> Job {
    faulty(json!({}), json!({ "fail": { "at": "write", "how": "wait_for_file", "file": "go", "marker": "waiting" } }))
}

/// The threads that the second job needs: its own two, one that looks for splits, the main thread, one that watches, one for signals.
const THREADS: [&str; 6] = ["channel-0", "loader-0", "signals", "task-0-writer", "transship", "transship"];

/// Runs a job, and looks at the process while the next one waits: nothing of the first is left.
fn check(first: &Job, code: i32) {
    let scratch = Scratch::new();
    scratch.job("first.json", first);
    scratch.job("second.json", &waiting());
    let mut run = scratch.transship(["run", "--in-order", "first.json", "second.json"]).start();
    run.wait_for_file("waiting");
    // A thread that was joined may take a moment to vanish.
    let id = run.id();
    run.wait_until(&format!("the end of all threads of {}", first.tree()), || threads(id) == THREADS);
    let files = open_files(id);
    assert!(!files.iter().any(|path| path.ends_with("/out")), "{files:?} are open after {}", first.tree());
    scratch.write("go", "");
    run.finish().ends_with(code);
}

#[test]
fn a_job_leaves_no_thread_and_no_open_file_however_it_ended() {
    let with = |reader: Value, writer: Value| faulty(reader, writer).channels(4);
    check(&with(json!({ "splits": 4 }), json!({})), 0);
    let fault = |how: &str| json!({ "at": "next", "split": 3, "after": 50, "how": how });
    let write_fault = |how: &str| json!({ "at": "write", "after": 50, "how": how });
    check(&with(json!({ "splits": 4, "fail": fault("error:io") }), json!({})), 1);
    check(&with(json!({ "splits": 4, "fail": fault("panic") }), json!({})), 1);
    check(&with(json!({ "splits": 4 }), json!({ "fail": write_fault("error:io") })), 1);
    check(&with(json!({ "splits": 4 }), json!({ "fail": write_fault("panic"), "maxOpenTasks": 1 })), 1);
    check(&with(json!({ "splits": 4, "idle": true, "fail": fault("error:io") }), json!({})), 1);
    check(&with(json!({ "splits": 4, "dirtyEvery": 10 }), json!({})).with("job.setting.errorLimit.record", 0), 6);
}

//! A run in several processes: `prepare`, then each task in a fresh process, in any order and at once, then `commit`. What
//! passes between them is what they print.

use transship_tests::records::{number, text};
use transship_tests::{Finished, Job, Running, Scratch, Signal, Transship, Value, faulty, json, plugin};

/// Prepares a job; what it prints lies in `prepared.json` then. The numbers of its tasks.
fn prepare(scratch: &Scratch, job: &Job) -> Vec<u64> {
    scratch.job("job.json", job);
    let run = scratch.transship(["prepare", "job.json"]).run().succeeds();
    scratch.write("prepared.json", &run.stdout);
    let prepared: Value = serde_json::from_str(&run.stdout).unwrap();
    prepared["tasks"].as_array().unwrap().iter().map(|task| number(task, "/number")).collect()
}

fn task(scratch: &Scratch, task: u64) -> Transship {
    scratch.transship(["task", "job.json", "--prepared", "prepared.json", "--task", &task.to_string()])
}

/// Keeps what a task has printed, and gives the name of the file.
fn keep(scratch: &Scratch, task: u64, run: &Finished) -> String {
    let name = format!("report-{task}.json");
    scratch.write(&name, &run.stdout);
    name
}

fn run_task(scratch: &Scratch, number: u64) -> String {
    keep(scratch, number, &task(scratch, number).run().succeeds())
}

fn commit(scratch: &Scratch, reports: &[String]) -> Finished {
    let arguments = ["commit", "job.json", "--prepared", "prepared.json"].into_iter();
    scratch.transship(arguments.chain(reports.iter().map(String::as_str))).run()
}

fn five_splits(class: &str) -> Job {
    faulty(json!({ "splits": 5 }), json!({ "commit": class }))
}

fn all() -> Vec<u64> {
    (1..=500).collect()
}

#[test]
fn tasks_may_run_in_any_order() {
    for class in ["task", "atomic"] {
        let scratch = Scratch::new();
        let tasks = prepare(&scratch, &five_splits(class));
        assert_eq!(tasks, [0, 1, 2, 3, 4]);
        let reports: Vec<String> = [3, 0, 4, 2, 1].map(|number| run_task(&scratch, number)).into();
        if class == "atomic" {
            assert!(!scratch.path("out").exists(), "nothing shows before the commit");
        }
        let run = commit(&scratch, &reports).succeeds();
        assert_eq!(scratch.ids(), all(), "{class}: {run}");
        run.says(["read 500 + added 0 = written 500 + "]);
    }
}

#[test]
fn tasks_may_run_at_once() {
    let scratch = Scratch::new();
    let tasks = prepare(&scratch, &five_splits("atomic"));
    let running: Vec<(u64, Running)> =
        tasks.into_iter().map(|number| (number, task(&scratch, number).start())).collect();
    let reports: Vec<String> =
        running.into_iter().map(|(number, run)| keep(&scratch, number, &run.finish().succeeds())).collect();
    commit(&scratch, &reports).succeeds();
    assert_eq!(scratch.ids(), all());
    assert!(scratch.files().iter().all(|name| !name.ends_with(".staged")), "{:?}", scratch.files());
}

#[test]
fn each_process_does_its_own_part_and_no_other() {
    let scratch = Scratch::new();
    prepare(&scratch, &five_splits("atomic"));
    let calls = |beginning| scratch.calls(beginning);
    assert_eq!((calls("reader prepare"), calls("writer prepare")), (1, 1));
    assert_eq!((calls("reader open"), calls("writer open"), calls("writer abort")), (0, 0, 0));
    let reports: Vec<String> = (0..5).map(|number| run_task(&scratch, number)).collect();
    assert_eq!((calls("reader prepare"), calls("writer prepare")), (1, 1), "a task takes up what was prepared");
    assert_eq!(calls("reader attach {\"prepared\":true}"), 5, "the reader gets the state that it gave");
    assert_eq!((calls("reader open"), calls("writer open")), (5, 5));
    assert_eq!((calls("writer commit of"), calls("writer post"), calls("reader post")), (0, 0, 0));
    commit(&scratch, &reports).succeeds();
    assert_eq!((calls("writer commit of 5"), calls("writer post")), (1, 1));
    assert_eq!(calls("reader post"), 1);
}

#[test]
fn a_report_of_a_task_is_the_same_in_every_process() {
    let scratch = Scratch::new();
    prepare(&scratch, &five_splits("atomic"));
    let report: Value = serde_json::from_str(&scratch.read(run_task(&scratch, 2))).unwrap();
    assert_eq!((text(&report, "/split"), number(&report, "/counts/written")), ("split 2", 100));
    let again: Value = serde_json::from_str(&scratch.read(run_task(&scratch, 2))).unwrap();
    assert_eq!(report["task"], again["task"]);
    assert_ne!(report["committed"]["detail"], again["committed"]["detail"], "each attempt stages for itself");
}

#[test]
fn a_failed_task_fails_the_commit_and_nothing_shows() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "next", "split": 3, "after": 50, "how": "error:io" });
    prepare(&scratch, &faulty(json!({ "splits": 5, "fail": fail }), json!({ "commit": "atomic" })));
    let mut reports: Vec<String> = [0, 1, 2, 4].map(|number| run_task(&scratch, number)).into();
    let run = task(&scratch, 3).run().fails_with(1);
    assert_eq!(run.error(), "task 3 (split 3): faultyreader: next failed: as it was told to");
    reports.push(keep(&scratch, 3, &run));
    let run = commit(&scratch, &reports).fails_with(1);
    assert_eq!(run.error(), "task 3 (split 3): faultyreader: next failed: as it was told to");
    assert!(!scratch.path("out").exists());
    assert_eq!((scratch.calls("writer abort of 4"), scratch.calls("writer commit of")), (1, 0));
    assert!(scratch.files().iter().all(|name| !name.ends_with(".staged")), "{:?}", scratch.files());
}

#[test]
fn a_task_that_was_killed_runs_again_from_the_start() {
    let scratch = Scratch::new();
    let fail =
        json!({ "at": "write", "after": 50, "how": "hang", "marker": "hanging", "times": 1, "counter": "counter" });
    prepare(&scratch, &faulty(json!({ "splits": 2 }), json!({ "commit": "task", "fail": fail })));
    let mut run = task(&scratch, 0).start();
    run.wait_for_file("hanging");
    run.signal(Signal::Kill);
    assert_eq!(run.finish().code(), None);
    let reports = [run_task(&scratch, 0), run_task(&scratch, 1)];
    commit(&scratch, &reports).succeeds();
    assert_eq!(scratch.ids(), (1..=200).collect::<Vec<_>>());
}

#[test]
fn a_commit_that_is_repeated_does_nothing_more() {
    let scratch = Scratch::new();
    prepare(&scratch, &five_splits("atomic"));
    let reports: Vec<String> = (0..5).map(|number| run_task(&scratch, number)).collect();
    commit(&scratch, &reports).succeeds();
    commit(&scratch, &reports).succeeds();
    assert_eq!(scratch.ids(), all());
}

#[test]
fn a_commit_takes_exactly_one_report_of_each_task_of_its_run() {
    let scratch = Scratch::new();
    prepare(&scratch, &five_splits("atomic"));
    let reports: Vec<String> = (0..5).map(|number| run_task(&scratch, number)).collect();
    let foreign = Scratch::new();
    prepare(&foreign, &five_splits("atomic"));
    let foreign = foreign.path(run_task(&foreign, 0)).display().to_string();
    let with = |report: &str| reports.iter().cloned().chain([report.to_string()]).collect::<Vec<_>>();
    for (given, message) in [
        (reports[..4].to_vec(), "there is no report of task 4"),
        (with(&reports[2]), "task 2"),
        (with(&foreign), "task"),
    ] {
        let scratch_before = scratch.lines("out");
        let run = commit(&scratch, &given);
        assert_ne!(run.code(), Some(0), "{run}");
        assert!(run.error().contains(message), "{run}");
        assert_eq!(scratch.lines("out"), scratch_before, "{run}");
    }
}

#[test]
fn a_signal_ends_a_task_with_its_code_and_nothing_shows() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "write", "how": "hang_until_cancelled", "marker": "hanging" });
    prepare(&scratch, &faulty(json!({}), json!({ "fail": fail })));
    let mut run = task(&scratch, 0).start();
    run.wait_for_file("hanging");
    run.signal(Signal::Terminate);
    let run = run.finish().fails_with(143);
    assert_eq!(run.error(), "stopped by SIGTERM");
    assert!(!scratch.path("out").exists());
    assert_eq!(scratch.calls("writer abort_task"), 1);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&report["committed"], text(&report, "/failure/kind")), (&Value::Null, "cancelled"));
}

#[test]
fn a_signal_while_preparing_or_committing_ends_in_good_order() {
    let hang = |at: &str| json!({ "at": at, "how": "hang_until_cancelled", "marker": "hanging" });
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({ "fail": hang("prepare") })));
    let mut run = scratch.transship(["prepare", "job.json"]).start();
    run.wait_for_file("hanging");
    run.signal(Signal::Terminate);
    run.finish().fails_with(143);
    assert_eq!(scratch.calls("writer abort of 0"), 1);

    let scratch = Scratch::new();
    prepare(&scratch, &faulty(json!({}), json!({ "commit": "atomic", "fail": hang("commit") })));
    let report = run_task(&scratch, 0);
    let mut run = scratch.transship(["commit", "job.json", "--prepared", "prepared.json", &report]).start();
    run.wait_for_file("hanging");
    run.signal(Signal::Terminate);
    run.finish().fails_with(143);
    assert_eq!(scratch.calls("writer abort of 1"), 1);
    assert!(!scratch.path("out").exists());
}

#[test]
fn a_failure_in_attach_is_told() {
    for (who, job) in [
        ("reader", faulty(json!({ "fail": { "at": "attach", "how": "error:io" } }), json!({}))),
        ("writer", faulty(json!({}), json!({ "fail": { "at": "attach", "how": "error:io" } }))),
    ] {
        let scratch = Scratch::new();
        prepare(&scratch, &job);
        let run = task(&scratch, 0).run().fails_with(1);
        assert_eq!(run.error(), format!("faulty{who}: attach failed: as it was told to"));
        assert_eq!(scratch.calls("reader open"), 0);
    }
}

#[test]
fn what_passes_between_processes_holds_no_secret_and_is_not_spoilt_by_one() {
    let scratch = Scratch::new();
    // The password is a part of the splits' names and of much else.
    let reader = json!({ "splits": 2, "password": "split", "token": "canary-7391" });
    prepare(&scratch, &faulty(reader, json!({ "commit": "atomic", "password": "out" })));
    let reports = [run_task(&scratch, 0), run_task(&scratch, 1)];
    commit(&scratch, &reports).succeeds();
    assert_eq!(scratch.ids().len(), 200);
    for name in ["prepared.json", "report-0.json", "report-1.json"] {
        assert!(!scratch.read(name).contains("canary-7391"), "{name}");
    }
}

#[test]
fn the_dirty_records_of_all_processes_lie_in_one_file_and_count_together() {
    let job = faulty(json!({ "splits": 3, "dirtyEvery": 10 }), json!({ "commit": "atomic" }));
    for (limit, code) in [(30, 0), (29, 6)] {
        let scratch = Scratch::new();
        prepare(&scratch, &job.clone().with("job.setting.errorLimit.record", limit));
        let reports: Vec<String> = (0..3).map(|number| run_task(&scratch, number)).collect();
        assert_eq!(scratch.dirty_records().len(), 30);
        commit(&scratch, &reports).ends_with(code);
        assert_eq!(scratch.ids().len(), if code == 0 { 270 } else { 0 });
    }
}

/// A job over three files, to this writer.
fn three_files(scratch: &Scratch, writer: Value) -> Job {
    for file in 0..3_u64 {
        let lines: String = (1..=1000).map(|line| format!("{},text {line}\n", file * 1000 + line)).collect();
        scratch.write(format!("in/{file}.csv"), lines);
    }
    let column =
        json!([{ "index": 0, "type": "long", "name": "id" }, { "index": 1, "type": "string", "name": "text" }]);
    Job::new(plugin("txtfilereader", json!({ "path": ["in/*.csv"], "column": column })), writer)
}

#[test]
fn files_go_into_files_by_several_processes() {
    let scratch = Scratch::new();
    let writer = plugin("txtfilewriter", json!({ "path": "out", "fileName": "ids", "writeMode": "truncate" }));
    scratch.write("out/ids", "old\n");
    let tasks = prepare(&scratch, &three_files(&scratch, writer));
    let running: Vec<(u64, Running)> =
        tasks.into_iter().map(|number| (number, task(&scratch, number).start())).collect();
    let reports: Vec<String> =
        running.into_iter().map(|(number, run)| keep(&scratch, number, &run.finish().succeeds())).collect();
    assert!(
        visible(&scratch).iter().all(|name| name == "out/ids"),
        "nothing new shows before the commit: {:?}",
        scratch.files()
    );
    commit(&scratch, &reports).succeeds();
    let lines: Vec<String> = visible(&scratch).into_iter().flat_map(|name| scratch.lines(name)).collect();
    let mut ids: Vec<u64> = lines.iter().map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=3000).collect::<Vec<_>>());
    let hidden = scratch.files().into_iter().filter(|name| name.starts_with("out/."));
    assert_eq!(hidden.count(), 0, "{:?}", scratch.files());
}

fn visible(scratch: &Scratch) -> Vec<String> {
    scratch.files().into_iter().filter(|name| name.starts_with("out/") && !name.starts_with("out/.")).collect()
}

#[test]
fn a_failed_task_takes_the_files_of_the_others_back() {
    let scratch = Scratch::new();
    let writer = plugin("txtfilewriter", json!({ "path": "out", "fileName": "ids", "writeMode": "append" }));
    prepare(&scratch, &three_files(&scratch, writer));
    let mut reports: Vec<String> = [0, 1].map(|number| run_task(&scratch, number)).into();
    std::fs::remove_file(scratch.path("in/2.csv")).unwrap();
    reports.push(keep(&scratch, 2, &task(&scratch, 2).run().fails_with(1)));
    commit(&scratch, &reports).fails_with(1).says(["task 2 (in/2.csv)"]);
    assert_eq!(scratch.files().into_iter().filter(|name| name.starts_with("out/")).count(), 0, "{:?}", scratch.files());
}

#[test]
fn files_go_into_a_database_by_several_processes() {
    let scratch = Scratch::new();
    let writer = plugin("sqlitewriter", json!({ "path": "out.db", "table": "ids", "createTable": true }));
    let tasks = prepare(&scratch, &three_files(&scratch, writer));
    let running: Vec<(u64, Running)> =
        tasks.into_iter().map(|number| (number, task(&scratch, number).start())).collect();
    let reports: Vec<String> =
        running.into_iter().map(|(number, run)| keep(&scratch, number, &run.finish().succeeds())).collect();
    commit(&scratch, &reports).succeeds();
    let database = rusqlite::Connection::open(scratch.path("out.db")).unwrap();
    let sums: (i64, i64, i64) = database
        .query_row("select count(*), count(distinct id), sum(id) from ids", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(sums, (3000, 3000, 3000 * 3001 / 2));
}

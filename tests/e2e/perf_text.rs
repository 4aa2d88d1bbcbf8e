//! What `transship perf` and the summary say of recorded runs in words: each entry by its number, what failed and why, lanes apart from what
//! reads; and that two runs are compared entry by entry, also where one was killed.

use transship_tests::records::{json_lines, text};
use transship_tests::{Finished, Job, Scratch, Signal, Value, faulty, json, plugin};

fn delay(at: &str, millis: u64) -> Value {
    json!({ "at": at, "how": "delay", "millis": millis })
}

/// A job of entries that all run.
fn together(entries: &[Job]) -> Job {
    let content: Vec<Value> = entries.iter().map(|entry| entry.tree()["job"]["content"][0].clone()).collect();
    entries[0].clone().with("job.content", content).with("job.setting.contents", "all")
}

fn shown(scratch: &Scratch, arguments: &[&str]) -> Finished {
    scratch.transship(["perf"].iter().chain(arguments)).run().succeeds()
}

/// The cells behind what a row of a comparison is called, row by row.
fn rows<'a>(shown: &'a Finished, name: &str) -> Vec<Vec<&'a str>> {
    let rows = shown.stdout.lines().filter_map(|line| line.trim_start().strip_prefix(name));
    rows.map(|rest| rest.split_whitespace().collect()).collect()
}

#[test]
fn entries_are_told_apart_and_compared_with_their_like_whichever_began_first() {
    let scratch = Scratch::new();
    let entry = |records: u32| faulty(json!({ "records": records }), json!({ "target": format!("out{records}") }));
    scratch.job("job.json", &together(&[entry(100), entry(200), entry(300)]));
    let run = scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    run.says(["job job, entry 1 of 3 (faultyreader to faultywriter), run "]);
    // The same run, had its entries begun the other way round, and the same without its last entry.
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let of_entry = |content: u64| {
        let header = lines.iter().find(|line| line["type"] == "run" && line["content"] == content).unwrap();
        let own = lines.iter().filter(|line| line["run"] == header["run"]);
        own.map(|line| format!("{line}\n")).collect::<String>()
    };
    scratch.write("turned.jsonl", [2, 1, 0].map(of_entry).concat());
    scratch.write("fewer.jsonl", [1, 0].map(of_entry).concat());

    let text = shown(&scratch, &["turned.jsonl"]).stdout;
    let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("job ")?.split(" (").next()).collect();
    assert_eq!(titles, ["job, entry 1 of 3", "job, entry 2 of 3", "job, entry 3 of 3"]);

    let same = shown(&scratch, &["turned.jsonl", "perf.jsonl"]);
    let records = rows(&same, "records read");
    assert_eq!(records, [["100", "100", "1.00"], ["200", "200", "1.00"], ["300", "300", "1.00"]], "{same}");
    let fewer = shown(&scratch, &["fewer.jsonl", "turned.jsonl"]);
    assert_eq!(rows(&fewer, "records read"), [["100", "100", "1.00"], ["200", "200", "1.00"]], "{fewer}");
    assert!(fewer.stdout.contains("job job, entry 3 of 3: only in the second\n"), "{fewer}");
    let more = shown(&scratch, &["turned.jsonl", "fewer.jsonl"]);
    assert!(more.stdout.contains("job job, entry 3 of 3: only in the first\n"), "{more}");
}

#[test]
fn of_a_run_that_failed_it_is_said_why_and_what_failed_comes_first() {
    let scratch = Scratch::new();
    let fail = json!([
        { "at": "next", "split": 0, "how": "hang_until_cancelled" },
        { "at": "next", "split": 1, "after": 50, "how": "error:io" },
    ]);
    scratch.job("job.json", &faulty(json!({ "splits": 2, "fail": fail }), json!({})).channels(2));
    let run = scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().fails_with(1);
    let shown = shown(&scratch, &["perf.jsonl"]);
    let text = &shown.stdout;
    assert!(text.contains(&format!("\n  why: {}\n", run.error())), "{shown}");
    assert!(text.contains("read 0 records, "), "nothing of it counts: {shown}");
    assert!(text.contains("aborted attempts: 50 records read, 0 dirty, beside those above\n"), "{shown}");
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what}: {shown}"));
    assert!(place("split 1 (failed)") < place("split 0 (cancelled)"), "{shown}");
    assert_eq!(text.matches(&format!("why: {}\n", run.error())).count(), 2, "of the job and of the task: {shown}");
}

#[test]
fn jobs_of_one_name_are_compared_each_with_its_own() {
    let scratch = Scratch::new();
    for (folder, records) in [("x", 100), ("y", 200)] {
        std::fs::create_dir(scratch.path(folder)).unwrap();
        let job = faulty(json!({ "records": records }), json!({ "target": folder.repeat(3) }));
        scratch.job(&format!("{folder}/j.json"), &job);
    }
    scratch.transship(["run", "--in-order", "x/j.json", "y/j.json", "--perf", "perf.jsonl"]).run().succeeds();
    let shown = shown(&scratch, &["perf.jsonl", "perf.jsonl", "--report", "r.html"]);
    assert_eq!(rows(&shown, "records read"), [["100", "100", "1.00"], ["200", "200", "1.00"]], "{shown}");
    let runs: Vec<String> = json_lines(&scratch.read("perf.jsonl"))
        .iter()
        .filter(|line| line["type"] == "run")
        .map(|line| text(line, "/run").to_string())
        .collect();
    for run in &runs {
        assert!(shown.stdout.contains(&format!("job j: run {run} beside run {run}\n")), "{shown}");
    }
    let page = scratch.read("r.html");
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    let compared: Vec<&str> = data.as_array().unwrap().iter().map(|entry| text(entry, "/earlier/run")).collect();
    assert_eq!(compared, runs, "on the page as well");
}

#[test]
fn what_a_newer_program_has_added_to_records_is_left_out() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "fail": delay("next", 120) }), json!({})));
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    let mut lines = json_lines(&scratch.read("perf.jsonl"));
    let known = shown(&scratch, &["perf.jsonl"]).stdout;
    for line in &mut lines {
        line["new"] = Value::Null;
        if line["type"] == "second" {
            line["open_readers_nanos"]["READ_TASK_NEW"] = json!(5);
            line["longest_call"] = Value::Null;
        }
    }
    let task = lines.iter().find(|line| line["type"] == "task").unwrap()["task"].clone();
    let phase = json!({ "type": "phase", "task": task, "attempt": 1, "phase": "READ_TASK_NEW", "unit": "fortnights" });
    let figure = json!({ "name": "n", "kind": "new", "value": 1 });
    let stage = json!({ "type": "stage", "stage": "s", "second_micros": 1, "figures": [figure] });
    let mut added = [phase, stage, json!({ "type": "weather" })];
    for line in &mut added {
        (line["run"], line["job"]) = (lines[0]["run"].clone(), json!("job"));
    }
    lines.splice(2..2, added);
    scratch.write("newer.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let newer = shown(&scratch, &["newer.jsonl", "--report", "r.html", "--trace", "trace.json"]).stdout;
    assert_eq!(newer, known);
}

#[test]
fn a_killed_run_is_compared_by_its_last_second() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    scratch.transship(["run", "job.json", "--perf", "whole"]).run().succeeds();
    let lines = json_lines(&scratch.read("whole"));
    let second = json!({
        "type": "second", "run": lines[0]["run"], "job": "job", "micros": lines[0]["start_micros"].as_u64().unwrap() + 1_000_000,
        "read_records": 50, "read_bytes": 500, "written_records": 25, "dirty_records": 0, "queued_records": 25, "queued_bytes": 250,
        "fill": 0.5, "open_tasks": 1, "tasks_known": 1, "tasks_done": 0, "wait_for_reader_nanos": 0, "wait_for_writer_nanos": 0,
    });
    let task = lines.iter().find(|line| line["type"] == "task").unwrap();
    scratch.write("killed", [&lines[0], task, &second].map(|line| format!("{line}\n")).concat());
    let shown = shown(&scratch, &["whole", "killed"]);
    assert_eq!(rows(&shown, "records read"), [["100", "50", "0.50"]], "{shown}");
    assert_eq!(rows(&shown, "records written"), [["100", "25", "0.25"]], "{shown}");
    assert!(shown.stdout.contains("  second: not ended; "), "{shown}");
}

#[test]
fn phases_that_took_next_to_nothing_are_left_out_of_the_text_alone() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "fail": delay("next", 50) }), json!({})));
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    let tree: Value = serde_json::from_str(&shown(&scratch, &["perf.jsonl", "--json"]).stdout).unwrap();
    let diagnosis = &tree[0]["diagnosis"];
    let wall = diagnosis["wall_seconds"].as_f64().unwrap();
    let shown = shown(&scratch, &["perf.jsonl"]);
    let mut left_out = 0;
    for phase in diagnosis["phases"].as_array().unwrap() {
        let has_row = shown.stdout.contains(&format!("\n  {:<20} ", text(phase, "/phase")));
        let is_worth_it = phase["total_seconds"].as_f64().unwrap() >= 0.001 * wall;
        assert_eq!(has_row, is_worth_it, "{phase} of {wall} s\n{shown}");
        left_out += u32::from(!has_row);
    }
    assert!(left_out > 0 && shown.stdout.contains(&format!("and {left_out} that took less than 0.1 %")), "{shown}");
    assert!(shown.stdout.contains(" ms ") && !shown.stdout.contains(" 0.00"), "each time in its unit: {shown}");
}

#[test]
fn what_reads_and_lanes_are_shown_apart() {
    let scratch = Scratch::new();
    let replay = json!({ "clients": 50, "events": 2000, "realTime": false, "seed": 7, "duplicates": 0 });
    let reader = plugin("streamreader", json!({ "replay": replay }));
    let order = plugin("order", json!({ "key": "client", "lanes": 12 }));
    let job = Job::new(reader, plugin("streamwriter", json!({ "print": false }))).transformer(order);
    scratch.job("job.json", &job);
    let run = scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    let between = |text: &str, begin: &str, end: &str| -> Vec<String> {
        let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no {begin}\n{text}"));
        rest.split(end).next().unwrap().lines().map(String::from).collect()
    };
    let tasks = between(&run.stderr, "  slowest tasks:\n", "  slowest lanes:\n");
    assert_eq!(tasks.len(), 1, "{run}");
    assert!(tasks[0].starts_with("    task 0 ") && tasks[0].contains(" 2,000 records  reading "), "{run}");
    let lanes = between(&run.stderr, "  slowest lanes:\n", "\n\n");
    assert_eq!(lanes.len(), 3, "{run}");
    assert!(lanes.iter().all(|line| line.starts_with("    lane ") && !line.contains("reading ")), "{run}");
    let shown = shown(&scratch, &["perf.jsonl"]);
    let tasks = between(&shown.stdout, "  tasks, slowest first (1 of 1)\n", "\n\n");
    assert!(tasks.len() == 2 && tasks[1].starts_with("  0 "), "{shown}");
    let lanes = between(&shown.stdout, "  lanes, slowest first (10 of 12)\n  lane ", "\n  order, ");
    assert_eq!(lanes.len(), 11, "{shown}");
}

#[test]
fn time_that_a_task_waited_for_a_slot_is_no_time_in_which_it_read() {
    let scratch = Scratch::new();
    let entry = |out: &str| faulty(json!({ "records": 300, "fail": delay("next", 10) }), json!({ "target": out }));
    scratch.job("job.json", &together(&["a", "b"].map(entry)));
    let run = scratch.transship(["run", "job.json", "--slots", "1"]).run().succeeds();
    let lines = run.stderr.lines().filter(|line| line.starts_with("    task "));
    let percent = |line: &str, what: &str| -> u32 {
        let rest = line.split_once(what).map_or("0 %", |(_, rest)| rest);
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let shares: Vec<_> =
        lines.map(|line| (percent(line, " reading "), percent(line, ", waiting for a slot "))).collect();
    assert_eq!(shares.len(), 2, "{run}");
    assert!(shares.iter().all(|(reading, waiting)| reading + waiting <= 101), "{shares:?}: {run}");
    assert!(shares.iter().any(|(_, waiting)| *waiting >= 20), "{shares:?}: {run}");
}

#[test]
fn a_job_that_stands_still_is_told_also_while_another_moves() {
    let scratch = Scratch::new();
    scratch.job("still.json", &faulty(json!({}), json!({ "fail": { "at": "write", "how": "hang_until_cancelled" } })));
    let moving = faulty(json!({ "records": 100_000, "fail": delay("next", 100) }), json!({ "target": "moving" }));
    scratch.job("moving.json", &moving);
    let mut running = scratch.transship(["run", "still.json", "moving.json"]).start();
    running.wait_for_stderr(
        "still: nothing has moved for 10 s: the reader waits for task 0 (split 0), faultywriter, in `write` (as it was told to) for ",
    );
    running.signal(Signal::Terminate);
    let run = running.finish().ends_with(143);
    run.does_not_say(["moving: nothing has moved"]);
}

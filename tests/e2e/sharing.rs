//! Several entries of content, and several jobs, at the same time: they share the slots of the run, none keeps another from its turn,
//! and no more is open at once than is allowed.

use transship_tests::records::{json_lines, number, text};
use transship_tests::{Finished, Job, Running, Scratch, Signal, Value, faulty, json, plugin};

/// A job of these entries, all of which run.
fn together<J: std::borrow::Borrow<Job>>(entries: &[J]) -> Value {
    let content: Vec<Value> = entries.iter().map(|entry| entry.borrow().tree()["job"]["content"][0].clone()).collect();
    json!({ "job": { "setting": { "speed": { "channel": 1 }, "contents": "all" }, "content": content } })
}

fn start(scratch: &Scratch, tree: &Value, options: &[&str]) -> Running {
    scratch.write("job.json", format!("{tree:#}"));
    scratch.transship(["run", "job.json", "--json"].iter().chain(options)).start()
}

fn run(scratch: &Scratch, tree: &Value, options: &[&str]) -> Finished {
    start(scratch, tree, options).finish()
}

/// Five records to the file `small`.
fn small() -> Job {
    faulty(json!({ "records": 5 }), json!({ "target": "small" }))
}

/// Records without end to nowhere.
fn endless() -> Job {
    let column = json!([{ "name": "id", "random": "0, 1000000", "type": "long" }]);
    // So many that nobody waits for the last of them.
    let reader = plugin("streamreader", json!({ "sliceRecordCount": 1u64 << 60, "column": column }));
    Job::new(reader, plugin("streamwriter", json!({ "print": false })))
}

fn outcomes(run: &Finished) -> Vec<(Value, bool)> {
    run.summaries().iter().map(|summary| (summary["outcome"].clone(), summary["drained"] == true)).collect()
}

/// Waits until the small one is done, which is called this, then has the other drained.
fn drain_once_it_is_done(mut run: Running, title: &str) -> Finished {
    run.wait_for_stderr(&format!("job {title} ("));
    run.signal(Signal::Terminate);
    run.finish().succeeds()
}

#[test]
fn a_small_entry_is_done_while_an_endless_one_goes_on_on_the_same_slot() {
    let scratch = Scratch::new();
    let run = start(&scratch, &together(&[endless(), small()]), &["--drain"]);
    let run = drain_once_it_is_done(run, "job, entry 2 of 2");
    assert_eq!(outcomes(&run), [(json!("done"), true), (json!("done"), false)], "{run}");
}

#[test]
fn jobs_of_one_run_share_the_slots_that_it_is_told() {
    let scratch = Scratch::new();
    scratch.job("endless.json", &endless());
    scratch.job("small.json", &small());
    let arguments = ["run", "endless.json", "small.json", "--slots", "1", "--json", "--drain"];
    let run = drain_once_it_is_done(scratch.transship(arguments).start(), "small");
    let jobs: Vec<_> = run.summaries().iter().map(|summary| text(summary, "/job").to_string()).collect();
    assert_eq!(jobs, ["endless", "small"], "summaries come in the order of the command line");
}

#[test]
fn who_waits_for_a_slow_target_keeps_no_slot() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "write", "how": "hang_until_cancelled", "marker": "hanging" });
    let stuck = faulty(json!({ "records": 100_000, "batch": 10 }), json!({ "fail": fail, "target": "stuck" }));
    let tree = together(&[stuck, small()]);
    let mut run = start(&scratch, &tree, &[]);
    run.wait_for_file("hanging");
    run.wait_for_stderr("job job, entry 2 of 2 (");
    run.signal(Signal::Terminate);
    let run = run.finish().fails_with(143);
    assert_eq!(outcomes(&run), [(json!("cancelled"), false), (json!("done"), false)], "{run}");
}

#[test]
fn a_read_that_hangs_keeps_nobody_from_its_turn_for_long() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "next", "how": "hang_until_cancelled", "marker": "hanging" });
    let hanging = faulty(json!({ "fail": fail }), json!({ "target": "stuck" }));
    let mut run = start(&scratch, &together(&[hanging, small()]), &[]);
    run.wait_for_file("hanging");
    run.wait_for_stderr("job job, entry 2 of 2 (");
    run.signal(Signal::Terminate);
    let run = run.finish().fails_with(143);
    assert_eq!(outcomes(&run), [(json!("cancelled"), false), (json!("done"), false)], "{run}");
}

/// What the journal says of tasks that were opened and ended, in order.
fn open_and_ended(scratch: &Scratch) -> (usize, usize) {
    let (mut open, mut most, mut all) = (0usize, 0, 0);
    for line in scratch.lines("journal") {
        if line.starts_with("reader open") {
            open += 1;
            all += 1;
            most = most.max(open);
        } else if line.starts_with("writer commit_task") {
            open -= 1;
        }
    }
    (most, all)
}

#[test]
fn no_more_tasks_are_open_than_the_setting_says() {
    let entry = |target: &str| faulty(json!({ "records": 50, "splits": 3 }), json!({ "target": target }));
    let mut tree = together(&["one", "two", "three", "four"].map(entry));
    tree["job"]["setting"]["speed"]["channel"] = json!(3);
    for most in [1, 2] {
        let scratch = Scratch::new();
        tree["job"]["setting"]["schedule"] = json!({ "openTasks": most });
        run(&scratch, &tree, &[]).succeeds();
        let (open, all) = open_and_ended(&scratch);
        assert!(all == 12 && open <= most, "{open} of {all} were open");
    }
}

#[test]
fn entries_run_one_after_another_if_the_file_or_the_command_line_says_so() {
    // The second begins to read when all of the first is committed, or else would find nothing.
    let first = faulty(json!({ "records": 500, "batch": 1 }), json!({ "target": "between.csv", "commit": "atomic" }));
    let column = json!([{ "index": 0, "type": "long" }]);
    let reader = plugin("txtfilereader", json!({ "path": "between.csv", "column": column }));
    let second = Job::new(reader, plugin("faultywriter", json!({ "target": "end" })));
    for (in_file, options) in [(true, &[][..]), (false, &["--in-order"][..])] {
        let scratch = Scratch::new();
        let mut tree = together(&[&first, &second]);
        tree["job"]["setting"]["schedule"] = json!({ "inOrder": in_file });
        let run = run(&scratch, &tree, options).succeeds();
        let written: Vec<_> = run.summaries().iter().map(|summary| number(summary, "/counts/written")).collect();
        assert_eq!(written, [500, 500], "{run}");
    }
}

#[test]
fn perf_records_tell_how_slots_were_shared() {
    let scratch = Scratch::new();
    let entry = |target: &str| faulty(json!({ "records": 2000, "batch": 1 }), json!({ "target": target }));
    let run = run(&scratch, &together(&["one", "two"].map(entry)), &["--perf", "perf.jsonl"]).succeeds();
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let nanos = |line: &Value, phase: &str| {
        let of_task = lines.iter().find(|other| other["task"] == line["task"] && other["phase"] == phase);
        number(of_task.unwrap_or_else(|| panic!("no {phase} of {line}")), "/elapsed_nanos")
    };
    let scheduled: Vec<_> = lines.iter().filter(|line| line["phase"] == "SCHEDULED_TIME").collect();
    assert_eq!(scheduled.len(), 2);
    for line in scheduled {
        assert!(line["level"].as_u64().is_some_and(|level| level < 5), "{line}");
        let parts = ["SCHEDULED_TIME", "WAIT_SLOT_TIME"].map(|phase| nanos(line, phase));
        assert!(parts[0] > 0 && parts.iter().sum::<u64>() <= nanos(line, "TASK_TOTAL"), "{parts:?}");
    }
    for summary in run.summaries() {
        assert!(number(&summary, "/standing/scheduled/nanos") > 0, "{summary}");
    }
}

#[test]
fn a_plan_tells_that_entries_share() {
    let scratch = Scratch::new();
    let mut tree = together(&[small(), small()]);
    tree["job"]["content"][1]["weight"] = json!(3);
    scratch.write("job.json", tree.to_string());
    let run = scratch.transship(["plan", "job.json"]).run().succeeds();
    for told in [
        "job job[0]: faultyreader to faultywriter",
        "entry           : 1 of 2: they run beside each other, those that have used little first\n",
        "entry           : 2 of 2: they run beside each other, those that have used little first, weight 3\n",
        "tasks, in this order (1",
    ] {
        assert!(run.stdout.contains(told), "{told}: {run}");
    }
}

#[test]
fn fewer_tasks_are_open_where_the_target_is_slow_if_the_job_adapts() {
    for (adaptive, told) in [(true, true), (false, false)] {
        let scratch = Scratch::new();
        // Each is done while the channels of those behind it are full.
        for (name, records) in [("a", 5), ("b", 60), ("c", 120), ("d", 180)] {
            scratch.write(format!("in/{name}.csv"), "1\n".repeat(records));
        }
        let column = json!([{ "index": 0, "type": "long", "name": "id" }]);
        let reader = plugin("txtfilereader", json!({ "path": "in/*", "column": column }));
        let work = json!({ "mean": "5 ms", "deviation": "0 ms" });
        let job = Job::new(reader, plugin("streamwriter", json!({ "print": false, "work": work })))
            .channels(4)
            .with("core.transport.channel.capacity", 4)
            .with("job.setting.schedule.adaptive", adaptive);
        scratch.job("job.json", &job);
        let run = scratch.transship(["run", "job.json"]).env("TRANSSHIP_LOG", "debug").run().succeeds();
        assert_eq!(run.stderr.contains("at most 3 tasks are open from now on, instead of 4"), told, "{run}");
    }
}

#[test]
fn entries_with_lanes_share_a_target_that_takes_few_tasks() {
    // Lanes that hold keys while they wait for their turn would keep those of the other entry from their end, and theirs them.
    let order = json!({ "name": "order", "parameter": { "key": "id", "lanes": 2 } });
    let entry = || {
        let writer = json!({ "target": "out", "maxOpenTasks": 2 });
        faulty(json!({ "records": 500, "batch": 1 }), writer).transformer(order.clone())
    };
    for _ in 0..5 {
        let scratch = Scratch::new();
        let run = run(&scratch, &together(&[entry(), entry()]), &[]).succeeds();
        let written: Vec<_> = run.summaries().iter().map(|summary| number(summary, "/counts/written")).collect();
        assert_eq!(written, [500, 500], "{run}");
    }
}

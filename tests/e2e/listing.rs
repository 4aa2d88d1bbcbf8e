//! What `plan`, `check` and `plugins` print for a person to read.

use transship_tests::records::text;
use transship_tests::{Job, Scratch, Value, faulty, golden, json};

fn job() -> Job {
    faulty(json!({ "splits": 3 }), json!({ "maxOpenTasks": 2, "plan": ["begin", "insert into ids"] }))
        .channels(2)
        .with("job.setting.speed.record", 1000)
        .with("job.setting.speed.byte", 1_048_576)
        .with("core.transport.channel.capacity", 512)
        .with("core.container.task.failOver.maxRetryTimes", 3)
}

#[test]
fn a_plan_shows_channels_limits_the_target_and_the_tasks() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job());
    let run = scratch.transship(["plan", "job.json"]).run().succeeds();
    assert_eq!(run.stderr, "");
    golden::check("plan.txt", &golden::normal(&run.stdout, scratch.folder()));
    assert_eq!(
        (scratch.calls("reader prepare"), scratch.calls("writer prepare"), scratch.calls("reader open")),
        (0, 0, 0)
    );
}

#[test]
fn a_long_list_of_tasks_is_cut_for_a_person_and_whole_for_a_machine() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "splits": 1000 }), json!({})));
    let run = scratch.transship(["plan", "job.json"]).run().succeeds();
    assert!(run.stdout.contains("split 19\n    …\n") && !run.stdout.contains("split 20"), "{run}");
    let run = scratch.transship(["plan", "job.json", "--json"]).run().succeeds();
    let plan: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(plan["tasks"].as_array().unwrap().len(), 1000);
    assert_eq!(text(&plan, "/tasks/999/split/label"), "split 999");
}

#[test]
fn a_plan_for_a_machine_has_all_that_a_person_sees() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job());
    let run = scratch.transship(["plan", "job.json", "--json"]).run().succeeds();
    let plan: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((text(&plan, "/reader"), text(&plan, "/writer")), ("faultyreader", "faultywriter"));
    assert_eq!(plan["statements"], json!(["begin", "insert into ids"]));
    assert_eq!((&plan["plan"]["channels"], &plan["plan"]["max_attempts"]), (&json!(2), &json!(3)));
    assert_eq!((&plan["target"]["commit"], &plan["target"]["max_open_tasks"]), (&json!("task"), &json!(2)));
    assert_eq!(plan["tasks"].as_array().unwrap().len(), 3);
}

#[test]
fn a_plugin_is_shown_with_its_parameters() {
    let scratch = Scratch::new();
    let run = scratch.transship(["plugins", "faultyreader"]).run().succeeds();
    golden::check("plugin.txt", &run.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    // By the name of its library, the whole plugin is shown.
    let run = scratch.transship(["plugins", "faulty"]).run().succeeds();
    for heading in
        ["reader faultyreader (faulty ", "writer faultywriter (faulty ", "transformer faultytransformer (faulty "]
    {
        assert!(run.stdout.contains(heading), "{run}");
    }
}

#[test]
fn several_job_files_are_checked_and_each_is_told_of() {
    let scratch = Scratch::new();
    scratch.job("good.json", &faulty(json!({}), json!({})));
    scratch.job("bad.json", &faulty(json!({ "records": "many" }), json!({})));
    scratch.job("fine.json", &faulty(json!({}), json!({})));
    let run = scratch.transship(["check", "good.json", "bad.json", "fine.json"]).run().fails_with(2);
    assert_eq!(run.stdout, "good.json: no error found\nbad.json: 1 error\nfine.json: no error found\n");
    run.says(["error: bad.json:", ": job.content[0].reader.parameter.records must be a whole number"]);
}

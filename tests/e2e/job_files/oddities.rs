//! What is odd about a job file and what DataX would do otherwise: warned about, with its place, and the job runs; or refused,
//! where running can only go wrong.

use transship_tests::{Finished, Job, Scratch, faulty, json};

use super::{errors, warnings};

fn run(job: &Job) -> Finished {
    let scratch = Scratch::new();
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json"]).run()
}

/// A job with this oddity runs, and this is the only warning.
#[track_caller]
fn is_warned_about(job: &Job, warning: &str) {
    let run = run(job).succeeds();
    let [told] = warnings(&run)[..] else { panic!("not one warning: {run}") };
    assert!(told.starts_with("job.json:") && told.contains(&format!(": {warning}")), "not `{warning}`: {run}");
    run.says(["written 100 "]);
}

fn job() -> Job {
    faulty(json!({}), json!({}))
}

#[test]
fn a_path_that_is_no_library_is_the_folder_of_the_plugin_in_datax() {
    let mut tree = job().tree().clone();
    tree["job"]["content"][0]["reader"]["path"] = json!("/opt/datax/plugin/reader/faultyreader");
    let scratch = Scratch::new();
    scratch.write("job.json", tree.to_string());
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    assert_eq!(warnings(&run).len(), 1);
    run.says(["job.content[0].reader.path is no library (*.so) and is ignored: the plugin is found by its name"]);
}

#[test]
fn nothing_in_a_job_file_acts_on_the_terminal() {
    let scratch = Scratch::new();
    let odd = "odd\u{1b}[2J\u{7}\u{9b}1m\u{202e}\rkey";
    let reader = json!({ odd: 1, "log": odd, "fail": { "at": "next", "how": "error:io", "message": odd } });
    scratch.job("job.json", &faulty(reader, json!({ "plan": [odd] })));
    let shown = r"odd\u001b[2J\u0007\u009b1m\u202e\u000dkey";
    for (command, code) in [("run", 1), ("plan", 0), ("check", 0)] {
        let run = scratch.transship([command, "job.json"]).env("TRANSSHIP_LOG", "trace").run();
        assert_eq!(run.code(), Some(code), "{run}");
        let acts = |letter: char| (letter.is_control() && letter != '\n' && letter != '\t') || letter == '\u{202e}';
        assert!(!run.stderr.contains(acts) && !run.stdout.contains(acts), "{command}: {run}");
        run.says([format!("job.content[0].reader.parameter.{shown}").as_str()]);
        assert!(command != "plan" || run.stdout.contains(shown), "{run}");
    }
}

#[test]
fn handlers_are_told_not_to_run() {
    let handler = json!({ "pluginType": "writer", "pluginName": "x" });
    is_warned_about(
        &job().with("job.preHandler", handler.clone()),
        "job.preHandler is ignored: plugins have no such hooks here",
    );
    is_warned_about(&job().with("job.postHandler", handler), "job.postHandler is ignored");
    run(&job().with("job.preHandler", json!({}))).succeeds().does_not_say(["warning"]);
}

#[test]
fn what_is_encrypted_is_refused_where_it_stands() {
    let encrypted = faulty(json!({}), json!({ "*password": "AbC=" })).with("job.setting.keyVersion", "v1");
    let run = run(&encrypted).fails_with(2);
    let [error] = errors(&run)[..] else { panic!("not one error: {run}") };
    assert!(error.contains(": job.content[0].writer.parameter.*password is encrypted with DataX's key"), "{run}");
    assert!(error.contains("write \"${env:NAME}\" or \"${file:PATH}\" and keep the secret there"), "{run}");
    run.does_not_say(["AbC="]);
    is_warned_about(
        &job().with("job.setting.keyVersion", "v1"),
        "job.setting.keyVersion is ignored: nothing in the file is encrypted",
    );
    self::run(&job().with("job.setting.keyVersion", "")).succeeds().does_not_say(["warning"]);
}

#[test]
fn what_is_no_object_where_one_belongs_is_passed_over_as_in_datax() {
    for (path, value) in [
        ("job.setting.errorLimit", json!(10)),
        ("core", json!("x")),
        ("core.transport", json!([])),
        ("core.transport.channel", json!(1)),
        ("core.transport.channel.speed", json!(1)),
        ("core.container", json!(true)),
    ] {
        is_warned_about(&job().with(path, value), &format!("{path} must be an object, not "));
    }
    for (path, value) in [("job.setting", json!([])), ("job.setting.speed", json!(1_048_576))] {
        let run = run(&job().with(path, value)).succeeds();
        run.says([format!(": {path} must be an object, not ").as_str(), ": it is ignored, as in DataX\n"]);
    }
}

#[test]
fn null_is_nothing_everywhere() {
    let paths = [
        "core",
        "common",
        "job.setting",
        "job.setting.speed",
        "job.setting.errorLimit",
        "job.setting.errorLimit.record",
    ];
    for path in paths {
        let run = run(&job().with(path, json!(null))).succeeds();
        run.does_not_say([format!(": {path} ").as_str()]);
    }
}

#[test]
fn a_key_of_another_place_or_in_another_case_is_told_with_the_right_one() {
    is_warned_about(
        &job().with("job.setting.Speed", json!({ "channel": 3 })),
        "job.setting.Speed is not known here and is ignored; did you mean \"job.setting.speed\"?",
    );
    is_warned_about(
        &job().with("speed", json!({ "channel": 3 })),
        "speed is not known here and is ignored; did you mean \"job.setting.speed\"?",
    );
}

//! Bad input: job files, names, parameters and command lines that are wrong. Each is told with its place, the exit code says
//! whose fault it is, and nothing is touched.

use transship_tests::{Finished, Job, Scratch, faulty, faulty_reader, faulty_transformer, faulty_writer, json, plugin};

mod job_files;

fn run(scratch: &Scratch, job: &str) -> Finished {
    scratch.transship(["run", job]).run()
}

#[test]
fn a_job_file_that_cannot_be_read_is_named_with_the_reason() {
    let scratch = Scratch::new();
    scratch.write("file", "");
    std::fs::create_dir(scratch.path("folder")).unwrap();
    let cases = [
        ("missing.json", "cannot read the job file missing.json: No such file or directory"),
        ("folder", "cannot read the job file folder (it is a folder): Is a directory"),
        ("file/job.json", "cannot read the job file file/job.json: Not a directory"),
    ];
    for (path, message) in cases {
        let run = run(&scratch, path).fails_with(2);
        assert!(run.error().starts_with(message), "{run}");
    }
}

#[test]
fn a_byte_order_mark_is_no_error() {
    let scratch = Scratch::new();
    let job = faulty(json!({}), json!({}));
    scratch.write("job.json", format!("\u{feff}{}", job.tree()));
    run(&scratch, "job.json").succeeds();
}

#[test]
fn an_unknown_plugin_is_told_with_the_places_and_a_near_name() {
    let scratch = Scratch::new();
    scratch.job("reader.json", &Job::new(plugin("faltyreader", json!({})), faulty_writer(json!({}))));
    let run = scratch.transship(["run", "reader.json"]).plugins_in("no/such/folder").run().fails_with(3);
    run.says([
        ": job.content[0].reader: there is no reader named \"faltyreader\"; did you mean \"faultyreader\"?",
        "no/such/folder (--plugin-path, which does not exist)",
        "(beside the program)",
        "lib/transship",
    ]);

    scratch.job("writer.json", &Job::new(faulty_reader(json!({})), plugin("hbasewriter", json!({}))));
    let run = scratch.transship(["run", "writer.json"]).run().fails_with(3);
    run.says(["job.content[0].writer: there is no writer named \"hbasewriter\"; there is ", "\"faultywriter\""]);
    assert_eq!((scratch.calls("reader prepare"), scratch.calls("writer prepare")), (0, 0), "something was touched");
}

#[test]
fn a_reader_is_no_writer() {
    let scratch = Scratch::new();
    scratch.job("job.json", &Job::new(faulty_reader(json!({})), plugin("faultyreader", json!({}))));
    let run = run(&scratch, "job.json").fails_with(3);
    run.says(["job.content[0].writer: there is no writer named \"faultyreader\""]);
}

#[test]
fn an_unknown_transformer_is_told_with_its_number() {
    let scratch = Scratch::new();
    let job = faulty(json!({}), json!({}));
    let job = job.transformer(faulty_transformer(json!({}))).transformer(plugin("faultytransformr", json!({})));
    scratch.job("job.json", &job);
    let run = run(&scratch, "job.json").fails_with(3);
    run.says(["job.content[0].transformer[1]: there is no transformer named", "did you mean \"faultytransformer\"?"]);
    assert_eq!((scratch.calls("reader prepare"), scratch.calls("writer prepare")), (0, 0), "{run}");
}

#[test]
fn a_wrong_parameter_is_told_with_its_path() {
    let cases = [
        (
            faulty(json!({ "records": "many" }), json!({})),
            "reader.parameter.records must be a whole number from 0 on, not \"many\"",
        ),
        (
            faulty(json!({ "records": -1 }), json!({})),
            "reader.parameter.records must be a whole number from 0 on, not -1",
        ),
        (
            faulty(json!({ "idle": "perhaps" }), json!({})),
            "reader.parameter.idle must be true or false, not \"perhaps\"",
        ),
        (faulty(json!({ "fail": [{ "how": "panic" }] }), json!({})), "reader.parameter.fail[0].at is required"),
        (
            faulty(json!({}), json!({ "commit": "soon" })),
            "writer.parameter.commit is \"soon\", but must be \"atomic\", \"task\" or \"append\"",
        ),
        (faulty(json!({}), json!({ "target": ["a"] })), "writer.parameter.target must be a string, not a list"),
    ];
    for (job, message) in cases {
        let scratch = Scratch::new();
        scratch.job("job.json", &job);
        let run = run(&scratch, "job.json").fails_with(2);
        run.says([format!(": job.content[0].{message}").as_str()]);
        assert_eq!((scratch.calls("reader prepare"), scratch.calls("writer prepare")), (0, 0), "{run}");
    }
}

#[test]
fn an_unknown_column_is_told_before_anything_is_written() {
    let scratch = Scratch::new();
    let database = rusqlite::Connection::open(scratch.path("t.db")).unwrap();
    database.execute_batch("create table t (id integer, name text); insert into t values (1, 'ann')").unwrap();
    let cases = [
        (
            plugin("sqlitereader", json!({ "path": "t.db", "table": "t", "column": ["id", "nmae"] })),
            faulty_writer(json!({})),
        ),
        (
            faulty_reader(json!({})),
            plugin("sqlitewriter", json!({ "path": "t.db", "table": "t", "column": ["id", "nmae"] })),
        ),
    ];
    for (reader, writer) in cases {
        scratch.job("job.json", &Job::new(reader, writer));
        let run = run(&scratch, "job.json").fails_with(1);
        assert!(run.error().contains("nmae") && run.error().contains("did you mean \"name\"?"), "{run}");
        assert!(!scratch.path("out").exists(), "{run}");
        let rows: i64 = database.query_row("select count(*) from t", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1, "{run}");
    }
}

#[test]
fn a_misspelt_parameter_is_warned_about_and_ignored() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "recrods": 7 }), json!({ "Target": "elsewhere" }))
        .transformer(faulty_transformer(json!({ "colour": 1 })));
    scratch.job("job.json", &job);
    let run = run(&scratch, "job.json").succeeds();
    run.says([
        "job.content[0].reader.parameter.recrods is not known here and is ignored; did you mean \"records\"?\n",
        "job.content[0].writer.parameter.Target is not known here and is ignored; did you mean \"target\"?\n",
        "job.content[0].transformer[0].parameter.colour is not known and is ignored\n",
    ]);
    assert_eq!(scratch.ids().len(), 100);
}

#[test]
fn a_misspelt_setting_is_warned_about_and_ignored() {
    let cases = [
        ("job.setting.speed.chanel", "job.setting.speed.channel"),
        ("job.setting.errorLimit.recrod", "job.setting.errorLimit.record"),
        ("job.seting", "job.setting"),
        ("core.transport.channel.capcity", "core.transport.channel.capacity"),
        ("core.container.task.failOver.maxRetryTime", "core.container.task.failOver.maxRetryTimes"),
    ];
    for (path, meant) in cases {
        let scratch = Scratch::new();
        scratch.job("job.json", &faulty(json!({}), json!({})).with(path, 3));
        let run = run(&scratch, "job.json").succeeds();
        run.says([format!("{path} is not known here and is ignored; did you mean \"{meant}\"?\n").as_str()]);
    }
}

#[test]
fn a_job_without_a_mistake_warns_of_nothing() {
    let scratch = Scratch::new();
    let job = faulty(json!({}), json!({}))
        .with("job.setting.errorLimit.record", 0)
        .with("job.setting.errorLimit.percentage", 0.02)
        .with("core.transport.channel.capacity", 512)
        .with("core.transport.channel.byteCapacity", 67_108_864)
        .with("core.container.task.failOver.maxRetryTimes", 1)
        .with("core.container.task.failOver.retryIntervalInMsec", 100);
    scratch.job("job.json", &job);
    run(&scratch, "job.json").succeeds().does_not_say(["warn", "is not known"]);
}

#[test]
fn of_several_jobs_the_first_failure_gives_the_exit_code_and_the_others_run() {
    let scratch = Scratch::new();
    scratch.job("good.json", &faulty(json!({}), json!({ "target": "good.out" })));
    scratch.job("unknown.json", &Job::new(plugin("nosuchreader", json!({})), faulty_writer(json!({}))));
    scratch.job("failing.json", &faulty(json!({ "fail": { "at": "next", "how": "error:io" } }), json!({})));
    scratch.job("last.json", &faulty(json!({}), json!({ "target": "last.out" })));
    scratch.write("broken.json", "{");
    let cases: [(&[&str], i32); 3] = [
        (&["good.json", "broken.json", "unknown.json", "failing.json", "last.json"], 2),
        (&["unknown.json", "good.json", "failing.json", "last.json"], 3),
        (&["failing.json", "unknown.json", "good.json", "last.json"], 1),
    ];
    for (jobs, code) in cases {
        let run = scratch.transship(["run", "--json"].iter().chain(jobs)).run().fails_with(code);
        assert_eq!(scratch.lines("good.out").len(), 100, "{run}");
        assert_eq!(scratch.lines("last.out").len(), 100, "{run}");
        assert_eq!(run.summaries().len(), 3, "those that began have a summary: {run}");
        for name in ["good.out", "last.out"] {
            std::fs::remove_file(scratch.path(name)).unwrap();
        }
    }
}

#[test]
fn what_is_left_out_of_the_content_is_named() {
    let scratch = Scratch::new();
    let mut tree = faulty(json!({}), json!({})).tree().clone();
    let other = faulty(json!({}), json!({ "target": "other.out" })).tree()["job"]["content"][0].clone();
    tree["job"]["content"].as_array_mut().unwrap().push(other);
    scratch.write("job.json", tree.to_string());
    let run = run(&scratch, "job.json").succeeds();
    run.says(["warning: job.json:1:", ": job.content has 2 entries: only the first runs"]);
    assert!(!scratch.path("other.out").exists());
}

#[test]
fn a_wrong_command_line_is_explained() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    let cases: [(&[&str], &str); 6] = [
        (&["run"], "JOB.json"),
        (&["run", "job.json", "--no-such-option"], "--no-such-option"),
        (&["run", "job.json", "--memory", "much"], "such as 64M"),
        (&["run", "job.json", "--memory", "0"], "must be more than 0"),
        (&["walk", "job.json"], "walk"),
        (&["run", "job.json", "--perf", "no/such/folder/perf.jsonl"], "cannot write no/such/folder/perf.jsonl"),
    ];
    for (arguments, message) in cases {
        let run = scratch.transship(arguments.iter()).run().ends_with(2);
        run.says([message]);
        assert!(!scratch.path("out").exists(), "{run}");
    }
    let run = scratch.transship(["plugins", "faultyreadr"]).run().fails_with(3);
    run.says(["there is no plugin named \"faultyreadr\"; did you mean \"faultyreader\"?"]);
}

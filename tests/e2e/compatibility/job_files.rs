//! Traps of the job file: how many tasks it makes, which of its entries run, what is put into its text, what is taken for JSON,
//! and what is passed over.

use transship_tests::records::number;
use transship_tests::{Job, Scratch, Value, json, plugin};

use super::{constants, file, printed, printer, run, run_text, sorted};

/// The plan of a job from streamreader, whose `speed` and whose channels' `speed` are these.
fn plan(speed: &Value, each_channel: &Value) -> Value {
    let scratch = Scratch::new();
    let job = Job::new(constants(1, json!([{ "value": "x" }])), printer())
        .with("job.setting.speed", speed.clone())
        .with("core.transport.channel.speed", each_channel.clone());
    scratch.job("job.json", &job);
    let run = scratch.transship(["plan", "job.json", "--json"]).run().succeeds();
    serde_json::from_str(&run.stdout).unwrap()
}

/// Trap 1.
#[test]
fn limits_decide_the_channels_before_their_number_does_and_streamreader_makes_a_task_for_each() {
    for (speed, each_channel, channels) in [
        (json!({ "channel": 3 }), json!({}), 3),
        (json!({ "channel": 3, "byte": 4096 }), json!({ "byte": 1024 }), 4),
        (json!({ "channel": 9, "byte": 4096, "record": 500 }), json!({ "byte": 1024, "record": 100 }), 4),
        (json!({ "byte": 8192, "record": 500 }), json!({ "byte": 1024, "record": 100 }), 5),
        (json!({ "byte": 100 }), json!({ "byte": 1024 }), 1),
        (json!({ "channel": 2, "byte": -1 }), json!({ "byte": 1024 }), 2),
        (json!({ "channel": 2, "byte": 0, "record": 500 }), json!({ "byte": 1024, "record": 100 }), 5),
    ] {
        let plan = plan(&speed, &each_channel);
        assert_eq!(number(&plan, "/plan/channels"), channels, "{speed} {each_channel}");
        assert_eq!(plan["tasks"].as_array().unwrap().len() as u64, channels, "{speed} {each_channel}");
    }
}

/// Trap 1.
#[test]
fn a_limit_without_one_for_each_channel_is_shared_and_a_job_without_speed_runs() {
    // DataX refuses these: its own defaults leave the limit of a channel at -1, and one of the three keys must be there.
    for (speed, each_channel) in [
        (json!({ "channel": 3, "byte": 4096 }), json!({})),
        (json!({ "channel": 3, "byte": 4096 }), json!({ "byte": -1 })),
    ] {
        let plan = plan(&speed, &each_channel);
        assert_eq!((number(&plan, "/plan/channels"), number(&plan, "/plan/bytes_per_second")), (3, 4096));
        assert_eq!(plan["plan"]["notes"][0], "the limit in job.setting.speed is shared by the job's 3 channels");
    }
    for speed in [json!({}), json!(null), json!({ "channel": 0 }), json!({ "channel": -1, "byte": -1, "record": -1 })] {
        let plan = plan(&speed, &json!({}));
        assert!(number(&plan, "/plan/channels") > 0, "{speed}");
        let note = plan["plan"]["notes"][0].as_str().unwrap().to_string();
        assert!(note.starts_with("job.setting.speed.channel is not set, or not above 0: "), "{speed}: {note}");
    }
}

/// Trap 2.
#[test]
fn a_limit_is_that_of_the_whole_job_whatever_the_channels_make_of_it() {
    // Three channels of 3000 would be 9000, and one of 1024 more than the 100 that were wanted.
    for (total, each_channel, channels) in [(10_000, 3_000, 3), (100, 1_024, 1)] {
        let plan = plan(&json!({ "byte": total }), &json!({ "byte": each_channel }));
        assert_eq!((number(&plan, "/plan/channels"), number(&plan, "/plan/bytes_per_second")), (channels, total));
    }
}

/// Trap 3.
#[test]
fn bytes_are_those_that_a_record_takes_and_not_its_utf_16_units() {
    let bytes = |value: &str| {
        let scratch = Scratch::new();
        scratch.write("in.txt", format!("{value}\n").repeat(100));
        let writer = plugin("streamwriter", json!({ "print": false }));
        number(&scratch.run(&Job::new(file("in.txt", &["string"]), writer)).succeeds().summary(), "/counts/read_bytes")
    };
    // Three UTF-16 units each time, as three, six and nine bytes.
    assert_eq!(bytes("ééé") - bytes("eee"), 300);
    assert_eq!(bytes("汉汉汉") - bytes("eee"), 600);
}

/// Two entries, which write to `first.txt` and `second.txt`.
fn two_entries() -> Value {
    let entry = |name: &str| {
        let writer = plugin("streamwriter", json!({ "path": "out", "fileName": format!("{name}.txt") }));
        json!({ "reader": constants(1, json!([{ "value": name }])), "writer": writer })
    };
    json!({ "job": { "content": [entry("first"), entry("second")], "setting": { "speed": { "channel": 1 } } } })
}

/// Trap 4.
#[test]
fn the_entries_behind_the_first_run_only_if_they_are_asked_for() {
    let ran = |setting: Value, options: &[&str]| {
        let scratch = Scratch::new();
        let mut job = two_entries();
        job["job"]["setting"]["contents"] = setting;
        let run = run_text(&scratch, &job.to_string(), options).succeeds();
        let files: Vec<String> = scratch.files().into_iter().filter(|name| name != "job.json").collect();
        (files, run.stderr.contains("job.content has 2 entries: only the first runs, as in DataX"))
    };
    let first = vec!["out/first.txt".to_string()];
    let both = vec!["out/first.txt".to_string(), "out/second.txt".to_string()];
    assert_eq!(ran(json!(null), &[]), (first, true));
    assert_eq!(ran(json!("all"), &[]), (both.clone(), false));
    assert_eq!(ran(json!(null), &["--all-contents"]), (both, false));
}

/// Trap 4.
#[test]
fn an_entry_that_does_not_run_may_look_as_it_likes() {
    let scratch = Scratch::new();
    let mut job = two_entries();
    job["job"]["content"][1] = json!({ "reader": { "name": "nosuchreader" } });
    run_text(&scratch, &job.to_string(), &[]).succeeds();
    run_text(&scratch, &job.to_string(), &["--all-contents"]).fails_with(2);
}

/// A job file that prints what this JSON of a column makes.
fn with_column(column: &str) -> String {
    let reader = format!(r#"{{"name": "streamreader", "parameter": {{"sliceRecordCount": 1, "column": {column}}}}}"#);
    with_reader(&reader, "")
}

fn with_reader(reader: &str, more: &str) -> String {
    format!(
        r#"{{"job": {{"setting": {{"speed": {{"channel": 1}}}}, {more}
            "content": [{{"reader": {reader}, "writer": {{"name": "streamwriter", "parameter": {{}}}}}}]}}}}"#
    )
}

/// Trap 5.
#[test]
fn what_looks_like_a_variable_and_has_no_value_stays_as_it_is() {
    let scratch = Scratch::new();
    let text = r#"^(a|b)$ $1 ${dt} $$ {$gt: 5} pa$word $ ${ x } \\$"#;
    let job = with_column(&format!(r#"[{{"value": "{text}"}}, {{"value": "$day"}}]"#));
    let run = run_text(&scratch, &job, &["-D", "day=2026-11-30"]).succeeds();
    assert_eq!(run.stdout, format!("{}\t2026-11-30\n", text.replace("\\\\", "\\")));
    run.says(["the variable ${dt} is not set and stays as it is written; -D dt=… sets it"]);
    run.does_not_say(["$1 is not set"]);
}

/// Trap 5.
#[test]
fn a_variable_may_be_a_piece_of_json_and_hold_other_variables() {
    let scratch = Scratch::new();
    let columns = r#"cols={"value": "$dt"}, {"value": "${dt}x"}"#;
    for options in [["-D", columns, "-D", "dt=1"], ["-D", "dt=1", "-D", columns]] {
        assert_eq!(run_text(&scratch, &with_column("[${cols}]"), &options).succeeds().stdout, "1\t1x\n");
    }
    // A name is taken as long as it is: DataX may put the value of $dt into $dt_x.
    let job = with_column(r#"[{"value": "$dt $dt_x"}]"#);
    for params in ["-Ddt=1 -Ddt_x=2", "-Ddt_x=2 -Ddt=1"] {
        assert_eq!(run_text(&scratch, &job, &["-p", params]).succeeds().stdout, "1 2\n");
    }
}

/// Trap 6.
#[test]
fn variables_in_comments_do_no_harm() {
    let scratch = Scratch::new();
    let job = format!(
        "// $dt ${{note}} $unset\n{}",
        with_column(
            r#"/* ${note} $1 */ [{"value": "x"}] # ${unset}
            "#
        )
    );
    let run = run_text(&scratch, &job, &["-D", "dt=1", "-D", r#"note=say "hi" }, '"#]).succeeds();
    assert_eq!(run.stdout, "x\n");
    run.does_not_say(["is not set"]);
}

/// Trap 6.
#[test]
fn a_value_that_breaks_the_text_is_named_and_one_from_a_file_cannot() {
    let scratch = Scratch::new();
    let note = "say \"hi\",\nor nothing";
    let reader = constants(1, json!([{ "value": "x" }])).to_string();
    let job = with_reader(&reader, r#""description": "${note}","#);
    let run = run_text(&scratch, &job, &["-D", &format!("note={note}")]).fails_with(2);
    run.says(["error: job.json:1:", " (in the value of ${note}): the job file is not JSON"]);
    scratch.write("note.txt", note);
    let run = run_text(&scratch, &with_column(r#"[{"value": "${file:note.txt}"}]"#), &[]).succeeds();
    assert_eq!(run.stdout, format!("{note}\n"));
}

/// Trap 7.
#[test]
fn a_file_is_read_as_people_have_written_it() {
    let scratch = Scratch::new();
    let text = "\u{feff}// by hand\r\n{'job': { # the job\r\n  setting: {speed: {channel: +1,}, 'errorLimit': {'record': 007}},\r\n  \
        /* what\r\n     runs */\r\n  \"content\": [{\r\n    reader: {name: 'streamreader', parameter: {sliceRecordCount: 1L\r\n      \
        \"column\": [{value: \"select a,\r\n\tb // no comment\"}, {value: 'it\\'s \\x41'},],}}, // and out\r\n    \
        writer: {name: 'streamwriter', parameter: {fieldDelimiter: '\t'}}},]}}\r\n";
    let run = run_text(&scratch, text, &[]).succeeds();
    assert_eq!(run.stdout, "select a,\r\n\tb // no comment\tit's A\n");
}

/// Trap 8.
#[test]
fn null_is_absent_the_last_of_two_keys_counts_and_numbers_may_be_texts() {
    let scratch = Scratch::new();
    let reader = r#"{"name": "streamreader", "parameter": {"sliceRecordCount": 5, "sliceRecordCount": "2", "seed": null,
        "column": [{"value": "x", "type": null}]}}"#;
    let run = run_text(&scratch, &with_reader(reader, r#""preHandler": null,"#), &[]).succeeds();
    assert_eq!(run.stdout, "x\nx\n");
    run.says(["sliceRecordCount"]);
}

/// Trap 8.
#[test]
fn what_is_only_nearly_a_number_or_a_truth_is_refused() {
    for (count, print, said) in [
        ("3.0", "true", "sliceRecordCount must be a whole number from 0 on, not 3.0 (write 3)"),
        ("' 3'", "true", "sliceRecordCount must be a whole number from 0 on, not \" 3\" (write 3)"),
        ("3", "1", "print must be true or false, not 1 (write true)"),
    ] {
        let scratch = Scratch::new();
        let text = format!(
            "{{job: {{setting: {{speed: {{channel: 1}}}}, content: [{{reader: {{name: 'streamreader', parameter: {{\
             sliceRecordCount: {count}, column: [{{value: 'x'}}]}}}}, writer: {{name: 'streamwriter', parameter: {{print: {print}}}}}}}]}}}}"
        );
        let run = run_text(&scratch, &text, &[]).fails_with(2);
        assert!(run.error().contains(said), "{run}");
    }
}

/// Trap 9.
#[test]
fn an_empty_list_of_extra_formats_changes_nothing() {
    let read = |extra: Value| {
        let scratch = Scratch::new();
        scratch.write("in.txt", "20240203\n2024.02.04\n");
        let job = Job::new(file("in.txt", &["date"]), printer()).with("common.column.extraFormats", extra);
        sorted(&run(&scratch, &job).succeeds())
    };
    let (third, fourth) = ("2024-02-03 00:00:00", "2024-02-04 00:00:00");
    assert_eq!(read(json!(null)), [third]);
    assert_eq!(read(json!([])), [third]);
    assert_eq!(read(json!(["yyyy.MM.dd"])), [fourth]);
    assert_eq!(read(json!(["yyyy.MM.dd", "yyyyMMdd"])), [third, fourth]);
}

/// Trap 10.
#[test]
fn keys_that_nobody_knows_do_not_stop_a_job() {
    let mut reader = constants(1, json!([{ "value": "x", "comment": "a letter" }]));
    reader["parameter"]["//"] = json!("by hand");
    reader["splitFactor"] = json!(5);
    let writer = plugin("streamwriter", json!({ "encoding": "UTF-8", "prnt": false }));
    let job = Job::new(reader, writer)
        .with("job.setting.restore", json!({ "isRestore": false }))
        .with("job.setting.speed.chanel", 7)
        .with("setting", json!({}));
    assert_eq!(printed(&job), ["x"]);
    let scratch = Scratch::new();
    run(&scratch, &job).says([
        "job.content[0].writer.parameter.prnt is not known",
        "did you mean \"print\"?",
        "job.setting.speed.chanel is not known",
        "did you mean \"job.setting.speed.channel\"?",
    ]);
}

//! `${env:NAME}` and `${file:PATH}`: values from elsewhere, which are secrets.

use transship_tests::{Finished, Job, Scratch, Transship, Value, faulty, faulty_writer, json, plugin};

use super::{echo, errors, printing};

#[test]
fn what_is_fetched_is_put_in_as_it_is() {
    let scratch = Scratch::new();
    scratch.write("job.json", printing(r#""<${env:FIRST}|${file:dir/it's}>""#));
    scratch.write("dir/it's", "c:\\d\"'\u{1}$x ${env:FIRST}\r\n");
    let value = "a\"b\\n'c${dt}\nd";
    let run = scratch.transship(["run", "job.json", "-D", "x=1", "-D", "dt=1"]).env("FIRST", value).run().succeeds();
    assert_eq!(run.stdout, format!("<{value}|c:\\d\"'\u{1}$x ${{env:FIRST}}>\n"));
    run.does_not_say(["warning: "]);
}

#[test]
fn of_a_file_only_the_last_line_end_is_left_out() {
    let scratch = Scratch::new();
    for (content, value) in [("x\n\n", "x\n"), ("x", "x"), ("", ""), ("\n", ""), (" x \r\n", " x ")] {
        scratch.write("secret", content);
        let run = echo(&scratch, r#""<${file:secret}>""#, &[]).succeeds();
        assert_eq!(run.stdout, format!("<{value}>\n"));
    }
}

#[test]
fn a_path_may_come_from_a_variable() {
    let scratch = Scratch::new();
    scratch.write("prod/secret", "here");
    assert_eq!(echo(&scratch, r#""${file:$stage/secret}""#, &["-D", "stage=prod"]).succeeds().stdout, "here\n");
}

#[test]
fn a_number_or_a_boolean_may_be_fetched_without_quotes() {
    let scratch = Scratch::new();
    scratch.write("count", "2\n");
    let job = printing("true").replace("\"sliceRecordCount\": 1", "\"sliceRecordCount\": ${file:count}");
    scratch.write(
        "job.json",
        job.replace("\"streamwriter\"", r#""streamwriter", "parameter": { "print": ${env:PRINT} }"#),
    );
    let run = scratch.transship(["run", "job.json"]).env("PRINT", "true").run().succeeds();
    assert_eq!(run.stdout, "true\ntrue\n");
    let run = scratch.transship(["run", "job.json"]).env("PRINT", "perhaps-7391").run().fails_with(2);
    run.says(["job.json:7:", "put double quotes around ${…}"]);
    run.does_not_say(["perhaps-7391"]);
}

#[test]
fn a_number_without_quotes_is_no_secret() {
    let scratch = Scratch::new();
    let mut job = printing("1").replace("\"sliceRecordCount\": 1", "\"sliceRecordCount\": ${env:N}");
    job = job.replace("\"streamwriter\"", r#""streamwriter", "parameter": { "print": false }"#);
    scratch.write("job.json", job);
    let run = scratch.transship(["run", "job.json"]).env("N", "300").run().succeeds();
    run.says(["300 "]);
    run.does_not_say(["***"]);
}

#[test]
fn a_short_secret_is_masked_where_it_is_no_part_of_a_word_or_number() {
    for (secret, said, shown) in [
        ("7", "pin 7, 70 at 7:30, user:7@h", "pin ***, 70 at 7:30, user:***@h"),
        ("pw", "'pw' dir_pw/x pwd", "'***' dir_***/x pwd"),
        ("4711", "4711 of 14711, dir4711.5", "*** of 14711, dir***.5"),
    ] {
        let scratch = Scratch::new();
        let reader = json!({ "label": "${env:SHORT}", "fail": { "at": "next", "how": "error:io", "message": said } });
        scratch.job("job.json", &faulty(reader, json!({})));
        let run = scratch.transship(["run", "job.json"]).env("SHORT", secret).run().fails_with(1);
        run.says([shown]);
        run.does_not_say([said]);
    }
}

#[test]
fn what_is_fetched_is_masked_in_the_source_of_a_dirty_record_and_not_in_the_record() {
    let scratch = Scratch::new();
    scratch.write("dir_canary-7391/a.csv", "1,canary-7391\nx,canary-7391\n");
    let columns = json!([{ "index": 0, "type": "long" }, { "index": 1, "type": "string" }]);
    let path = "dir_${env:TOK}/a.csv";
    let reader = plugin("txtfilereader", json!({ "path": path, "fieldDelimiter": ",", "column": columns }));
    scratch.job("job.json", &Job::new(reader, faulty_writer(json!({}))));
    let run =
        scratch.transship(["run", "job.json", "--dirty", "dirty.jsonl"]).env("TOK", "canary-7391").run().succeeds();
    let line: Value = serde_json::from_str(&scratch.read("dirty.jsonl")).unwrap();
    let file = line["source"]["file"].as_str().unwrap();
    assert!(file.ends_with("dir_***/a.csv"), "{line}");
    assert_eq!(line["source"]["line"], 2, "{line}");
    let mut said = line.clone();
    for data in ["record", "value"] {
        said.as_object_mut().unwrap().remove(data);
    }
    assert!(!said.to_string().contains("canary"), "{line}");
    assert!(line["record"].to_string().contains("canary-7391"), "the record is data: {line}");
    assert!(!run.stderr.contains("canary"), "{run}");
}

#[test]
fn one_that_cannot_be_had_refuses_the_file_with_its_place() {
    let cases = [
        (r#""${env:TRANSSHIP_TEST_NOBODY}""#, 19, "the environment variable TRANSSHIP_TEST_NOBODY is not set"),
        ("${env:TRANSSHIP_TEST_NOBODY}", 18, "the environment variable TRANSSHIP_TEST_NOBODY is not set"),
        (r#""x${file:no/such/file}""#, 20, "cannot read the file no/such/file: No such file or directory"),
        (r#""${file:.}""#, 19, "cannot read the file .: Is a directory"),
        (r#""${env:}""#, 19, "write ${env:NAME}"),
    ];
    for (value, column, message) in cases {
        let scratch = Scratch::new();
        for command in ["run", "check", "plan"] {
            scratch.write("job.json", printing(value));
            let run = scratch.transship([command, "job.json"]).run().fails_with(2);
            let error = errors(&run)[0];
            assert!(error.starts_with(&format!("job.json:5:{column}: ")) && error.contains(message), "{value}: {run}");
        }
    }
}

#[test]
fn a_comment_fetches_nothing() {
    let scratch = Scratch::new();
    assert_eq!(echo(&scratch, "1 // ${env:TRANSSHIP_TEST_NOBODY}\n", &[]).succeeds().stdout, "1\n");
}

/// Values that occur nowhere else: plain, with what JSON and Rust escape, of several lines, beyond ASCII, a number.
const SECRETS: [&str; 5] =
    ["canary-7391", "canary \"7391\" \\quoted", "canary\n7391\tlines", "kanári-7391-ő", "739173917391"];
/// The environment variables or files that hold them.
const NAMES: [&str; 5] = ["${env:PLAIN}", "${env:ESCAPED}", "${file:lines}", "${file:letters}", "${env:NUMBER}"];

fn with_secrets(scratch: &Scratch, transship: Transship) -> Finished {
    scratch.write("lines", format!("{}\n", SECRETS[2]));
    scratch.write("letters", SECRETS[3]);
    let transship = transship.env("PLAIN", SECRETS[0]).env("ESCAPED", SECRETS[1]).env("NUMBER", SECRETS[4]);
    transship.env("TRANSSHIP_LOG", "trace").run()
}

/// None of them is in a text, neither as it is nor as JSON or Rust would write it.
#[track_caller]
fn is_clean(what: &str, text: &str) {
    for secret in SECRETS {
        let (json, debug) = (Value::from(secret).to_string(), format!("{secret:?}"));
        for form in [secret, json.trim_matches('"'), debug.trim_matches('"')] {
            assert!(!text.contains(form), "{form} is in {what}:\n{text}");
        }
    }
}

#[track_caller]
fn leaves_no_secret(scratch: &Scratch, run: &Finished) {
    is_clean("stdout", &run.stdout);
    is_clean("stderr", &run.stderr);
    let kept = ["job.json", "journal", "lines", "letters"];
    for name in scratch.files().iter().filter(|name| !kept.contains(&name.as_str())) {
        is_clean(name, &scratch.read(name));
    }
}

/// A job whose plugins say all they know, under keys that no one would take for secrets.
fn talkative(fail: Option<(&str, &str)>) -> Job {
    let gossip = NAMES.join(" | ");
    let mut reader = json!({ "log": gossip, "label": gossip, "cause": gossip, "dirtyEvery": 10 });
    let mut writer = json!({ "log": gossip, "plan": [gossip] });
    if let Some((at, how)) = fail {
        let fault = json!({ "at": at, "how": how, "message": gossip });
        reader["fail"] = fault.clone();
        writer["fail"] = fault;
    }
    faulty(reader, writer)
}

#[test]
fn what_is_fetched_is_printed_nowhere_whatever_becomes_of_the_job() {
    let faults = [
        None,
        Some(("init", "error:config")),
        Some(("next", "error:io")),
        Some(("write", "panic")),
        Some(("commit", "error:io")),
    ];
    for fault in faults {
        let scratch = Scratch::new();
        scratch.job("job.json", &talkative(fault));
        let arguments = ["run", "job.json", "--json", "--perf", "perf.jsonl", "--dirty", "dirty.jsonl"];
        let run = with_secrets(&scratch, scratch.transship(arguments));
        assert_eq!(run.code() == Some(0), fault.is_none(), "{run}");
        assert!(run.stderr.contains("***"), "the plugins were to talk: {run}");
        leaves_no_secret(&scratch, &run);
    }
}

#[test]
fn what_is_fetched_is_printed_neither_by_plan_nor_by_check() {
    let scratch = Scratch::new();
    scratch.job("job.json", &talkative(None));
    for arguments in [&["plan", "job.json"][..], &["plan", "job.json", "--json"], &["check", "job.json"]] {
        let run = with_secrets(&scratch, scratch.transship(arguments.iter())).succeeds();
        leaves_no_secret(&scratch, &run);
    }
    let plan = with_secrets(&scratch, scratch.transship(["plan", "job.json"]));
    assert!(plan.stdout.contains("*** | *** | *** | *** | ***"), "what is left out is seen to be: {plan}");
}

#[test]
fn what_is_fetched_is_not_quoted_by_the_error_that_it_causes() {
    for name in NAMES {
        let job = || faulty(json!({}), json!({}));
        let filter = plugin("dx_filter", json!({ "columnIndex": 0, "paras": [name, "1"] }));
        let wrong = [
            faulty(json!({ "idle": name }), json!({ "commit": name })),
            faulty(json!({ "mark": name }), json!({ "lie": format!("x{name}") })),
            job().with("job.setting.speed.channel", format!("{name}.5")),
            job().with("job.setting.errorLimit.percentage", name),
            Job::new(plugin(name, json!({})), faulty_writer(json!({}))),
            job().transformer(filter),
        ];
        for job in wrong {
            let scratch = Scratch::new();
            scratch.job("job.json", &job);
            let run = with_secrets(&scratch, scratch.transship(["run", "job.json"]));
            assert!([Some(2), Some(3)].contains(&run.code()), "{name}: {run}");
            assert!(run.stderr.contains("***"), "it was to be quoted: {run}");
            leaves_no_secret(&scratch, &run);
        }
    }
}

#[test]
fn a_file_that_is_broken_behind_a_secret_is_shown_without_it() {
    let scratch = Scratch::new();
    scratch.write("job.json", printing(r#""${env:PLAIN}${file:lines}" x"#));
    let run = with_secrets(&scratch, scratch.transship(["run", "job.json"])).fails_with(2);
    run.says(["${env:PLAIN}${file:lines}"]);
    leaves_no_secret(&scratch, &run);
}

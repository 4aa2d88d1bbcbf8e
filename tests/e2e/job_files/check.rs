//! `transship check`: everything that is wrong with job files at once, and nothing touched.

use transship_tests::{Job, Scratch, faulty, faulty_writer, json, plugin};

use super::{errors, printing, warnings};

const WRONG: &str = r#"{
  "core": { "transport": { "channel": { "capacity": "x" } } },
  "job": {
    "setting": {
      "speed": { "channel": "many", "byte": "" },
      "errorLimit": { "percentage": 7 },
      "contents": "most"
    },
    "content": [{
      "transformer": [
        { "name": "dx_pad", "parameter": { "columnIndex": 0, "paras": ["right", "8", "0"] } },
        { "name": "dx_groovy", "parameter": { "code": "" } },
        { "name": "dx_substring", "parameter": {} }
      ],
      "reader": {
        "name": "txtfilereader",
        "parameter": {
          "encoding": "klingon",
          "column": [{ "index": "first", "type": "long" }]
        }
      },
      "writer": {
        "name": "txtfilewriter",
        "parameter": { "path": "out", "writeMode": "overwrite" }
      }
    }]
  }
}"#;

#[test]
fn everything_that_is_wrong_with_a_file_is_told_at_once_with_its_place() {
    let scratch = Scratch::new();
    scratch.write("job.json", WRONG);
    let run = scratch.transship(["check", "job.json"]).run().fails_with(2);
    let places = [
        ("2:41", "core.transport.channel.capacity must be a whole number, not \"x\""),
        ("5:18", "job.setting.speed.channel must be a whole number, not \"many\""),
        ("5:37", "job.setting.speed.byte is empty"),
        ("6:23", "job.setting.errorLimit.percentage is 7, but must lie between 0 and 1"),
        ("7:7", "job.setting.contents is \"most\", but must be \"all\" or \"first\""),
        ("11:72", "job.content[0].transformer[0].parameter.paras[0] must be \"l\" or \"r\", not \"right\""),
        ("12:9", "job.content[0].transformer[1]: dx_groovy runs Groovy code"),
        ("13:9", "job.content[0].transformer[2]: there is no transformer named \"dx_substring\""),
        ("17:9", "job.content[0].reader.parameter.path is required"),
        ("19:24", "job.content[0].reader.parameter.column[0].index must be a whole number"),
        ("24:9", "job.content[0].writer.parameter.fileName is required"),
        ("24:39", "job.content[0].writer.parameter.writeMode "),
    ];
    for (place, problem) in places {
        let line = format!("job.json:{place}: {problem}");
        assert!(errors(&run).iter().any(|error| error.starts_with(&line)), "not `{line}`: {}", run.stderr);
    }
    assert_eq!(errors(&run).len(), places.len(), "{}", run.stderr);
    assert_eq!(run.stdout, format!("job.json: {} errors\n", places.len()));
    assert_eq!(scratch.files(), ["job.json"]);
}

#[test]
fn run_and_plan_tell_the_same() {
    let scratch = Scratch::new();
    scratch.write("job.json", WRONG);
    let told = scratch.transship(["check", "job.json"]).run().stderr;
    for command in ["run", "plan"] {
        let run = scratch.transship([command, "job.json"]).run().fails_with(2);
        assert_eq!((run.stderr.as_str(), run.stdout.as_str()), (told.as_str(), ""));
    }
}

#[test]
fn several_files_are_checked_and_the_first_that_is_wrong_gives_the_exit_code() {
    let scratch = Scratch::new();
    scratch.write("good.json", printing("1"));
    scratch.write("broken.json", printing("x"));
    scratch.job("missing.json", &Job::new(plugin("nosuchreader", json!({})), faulty_writer(json!({}))));
    scratch.write("refused.json", "{}");
    let cases: [(&[&str], i32, &str); 4] = [
        (&["good.json", "good.json"], 0, "good.json: no error found\ngood.json: no error found\n"),
        (
            &["good.json", "broken.json", "missing.json"],
            2,
            "good.json: no error found\nbroken.json: 1 error\nmissing.json: 1 error\n",
        ),
        (
            &["missing.json", "refused.json", "good.json"],
            3,
            "missing.json: 1 error\nrefused.json: 1 error\ngood.json: no error found\n",
        ),
        (&["no/such.json", "good.json"], 2, "no/such.json: 1 error\ngood.json: no error found\n"),
    ];
    for (names, code, verdicts) in cases {
        let run = scratch.transship(["check"].iter().chain(names)).run().ends_with(code);
        assert_eq!(run.stdout, verdicts);
    }
}

#[test]
fn a_plugin_that_is_missing_beside_a_mistake_is_a_refused_file() {
    let scratch = Scratch::new();
    let job = Job::new(plugin("nosuchreader", json!({})), faulty_writer(json!({})));
    scratch.job("job.json", &job);
    scratch.transship(["check", "job.json"]).run().fails_with(3);
    scratch.job("job.json", &job.with("job.setting.speed.channel", "x"));
    let run = scratch.transship(["check", "job.json"]).run().fails_with(2);
    assert_eq!(errors(&run).len(), 2, "{run}");
}

#[test]
fn nothing_is_opened_made_or_called_behind_init() {
    let scratch = Scratch::new();
    scratch.job("calls.json", &faulty(json!({}), json!({ "journal": "journal" })));
    let to_file = plugin("txtfilewriter", json!({ "path": "out/deep", "fileName": "a", "writeMode": "truncate" }));
    scratch.job("absent.json", &Job::new(plugin("txtfilereader", json!({ "path": "no/such.csv" })), to_file));
    let database = json!({ "path": "no/such.db", "table": "t", "column": ["*"] });
    scratch.job("database.json", &Job::new(plugin("sqlitereader", database.clone()), plugin("sqlitewriter", database)));
    let run = scratch.transship(["check", "calls.json", "absent.json", "database.json"]).run().succeeds();
    assert_eq!(warnings(&run), [""; 0], "{run}");
    assert_eq!(scratch.lines("journal").iter().filter(|call| call.ends_with(" init")).count(), 2);
    assert_eq!(scratch.files(), ["absent.json", "calls.json", "database.json", "journal"], "{run}");
    let beyond = ["reader prepare", "reader splits", "reader open", "writer prepare", "writer open"];
    assert_eq!(beyond.map(|call| scratch.calls(call)), [0; 5]);
}

#[test]
fn warnings_are_told_and_are_no_errors() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "recrods": 1 }), json!({})).with("job.setting.speed.chanel", 1);
    scratch.job("job.json", &job);
    let run = scratch.transship(["check", "job.json"]).run().succeeds();
    assert_eq!((warnings(&run).len(), run.stdout.as_str()), (2, "job.json: no error found\n"), "{run}");
}

//! `transship schema`, by an independent validator: what runs is valid by the JSON Schema, what is broken is not, at the place
//! where it is broken.

use std::path::Path;

use jsonschema::Validator;
use transship_tests::program::repository;
use transship_tests::{Job, Scratch, Value, faulty, golden, json, plugin, plugins};

fn schema() -> Value {
    let run = Scratch::new().transship(["schema"]).run().succeeds();
    assert_eq!(run.stderr, "");
    serde_json::from_str(&run.stdout).expect("a schema is JSON")
}

fn validator() -> Validator {
    jsonschema::draft7::new(&schema()).expect("it is a schema")
}

/// Where a job file is not valid, and why.
fn faults(validator: &Validator, tree: &Value) -> Vec<String> {
    validator.iter_errors(tree).map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
}

#[track_caller]
fn is_valid(validator: &Validator, what: &str, tree: &Value) {
    let faults = faults(validator, tree);
    assert!(faults.is_empty(), "{what} is not valid:\n  {}", faults.join("\n  "));
}

/// The job files of a folder.
fn job_files(folder: &Path) -> Vec<(String, Value)> {
    let paths = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let tree = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path.display().to_string(), tree)
    };
    paths.map(read).collect()
}

fn constants() -> Value {
    plugin("streamreader", json!({ "column": [{ "type": "string", "value": "x" }], "sliceRecordCount": 1 }))
}

fn printing() -> Value {
    plugin("streamwriter", json!({ "print": true }))
}

fn stream() -> Job {
    Job::new(constants(), printing())
}

#[test]
fn the_schema_is_one_of_draft_7() {
    let schema = schema();
    if let Err(error) = jsonschema::draft7::meta::validate(&schema) {
        panic!("{}: {error}", error.instance_path());
    }
}

#[test]
fn every_job_of_the_repository_is_valid() {
    let (validator, jobs) = (validator(), job_files(&repository().join("jobs")));
    assert!(jobs.len() >= 6, "{jobs:?}");
    for (name, tree) in jobs {
        is_valid(&validator, &name, &tree);
    }
}

/// Jobs as people write them for DataX, with all that it lets pass.
fn jobs_for_datax() -> Vec<(&'static str, Job)> {
    let written_as_strings = json!({
        "column": [
            { "type": "long", "value": "12" }, { "type": "string", "value": 7 }, { "type": "bool", "value": "TRUE" },
            { "type": "double", "value": "3.25" }, { "value": "no type given" },
        ],
        "sliceRecordCount": "3",
    });
    let variables = json!({ "column": [{ "type": "$type", "value": "$v" }], "sliceRecordCount": "${times}" });
    let options_of_text_files = json!({
        "path": ["in/visits.csv"], "encoding": " utf8 ", "compress": "", "skipHeader": "true", "nullFormat": "\\N",
        "fieldDelimiter": ",",
        "column": [
            { "index": "0", "type": "LONG" }, { "index": 1, "type": "String" }, { "index": 2, "type": "double" },
            { "index": 3, "type": "date", "format": "yyyy.MM.dd" }, { "type": "string", "value": "berth-a" },
        ],
        "csvReaderConfig": { "safetySwitch": false, "skipEmptyRecords": false, "useTextQualifier": false },
    });
    let relational = json!({
        "username": "unused", "password": "unused", "column": ["buoy_id", "label"], "where": "1=1", "splitPk": "",
        "connection": [{ "table": ["buoy"], "jdbcUrl": ["jdbc:sqlite:in/harbour.db"] }],
    });
    let text_files = json!({
        "path": "out", "fileName": "buoys", "writeMode": "nonConflict", "fieldDelimiter": "\t", "nullFormat": "\\N",
        "encoding": "utf-8",
    });
    let misspelt = json!({
        "path": "out", "fileName": "x", "writeMode": "Append", "filedDelimiter": ";", "charset": "GBK", "": 1,
    });
    vec![
        ("numbers and truths as strings", {
            let writer = plugin("streamwriter", json!({ "print": "true", "encoding": "UTF-8" }));
            Job::new(plugin("streamreader", written_as_strings), writer).with("job.setting.speed.channel", "2")
        }),
        ("variables", Job::new(plugin("streamreader", variables), printing()).with("job.setting.speed.channel", "$n")),
        ("a limit in bytes", {
            let limit = json!({ "record": 0, "percentage": 0.02 });
            stream().with("job.setting.speed.byte", 1_048_576).with("job.setting.errorLimit", limit)
        }),
        ("no speed", stream().with("job.setting", json!({}))),
        ("a speed of nothing", stream().with("job.setting.speed", json!({ "channel": null, "byte": "-1" }))),
        ("content without a list", {
            stream().with("job.content", json!({ "reader": constants(), "writer": printing() }))
        }),
        ("options of text files", Job::new(plugin("txtfilereader", options_of_text_files), printing())),
        ("all columns", {
            let all = json!({ "path": "in/*.csv", "column": ["*"], "csvReaderConfig": "{\"safetySwitch\": false}" });
            Job::new(plugin("txtfilereader", all), printing())
        }),
        ("a relational reader", Job::new(plugin("rdbmsreader", relational), plugin("txtfilewriter", text_files))),
        ("keys that nobody knows", Job::new(constants(), plugin("txtfilewriter", misspelt)).with("setting", json!({}))),
        ("transformers", {
            stream()
                .transformer(plugin("dx_filter", json!({ "columnIndex": "0", "paras": [">", "3"] })))
                .transformer(plugin("dx_substr", json!({ "columnIndex": 1, "paras": ["1", "3"] })))
                .transformer(plugin("dx_replace", json!({ "columnIndex": 2, "paras": ["2", "4", "****"] })))
                .transformer(plugin("dx_pad", json!({ "columnIndex": 1, "paras": ["l", "5", "0"] })))
                .transformer(plugin("dx_digest", json!({ "columnIndex": 3, "paras": ["md5", "toUpperCase"] })))
        }),
        ("settings of DataX", {
            stream()
                .with("core.transport.channel.speed", json!({ "byte": 1048576, "record": "-1" }))
                .with("core.container.job.id", -1)
                .with("core.container.taskGroup.channel", 5)
                .with("core.container.trace.enable", "false")
                .with("common.column", json!({ "extraFormats": ["yyyyMMdd"], "timeZone": "GMT+8" }))
                .with("entry.jvm", "-Xms1G")
        }),
        ("a plugin that nobody has asked", {
            let reader = json!({ "name": "strangereader", "path": "libtransship_strange.so", "parameter": { "x": 1 } });
            Job::new(reader, printing())
        }),
    ]
}

#[test]
fn what_datax_lets_pass_is_valid() {
    let validator = validator();
    for (what, job) in jobs_for_datax() {
        is_valid(&validator, what, job.tree());
    }
}

#[test]
fn what_is_broken_is_not_valid_at_its_place() {
    let reader = "/job/content/0/reader";
    let with_column = |column: Value| {
        Job::new(plugin("streamreader", json!({ "column": [column], "sliceRecordCount": 1 })), printing())
    };
    let reading = |parameter: Value| Job::new(plugin("streamreader", parameter), printing());
    let of_a_file = |parameter: Value| Job::new(plugin("txtfilereader", parameter), printing());
    let column = json!([{ "value": 1 }]);
    let broken: [(&str, Job, String); 16] = [
        ("no job", stream().with("job", Value::Null), "/job".into()),
        ("no content", stream().with("job", json!({ "setting": {} })), "/job".into()),
        ("empty content", stream().with("job.content", json!([])), "/job/content".into()),
        ("no writer", stream().with("job.content", json!([{ "reader": constants() }])), "/job/content/0".into()),
        ("no name", Job::new(json!({ "parameter": {} }), printing()), reader.into()),
        ("a misspelt name", Job::new(plugin("streamreadr", json!({})), printing()), format!("{reader}/name")),
        ("a misspelt transformer", stream().transformer(plugin("dx_subst", json!({}))), {
            "/job/content/0/transformer/0/name".into()
        }),
        ("no parameter", Job::new(json!({ "name": "txtfilereader" }), printing()), reader.into()),
        ("a misspelt type", with_column(json!({ "type": "LNOG" })), format!("{reader}/parameter/column/0/type")),
        ("a column of nothing", reading(json!({ "column": [1], "sliceRecordCount": 1 })), {
            format!("{reader}/parameter/column/0")
        }),
        ("a missing parameter", of_a_file(json!({ "skipHeader": true })), format!("{reader}/parameter")),
        ("a blank parameter", of_a_file(json!({ "path": " " })), format!("{reader}/parameter/path")),
        ("an empty list", of_a_file(json!({ "path": [] })), format!("{reader}/parameter/path")),
        ("a number in words", reading(json!({ "column": column, "sliceRecordCount": "ten" })), {
            format!("{reader}/parameter/sliceRecordCount")
        }),
        ("channels in words", stream().with("job.setting.speed.channel", "many"), {
            "/job/setting/speed/channel".into()
        }),
        (
            "a connection without a database",
            {
                let connection = json!({ "column": ["*"], "connection": [{ "table": ["t"] }] });
                Job::new(plugin("sqlitereader", connection), printing())
            },
            format!("{reader}/parameter/connection/0"),
        ),
    ];
    let validator = validator();
    for (what, job, place) in broken {
        let faults = faults(&validator, job.tree());
        assert!(!faults.is_empty(), "{what} is valid");
        assert!(
            faults.iter().all(|fault| fault.starts_with(&format!("{place}: "))),
            "{what}, not at {place}: {faults:#?}"
        );
    }
}

#[test]
fn what_check_finds_no_fault_with_is_valid() {
    let (validator, scratch) = (validator(), Scratch::new());
    let faults_of_the_reader = json!([{ "at": "open", "how": "panic" }, { "at": "next", "how": "hang", "after": "5" }]);
    let jobs = [
        ("a list of objects", faulty(json!({ "fail": faults_of_the_reader }), json!({}))),
        ("an object for a list of one", faulty(json!({ "fail": { "at": "open", "how": "panic" } }), json!({}))),
        ("words in any case", faulty(json!({ "mark": "WaterMark" }), json!({ "commit": " ATOMIC " }))),
        (
            "nothing, as null and blank",
            faulty(json!({ "records": "", "idle": null, "label": "" }), json!({ "plan": "" })),
        ),
        (
            "scalars as texts",
            faulty(json!({ "records": "+5", "idle": "TRUE", "label": 5 }), json!({ "plan": [1, true] })),
        ),
    ];
    for (what, job) in jobs {
        scratch.job("job.json", &job);
        scratch.transship(["check", "job.json"]).run().succeeds();
        is_valid(&validator, what, job.tree());
    }
}

/// A value that has every key of an object, and says nothing.
fn every_key_of(form: &Value) -> Value {
    match form["properties"].as_object() {
        Some(keys) => keys.iter().map(|(key, form)| (key.clone(), every_key_of(form))).collect(),
        None => Value::Null,
    }
}

#[test]
fn check_knows_every_key_of_the_schema() {
    let mut tree = every_key_of(&schema());
    assert!(tree["core"]["transport"]["channel"].as_object().is_some_and(|keys| keys.len() > 3), "{tree}");
    tree["job"]["content"] = stream().tree()["job"]["content"].clone();
    let scratch = Scratch::new();
    scratch.write("job.json", tree.to_string());
    scratch.transship(["check", "job.json"]).run().succeeds().does_not_say(["is not known"]);
}

#[test]
fn what_every_plugin_says_that_its_parameters_take_is_understood() {
    let schema = schema();
    let mut tables = 0;
    for (name, definition) in schema["definitions"].as_object().unwrap() {
        let properties = definition["properties"].as_object().into_iter().flatten();
        for (key, form) in properties {
            let description = form["description"].as_str().unwrap_or_default();
            assert!(!description.contains("Takes: "), "{name}, {key}: {description}");
        }
        tables += usize::from(name.starts_with("reader.") || name.starts_with("writer."));
    }
    assert!(tables >= 8, "{schema}");
}

#[test]
fn the_plugins_of_a_path_are_in_the_schema() {
    let scratch = Scratch::new();
    let run = scratch.transship(["schema"]).plugins_in(plugins::minimal()).run().succeeds();
    let schema: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema["definitions"]["reader.minimalreader"]["required"], json!(["records"]));
}

#[test]
fn a_small_plugin_in_the_schema() {
    let schema = schema();
    let definitions = ["reader.streamreader", "reader.streamreader.column", "writer.streamwriter"];
    let shown: serde_json::Map<String, Value> =
        definitions.iter().map(|name| (name.to_string(), schema["definitions"][name].clone())).collect();
    golden::check("schema_of_stream.json", &(serde_json::to_string_pretty(&shown).unwrap() + "\n"));
}

//! The job file as a person writes it, well or badly.

use std::time::Duration;

use super::*;

/// What was read, and what was found wrong and odd.
struct Read {
    file: Option<JobFile>,
    problems: Vec<String>,
    warnings: Vec<String>,
}

fn read_with(text: &str, variables: &[(&str, &str)]) -> Read {
    let mut given = Variables::default();
    variables.iter().for_each(|(name, value)| given.set(*name, *value));
    let fetch = |origin: Origin<'_>| match origin {
        Origin::Environment("PASSWORD") => Ok("se\"cr\\et".to_string()),
        other => Err(format!("{other:?} cannot be had")),
    };
    let reading = Reading { variables: &given, encoding: None, fetch: &fetch, all_contents: false };
    let mut findings = Findings::default();
    let file = JobFile::parse(Path::new("dir/orders.json"), text.into(), &reading, &mut findings);
    let problems = findings.problems.into_iter().map(|problem| problem.message).collect();
    let warnings = findings.warnings.into_iter().map(|warning| warning.message).collect();
    Read { file, problems, warnings }
}

fn read(text: &str) -> Read {
    read_with(text, &[])
}

/// A job file with nothing wrong.
#[track_caller]
fn good(text: &str) -> JobFile {
    let read = read(text);
    assert_eq!(read.problems, [""; 0]);
    read.file.unwrap()
}

/// What is wrong with a job file, all of it.
fn wrong(text: &str) -> Vec<String> {
    read(text).problems
}

const CONTENT: &str = r#""content": [{"reader": {"name": "r", "parameter": {"x": 1}}, "writer": {"name": "w"}}]"#;

fn with_setting(setting: &str) -> String {
    format!(r#"{{"job": {{{CONTENT}, "setting": {setting}}}}}"#)
}

#[test]
fn a_job_is_read_with_its_settings() {
    let text = format!(
        r#"{{"job": {{{CONTENT}, "setting": {{"speed": {{"channel": "3", "byte": 1048576, "record": -1}},
            "errorLimit": {{"record": "0", "percentage": 0.02}}, "dryRun": "true", "contents": "all",
            "schedule": {{"quantum": "20 ms", "maxGap": 5, "guaranteed": 2, "openTasks": "8", "splitLoaders": 1, "inOrder": true}}}}}},
            "core": {{"transport": {{"channel": {{"capacity": 512, "byteCapacity": 4096}}}},
                      "container": {{"task": {{"failOver": {{"maxRetryTimes": 3, "retryIntervalInMsec": 0}}}}}}}}}}"#
    );
    let job = good(&text);
    assert_eq!(job.name, "orders");
    assert_eq!(job.content[0].reader.place, "job.content[0].reader");
    assert_eq!(job.content[0].reader.parameter["x"], 1);
    assert_eq!(
        job.setting,
        Setting {
            speed: Speed { channels: Some(3), bytes_per_second: Some(1 << 20), records_per_second: None },
            dirty: DirtyLimit { records: Some(0), share: Some(0.02) },
            dry_run: true,
            all_contents: true,
            checkpoint: None,
            schedule: Schedule {
                in_order: true,
                quantum: Some(Duration::from_millis(20)),
                longest_gap: Some(Duration::from_secs(5)),
                guaranteed: NonZeroU32::new(2),
                open_tasks: NonZeroU32::new(8),
                split_loaders: NonZeroU32::new(1),
                adaptive: false,
            },
            transport: Transport { capacity_records: Some(512), capacity_bytes: Some(4096), ..Transport::default() },
            retry: Retry { max_attempts: Some(3), pause_millis: Some(0) },
        }
    );
}

#[test]
fn settings_of_the_schedule_have_limits() {
    let wrong = wrong(&with_setting(
        r#"{"schedule": {"quantum": 0, "maxGap": "soon", "guaranteed": 0, "openTasks": 5000, "splitLoaders": -1}}"#,
    ));
    assert!(wrong[0].ends_with("job.setting.schedule.quantum must be more than 0"), "{wrong:#?}");
    assert!(wrong[1].contains("job.setting.schedule.maxGap must be a length of time like \"10 s\""), "{wrong:#?}");
    for (wrong, ending) in
        wrong[2..].iter().zip(["is 0, but must lie between 1 and 1024", "1 and 1024", "between 1 and 64"])
    {
        assert!(wrong.ends_with(ending), "{wrong}");
    }
    assert_eq!(wrong.len(), 5);
}

#[test]
fn a_single_content_object_is_a_list_of_one_with_a_warning() {
    let read = read(r#"{"job": {"content": {"reader": {"name": "r"}, "writer": {"name": "w"}}}}"#);
    assert_eq!(read.file.unwrap().content.len(), 1);
    assert_eq!(
        read.warnings,
        ["dir/orders.json:1:10: job.content is an object: it is taken as a list of one, where DataX refuses it"]
    );
}

/// Trap 4.
#[test]
fn only_the_first_entry_is_looked_at_unless_all_run() {
    let entry = r#"{"reader": {"name": "r"}, "writer": {"name": "w"}}"#;
    let text = |setting: &str| format!(r#"{{"job": {{"content": [{entry}, {{"reader": 5}}], "setting": {setting}}}}}"#);
    let first = read(&text("{}"));
    assert_eq!((first.problems, first.file.unwrap().running().len()), (vec![], 1));
    assert!(first.warnings[0].contains("job.content has 2 entries: only the first runs, as in DataX"));
    assert_eq!(
        wrong(&text(r#"{"contents": "ALL"}"#)),
        [
            "dir/orders.json:1:74: job.content[1].writer is required",
            "dir/orders.json:1:75: job.content[1].reader must be an object, not 5"
        ]
    );
}

#[test]
fn broken_json_is_shown_with_a_caret_below_the_place() {
    let problem = &wrong("{\n  \"job\": {\n    \"größe\": tru,\n  }\n}")[0];
    let (first, rest) = problem.split_once('\n').unwrap();
    assert!(first.starts_with("dir/orders.json:3:14: the job file is not JSON: "), "{first}");
    assert_eq!(rest, "      \"größe\": tru,\n               ^");
}

#[test]
fn a_broken_single_line_of_a_megabyte_is_cut_to_the_place() {
    let problem = &wrong(&format!("{{\"a\": \"{}\", \"b\" \"oops\"}}", "x".repeat(1 << 20)))[0];
    assert!(problem.len() < 600, "{problem}");
}

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_place() {
    let text = r#"{"job": {
        "setting": {"speed": {"channel": "many", "byte": ""}, "errorLimit": {"percentage": 2, "record": -1}},
        "content": [{"reader": {"parameter": []}, "writer": {"name": ["w"]}, "transformer": [{}]}]}}"#;
    assert_eq!(
        wrong(text),
        [
            "dir/orders.json:2:31: job.setting.speed.channel must be a whole number, not \"many\"",
            "dir/orders.json:2:50: job.setting.speed.byte is empty: write a number, or leave it out",
            "dir/orders.json:2:78: job.setting.errorLimit.percentage is 2, but must lie between 0 and 1 (0.02 is two percent)",
            "dir/orders.json:2:95: job.setting.errorLimit.record is -1, but must be 0 or more; leave it out for no limit",
            "dir/orders.json:3:22: job.content[0].reader.name is required",
            "dir/orders.json:3:33: job.content[0].reader.parameter must be an object, not a list",
            "dir/orders.json:3:62: job.content[0].writer.name must be a string, not a list",
            "dir/orders.json:3:94: job.content[0].transformer[0].name is required",
        ]
    );
}

#[test]
fn what_is_missing_is_named() {
    let first = |text: &str| wrong(text).remove(0);
    assert!(first("{}").contains("1:1: job is required"), "{}", first("{}"));
    assert!(first("[]").contains("the job file must be an object, not a list"));
    assert!(first(r#"{"job": []}"#).contains("1:2: job must be an object, not a list"));
    assert!(first(r#"{"job": {}}"#).contains("job.content is required"));
    assert!(first(r#"{"content": []}"#).contains("\"content\" and \"setting\" belong inside \"job\""));
    assert!(first(r#"{"job": {"content": "all"}}"#).contains("job.content must be a list of"));
    assert!(
        first(r#"{"job": {"content": [{"reader": {"name": "r"}}]}}"#).contains("job.content[0].writer is required")
    );
}

/// Trap 8.
#[test]
fn numbers_may_be_texts_but_must_be_whole_and_null_is_nothing() {
    let channels =
        |value: &str| good(&with_setting(&format!("{{'speed': {{'channel': {value}}}}}"))).setting.speed.channels;
    assert_eq!(["2", "'2'", "'+2'", "2L", "null"].map(channels), [Some(2), Some(2), Some(2), Some(2), None]);
    assert_eq!(["0", "-1"].map(channels), [None, None]);
    for bad in ["' 2 '", "2.0", "1e3", "''", "true", "'1,2'"] {
        let problems = wrong(&with_setting(&format!("{{'speed': {{'channel': {bad}}}}}")));
        assert!(problems.len() == 1 && problems[0].contains("job.setting.speed.channel "), "{bad}: {problems:?}");
    }
}

#[test]
fn what_is_no_object_where_one_belongs_is_passed_over_with_a_warning() {
    for setting in ["5", "{'speed': 1048576}", "{'errorLimit': 10}", "{'speed': []}"] {
        let read = read(&with_setting(setting));
        assert_eq!((read.problems.len(), read.warnings.len()), (0, 1), "{setting}: {:?}", read.warnings);
        assert!(read.warnings[0].contains("it is ignored, as in DataX"), "{:?}", read.warnings);
        assert_eq!(read.file.unwrap().setting, Setting::default());
    }
}

/// Trap 10.
#[test]
fn unknown_keys_are_ignored_with_what_was_probably_meant() {
    let read = read(&format!(
        r#"{{"setting": {{}}, "job": {{{CONTENT}, "setting": {{"errorlimit": {{}}, "restore": {{}}}}, "": 1}}}}"#
    ));
    assert_eq!(read.problems, [""; 0]);
    let warnings: Vec<&str> = read.warnings.iter().map(|warning| warning.split_once(": ").unwrap().1).collect();
    assert_eq!(
        warnings,
        [
            "setting is not known here and is ignored; did you mean \"job.setting\"?",
            "job.setting.errorlimit is not known here and is ignored; did you mean \"job.setting.errorLimit\"?",
            "job.setting.restore is not known and is ignored",
            "job.\"\" is not known and is ignored",
        ]
    );
}

/// Trap 5.
#[test]
fn a_variable_that_is_not_set_stays_and_is_told_with_its_place() {
    let read = read_with(
        "{\"job\": {\"content\": [{\"reader\": {\"name\": \"r\",\n \"parameter\": {\"sql\": \"$1 ${dt} $dt ${dt}\", \"$gt\": 1, // ${comment}\n \
         \"password\": \"pa$word\", \"day\": \"${day}\"}}, \"writer\": {\"name\": \"w\"}}]}}",
        &[("day", " ")],
    );
    assert_eq!(read.problems, [""; 0]);
    assert_eq!(
        read.warnings,
        [
            "dir/orders.json:2:27: the variable ${dt} is not set and stays as it is written; -D dt=… sets it",
            "dir/orders.json:2:33: the variable $dt is not set and stays as it is written; -D dt=… sets it",
            "dir/orders.json:3:17: what looks like a variable in job.content[0].reader.parameter.password is not set and stays as it \
             is written",
            "dir/orders.json:3:33: the variable ${day} is blank, which counts as not set, and stays as it is written; -D day=… sets it",
        ]
    );
    assert_eq!(read.file.unwrap().content[0].reader.parameter["sql"], "$1 ${dt} $dt ${dt}");
}

#[test]
fn variables_outside_quotes_that_are_not_set_are_all_named() {
    let text = "{\"job\": {\"setting\": {\"speed\": {\"channel\": ${lanes}}}, \"content\": $content}}";
    let problem = wrong(text).remove(0);
    assert!(problem.starts_with("dir/orders.json:1:43: a variable that is not set stands here"), "{problem}");
    assert!(problem.contains("not set: ${content}, ${lanes}; -D content=… sets one"), "{problem}");
}

#[test]
fn what_is_wrong_inside_a_variable_is_told_at_the_variable() {
    let problem = read_with("{\"job\":\n  ${job}}", &[("job", "{\"a\": }")]).problems.remove(0);
    assert!(problem.starts_with("dir/orders.json:2:3 (in the value of ${job}): the job file is not JSON"), "{problem}");
    assert!(problem.ends_with("\n    ${job}}\n    ^"), "{problem}");
}

#[test]
fn secrets_come_from_the_environment_as_they_are() {
    let text = |origin: &str| {
        format!(
            r#"{{"job": {{"content": [{{"reader": {{"name": "r", "parameter": {{"a": "x${{{origin}}}y"}}}}, "writer": {{"name": "w"}}}}]}}}}"#
        )
    };
    let job = good(&text("env:PASSWORD"));
    assert_eq!(job.content[0].reader.parameter["a"], "xse\"cr\\ety");
    assert_eq!(job.fetched, ["se\"cr\\et"]);
    let problem = wrong(&text("env:NOBODY")).remove(0);
    assert!(problem.starts_with("dir/orders.json:1:68: Environment(\"NOBODY\") cannot be had\n"), "{problem}");
}

#[test]
fn encrypted_values_are_refused_where_they_stand() {
    let text = r#"{"job": {"setting": {"keyVersion": "v1"}, "content": [{"reader": {"name": "r", "parameter": {
        "*password": "AbC=", "**x": "y"}}, "writer": {"name": "w"}}]}}"#;
    let problems = wrong(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].starts_with(
            "dir/orders.json:2:9: job.content[0].reader.parameter.*password is encrypted with DataX's key"
        ),
        "{problems:?}"
    );
}

#[test]
fn plugins_find_the_common_settings_among_their_parameters() {
    let job = good(
        r#"{"common": {"column": {"timeZone": "GMT+8"}}, "job": {"content": [{"reader": {"name": "r"},
            "writer": {"name": "w", "parameter": {"common": 1}}}]}}"#,
    );
    assert_eq!(job.content[0].reader.parameter["common"]["column"]["timeZone"], "GMT+8");
    assert_eq!(job.content[0].writer.parameter["common"], 1, "its own comes first");
}

#[test]
fn a_path_that_is_no_library_is_datax_own() {
    let ending = std::env::consts::DLL_SUFFIX;
    let read = read(&format!(
        r#"{{"job": {{"content": [{{"reader": {{"name": "r", "path": "/x/plugin/reader/r"}}, "writer": {{"name": "w", "path": "lib/w{ending}"}}}}]}}}}"#
    ));
    let content = read.file.unwrap().content.remove(0);
    assert_eq!((content.reader.library, content.writer.library), (None, Some(format!("lib/w{ending}").into())));
    assert!(read.warnings.len() == 1 && read.warnings[0].contains("is ignored: the plugin is found by its name"));
}

#[test]
fn debug_output_shows_no_parameter() {
    let job = good(
        r#"{"job": {"content": [{"reader": {"name": "r", "parameter": {"password": "hidden"}}, "writer": {"name": "w"}}]}}"#,
    );
    assert!(!format!("{:?}", job.content).contains("hidden"));
}

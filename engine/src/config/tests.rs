//! The job file as a person writes it, well or badly.

use super::*;

fn parse(text: &str) -> Result<JobFile> {
    JobFile::parse(Path::new("dir/orders.json"), text)
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

const CONTENT: &str = r#""content": [{"reader": {"name": "r", "parameter": {"x": 1}}, "writer": {"name": "w"}}]"#;

#[test]
fn a_job_is_read_with_its_settings() {
    let text = format!(
        r#"{{"job": {{{CONTENT}, "setting": {{"speed": {{"channel": "3", "byte": 1048576, "record": -1}},
            "errorLimit": {{"record": 0, "percentage": 0.02}}}}}},
            "core": {{"transport": {{"channel": {{"capacity": 512, "byteCapacity": 4096}}}},
                      "container": {{"task": {{"failOver": {{"maxRetryTimes": 3, "retryIntervalInMsec": 0}}}}}}}}}}"#
    );
    let job = parse(&text).unwrap();
    assert_eq!(job.name, "orders");
    assert_eq!(job.content[0].reader.place, "job.content[0].reader");
    assert_eq!(job.content[0].reader.parameter["x"], 1);
    assert_eq!(
        job.setting,
        Setting {
            speed: Speed { channels: Some(3), bytes_per_second: Some(1 << 20), records_per_second: None },
            dirty_records: Some(0),
            dirty_share: Some(0.02),
            transport: Transport { capacity_records: Some(512), capacity_bytes: Some(4096), ..Transport::default() },
            retry: Retry { max_attempts: Some(3), pause_millis: Some(0) },
        }
    );
}

#[test]
fn a_single_content_object_is_a_list_of_one() {
    let job = parse(r#"{"job": {"content": {"reader": {"name": "r"}, "writer": {"name": "w"}}}}"#).unwrap();
    assert_eq!(job.content.len(), 1);
}

#[test]
fn broken_json_is_shown_with_a_caret_below_the_place() {
    assert_eq!(
        error("{\n  \"job\": {\n    \"größe\": tru,\n  }\n}"),
        "dir/orders.json:3:17: the job file is not JSON: expected ident\n      \"größe\": tru,\n                  ^"
    );
}

#[test]
fn a_broken_single_line_of_a_megabyte_is_cut_to_the_place() {
    let text = format!("{{\"a\": \"{}\", oops}}", "x".repeat(1 << 20));
    assert!(error(&text).len() < 400, "{}", error(&text));
}

#[test]
fn a_wrong_type_names_its_path() {
    assert_eq!(
        error(&format!(r#"{{"job": {{{CONTENT}, "setting": {{"speed": {{"channel": "many"}}}}}}}}"#)),
        "dir/orders.json: job.setting.speed.channel must be a whole number, not \"many\""
    );
    assert_eq!(
        error(r#"{"job": {"content": [{"reader": {"name": "r"}, "writer": {"name": ["w"]}}]}}"#),
        "dir/orders.json: job.content[0].writer.name must be a string, not a list"
    );
    assert_eq!(error(r#"{"job": []}"#), "dir/orders.json: job must be an object, not a list");
    assert_eq!(error("[]"), "dir/orders.json: the job file must be an object, not a list");
}

#[test]
fn what_is_missing_is_named() {
    assert!(error("{}").contains("job is required"), "{}", error("{}"));
    assert!(error(r#"{"job": {}}"#).contains("job.content is required"));
    assert!(
        error(r#"{"job": {"content": [{"reader": {"name": "r"}}]}}"#).contains("job.content[0].writer is required")
    );
    assert!(
        error(r#"{"job": {"content": [{"reader": {}, "writer": {"name": "w"}}]}}"#)
            .contains("job.content[0].reader.name is required")
    );
}

#[test]
fn a_share_of_dirty_records_above_one_is_refused() {
    let text = format!(r#"{{"job": {{{CONTENT}, "setting": {{"errorLimit": {{"percentage": 2}}}}}}}}"#);
    assert!(error(&text).contains("job.setting.errorLimit.percentage is 2, but must lie between 0 and 1"));
}

#[test]
fn debug_output_shows_no_parameter() {
    let job = parse(r#"{"job": {"content": [{"reader": {"name": "r", "parameter": {"password": "hidden"}}, "writer": {"name": "w"}}]}}"#).unwrap();
    assert!(!format!("{:?}", job.content).contains("hidden"));
}

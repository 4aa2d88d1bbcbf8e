//! What a job file may say, and what is refused.

use serde_json::json;

use super::super::parameters::{Settings, asked};
use super::*;
use crate::config::Component;

fn refusal(parameter: Value) -> String {
    Settings::read(&parameter).unwrap_err().message().to_string()
}

fn with(key: &str, value: Value) -> Value {
    let mut parameter = json!({ "lookup": "test", "key": "x" });
    parameter[key] = value;
    parameter
}

/// FL-31.
#[test]
fn impossible_numbers_are_refused_with_their_place() {
    for (key, value, problem) in [
        ("capacity", json!(0), "parameter.capacity is 0, but must be 1 or more"),
        ("capacity", json!(-1), "parameter.capacity must be a whole number from 0 on, not -1"),
        ("timeout", json!("soon"), "parameter.timeout must be a length of time"),
        ("mode", json!("random"), "parameter.mode is \"random\", but must be \"ordered\", \"unordered\" or \"key\""),
        ("retry", json!({ "max": 0 }), "parameter.retry.max is 0, but must be 1 or more"),
        ("retry", json!({ "delay": 0 }), "parameter.retry.delay is 0: a pause"),
        ("retry", json!({ "factor": 0.5 }), "parameter.retry.factor is 0.5, but pauses must not become shorter"),
        ("retry", json!({ "jitter": 2 }), "parameter.retry.jitter is 2, but must be from 0 to 1"),
        ("retry", json!({ "on": ["often"] }), "parameter.retry.on has \"often\", but takes \"retryable\", \"error\""),
        ("batch", json!({ "size": 0 }), "parameter.batch.size is 0"),
        ("batch", json!({ "linger": -1 }), "parameter.batch.linger must be a length of time"),
        ("cache", json!({}), "parameter.cache.entries is required"),
        (
            "onFailure",
            json!("ignore"),
            "parameter.onFailure is \"ignore\", but must be \"fail\", \"dirty\" or \"null\"",
        ),
        ("onMissing", json!("skip"), "parameter.onMissing is \"skip\""),
        ("columns", json!([{ "as": "z" }]), "parameter.columns[0].name is required"),
        ("columns", json!(["y", { "name": "z", "as": "y" }]), "parameter.columns[1] is called \"y\", and so is"),
    ] {
        let told = refusal(with(key, value.clone()));
        assert!(told.starts_with(problem), "{key} {value}: {told}");
    }
    let mut endless = with("timeout", json!(0));
    assert!(Settings::read(&endless).unwrap().options.timeout.is_none(), "for ever, if the job says so");
    endless["retry"] = json!({});
    assert!(refusal(endless).starts_with("parameter.timeout is 0, but with retry it must end"));
}

#[test]
fn left_out_means_what_the_table_says() {
    let settings = Settings::read(&json!({ "lookup": "test", "key": "x" })).unwrap();
    assert_eq!(settings.to_string(), "ordered, capacity 100, time-out 3m");
    assert_eq!((settings.options.call_size, settings.options.retry), (25, None));
    let settings = Settings::read(&with("retry", json!({}))).unwrap();
    let pauses = settings.options.retry.map(|retry| (retry.most, retry.pause(2, 0.0).as_millis()));
    assert_eq!(pauses, Some((3, 200)));
}

#[test]
fn the_lookup_is_a_component_of_its_own() {
    let component = |lookup: Value| Component {
        name: "lookup".into(),
        library: None,
        parameter: json!({ "lookup": lookup, "common": { "column": {} } }),
        place: "job.content[0].transformer[0]".into(),
    };
    let short = asked(&component(json!("sqlite"))).unwrap();
    assert_eq!(
        (short.name.as_str(), short.library, &short.parameter),
        ("sqlite", None, &json!({ "common": { "column": {} } }))
    );
    let long = json!({ "name": "sqlite", "path": "/x.so", "parameter": { "path": "db", "common": 1 } });
    let long = asked(&component(long)).unwrap();
    assert_eq!(long.place, "job.content[0].transformer[0].parameter.lookup");
    assert_eq!((long.library, long.parameter), (Some("/x.so".into()), json!({ "path": "db", "common": 1 })));
    for (wrong, problem) in [
        (json!(null), "parameter.lookup is required"),
        (json!({}), "parameter.lookup.name is required"),
        (json!({ "name": "x", "parameter": [] }), "parameter.lookup.parameter must be an object, not a list"),
    ] {
        assert_eq!(asked(&component(wrong)).unwrap_err().message(), problem);
    }
}

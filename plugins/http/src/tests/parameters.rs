//! What a job may write, and what is said of what it may not.

use std::sync::Arc;

use serde_json::{Value, json};
use transship_plugin_api::{DirtyRecord, Host, HostRef, Kind, Result};

struct NoHost;

impl Host for NoHost {
    fn log(&self, _level: log::Level, _target: &str, _message: &str) {}

    fn dirty(&self, _record: &DirtyRecord<'_>) -> Result<()> {
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn host() -> HostRef {
    Arc::new(NoHost)
}

#[track_caller]
fn refused(made: Result<()>, expected: &str) {
    let error = made.unwrap_err();
    assert_eq!(error.kind(), Kind::Config, "{error}");
    assert!(error.message().starts_with(expected), "{error}");
}

/// With a good URL, and these parameters besides.
fn with(more: Value) -> Value {
    let mut parameter = json!({ "url": "http://a.test/x" });
    parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    parameter
}

#[track_caller]
fn reader(more: Value, expected: &str) {
    refused(crate::reader::new(&with(more), host()).map(|_| ()), expected);
}

#[track_caller]
fn writer(more: Value, expected: &str) {
    refused(crate::writer::new(&with(more), host()).map(|_| ()), expected);
}

#[track_caller]
fn lookup(more: Value, expected: &str) {
    refused(crate::lookup::new(&with(more), host()).map(|_| ()), expected);
}

#[test]
fn a_url_is_needed_and_must_be_one() {
    refused(crate::reader::new(&json!({}), host()).map(|_| ()), "parameter.url is required");
    reader(json!({ "url": "a.test/x" }), "parameter.url is no URL");
    reader(json!({ "url": "ftp://a.test/x" }), "parameter.url must begin with http:// or https://, not ftp:");
    writer(json!({ "url": "http://a.test/{x" }), "parameter.url has a single \"{\"");
    lookup(json!({ "url": "" }), "parameter.url is required");
}

#[test]
fn readers_refuse_what_means_nothing() {
    reader(json!({ "method": "FETCH" }), "parameter.method is \"FETCH\", but must be GET, POST");
    reader(
        json!({ "records": "data.items" }),
        "parameter.records is \"data.items\", but must be a JSON pointer like \"/data/items\"",
    );
    reader(json!({ "records": "/a", "format": "jsonl" }), "parameter.records has no meaning");
    reader(json!({ "column": [] }), "parameter.column is an empty list");
    reader(json!({ "column": [{ "type": "string" }] }), "parameter.column[0].name or pointer is required");
    reader(
        json!({ "column": [{ "name": "a", "type": "text" }] }),
        "parameter.column[0].type is \"text\", but must be one of string, long",
    );
    reader(
        json!({ "column": [{ "name": "a", "type": "long", "format": "yyyy" }] }),
        "parameter.column[0].format is for columns of the type date",
    );
    reader(
        json!({ "column": [{ "name": "a", "pointer": "/a", "value": 1 }] }),
        "parameter.column[0].pointer and value exclude",
    );
    reader(json!({ "url": ["http://a.test", "http://b.test"] }), "parameter.column is required with several URLs");
    reader(json!({ "paging": {} }), "parameter.paging.by is required");
    reader(json!({ "paging": { "by": "magic" } }), "parameter.paging.by is \"magic\", but must be");
    reader(json!({ "paging": { "by": "page", "size": 0 } }), "parameter.paging.size must be 1 or more");
    reader(json!({ "paging": { "by": "page", "sizeParameter": "n" } }), "parameter.paging.sizeParameter needs a size");
    reader(
        json!({ "paging": { "by": "page", "in": "body" } }),
        "parameter.paging.in is \"body\", but the body is no JSON object",
    );
    reader(
        json!({ "paging": { "by": "cursor" }, "format": "jsonl" }),
        "parameter.paging.by needs an answer with something around",
    );
}

#[test]
fn writers_and_lookups_refuse_what_means_nothing() {
    writer(json!({ "format": "jsonl", "envelope": "x" }), "parameter.envelope is for the format array only");
    writer(json!({ "batchSize": 0 }), "parameter.batchSize must be 1 or more");
    writer(json!({ "success": ["ok"] }), "parameter.success must be statuses");
    lookup(json!({}), "parameter.column is required");
    lookup(json!({ "column": [{ "name": "a" }], "connections": 0 }), "parameter.connections must be 1 or more");
    lookup(json!({ "column": [{ "name": "a" }], "batch": { "size": 0 } }), "parameter.batch.size must be 1 or more");
    lookup(json!({ "column": [{ "name": "a" }], "body": { "x": "{" } }), "parameter.body has a single \"{\"");
}

#[test]
fn what_all_share_is_checked_and_no_secret_is_told() {
    reader(json!({ "timeout": "0" }), "parameter.timeout must be longer than nothing");
    reader(json!({ "timeout": 5 }), "parameter.timeout must be a length of time with its unit");
    reader(json!({ "headers": { "bad name": "x" } }), "parameter.headers.bad name: that is no name of a header");
    reader(json!({ "token": "x", "username": "y" }), "parameter.token and username both say who we are");
    reader(json!({ "password": "s3cret" }), "parameter.password needs a username");
    let Err(error) = crate::reader::new(&with(json!({ "headers": { "X-Key": "s3cret\n" } })), host()) else {
        panic!("taken")
    };
    assert!(!error.message().contains("s3cret"), "{error}");
}

#[test]
fn writers_say_what_they_are() {
    let writer = |more| crate::writer::new(&with(more), host()).unwrap();
    let info = writer(json!({ "url": "http://ann:pw@a.test/{id}?token=t", "idempotent": true })).info();
    assert_eq!(
        (info.target.as_str(), info.idempotent, info.max_open_tasks),
        ("http://ann:***@a.test/_?token=***", true, 0)
    );
    assert_eq!(writer(json!({})).plan(), ["POST lists of 1000 records at most to http://a.test/x"]);
}

//! What a job's parameters come to.

use serde_json::json;
use transship_sql::write::WriteMode;

use super::*;

fn writer(more: serde_json::Value) -> transship_plugin_api::Result<WriterConfig> {
    let mut parameter = json!({
        "username": "u", "password": "p", "column": ["*"],
        "connection": [{ "jdbcUrl": "jdbc:mysql://h/d", "table": ["t"] }],
    });
    parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    WriterConfig::from_json(&parameter)
}

fn refusal(outcome: transship_plugin_api::Result<WriterConfig>) -> String {
    outcome.err().map(|error| error.to_string()).unwrap_or_default()
}

/// Trap 70.
#[test]
fn what_a_job_leaves_out_is_as_in_datax() {
    let config = writer(json!({})).unwrap();
    assert_eq!(config.mode, WriteMode::Insert);
    assert_eq!((config.batch_records, config.batch_bytes, config.empty_as_null), (2_048, 32 << 20, true));
    assert_eq!(config.transaction, Transaction::Task);
}

#[test]
fn modes_that_change_rows_commit_each_batch() {
    assert_eq!(writer(json!({ "writeMode": "replace" })).unwrap().transaction, Transaction::Batch);
    assert_eq!(writer(json!({ "writeMode": "update", "transaction": "task" })).unwrap().transaction, Transaction::Task);
}

#[test]
fn tls_is_wanted_as_the_url_says_in_either_form() {
    let url = |properties: &str| json!({ "connection": [{ "jdbcUrl": format!("jdbc:mysql://h/d?{properties}"), "table": ["t"] }] });
    assert!(writer(url("useSSL=true&requireSSL=true")).is_ok());
    assert!(refusal(writer(url("sslMode=sometimes"))).contains("sslMode=sometimes"));
    assert!(refusal(writer(url("sslMode=VERIFY_CA"))).contains("sslCa"));
    assert!(refusal(writer(url("useSSL=perhaps"))).contains("useSSL=perhaps"));
}

#[test]
fn files_are_not_sent_where_url_or_job_forbid_it() {
    assert!(writer(json!({})).unwrap().load);
    assert!(!writer(json!({ "loadData": false })).unwrap().load);
    let connection = json!([{ "jdbcUrl": "jdbc:mysql://h/d?allowLoadLocalInfile=false", "table": ["t"] }]);
    assert!(!writer(json!({ "connection": connection })).unwrap().load);
}

//! Messages: what is wrong, where, and what to try, and never a password.

use transship_tests::{Database, Job, Scratch, Value, json, plugin};

use super::{printer, reader, run_job, writer};

#[track_caller]
fn told(job: Job, words: &[&str]) {
    let scratch = Scratch::new();
    let run = run_job(&scratch, &job);
    assert!(matches!(run.code(), Some(1 | 2)), "{run}");
    run.says(words.iter().copied()).does_not_say(["p@ss", "secret word"]);
}

fn with(database: &Database, mut parameter: Value, key: &str, value: &str) -> Value {
    parameter = database.parameter(parameter);
    parameter[key] = value.into();
    plugin("mysqlreader", parameter)
}

#[test]
fn a_wrong_password_is_told_at_once_with_the_user() {
    let database = Database::mysql();
    let table = json!({ "table": ["t"], "column": ["*"] });
    let job = Job::new(with(&database, table, "password", "secret word"), printer());
    told(job, &["Access denied for user", "check \"username\" and \"password\""]);
}

#[test]
fn a_database_a_table_or_a_column_that_is_not_there_is_named_with_what_there_is() {
    let database = Database::mysql();
    database.run("CREATE TABLE orders (id int, amount int)");
    let url = database.url().replace(database.name(), "nowhere_at_all");
    let job = Job::new(with(&database, json!({ "table": ["orders"], "column": ["*"] }), "jdbcUrl", &url), printer());
    told(job, &["nowhere_at_all"]);
    let job = Job::new(reader(&database, json!({ "table": ["order"], "column": ["*"] })), printer());
    told(job, &["table order", "doesn't exist", "did you mean \"orders\"?"]);
    let job = Job::new(reader(&database, json!({ "table": ["orders"], "column": ["amout"] })), printer());
    told(job, &["amout", "check \"column\""]);
    let job = Job::new(reader(&database, json!({ "table": ["orders"], "column": ["*"], "splitPk": "idd" })), printer());
    told(job.channels(2), &["\"splitPk\" is \"idd\"", "did you mean \"id\"?"]);
}

#[test]
fn a_writer_names_the_columns_that_there_are_and_those_that_came() {
    let database = Database::mysql();
    database.run("CREATE TABLE target (id int, amount int)");
    let generated =
        || plugin("streamreader", json!({ "sliceRecordCount": 1, "column": [{ "type": "long", "value": "1" }] }));
    let job = |table: &str, column: Value| {
        Job::new(generated(), writer(&database, json!({ "table": [table], "column": column })))
    };
    told(job("target", json!(["amout"])), &["no column \"amout\"", "did you mean \"amount\"?"]);
    told(job("target", json!(["*"])), &["\"column\" names 2 columns of target", "the records have 1"]);
    told(job("targe", json!(["*"])), &["there is no table targe", "did you mean \"target\"?", "createTable"]);
}

#[test]
fn a_server_that_is_not_there_is_told_with_its_address() {
    let database = Database::mysql();
    let url = "jdbc:mysql://127.0.0.1:1/x?connectTimeout=500";
    let job = Job::new(with(&database, json!({ "table": ["t"], "column": ["*"] }), "jdbcUrl", url), printer());
    told(job, &["127.0.0.1:1", "is the server running there?"]);
}

//! Messages: what is wrong, where, and what to try; never with the password.

use transship_tests::Database;
use transship_tests::{Job, Scratch, Value, json, plugin};

use super::{reader, writer};

/// Runs a job that fails, and looks for words in what it says. The password is never among them.
#[track_caller]
fn fails(database: &Database, job: &Job, words: &[&str]) {
    let run = Scratch::new().run(job).fails_with(1);
    run.says(words.iter().copied()).does_not_say([database.password(), "p%40ss"]);
}

fn from(database: &Database, parameter: Value) -> Job {
    Job::new(reader(database, parameter), plugin("streamwriter", json!({ "print": false })))
}

fn into(database: &Database, parameter: Value) -> Job {
    let column = json!([{ "type": "long", "value": "1" }]);
    Job::new(plugin("streamreader", json!({ "sliceRecordCount": 1, "column": column })), writer(database, parameter))
}

#[test]
fn a_server_that_cannot_be_reached() {
    let database = Database::postgres();
    let connection = json!([{ "jdbcUrl": [database.url_at("127.0.0.1:1")], "table": ["t"] }]);
    let words = ["127.0.0.1:1", "cannot be reached", "is the server running"];
    fails(&database, &from(&database, json!({ "connection": connection, "column": ["*"] })), &words);
    let connection = json!([{ "jdbcUrl": database.url_at("127.0.0.1:1"), "table": ["t"] }]);
    fails(&database, &into(&database, json!({ "connection": connection, "column": ["*"] })), &words);
}

#[test]
fn a_wrong_password_user_or_database() {
    let database = Database::postgres();
    let wrong = json!({ "password": "wrong & secret", "table": ["t"], "column": ["*"] });
    let run = Scratch::new().run(&from(&database, wrong)).fails_with(1);
    run.says(["password authentication failed", "\"username\" and \"password\""]).does_not_say(["wrong & secret"]);
    let url = database.url().replace(database.name(), "no_such_database");
    let connection = json!([{ "jdbcUrl": [url], "table": ["t"] }]);
    let words = ["no_such_database", "does not exist", "look at the database's name"];
    fails(&database, &from(&database, json!({ "connection": connection, "column": ["*"] })), &words);
}

#[test]
fn a_wrong_table_or_column() {
    let database = Database::postgres();
    database.run("CREATE TABLE customers (id int, name text, born date)");
    fails(
        &database,
        &from(&database, json!({ "table": ["custmers"], "column": ["*"] })),
        &["did you mean \"customers\"?"],
    );
    fails(
        &database,
        &into(&database, json!({ "table": ["custmers"], "column": ["*"] })),
        &["did you mean \"customers\"?", "createTable"],
    );
    let columns = json!(["id", "nmae"]);
    fails(
        &database,
        &from(&database, json!({ "table": ["customers"], "column": columns })),
        &["no column \"nmae\": did you mean \"name\"?"],
    );
    fails(
        &database,
        &into(&database, json!({ "table": ["customers"], "column": ["nmae"] })),
        &["no column \"nmae\": did you mean \"name\"?"],
    );
    fails(
        &database,
        &from(&database, json!({ "table": ["customers"], "column": ["*"], "splitPk": "ide" })),
        &["did you mean \"id\"?"],
    );
    fails(
        &database,
        &into(&database, json!({ "table": ["customers"], "column": ["*"] })),
        &["the records have 1 column, but 3 of table customers"],
    );
    fails(
        &database,
        &from(&database, json!({ "querySql": ["select * form customers"] })),
        &["syntax error", "select * form customers"],
    );
    fails(
        &database,
        &from(&database, json!({ "table": ["customers"], "column": ["*"], "where": "id = " })),
        &["syntax error"],
    );
}

#[test]
fn a_right_that_is_missing() {
    let database = Database::postgres();
    database.run("CREATE TABLE t (a int); CREATE ROLE nobody_here LOGIN PASSWORD 'x'");
    let parameter = json!({ "username": "nobody_here", "password": "x", "table": ["t"], "column": ["a"] });
    let outcome = Scratch::new().run(&into(&database, parameter)).fails_with(1);
    database.run("DROP ROLE nobody_here");
    outcome.says(["permission denied for table t", "GRANT"]);
}

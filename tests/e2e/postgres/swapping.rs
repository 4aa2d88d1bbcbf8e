//! Loading aside: a table beside the one that is in use, which takes its place when all is there; as the plugin's README has it.

use transship_tests::Database;
use transship_tests::{Job, Scratch, json};

use super::{reader, writer};

/// The job of the README, with a query of the test's.
fn job(database: &Database, query: &str) -> Job {
    let parameter = json!({
        "table": ["orders_new"],
        "column": ["*"],
        "preSql": [
            "drop table if exists orders_new",
            "create table orders_new (like orders including all)"
        ],
        "postSql": [
            "begin; lock table orders; alter table orders rename to orders_old; alter table orders_new rename to orders; \
             drop table orders_old; commit"
        ]
    });
    Job::new(reader(database, json!({ "querySql": [query] })), writer(database, parameter))
        .with("job.setting.errorLimit.record", 0)
}

fn table_in_use() -> Database {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL, total numeric(12,2) CHECK (total >= 0)); \
         CREATE INDEX ON orders (customer); INSERT INTO orders VALUES (1, 'old', 1)",
    );
    database
}

/// Tables by their names, and what is in the one in use.
fn state(database: &Database) -> (Vec<String>, String) {
    let tables =
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1";
    (database.rows(tables), database.value("SELECT count(*), min(customer) FROM orders"))
}

#[test]
fn a_table_loaded_aside_takes_the_place_of_the_old_one() {
    let database = table_in_use();
    // Again and again.
    for rows in [5000, 7000] {
        let query = format!("select g, 'new', g from generate_series(1, {rows}) g");
        Scratch::new().run(&job(&database, &query)).succeeds();
        assert_eq!(state(&database), (vec!["orders".into()], format!("{rows}\tnew")));
    }
    // It has the keys, indexes and constraints of the old one.
    assert_eq!(database.value("SELECT count(*) FROM pg_indexes WHERE tablename = 'orders'"), "2");
    assert_eq!(
        database.value("SELECT count(*) FROM pg_constraint WHERE conrelid = 'orders'::regclass AND contype = 'c'"),
        "1"
    );
}

#[test]
fn the_old_table_stays_whatever_fails() {
    let database = table_in_use();
    let old = "1\told".to_string();
    // A record that the new table does not take.
    Scratch::new().run(&job(&database, "select g, 'new', 500 - g from generate_series(1, 1000) g")).fails_with(6);
    assert_eq!(state(&database), (vec!["orders".into(), "orders_new".into()], old.clone()));
    // A reader that fails at half.
    Scratch::new()
        .run(&job(&database, "select g, 'new', 1000 / (g - 500) + 1000 from generate_series(1, 1000) g"))
        .fails_with(1);
    assert_eq!(state(&database).1, old);
    // The swap itself, which is undone as a whole.
    database.run("CREATE VIEW seen AS SELECT * FROM orders");
    let run = Scratch::new().run(&job(&database, "select g, 'new', g from generate_series(1, 1000) g")).fails_with(1);
    run.says(["of \"postSql\"", "other objects depend on it"]);
    assert_eq!(state(&database), (vec!["orders".into(), "orders_new".into()], old));
}

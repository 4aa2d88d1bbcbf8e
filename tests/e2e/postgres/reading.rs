//! Reading: which rows and columns come, in which parts, and as of which moment.

use transship_tests::Database;
use transship_tests::{Job, Scratch, json, plugin};

use super::{copy, reader, writer};

/// What a reader with these parameters gives, with so many channels, as sorted lines.
fn read(database: &Database, channels: u32, parameter: transship_tests::Value) -> Vec<String> {
    let scratch = Scratch::new();
    let out =
        json!({ "path": "out", "fileName": "f", "writeMode": "truncate", "fieldDelimiter": "|", "nullFormat": "NULL" });
    let job = Job::new(reader(database, parameter), plugin("txtfilewriter", out)).channels(channels);
    scratch.run(&job).succeeds();
    let files = scratch.files();
    let mut lines: Vec<_> =
        files.iter().filter(|name| name.starts_with("out/")).flat_map(|name| scratch.lines(name)).collect();
    lines.sort();
    lines
}

#[test]
fn columns_are_names_constants_and_expressions() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE \"CaseT\" (\"Id\" int, \"jsonData\" text, \"8897_year\" int, \"order\" int, \"a\"\"b\" int); \
         INSERT INTO \"CaseT\" VALUES (1, 'x', 2, 3, 4)",
    );
    for table in ["CaseT", "\"CaseT\"", "public.CaseT", "public.\"CaseT\""] {
        assert_eq!(read(&database, 1, json!({ "table": [table], "column": ["*"] })), ["1|x|2|3|4"], "{table}");
    }
    let columns = json!([
        "Id",
        "\"jsonData\"",
        "8897_year",
        "order",
        "a\"b",
        "'constant'",
        "1 + 1",
        "null",
        "\"Id\"::text || 'x'"
    ]);
    assert_eq!(read(&database, 1, json!({ "table": ["CaseT"], "column": columns })), ["1|x|2|3|4|constant|2|NULL|1x"]);
}

/// Trap 55.
/// An `or` in the condition stays inside of it.
/// Trap 54.
/// What is for tables does not touch queries.
#[test]
fn conditions_and_queries_are_taken_as_they_are() {
    let database = Database::postgres();
    database.run("CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, NULL)");
    let condition = json!({ "table": ["t"], "column": ["a"], "where": "a = 1 or a = 3 ;", "splitPk": "a" });
    assert_eq!(read(&database, 2, condition), ["1", "3"]);
    let queries = json!(["select a, b from t where a < 2; ", "select 7, 'q' -- the last"]);
    assert_eq!(read(&database, 2, json!({ "querySql": queries, "where": "a = 99", "column": ["b"] })), ["1|x", "7|q"]);
}

#[test]
fn several_tables_are_read_as_one() {
    let database = Database::postgres();
    for number in 8..=10 {
        database.run(&format!("CREATE TABLE t_{number:02} (a int); INSERT INTO t_{number:02} VALUES ({number})"));
    }
    assert_eq!(read(&database, 2, json!({ "table": ["t_[08-10]"], "column": ["a"] })), ["10", "8", "9"]);
}

/// Trap 53.
/// `splitFactor` counts once, however many databases there are.
#[test]
fn the_split_factor_is_not_multiplied_by_databases() {
    let database = Database::postgres();
    database.run("CREATE TABLE t AS SELECT g AS a FROM generate_series(1, 1000) g; ALTER TABLE t ALTER a SET NOT NULL");
    let tasks = |connections: usize| {
        let connection: Vec<_> =
            (0..connections).map(|_| json!({ "jdbcUrl": [database.url()], "table": ["t"] })).collect();
        let parameter = json!({ "connection": connection, "column": ["a"], "splitPk": "a", "splitFactor": 3 });
        let job = Job::new(reader(&database, parameter), plugin("streamwriter", json!({ "print": false }))).channels(2);
        let run = Scratch::new().run(&job).succeeds();
        assert_eq!(run.summary()["counts"]["read"], 1000 * connections, "{run}");
        run.summary()["tasks"].as_array().unwrap().len()
    };
    // Two channels times three; of several tables each is cut for its share of the channels.
    assert_eq!(tasks(1), 6);
    assert!(tasks(3) <= 6, "{} tasks of three tables", tasks(3));
}

/// Trap 48.
/// Bounds are compared by the database, so no collation can lose rows or double them.
/// Trap 50.
/// Rows without a key are read, too.
/// Trap 51.
/// Each row is in one range, those on the bounds and those of a single key as well.
#[test]
fn ranges_of_any_key_are_together_the_table() {
    let database = Database::postgres();
    database.run(
        "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
         CREATE TYPE mood AS ENUM ('z', 'a', 'm'); \
         CREATE TABLE t AS SELECT g AS id, (g * 7919 % 1000 - 500)::bigint AS i, \
           CASE WHEN g % 10 > 0 THEN (g * 31 % 97 / 7.0)::numeric END AS n, (g % 50 / 3.0)::float8 AS f, \
           date '1999-12-20' + g % 400 AS d, timestamptz '2024-03-10 00:00+00' + g * interval '7 min' AS tz, \
           md5(g::text)::uuid AS u, (chr(65 + g % 26) || chr(97 + g * 7 % 26) || '''\\é') COLLATE nocase AS s, \
           (ARRAY['z', 'a', 'm'])[g % 3 + 1]::mood AS e, decode(md5(g::text), 'hex') AS b, g % 7 AS k1, g % 11 AS k2, \
           'same' AS same, NULL::int AS nothing, '10.0.0.0'::inet + g % 200 AS ip FROM generate_series(1, 3000) g",
    );
    let all: Vec<String> = database.rows("SELECT id FROM t ORDER BY id::text COLLATE \"C\"");
    let keys = ["id", "i", "n", "f", "d", "tz", "u", "s", "e", "b", "same", "nothing", "ip", "k1, k2"];
    for (key, channels) in keys.into_iter().map(|key| (key, 2)).chain([("n", 1), ("s", 16)]) {
        let read = read(&database, channels, json!({ "table": ["t"], "column": ["id"], "splitPk": key }));
        assert!(read == all, "{key} on {channels} channels: {} rows", read.len());
    }
}

/// Trap 52.
/// With one channel there is one query, whatever `splitPk` says.
#[test]
fn a_large_table_is_cut_by_its_pages() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE t (id int, filler text); ALTER TABLE t ALTER filler SET STORAGE PLAIN; \
         INSERT INTO t SELECT g, repeat('x', 2000) FROM generate_series(1, 20000) g; ANALYZE t; \
         DELETE FROM t WHERE id % 3 = 0",
    );
    let all: Vec<String> = database.rows("SELECT id FROM t ORDER BY id::text COLLATE \"C\"");
    for (channels, splits) in [(1, 1), (4, 4)] {
        let scratch = Scratch::new();
        let out = json!({ "path": "out", "fileName": "f", "writeMode": "truncate" });
        let reader = reader(&database, json!({ "table": ["t"], "column": ["id"] }));
        let run = scratch.run(&Job::new(reader, plugin("txtfilewriter", out)).channels(channels)).succeeds();
        let tasks = run.summary()["tasks"].as_array().unwrap().len();
        assert!(if channels == 1 { tasks == splits } else { tasks >= splits }, "{run}");
        let files = scratch.files();
        let mut lines: Vec<_> =
            files.iter().filter(|name| name.starts_with("out/")).flat_map(|name| scratch.lines(name)).collect();
        lines.sort();
        assert!(lines == all, "{} rows on {channels} channels", lines.len());
    }
}

#[test]
fn an_aggregate_is_never_cut() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE t AS SELECT g AS id, repeat('x', 1000) AS filler FROM generate_series(1, 50000) g; ANALYZE t",
    );
    assert_eq!(read(&database, 4, json!({ "table": ["t"], "column": ["count(*)"] })), ["50000"]);
}

/// Trap 49.
/// All tasks see one moment. Money goes from one half of a table to the other all the time, and none is lost.
#[test]
fn all_tasks_read_one_moment() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE accounts AS SELECT g AS id, 100::bigint AS balance FROM generate_series(1, 1000) g; \
                  ALTER TABLE accounts ADD PRIMARY KEY (id)",
    );
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                database.run(
                    "BEGIN; UPDATE accounts SET balance = balance - 1 WHERE id <= 10; \
                     UPDATE accounts SET balance = balance + 1 WHERE id > 990; COMMIT",
                );
            }
        });
        for _ in 0..3 {
            let read = read(&database, 8, json!({ "table": ["accounts"], "column": ["balance"], "splitPk": "id" }));
            let sum: i64 = read.iter().map(|balance| balance.parse::<i64>().unwrap()).sum();
            assert_eq!((read.len(), sum), (1000, 100_000));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// A TRUNCATE of the writer need not wait for the reader's own transaction.
#[test]
fn the_target_may_be_looked_at_by_the_query() {
    let database = Database::postgres();
    database.run("CREATE TABLE source AS SELECT 1 AS a; CREATE TABLE target (a int)");
    let query = "select a from source where a not in (select a from target)";
    let job = Job::new(
        reader(&database, json!({ "querySql": [query] })),
        writer(&database, json!({ "table": ["target"], "column": ["a"], "preSql": ["truncate @table"] })),
    );
    Scratch::new().run(&job).succeeds();
    assert_eq!(database.value("SELECT a FROM target"), "1");
}

/// Trap 56.
/// `preSql` of a reader asks, and changes nothing.
/// Trap 57.
/// Of several URLs the first that answers is read.
#[test]
fn a_database_that_does_not_answer_is_passed_over() {
    let database = Database::postgres();
    database.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1)");
    let urls = json!([database.url_at("127.0.0.1:1"), database.url()]);
    let connection = json!([{ "jdbcUrl": urls, "table": ["t"] }]);
    let probes = json!(["select 0"]);
    assert_eq!(read(&database, 1, json!({ "connection": connection, "column": ["a"], "preSql": probes })), ["1"]);
    let job = Job::new(
        reader(&database, json!({ "table": ["t"], "column": ["a"], "preSql": ["select count(*) from t"] })),
        plugin("streamwriter", json!({ "print": false })),
    );
    Scratch::new().run(&job).fails_with(1).says(["yields 1, not 0"]);
}

/// Pages of a view, a partitioned or a foreign table say nothing of where its rows are.
#[test]
fn only_tables_with_pages_of_their_own_are_cut_by_pages() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE wide (id int, filler text); ALTER TABLE wide ALTER filler SET STORAGE PLAIN; \
         INSERT INTO wide SELECT g, repeat('x', 4000) FROM generate_series(1, 10000) g; \
         CREATE TABLE parts (id int, filler text) PARTITION BY HASH (id); \
         ALTER TABLE wide ADD CONSTRAINT hashed CHECK (satisfies_hash_partition('parts'::regclass, 1, 0, id)); \
         ALTER TABLE parts ATTACH PARTITION wide FOR VALUES WITH (MODULUS 1, REMAINDER 0); \
         CREATE VIEW seen AS SELECT * FROM wide; \
         ANALYZE wide",
    );
    let mut tables = vec![("wide", true), ("parts", false), ("seen", false)];
    if database.value("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == "1" {
        let (host, port) = database.address().rsplit_once(':').unwrap();
        database.run(&format!(
            "CREATE EXTENSION postgres_fdw; \
             CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', port '{port}', dbname '{}'); \
             CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (user '{}', password '{}'); \
             CREATE FOREIGN TABLE elsewhere (id int, filler text) SERVER here OPTIONS (table_name 'wide')",
            database.name(),
            database.username(),
            database.password().replace('\'', "''"),
        ));
        tables.push(("elsewhere", false));
    }
    for (table, is_cut) in tables {
        let reader = reader(&database, json!({ "table": [table], "column": ["id"] }));
        let job = Job::new(reader, plugin("streamwriter", json!({ "print": false }))).channels(4);
        let run = Scratch::new().run(&job).succeeds();
        let tasks = run.summary()["tasks"].as_array().unwrap().len();
        assert_eq!(tasks > 1, is_cut, "{table}: {tasks} tasks");
        assert_eq!(run.summary()["counts"]["read"], 10_000, "{table}: {run}");
    }
}

#[test]
fn names_with_dots_and_quotes_are_found() {
    let database = Database::postgres();
    database.run(
        "CREATE SCHEMA \"my.schema\"; CREATE TABLE \"my.schema\".\"The \"\"Table\"\"\" (\"select\" int, \"a.b\" int); \
         INSERT INTO \"my.schema\".\"The \"\"Table\"\"\" VALUES (1, 2); CREATE TABLE \"dotted.name\" (a int, b int)",
    );
    let table = "\"my.schema\".\"The \"\"Table\"\"\"";
    assert_eq!(read(&database, 1, json!({ "table": [table], "column": ["a.b", "select"] })), ["2|1"]);
    let job = Job::new(
        reader(&database, json!({ "table": [table], "column": ["*"] })),
        writer(&database, json!({ "table": ["\"dotted.name\""], "column": ["a", "b"] })),
    );
    Scratch::new().run(&job).succeeds();
    assert_eq!(database.value("SELECT a, b FROM \"dotted.name\""), "1\t2");
}

#[test]
fn a_view_a_partitioned_table_and_an_empty_one_are_read() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE parts (a int) PARTITION BY RANGE (a); CREATE TABLE one PARTITION OF parts FOR VALUES FROM (0) TO (10); \
         CREATE TABLE two PARTITION OF parts FOR VALUES FROM (10) TO (20); INSERT INTO parts SELECT generate_series(0, 19); \
         CREATE VIEW seen AS SELECT a, 'v' AS b FROM parts; CREATE TABLE empty (a int)",
    );
    assert_eq!(read(&database, 4, json!({ "table": ["parts"], "column": ["a"], "splitPk": "a" })).len(), 20);
    assert_eq!(read(&database, 4, json!({ "table": ["seen"], "column": ["*"] })).len(), 20);
    assert!(read(&database, 4, json!({ "table": ["empty"], "column": ["*"], "splitPk": "a" })).is_empty());
    database.run("CREATE TABLE target (a int)");
    Scratch::new().run(&copy(&database, "parts", "target")).succeeds();
    assert_eq!(database.value("SELECT count(*) FROM target"), "20");
}

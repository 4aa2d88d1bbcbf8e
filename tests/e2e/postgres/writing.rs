//! Writing: modes, statements before and behind, and records that the server refuses.

use transship_tests::Database;
use transship_tests::{Job, Scratch, Value, json, plugin};

use super::{copy, reader, writer};

/// Writes the rows of a query with these parameters.
fn write(database: &Database, query: &str, parameter: Value) -> (Scratch, transship_tests::Finished) {
    let scratch = Scratch::new();
    let run = scratch.run(&Job::new(reader(database, json!({ "querySql": [query] })), writer(database, parameter)));
    (scratch, run)
}

/// Trap 65.
/// The good records of a bad batch are written, once; only the bad ones are dirty.
#[test]
fn bad_records_in_the_middle_are_dirty_and_no_others() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE source AS SELECT g AS id, g AS v, 'text ' || g AS t FROM generate_series(1, 50000) g; \
         UPDATE source SET id = 5 WHERE id IN (7, 20000); UPDATE source SET v = -1 WHERE v IN (1, 30000, 50000); \
         UPDATE source SET t = NULL WHERE id = 40000; \
         CREATE TABLE target (id int PRIMARY KEY, v int CHECK (v > 0), t text NOT NULL)",
    );
    let scratch = Scratch::new();
    let run = scratch.run(&copy(&database, "source", "target")).succeeds();
    let counts = &run.summary()["counts"];
    assert_eq!(
        (counts["read"].as_u64(), counts["written"].as_u64(), counts["dirty_at_writer"].as_u64()),
        (Some(50_000), Some(49_994), Some(6))
    );
    assert_eq!(database.value("SELECT count(*), count(DISTINCT id), min(v) FROM target"), "49994\t49994\t2");
    let dirty = scratch.dirty_records();
    let of = |column: &str, words: &str| {
        let is_it = |record: &&Value| record["column"] == column && record["cause"].as_str().unwrap().contains(words);
        dirty.iter().filter(is_it).count()
    };
    assert_eq!(of("id", "already exists"), 2, "{dirty:?}");
    assert_eq!(of("t", "null value in column"), 1, "{dirty:?}");
    assert_eq!(dirty.iter().filter(|record| record["cause"].as_str().unwrap().contains("target_v_check")).count(), 3);
    assert!(dirty.iter().all(|record| record["position"].is_u64() && record["record"].is_object()), "{dirty:?}");
}

#[test]
fn records_that_break_a_foreign_key_or_a_trigger_are_found() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE parents (id int PRIMARY KEY); INSERT INTO parents VALUES (1), (2); \
         CREATE TABLE target (id int, parent int REFERENCES parents); \
         CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.id = 77 THEN RAISE 'no 77 here'; END IF; RETURN new; END $$; \
         CREATE TRIGGER no BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION no()",
    );
    let query = "select g as id, case when g in (10, 500) then 3 else g % 2 + 1 end from generate_series(1, 1000) g";
    let (scratch, run) = write(&database, query, json!({ "table": ["target"], "column": ["id", "parent"] }));
    run.succeeds();
    assert_eq!(database.value("SELECT count(*) FROM target WHERE id NOT IN (10, 77, 500)"), "997");
    assert_eq!(database.value("SELECT count(*) FROM target"), "997");
    let mut causes: Vec<_> =
        scratch.dirty_records().iter().map(|record| record["cause"].as_str().unwrap().to_string()).collect();
    causes.sort();
    assert_eq!(causes.len(), 3);
    assert!(
        causes[0].contains("foreign key") && causes[1].contains("foreign key") && causes[2].contains("no 77 here"),
        "{causes:?}"
    );
}

/// Of all kinds of constraints, many of each; whatever is found out about them beforehand, the server has the last word.
#[test]
fn many_bad_records_of_all_kinds_are_found() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE parents (a int, b text, PRIMARY KEY (a, b)); INSERT INTO parents SELECT g, 'p' || g FROM generate_series(0, 9) g; \
         CREATE TABLE source AS SELECT g AS id, g % 10 AS a, 'p' || g % 10 AS b, g AS low, g + 1 AS high, 'x' || g AS \"Text\", \
           g % 7 AS small, 100::bigint AS wide FROM generate_series(1, 60000) g; \
         UPDATE source SET b = 'none' WHERE id % 1000 = 1; UPDATE source SET high = low - 1 WHERE id % 1000 = 2; \
         UPDATE source SET \"Text\" = NULL WHERE id % 1000 = 3; UPDATE source SET small = -1 WHERE id % 1000 = 4; \
         UPDATE source SET wide = 3000000000 WHERE id % 1000 = 5; UPDATE source SET id = id - 10 WHERE id % 1000 = 16",
    );
    for mode in ["insert", "insert ignore", "update"] {
        database.run(
            "DROP TABLE IF EXISTS target; DROP DOMAIN IF EXISTS tiny; CREATE DOMAIN tiny AS int CHECK (value >= 0); \
             CREATE TABLE target (id int PRIMARY KEY, a int, b text, low int, high int, \"Text\" text NOT NULL, small tiny, wide int, \
               FOREIGN KEY (a, b) REFERENCES parents, CHECK (low < high), CHECK (\"Text\" <> ''))",
        );
        let scratch = Scratch::new();
        let job = Job::new(
            reader(&database, json!({ "table": ["source"], "column": ["*"], "where": "true" })),
            writer(&database, json!({ "table": ["target"], "column": ["*"], "writeMode": mode })),
        );
        let run = scratch.run(&job).succeeds();
        database.run("ALTER TABLE target ALTER small TYPE int; DROP DOMAIN tiny");
        let counts = &run.summary()["counts"];
        let keys = database
            .value("SELECT count(*), min(low), bool_and(low < high) FROM target WHERE id % 1000 NOT BETWEEN 1 AND 5");
        // Where the last of a key counts, the first with key 6 has been replaced.
        let first = if mode == "update" { 7 } else { 6 };
        assert_eq!(keys, format!("59640\t{first}\tt"), "{mode}: {run}");
        assert_eq!(database.value("SELECT count(*) FROM target"), "59640", "{mode}");
        // Of 60 records with the key of another one: dirty, left out, or the last of both.
        let (dirty, duplicates) = match mode {
            "insert" => (360, 0),
            "insert ignore" => (300, 60),
            _ => (300, 0),
        };
        assert_eq!(
            (counts["dirty_at_writer"].as_u64(), counts["duplicates"].as_u64()),
            (Some(dirty), Some(duplicates)),
            "{mode}: {run}"
        );
    }
}

#[test]
fn what_a_trigger_puts_right_is_not_bad() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE target (id int, v int NOT NULL CHECK (v > 0)); \
         CREATE FUNCTION mend() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
           IF new.v IS NULL OR new.v = -1 THEN new.v := 1; END IF; RETURN new; END $$; \
         CREATE TRIGGER mend BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION mend()",
    );
    let query = "select g, case when g % 100 = 1 then null when g % 100 = 2 then -1 when g % 1000 = 3 then -2 else g end from generate_series(1, 20000) g";
    let (scratch, run) = write(&database, query, json!({ "table": ["target"], "column": ["*"] }));
    run.succeeds();
    assert_eq!(database.value("SELECT count(*), count(*) FILTER (WHERE v = 1) FROM target"), "19980\t400");
    assert_eq!(scratch.dirty_records().len(), 20);
}

/// A record may refer to one that comes with it.
#[test]
fn a_foreign_key_into_the_table_itself_is_for_the_server_to_judge() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (id int PRIMARY KEY, parent int REFERENCES target)");
    let query = "select g, case when g % 1000 = 0 then -1 else nullif(g / 2, 0) end from generate_series(1, 5000) g";
    let (scratch, run) = write(&database, query, json!({ "table": ["target"], "column": ["*"] }));
    run.succeeds();
    // Whose parent is bad is bad as well.
    let dirty = scratch.dirty_records().len();
    assert_eq!(database.value("SELECT count(*) FROM target"), (5000 - dirty).to_string());
    assert_eq!(dirty, 5 + 4);
}

/// Trap 68.
/// One table, which any number of tasks write into; what is to be done before is done once.
#[test]
fn any_number_of_tasks_write_into_one_table() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int); INSERT INTO target VALUES (0); CREATE TABLE log (line text)");
    let queries: Vec<_> =
        (0..7).map(|part| format!("select generate_series({part} * 10 + 1, {part} * 10 + 10)")).collect();
    let parameter = json!({
        "table": ["target"], "column": ["a"],
        "preSql": ["truncate @table", "insert into log values ('before')"], "postSql": ["insert into log values ('behind')"],
    });
    let job = Job::new(reader(&database, json!({ "querySql": queries })), writer(&database, parameter)).channels(3);
    Scratch::new().run(&job).succeeds();
    assert_eq!(database.value("SELECT count(*), min(a), max(a) FROM target"), "70\t1\t70");
    assert_eq!(database.rows("SELECT * FROM log"), ["before", "behind"]);
    let (_, run) = write(&database, "select 1", json!({ "table": ["target", "log"], "column": ["a"] }));
    run.fails_with(2).says(["table"]);
}

/// Trap 67.
/// Any `writeMode` is an error in DataX; here `insert` says what happens anyway, and `update` is an upsert.
/// Trap 66.
/// Columns that are not written keep their values, and the key is not set.
#[test]
fn update_changes_what_is_there_and_the_last_of_a_key_counts() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE target (id int PRIMARY KEY, \"Value\" text, other int DEFAULT 7, always bigint GENERATED ALWAYS AS IDENTITY); \
         INSERT INTO target VALUES (1, 'old', 99, DEFAULT), (9, 'stays', 9, DEFAULT)",
    );
    let query = "select * from (values (1, 'a'), (2, 'b'), (1, 'c'), (3, 'd'), (2, 'e')) v";
    for mode in ["update", "update (id)", "UPDATE(\"id\")"] {
        let (_, run) =
            write(&database, query, json!({ "table": ["target"], "column": ["id", "Value"], "writeMode": mode }));
        let run = run.succeeds();
        assert_eq!(run.summary()["counts"]["written"], 5, "{run}");
        let rows = database.rows("SELECT id, \"Value\", other, always FROM target WHERE id <> 9 ORDER BY id");
        assert_eq!(rows[0], "1\tc\t99\t1");
        assert!(rows[1].starts_with("2\te\t7") && rows[2].starts_with("3\td\t7"), "{rows:?}");
    }
    assert_eq!(database.value("SELECT \"Value\" FROM target WHERE id = 9"), "stays");
}

#[test]
fn rows_without_a_key_are_never_the_same() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (k int UNIQUE, v int)");
    let query = "select * from (values (1, 1), (null, 2), (null, 3), (1, 4)) v";
    let (_, run) = write(&database, query, json!({ "table": ["target"], "column": ["*"], "writeMode": "update (k)" }));
    run.succeeds();
    assert_eq!(database.rows("SELECT k, v FROM target ORDER BY v"), ["NULL\t2", "NULL\t3", "1\t4"]);
}

#[test]
fn insert_ignore_counts_duplicates_and_other_faults_are_dirty() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (id int PRIMARY KEY, v int CHECK (v > 0)); INSERT INTO target VALUES (1, 1)");
    let query = "select * from (values (1, 5), (2, 5), (2, 6), (3, -1)) v";
    let (scratch, run) =
        write(&database, query, json!({ "table": ["target"], "column": ["*"], "writeMode": "insert ignore" }));
    let run = run.succeeds();
    let counts = &run.summary()["counts"];
    assert_eq!(
        (counts["written"].as_u64(), counts["duplicates"].as_u64(), counts["dirty_at_writer"].as_u64()),
        (Some(1), Some(2), Some(1)),
        "{run}"
    );
    assert_eq!(database.rows("SELECT * FROM target ORDER BY id"), ["1\t1", "2\t5"]);
    assert!(scratch.dirty_records()[0]["cause"].as_str().unwrap().contains("target_v_check"));
}

#[test]
fn replace_is_refused_with_advice() {
    let database = Database::postgres();
    let (_, run) = write(&database, "select 1", json!({ "table": ["t"], "column": ["a"], "writeMode": "replace" }));
    run.fails_with(2).says(["update (a, b)"]);
}

/// Trap 69.
/// `session` counts for `preSql` as well.
#[test]
fn statements_run_before_and_behind() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int); INSERT INTO target VALUES (9); CREATE TABLE log (line text)");
    let parameter = json!({
        "table": ["target"], "column": ["a"],
        "session": ["set application_name = 'mine'"],
        "preSql": ["truncate @table", "", "insert into log select 'before ' || count(*) || ' ' || current_setting('application_name') from @table"],
        "postSql": ["insert into log select 'behind ' || count(*) from @table", "vacuum @table"],
    });
    let (_, run) = write(&database, "select generate_series(1, 3)", parameter);
    run.succeeds();
    assert_eq!(database.rows("SELECT line FROM log ORDER BY line DESC"), ["behind 3", "before 0 mine"]);
    // Two that cannot run in a transaction, or fail.
    let (_, run) =
        write(&database, "select 1", json!({ "table": ["target"], "column": ["a"], "preSql": ["vacuum @table"] }));
    run.succeeds();
    let pre_sql = json!(["delete from @table", "select 1/0"]);
    let (_, run) = write(&database, "select 1", json!({ "table": ["target"], "column": ["a"], "preSql": pre_sql }));
    run.fails_with(1).says(["the statement \"select 1/0\" of \"preSql\"", "division by zero"]);
    assert_eq!(database.value("SELECT count(*) FROM target"), "4");
}

#[test]
fn computed_columns_are_left_out_and_identities_written_when_named() {
    let database = Database::postgres();
    database.run(
        "CREATE TABLE target (a int, c int GENERATED ALWAYS AS (a * 2) STORED, \"order\" text, i bigint GENERATED ALWAYS AS IDENTITY)",
    );
    let (_, run) = write(&database, "select 1, 'x'", json!({ "table": ["target"], "column": ["*"] }));
    run.succeeds();
    let (_, run) = write(&database, "select 50, 2", json!({ "table": ["target"], "column": ["i", "a"] }));
    run.succeeds();
    assert_eq!(database.rows("SELECT * FROM target ORDER BY a"), ["1\t2\tx\t1", "2\t4\tNULL\t50"]);
    let (_, run) = write(&database, "select 1, 2", json!({ "table": ["target"], "column": ["a", "c"] }));
    run.fails_with(1).says(["is computed by the server: leave it out of \"column\""]);
}

/// Trap 70.
/// Sizes of batches change nothing but the speed.
#[test]
fn batches_may_have_any_size() {
    let database = Database::postgres();
    for size in [1, 7, 2048] {
        database.run("DROP TABLE IF EXISTS target; CREATE TABLE target (a int PRIMARY KEY)");
        let parameter = json!({ "table": ["target"], "column": ["a"], "batchSize": size, "batchByteSize": 1000 });
        let (scratch, run) = write(&database, "select g % 99 from generate_series(1, 200) g", parameter);
        run.succeeds();
        assert_eq!(database.value("SELECT count(*) FROM target"), "99");
        assert_eq!(scratch.dirty_records().len(), 101);
    }
}

#[test]
fn records_of_twenty_megabytes_pass() {
    let database = Database::postgres();
    database.run("CREATE TABLE target (a int, b text)");
    let query = "select g, repeat(chr(96 + g), 20000000) from generate_series(1, 5) g";
    let (_, run) = write(&database, query, json!({ "table": ["target"], "column": ["*"] }));
    run.succeeds();
    assert_eq!(database.value("SELECT count(*), min(length(b)), max(length(b)) FROM target"), "5\t20000000\t20000000");
}

#[test]
fn a_plan_tells_the_statements_and_touches_nothing() {
    let database = Database::postgres();
    let scratch = Scratch::new();
    let job = Job::new(
        plugin("streamreader", json!({ "sliceRecordCount": 1, "column": [{ "type": "long", "value": "1" }] })),
        writer(
            &database,
            json!({ "table": ["t"], "column": ["a"], "createTable": true, "writeMode": "update (a)", "preSql": ["truncate @table"] }),
        ),
    );
    scratch.job("job.json", &job);
    let run = scratch.transship(["plan", "job.json"]).run().succeeds();
    for text in ["CREATE TABLE IF NOT EXISTS t", "Int64 → bigint", "truncate t", "ON CONFLICT (a) DO UPDATE"] {
        assert!(run.stdout.contains(text), "no `{text}` in {run}");
    }
    assert!(!run.stdout.contains(database.password()), "{run}");
    assert_eq!(database.value("SELECT count(*) FROM pg_class WHERE relname = 't'"), "0");
}

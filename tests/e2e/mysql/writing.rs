//! Writing: modes, statements around the load, columns, and what becomes of rows that the table does not take.

use transship_tests::records::{json_lines, text};
use transship_tests::{Database, Job, Scratch, Value, json, plugin};

use super::{copy, lines, reader, run_job, writer};

/// Writes lines of a file into the table `t`, by a file and by statements, into a table made anew for each.
#[track_caller]
fn written(definition: &str, content: &str, parameter: Value, expected: &[&str]) -> Vec<Value> {
    let mut dirty = Vec::new();
    for load in [true, false] {
        let database = Database::mysql();
        database.run(definition);
        let scratch = Scratch::new();
        scratch.write("in.csv", content);
        let mut parameter = parameter.clone();
        parameter["loadData"] = load.into();
        parameter["table"] = json!(["t"]);
        if parameter.get("column").is_none() {
            parameter["column"] = json!(["*"]);
        }
        let run = run_job(&scratch, &Job::new(lines("in.csv"), writer(&database, parameter))).succeeds();
        assert_eq!(database.rows("SELECT * FROM t ORDER BY 1"), expected, "loadData {load}: {run}");
        dirty = if scratch.files().iter().any(|name| name.ends_with(".dirty.jsonl")) {
            scratch.dirty_records()
        } else {
            Vec::new()
        };
    }
    dirty
}

const KEYED: &str =
    "CREATE TABLE t (id int PRIMARY KEY, v varchar(10), n int DEFAULT 7); INSERT INTO t VALUES (1, 'old', 1)";

/// Trap 65.
#[test]
fn insert_makes_a_row_dirty_whose_key_is_there_and_keeps_all_others() {
    let dirty = written(
        KEYED,
        "0,a\n1,b\n2,c\n2,d\n3,e\n",
        json!({ "column": ["id", "v"] }),
        &["0\ta\t7", "1\told\t1", "2\tc\t7", "3\te\t7"],
    );
    let causes: Vec<_> = dirty.iter().map(|record| record["cause"].as_str().unwrap()).collect();
    assert_eq!(causes.len(), 2, "{causes:?}");
    assert!(causes.iter().all(|cause| cause.contains("Duplicate entry")), "{causes:?}");
}

#[test]
fn rows_that_are_dirty_for_the_same_reason_are_recorded_as_one_cause() {
    let database = Database::mysql();
    database.run(KEYED);
    let scratch = Scratch::new();
    scratch.write("in.csv", "1,b\n2,c\n2,d\n2,e\n");
    scratch.job(
        "job.json",
        &Job::new(lines("in.csv"), writer(&database, json!({ "table": ["t"], "column": ["id", "v"] }))),
    );
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    let lines = json_lines(&scratch.read("perf.jsonl"));
    let causes: Vec<_> = lines.iter().filter(|line| line["type"] == "dirty").collect();
    assert_eq!(causes.len(), 1, "{causes:?}");
    assert_eq!(causes[0]["count"], 3);
    assert!(text(causes[0], "/cause").starts_with("Duplicate entry '…' for key 'PRIMARY'"), "{causes:?}");
}

#[test]
fn insert_ignore_counts_what_is_there_and_says_no_more() {
    let database = Database::mysql();
    database.run(KEYED);
    let scratch = Scratch::new();
    scratch.write("in.csv", "0,a\n1,b\n2,c\n2,d\n");
    let parameter = json!({ "table": ["t"], "column": ["id", "v"], "writeMode": "insert ignore" });
    let run = run_job(&scratch, &Job::new(lines("in.csv"), writer(&database, parameter))).succeeds();
    run.says(["read 4 + added 0 = written 2 + filtered 0 + duplicates 2 + dirty 0"]);
    assert_eq!(database.rows("SELECT * FROM t ORDER BY 1"), ["0\ta\t7", "1\told\t1", "2\tc\t7"]);
}

#[test]
fn replace_gives_columns_that_the_record_has_not_their_defaults_and_update_leaves_them() {
    let content = "1,new\n2,x\n2,y\n";
    let replace = json!({ "column": ["id", "v"], "writeMode": "replace" });
    written(KEYED, content, replace, &["1\tnew\t7", "2\ty\t7"]);
    let update = json!({ "column": ["id", "v"], "writeMode": "update" });
    written(KEYED, content, update, &["1\tnew\t1", "2\ty\t7"]);
    let update_by_key = json!({ "column": ["id", "v"], "writeMode": "update (id)" });
    written(KEYED, content, update_by_key, &["1\tnew\t1", "2\ty\t7"]);
}

/// Traps 57, 68.
#[test]
fn a_writer_takes_the_url_as_a_list_too_but_one_table_alone() {
    let database = Database::mysql();
    database.run("CREATE TABLE t0 (a int); CREATE TABLE t1 (a int)");
    let scratch = Scratch::new();
    scratch.write("in.csv", "1\n");
    let job = |table: &str| {
        let connection = json!([{ "jdbcUrl": [database.url()], "table": [table] }]);
        Job::new(lines("in.csv"), writer(&database, json!({ "connection": connection, "column": ["a"] })))
    };
    run_job(&scratch, &job("t0")).succeeds();
    assert_eq!(database.rows("SELECT a FROM t0"), ["1"]);
    run_job(&scratch, &job("t[0-1]")).fails_with(2).says(["one job writes into one table"]);
}

#[test]
fn keys_that_are_there_are_found_without_taking_anything_back_or_by_statements() {
    // The last key is written by the server otherwise than it came.
    for (key, definition) in [
        ("one", "a int PRIMARY KEY, b varchar(9)"),
        ("two", "a int, b varchar(9), UNIQUE (b, a)"),
        ("odd", "a decimal(9,2) PRIMARY KEY, b varchar(9)"),
    ] {
        let database = Database::mysql();
        database.run(&format!("CREATE TABLE t ({definition}); INSERT INTO t VALUES (2, 'x')"));
        let scratch = Scratch::new();
        scratch.write("in.csv", "1,x\n2,x\n3,x\n1,x\n4,it's\n4,it's\n3,x\n2,x\n");
        let run = run_job(
            &scratch,
            &Job::new(lines("in.csv"), writer(&database, json!({ "table": ["t"], "column": ["*"] }))),
        )
        .succeeds();
        run.says(["written 3", "dirty 5"]);
        let lines: Vec<_> = scratch.dirty_records().iter().map(|record| record["position"].to_string()).collect();
        assert_eq!(lines, ["2", "4", "6", "7", "8"], "{key}");
        assert_eq!(database.value("SELECT count(*) FROM t"), "4", "{key}");
    }
}

#[test]
fn a_mode_that_is_none_is_refused_before_anything_is_done() {
    let database = Database::mysql();
    let scratch = Scratch::new();
    scratch.write("in.csv", "1\n");
    for mode in ["upsert", "delete", "create"] {
        let parameter = json!({ "table": ["t"], "column": ["*"], "writeMode": mode });
        run_job(&scratch, &Job::new(lines("in.csv"), writer(&database, parameter))).fails_with(2).says(["writeMode"]);
    }
}

/// Traps 62, 63.
#[test]
fn bad_rows_in_the_middle_are_dirty_with_their_cells_and_all_others_are_stored() {
    let definition = "CREATE TABLE t (id int PRIMARY KEY, s varchar(3), n tinyint unsigned, d date, e enum('a','b'), \
                      l varchar(9) CHARACTER SET latin1, x decimal(5,2), CHECK (x < 500))";
    let good = "1,abc,255,2024-02-29,a,é,1.5\n";
    let bad = [
        "2,abcd,1,2024-01-01,a,é,1",
        "3,abc,256,2024-01-01,a,é,1",
        "4,abc,1,2024-02-30,a,é,1",
        "5,abc,1,2024-01-01,c,é,1",
        "6,abc,1,2024-01-01,1,é,1",
        "7,abc,1,2024-01-01,a,中,1",
        "8,abc,1,2024-01-01,a,é,1.005",
        "9,abc,1,2024-01-01,a,é,1000",
        "10,abc,1.5,2024-01-01,a,é,1",
        "11,abc,1,2024-01-01,a,é,501",
        "x,abc,1,2024-01-01,a,é,1",
    ];
    let content = format!("{good}{}\n12,,\\N,\\N,b,,\\N\n", bad.join("\n"));
    let expected = ["1\tabc\t255\t2024-02-29\ta\té\t1.50", "12\t\tNULL\tNULL\tb\t\tNULL"];
    let dirty = written(definition, &content, json!({}), &expected);
    let columns: Vec<_> = dirty.iter().map(|record| record["column"].as_str().unwrap_or("")).collect();
    // The server does not say which column a CHECK is about.
    let mut columns_in_order = columns.clone();
    columns_in_order.sort_unstable();
    assert_eq!(
        columns_in_order,
        ["", "col0", "col1", "col2", "col2", "col3", "col4", "col4", "col5", "col6", "col6"],
        "{dirty:#?}"
    );
}

#[test]
fn many_rows_with_a_few_bad_ones_among_them_are_stored_but_for_these() {
    let database = Database::mysql();
    database.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (5000, 0), (12345, 0)");
    let scratch = Scratch::new();
    let content: String = (1..=20_000).map(|id| format!("{id},{id}\n")).collect();
    scratch.write("in.csv", content);
    let run = scratch
        .run(&Job::new(lines("in.csv"), writer(&database, json!({ "table": ["t"], "column": ["*"] }))))
        .succeeds();
    run.says(["written 19998", "dirty 2"]);
    assert_eq!(
        database.value("SELECT count(*), sum(v) FROM t"),
        format!("20000\t{}", 20_000u64 * 20_001 / 2 - 5_000 - 12_345)
    );
}

/// First and last of all rows and of a statement, side by side, far apart, and more of them than good ones: each is found, and it alone.
#[test]
fn refused_rows_are_found_wherever_they_stand() {
    const ROWS: usize = 1_500;
    // Of statements with 500 rows each.
    let few = [1, 2, 170, 171, 172, 300, 499, 500, 501, 1000, 1001, 1499, 1500];
    let places: [Vec<usize>; 3] =
        [few.to_vec(), (1..=ROWS).step_by(7).collect(), (1..=ROWS).filter(|id| id % 10 > 3).collect()];
    let database = Database::mysql();
    for bad in places {
        let marks: Vec<String> = bad.iter().map(|id| format!("({id})")).collect();
        for (definition, cause) in [
            // A number that the table forbids; a key that is there.
            ("CREATE OR REPLACE TABLE t (id int PRIMARY KEY, v int, CHECK (v >= 0))".to_string(), "failed for"),
            (
                format!(
                    "CREATE OR REPLACE TABLE t (id int, v int, u varbinary(9) UNIQUE); \
                     INSERT INTO t (id) VALUES {}; UPDATE t SET u = id; UPDATE t SET id = -id",
                    marks.join(", ")
                ),
                "Duplicate entry",
            ),
        ] {
            for load in [true, false] {
                database.run(&definition);
                let scratch = Scratch::new();
                let is_bad = |id: &usize| bad.binary_search(id).is_ok();
                let line = |id: usize| match cause {
                    "failed for" => format!("{id},{}\n", if is_bad(&id) { -1 } else { 1 }),
                    _ => format!("{id},1,{id}\n"),
                };
                scratch.write("in.csv", (1..=ROWS).map(line).collect::<String>());
                let parameter = json!({ "table": ["t"], "column": ["*"], "loadData": load, "batchSize": 500 });
                run_job(&scratch, &Job::new(lines("in.csv"), writer(&database, parameter))).succeeds();
                let mut found: Vec<usize> = scratch
                    .dirty_records()
                    .iter()
                    .map(|record| record["position"].as_u64().unwrap() as usize)
                    .collect();
                found.sort_unstable();
                assert_eq!(found, bad, "loadData {load}, {definition}");
                assert!(scratch.dirty_records().iter().all(|record| record["cause"].as_str().unwrap().contains(cause)));
                let good: usize = (1..=ROWS).filter(|id| !is_bad(id)).sum();
                let stored = database.value("SELECT count(*), sum(id) FROM t WHERE id > 0");
                assert_eq!(stored, format!("{}\t{good}", ROWS - bad.len()), "loadData {load}");
            }
        }
    }
}

#[test]
fn a_table_without_transactions_gets_each_row_once() {
    let database = Database::mysql();
    database.run("CREATE TABLE t (id int, v varchar(9), UNIQUE (id), CHECK (id <> 5)) ENGINE = MyISAM; INSERT INTO t VALUES (3, 'x')");
    let scratch = Scratch::new();
    scratch.write("in.csv", (1..=9).map(|id| format!("{id},v\n")).collect::<String>());
    let job = Job::new(lines("in.csv"), writer(&database, json!({ "table": ["t"], "column": ["*"] })));
    let run = run_job(&scratch, &job).succeeds();
    run.says(["without transactions", "written 7", "dirty 2"]);
    assert_eq!(database.value("SELECT count(*), sum(id) FROM t"), format!("8\t{}", 45 - 5));
}

/// Trap 64.
#[test]
fn an_empty_text_is_null_for_numbers_alone() {
    let definition = "CREATE TABLE t (id int PRIMARY KEY, n int, d decimal(5,2), f double, s varchar(5))";
    written(definition, "1,,,,\n", json!({}), &["1\tNULL\tNULL\tNULL\t"]);
    let dirty = written(definition, "1,,,,\n", json!({ "emptyAsNull": false }), &[]);
    assert_eq!(dirty.len(), 1);
}

#[test]
fn text_keeps_every_character() {
    let odd = "tab\there \"quoted\" 'single' back\\slash \\N \\n \u{1}\u{7f} 😀 é ' OR 1=1; -- ";
    let database = Database::mysql();
    database.run(
        "CREATE TABLE s (id int PRIMARY KEY, v longtext, b longblob); CREATE TABLE t LIKE s; CREATE TABLE u LIKE s",
    );
    let literal = odd.replace('\\', "\\\\").replace('\'', "''");
    database.run(&format!(
        "INSERT INTO s VALUES (1, '{literal}', x'00ff0a095c27'), (2, '', ''), (3, NULL, NULL), (4, 'NULL', '\\\\N'), \
         (5, CONCAT('line', CHAR(10), 'feed', CHAR(13), CHAR(0), CHAR(26)), CHAR(0, 26))"
    ));
    let scratch = Scratch::new();
    run_job(&scratch, &copy(&database, "s", "t")).succeeds();
    let by_statements = Job::new(
        reader(&database, json!({ "table": ["s"], "column": ["*"] })),
        writer(&database, json!({ "table": ["u"], "column": ["*"], "loadData": false })),
    );
    run_job(&scratch, &by_statements).succeeds();
    for copy in ["t", "u"] {
        let hex = |table: &str| database.rows(&format!("SELECT id, HEX(v), HEX(b) FROM {table} ORDER BY id"));
        assert_eq!(hex(copy), hex("s"));
    }
}

/// Trap 69.
#[test]
fn statements_run_once_around_the_load_and_blank_ones_are_skipped() {
    let database = Database::mysql();
    database.run("CREATE TABLE t (a int); CREATE TABLE steps (step varchar(20)); INSERT INTO t VALUES (9)");
    let scratch = Scratch::new();
    let generated = json!({ "sliceRecordCount": 10, "column": [{ "type": "long", "value": "1" }] });
    let parameter = json!({
        "table": ["t"], "column": ["a"],
        "preSql": ["", "truncate @table", "insert into steps values ('before')"],
        "postSql": ["insert into steps select count(*) from @table", "  "],
    });
    run_job(&scratch, &Job::new(plugin("streamreader", generated), writer(&database, parameter)).channels(3))
        .succeeds();
    assert_eq!(database.rows("SELECT step FROM steps"), ["before", "30"]);
}

#[test]
fn computed_columns_are_left_out_of_all_columns_and_zero_is_no_new_number() {
    let database = Database::mysql();
    database.run(
        "CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, a int, twice int AS (a * 2) STORED, more int AS (a + 1) VIRTUAL)",
    );
    let scratch = Scratch::new();
    scratch.write("in.csv", "0,10\n5,20\n\\N,30\n");
    run_job(&scratch, &Job::new(lines("in.csv"), writer(&database, json!({ "table": ["t"], "column": ["*"] }))))
        .succeeds();
    assert_eq!(database.rows("SELECT * FROM t ORDER BY id"), ["0\t10\t20\t11", "5\t20\t40\t21", "6\t30\t60\t31"]);
}

#[test]
fn a_table_is_made_for_the_columns_of_the_reader() {
    let database = Database::mysql();
    database.run(
        "CREATE TABLE s (a bigint unsigned, b decimal(65,30), c datetime(6), d timestamp(3) NULL, e time(6), f float, g json, \
         h varbinary(9), `i j` varchar(9), k bit(1), l year, m uuid); \
         INSERT INTO s VALUES (18446744073709551615, 1.5, '2024-01-01 00:00:00.5', '2024-01-01 00:00:00.123', '-838:59:59', 0.1, \
         '{\"a\": 1}', x'00', 'x', b'1', 2024, UUID())",
    );
    let scratch = Scratch::new();
    let job = Job::new(
        reader(&database, json!({ "table": ["s"], "column": ["*"] })),
        writer(&database, json!({ "table": ["made"], "createTable": true })),
    );
    scratch.job("job.json", &job);
    let plan = scratch.transship(["plan", "job.json"]).run().succeeds();
    for words in ["create table made", "UInt64 → BIGINT UNSIGNED", "number text → DECIMAL(65, 30)", "UUID → CHAR(36)"]
    {
        assert!(plan.stdout.contains(words), "{plan}");
    }
    run_job(&scratch, &job).succeeds();
    assert_eq!(
        database.value(
            "SELECT count(*) FROM s JOIN made USING (a, b, c, d, e, g, h, `i j`, l) WHERE s.k = made.k AND s.m = made.m"
        ),
        "1"
    );
}

#[test]
fn many_tasks_write_into_one_table_side_by_side() {
    let database = Database::mysql();
    database.run(
        "CREATE TABLE s (id int PRIMARY KEY, v varchar(40)); INSERT INTO s SELECT seq, MD5(seq) FROM seq_1_to_50000",
    );
    for (table, mode) in [("a", "insert"), ("b", "replace"), ("c", "update")] {
        database.run(&format!("CREATE TABLE {table} LIKE s"));
        let scratch = Scratch::new();
        let job = Job::new(
            reader(&database, json!({ "table": ["s"], "column": ["*"], "splitPk": "id" })),
            writer(&database, json!({ "table": [table], "column": ["*"], "writeMode": mode })),
        );
        for _ in 0..if mode == "insert" { 1 } else { 2 } {
            run_job(&scratch, &job.clone().channels(4)).succeeds();
        }
        let checksum =
            |table: &str| database.value(&format!("SELECT count(*), sum(crc32(concat(id, v))) FROM {table}"));
        assert_eq!(checksum(table), checksum("s"), "{mode}");
    }
}

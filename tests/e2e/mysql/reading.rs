//! Reading: each row once, whatever the splits; columns, conditions, queries and databases as the job says.

use transship_tests::{Database, Job, Scratch, json};

use super::{printer, reader, run_job, sorted, writer};

/// Ten thousand rows, with keys of many types and some without a key.
fn table_of_keys(database: &Database) {
    database.run(
        "CREATE TABLE many (id int PRIMARY KEY, big bigint unsigned, dec_key decimal(30,10), day date, moment datetime(6), \
         stamp timestamp(6) NULL, clock time, ci varchar(20) COLLATE utf8mb4_general_ci, cs varchar(20) COLLATE utf8mb4_bin, \
         latin varchar(20) CHARACTER SET latin1, raw varbinary(20), unique_id uuid, kind enum('z','m','a'), real_key double, \
         KEY (big), KEY (ci)); \
         INSERT INTO many SELECT seq, 18446744073709551615 - seq * seq, seq * 1.0000000001, '2024-01-01' + INTERVAL seq DAY, \
         '2024-01-01' + INTERVAL seq * 1000001 MICROSECOND, '2024-01-01' + INTERVAL seq MINUTE, SEC_TO_TIME(CAST(seq AS SIGNED) * 100 - 500000), \
         CONCAT(CHAR(65 + seq MOD 58 USING utf8mb4), seq), CONCAT(CHAR(65 + seq MOD 58 USING utf8mb4), 'é', seq), \
         CONCAT('é', CHAR(65 + seq MOD 58 USING latin1), seq), UNHEX(MD5(seq)), UUID(), \
         ELT(1 + seq MOD 3, 'z', 'm', 'a'), seq / 7 FROM seq_1_to_10000; \
         UPDATE many SET big = NULL, dec_key = NULL, day = NULL, moment = NULL, stamp = NULL, clock = NULL, ci = NULL, \
         cs = NULL, latin = NULL, raw = NULL, unique_id = NULL, kind = NULL, real_key = NULL WHERE id MOD 100 = 7",
    );
}

/// Traps 48, 50, 51.
#[test]
fn the_splits_by_a_key_of_any_type_are_the_table_with_no_row_twice() {
    let database = Database::mysql();
    table_of_keys(&database);
    let scratch = Scratch::new();
    let keys = [
        "id",
        "big",
        "dec_key",
        "day",
        "moment",
        "stamp",
        "clock",
        "ci",
        "cs",
        "latin",
        "raw",
        "unique_id",
        "kind",
        "real_key",
    ];
    for key in keys {
        let job = Job::new(
            reader(&database, json!({ "table": ["many"], "column": ["id"], "splitPk": key.to_uppercase() })),
            printer(),
        );
        let run = run_job(&scratch, &job.channels(4)).succeeds();
        let mut ids: Vec<u32> = run.stdout.lines().map(|line| line.parse().unwrap()).collect();
        ids.sort_unstable();
        assert!(ids.iter().copied().eq(1..=10_000), "by {key}: {} rows", ids.len());
        let plan = scratch.transship(["plan", "job.json"]).run().succeeds();
        let least = if key == "kind" { 3 } else { 10 };
        assert!(plan.stdout.matches(key).count() > least, "by {key}: {plan}");
    }
}

/// Keys that lie unevenly, of which many are alike to the collation and differ in their bytes.
#[test]
fn the_splits_are_the_table_for_random_keys_and_any_number_of_channels() {
    let database = Database::mysql();
    database.run(
        "CREATE TABLE random (id int PRIMARY KEY, whole bigint, ci varchar(9) COLLATE utf8mb4_unicode_ci, padded char(5), \
         raw varbinary(3), fine decimal(40,20), KEY (whole), KEY (ci)); \
         INSERT INTO random SELECT seq, FLOOR(POW(RAND(seq), 9) * 1e15) - 5, \
         IF(RAND(seq + 1) < 0.3, UPPER(LEFT(MD5(seq), 2)), CONCAT(LEFT(MD5(seq), 1), ELT(1 + seq MOD 4, 'é', 'E', ' ', '😀'))), \
         CONCAT(LEFT(MD5(seq), 1), ' '), LEFT(UNHEX(MD5(seq)), seq MOD 3), POW(RAND(seq + 2), 9) - 0.1 FROM seq_1_to_3000",
    );
    for key in ["whole", "ci", "padded", "raw", "fine"] {
        for channels in [1, 2, 5, 12] {
            let scratch = Scratch::new();
            let parameter = json!({ "table": ["random"], "column": ["id"], "splitPk": key, "where": "id <> 7" });
            let run =
                run_job(&scratch, &Job::new(reader(&database, parameter), printer()).channels(channels)).succeeds();
            let mut ids: Vec<u32> = run.stdout.lines().map(|line| line.parse().unwrap()).collect();
            ids.sort_unstable();
            assert!(ids.iter().copied().eq((1..=3_000).filter(|id| *id != 7)), "{key}, {channels}: {} rows", ids.len());
        }
    }
}

#[test]
fn a_large_table_with_a_key_of_several_columns_is_split_by_all_of_them() {
    let database = Database::mysql();
    database.run(
        "CREATE TABLE large (a varchar(9), b int, v int, PRIMARY KEY (a, b)); \
         INSERT INTO large SELECT IF(seq MOD 3 = 0, 'one', CONCAT('k', seq DIV 1000)), seq, seq FROM seq_1_to_250000; ANALYZE TABLE large",
    );
    let scratch = Scratch::new();
    let job = Job::new(reader(&database, json!({ "table": ["large"], "column": ["v"] })), printer()).channels(3);
    let run = run_job(&scratch, &job).succeeds();
    let mut values: Vec<u32> = run.stdout.lines().map(|line| line.parse().unwrap()).collect();
    values.sort_unstable();
    assert!(values.into_iter().eq(1..=250_000));
    run.does_not_say([": 1 done on 3 channels"]);
}

#[test]
fn a_large_table_is_split_by_its_primary_key_where_the_job_names_none() {
    let database = Database::mysql();
    database.run(
        "CREATE TABLE large (id bigint PRIMARY KEY, v int); INSERT INTO large SELECT seq * 3, seq FROM seq_1_to_300000; \
         ANALYZE TABLE large",
    );
    let scratch = Scratch::new();
    let job = Job::new(reader(&database, json!({ "table": ["large"], "column": ["v"] })), printer()).channels(3);
    let run = run_job(&scratch, &job).succeeds();
    let mut values: Vec<u32> = run.stdout.lines().map(|line| line.parse().unwrap()).collect();
    values.sort_unstable();
    assert!(values.into_iter().eq(1..=300_000));
    run.does_not_say([": 1 done on 3 channels"]);
}

#[test]
fn a_condition_with_or_in_it_and_a_comment_behind_it_holds_in_each_split() {
    let database = Database::mysql();
    database.run("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT seq FROM seq_1_to_100");
    let scratch = Scratch::new();
    let parameter = json!({ "table": ["t"], "column": ["id"], "splitPk": "id", "where": "id < 3 OR id > 98 -- all; " });
    let run = run_job(&scratch, &Job::new(reader(&database, parameter), printer()).channels(2)).succeeds();
    assert_eq!(sorted(&run.stdout), ["1", "100", "2", "99"]);
}

/// Trap 52.
#[test]
fn one_channel_reads_a_table_as_a_whole_in_the_order_of_its_key() {
    let database = Database::mysql();
    database.run("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT 101 - seq FROM seq_1_to_100");
    let scratch = Scratch::new();
    let job = Job::new(reader(&database, json!({ "table": ["t"], "column": ["id"], "splitPk": "id" })), printer());
    let run = run_job(&scratch, &job).succeeds();
    let expected: Vec<String> = (1..=100).map(|id: u32| id.to_string()).collect();
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), expected);
}

/// Trap 61.
#[test]
fn columns_may_be_constants_expressions_and_names_that_are_no_words() {
    let database = Database::mysql();
    database.run("CREATE TABLE `tide-log` (`when` datetime, `level cm` int, `观测员` varchar(20)); INSERT INTO `tide-log` VALUES ('2024-02-01', 31, '甲')");
    let scratch = Scratch::new();
    let column = json!(["`when`", "`level cm` * 2", "'x'", "`观测员`", "null", "1.50", "cast('2024-01-01' as date)"]);
    let job = Job::new(reader(&database, json!({ "table": ["`tide-log`"], "column": column })), printer());
    let run = run_job(&scratch, &job).succeeds();
    assert_eq!(run.stdout, "2024-02-01 00:00:00\t62\tx\t甲\tnull\t1.50\t2024-01-01\n");
}

#[test]
fn names_may_be_keywords() {
    let database = Database::mysql();
    database.run("CREATE TABLE `order` (`group` int, `select` int); INSERT INTO `order` VALUES (1, 2); CREATE TABLE `table` LIKE `order`");
    let scratch = Scratch::new();
    let job = Job::new(
        reader(&database, json!({ "table": ["order"], "column": ["group", "select"], "splitPk": "group" })),
        writer(&database, json!({ "table": ["table"], "column": ["select", "group"] })),
    );
    run_job(&scratch, &job.channels(2)).succeeds();
    assert_eq!(database.rows("SELECT * FROM `table`"), ["2\t1"]);
}

#[test]
fn tables_of_several_databases_and_ranges_of_names_are_one_source() {
    let (one, other) = (Database::mysql(), Database::mysql());
    one.run("CREATE TABLE t0 (a int); CREATE TABLE t1 (a bigint); INSERT INTO t0 VALUES (1); INSERT INTO t1 VALUES (5000000000)");
    other.run("CREATE TABLE t (a int unsigned); INSERT INTO t VALUES (4294967295)");
    let scratch = Scratch::new();
    let connection = json!([
        { "jdbcUrl": [one.url()], "table": ["t[0-1]"] },
        { "jdbcUrl": ["jdbc:mysql://127.0.0.1:1/nowhere?connectTimeout=200", other.url()], "table": ["t"] },
    ]);
    let parameter = json!({ "connection": connection, "column": ["*"] });
    let run = run_job(&scratch, &Job::new(reader(&one, parameter), printer()).channels(2)).succeeds();
    assert_eq!(sorted(&run.stdout), ["1", "4294967295", "5000000000"]);
}

/// Trap 56.
#[test]
fn pre_sql_of_a_reader_asks_whether_a_database_may_be_read() {
    let database = Database::mysql();
    database.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1)");
    let scratch = Scratch::new();
    let job = |probe: &str| {
        Job::new(reader(&database, json!({ "table": ["t"], "column": ["a"], "preSql": [probe] })), printer())
    };
    run_job(&scratch, &job("select 0")).succeeds();
    run_job(&scratch, &job("select count(*) from t")).fails_with(1).says(["does not yield 0"]);
}

#[test]
fn a_session_statement_holds_where_rows_are_read() {
    let database = Database::mysql();
    database.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1)");
    let scratch = Scratch::new();
    let parameter = json!({ "querySql": ["select @x, a from t;"], "session": ["set @x = 42"] });
    let run = run_job(&scratch, &Job::new(reader(&database, parameter), printer())).succeeds();
    assert_eq!(run.stdout, "42\t1\n");
}

//! Values: what is read is what was there, and what is written is what came, or it is dirty.

use transship_tests::{Database, Job, Scratch, json};

use super::{copy, lines, printer, reader, run_job, writer};

/// For each type, the declaration and values that are easily lost.
const TYPES: &[(&str, &[&str])] = &[
    ("tinyint", &["-128", "127"]),
    ("tinyint unsigned", &["0", "255"]),
    ("tinyint(1)", &["0", "1", "2", "-1", "127"]),
    ("smallint", &["-32768", "32767"]),
    ("smallint unsigned", &["65535"]),
    ("mediumint", &["-8388608", "8388607"]),
    ("mediumint unsigned", &["16777215"]),
    ("int", &["-2147483648", "2147483647"]),
    ("int unsigned", &["4294967295"]),
    ("bigint", &["-9223372036854775808", "9223372036854775807"]),
    ("bigint unsigned", &["9223372036854775808", "18446744073709551615"]),
    ("decimal(5,2)", &["-999.99", "0", "0.01"]),
    ("decimal(38,9)", &["99999999999999999999999999999.999999999", "-0.000000001"]),
    ("decimal(65,30)", &["12345678901234567890123456789012345.123456789012345678901234567890"]),
    ("decimal(65,0)", &["99999999999999999999999999999999999999999999999999999999999999999"]),
    ("decimal(10,0) unsigned", &["9999999999"]),
    ("float", &["16777216", "0.1", "-3.40282e38", "1.17549e-38"]),
    ("double", &["0.1", "1e23", "-1.7976931348623157e308", "5e-324", "9007199254740993"]),
    ("bit(1)", &["b'0'", "b'1'"]),
    ("bit(8)", &["b'10101010'"]),
    ("bit(64)", &["0xffffffffffffffff", "0"]),
    ("year", &["2155", "1901", "0"]),
    ("date", &["'1000-01-01'", "'9999-12-31'", "'2024-02-29'", "'0001-01-01'"]),
    ("datetime", &["'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'", "'2024-03-10 02:30:00'"]),
    ("datetime(6)", &["'2024-02-29 23:59:59.999999'", "'1969-12-31 23:59:59.000001'"]),
    ("timestamp NULL", &["'1970-01-02 00:00:01'", "'2038-01-18 03:14:07'", "'2024-03-31 02:30:00'"]),
    ("timestamp(6) NULL", &["'2024-11-03 01:30:00.000001'"]),
    ("time", &["'838:59:59'", "'-838:59:59'", "'24:00:01'", "'00:00:00'"]),
    ("time(6)", &["'-00:00:00.500000'", "'100:00:00.000001'"]),
    ("char(8)", &["'abc'", "''"]),
    ("varchar(60)", &["''", "'NULL'", "'\\\\N'", "' a '", "'äöü😀é'", "'a\\tb\\nc\\rd\\\\e\\0f'"]),
    ("varchar(60) CHARACTER SET utf8mb3", &["'中文'"]),
    ("varchar(60) CHARACTER SET latin1", &["'€–™ André'"]),
    ("varchar(60) CHARACTER SET gbk", &["'第二泊位'"]),
    ("varchar(60) CHARACTER SET utf16", &["'😀'"]),
    ("tinytext", &["'x'"]),
    ("longtext", &["REPEAT('漢字', 100000)"]),
    ("binary(4)", &["x'00ff'", "'abcd'"]),
    ("varbinary(9)", &["x'00ff0a095c27'", "''"]),
    ("blob", &["x'ffd8ffe000104a46'"]),
    ("longblob", &["REPEAT(x'00010203ff', 100000)"]),
    ("enum('a','b,c','it''s','')", &["'a'", "'b,c'", "'it''s'", "''"]),
    ("set('x','y','z')", &["'x,z'", "''"]),
    ("json", &["'{\"n\": 1234567890123456789, \"a\": 1.10}'", "'null'", "'[]'"]),
    ("uuid", &["'6774d596-8cc8-4c20-8e98-6f2f105d62a8'"]),
    ("inet6", &["'::1'", "'2001:db8::ff00:42:8329'"]),
    ("inet4", &["'192.168.0.1'"]),
    ("varchar(9) CHARACTER SET binary", &["x'80ff00'"]),
    ("enum('é','中') CHARACTER SET gbk", &["'é'", "'中'"]),
    ("point", &["ST_GeomFromText('POINT(1.5 -2)')", "ST_GeomFromText('POINT(8 50)', 4326)"]),
    ("geometry", &["ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))')"]),
];

/// A table with a column for each type, a row for each value, and a row of NULLs.
fn table_of_types(database: &Database) {
    let columns: Vec<_> =
        TYPES.iter().enumerate().map(|(index, (declared, _))| format!("c{index} {declared}")).collect();
    let mut sql = format!("SET time_zone = '+00:00'; CREATE TABLE s (id int PRIMARY KEY, {});\n", columns.join(", "));
    sql.push_str("INSERT INTO s (id) VALUES (0);\n");
    let mut id = 0;
    for (index, (_, values)) in TYPES.iter().enumerate() {
        for value in *values {
            id += 1;
            sql.push_str(&format!("INSERT INTO s (id, c{index}) VALUES ({id}, {value});\n"));
        }
    }
    database.run(&sql);
}

/// What every cell is, bit by bit.
fn every_cell(database: &Database, table: &str) -> Vec<String> {
    let cells = TYPES.iter().enumerate().map(|(index, (declared, _))| match *declared {
        "float" | "double" => format!("c{index} + 0e0"),
        declared if declared.starts_with("timestamp") => format!("UNIX_TIMESTAMP(c{index})"),
        declared if declared.starts_with("bit") => format!("c{index} + 0"),
        declared if declared == "point" || declared == "geometry" => format!("ST_SRID(c{index}), ST_AsText(c{index})"),
        _ => format!("MD5(CAST(c{index} AS BINARY))"),
    });
    let cells: Vec<_> = cells.collect();
    database.rows(&format!("SET time_zone = '+00:00'; SELECT id, {} FROM {table} ORDER BY id", cells.join(", ")))
}

#[test]
fn every_type_moves_exactly_in_every_zone_by_file_and_by_statements() {
    let database = Database::mysql();
    table_of_types(&database);
    let expected = every_cell(&database, "s");
    for (zone, load) in [("UTC", true), ("Asia/Shanghai", false), ("America/New_York", true), ("Asia/Kathmandu", false)]
    {
        database.run("CREATE OR REPLACE TABLE t LIKE s");
        let scratch = Scratch::new();
        let job = Job::new(
            reader(&database, json!({ "table": ["s"], "column": ["*"] })),
            writer(&database, json!({ "table": ["t"], "column": ["*"], "loadData": load })),
        );
        scratch.job("job.json", &job);
        let run = scratch.transship(["run", "job.json"]).env("TZ", zone).run().succeeds();
        run.says(["dirty 0"]);
        assert_eq!(every_cell(&database, "t"), expected, "{zone}, loadData {load}");
    }
}

/// What the client prints of a table goes through a file and back.
#[test]
fn values_come_back_from_a_file_as_they_were() {
    let database = Database::mysql();
    let definition = "(id int PRIMARY KEY, big bigint unsigned, x decimal(40,20), f float, d double, day date, moment datetime(6), \
                      clock time(6), s varchar(40), u varchar(40) CHARACTER SET gbk)";
    database.run(&format!(
        "CREATE TABLE s {definition}; CREATE TABLE t {definition}; INSERT INTO s VALUES \
         (1, 18446744073709551615, -0.00000000000000000001, 0.1, 1e300, '2024-02-29', '2024-02-29 23:59:59.000001', '-838:59:59', \
          'a,b\"c', '中文'), \
         (2, 0, 99999999999999999999.5, 16777216, 5e-324, '0001-01-01', '9999-12-31 23:59:59', '00:00:00.5', '', ''), \
         (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
    ));
    let scratch = Scratch::new();
    let file = json!({ "path": "out", "fileName": "x", "writeMode": "truncate", "fieldDelimiter": ",", "fileFormat": "csv", "nullFormat": "\\N" });
    let out = Job::new(
        reader(&database, json!({ "table": ["s"], "column": ["*"] })),
        transship_tests::plugin("txtfilewriter", file),
    );
    run_job(&scratch, &out).succeeds();
    run_job(&scratch, &Job::new(lines("out/*"), writer(&database, json!({ "table": ["t"], "column": ["*"] }))))
        .succeeds();
    let all = |table: &str| database.rows(&format!("SELECT * FROM {table} ORDER BY id"));
    assert_eq!(all("t"), all("s"));
}

#[test]
fn a_tinyint_of_one_digit_is_a_boolean_where_the_job_says_so() {
    let database = Database::mysql();
    database.run("CREATE TABLE t (b tinyint(1), n tinyint); INSERT INTO t VALUES (0, 1), (1, 0), (NULL, 5), (2, 2)");
    let scratch = Scratch::new();
    let parameter = json!({ "table": ["t"], "column": ["*"], "tinyint1AsBoolean": true });
    let run = run_job(&scratch, &Job::new(reader(&database, parameter), printer())).succeeds();
    assert_eq!(run.stdout, "false\t1\ntrue\t0\nnull\t5\n");
    assert_eq!(scratch.dirty_records()[0]["value"].as_str(), Some("2"));
}

/// Traps 58, 59.
#[test]
fn null_stays_null_and_numbers_stay_numbers_where_drivers_make_something_of_them() {
    let database = Database::mysql();
    database.run(
        "CREATE TABLE t (id int, b bit(1), y year, t tinyint(1)); INSERT INTO t VALUES (1, NULL, NULL, NULL), (2, b'1', 2024, 2)",
    );
    let scratch = Scratch::new();
    let run = run_job(&scratch, &Job::new(reader(&database, json!({ "table": ["t"], "column": ["*"] })), printer()))
        .succeeds();
    assert_eq!(run.stdout, "1\tnull\tnull\tnull\n2\ttrue\t2024\t2\n");
}

/// Trap 60.
/// Of a record that cannot be read nothing is sent.
#[test]
fn zero_dates_are_null_as_in_datax_or_dirty_and_dates_that_are_none_are_dirty() {
    let database = Database::mysql();
    database.run(
        "SET sql_mode = ''; CREATE TABLE z (id int, d date, m datetime, s timestamp NULL); INSERT INTO z VALUES \
         (1, '0000-00-00', '0000-00-00', '0000-00-00'), (2, '2024-00-15', '2024-01-01', NULL), (4, '2024-00-00', '2024-01-01', NULL), (3, '2024-01-01', '2024-01-01', NULL)",
    );
    let scratch = Scratch::new();
    let job = |policy: &str| {
        Job::new(
            reader(&database, json!({ "table": ["z"], "column": ["id", "d", "m", "s"], "zeroDate": policy })),
            printer(),
        )
    };
    let run = run_job(&scratch, &job("null")).succeeds();
    assert_eq!(run.stdout, "1\tnull\tnull\tnull\n3\t2024-01-01\t2024-01-01 00:00:00\tnull\n");
    let dirty = scratch.dirty_records();
    assert_eq!((dirty[0]["column"].as_str(), dirty[0]["value"].as_str()), (Some("d"), Some("2024-00-15")));
    let scratch = Scratch::new();
    let run = run_job(&scratch, &job("dirty")).succeeds();
    assert_eq!(run.stdout, "3\t2024-01-01\t2024-01-01 00:00:00\tnull\n");
    assert_eq!(scratch.dirty_records().len(), 3);
}

/// A word that an ENUM has not is kept by the server as an empty text; where that is no word either it is not stored again.
#[test]
fn an_enum_that_is_none_of_its_words_is_read_as_empty_and_written_nowhere_that_lacks_it() {
    let database = Database::mysql();
    database.run(
        "SET sql_mode = ''; CREATE TABLE s (id int, e enum('a','1')); INSERT INTO s VALUES (1, 'a'), (2, 'x'), (3, '1'); \
         CREATE TABLE t (id int, e enum('a','1')); CREATE TABLE u (id int, e varchar(5))",
    );
    let scratch = Scratch::new();
    run_job(&scratch, &copy(&database, "s", "t")).succeeds().says(["written 2", "dirty 1"]);
    assert_eq!(scratch.dirty_records()[0]["column"].as_str(), Some("e"));
    assert_eq!(database.rows("SELECT * FROM t ORDER BY id"), ["1\ta", "3\t1"]);
    run_job(&Scratch::new(), &copy(&database, "s", "u")).succeeds();
    assert_eq!(database.rows("SELECT * FROM u ORDER BY id"), ["1\ta", "2\t", "3\t1"]);
}

#[test]
fn invisible_columns_are_read_and_written_only_where_they_are_named() {
    let database = Database::mysql();
    let definition = "(a int, hidden int INVISIBLE DEFAULT 5, b int)";
    database.run(&format!("CREATE TABLE s {definition}; CREATE TABLE t {definition}; CREATE TABLE u {definition}"));
    database.run("INSERT INTO s (a, hidden, b) VALUES (1, 2, 3)");
    run_job(&Scratch::new(), &copy(&database, "s", "t")).succeeds();
    assert_eq!(database.rows("SELECT a, hidden, b FROM t"), ["1\t5\t3"]);
    let columns = json!(["b", "hidden", "a"]);
    let job = Job::new(
        reader(&database, json!({ "table": ["s"], "column": columns })),
        writer(&database, json!({ "table": ["u"], "column": columns })),
    );
    run_job(&Scratch::new(), &job).succeeds();
    assert_eq!(database.rows("SELECT a, hidden, b FROM u"), ["1\t2\t3"]);
}

#[test]
fn infinite_dates_of_another_database_are_dirty_or_words() {
    let (source, database) = (Database::postgres(), Database::mysql());
    source.run(
        "CREATE TABLE s (id int, d date, m timestamp, i timestamptz); INSERT INTO s VALUES (1, 'infinity', NULL, NULL), \
         (2, NULL, '-infinity', NULL), (3, NULL, NULL, 'infinity'), (4, '2024-01-01', '2024-01-01', '2024-01-01')",
    );
    database.run("CREATE TABLE t (id int, d date, m datetime(6), i timestamp(6) NULL); CREATE TABLE u (id int, d text, m text, i text)");
    let job = |table: &str| {
        let parameter = json!({ "table": ["s"], "column": ["*"] });
        Job::new(
            transship_tests::plugin("postgresqlreader", source.parameter(parameter)),
            writer(&database, json!({ "table": [table], "column": ["*"] })),
        )
    };
    let scratch = Scratch::new();
    run_job(&scratch, &job("t")).succeeds().says(["written 1", "dirty 3"]);
    assert!(scratch.dirty_records().iter().all(|dirty| dirty["cause"].as_str().unwrap().contains("no infinite dates")));
    run_job(&Scratch::new(), &job("u")).succeeds();
    let rows = database.rows("SELECT id, concat_ws(',', d, m, i) FROM u WHERE id < 4 ORDER BY id");
    assert_eq!(rows, ["1\tinfinity", "2\t-infinity", "3\tinfinity"]);
}

/// The rows of a condition are those of the server's own clock, and a TIMESTAMP is the same instant in every zone.
#[test]
fn a_zone_of_the_session_changes_what_its_clock_shows_and_not_the_instants() {
    let database = Database::mysql();
    database.run(
        "SET time_zone = '+00:00'; CREATE TABLE t (id int, m datetime, s timestamp(6) NULL); \
         INSERT INTO t VALUES (1, '2024-01-01 00:00:00', '2024-01-01 00:00:00.5')",
    );
    let scratch = Scratch::new();
    for zone in ["+00:00", "+08:00", "-12:30"] {
        let parameter = json!({ "querySql": ["select m, s, timestampdiff(minute, utc_timestamp(), now()) from t"], "session": [format!("set time_zone = '{zone}'")] });
        let run = run_job(&scratch, &Job::new(reader(&database, parameter), printer())).succeeds();
        let minutes = match zone {
            "+08:00" => "480",
            "-12:30" => "-750",
            _ => "0",
        };
        assert_eq!(run.stdout, format!("2024-01-01 00:00:00\t2024-01-01 00:00:00.5+00:00\t{minutes}\n"));
    }
}

#[test]
fn rows_of_many_megabytes_pass() {
    let database = Database::mysql();
    database.run("CREATE TABLE s (id int, b longblob); CREATE TABLE t LIKE s; INSERT INTO s SELECT seq, REPEAT('x', 15000000) FROM seq_1_to_3");
    let scratch = Scratch::new();
    run_job(&scratch, &copy(&database, "s", "t")).succeeds();
    assert_eq!(database.value("SELECT count(*), sum(length(b)), count(distinct md5(b)) FROM t"), "3\t45000000\t1");
}

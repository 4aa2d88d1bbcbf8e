//! Zones: instants stay what they are, and conditions mean what they mean elsewhere, on a server whose clock changes in summer.

use transship_tests::{Database, Job, Scratch, Value, json};

use super::{lines, printer, reader, run_job, sorted, writer};

/// Has the server know a zone like that of New York, as far as the year 2024 goes, and names it. A file of zones need not be there.
fn new_york(database: &Database) -> String {
    let name = format!("New_York_{}", database.name());
    // 2024-03-10 07:00 UTC and 2024-11-03 06:00 UTC.
    database.run(&format!(
        "INSERT INTO mysql.time_zone (Use_leap_seconds) VALUES ('N'); SET @id = LAST_INSERT_ID(); \
         INSERT INTO mysql.time_zone_name VALUES ('{name}', @id); \
         INSERT INTO mysql.time_zone_transition_type VALUES (@id, 0, -18000, 0, 'EST'), (@id, 1, -14400, 1, 'EDT'); \
         INSERT INTO mysql.time_zone_transition VALUES (@id, 1710054000, 1), (@id, 1730613600, 0)"
    ));
    name
}

/// Instants around the hour that is shown twice: 05:30 UTC and 06:30 UTC are both 01:30 there.
const INSTANTS: &str = "SET time_zone = '+00:00'; CREATE TABLE s (id int PRIMARY KEY, at timestamp(3) NULL, note varchar(9)); \
    INSERT INTO s VALUES (1, '2024-11-03 05:30:00.25', 'a'), (2, '2024-11-03 06:30:00', 'b'), (3, '2024-07-01 04:00:00', 'c'), \
    (4, '2024-07-01 03:59:59', 'd'), (5, '2024-01-01 05:00:00', 'e'), (6, NULL, 'f')";

/// What a job prints that reads with the zone as that of the server.
fn read(database: &Database, zone: &str, parameter: Value) -> (Vec<String>, String) {
    let mut parameter = parameter;
    parameter["session"] = json!([format!("set time_zone = '{zone}'")]);
    let scratch = Scratch::new();
    let run = run_job(&scratch, &Job::new(reader(database, parameter), printer()).channels(2)).succeeds();
    (sorted(&run.stdout).into_iter().map(String::from).collect(), run.stderr.clone())
}

#[test]
fn instants_are_exact_in_the_hour_that_is_shown_twice() {
    let database = Database::mysql();
    database.run(INSTANTS);
    let zone = new_york(&database);
    let expected = [
        "1\t2024-11-03 05:30:00.25+00:00\ta",
        "2\t2024-11-03 06:30:00+00:00\tb",
        "3\t2024-07-01 04:00:00+00:00\tc",
        "4\t2024-07-01 03:59:59+00:00\td",
        "5\t2024-01-01 05:00:00+00:00\te",
        "6\tnull\tf",
    ];
    for parameter in [
        json!({ "table": ["s"], "column": ["*"] }),
        json!({ "table": ["s"], "column": ["id", "`at`", "note"] }),
        json!({ "table": ["s"], "column": ["*"], "where": "id > 0" }),
        json!({ "table": ["s"], "column": ["id", "at", "note"], "where": "id > 0", "splitPk": "at" }),
        json!({ "table": ["s"], "column": ["id", "at", "note"], "splitPk": "at" }),
        json!({ "table": ["s"], "column": ["id", "at", "lower(note)"], "where": "id > 0", "splitPk": "id" }),
        json!({ "querySql": ["select * from s"] }),
    ] {
        assert_eq!(read(&database, &zone, parameter.clone()).0, expected, "{parameter}");
    }
}

#[test]
fn conditions_and_expressions_mean_what_the_servers_clock_says() {
    let database = Database::mysql();
    database.run(INSTANTS);
    let zone = new_york(&database);
    // Midnight in July is 04:00 UTC there, in January 05:00, whatever the date of today.
    let condition = "at >= '2024-07-01' and at < '2024-07-02' or at < '2024-01-02'";
    let expected = ["3\t2024-07-01 04:00:00+00:00", "5\t2024-01-01 05:00:00+00:00"];
    let table = json!({ "table": ["s"], "column": ["id", "at"], "where": condition });
    let (rows, said) = read(&database, &zone, table);
    assert_eq!(rows, expected);
    assert!(!said.contains("clock"), "{said}");
    let dates = json!({ "table": ["s"], "column": ["id", "date(at)", "at"], "where": "id in (3, 4)" });
    let expected = ["3\t2024-07-01\t2024-07-01 04:00:00+00:00", "4\t2024-06-30\t2024-07-01 03:59:59+00:00"];
    assert_eq!(read(&database, &zone, dates).0, expected);
    // A query without instants in its result keeps its clock, too; one with them is told what happens.
    let query = json!({ "querySql": ["select id, date(at) from s where at >= '2024-07-01' and at < '2024-07-02'"] });
    let (rows, said) = read(&database, &zone, query);
    assert_eq!(rows, ["3\t2024-07-01"]);
    assert!(!said.contains("clock"), "{said}");
    let (_, said) = read(&database, &zone, json!({ "querySql": ["select at from s where at > '2024-07-01'"] }));
    assert!(said.contains("the server's clock changes in summer") && said.contains("unix_timestamp(column)"), "{said}");
}

#[test]
fn a_zero_date_is_one_in_such_a_zone_too() {
    let database = Database::mysql();
    database
        .run("SET sql_mode = ''; CREATE TABLE s (id int, at timestamp NULL); INSERT INTO s VALUES (1, '0000-00-00')");
    let zone = new_york(&database);
    let job = |policy: &str| json!({ "table": ["s"], "column": ["*"], "where": "id > 0", "zeroDate": policy });
    assert_eq!(read(&database, &zone, job("null")).0, ["1\tnull"]);
    assert_eq!(read(&database, &zone, job("dirty")).0, [""; 0]);
}

#[test]
fn instants_are_written_exactly_and_times_without_a_zone_as_the_servers_clock_shows_them() {
    let database = Database::mysql();
    database.run(INSTANTS);
    let zone = new_york(&database);
    let session = json!([format!("set time_zone = '{zone}'")]);
    for load in [true, false] {
        database.run("CREATE OR REPLACE TABLE t LIKE s");
        let scratch = Scratch::new();
        let job = Job::new(
            reader(&database, json!({ "table": ["s"], "column": ["*"], "session": session })),
            writer(&database, json!({ "table": ["t"], "column": ["*"], "session": session, "loadData": load })),
        );
        run_job(&scratch, &job).succeeds();
        let all = |table: &str| database.rows(&format!("SELECT id, UNIX_TIMESTAMP(at) FROM {table} ORDER BY id"));
        assert_eq!(all("t"), all("s"), "loadData {load}");
        // Of the hour that is not there, nothing can be stored.
        database.run("TRUNCATE t");
        scratch.write("in.csv", "1,2024-07-01 00:00:00,x\n2,2024-01-01 00:00:00,x\n3,2024-03-10 02:30:00,x\n");
        let parameter = json!({ "table": ["t"], "column": ["*"], "session": session, "loadData": load });
        let run = run_job(&scratch, &Job::new(lines("in.csv"), writer(&database, parameter))).succeeds();
        run.says(["written 2", "dirty 1"]);
        let rows = database.rows("SELECT id, UNIX_TIMESTAMP(at) DIV 1 FROM t ORDER BY id");
        assert_eq!(rows, ["1\t1719806400", "2\t1704085200"], "loadData {load}");
    }
}

#[test]
fn times_without_a_zone_beside_instants_are_told_of_unless_the_job_names_their_zone() {
    let database = Database::mysql();
    database.run(
        "SET time_zone = '+00:00'; CREATE TABLE s (a timestamp NULL, b datetime); \
         INSERT INTO s VALUES ('2024-07-01 12:00:00', '2024-07-01 12:00:00'); CREATE TABLE t (a timestamp NULL, b timestamp NULL)",
    );
    let session = json!([format!("set time_zone = '{}'", new_york(&database))]);
    let job = Job::new(
        reader(&database, json!({ "table": ["s"], "column": ["*"] })),
        writer(&database, json!({ "table": ["t"], "column": ["*"], "session": session })),
    );
    run_job(&Scratch::new(), &job).succeeds().says(["common.column.timeZone"]);
    database.run("TRUNCATE t");
    let job = job.with("common.column.timeZone", "America/New_York");
    run_job(&Scratch::new(), &job).succeeds().does_not_say(["common.column.timeZone"]);
    let rows = database.rows("SELECT UNIX_TIMESTAMP(a), UNIX_TIMESTAMP(b) FROM t");
    assert_eq!(rows, ["1719835200\t1719849600"]);
}

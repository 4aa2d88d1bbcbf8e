//! Cases that name a relational database or HDFS: where the plugin is missing, that is told; what they move is shown on SQLite as
//! long as there is no plugin for MySQL.

use transship_tests::Finished;

use super::{Case, case, errors, sorted, warnings};
use crate::installation::Installation;

/// Whether there is a plugin for MySQL. Once there is, its cases run as they stand; they need the database that they name, with the
/// rows of `tests/cases/berths.sql`.
const MYSQL_IS_HERE: bool = false;

/// A case whose tables are in MySQL; as long as there is no plugin for that, the same tables in SQLite.
pub(super) fn mysql(mut case: Case) -> Case {
    let text = String::from_utf8_lossy(&case.file).into_owned();
    for (plugin, instead) in [("mysqlreader", "rdbmsreader"), ("mysqlwriter", "rdbmswriter")] {
        if !MYSQL_IS_HERE && text.contains(plugin) {
            case = case.with(plugin, instead);
            if let Some(url) = text.split('"').find(|literal| literal.starts_with("jdbc:mysql:")) {
                case = case.with(url, "jdbc:sqlite:ts-cases/in/ts_cases.db");
            }
        }
    }
    case
}

/// What is told where there are only the plugins for files and SQLite.
fn told_by_few(case: &Case, command: &str, options: &[&str]) -> Finished {
    Installation::with(&["file", "sqlite", "stream"]).run(case.transship(command, options))
}

/// There, just these plugins are missing: one line for each, with its place, and nothing else is wrong.
#[track_caller]
fn are_missing(case: &Case, plugins: &[(&str, &str, [u32; 2])]) {
    for command in ["run", "check", "plan"] {
        let run = told_by_few(case, command, &["-D", "dt=2024-02-29"]).fails_with(3);
        let errors = errors(&run);
        assert_eq!(errors.len(), plugins.len(), "{run}");
        for ((role, plugin, [line, column]), error) in plugins.iter().zip(errors) {
            let place = format!("{}job.content[0].{role}: ", case.at(*line, *column));
            let missing = format!(
                "there is no {role} named \"{plugin}\"; there is \"txtfile{role}\", \"sqlite{role}\", \"stream{role}\""
            );
            assert!(error.starts_with(&format!("{place}{missing}")), "{run}");
        }
        assert!(run.stdout.is_empty() || command == "check", "{run}");
    }
}

#[test]
fn case_09_a_file_in_gbk_is_told_with_the_byte_and_runs_with_what_can_be_read() {
    let original = case("09-job-file-in-gbk");
    are_missing(&original, &[("reader", "mysqlreader", [6, 9])]);
    let warning = |case: &Case| {
        format!(
            "{}byte 367 is not UTF-8: what cannot be read becomes U+FFFD; name the file's encoding with --job-encoding, for \
             instance --job-encoding GBK",
            case.at(13, 88)
        )
    };
    let run = told_by_few(&original, "run", &[]);
    assert_eq!(warnings(&run), [warning(&original)]);

    let case = mysql(original);
    let run = case.run().succeeds();
    assert_eq!((run.stdout.as_str(), warnings(&run)), ("1\tGULL\n", vec![warning(&case).as_str()]));
    let run = case.told("run", &["--job-encoding", "GBK"]).succeeds();
    assert_eq!((run.stdout.as_str(), warnings(&run).len()), ("1\tGULL\n5\tIBIS\n", 0));
}

#[test]
fn case_14_beside_queries_other_keys_are_ignored_with_a_warning_and_each_query_is_a_task() {
    let original = case("14-querysql-with-leftover-keys");
    are_missing(&original, &[("reader", "mysqlreader", [6, 9])]);
    let run = mysql(original).run().succeeds();
    assert_eq!(sorted(&run), ["1\tGULL", "2\tTERN", "3\tPETREL", "4\tAUK", "5\tIBIS", "6\tSKUA"]);
    run.says(["\"where\" is ignored beside \"querySql\"", "\"splitPk\" is ignored beside \"querySql\""]);
    run.says([": 2 done on 3 channels\n"]);
}

#[test]
fn case_16_a_condition_with_or_and_a_semicolon_holds_for_every_range_of_the_table() {
    let original = case("16-splitpk-and-where");
    are_missing(&original, &[("reader", "mysqlreader", [6, 9])]);
    let case = mysql(original);
    let run = case.runs_quietly();
    let tonnage = |line: &str| -> (String, f64) {
        let (visit, tonnage) = line.rsplit_once('\t').unwrap();
        (visit.to_string(), tonnage.parse().unwrap())
    };
    let visits: Vec<(String, f64)> = sorted(&run).into_iter().map(tonnage).collect();
    let expected = [
        ("1\tGULL", 1200.5),
        ("2\tTERN", 980.0),
        ("3\tPETREL", 15000.25),
        ("4\tAUK", 0.0),
        ("5\tIBIS", 77.1),
        ("6\tSKUA", 431.0),
    ];
    assert_eq!(visits, expected.map(|(visit, tonnage)| (visit.to_string(), tonnage)));
    // With a condition that is less than the whole of it, the parentheses show.
    let run = case.with("tonnage > 50", "tonnage > 1000").run().succeeds();
    assert_eq!(sorted(&run).iter().map(|line| &line[..1]).collect::<String>(), "134");
}

#[test]
fn case_16_empty_conditions_count_as_absent() {
    let case = mysql(case("16-splitpk-and-where"))
        .with("\"VISIT_NO\"", "\"\"")
        .with("\" tonnage > 50 or ship_tag = 'AUK' ; \"", "\"\"");
    assert_eq!(sorted(&case.runs_quietly()).len(), 6);
}

/// Case 17; in SQLite with its own words for what MySQL calls otherwise.
fn case_17() -> Case {
    let case = mysql(case("17-mysqlwriter-modes-session-sql"));
    if MYSQL_IS_HERE {
        return case;
    }
    case.with(r#""set session sql_mode='ANSI'", "set session time_zone='+08:00'""#, r#""pragma foreign_keys = on""#)
        .with(
            "insert into shard_all values (1, 'old')  on duplicate key update ship_tag='old'",
            "replace into shard_all values (1, 'old')",
        )
}

#[test]
fn case_17_rows_that_are_there_are_updated_between_the_statements_before_and_after() {
    are_missing(&case("17-mysqlwriter-modes-session-sql"), &[("writer", "mysqlwriter", [14, 9])]);
    let case = case_17();
    case.runs_quietly();
    assert_eq!(case.rows("ts_cases.db", "select * from shard_all"), ["1|p1", "2|p2", "3|p3!"]);
    // Once more: the same.
    case.runs_quietly();
    assert_eq!(case.rows("ts_cases.db", "select * from shard_all"), ["1|p1", "2|p2", "3|p3!"]);
}

#[test]
fn case_17_a_mode_that_does_not_exist_is_refused() {
    let case = case_17().with("\"update\"", "\"upsert\"");
    let run = case.run().fails_with(2);
    assert!(
        run.error().starts_with(&format!("{}job.content[0].writer.parameter.writeMode ", case.at(17, 13))),
        "{run}"
    );
    assert_eq!(case.rows("ts_cases.db", "select * from shard_all"), [""; 0]);
}

#[test]
fn case_19_keys_that_nobody_knows_are_ignored_with_what_was_probably_meant() {
    let original = case("19-misspelt-and-foreign-keys");
    are_missing(&original, &[("writer", "mysqlwriter", [20, 9])]);
    let case = mysql(original);
    let run = case.run().succeeds();
    // Fields end at a comma, and records are inserted.
    assert_eq!(case.rows("ts_cases.db", "select * from shard_all"), ["2|p2", "3|p3"]);
    let warned = warnings(&run);
    let expected = [
        (2, 3, "setting is not known here and is ignored; did you mean \"job.setting\"?"),
        (4, 45, "job.setting.errorlimit is not known here and is ignored; did you mean \"job.setting.errorLimit\"?"),
        (4, 76, "job.setting.restore is not known and is ignored"),
        (7, 9, "job.content[0].dataxName is not known and is ignored"),
        (10, 11, "job.content[0].reader.path is no library (*.so) and is ignored: the plugin is found by its name"),
        (13, 13, "job.content[0].reader.parameter.charset is not known and is ignored"),
        (
            14,
            13,
            "job.content[0].reader.parameter.filedDelimiter is not known here and is ignored; did you mean \"fieldDelimiter\"?",
        ),
        (16, 13, "job.content[0].reader.parameter.splitPK is not known and is ignored"),
        (17, 13, "job.content[0].reader.parameter.\"\" is not known and is ignored"),
        (
            23,
            13,
            "job.content[0].writer.parameter.writerMode is not known here and is ignored; did you mean \"writeMode\"?",
        ),
        (30, 91, "job.content[0].writer.parameter.connection[0].driver is not known and is ignored"),
        (30, 122, "job.content[0].writer.parameter.connection[0].selectedDatabase is not known and is ignored"),
    ];
    for (line, column, warning) in expected {
        let warning = format!("{}{warning}", case.at(line, column));
        assert!(warned.contains(&warning.as_str()), "not `{warning}`: {run}");
    }
    // Of a path that is ignored it does not matter what its variable would be.
    assert!(warned.len() <= expected.len() + 1, "{run}");
}

#[test]
fn case_19_a_misspelt_mode_does_not_update() {
    let case = mysql(case("19-misspelt-and-foreign-keys"))
        .with("delete from shard_all", "insert into shard_all values (2, 'old')");
    let run = case.run().succeeds();
    assert_eq!(case.rows("ts_cases.db", "select * from shard_all"), ["2|old", "3|p3"], "{run}");
    assert_eq!(case.scratch.dirty_records().len(), 1, "{run}");
}

#[test]
fn case_30_a_writer_for_postgresql_is_missing() {
    are_missing(&case("30-writemode-on-postgres"), &[("writer", "postgresqlwriter", [7, 9])]);
}

#[test]
fn case_33_a_template_for_plugins_that_are_missing_is_refused_for_what_is_wrong_besides() {
    let case = case("33-untouched-template");
    let run = told_by_few(&case, "run", &[]).fails_with(2);
    assert_eq!(errors(&run).len(), 3);
    assert_eq!(
        errors(&run)[2],
        format!("{}job.setting.speed.channel is empty: write a number, or leave it out", case.at(41, 17))
    );
}

#[test]
fn case_34_keys_with_dots_are_keys() {
    let case = case("34-hdfs-ha-and-enum-case");
    are_missing(&case, &[("reader", "mysqlreader", [6, 9]), ("writer", "hdfswriter", [15, 9])]);
    let run = told_by_few(&case, "run", &["-D", "dt=2024-02-29"]);
    assert_eq!(warnings(&run), [""; 0], "{run}");
    let run = told_by_few(&case, "run", &[]);
    let warning = "the variable ${dt} is not set and stays as it is written; -D dt=… sets it";
    assert_eq!(warnings(&run), [format!("{}{warning}", case.at(27, 51))]);
}

#[test]
fn case_34_a_secret_below_a_key_with_dots_is_told_by_its_path_alone() {
    let case = case("34-hdfs-ha-and-enum-case")
        .with("\"dfs.nameservices\": \"harbourns\"", "\"dfs.secret.key\": \"pa${ss}wo\"");
    let run = told_by_few(&case, "run", &["-D", "dt=2024-02-29"]);
    let warning = "what looks like a variable in job.content[0].writer.parameter.hadoopConfig.dfs.secret.key is not set and stays \
                   as it is written";
    assert_eq!(warnings(&run), [format!("{}{warning}", case.at(20, 36))]);
}

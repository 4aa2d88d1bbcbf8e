//! Cases about files, and about a database that is one.

use transship_tests::records::{number, text};

use super::{Case, case, sorted};

/// The one file below `ts-cases/out`, whose name begins so.
#[track_caller]
fn written(case: &Case, beginning: &str) -> String {
    let files: Vec<String> =
        case.scratch.files().into_iter().filter(|name| name.starts_with("ts-cases/out/")).collect();
    let [file] = &files[..] else { panic!("not one file: {files:?}") };
    assert!(file.starts_with(&format!("ts-cases/out/{beginning}__")), "{file}");
    case.scratch.read(file)
}

#[test]
fn case_11_hives_delimiter_is_the_same_however_it_is_written() {
    let case = case("11-control-char-delimiters");
    case.runs_quietly();
    assert_eq!(written(&case, "ctrl_a"), "1\u{1}GULL\u{1}A1\n2\u{1}TERN\u{1}\\N\n");
}

#[test]
fn case_11_an_escape_that_is_escaped_is_understood_and_an_unknown_one_is_not() {
    let case = case("11-control-char-delimiters").with("\"\\u0001\"", "\"\\\\u0001\"");
    case.run().succeeds();
    assert_eq!(written(&case, "ctrl_a"), "1\u{1}GULL\u{1}A1\n2\u{1}TERN\u{1}\\N\n");

    let case = case.with("\"\\x5cN\"", "\"\\d\"");
    let run = case.run().fails_with(2);
    assert!(
        run.error().starts_with(&format!("{}the job file is not JSON: \\d is no escape", case.at(26, 28))),
        "{run}"
    );
}

#[test]
fn case_27_columns_are_typed_and_their_numbers_keep_every_digit() {
    let case = case("27-txtfilereader-options");
    let run = case.runs_quietly();
    assert_eq!(run.stdout, "1|GULL|1200.50|2024-02-01 00:00:00|berth-a\n3|null|88.0|2024-02-03 00:00:00|berth-a\n");
    let [dirty] = &case.scratch.dirty_records()[..] else { panic!("not one dirty record: {run}") };
    // The header is the first line, and an empty number is no NULL.
    assert_eq!((number(dirty, "/source/line"), text(dirty, "/column"), text(dirty, "/value")), (3, "tonnage", ""));
    run.says(["records read    : 3\n", "records failed  : 1\n"]);
}

/// Case 27 with a file in GBK.
fn gbk(encoding: &str) -> Case {
    case("27-txtfilereader-options")
        .with("ts-cases/in/visits.csv", "ts-cases/in/gbk.csv")
        .with("\" utf8 \"", encoding)
        .with("\"skipHeader\": \"true\",", "")
        .with(
            r#"{ "index": 2, "type": "double" },
              { "index": 3, "type": "date", "format": "yyyy.MM.dd" },"#,
            "",
        )
}

#[test]
fn case_27_a_file_in_gbk_is_read_as_such() {
    assert_eq!(gbk("\"gbk\"").runs_quietly().stdout, "31|泊位甲|berth-a\n32|泊位乙|berth-a\n");
}

/// DataX makes U+FFFD of them.
#[test]
fn case_27_bytes_that_are_not_in_the_encoding_make_a_record_dirty() {
    let case = gbk("\"\"");
    let run = case.run().succeeds();
    assert_eq!(run.stdout, "");
    run.says(["records failed  : 2\n", "say in \"encoding\" how the file is encoded"]);
    assert_eq!(case.scratch.dirty_records().len(), 2);
}

#[test]
fn case_32_any_database_is_read_through_its_url() {
    let case = case("32-sqlite-through-rdbms");
    case.runs_quietly();
    assert_eq!(written(&case, "buoys"), "1\tnorth\t12.5\n2\tsouth\t\\N\n3\tmid channel\t7.0\n");
}

#[test]
fn case_32_files_that_are_there_already_are_left_alone() {
    let case = case("32-sqlite-through-rdbms");
    case.run().succeeds();
    let before = case.scratch.snapshot();
    let run = case.run().fails_with(1);
    run.says(["writeMode nonConflict allows no file whose name begins with buoys"]);
    assert_eq!(case.scratch.snapshot(), before);
}

#[test]
fn case_32_a_database_without_a_driver_is_named() {
    let case = case("32-sqlite-through-rdbms").with("jdbc:sqlite:", "jdbc:xyz:");
    let run = case.run().fails_with(3);
    assert!(run.error().starts_with(&case.at(14, 62)), "{run}");
    run.says(["there is no driver for jdbc:xyz: \"rdbmsreader\" takes URLs that begin with", "\"jdbc:sqlite:\""]);
    assert!(sorted(&run).is_empty());
}

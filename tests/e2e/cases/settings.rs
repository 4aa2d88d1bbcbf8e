//! Cases about `job.setting`: speed, and dirty records.

use transship_tests::records::{number, text};
use transship_tests::{Value, golden};

use super::{Case, case, errors, sorted, warnings};

/// The plan of a case.
fn plan(case: &Case) -> Value {
    let run = case.told("plan", &["--json"]).succeeds();
    serde_json::from_str::<Value>(&run.stdout).unwrap()["plan"].clone()
}

#[test]
fn case_20_a_limit_without_one_for_each_channel_is_shared_by_the_channels() {
    let case = case("20-byte-limit-without-core");
    let run = case.run().succeeds();
    assert_eq!(run.stdout, "x\nx\nx\n");
    let warning = "the limit in job.setting.speed is shared by the job's 3 channels";
    assert_eq!(warnings(&run), [format!("{}: {warning}", case.name)]);
    let plan = plan(&case);
    assert_eq!(["/channels", "/bytes_per_second"].map(|what| number(&plan, what)), [3, 1_048_576]);
}

#[test]
fn case_20_with_a_limit_for_each_channel_the_two_make_the_channels() {
    let case = case("20-byte-limit-without-core").with(
        "{\n  \"job\"",
        "{\n  \"core\": {\"transport\": {\"channel\": {\"speed\": {\"byte\": 524288}}}},\n  \"job\"",
    );
    let run = case.run().succeeds();
    assert_eq!(run.stdout, "x\nx\n");
    let warning = "job.setting.speed.channel is ignored: the limits for the job and for each channel make 2";
    assert_eq!(warnings(&run), [format!("{}: {warning}", case.name)]);
    assert_eq!(number(&plan(&case), "/bytes_per_second"), 1_048_576);
}

#[test]
fn case_22_a_job_without_speed_runs_one_channel_for_each_core() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let not_there = ["\"setting\": { },", ""];
    let empty = ["{ }", "{ \"speed\": {} }"];
    let misspelt = ["{ }", "{ \"speed\": {\"bytes\": 0} }"];
    let none = ["{ }", "{ \"speed\": {\"channel\": 0} }"];
    let less = ["{ }", "{ \"speed\": {\"channel\": -1} }"];
    for [old, new] in [["{ }", "{ }"], not_there, empty, misspelt, none, less] {
        let case = case("22-speed-missing").with(old, new);
        let run = case.run().succeeds();
        assert_eq!(run.stdout, "x\n".repeat(cores), "{new}");
        let warning = format!("job.setting.speed.channel is not set, or not above 0: {cores}, one for each core");
        assert!(warnings(&run).contains(&format!("{}: {warning}", case.name).as_str()), "{new}: {run}");
    }
}

#[test]
fn case_22_a_speed_that_is_a_number_is_passed_over_with_a_warning() {
    let case = case("22-speed-missing").with("{ }", "{ \"speed\": 1048576 }");
    let run = case.run().succeeds();
    let warning = "job.setting.speed must be an object, not 1048576: it is ignored, as in DataX";
    assert_eq!(warnings(&run)[0], format!("{}{warning}", case.at(3, 18)));
}

/// The lines of the file that are no dirty records.
const GOOD: [&str; 2] = ["10\tGULL\t5", "12\tIBIS\t7"];

#[test]
fn case_25_more_dirty_records_than_allowed_fail_the_job() {
    let case = case("25-dirty-records-limits");
    let run = case.run().fails_with(6);
    assert_eq!(run.error(), "2 dirty records are more than job.setting.errorLimit.record allows (1)");
    assert!(sorted(&run).iter().all(|line| GOOD.contains(line)), "{run}");
    let dirty = case.scratch.dirty_records();
    let told: Vec<_> = dirty
        .iter()
        .map(|record| (number(record, "/source/line"), text(record, "/column"), text(record, "/value")))
        .collect();
    assert_eq!(told, [(2, "col0", "bad"), (3, "col2", "oops")]);
}

/// Case 25 with another limit.
fn limited(limit: &str) -> Case {
    case("25-dirty-records-limits").with(r#""errorLimit": { "record": "1", "percentage": 0.9 }"#, limit)
}

#[test]
fn case_25_dirty_records_within_the_limit_are_counted_and_left_out() {
    let no_limit = ["\"x\": 0", r#""errorLimit": null"#, r#""errorLimit": 10"#, r#""errorLimit": {}"#];
    let high = [r#""errorLimit": {"record": 2}"#, r#""errorLimit": {"record": 2, "percentage": 0}"#];
    for limit in no_limit.into_iter().chain(high).chain([r#""errorLimit": {"percentage": 0.5}"#]) {
        let case = limited(limit);
        let run = case.run().succeeds();
        assert_eq!(sorted(&run), GOOD, "{limit}");
        run.says([
            "records read    : 4\n",
            "records failed  : 2\n",
            "written 2 + filtered 0 + duplicates 0 + dirty 2\n",
        ]);
        run.says(["DIRTY RECORDS   : 2 kept in 25-dirty-records-limits."]);
        assert_eq!(case.scratch.dirty_records().len(), 2, "{limit}");
    }
}

#[test]
fn case_25_a_share_counts_where_no_number_is_given() {
    let run = limited(r#""errorLimit": {"percentage": 0.02}"#).run().fails_with(6);
    assert_eq!(
        run.error(),
        "2 dirty of 4 records (0.5000) are more than job.setting.errorLimit.percentage allows (0.02)"
    );
}

#[test]
fn case_25_limits_that_mean_nothing_are_refused_before_anything_is_read() {
    let case = limited(r#""errorLimit": {"record": -1, "percentage": 5}"#);
    let run = case.run().fails_with(2);
    assert_eq!(
        errors(&run),
        [
            format!(
                "{}job.setting.errorLimit.record is -1, but must be 0 or more; leave it out for no limit",
                case.at(5, 22)
            ),
            format!(
                "{}job.setting.errorLimit.percentage is 5, but must lie between 0 and 1 (0.02 is two percent)",
                case.at(5, 36)
            ),
        ]
    );
    assert_eq!((run.stdout.as_str(), case.scratch.dirty_records().len()), ("", 0));
}

/// What `datax.py -r sqlitereader -w sqlitewriter` would print: case 33 with plugins that are here.
fn template() -> Case {
    case("33-untouched-template").with("mysqlreader", "sqlitereader").with("mysqlwriter", "sqlitewriter")
}

#[test]
fn case_33_everything_that_is_empty_in_a_template_and_must_not_be_is_named() {
    let run = template().run().fails_with(2);
    golden::check("untouched_template.txt", &run.stderr);
    assert_eq!(template().told("check", &[]).fails_with(2).stderr, run.stderr);
}

#[test]
fn case_33_what_may_be_left_empty_counts_as_not_there() {
    let case = template()
        .with("\"jdbcUrl\": []", "\"jdbcUrl\": [\"jdbc:sqlite:ts-cases/in/ts_cases.db\"]")
        .with("\"jdbcUrl\": \"\"", "\"jdbcUrl\": \"jdbc:sqlite:ts-cases/in/ts_cases.db\"")
        .with("\"column\": []", "\"column\": [\"visit_no\", \"ship_tag\"]")
        .with("\"writeMode\": \"\"", "\"writeMode\": \"insert\"")
        .with("\"channel\": \"\"", "\"channel\": \"1\"");
    let reader = "\"table\": []\n                            }\n                        ], \n                        \"password\": \"\", \n                        \"username\"";
    let case = case
        .with(reader, &reader.replace("[]", "[\"berth_visit\"]"))
        .with("\"table\": []", "\"table\": [\"shard_all\"]");
    case.runs_quietly();
    assert_eq!(
        case.rows("ts_cases.db", "select * from shard_all"),
        ["1|GULL", "2|TERN", "3|PETREL", "4|AUK", "5|IBIS", "6|SKUA"]
    );
}

//! The built-in transformers in whole jobs: what arrives, what is counted, and where a dirty record is said to come from.

use transship_tests::records::{number, text};
use transship_tests::{Job, Scratch, Value, json, plugin};

/// Harbour visits: a number, the ship, when it came, and its draught.
const VISITS: &str = "\
1,GULL,2026-03-01 08:00:00,5.5
2,TERN,2026-03-02 09:30:00,12.25
3,\\N,2026-03-03 10:00:00,7
4,PETREL,2026-03-04 23:59:59,10
5,🚢AUK,2026-03-05 00:00:00,9.99
";

/// A job that reads the visits with names for the columns and prints what comes through.
fn job(transformers: &[(&str, Value)]) -> Job {
    job_to(plugin("streamwriter", json!({})), transformers)
}

fn job_to(writer: Value, transformers: &[(&str, Value)]) -> Job {
    let column = |index: u32, name: &str, kind: &str| json!({ "index": index, "name": name, "type": kind });
    let columns = [
        column(0, "visit", "long"),
        column(1, "ship", "string"),
        column(2, "arrival", "date"),
        column(3, "draught", "double"),
    ];
    let reader = json!({ "path": "visits.csv", "column": columns, "nullFormat": "\\N" });
    let job = Job::new(plugin("txtfilereader", reader), writer);
    transformers.iter().fold(job, |job, (name, parameter)| job.transformer(plugin(name, parameter.clone())))
}

fn on(column: &str, paras: Value) -> Value {
    json!({ "columnName": column, "paras": paras })
}

fn scratch(job: &Job) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("visits.csv", VISITS);
    scratch.job("job.json", job);
    scratch
}

/// The records that a job prints.
#[track_caller]
fn printed(job: &Job) -> Vec<String> {
    let run = scratch(job).transship(["run", "job.json"]).run().succeeds();
    run.stdout.lines().map(String::from).collect()
}

/// The numbers of the visits that pass a filter.
#[track_caller]
fn passing(column: &str, operator: &str, value: impl Into<Value>) -> Vec<String> {
    passing_with(column, operator, value, json!({}))
}

#[track_caller]
fn passing_with(column: &str, operator: &str, value: impl Into<Value>, formats: Value) -> Vec<String> {
    let job = job(&[("dx_filter", on(column, json!([operator, value.into()])))]).with("common.column", formats);
    printed(&job).iter().map(|line| line.split('\t').next().unwrap().to_string()).collect()
}

#[test]
fn transformers_work_one_behind_the_other_on_named_columns() {
    let lines = printed(&job(&[
        ("dx_filter", on("visit", json!(["=", 5]))),
        ("dx_pad", on("ship", json!(["r", 6, "."]))),
        ("dx_replace", on("ship", json!([1, 2, "--"]))),
        ("dx_substr", on("arrival", json!([5, 5]))),
        ("dx_digest", json!({ "columnIndex": "draught", "paras": ["MD5", "toUpperCase"] })),
    ]));
    assert_eq!(
        lines,
        [
            "1\tG--L..\t03-01\tAD9995C0D305D650BC1A138F32113AF7",
            "2\tT--N..\t03-02\t918FE1F7A3F1C835F5B06CB1AE98A3DD",
            "3\t.--...\t03-03\t8F14E45FCEEA167A5A36DEDD4BEA2543",
            "4\tP--REL\t03-04\tD3D9446802A44259755D38E6D163E820",
        ]
    );
}

#[test]
fn numbers_texts_and_dates_are_compared_as_what_they_are() {
    assert_eq!(passing("draught", ">", "9.99"), ["1", "3", "5"]);
    assert_eq!(passing("draught", "=", "10.00"), ["1", "2", "3", "5"]);
    assert_eq!(passing("visit", "<=", "2.5"), ["3", "4", "5"]);
    assert_eq!(passing("ship", "<", "PETREL"), ["2", "3", "4", "5"], "NULL stays, and a ship is behind all letters");
    assert_eq!(passing("ship", "not like", r"[A-Z]{4}"), ["1", "2"]);
    assert_eq!(passing("arrival", ">=", "2026-03-04 23:59:59"), ["1", "2", "3"]);
    assert_eq!(passing("arrival", "<", "2026-03-03"), ["3", "4", "5"]);
}

/// Trap 41.
#[test]
fn a_date_is_compared_with_epoch_milliseconds_in_the_jobs_zone() {
    // 2026-03-03 10:00:00 in UTC, which is 18:00 in Shanghai.
    let millis = 1_772_532_000_000i64;
    let utc = json!({ "timeZone": "UTC" });
    assert_eq!(passing_with("arrival", "=", millis, utc.clone()), ["1", "2", "4", "5"]);
    assert_eq!(passing_with("arrival", ">=", millis.to_string(), utc), ["1", "2"]);
    assert_eq!(passing("arrival", "=", millis - 8 * 3_600_000), ["1", "2", "4", "5"], "GMT+8, where nothing is said");
}

#[test]
fn dates_are_texts_in_the_jobs_formats() {
    let formats = json!({ "datetimeFormat": "dd.MM.yyyy" });
    let month = job(&[("dx_substr", on("arrival", json!([3, 7])))]).with("common.column", formats.clone());
    assert!(printed(&month)[0].starts_with("1\tGULL\t03.2026\t"), "{month:?}");
    assert_eq!(passing_with("arrival", "like", r"0[13]\..*", formats.clone()), ["2", "4", "5"]);
    assert_eq!(passing_with("arrival", ">", "03.03.2026", formats), ["1", "2"]);
}

/// Traps 24, 45.
#[test]
fn what_is_filtered_is_counted_apart_from_what_is_dirty_and_what_is_written() {
    let job = job_to(
        plugin("streamwriter", json!({ "print": false })),
        &[
            ("dx_filter", on("visit", json!(["<", 2]))),
            ("dx_substr", on("ship", json!([5, 1]))),
            ("dx_filter", on("visit", json!([">", 4]))),
        ],
    );
    let run = scratch(&job).transship(["run", "job.json", "--json"]).run().succeeds();
    let summary = run.summary();
    let counts = ["read", "filtered", "dirty_at_transformers", "written"]
        .map(|count| number(&summary, &format!("/counts/{count}")));
    // Visit 1 is dropped first; GULL would have been too short, as TERN is; of 🚢AUK the last letter stays, but its visit not.
    assert_eq!(counts, [5, 2, 1, 2], "{run}");
}

#[test]
fn a_dirty_record_behind_a_filter_names_its_line_in_the_file() {
    let job = job(&[("dx_filter", on("visit", json!(["like", "[13]"]))), ("dx_substr", on("ship", json!([1, 2])))]);
    let scratch = scratch(&job);
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    assert_eq!(run.stdout.lines().count(), 2, "{run}");
    let dirty = scratch.dirty_records();
    assert_eq!(dirty.len(), 1, "{run}");
    let told = ["plugin", "column", "value", "side"].map(|key| text(&dirty[0], &format!("/{key}")).to_string());
    assert_eq!(told, ["dx_substr", "ship", "🚢AUK", "transformer"]);
    assert_eq!((number(&dirty[0], "/position"), text(&dirty[0], "/unit")), (5, "line"));
    assert!(text(&dirty[0], "/cause").starts_with("position 1 is in the middle of \"🚢\""), "{run}");
    assert_eq!(dirty[0]["record"]["visit"], 5);
}

#[test]
fn a_filter_that_drops_everything_leaves_a_job_that_succeeds() {
    let nothing =
        printed(&job(&[("dx_filter", on("visit", json!([">", 0]))), ("dx_pad", on("ship", json!(["l", 2, "x"])))]));
    assert_eq!(nothing, [""; 0]);
}

#[test]
fn a_value_that_fits_no_number_or_date_stops_the_job_before_it_reads() {
    for (column, must_be) in
        [("visit", "a number"), ("draught", "a number"), ("arrival", "epoch milliseconds or a date")]
    {
        let scratch = scratch(&job(&[("dx_filter", on(column, json!([">", "high"])))]));
        let run = scratch.transship(["run", "job.json"]).run().fails_with(1);
        let told = format!("parameter.paras[1] must be {must_be}");
        run.says([told.as_str(), &format!("not \"high\": the column \"{column}\" holds ")]);
        assert_eq!((run.stdout.as_str(), scratch.dirty_records().len()), ("", 0), "{run}");
    }
}

#[test]
fn a_list_of_thousands_of_transformers_runs() {
    let many = vec![("dx_pad", on("ship", json!(["r", 6, "."]))); 3_000];
    assert_eq!(
        printed(&job(&many))[..2],
        ["1\tGULL..\t2026-03-01 08:00:00\t5.5", "2\tTERN..\t2026-03-02 09:30:00\t12.25"]
    );
}

#[test]
fn texts_may_grow_to_more_than_fits_into_one_batch() {
    let reader =
        plugin("streamreader", json!({ "sliceRecordCount": 8192, "column": [{ "value": "7", "type": "string" }] }));
    let job = Job::new(reader, plugin("streamwriter", json!({ "print": false })))
        .channels(1)
        .transformer(plugin("dx_pad", json!({ "columnIndex": 0, "paras": ["l", "300000", "0"] })));
    let summary = Scratch::new().run(&job).succeeds().summary();
    assert_eq!(number(&summary, "/counts/written"), 8192);
    assert!(number(&summary, "/counts/written_bytes") >= 8192 * 300_000, "{summary}");
}

/// Trap 38.
#[test]
fn every_wrong_parameter_is_told_at_once_with_its_place() {
    let wrong = job(&[
        ("dx_substr", on("ship", json!(["one", 2]))),
        ("dx_filter", on("ship", json!(["like", "(GULL"]))),
        ("dx_pad", on("ship", json!(["l", 5, ""]))),
        ("dx_digest", json!({ "paras": ["md5", "toLowerCase"] })),
    ]);
    for command in ["check", "run"] {
        let run = scratch(&wrong).transship([command, "job.json"]).run().ends_with(2);
        run.says([
            "job.content[0].transformer[0].parameter.paras[0] must be a whole number from 0 to 2147483647, not \"one\"; ",
            "job.content[0].transformer[1].parameter.paras[1] is \"(GULL\", which has a ( without its ); ",
            "job.content[0].transformer[2].parameter.paras[2] is empty, but a text is needed to pad with; ",
            "job.content[0].transformer[3].parameter.columnIndex is required",
        ]);
    }
}

#[test]
fn many_records_over_several_channels_all_add_up() {
    let columns = json!([{ "name": "id", "type": "LONG", "sequence": "1,1" }, { "name": "code", "random": "4,8" }]);
    let reader = plugin("streamreader", json!({ "sliceRecordCount": 5_000, "seed": 7, "column": columns }));
    let job = Job::new(reader, plugin("streamwriter", json!({ "print": false })))
        .channels(2)
        .transformer(plugin("dx_filter", on("id", json!(["like", ".*[05]"]))))
        .transformer(plugin("dx_substr", on("code", json!([6, 2]))))
        .transformer(plugin("dx_digest", on("id", json!(["sha1", "toLowerCase"]))));
    let scratch = Scratch::new();
    let summary = scratch.run(&job).succeeds().summary();
    let count = |name: &str| number(&summary, &format!("/counts/{name}"));
    assert_eq!((count("read"), count("filtered")), (10_000, 2_000));
    assert!(count("dirty_at_transformers") > 1_000 && count("written") > 1_000, "{summary}");
    assert_eq!(count("dirty_at_transformers") + count("written"), 8_000);
    assert_eq!(scratch.dirty_records().len() as u64, count("dirty_at_transformers"));
}

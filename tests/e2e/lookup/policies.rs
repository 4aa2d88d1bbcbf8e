//! What becomes of records whose lookup fails, finds nothing, or has to be tried again.

use transship_tests::records::number;
use transship_tests::{Job, Scratch, faulty, json};

use super::*;

fn found(id: u64) -> (u64, Option<String>) {
    (id, Some(format!("found {id}")))
}

#[test]
fn what_is_not_found_is_null_dropped_or_dirty() {
    for (policy, expected, counts) in [
        ("null", vec![found(1), found(2), (3, None), found(4)], (0, 0)),
        ("drop", vec![found(1), found(2), found(4)], (1, 0)),
        ("dirty", vec![found(1), found(2), found(4)], (0, 1)),
    ] {
        let scratch = Scratch::new();
        let job = job(json!({ "records": 4 }), json!({ "missingEvery": 3 }), json!({ "onMissing": policy }));
        let run = run(&scratch, &job).succeeds();
        assert_eq!(printed(&run), expected, "{policy}");
        let (filtered, dirty) = counts;
        let written = expected.len();
        run.says([format!("written {written} + filtered {filtered} + duplicates 0 + dirty {dirty}").as_str()]);
    }
}

#[test]
fn a_failed_lookup_fails_the_job_or_leaves_the_record_dirty_or_without_values() {
    let with = |policy: &str| job(json!({ "records": 4 }), json!({ "failEvery": 3 }), json!({ "onFailure": policy }));
    let scratch = Scratch::new();
    let failed = run(&scratch, &with("fail")).fails_with(1);
    assert!(failed.error().contains("faultylookup for id = 3: 3 is not to be found"), "{failed}");
    assert!(failed.error().contains("lookup"), "{failed}");

    let run = run(&scratch, &with("null")).succeeds();
    assert_eq!(printed(&run), [found(1), found(2), (3, None), found(4)]);
    run.says(["failures 1"]);
}

#[test]
fn a_dirty_record_is_kept_with_its_place_and_its_cause() {
    let scratch = Scratch::new();
    let job = job(json!({ "records": 4 }), json!({ "failEvery": 3 }), json!({ "onFailure": "dirty" }));
    let run = run(&scratch, &job).succeeds();
    assert_eq!(printed(&run), [found(1), found(2), found(4)]);
    let dirty = scratch.dirty_records();
    assert_eq!(dirty.len(), 1, "{run}");
    assert_eq!((dirty[0]["side"].as_str(), dirty[0]["plugin"].as_str()), (Some("transformer"), Some("lookup")));
    assert_eq!((number(&dirty[0], "/position"), dirty[0]["column"].as_str()), (2, Some("id")), "counted from 0");
    assert_eq!(dirty[0]["cause"], "the lookup failed: 3 is not to be found");
    assert_eq!(dirty[0]["record"]["id"], 3);

    let refused = super::run(&scratch, &job.with("job.setting.errorLimit.record", 0));
    assert_eq!(refused.code(), Some(6), "{refused}");
}

#[test]
fn what_may_be_tried_again_is_and_the_summary_says_how_often() {
    let scratch = Scratch::new();
    let retry = json!({ "max": 3, "delay": "1 ms" });
    let parameter = json!({ "retry": retry, "batch": { "size": 50 }, "capacity": 100 });
    let retried = run(&scratch, &job(json!({ "records": 100, "batch": 100 }), json!({ "failFirst": 2 }), parameter));
    let retried = retried.succeeds();
    assert_eq!(printed(&retried), (1..=100).map(found).collect::<Vec<_>>());
    retried.says(["calls 4, keys 200, retries 100"]);

    let once = run(&scratch, &job(json!({}), json!({ "failFirst": 1 }), json!({}))).fails_with(1);
    assert!(once.error().contains("call 1 of the first ones"), "{once}");
}

#[test]
fn a_key_that_comes_again_is_found_in_the_cache() {
    let scratch = Scratch::new();
    scratch.write("ids.csv", "7\n8\n7\n7\n8\n".repeat(100));
    let reader = json!({ "path": "ids.csv", "column": [{ "index": 0, "name": "id", "type": "long" }] });
    let lookup = json!({ "name": "faultylookup", "parameter": { "missingEvery": 8 } });
    let transformer = asking(lookup, json!({ "cache": { "entries": 10 }, "capacity": 1 }));
    let job = Job::new(plugin("txtfilereader", reader), plugin("streamwriter", json!({}))).transformer(transformer);
    let run = run(&scratch, &job).succeeds();
    run.says(["calls 2, keys 2,", "cache hits 498, cache misses 2"]);
    let expected = [Some("found 7"), None, Some("found 7"), Some("found 7"), None].repeat(100);
    let found: Vec<Option<String>> = printed(&run).into_iter().map(|(_, found)| found).collect();
    assert!(found.iter().map(Option::as_deref).eq(expected));
}

/// A mark reaches the writer behind all records that came before it, and before all others.
#[test]
fn no_record_passes_a_mark() {
    for mode in ["ordered", "unordered", "key"] {
        let scratch = Scratch::new();
        let lookup = json!({ "name": "faultylookup", "parameter": { "delayMillis": 1 } });
        let transformer = asking(lookup, json!({ "mode": mode, "batch": { "size": 3 } }));
        let job = faulty(json!({ "records": 100, "batch": 10, "markEvery": 20, "mark": "watermark" }), json!({}))
            .transformer(transformer);
        super::run(&scratch, &job).succeeds();
        let (mut taken, mut marks) = (0, 0);
        for line in scratch.lines("journal") {
            if let Some(count) = line.strip_prefix("writer took ") {
                taken += count.parse::<u64>().unwrap();
            } else if line.starts_with("writer mark ") && taken < 100 {
                marks += 1;
                assert_eq!(taken % 20, 0, "{mode}: {taken} records before a mark");
            }
        }
        assert_eq!(taken, 100);
        assert!(marks >= 4, "{mode}: {marks} marks");
    }
}

#[test]
fn what_is_wrong_with_a_lookup_is_told_with_its_place_before_anything_runs() {
    let refused = |transformer: Value| {
        let scratch = Scratch::new();
        let job = faulty(json!({}), json!({})).transformer(transformer);
        scratch.job("job.json", &job);
        scratch.transship(["check", "job.json"]).run()
    };
    let name = refused(asking(json!("faultylokup"), json!({}))).fails_with(3);
    name.says([
        "transformer[0].parameter.lookup",
        "there is no lookup named \"faultylokup\"; did you mean \"faultylookup\"?",
    ]);
    let inside = json!({ "name": "faultylookup", "parameter": { "how": "loudly", "delay": 1 } });
    let inside = refused(asking(inside, json!({}))).fails_with(2);
    inside.says(["transformer[0].parameter.lookup.parameter.how is \"loudly\", but must be \"silent\""]);
    inside.says(["transformer[0].parameter.lookup.parameter.delay is not known"]);
    let outside = refused(asking(json!({}), json!({ "capacity": 0, "mod": "key" }))).fails_with(2);
    outside.says(["parameter.lookup.name is required", "parameter.capacity is 0", "did you mean \"mode\"?"]);
}

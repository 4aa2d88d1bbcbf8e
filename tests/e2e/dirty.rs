//! Dirty records: counted, held against the limit, and every one of them kept with where it came from and what is wrong.

use std::os::unix::fs::PermissionsExt;

use transship_tests::records::{json_lines, number, text};
use transship_tests::{Job, Scratch, Value, faulty, faulty_transformer, json};

mod values;

/// 100 records in each of two splits; at each place one of so many is dirty.
fn job(reader: u64, transformer: u64, writer: u64) -> Job {
    let reader = json!({ "splits": 2, "dirtyEvery": reader });
    let transformer = faulty_transformer(json!({ "dirtyEvery": transformer, "dropEvery": 9 }));
    faulty(reader, json!({ "dirtyEvery": writer, "commit": "atomic" })).transformer(transformer)
}

/// Trap 18.
#[test]
fn every_dirty_record_is_kept_with_its_place_its_value_and_the_cause() {
    let scratch = Scratch::new();
    let run = scratch.run(&job(5, 7, 6)).succeeds();
    let summary = run.summary();
    let dirty = scratch.dirty_records();
    for (side, plugin, cause) in [
        ("reader", "faultyreader", "the reader does not like it"),
        ("transformer", "faultytransformer", "the transformer does not like it"),
        ("writer", "faultywriter", "the writer does not like it"),
    ] {
        let of_side: Vec<&Value> = dirty.iter().filter(|record| record["side"] == side).collect();
        let counter =
            if side == "transformer" { "/counts/dirty_at_transformers" } else { &format!("/counts/dirty_at_{side}") };
        assert_eq!(of_side.len() as u64, number(&summary, counter), "{side}: {run}");
        assert!(!of_side.is_empty(), "{side}: {run}");
        for record in of_side {
            check_place(record, &summary);
            assert_eq!(
                (text(record, "/plugin"), text(record, "/cause"), text(record, "/column")),
                (plugin, cause, "id")
            );
        }
    }
    assert_eq!(
        text(&summary, "/dirty_file"),
        scratch.files().iter().find(|name| name.ends_with(".dirty.jsonl")).unwrap()
    );
}

/// The position leads to the very record, whatever was dropped on the way.
fn check_place(record: &Value, summary: &Value) {
    let split = text(record, "/split");
    let task = summary["tasks"].as_array().unwrap().iter().find(|task| task["split"] == split).unwrap();
    assert_eq!(
        (&record["task"], &record["run"], &record["attempt"]),
        (&task["task"], &summary["run"], &json!(1)),
        "{record}"
    );
    assert_eq!(text(record, "/unit"), "record");
    let first = if split == "split 0" { 1 } else { 101 };
    let id = first + number(record, "/position");
    assert_eq!(number(record, "/record/id"), id, "{record}");
    assert_eq!(text(record, "/value"), id.to_string(), "{record}");
}

#[test]
fn the_dirty_records_are_the_same_whatever_the_size_of_the_batches() {
    let found = [1, 7, 2048].map(|batch| {
        let scratch = Scratch::new();
        let job = faulty(json!({ "records": 3000, "batch": batch, "dirtyEvery": 11 }), json!({ "dirtyEvery": 13 }));
        scratch.run(&job).succeeds();
        let what = |record: &Value| (number(record, "/position"), text(record, "/side").to_string());
        let mut found: Vec<_> = scratch.dirty_records().iter().map(what).collect();
        found.sort();
        assert_eq!(found.len() + scratch.ids().len(), 3000, "batches of {batch}");
        found
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

/// Trap 20.
#[test]
fn more_dirty_records_than_allowed_fail_the_job_with_6() {
    // Ten of a hundred records are dirty.
    let dirty = || json!({ "dirtyEvery": 10 });
    let atomic = |mut writer: Value| {
        writer["commit"] = json!("atomic");
        writer
    };
    let jobs = [("reader", faulty(dirty(), atomic(json!({})))), ("writer", faulty(json!({}), atomic(dirty())))];
    for (side, job) in jobs {
        for (limit, message) in [
            (json!({ "record": 9 }), "10 dirty records are more than job.setting.errorLimit.record allows (9)"),
            (json!({ "record": 0 }), "1 dirty record is more than job.setting.errorLimit.record allows (0)"),
            (
                json!({ "record": 0, "percentage": 0.5 }),
                "1 dirty record is more than job.setting.errorLimit.record allows (0)",
            ),
            (
                json!({ "percentage": 0.09 }),
                "10 dirty of 100 records (0.1000) are more than job.setting.errorLimit.percentage allows (0.09)",
            ),
        ] {
            let scratch = Scratch::new();
            let run = scratch.run(&job.clone().with("job.setting.errorLimit", limit)).fails_with(6);
            assert_eq!(run.error(), message, "{side}: {run}");
            run.says(["FAILED, too many dirty records"]);
            assert_eq!(scratch.ids(), [0; 0], "{side}: {run}");
            assert_eq!(run.summary()["cause"]["message"], message, "{side}: {run}");
            let told: usize = message.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(
                scratch.dirty_records().len(),
                told,
                "{side}: every one is kept, that over the limit too: {run}"
            );
        }
    }
}

/// Trap 20.
#[test]
fn as_many_dirty_records_as_allowed_are_no_failure() {
    for limit in
        [json!({ "record": 10 }), json!({ "percentage": 0.1 }), json!({ "record": 10, "percentage": 0.0 }), json!({})]
    {
        let scratch = Scratch::new();
        let job = faulty(json!({ "dirtyEvery": 20 }), json!({ "dirtyEvery": 19 }))
            .with("job.setting.errorLimit", limit.clone());
        let run = scratch.run(&job).succeeds();
        assert_eq!(scratch.dirty_records().len(), 10, "{limit}: {run}");
        assert_eq!(scratch.ids().len(), 90, "{limit}: {run}");
    }
}

#[test]
fn a_run_with_dirty_records_says_so_loudly() {
    let scratch = Scratch::new();
    let run = scratch.run(&faulty(json!({ "dirtyEvery": 10 }), json!({}))).succeeds();
    run.says(["records failed  : 10\n", "= written 90 + filtered 0 + duplicates 0 + dirty 10\n"]);
    run.says(["DIRTY RECORDS   : 10 kept in job.", ".dirty.jsonl\n"]);
}

/// Trap 13.
#[test]
fn a_limit_that_is_exceeded_stops_the_reading_soon() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "records": 1_000_000_000, "dirtyEvery": 10 }), json!({}))
        .with("job.setting.errorLimit.record", 3);
    scratch.run(&job).fails_with(6);
    assert_eq!(scratch.dirty_records().len(), 4);
}

#[test]
fn the_file_is_for_its_owner_only() {
    let scratch = Scratch::new();
    scratch.run(&faulty(json!({ "dirtyEvery": 10 }), json!({}))).succeeds();
    let name = scratch.files().into_iter().find(|name| name.ends_with(".dirty.jsonl")).unwrap();
    let mode = std::fs::metadata(scratch.path(name)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn no_file_is_made_without_a_dirty_record() {
    let scratch = Scratch::new();
    let run = scratch.run(&faulty(json!({}), json!({}))).succeeds();
    assert_eq!(scratch.files(), ["job.json", "journal", "out"]);
    run.does_not_say(["DIRTY"]);
}

#[test]
fn the_file_goes_where_it_is_wanted() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "dirtyEvery": 10 }), json!({})));
    let run = scratch.transship(["run", "job.json", "--dirty", "rejected.jsonl"]).run().succeeds();
    assert_eq!(json_lines(&scratch.read("rejected.jsonl")).len(), 10);
    run.says(["10 kept in rejected.jsonl"]);
}

#[test]
fn jobs_of_one_run_share_neither_counts_nor_limits() {
    let scratch = Scratch::new();
    let job = |records: u64| {
        faulty(json!({ "records": records, "dirtyEvery": 10 }), json!({ "target": format!("out{records}") }))
            .with("job.setting.errorLimit.record", 6)
    };
    scratch.job("first.json", &job(60));
    scratch.job("second.json", &job(50));
    let run =
        scratch.transship(["run", "first.json", "second.json", "--json", "--dirty", "rejected.jsonl"]).run().succeeds();
    let summaries = run.summaries();
    let dirty = json_lines(&scratch.read("rejected.jsonl"));
    for (summary, count) in summaries.iter().zip([6, 5]) {
        assert_eq!(number(summary, "/counts/dirty_at_reader"), count);
        assert_eq!(dirty.iter().filter(|record| record["run"] == summary["run"]).count() as u64, count);
    }
}

#[test]
fn a_job_that_fails_keeps_the_dirty_records_it_had_found() {
    let scratch = Scratch::new();
    let job = faulty(json!({ "dirtyEvery": 10, "fail": { "at": "next", "after": 50, "how": "error:io" } }), json!({}));
    let run = scratch.run(&job).fails_with(1);
    assert_eq!(scratch.dirty_records().len(), 5, "{run}");
    run.says(["DIRTY RECORDS   : 5 kept in "]);
}

#[test]
fn secrets_are_masked_in_the_causes() {
    let scratch = Scratch::new();
    let reader = json!({ "dirtyEvery": 10, "password": "canary-7391", "cause": "refused with canary-7391" });
    scratch.run(&faulty(reader, json!({}))).succeeds();
    for record in scratch.dirty_records() {
        assert_eq!(text(&record, "/cause"), "refused with ***");
    }
}

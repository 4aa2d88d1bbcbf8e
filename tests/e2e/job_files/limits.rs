//! `errorLimit.percentage`, which is held while the job runs.

use transship_tests::records::number;
use transship_tests::{Finished, Scratch, faulty, json};

const RECORDS: u64 = 100_000;

/// A job in which every so many records one is dirty, and two percent may be.
fn run(every: u64, batch: u64) -> Finished {
    let reader = json!({ "records": RECORDS, "batch": batch, "dirtyEvery": every });
    let job = faulty(reader, json!({})).with("job.setting.errorLimit", json!({ "percentage": 0.02 }));
    Scratch::new().run(&job)
}

#[test]
fn a_larger_share_stops_the_job_long_before_its_end() {
    for batch in [100, 1000] {
        let run = run(5, batch).fails_with(6);
        assert!(run.error().ends_with(" are more than job.setting.errorLimit.percentage allows (0.02)"), "{run}");
        let read = number(&run.summary(), "/aborted/read") + number(&run.summary(), "/counts/read");
        assert!(read < RECORDS / 2, "{read} were read: {run}");
    }
}

#[test]
fn a_share_just_below_the_limit_passes_whatever_the_batches() {
    for batch in [10, 1000, 8192] {
        let run = run(51, batch).succeeds();
        let counts = ["/counts/read", "/counts/written"].map(|count| number(&run.summary(), count));
        assert_eq!(counts, [RECORDS, RECORDS - RECORDS / 51]);
    }
}

#[test]
fn a_share_just_above_the_limit_fails_at_the_end_at_the_latest() {
    let run = run(49, 8192).fails_with(6);
    run.says(["are more than job.setting.errorLimit.percentage allows (0.02)"]);
}

#[test]
fn few_records_are_judged_at_the_end_only() {
    let limited = |every: u64| {
        let reader = json!({ "records": 50, "batch": 10, "dirtyEvery": every, "splits": 2 });
        Scratch::new().run(&faulty(reader, json!({})).with("job.setting.errorLimit", json!({ "percentage": 0.02 })))
    };
    limited(50).succeeds();
    let run = limited(20).fails_with(6);
    assert_eq!(
        run.error(),
        "4 dirty of 100 records (0.0400) are more than job.setting.errorLimit.percentage allows (0.02)"
    );
}

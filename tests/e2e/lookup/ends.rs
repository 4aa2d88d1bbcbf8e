//! Lookups that never end, panic or forget, and jobs that are stopped while lookups are in flight.

use std::time::Duration;

use transship_tests::{Scratch, Signal, faulty, json};

use super::*;

/// Much less than any time-out here that would end a job by itself.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_lookup_that_never_answers_is_over_with_its_time() {
    for mode in ["ordered", "unordered", "key"] {
        let scratch = Scratch::new();
        let silent = json!({ "oddEvery": 50, "how": "silent" });
        let parameter = json!({ "mode": mode, "timeout": "50 ms", "batch": { "size": 1 } });
        let failed = run(&scratch, &job(json!({}), silent, parameter)).fails_with(1);
        assert!(failed.error().contains("faultylookup for id = 50: no answer within 50ms (1 attempt)"), "{failed}");
    }
}

#[test]
fn a_lookup_that_drops_its_calls_or_panics_fails_the_job_and_says_so() {
    let error = |how: &str| {
        let scratch = Scratch::new();
        let faulty = json!({ "oddEvery": 10, "how": how });
        let failed = run(&scratch, &job(json!({}), faulty, json!({ "batch": { "size": 1 } }))).fails_with(1);
        failed.error().to_string()
    };
    let dropped = error("drop");
    assert!(dropped.contains("for id = 10: the lookup dropped its call and gave no answer"), "{dropped}");
    let panicked = error("panic");
    assert!(panicked.contains("for id = 10: panic at") && panicked.contains("does not like [10]"), "{panicked}");
    let later = error("panic_later");
    // Whether the panic is told of this key or of one that nobody answers any more depends on who is first.
    assert!(
        later.contains("the lookup panicked (the log says where) and gave no answer") || later.contains("dropped"),
        "{later}"
    );
}

#[test]
fn a_panic_may_be_no_more_than_a_dirty_record() {
    let scratch = Scratch::new();
    let faulty = json!({ "oddEvery": 10, "how": "panic" });
    let parameter = json!({ "onFailure": "dirty", "batch": { "size": 1 } });
    let run = run(&scratch, &job(json!({}), faulty, parameter)).succeeds();
    run.says(["written 90 + filtered 0 + duplicates 0 + dirty 10"]);
}

#[test]
fn a_signal_ends_a_job_at_once_though_lookups_are_in_flight() {
    for silent in [json!({ "oddEvery": 1 }), json!({ "delayMillis": 3_600_000 })] {
        let scratch = Scratch::new();
        let mut lookup = silent;
        lookup["journal"] = json!("journal");
        lookup["fail"] = json!({ "at": "start", "how": "go_on", "marker": "hanging" });
        let lookup = json!({ "name": "faultylookup", "parameter": lookup });
        let job = faulty(json!({}), json!({ "commit": "atomic" })).transformer(asking(lookup, json!({ "timeout": 0 })));
        scratch.job("job.json", &job);
        let mut run = scratch.transship(["run", "job.json"]).start();
        run.wait_for_file("hanging");
        run.signal(Signal::Terminate);
        let run = run.finish().fails_with(143);
        assert!(run.elapsed() < SOON, "{run}");
        run.does_not_say(["ignores that the work was cancelled"]);
        assert!(scratch.calls("lookup cancel") > 0 && scratch.calls("lookup release") > 0, "{run}");
        assert_eq!(scratch.files(), ["hanging", "job.json", "journal"], "nothing is visible");
    }
}

#[test]
fn another_attempt_looks_everything_up_again() {
    let scratch = Scratch::new();
    let once = json!({ "at": "start", "how": "error:io", "times": 1, "counter": "counter", "message": "not now" });
    let lookup = json!({ "name": "faultylookup", "parameter": { "fail": once } });
    let job = faulty(json!({}), json!({ "commit": "task" }))
        .transformer(asking(lookup, json!({})))
        .with("core.container.task.failOver.maxRetryTimes", 2)
        .with("core.container.task.failOver.retryIntervalInMsec", 1);
    let run = run(&scratch, &job).succeeds();
    run.says(["start failed: not now"]);
    assert_eq!(scratch.ids(), (1..=100).collect::<Vec<_>>());
}

#[test]
fn what_a_lookup_cannot_prepare_fails_the_job_with_its_words() {
    let scratch = Scratch::new();
    let fail = json!({ "at": "prepare", "how": "error:connect", "message": "nobody is there" });
    let failed = run(&scratch, &job(json!({}), json!({ "fail": fail }), json!({}))).fails_with(1);
    assert!(failed.error().contains("faultylookup: prepare failed: nobody is there"), "{failed}");
}

/// Four tasks at once share one lookup.
#[test]
fn tasks_share_a_lookup_that_is_released_at_the_end() {
    let scratch = Scratch::new();
    let lookup = json!({ "name": "faultylookup", "parameter": { "journal": "journal", "delayMillis": 1 } });
    let job = faulty(json!({ "splits": 8 }), json!({}))
        .transformer(asking(lookup, json!({ "mode": "unordered" })))
        .channels(4);
    run(&scratch, &job).succeeds();
    assert_eq!(scratch.ids().len(), 800);
    assert_eq!(scratch.calls("lookup prepare"), 1);
    // One more was made, and let go, to see whether it can be.
    assert_eq!((scratch.calls("lookup init"), scratch.calls("lookup release")), (2, 2));
}

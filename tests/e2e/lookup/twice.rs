//! A lookup in C that answers from a thread of its own, some calls twice, and some long after they were given up.

use transship_tests::{Finished, Job, Scratch, faulty_reader, json, plugin, plugins};

use super::{asking, printed};

const SILENT_EVERY: u64 = 20;

/// Looks so many records up, of which one in twenty is not answered in time and one in a hundred is answered twice.
fn run(mode: &str, records: u64) -> Finished {
    let lookup = json!({ "name": "ctwice", "parameter": { "silentEvery": SILENT_EVERY, "doubleEvery": 97 } });
    let parameter = json!({
        "mode": mode, "capacity": 400, "timeout": "100 ms", "onFailure": "null", "batch": { "size": 1 }
    });
    let reader = faulty_reader(json!({ "records": records, "batch": 1000, "textBytes": 1 }));
    let job = Job::new(reader, plugin("streamwriter", json!({}))).transformer(asking(lookup, parameter));
    let scratch = Scratch::new();
    scratch.job("job.json", &job);
    scratch.transship(["run", "job.json"]).plugins_in(plugins::c_lookup()).run().succeeds()
}

/// Each record once, with what was found for it or, if it took too long, without: never with what a second or a late answer says.
fn check(run: &Finished, mode: &str, records: u64) {
    let mut printed = printed(run);
    let in_order = printed.is_sorted_by_key(|(id, _)| *id);
    assert_eq!(in_order, mode == "ordered", "{mode}: in order only where that is promised, or the test shows nothing");
    printed.sort_unstable();
    assert!(printed.iter().map(|(id, _)| *id).eq(1..=records), "{mode}: each record exactly once");
    let mut over_time = 0;
    for (id, found) in printed {
        match found {
            None => over_time += 1,
            Some(found) => {
                assert_eq!(found, (2 * id).to_string(), "{mode}: the first answer in time");
                assert_ne!(id % SILENT_EVERY, 0, "{mode}: {id} has no answer in time");
            }
        }
    }
    // On a busy machine others take too long as well; that all do would show nothing.
    assert!((records / SILENT_EVERY..records * 3 / 4).contains(&over_time), "{mode}: {over_time} over time");
    run.says([format!("time-outs {},", thousands(over_time)).as_str()]);
}

/// A number as the summary shows it.
fn thousands(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

#[test]
fn in_order_each_record_leaves_once_whatever_its_lookup_does() {
    check(&run("ordered", 50_000), "ordered", 50_000);
}

#[test]
fn in_any_order_each_record_leaves_once_whatever_its_lookup_does() {
    check(&run("unordered", 50_000), "unordered", 50_000);
}

#[test]
fn in_key_order_each_record_leaves_once_whatever_its_lookup_does() {
    check(&run("key", 50_000), "key", 50_000);
}

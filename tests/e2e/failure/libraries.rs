//! A library that is no good plugin: it has no entry, another version, or nothing sensible to say of itself. The exit code is
//! 3, and other jobs that do not need it run.

use transship_tests::{Job, Scratch, faulty, faulty_writer, json, plugin, plugins};

const BROKEN: [(&str, &str); 10] = [
    ("NO_SYMBOL", "has no transship_plugin_init: it is not a transship plugin"),
    ("OTHER_VERSION", "the plugin speaks version 99 of the plugin contract, this program version 1"),
    ("REFUSES", "this plugin wants a program of the future"),
    ("SAYS_NOTHING", "error, of which the plugin said nothing"),
    ("NO_TABLE", "but gave no table"),
    ("SHORT_TABLE", "too short for a description: 16 bytes"),
    ("NO_DESCRIPTION", "description"),
    ("GARBAGE", "description"),
    ("NOT_UTF8", "description"),
    ("UNRESOLVED", "function_that_no_library_has"),
];

/// The name that leads to a broken library: names of readers begin with that of their library.
fn reader_of(how: &str) -> String {
    format!("broken_{}reader", how.to_lowercase())
}

#[test]
fn a_library_that_is_no_good_plugin_is_named_with_what_is_wrong() {
    for (how, message) in BROKEN {
        let scratch = Scratch::new();
        scratch.job("job.json", &Job::new(plugin(&reader_of(how), json!({})), faulty_writer(json!({}))));
        let run = scratch.transship(["run", "job.json"]).plugins_in(plugins::broken(how)).run().fails_with(3);
        let library = format!("libtransship_broken_{}.so", how.to_lowercase());
        for text in ["job.content[0].reader: ", &library, message] {
            assert!(run.error().contains(text), "{how} does not say `{text}`: {run}");
        }
        // That the writer is all right is found out as well, but not more.
        assert_eq!(scratch.lines("journal"), ["writer init", "writer info", "writer release"], "{how}: {run}");
    }
}

#[test]
fn a_file_that_is_no_library_is_named() {
    let scratch = Scratch::new();
    scratch.write("plugins/libtransship_text.so", "this is a text");
    scratch.job("job.json", &Job::new(plugin("textreader", json!({})), faulty_writer(json!({}))));
    let run = scratch.transship(["run", "job.json"]).plugins_in("plugins").run().fails_with(3);
    assert!(run.error().contains("libtransship_text.so"), "{run}");
}

/// Trap 91.
#[test]
fn a_broken_library_stops_no_job_that_does_not_need_it() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    let run = scratch.transship(["run", "job.json"]).plugins_in(plugins::broken("GARBAGE"));
    run.run().succeeds();
    let listed = scratch.transship(["plugins"]).plugins_in(plugins::broken("GARBAGE")).run().succeeds();
    assert!(listed.stdout.contains("left out: "), "{listed}");
    assert!(listed.stdout.contains("libtransship_broken_garbage.so"), "{listed}");
    assert!(listed.stdout.contains("faultyreader"), "{listed}");
}

/// Two libraries, one and two, that both have minimalreader and minimalwriter, in the folder `plugins`.
fn two_libraries(scratch: &Scratch) {
    let library = std::fs::read(plugins::minimal().join("libtransship_minimal.so")).unwrap();
    scratch.write("plugins/libtransship_one.so", &library);
    scratch.write("plugins/libtransship_two.so", &library);
}

/// Trap 91.
#[test]
fn two_libraries_that_claim_one_name_are_both_named() {
    let scratch = Scratch::new();
    two_libraries(&scratch);
    scratch.job("job.json", &Job::new(plugin("minimalreader", json!({ "records": 5 })), faulty_writer(json!({}))));
    let run = scratch.transship(["run", "job.json"]).plugins_in("plugins").run().fails_with(3);
    run.says([
        "several libraries have a reader named \"minimalreader\"",
        "libtransship_one.so and ",
        "libtransship_two.so",
    ]);
}

#[test]
fn a_job_may_say_which_library_it_means() {
    let scratch = Scratch::new();
    two_libraries(&scratch);
    let mut reader = plugin("minimalreader", json!({ "records": 5 }));
    reader["path"] = json!("plugins/libtransship_two.so");
    scratch.job("job.json", &Job::new(reader, plugin("faultywriter", json!({ "target": "out" }))));
    scratch.transship(["run", "job.json"]).plugins_in("plugins").run().succeeds();
    assert_eq!(scratch.ids(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_library_named_by_a_job_must_have_what_the_job_wants() {
    let scratch = Scratch::new();
    let mut reader = plugin("maximalreader", json!({}));
    reader["path"] = json!(plugins::minimal().join("libtransship_minimal.so"));
    scratch.job("job.json", &Job::new(reader, faulty_writer(json!({}))));
    let run = scratch.transship(["run", "job.json"]).run().fails_with(3);
    run.says(["has no reader named \"maximalreader\"; it has \"minimalreader\""]);
}

#[test]
fn plugins_are_found_by_the_environment_too() {
    let scratch = Scratch::new();
    scratch.job("job.json", &Job::new(plugin("minimalreader", json!({ "records": 5 })), faulty_writer(json!({}))));
    let folders = std::env::join_paths([scratch.path("no such folder"), plugins::minimal().to_path_buf()]).unwrap();
    scratch.transship(["run", "job.json"]).env("TRANSSHIP_PLUGIN_PATH", folders.to_str().unwrap()).run().succeeds();
    assert_eq!(scratch.ids(), [0, 1, 2, 3, 4]);
}

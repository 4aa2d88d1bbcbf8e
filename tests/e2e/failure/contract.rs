//! A plugin in C breaks the contract: malformed arrays and schemas, texts that are no JSON, tables with holes, reports that
//! do not add up. Each is an error that names the plugin and the trouble; nothing crashes, nothing is written.

use transship_tests::{Finished, Job, Scratch, faulty_reader, faulty_writer, json, plugin, plugins};

/// How the reader breaks the contract, and what the message has to say.
const BATCHES: [(&str, &str); 36] = [
    ("children_too_few", "1 columns where its schema has 2"),
    ("children_too_many", "3 columns where its schema has 2"),
    ("children_negative", "-2 columns where its schema has 2"),
    ("children_absent", "no list of children"),
    ("child_absent", "column \"name\": its array is null"),
    ("child_released", "column \"name\": a part of it was released already"),
    ("child_too_short", "malformed batch"),
    ("child_has_children", "column \"id\": 1 children where its type has 0"),
    ("length_negative", "an impossible length (-1)"),
    ("length_impossible", "an impossible length (9223372036854775807)"),
    ("offset_negative", "offset (-1)"),
    ("offset_impossible", "offset (9223372036854775807)"),
    ("null_count_negative", "an impossible null_count, -7 of 10"),
    ("null_count_too_large", "an impossible null_count, 11 of 10"),
    ("nulls_without_bitmap", "null_count is 3, but the validity buffer is null"),
    ("null_count_wrong", "malformed batch"),
    ("null_where_none_may_be", "malformed batch"),
    ("buffers_too_few", "2 buffers where Utf8 has 3"),
    ("buffers_too_many", "3 buffers where Int64 has 2"),
    ("buffers_negative", "-2 buffers where Int64 has 2"),
    ("buffers_absent", "no list of buffers"),
    ("values_absent", "malformed batch"),
    ("texts_absent", "the values of Utf8 are null, but 80 bytes long"),
    ("offsets_absent", "the offsets of Utf8 are null"),
    ("offsets_odd", "the offsets of Utf8 are null or not aligned"),
    ("offsets_decrease", "malformed batch"),
    ("offsets_negative", "the offsets of Utf8 run from -8 to 80"),
    ("offsets_end_before_start", "the offsets of Utf8 run from 80 to 0"),
    ("text_not_utf8", "malformed batch"),
    ("text_cut_in_a_letter", "malformed batch"),
    ("batch_released", "its array was released already, or never made"),
    ("batch_absent", "its array was released already, or never made"),
    ("item_unknown", "an item of kind 99"),
    ("item_reserved", "an item of kind 4"),
    ("mark_unknown", "99"),
    ("resume_not_json", "malformedreader: "),
];

/// The same for what comes before and beside the batches.
const REST_OF_THE_READER: [(&str, &str); 23] = [
    ("schema_absent", "released already, or never made"),
    ("schema_of_one_column", "malformedreader: "),
    ("schema_format_absent", "a format is null"),
    ("schema_format_unknown", "no such type"),
    ("schema_child_absent", "child 1 is null"),
    ("schema_child_released", "released already"),
    ("schema_children_absent", "no list of children"),
    ("schema_children_negative", "an impossible number of children, -1"),
    ("schema_name_not_utf8", "malformedreader: "),
    ("status_unknown", "a status that nobody knows"),
    ("status_negative", "a status below zero"),
    ("error_without_message", "an I/O error, of which the plugin said nothing"),
    ("error_not_utf8", "caf\u{fffd}"),
    ("splits_not_json", "list of splits"),
    ("splits_no_list", "list of splits"),
    ("splits_not_utf8", "list of splits"),
    ("split_without_id", "list of splits"),
    ("splits_of_one_id", "\"a\""),
    ("state_not_json", "state"),
    ("reader_absent", "said that it made a reader, but gave none"),
    ("task_absent", "said that it made a reader task, but gave none"),
    ("next_absent", "has no function `next`"),
    ("table_too_short", "has no function `next`"),
];

/// How the writer breaks the contract.
const WRITER: [(&str, &str); 17] = [
    ("info_absent", "writer's info"),
    ("info_not_json", "writer's info"),
    ("info_unknown_class", "soon"),
    ("state_not_json", "state"),
    ("writer_absent", "said that it made a writer, but gave none"),
    ("task_absent", "said that it made a writer task, but gave none"),
    ("commit_absent", "has no function `commit`"),
    ("status_unknown", "a status that nobody knows"),
    ("error_without_message", "an I/O error, of which the plugin said nothing"),
    ("report_absent", "report"),
    ("report_not_json", "report"),
    ("report_not_utf8", "report"),
    ("report_without_number", "written"),
    ("report_negative", "-10"),
    (
        "report_too_many",
        "was given 10 records but reports 11 written, 0 duplicates and 0 dirty: -1 are not accounted for",
    ),
    ("report_too_few", "was given 10 records but reports 9 written, 0 duplicates and 0 dirty: 1 are not accounted for"),
    ("report_enormous", "are not accounted for"),
];

fn run(scratch: &Scratch, job: &Job) -> Finished {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json"]).plugins_in(plugins::malformed()).run()
}

fn check_reader(ways: &[(&str, &str)]) {
    for (how, message) in ways {
        let scratch = Scratch::new();
        let writer = faulty_writer(json!({ "commit": "atomic" }));
        let run = run(&scratch, &Job::new(plugin("malformedreader", json!({ "how": how })), writer));
        check_failure(&scratch, run, how, "malformedreader", message);
    }
}

fn check_failure(scratch: &Scratch, run: Finished, how: &str, who: &str, message: &str) {
    assert_eq!(run.code(), Some(1), "{how}: {run}");
    let run = run.fails_with(1);
    assert!(run.error().contains(who) && run.error().contains(message), "{how} does not say `{message}`: {run}");
    assert!(!scratch.files().contains(&"out".to_string()), "{how}: something was written\n{run}");
}

#[test]
fn a_malformed_batch_is_an_error_of_its_reader() {
    check_reader(&BATCHES);
}

#[test]
fn a_malformed_schema_text_or_table_is_an_error_of_its_reader() {
    check_reader(&REST_OF_THE_READER);
}

#[test]
fn a_writer_that_breaks_the_contract_fails_the_job() {
    for (how, message) in WRITER {
        let scratch = Scratch::new();
        let job = Job::new(faulty_reader(json!({ "records": 10 })), plugin("malformedwriter", json!({ "how": how })));
        let run = run(&scratch, &job);
        check_failure(&scratch, run, how, "malformedwriter", message);
    }
}

#[test]
fn the_same_plugin_without_a_fault_works() {
    let scratch = Scratch::new();
    let job = Job::new(plugin("malformedreader", json!({})), plugin("malformedwriter", json!({})));
    run(&scratch, &job).succeeds();
}

#[test]
fn a_writer_may_keep_a_batch_and_free_it_itself() {
    let scratch = Scratch::new();
    let job = Job::new(
        faulty_reader(json!({ "records": 10 })),
        plugin("malformedwriter", json!({ "how": "keeps_the_batch" })),
    );
    run(&scratch, &job).succeeds();
}

#[test]
fn a_faulty_writer_that_counts_wrong_fails_the_job() {
    for (lie, message) in [(1, "100 records but reports 101 written"), (-1, "100 records but reports 99 written")] {
        let scratch = Scratch::new();
        let job = Job::new(faulty_reader(json!({})), faulty_writer(json!({ "lie": lie, "commit": "atomic" })));
        let run = scratch.run(&job).fails_with(1);
        assert!(run.error().starts_with("task 0 (split 0): faultywriter: ") && run.error().contains(message), "{run}");
        assert_eq!(scratch.files(), ["job.json", "journal"], "what a lying report told of is taken back");
    }
}

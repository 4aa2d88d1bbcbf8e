//! The dialect: JSON, and what people write into job files.

use transship_tests::Scratch;

use super::{echo, errors, warnings};

/// What is printed for a value as it is written here; nothing is warned about.
#[track_caller]
fn printed(value: &str) -> String {
    let scratch = Scratch::new();
    let run = echo(&scratch, value, &[]).succeeds();
    run.does_not_say(["warning: "]);
    run.stdout.strip_suffix('\n').unwrap().to_string()
}

#[test]
fn numbers_are_written_in_many_ways_and_keep_every_digit() {
    let written = ["007", "+1", ".5", "1L", "-0", "1.50", "123456789012345678901234567890.10"];
    let read = ["7", "1", "0.5", "1", "-0", "1.50", "123456789012345678901234567890.10"];
    assert_eq!(written.map(printed), read);
}

#[test]
fn strings_have_more_escapes_than_in_json_and_hold_line_breaks() {
    assert_eq!(printed(r#""\x41\0\v\u4e2d\ud83d\ude00\/\'\"""#), "A\0\u{b}中😀/'\"");
    assert_eq!(printed("\"a\tb\r\nc\u{1}\""), "a\tb\r\nc\u{1}");
    assert_eq!(printed(r#"'it\'s "fine"'"#), "it's \"fine\"");
    assert_eq!(printed("\"http://x # y /* z */\""), "http://x # y /* z */");
}

#[test]
fn comments_stand_wherever_white_space_may() {
    for value in ["/* a */ 5 // b\n", "# a\n 5 # b\n", "// a\r\n5", "5 /**/ , /***/ # a\n 'name' // b\n : /* { */ 'x'"]
    {
        let scratch = Scratch::new();
        assert_eq!(echo(&scratch, value, &[]).succeeds().stdout, "5\n", "{value}");
    }
}

#[test]
fn a_comma_may_be_missing_where_it_cannot_be_anything_else() {
    for value in
        ["5 'name': 'x'", "5\n 'name': 'x'", "'5'\n 'name': 'x'", "5 } { 'value': 6", "5, 'random': []\n 'name': 'x'"]
    {
        let scratch = Scratch::new();
        let run = echo(&scratch, value, &[]);
        run.says([": a comma is missing here: the text is read as if it stood there\n"]);
        assert!(errors(&run).iter().all(|error| !error.contains("not JSON")), "{value}: {run}");
    }
    let scratch = Scratch::new();
    let run = echo(&scratch, "'5' 'name': 'x'", &[]).fails_with(2);
    run.says(["job.json:5:22: the job file is not JSON: expected a comma or `}`"]);
}

#[test]
fn what_is_odd_is_told_with_its_place_and_read_all_the_same() {
    let cases = [
        ("5, 'value': 6", "6\n", "job.json:5:21: the key \"value\" stands more than once in this object"),
        ("5,}, {'value': 6", "5\t6\n", ""),
        ("\"\\ud83d\"", "\u{fffd}\n", "job.json:5:19: \\ud83d is half of a character"),
        ("5 /* a */", "5\n", "job.json:5:20: DataX would refuse this file because of the comment here"),
    ];
    for (value, printed, warning) in cases {
        let scratch = Scratch::new();
        let run = echo(&scratch, value, &[]).succeeds();
        assert_eq!(run.stdout, printed, "{value}");
        assert_eq!(warnings(&run).len(), usize::from(!warning.is_empty()), "{value}: {run}");
        assert!(warnings(&run).iter().all(|told| told.starts_with(warning)), "{value}: {run}");
    }
}

#[test]
fn null_is_the_same_as_nothing_and_a_list_of_one_may_stand_without_its_brackets() {
    let scratch = Scratch::new();
    scratch.write(
        "job.json",
        r#"{ "job": { "setting": { "speed": { "channel": 1, "byte": null }, "errorLimit": null }, "content": [{
          "reader": { "name": "streamreader", "path": null, "parameter": {
            "sliceRecordCount": "1", "seed": null, "rate": "", "column": { "value": "alone", "name": null } } },
          "transformer": null,
          "writer": { "name": "streamwriter", "parameter": null } }] } }"#,
    );
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    assert_eq!((run.stdout.as_str(), warnings(&run).len()), ("alone\n", 0), "{run}");
}

#[test]
fn a_number_or_a_truth_that_is_only_nearly_one_is_refused_with_what_to_write() {
    let cases = [
        ("\"rate\": \"fast\"", "parameter.rate must be a number"),
        ("\"seed\": 2.0", "parameter.seed must be a whole number from 0 on, not 2.0 (write 2)"),
        ("\"seed\": \" 2 \"", "parameter.seed must be a whole number from 0 on, not \" 2 \" (write 2)"),
        ("\"seed\": 1e3", "parameter.seed must be a whole number from 0 on, not 1e"),
    ];
    for (parameter, message) in cases {
        let scratch = Scratch::new();
        let run = echo(&scratch, &format!("1 }} ], {parameter}, \"x\": [ {{ "), &[]).fails_with(2);
        let [error] = errors(&run)[..] else { panic!("not one error: {run}") };
        assert!(error.starts_with("job.json:5:") && error.contains(message), "{run}");
    }
}

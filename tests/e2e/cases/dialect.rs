//! Cases about the text of a job file: quotes, commas, comments, encodings, variables.

use super::{case, errors, sorted, warnings};

#[test]
fn case_01_numbers_and_booleans_may_be_texts() {
    let case = case("01-string-numbers");
    // A task for each channel.
    assert_eq!(sorted(&case.runs_quietly()), ["12\t7\ttrue\t3.25\tno type given"; 6]);
}

/// What is wrong with case 01 if this text of it is replaced.
#[track_caller]
fn refusal(old: &str, new: &str) -> String {
    let case = case("01-string-numbers").with(old, new);
    let run = case.run().fails_with(2);
    assert_eq!((errors(&run).len(), run.stdout.as_str()), (1, ""), "{run}");
    run.error().to_string()
}

#[test]
fn case_01_what_is_nearly_a_whole_number_is_refused_with_what_to_write() {
    let channel = r#""channel": "2""#;
    let place = "01-string-numbers.json:24:29: job.setting.speed.channel ";
    assert_eq!(
        refusal(channel, r#""channel": " 2 ""#),
        format!("{place}must be a whole number, not \" 2 \" (write 2)")
    );
    assert_eq!(refusal(channel, r#""channel": 2.0"#), format!("{place}must be a whole number, not 2.0 (write 2)"));
    assert_eq!(refusal(channel, r#""channel": """#), format!("{place}is empty: write a number, or leave it out"));
    assert_eq!(
        refusal(r#""sliceRecordCount": "3""#, r#""sliceRecordCount": """#),
        "01-string-numbers.json:15:13: job.content[0].reader.parameter.sliceRecordCount is required: how many records each \
         task makes"
    );
}

#[test]
fn case_02_a_comma_too_many_is_no_mistake() {
    assert_eq!(case("02-trailing-commas").runs_quietly().stdout, "p2\t2\np3\t3\n");
}

#[test]
fn case_02_two_commas_too_many_are_one() {
    let case = case("02-trailing-commas").with(r#""channel": 1, }"#, r#""channel": 1,, }"#);
    let run = case.run().fails_with(2);
    assert!(run.error().starts_with(&case.at(3, 42)), "{run}");
}

#[test]
fn case_04_single_quotes_and_keys_without_quotes_are_read() {
    assert_eq!(case("04-single-quotes-bare-keys").runs_quietly().stdout, "p1\tit's \"fine\"\n");
}

#[test]
fn case_05_comments_that_datax_takes_are_not_warned_about() {
    assert_eq!(case("05-line-comments-accepted-places").runs_quietly().stdout, "jdbc:mysql://not/a/comment\n");
}

#[test]
fn case_06_comments_anywhere_else_are_read_too_with_one_warning() {
    let case = case("06-comments-everywhere");
    let run = case.run().succeeds();
    assert_eq!(run.stdout, "a\t# // /* not comments */\n");
    let [warning] = warnings(&run)[..] else { panic!("not one warning: {run}") };
    assert!(
        warning.starts_with(&format!("{}DataX would refuse this file because of the comment", case.at(1, 1))),
        "{run}"
    );
}

#[test]
fn case_06_a_key_behind_a_number_sign_is_a_comment() {
    let case = case("06-comments-everywhere")
        .with("\"sliceRecordCount\": 1", "\"sliceRecordCount\": 1,\n#word \"seed\": \"x\"\n");
    let run = case.run().succeeds();
    assert_eq!(run.stdout, "a\t# // /* not comments */\n");
    run.does_not_say(["word", "seed"]);
}

#[test]
fn case_08_a_byte_order_mark_and_line_ends_of_windows_are_read() {
    assert_eq!(case("08-bom-and-crlf").runs_quietly().stdout, "bom\n");
}

#[test]
fn case_08_a_string_over_two_lines_keeps_its_carriage_return() {
    let case = case("08-bom-and-crlf").with("\"bom\"", "\"two\r\nlines\"");
    assert_eq!(case.runs_quietly().stdout, "two\r\nlines\n");
}

#[test]
fn case_08_errors_are_told_at_the_place_that_an_editor_shows() {
    let case = case("08-bom-and-crlf").with("\"channel\": 1", "\"channel\": x");
    let run = case.run().fails_with(2);
    assert!(run.error().starts_with(&case.at(3, 40)), "{run}");
}

#[test]
fn case_10_of_a_key_that_stands_twice_the_last_counts() {
    let case = case("10-duplicate-keys");
    let run = case.run().succeeds();
    assert_eq!(run.stdout, "second\nsecond\n");
    let told = |line, column, key: &str| {
        format!(
            "{}the key \"{key}\" stands more than once in this object: only the last one, here, counts",
            case.at(line, column)
        )
    };
    assert_eq!(warnings(&run), [told(11, 13, "column"), told(12, 13, "sliceRecordCount"), told(15, 76, "print")]);
}

const VARIABLES: &str = "-Dlanes=2 -Dtimes=1 -Dfixed_cols={'type':'long','value':'9'} -Dwriter_args={'print':true}";

#[test]
fn case_12_variables_outside_quotes_are_pieces_of_json() {
    let run = case("12-bare-variables").told("run", &["-p", VARIABLES]).succeeds();
    assert_eq!(run.stdout, "9\ttail\n9\ttail\n");
    run.does_not_say(["warning: "]);
}

#[test]
fn case_12_variables_outside_quotes_that_are_not_set_are_all_named() {
    let run = case("12-bare-variables").run().fails_with(2);
    run.says([
        "error: 12-bare-variables.json:3:40: ",
        "not set: ${fixed_cols}, ${lanes}, ${times}, ${writer_args}",
        "\n      \"setting\": { \"speed\": { \"channel\": ${lanes} } },\n                                         ^\n",
    ]);
    assert_eq!(run.stdout, "");
    let run = case("12-bare-variables").told("run", &["-D", "lanes=1", "-D", "times=1"]).fails_with(2);
    run.says(["12-bare-variables.json:9:25: ", "not set: ${fixed_cols}, ${writer_args}"]);
}

#[test]
fn case_24_content_without_its_brackets_is_a_list_of_one() {
    let case = case("24-content-as-object");
    let run = case.run().succeeds();
    assert_eq!(run.stdout, "x\n");
    let warning = "job.content is an object: it is taken as a list of one, where DataX refuses it";
    assert_eq!(warnings(&run), [format!("{}{warning}", case.at(4, 5))]);
}

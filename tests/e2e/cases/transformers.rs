//! The case about transformers.

use super::relational::mysql;
use super::{Case, case};

fn transformers() -> Case {
    mysql(case("26-transformers"))
}

#[test]
fn case_26_a_filter_drops_and_the_others_rewrite() {
    let run = transformers().runs_quietly();
    // Visit 2 has no note: the digest is that of an empty text.
    assert_eq!(
        run.stdout,
        "1\t00ULL\t13****01111\tAC7938D40CFC2307E2BF325D28E7884E\n\
         2\t00ERN\t13****01111\tD41D8CD98F00B204E9800998ECF8427E\n\
         3\t00ETR\t13****01111\t23265F2EB435B0C6A48EB1DCF9A640F9\n"
    );
    run.says(["records failed  : 0\n", "read 6 + added 0 = written 3 + filtered 3 + duplicates 0 + dirty 0\n"]);
}

#[test]
fn case_26_a_wrong_number_of_paras_is_refused_before_anything_is_read() {
    let case = transformers()
        .with(r#"["2", "4", "****"]"#, r#"["2", "4"]"#)
        .with(r#"["l", "5", "0"]"#, r#"["right", "5", "0"]"#);
    let run = case.run().fails_with(2);
    assert_eq!(run.stdout, "");
    run.says([
        &format!("error: {}job.content[0].transformer[2].parameter.paras has 2 values", case.at(9, 68)),
        "dx_replace takes three (start, length, replacement), for example [\"3\", \"4\", \"****\"]",
        &format!("error: {}job.content[0].transformer[3].parameter.paras[0] ", case.at(10, 78)),
        "\"right\"; dx_pad takes three (l or r, length, pad text), for example [\"l\", \"8\", \"0\"]",
    ]);
}

#[test]
fn case_26_a_column_that_is_not_there_stops_the_job() {
    let run = transformers().with(r#""columnIndex": 3"#, r#""columnIndex": 4"#).run().fails_with(1);
    run.says([
        "job.content[0].transformer[4].parameter.columnIndex is 4, counted from 0, and there is no such column: the columns \
         are visit_no, ship_tag, ",
    ]);
    assert_eq!(run.stdout, "");
}

#[test]
fn case_26_a_start_beyond_the_end_makes_the_record_dirty() {
    let case = transformers().with(r#"["1", "3"]"#, r#"["5", "1"]"#);
    let run = case.run().succeeds();
    assert_eq!(run.stdout, "3\t0000L\t13****01111\t23265F2EB435B0C6A48EB1DCF9A640F9\n");
    assert_eq!(case.scratch.dirty_records().len(), 2);
}

#[test]
fn case_26_a_transformer_that_nobody_knows_is_missing_with_the_nearest_name() {
    let case = transformers().with("dx_digest", "dx_digst");
    let run = case.run().fails_with(3);
    assert_eq!(
        run.error(),
        format!(
            "{}job.content[0].transformer[4]: there is no transformer named \"dx_digst\"; did you mean \"dx_digest\"?",
            case.at(11, 11)
        )
    );
}

#[test]
fn case_26_groovy_is_refused_with_what_to_do_instead() {
    let run = transformers().with("dx_digest", "dx_groovy").run().fails_with(2);
    run.says(["job.content[0].transformer[4]: dx_groovy runs Groovy code, which transship does not: use dx_filter, "]);
}

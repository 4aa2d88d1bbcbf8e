//! What can be seen to be wrong is told before anything is read and before the target is touched.

use transship_tests::{Scratch, Value, faulty, json, plugin};

use super::errors;

/// A job with this transformer is refused at once.
#[track_caller]
fn is_refused(transformer: Value, message: &str) {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})).transformer(transformer));
    let run = scratch.transship(["run", "job.json"]).run().fails_with(2);
    let [error] = errors(&run)[..] else { panic!("not one error: {run}") };
    assert!(
        error.starts_with("job.json:") && error.contains(&format!(": job.content[0].transformer[0]{message}")),
        "{run}"
    );
    let touching = ["reader prepare", "reader splits", "reader open", "writer prepare", "writer open"];
    assert_eq!(touching.map(|call| scratch.calls(call)), [0; 5], "{run}");
    assert!(!scratch.path("out").exists() && scratch.dirty_records().is_empty(), "{run}");
}

fn built_in(name: &str, paras: Value) -> Value {
    plugin(name, json!({ "columnIndex": 1, "paras": paras }))
}

#[test]
fn a_wrong_number_of_paras() {
    for (name, paras, given) in [
        ("dx_substr", json!(["1"]), "1 value"),
        ("dx_substr", json!(["1", "2", "3"]), "3 values"),
        ("dx_replace", json!(["1", "2"]), "2 values"),
        ("dx_pad", json!([]), "0 values"),
        ("dx_digest", json!(["md5"]), "1 value"),
        ("dx_filter", json!([">"]), "1 value"),
    ] {
        is_refused(built_in(name, paras), &format!(".parameter.paras has {given}, but {name} takes "));
    }
}

#[test]
fn paras_that_mean_nothing() {
    for (name, paras, wrong, shown) in [
        ("dx_substr", json!(["x", "1"]), 0, "\"x\""),
        ("dx_substr", json!(["0", "-1"]), 1, "\"-1\""),
        ("dx_replace", json!(["0", "1.5", "*"]), 1, "\"1.5\""),
        ("dx_pad", json!(["right", "8", "0"]), 0, "\"right\""),
        ("dx_pad", json!(["l", "8", ""]), 2, ""),
        ("dx_digest", json!(["sha256", "toLowerCase"]), 0, "\"sha256\""),
        ("dx_digest", json!(["md5", "lower"]), 1, "\"lower\""),
        ("dx_filter", json!(["<>", "3"]), 0, "\"<>\""),
        ("dx_filter", json!(["like", "(a"]), 1, "\"(a\""),
    ] {
        let scratch = Scratch::new();
        scratch.job("job.json", &faulty(json!({}), json!({})).transformer(built_in(name, paras.clone())));
        let run = scratch.transship(["check", "job.json"]).run().fails_with(2);
        run.says([shown]);
        is_refused(built_in(name, paras), &format!(".parameter.paras[{wrong}] "));
    }
}

#[test]
fn a_column_that_is_none() {
    let substr = |column: Value| {
        let mut parameter = json!({ "paras": ["0", "1"] });
        parameter.as_object_mut().unwrap().extend(column.as_object().unwrap().clone());
        plugin("dx_substr", parameter)
    };
    is_refused(substr(json!({})), ".parameter.columnIndex is required");
    is_refused(substr(json!({ "columnIndex": -1 })), ".parameter.columnIndex must be ");
    is_refused(substr(json!({ "columnIndex": 1.5 })), ".parameter.columnIndex must be ");
    is_refused(
        substr(json!({ "columnIndex": 0, "columnName": "id" })),
        ".parameter.columnName cannot stand beside columnIndex",
    );
}

#[test]
fn groovy() {
    is_refused(
        plugin("dx_groovy", json!({ "code": "return record" })),
        ": dx_groovy runs Groovy code, which transship does not: use ",
    );
}

#[test]
fn a_column_that_the_reader_does_not_have_is_told_before_the_target_is_touched() {
    for (column, message) in [
        (
            json!({ "columnIndex": 9 }),
            "columnIndex is 9, counted from 0, and there is no such column: the columns are id, text",
        ),
        (
            json!({ "columnName": "nmae" }),
            "columnName is \"nmae\", and there is no such column: the columns are id, text",
        ),
    ] {
        let mut parameter = json!({ "paras": ["0", "1"] });
        parameter.as_object_mut().unwrap().extend(column.as_object().unwrap().clone());
        let scratch = Scratch::new();
        let job = faulty(json!({}), json!({})).transformer(plugin("dx_substr", parameter));
        let run = scratch.run(&job).fails_with(1);
        assert!(run.error().contains(&format!(": job.content[0].transformer[0].parameter.{message}")), "{run}");
        assert!(run.error().starts_with("job.json:"), "{run}");
        assert_eq!((scratch.calls("reader open"), scratch.calls("writer prepare")), (0, 0), "{run}");
    }
}

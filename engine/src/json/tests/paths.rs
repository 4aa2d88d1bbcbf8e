//! From paths to places and back.

use super::{Document, document};

const JOB: &str = r#"{"job": {
  "content": [{"reader": {"parameter": {"column": ["a", "b", {"type": "long"}], "path": "x"}}}],
  "one": {"writer": {"name": "w"}},
  "hadoopConfig": {"dfs.nameservices": "n", "dfs": {"nameservices": {"deep": 1}, "x": [[1, 2]]}}
}}"#;

/// What the path leads to, as it stands in the text, and whether that is all of the path.
fn found<'t>(document: &Document, text: &'t str, path: &str) -> (&'t str, bool) {
    let (node, all) = document.find(path);
    (&text[node.span.clone()], all)
}

#[test]
fn a_path_leads_to_its_node() {
    let job = document(JOB);
    let found = |path| found(&job, JOB, path);
    assert_eq!(found("job.content[0].reader.parameter.column[2].type"), ("\"long\"", true));
    assert_eq!(found("job.content[0].reader.parameter.column[1]"), ("\"b\"", true));
    assert_eq!(found("job.hadoopConfig.dfs.x[0][1]"), ("2", true));
    assert_eq!(found(""), (JOB, true));
}

#[test]
fn a_key_with_dots_is_found_and_so_is_what_shares_its_beginning() {
    let job = document(JOB);
    let found = |path| found(&job, JOB, path);
    assert_eq!(found("job.hadoopConfig.dfs.nameservices"), ("\"n\"", true));
    assert_eq!(found("job.hadoopConfig.dfs.nameservices.deep"), ("1", true));
    assert!(!found("job.hadoopConfig.dfs.nameservices.none").1);
}

#[test]
fn where_there_is_no_list_a_value_is_a_list_of_one() {
    let job = document(JOB);
    let found = |path| found(&job, JOB, path);
    assert_eq!(found("job.one[0].writer.name"), ("\"w\"", true));
    assert_eq!(found("job.content[0].reader.parameter.path[0]"), ("\"x\"", true));
    assert!(!found("job.one[1].writer").1);
}

#[test]
fn a_path_that_leads_nowhere_ends_at_the_deepest_node() {
    let job = document(JOB);
    let found = |path| found(&job, JOB, path);
    assert_eq!(found("job.one.reader.name"), (r#"{"writer": {"name": "w"}}"#, false));
    assert_eq!(found("job.content[7].reader").0.chars().next(), Some('['));
    assert_eq!(found("job.onemore").0.chars().next(), Some('{'), "`one` is not the beginning of `onemore`");
    assert_eq!(found("nothing"), (JOB, false));
    assert!(!found("job.content[x]").1);
    assert!(!found("job..").1);
}

#[test]
fn a_person_looks_at_the_key_or_at_the_item() {
    let job = document(JOB);
    let at = |path| JOB[job.place(path)..].chars().take(9).collect::<String>();
    assert_eq!(at("job.content[0].reader.name"), "\"reader\":");
    assert_eq!(at("job.content[0].reader.parameter.column[1]"), "\"b\", {\"ty");
    assert_eq!(at("job.one[0].writer"), "\"writer\":");
    assert_eq!(at(""), "{\"job\": {");
    assert_eq!(at("nothing"), "{\"job\": {");
}

#[test]
fn a_place_has_the_path_of_the_innermost_node_around_it() {
    let job = document(JOB);
    let path = |text: &str| job.path_at(JOB.find(text).unwrap());
    assert_eq!(path("\"long\""), "job.content[0].reader.parameter.column[2].type");
    assert_eq!(path("type"), "job.content[0].reader.parameter.column[2].type", "a key belongs to its value");
    assert_eq!(path("\"b\""), "job.content[0].reader.parameter.column[1]");
    assert_eq!(path("\"n\""), "job.hadoopConfig.dfs.nameservices");
    assert_eq!(path("1, 2"), "job.hadoopConfig.dfs.x[0][0]");
    assert_eq!(path("\n  \"one\""), "job");
    assert_eq!(job.path_at(0), "");
    assert_eq!(job.path_at(JOB.len() + 10), "");
}

#[test]
fn an_empty_key_is_a_key() {
    let text = r#"{"": [1, {"": 2}], "a": {"": {"": 3}}}"#;
    let document = document(text);
    for (path, there) in
        [(r#"""[1]"#, "{\"\": 2}"), (r#"""[1]."""#, "2"), (r#"a.""."""#, "3"), (r#"a."""#, "{\"\": 3}")]
    {
        assert_eq!(found(&document, text, path), (there, true), "{path}");
        let (node, _) = document.find(path);
        assert_eq!(document.path_at(node.span.start), path);
    }
}

#[test]
fn only_scalars_are_values() {
    let text = "{a: [1, 'xyz'], b: {}}";
    let document = document(text);
    let inside = |part: &str| document.is_in_value(text.find(part).unwrap());
    assert!(inside("1") && inside("'xyz") && inside("z"));
    assert!(!inside("a") && !inside("[") && !inside(", ") && !inside("}"));
}

#[test]
fn what_a_later_member_replaces_has_the_path_of_the_object() {
    let text = "{o: {a: 1, a: 2}}";
    let document = document(text);
    assert_eq!(document.path_at(text.find('1').unwrap()), "o");
    assert_eq!(document.path_at(text.find('2').unwrap()), "o.a");
    assert_eq!(document.place("o.a"), text.rfind('a').unwrap());
}

//! What the JSON Schema holds.

use serde_json::{Value, json};
use transship_plugin_api::Parameter;
use transship_plugin_api::plugin::Component;

use crate::schema::{Components, of_job_files};

fn component(name: &str, parameters: &[Parameter]) -> Component {
    Component { names: vec![name.into(), "alias".into()], about: "Does it.".into(), parameters: parameters.into() }
}

/// The schema for one reader of these parameters.
fn schema(parameters: &[Parameter]) -> Value {
    let reader = component("testreader", parameters);
    of_job_files(&Components { readers: vec![&reader], ..Components::default() })
}

/// The form of the only parameter of a reader.
fn form(parameter: Parameter) -> Value {
    let key = parameter.name.to_string();
    schema(&[parameter])["definitions"]["reader.testreader"]["properties"][key].take()
}

fn optional(takes: &'static str, default: &'static str) -> Value {
    form(Parameter::optional("key", takes, default, "what it does"))
}

#[test]
fn a_parameter_is_described_with_its_default() {
    assert_eq!(optional("integer", "10")["description"], "what it does. Default: 10");
    assert_eq!(optional("integer", "")["description"], "what it does");
    let sentence = form(Parameter::optional("key", "integer", "10", "What it does."));
    assert_eq!(sentence["description"], "What it does. Default: 10");
}

#[test]
fn a_default_is_a_value_only_where_it_is_certain_to_be_one() {
    assert_eq!(optional("integer", "10")["default"], json!(10));
    assert_eq!(optional("boolean", "true")["default"], json!(true));
    assert_eq!(optional("list of strings", "[\"*\"]")["default"], json!(["*"]));
    assert_eq!(optional(r#""csv" or "text""#, "text")["default"], json!("text"));
    assert_eq!(optional("1 or 2", "1")["default"], json!(1));
    for (takes, default) in
        [("string", "a tab"), ("string", "1"), ("integer", "no limit"), ("any", "1"), ("a duck", "1")]
    {
        assert_eq!(optional(takes, default).get("default"), None, "{takes}, {default}");
    }
}

#[test]
fn words_that_nobody_knows_are_told_and_allow_anything() {
    assert_eq!(optional("a duck", ""), json!({ "description": "what it does. Takes: a duck" }));
}

#[test]
fn words_are_offered_as_they_are_and_pass_in_any_case() {
    let form = optional(r#""a.b" or 2"#, "");
    assert_eq!(form["anyOf"][0], json!({ "enum": ["a.b", 2] }));
    assert_eq!(form["anyOf"][1]["pattern"], json!(r"^(\s*([aA]\.[bB]|2)\s*)$|^\s*$|\$"));
}

#[test]
fn an_object_of_a_list_has_the_keys_below_its_path() {
    let schema = schema(&[
        Parameter::optional("connection", "list of objects", "", ""),
        Parameter::required("connection[].jdbcUrl", "string", ""),
        Parameter::optional("csv.escapeMode", "integer", "", ""),
    ]);
    let definitions = &schema["definitions"];
    let properties = &definitions["reader.testreader"]["properties"];
    let reference = json!({ "$ref": "#/definitions/reader.testreader.connection" });
    assert_eq!((&properties["connection"]["items"], &properties["connection"]["then"]), (&reference, &reference));
    assert_eq!(definitions["reader.testreader.connection"]["required"], json!(["jdbcUrl"]));
    assert!(properties["csv"]["properties"]["escapeMode"].is_object(), "{properties}");
}

#[test]
fn a_reader_is_told_apart_by_any_of_its_names() {
    let schema = schema(&[Parameter::required("path", "string", "")]);
    let rules = &schema["definitions"]["job.content"]["properties"]["reader"]["allOf"];
    assert_eq!(rules[1]["if"]["properties"]["name"]["enum"], json!(["testreader", "alias"]));
    assert_eq!(rules[1]["then"]["properties"]["parameter"], json!({ "$ref": "#/definitions/reader.testreader" }));
    assert_eq!(rules[1]["then"]["required"], json!(["parameter"]));
    let names = &schema["definitions"]["readerName"]["anyOf"][0];
    assert_eq!(names["enum"], json!(["testreader", "alias"]));
    assert_eq!(names["enumDescriptions"], json!(["Does it.", "Does it."]));
}

#[test]
fn a_name_of_any_letters_is_referred_to_by_a_pointer() {
    let reader = component("a/b~c d%", &[]);
    let schema = of_job_files(&Components { readers: vec![&reader], ..Components::default() });
    let rules = &schema["definitions"]["job.content"]["properties"]["reader"]["allOf"];
    let reference = &rules[1]["then"]["properties"]["parameter"]["$ref"];
    assert_eq!(reference, "#/definitions/reader.a~1b~0c%20d%25");
    assert!(schema["definitions"]["reader.a/b~c d%"].is_object());
}

#[test]
fn every_reference_leads_to_a_definition() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str).map(String::from));
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let schema = schema(&[
        Parameter::required("a", "string, number, integer, boolean or list of strings", ""),
        Parameter::optional("b[].c", "list of booleans or list", "", ""),
    ]);
    let mut found = Vec::new();
    references(&schema, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for reference in found {
        assert!(schema.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

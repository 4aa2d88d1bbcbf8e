//! Wrong parameters are refused when a transformer is made or shown the schema, before anything is read.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use serde_json::{Value, json};
use transship_plugin_api::Kind;
use transship_plugin_api::params::nearest;

use super::super::builtin::{components, is_built_in};
use super::{make, refusal};

fn schema() -> Arc<Schema> {
    let field = |name| Field::new(name, DataType::Utf8, true);
    let number = Field::new("size", DataType::Int64, true);
    Arc::new(Schema::new(vec![field("berth"), field("Ship"), number, field("twin"), field("twin")]))
}

/// The column that a transformer rewrites, or why it finds none.
fn rewritten(parameter: &Value) -> Result<usize, String> {
    let mut parameter = parameter.clone();
    parameter["paras"] = json!(["0", "1"]);
    let mut transformer = make("dx_substr", &parameter).unwrap();
    let before = schema();
    // The one whose field is new.
    match transformer.schema(before.clone()) {
        Ok(after) => Ok((0..5).find(|index| !Arc::ptr_eq(&before.fields()[*index], &after.fields()[*index])).unwrap()),
        Err(error) => {
            assert_eq!(error.kind(), Kind::Schema);
            Err(error.message().to_string())
        }
    }
}

#[test]
fn a_column_is_known_by_its_place_or_its_name() {
    assert_eq!(rewritten(&json!({ "columnIndex": 1 })), Ok(1));
    assert_eq!(rewritten(&json!({ "columnIndex": "2" })), Ok(2));
    assert_eq!(rewritten(&json!({ "columnName": "berth" })), Ok(0));
    assert_eq!(rewritten(&json!({ "columnIndex": "Ship" })), Ok(1), "a name is no number");
    assert_eq!(rewritten(&json!({ "columnName": "SHIP" })), Ok(1), "where no other is meant, case does not matter");
    let without_null = json!({ "columnIndex": null, "columnName": "size" });
    assert_eq!(rewritten(&without_null), Ok(2));
}

/// Trap 40.
#[test]
fn a_column_outside_of_the_schema_is_told_with_those_that_there_are() {
    let columns = "berth, Ship, size, twin, twin";
    let by_place =
        format!("parameter.columnIndex is 5, counted from 0, and there is no such column: the columns are {columns}");
    assert_eq!(rewritten(&json!({ "columnIndex": 5 })), Err(by_place));
    for key in ["columnName", "columnIndex"] {
        let by_name = format!("parameter.{key} is \"crane\", and there is no such column: the columns are {columns}");
        assert_eq!(rewritten(&json!({ (key): "crane" })), Err(by_name));
    }
    let ambiguous = rewritten(&json!({ "columnName": "twin" })).unwrap_err();
    assert!(
        ambiguous.starts_with("parameter.columnName is \"twin\", and several columns are called so; give"),
        "{ambiguous}"
    );
}

#[test]
fn what_names_no_column_is_refused() {
    let column = |column: Value| {
        let mut parameter = column;
        parameter["paras"] = json!(["0", "1"]);
        refusal("dx_substr", parameter)
    };
    let allowed = "must be a column's place, counted from 0, or its name, not";
    assert_eq!(column(json!({ "columnIndex": -1 })), format!("parameter.columnIndex {allowed} -1"));
    assert_eq!(column(json!({ "columnIndex": "-1" })), format!("parameter.columnIndex {allowed} \"-1\""));
    assert_eq!(column(json!({ "columnIndex": 1.5 })), format!("parameter.columnIndex {allowed} 1.5"));
    assert_eq!(column(json!({ "columnIndex": [0] })), format!("parameter.columnIndex {allowed} a list"));
    assert_eq!(column(json!({ "columnIndex": "" })), format!("parameter.columnIndex {allowed} \"\""));
    assert_eq!(column(json!({})), "parameter.columnIndex is required: the column's place, counted from 0");
    let both = column(json!({ "columnIndex": 0, "columnName": "berth" }));
    assert_eq!(both, "parameter.columnName cannot stand beside columnIndex: remove one of them");
}

/// Trap 38.
#[test]
fn wrong_paras_are_refused_with_what_is_allowed_and_an_example() {
    let refused = |name, paras| refusal(name, json!({ "columnIndex": 0, "paras": paras }));
    let substr = "dx_substr takes two (start, length), for example [\"0\", \"8\"]";
    assert_eq!(refused("dx_substr", json!(["1"])), format!("parameter.paras has 1 value, but {substr}"));
    assert_eq!(refused("dx_substr", json!(["1", "2", "3"])), format!("parameter.paras has 3 values, but {substr}"));
    assert_eq!(refused("dx_substr", json!([])), format!("parameter.paras has 0 values, but {substr}"));
    assert_eq!(refusal("dx_substr", json!({ "columnIndex": 0 })), format!("parameter.paras is required: {substr}"));
    let whole = "must be a whole number from 0 to 2147483647, not";
    assert_eq!(refused("dx_substr", json!(["x", "1"])), format!("parameter.paras[0] {whole} \"x\"; {substr}"));
    assert_eq!(refused("dx_substr", json!(["1", "-1"])), format!("parameter.paras[1] {whole} \"-1\"; {substr}"));
    assert_eq!(refused("dx_substr", json!(["1.5", "1"])), format!("parameter.paras[0] {whole} \"1.5\"; {substr}"));
    let pad = "dx_pad takes three (l or r, length, pad text), for example [\"l\", \"8\", \"0\"]";
    assert_eq!(
        refused("dx_pad", json!(["right", "8", "0"])),
        format!("parameter.paras[0] must be \"l\" or \"r\", not \"right\"; {pad}")
    );
    let replace = "dx_replace takes three (start, length, replacement), for example [\"3\", \"4\", \"****\"]";
    assert_eq!(refused("dx_replace", json!(["3", "4"])), format!("parameter.paras has 2 values, but {replace}"));
    let digest = refused("dx_digest", json!(["sha256", "toLowerCase"]));
    assert!(digest.starts_with("parameter.paras[0] must be \"md5\" or \"sha1\", not \"sha256\"; "), "{digest}");
    let filter = refused("dx_filter", json!(["<>", "1"]));
    let operators = r#""like", "not like", ">", "<", "=", "==", "!=", ">=" or "<=""#;
    assert!(filter.starts_with(&format!("parameter.paras[0] must be {operators}, not \"<>\"; ")), "{filter}");
    let empty = refused("dx_filter", json!(["=", ""]));
    assert!(empty.starts_with("parameter.paras[1] is empty, but a value is needed; like with \"^$\" finds"), "{empty}");
}

/// Trap 42.
#[test]
fn an_empty_pad_text_is_refused() {
    let refused = refusal("dx_pad", json!({ "columnIndex": 0, "paras": ["l", "8", ""] }));
    assert!(refused.starts_with("parameter.paras[2] is empty, but a text is needed to pad with; "), "{refused}");
}

/// Trap 39.
#[test]
fn numbers_and_booleans_among_the_paras_are_taken_as_their_text() {
    assert_eq!(super::becomes("dx_substr", json!([1, "2"]), "abcd").unwrap(), "bc");
    assert_eq!(super::becomes("dx_pad", json!(["l", 4, 0]), "12").unwrap(), "0012");
    assert_eq!(super::becomes("dx_replace", json!([0, 1, true]), "12").unwrap(), "true2");
}

#[test]
fn a_value_that_does_not_fit_the_column_is_refused_before_reading() {
    let parameter = json!({ "columnIndex": 2, "paras": [">", "large"] });
    let error = make("dx_filter", &parameter).unwrap().schema(schema()).unwrap_err();
    let what = "parameter.paras[1] must be a number, not \"large\": the column \"size\" holds numbers (Int64)";
    assert_eq!((error.kind(), error.message()), (Kind::Config, what));
}

#[test]
fn groovy_is_refused_with_what_to_use_instead() {
    for name in ["dx_groovy", "dx_fackGroovy"] {
        assert!(is_built_in(name));
        let error = make(name, &json!({ "code": "return record;" })).err().unwrap();
        assert_eq!(error.kind(), Kind::Unsupported);
        for advice in [name, "dx_filter", "reader's SQL", "transformer plugin"] {
            assert!(error.message().contains(advice), "{error}");
        }
    }
}

#[test]
fn every_component_can_be_made_from_what_it_says_of_itself() {
    let components = components();
    let names: Vec<&str> = components.iter().map(|component| component.names[0].as_str()).collect();
    let of_datax = ["dx_digest", "dx_filter", "dx_pad", "dx_replace", "dx_substr"];
    assert_eq!(names[..5], of_datax);
    assert_eq!(names[5..], ["dedup", "lookup", "order", "merge"]);
    assert!(names.iter().all(|name| is_built_in(name)));
    for component in &components[..5] {
        let paras = component.parameters.iter().find(|parameter| parameter.name == "paras").unwrap();
        let (_, example) = paras.about.rsplit_once("example: ").unwrap();
        let example: Value = serde_json::from_str(example).unwrap();
        let mut transformer = make(&component.names[0], &json!({ "columnIndex": 2, "paras": example })).unwrap();
        transformer.schema(schema()).unwrap();
    }
}

#[test]
fn other_names_are_not_built_in() {
    assert!(!is_built_in("dx_substring") && !is_built_in("DX_SUBSTR") && !is_built_in(""));
    let components = components();
    let names = components.iter().flat_map(|component| component.names.iter().map(String::as_str));
    assert_eq!(nearest("dx_substring", names), Some("dx_substr"));
}

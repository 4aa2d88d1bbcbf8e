//! What is told of parameters that cannot be right.

use std::sync::OnceLock;

use super::super::{component, make};
use super::*;

fn refusal(parameter: Value) -> String {
    match make(&parameter, &OnceLock::new(), Arc::new(Witness::default())) {
        Ok(_) => panic!("it takes {parameter}"),
        Err(error) => error.message().to_string(),
    }
}

#[test]
fn what_is_wrong_is_told_with_its_path() {
    for (parameter, message) in [
        (json!({}), "parameter.key is required: a column or a list of columns, such as \"id\" or [\"client\", \"id\"]"),
        (
            json!({ "key": ["a", {}] }),
            "parameter.key[1] must be a column's name, or its place, counted from 0, not an object",
        ),
        (
            json!({ "key": "id", "window": "a while" }),
            "parameter.window must be a length of time like \"10 s\", \"500 ms\" or \"1 h\", or a number of seconds, not \"a while\"",
        ),
        (json!({ "key": "id", "window": -1 }), "parameter.window must be a length of time like"),
        (json!({ "key": "id", "capacity": "lots" }), "parameter.capacity must be a number of bytes"),
        (json!({ "key": "id", "capacity": 100 }), "parameter.capacity is 100 bytes, but must be at least 1024"),
        (json!({ "key": "id", "type": "guid" }), "parameter.type is \"guid\", but must be \"auto\" or \"uuid\""),
        (
            json!({ "key": "id", "malformed": "drop" }),
            "parameter.malformed is \"drop\", but must be \"text\" or \"dirty\"",
        ),
        (json!({ "key": "id", "nulls": "one" }), "parameter.nulls is \"one\", but must be \"distinct\" or \"equal\""),
        (json!({ "key": "id", "forgetOnFailure": "perhaps" }), "parameter.forgetOnFailure must be true or false"),
    ] {
        let told = refusal(parameter.clone());
        assert!(told.starts_with(message), "{parameter}: {told}");
    }
}

#[test]
fn columns_that_cannot_be_a_key_are_told_once_the_schema_is_known() {
    let whole: ArrayRef = Arc::new(arrow_array::Int64Array::from(vec![1]));
    let refused = |parameter: Value| {
        let field = Field::new("id", whole.data_type().clone(), true);
        Job::new(parameter).attempt(0, 1).push(vec![(field, whole.clone())]).unwrap_err().message().to_string()
    };
    assert_eq!(
        refused(json!({ "key": "uuid" })),
        "parameter.key is \"uuid\", and there is no such column: the columns are id"
    );
    assert_eq!(
        refused(json!({ "type": "uuid" })),
        "parameter.type is \"uuid\", but no column of the key holds texts or bytes: remove it to compare values as they are"
    );
}

#[test]
fn every_parameter_is_listed_with_what_holds_without_it() {
    let listed: Vec<String> = component().parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    assert_eq!(listed, ["key", "window", "type", "malformed", "nulls", "capacity", "forgetOnFailure"]);
    let mut defaults = json!({ "key": "id" });
    for parameter in &component().parameters[1..] {
        defaults[parameter.name.as_ref()] = json!(parameter.default);
    }
    let told = |parameter: Value| {
        let job = Job::new(parameter);
        let Settings { uuids, malformed, nulls, forget_on_failure, .. } = job.settings;
        (job.window.setting(), uuids, malformed, nulls, forget_on_failure)
    };
    assert_eq!(told(defaults), told(json!({})));
    assert_eq!(told(json!({})).0, "window 10s, at most 64 MiB");
}

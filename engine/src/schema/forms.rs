//! The forms of values in a JSON Schema: what each kind looks like in a job file, DataX's leniency included.
//!
//! A job file is a template, so a text with a `$` in it passes for a number, a truth or a word: it may be a variable.
//!
//! An editor offers what `type` and `enum` name. What it should not offer, though a job file may hold it, is said without the two:
//! `not` and `pattern` allow as much.

use serde_json::{Map, Value, json};

use super::takes::{Kind, Takes, scalar_text};

const NUMBER: &str = r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*";
const INTEGER: &str = r"[-+]?\d+";
const BOOLEAN: &str = "[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]";

/// The definitions that these forms refer to.
pub(super) fn definitions() -> [(&'static str, Value); 7] {
    let or = |name: &str, passing: Value| json!({ "anyOf": [{ "type": name }, passing] });
    let blank = json!({ "anyOf": [{ "type": "null" }, { "type": "string", "pattern": r"^\s*$" }] });
    [
        ("string", or("string", json!({ "not": { "type": ["array", "object"] } }))),
        ("number", or("number", text(NUMBER))),
        ("integer", or("integer", text(INTEGER))),
        ("boolean", or("boolean", text(BOOLEAN))),
        ("strings", json!({ "anyOf": [{ "type": "array", "items": defined("item") }, defined("string")] })),
        ("item", json!({ "type": ["string", "number", "boolean"] })),
        (
            "given",
            json!({ "not": { "anyOf": [blank, { "type": "array", "items": blank }] }, "errorMessage": "A value is required." }),
        ),
    ]
}

fn defined(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// Texts with such a pattern, blank ones, those that may hold a variable, and null.
fn text(pattern: &str) -> Value {
    json!({
        "not": { "type": ["number", "boolean", "array", "object"] },
        "pattern": format!(r"^({pattern})$|^\s*$|\$"),
    })
}

/// What a value of these kinds may be, if an object that it is has the form of `object`.
pub(super) fn of_value(takes: &Takes, is_required: bool, object: &Value) -> Map<String, Value> {
    let kinds = takes.kinds();
    let mut forms = alternatives(kinds, object);
    // An object is never blank, and what is blank is no object.
    let say_that_it_is_given = is_required && kinds != [Kind::Object];
    if !is_required && !kinds.iter().any(passes_null) {
        add_null(&mut forms);
    }
    let mut whole = Map::new();
    let mut all_of = Vec::new();
    match forms.as_mut_slice() {
        [reference] if reference.get("$ref").is_some() => all_of.push(reference.take()),
        [Value::Object(only)] => whole = std::mem::take(only),
        _ => {
            whole.insert("anyOf".into(), forms.into());
        }
    }
    if say_that_it_is_given {
        all_of.push(defined("given"));
    }
    if !all_of.is_empty() {
        whole.insert("allOf".into(), all_of.into());
    }
    whole
}

/// Whether the form of a kind lets null pass.
fn passes_null(kind: &Kind) -> bool {
    match kind {
        Kind::Any | Kind::String | Kind::Number | Kind::Integer | Kind::Boolean => true,
        Kind::Just(value) => scalar_text(value).is_some(),
        Kind::List(item) => **item != Kind::Any && passes_null(item),
        Kind::Object => false,
    }
}

fn add_null(forms: &mut Vec<Value>) {
    match forms.as_mut_slice() {
        [only] if only.get("type").is_some() => {
            let mut types = match only["type"].take() {
                Value::Array(types) => types,
                single => vec![single],
            };
            types.push("null".into());
            only["type"] = types.into();
        }
        _ => forms.push(json!({ "type": "null" })),
    }
}

/// A form for each kind, none twice.
fn alternatives(kinds: &[Kind], object: &Value) -> Vec<Value> {
    let has_list_of = |item: &Kind| kinds.contains(&Kind::List(Box::new(item.clone())));
    let words: Vec<&Value> = kinds.iter().filter_map(Kind::word).collect();
    let mut forms = of_words(&words);
    for kind in kinds {
        // One item alone is in the form of the list.
        if kind.word().is_none() && !has_list_of(kind) {
            let form = of_kind(kind, object);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

fn of_kind(kind: &Kind, object: &Value) -> Value {
    match kind {
        Kind::Any => json!({}),
        Kind::String => defined("string"),
        Kind::Number => defined("number"),
        Kind::Integer => defined("integer"),
        Kind::Boolean => defined("boolean"),
        Kind::Object => object.clone(),
        Kind::List(item) => of_list(item, object),
        Kind::Just(Value::Array(items)) if items.len() == 1 => json!({ "enum": [items, items[0]] }),
        Kind::Just(value) => json!({ "enum": [value] }),
    }
}

fn of_list(item: &Kind, object: &Value) -> Value {
    match item {
        Kind::Any => json!({ "type": "array" }),
        Kind::String => defined("strings"),
        // Not as alternatives: of those, most programs tell only that none of them fits.
        Kind::Object => json!({
            "type": ["array", "object"], "items": object, "if": { "type": "object" }, "then": object,
        }),
        item => {
            let form = of_kind(item, object);
            json!({ "anyOf": [{ "type": "array", "items": form }, form] })
        }
    }
}

/// These words as written, and what passes for one of them: another case, a number or truth as a text.
fn of_words(words: &[&Value]) -> Vec<Value> {
    let patterns = words.iter().filter_map(|word| scalar_text(word)).map(|word| in_any_case(&word));
    let patterns: Vec<String> = patterns.collect();
    if patterns.is_empty() {
        return Vec::new();
    }
    vec![json!({ "enum": words }), text(&format!(r"\s*({})\s*", patterns.join("|")))]
}

/// A pattern for a text in any case. It knows the letters that [`str::eq_ignore_ascii_case`] knows.
fn in_any_case(text: &str) -> String {
    let letter = |letter: char| match letter {
        letter if letter.is_ascii_alphabetic() => {
            format!("[{}{}]", letter.to_ascii_lowercase(), letter.to_ascii_uppercase())
        }
        '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
            format!("\\{letter}")
        }
        letter => letter.into(),
    };
    text.chars().map(letter).collect()
}

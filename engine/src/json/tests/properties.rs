//! What holds for every text.

use proptest::prelude::*;
use serde_json::{Number, Value};

use super::dirt::{SEEDS, changes, rubbish, spoil};
use super::printer::print;
use super::{Document, document, fetch, parse, value};
use crate::json::{Node, NodeKind};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Texts with what is special in strings more often than by chance.
fn text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        4 => prop::char::range('a', 'z'),
        2 => any::<char>(),
        1 => prop::char::range('\u{0}', '\u{1f}'),
        2 => prop::sample::select(vec!['"', '\'', '\\', '$', '{', '}', '/', '.', '-', '\u{2028}', '键', '😀']),
    ];
    prop::collection::vec(letter, 0..8).prop_map(|letters| letters.into_iter().collect())
}

fn number() -> impl Strategy<Value = Number> {
    let of = |text: String| text.parse::<Number>().unwrap();
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        (-9i64..10).prop_map(Number::from),
        any::<f64>().prop_filter_map("finite", Number::from_f64),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?".prop_map(of),
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number().prop_map(Value::Number),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn nodes<'d>(node: &'d Node, all: &mut Vec<&'d Node>) {
    all.push(node);
    match &node.kind {
        NodeKind::Scalar(_) => {}
        NodeKind::List(items) => items.iter().for_each(|item| nodes(item, all)),
        NodeKind::Object(members) => members.iter().for_each(|member| nodes(&member.node, all)),
    }
}

/// Every node stands where its span says, and paths lead to places inside the text.
fn spans_are_right(text: &str, document: &Document) -> Result<(), TestCaseError> {
    let mut all = Vec::new();
    nodes(&document.root, &mut all);
    for node in all {
        let alone = parse(&text[node.span.clone()], &mut fetch);
        prop_assert_eq!(alone.map(|alone| alone.value()), Ok(node.value()));
        let path = document.path_at(node.span.start);
        let (_, whole) = document.find(&path);
        prop_assert!(whole, "{} is not found", path);
        prop_assert!(text.is_char_boundary(document.place(&path)));
    }
    Ok(())
}

/// Whatever the text is: an answer, and places that are in the text.
fn answers(text: &str) -> Result<(), TestCaseError> {
    match parse(text, &mut fetch) {
        Ok(document) => {
            prop_assert!(document.notes.iter().all(|note| text.is_char_boundary(note.at)));
            spans_are_right(text, &document)
        }
        Err(broken) => {
            prop_assert!(text.is_char_boundary(broken.at), "{:?}", broken);
            prop_assert!(!broken.message.is_empty() && broken.message.chars().count() < 400, "{:?}", broken);
            Ok(())
        }
    }
}

proptest! {
    #![proptest_config(config(1_500))]

    #[test]
    fn strict_json_gives_the_same_tree(tree in tree()) {
        prop_assert_eq!(&value(&serde_json::to_string(&tree).unwrap()), &tree);
        prop_assert_eq!(&value(&serde_json::to_string_pretty(&tree).unwrap()), &tree);
    }
}

proptest! {
    #![proptest_config(config(2_500))]

    #[test]
    fn lenient_json_gives_the_same_tree_and_right_places(tree in tree(), choices in prop::collection::vec(any::<u8>(), 0..97)) {
        let text = print(&tree, &choices);
        let document = document(&text);
        prop_assert_eq!(&document.value(), &tree, "{}", text);
        spans_are_right(&text, &document)?;
    }
}

proptest! {
    #![proptest_config(config(8_000))]

    #[test]
    fn a_spoilt_job_file_is_read_or_refused_at_a_place(seed in prop::sample::select(&SEEDS[..]), changes in changes()) {
        answers(&changes.iter().fold(seed.to_string(), |text, change| spoil(&text, change)))?;
    }
}

proptest! {
    #![proptest_config(config(4_000))]

    #[test]
    fn rubbish_is_read_or_refused_at_a_place(text in rubbish()) {
        answers(&text)?;
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place(text in any::<String>()) {
        answers(&text)?;
    }
}

#[test]
fn a_tree_printed_with_zeros_for_choices_is_strict_json() {
    let tree = serde_json::json!({"a": [1, 0.5, 2.0, "x\\\"y"], "b": {"": null}});
    assert_eq!(serde_json::from_str::<Value>(&print(&tree, &[0])).unwrap(), tree);
}

//! The transformers against a naive model that works record by record, on UTF-16 units, as DataX does.

use std::sync::Arc;

use arrow_array::{Decimal128Array, Int64Array, StringArray};
use proptest::prelude::*;
use serde_json::json;
use transship_plugin_api::ColumnFormats;
use transship_plugin_api::fields::number_field;

use super::{Outcome, run, run_on};

/// Texts of few different characters, some of which count two, so that positions meet them.
fn texts() -> impl Strategy<Value = Vec<Option<String>>> {
    let ascii = proptest::collection::vec(proptest::option::of("[a-c]{0,6}"), 1..20);
    let mixed = proptest::collection::vec(proptest::option::of("[a船🚢\u{ffff}]{0,5}"), 1..20);
    prop_oneof![ascii, mixed]
}

/// What becomes of a value: a text, NULL, or dirty.
type Fate = Result<Option<String>, ()>;

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn whole(units: &[u16]) -> Result<String, ()> {
    String::from_utf16(units).map_err(drop)
}

fn substr(text: Option<&str>, start: usize, length: usize) -> Fate {
    let Some(text) = text.map(units) else { return Ok(None) };
    if start > text.len() {
        return Err(());
    }
    whole(&text[start..(start + length).min(text.len())]).map(Some)
}

fn replace(text: Option<&str>, start: usize, length: usize, with: &str) -> Fate {
    let Some(text) = text.map(units) else { return Ok(None) };
    if start > text.len() {
        return Err(());
    }
    let behind = (start + length).min(text.len());
    // Both ends have to be text for themselves: halves that meet by accident are none.
    Ok(Some(whole(&text[..start])? + with + &whole(&text[behind..])?))
}

fn pad(text: Option<&str>, left: bool, length: usize, with: &str) -> Fate {
    let text = units(text.unwrap_or_default());
    if length <= text.len() {
        return whole(&text[..length]).map(Some);
    }
    let padding: Vec<u16> = units(with).into_iter().cycle().take(length - text.len()).collect();
    let (padding, text) = (whole(&padding)?, whole(&text)?);
    Ok(Some(if left { padding + &text } else { text + &padding }))
}

fn check(outcome: &Outcome, fates: &[Fate]) {
    let clean: Vec<_> = fates.iter().filter_map(|fate| fate.clone().ok()).collect();
    assert_eq!(outcome.values, clean);
    let dirty: Vec<u64> = (0..).zip(fates).filter(|(_, fate)| fate.is_err()).map(|(row, _)| row).collect();
    assert_eq!(outcome.dirty.iter().map(|told| told.position - super::FIRST).collect::<Vec<_>>(), dirty);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn substr_is_as_the_model(texts in texts(), start in 0usize..8, length in 0usize..8) {
        let outcome = run("dx_substr", json!([start, length]), StringArray::from(texts.clone()));
        check(&outcome, &texts.iter().map(|text| substr(text.as_deref(), start, length)).collect::<Vec<_>>());
    }

    #[test]
    fn replace_is_as_the_model(texts in texts(), start in 0usize..8, length in 0usize..8, with in "[x船🚢]{0,2}") {
        let outcome = run("dx_replace", json!([start, length, with]), StringArray::from(texts.clone()));
        check(&outcome, &texts.iter().map(|text| replace(text.as_deref(), start, length, &with)).collect::<Vec<_>>());
    }

    #[test]
    fn pad_is_as_the_model(texts in texts(), left: bool, length in 0usize..12, with in "[x船🚢]{1,3}") {
        let paras = json!([if left { "l" } else { "r" }, length, with]);
        let outcome = run("dx_pad", paras, StringArray::from(texts.clone()));
        check(&outcome, &texts.iter().map(|text| pad(text.as_deref(), left, length, &with)).collect::<Vec<_>>());
    }

    #[test]
    fn a_filter_keeps_what_the_model_keeps(
        numbers in proptest::collection::vec(proptest::option::of(-3i64..3), 0..200),
        operator in proptest::sample::select(vec![">", ">=", "<", "<=", "=", "!="]),
        operand in -4i64..4,
    ) {
        let drops = |number: Option<i64>| match (operator, number) {
            ("!=", None) => true,
            (_, None) => false,
            (">", Some(number)) => number > operand,
            (">=", Some(number)) => number >= operand,
            ("<", Some(number)) => number < operand,
            ("<=", Some(number)) => number <= operand,
            ("=", Some(number)) => number == operand,
            (_, Some(number)) => number != operand,
        };
        let rows: Vec<u64> = (0..).zip(&numbers).filter(|(_, number)| !drops(**number)).map(|(row, _)| row).collect();
        let outcome = run("dx_filter", json!([operator, operand]), Int64Array::from(numbers.clone()));
        prop_assert_eq!(outcome.rows(), rows);
    }

    /// Numbers as text are compared digit by digit, decimals by whole numbers within bounds.
    #[test]
    fn numbers_compare_alike_as_decimals_and_as_text(
        values in proptest::collection::vec(-30_000i128..30_000, 1..40),
        scale in 0i8..4,
        operator in proptest::sample::select(vec![">", ">=", "<", "<=", "=", "!="]),
        operand in -40_000i64..40_000,
        exponent in -5i32..3,
    ) {
        let operand = format!("{operand}e{exponent}");
        let decimals = Decimal128Array::from(values).with_precision_and_scale(30, scale).unwrap();
        let texts = (0..decimals.len()).map(|row| decimals.value_as_string(row));
        let texts = Arc::new(StringArray::from_iter_values(texts));
        let as_text = run_on("dx_filter", json!([operator, operand]), number_field("value"), texts, &ColumnFormats::default());
        let as_decimals = run("dx_filter", json!([operator, operand]), decimals);
        prop_assert_eq!(as_text.rows(), as_decimals.rows());
    }

    #[test]
    fn texts_are_ordered_as_their_utf16_units(one in "[a船🚢\u{e000}\u{ffff}]{0,4}", other in "[a船🚢\u{e000}\u{ffff}]{1,4}") {
        let expected = one.encode_utf16().cmp(other.encode_utf16());
        let dropped = |operator| run("dx_filter", json!([operator, other]), StringArray::from(vec![one.as_str()])).rows().is_empty();
        prop_assert_eq!((dropped("<"), dropped("="), dropped(">")), (expected.is_lt(), expected.is_eq(), expected.is_gt()));
    }

    /// Whatever stands in the place of a pattern, it is taken or refused with a reason.
    #[test]
    fn any_text_is_a_pattern_or_refused(pattern in r"[a-c01(){}\[\]\\^$.|*+?&:<>=!iQEpdbk,x#-]{0,24}", text in "[a-c01]{0,8}") {
        match super::super::pattern::Pattern::new(&pattern) {
            Ok(pattern) => { let _ = pattern.matches(&text); }
            Err(problem) => prop_assert!(problem.starts_with("which "), "{}", problem),
        }
    }
}

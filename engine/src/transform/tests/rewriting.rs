//! What becomes of texts: positions, NULL, characters that count two, digests.

use arrow_array::StringArray;
use serde_json::json;

use super::{Told, becomes, run, run_texts};

fn ok(text: &str) -> Result<String, String> {
    Ok(text.to_string())
}

#[test]
fn substr_keeps_so_many_units_from_a_position_on() {
    let substr = |start, length, text| becomes("dx_substr", json!([start, length]), text);
    assert_eq!(substr("1", "3", "abcdef"), ok("bcd"));
    assert_eq!(substr("0", "0", "abc"), ok(""));
    assert_eq!(substr("1", "100", "abc"), ok("bc"));
    assert_eq!(substr("2", "2147483647", "abc"), ok("c"));
    assert_eq!(substr("3", "1", "abc"), ok(""), "a position just at the end is within the text");
    assert_eq!(substr("0", "5", ""), ok(""));
    assert_eq!(substr("1", "2", "码头船"), ok("头船"));
}

#[test]
fn replace_puts_a_text_in_the_place_of_a_piece() {
    let replace = |start, length, with, text| becomes("dx_replace", json!([start, length, with]), text);
    assert_eq!(replace("2", "4", "****", "13800001111"), ok("13****01111"));
    assert_eq!(replace("2", "0", "-", "abcd"), ok("ab-cd"));
    assert_eq!(replace("2", "100", "-", "abcd"), ok("ab-"));
    assert_eq!(replace("4", "1", "-", "abcd"), ok("abcd-"));
    assert_eq!(replace("0", "2", "", "abcd"), ok("cd"));
    assert_eq!(replace("1", "1", "🚢", "码头"), ok("码🚢"));
}

#[test]
fn pad_fills_on_one_side_and_cuts_the_last_pad_text() {
    let pad = |side, length, with, text| becomes("dx_pad", json!([side, length, with]), text);
    assert_eq!(pad("l", "5", "0", "42"), ok("00042"));
    assert_eq!(pad("r", "5", "0", "42"), ok("42000"));
    assert_eq!(pad("L", "7", "abc", "42"), ok("abcab42"));
    assert_eq!(pad("R", "7", "abc", "42"), ok("42abcab"));
    assert_eq!(pad("l", "4", "头", "码"), ok("头头头码"));
    assert_eq!(pad("r", "3", "x", "🚢"), ok("🚢x"), "a ship counts two");
    assert_eq!(pad("l", "1000", "ab", "").map(|text| text.len()), Ok(1000));
    assert_eq!(pad("l", "1001", "abc", "").map(|text| text.ends_with("ab")), Ok(true));
}

/// Trap 42.
#[test]
fn pad_cuts_a_longer_text_at_its_end_on_either_side() {
    for side in ["l", "r"] {
        assert_eq!(becomes("dx_pad", json!([side, "3", "0"]), "12345"), ok("123"));
        assert_eq!(becomes("dx_pad", json!([side, "0", "0"]), "12345"), ok(""));
        assert_eq!(becomes("dx_pad", json!([side, "3", "0"]), "123"), ok("123"));
    }
}

#[test]
fn a_position_behind_the_end_is_dirty() {
    let cause = Err("position 4 is behind the end of the value, which has a length of 3".to_string());
    assert_eq!(becomes("dx_substr", json!(["4", "1"]), "abc"), cause);
    assert_eq!(becomes("dx_replace", json!(["4", "1", "x"]), "abc"), cause);
    assert_eq!(becomes("dx_substr", json!(["4", "1"]), "码🚢"), cause, "it has three units");
}

/// Trap 46.
#[test]
fn positions_count_utf16_units_and_half_a_character_is_dirty() {
    assert_eq!(becomes("dx_substr", json!(["3", "2"]), "a🚢bcd"), ok("bc"));
    assert_eq!(becomes("dx_substr", json!(["1", "2"]), "a🚢bcd"), ok("🚢"));
    assert_eq!(becomes("dx_pad", json!(["l", "3", "0"]), "a🚢bcd"), ok("a🚢"));
    assert_eq!(becomes("dx_substr", json!(["2", "0"]), "a🚢bcd"), ok(""), "nothing is no half");
    let middle = |position| {
        Err(format!(
            "position {position} is in the middle of \"🚢\", which counts two (lengths are in UTF-16 units, as in DataX)"
        ))
    };
    assert_eq!(becomes("dx_substr", json!(["2", "2"]), "a🚢bcd"), middle(2));
    assert_eq!(becomes("dx_substr", json!(["0", "2"]), "a🚢bcd"), middle(2));
    assert_eq!(becomes("dx_replace", json!(["0", "2", ""]), "a🚢bcd"), middle(2));
    assert_eq!(becomes("dx_pad", json!(["r", "2", "0"]), "a🚢bcd"), middle(2));
    assert_eq!(becomes("dx_pad", json!(["r", "3", "🚢"]), ""), middle(3), "the padding would be cut");
    assert_eq!(becomes("dx_pad", json!(["r", "1", "🚢"]), ""), middle(1));
}

/// Trap 44.
#[test]
fn substr_and_replace_keep_null_while_pad_and_digest_take_it_as_empty() {
    let nulls = |name, paras| run_texts(name, paras, [None, Some("ab"), None]).values;
    let texts = |texts: [Option<&str>; 3]| texts.map(|text| text.map(String::from)).to_vec();
    assert_eq!(nulls("dx_substr", json!(["1", "1"])), texts([None, Some("b"), None]));
    assert_eq!(nulls("dx_replace", json!(["0", "1", "x"])), texts([None, Some("xb"), None]));
    assert_eq!(nulls("dx_pad", json!(["l", "3", "0"])), texts([Some("000"), Some("0ab"), Some("000")]));
    let empty = Some("d41d8cd98f00b204e9800998ecf8427e");
    let ab = Some("187ef4436122d1cc2f40dc2b92f0eba0");
    assert_eq!(nulls("dx_digest", json!(["md5", "toLowerCase"])), texts([empty, ab, empty]));
}

#[test]
fn digest_is_that_of_the_utf8_bytes_in_hexadecimal() {
    let digest = |hash, case, text| becomes("dx_digest", json!([hash, case]), text);
    assert_eq!(digest("md5", "toLowerCase", "abc"), ok("900150983cd24fb0d6963f7d28e17f72"));
    assert_eq!(digest("md5", "toUpperCase", "abc"), ok("900150983CD24FB0D6963F7D28E17F72"));
    assert_eq!(digest("sha1", "toLowerCase", "abc"), ok("a9993e364706816aba3e25717850c26c9cd0d89d"));
    assert_eq!(digest("sha1", "toUpperCase", "abc"), ok("A9993E364706816ABA3E25717850C26C9CD0D89D"));
    assert_eq!(digest("md5", "toLowerCase", "码头"), ok("e80e34c34a4eb8e853abc05621bdb291"));
}

/// Trap 43.
#[test]
fn md5_and_touppercase_mean_what_they_say_in_any_case() {
    let digest = |hash, case| becomes("dx_digest", json!([hash, case]), "abc");
    assert_eq!(digest("MD5", "TOUPPERCASE"), ok("900150983CD24FB0D6963F7D28E17F72"));
    assert_eq!(digest("Md5", "tolowercase"), ok("900150983cd24fb0d6963f7d28e17f72"));
    assert_eq!(digest("SHA1", "ToLowerCase"), ok("a9993e364706816aba3e25717850c26c9cd0d89d"));
}

#[test]
fn a_dirty_record_is_told_once_and_left_out() {
    let outcome = run_texts("dx_substr", json!(["2", "1"]), [Some("abc"), Some("x"), None, Some("def"), Some("")]);
    assert_eq!(outcome.texts(), ["c", "NULL", "f"]);
    assert_eq!(outcome.rows(), [0, 2, 3]);
    let told = |position, value: &str| Told {
        position,
        column: "value".into(),
        value: Some(value.into()),
        cause: format!("position 2 is behind the end of the value, which has a length of {}", value.len()),
    };
    assert_eq!(outcome.dirty, [told(101, "x"), told(104, "")]);
}

#[test]
fn a_batch_of_dirty_records_alone_leaves_nothing() {
    let outcome = run_texts("dx_substr", json!(["9", "1"]), [Some("abc"), Some("x")]);
    assert_eq!((outcome.rows().len(), outcome.dirty.len()), (0, 2));
}

#[test]
fn a_slice_of_a_larger_column_is_rewritten_alone() {
    let texts = StringArray::from(vec![Some("zero"), Some("one"), None, Some("three"), Some("four")]);
    let outcome = run("dx_substr", json!(["0", "2"]), texts.slice(1, 3));
    assert_eq!(outcome.texts(), ["on", "NULL", "th"]);
    let outcome = run("dx_pad", json!(["r", "4", "."]), texts.slice(2, 2));
    assert_eq!(outcome.texts(), ["....", "thre"]);
}

#[test]
fn an_empty_batch_stays_empty() {
    let outcome = run("dx_pad", json!(["l", "4", "."]), StringArray::from(Vec::<&str>::new()));
    assert_eq!(outcome.values, []);
}

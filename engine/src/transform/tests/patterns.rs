//! `like`: Java's regex syntax and meaning, matched against the whole text.

use std::time::Instant;

use serde_json::json;

use super::super::pattern::Pattern;
use super::{refusal, run_texts};

#[track_caller]
fn matches(pattern: &str, texts: &[&str]) {
    let compiled = Pattern::new(pattern).unwrap_or_else(|problem| panic!("{pattern} is refused: {problem}"));
    for text in texts {
        assert_eq!(compiled.matches(text).ok(), Some(true), "{pattern} on {text:?}");
    }
}

#[track_caller]
fn differs(pattern: &str, texts: &[&str]) {
    let compiled = Pattern::new(pattern).unwrap_or_else(|problem| panic!("{pattern} is refused: {problem}"));
    for text in texts {
        assert_eq!(compiled.matches(text).ok(), Some(false), "{pattern} on {text:?}");
    }
}

#[track_caller]
fn refused(pattern: &str, problem: &str) {
    match Pattern::new(pattern) {
        Ok(_) => panic!("{pattern} is taken"),
        Err(told) => assert!(told.contains(problem), "{pattern}: {told}"),
    }
}

#[test]
fn the_whole_text_must_match() {
    matches("a|ab", &["a", "ab"]);
    differs("a|ab", &["abc", "xa", ""]);
    matches("", &[""]);
    matches("^ab$", &["ab"]);
    matches("^(a|b)$|^c$", &["a", "b", "c"]);
    differs("^ab$", &["ab\n", "\nab"]);
    matches("ab$\\n", &["ab\n"]);
    matches("(ab$)\\r\\n", &["ab\r\n"]);
    matches("ab\\Z", &["ab"]);
    matches("\\Aab\\z", &["ab"]);
    matches("%abc%", &["%abc%"]);
}

#[test]
fn classes_are_ascii_unless_the_pattern_says_otherwise() {
    matches(r"\d\w\s", &["1a ", "1_\t", "12\u{b}"]);
    differs(r"\d", &["١", "１", "a"]);
    differs(r"\w", &["é", "船"]);
    differs(r"\s", &["\u{a0}", "\u{3000}"]);
    matches(r"\D\W\S", &["é船é"]);
    matches(r"(?U)\w\d", &["船１"]);
    matches(r"[\d\s]+[^\d]", &["1 2x"]);
    matches(r"\p{Alpha}\p{Punct}\P{Upper}", &["a!b"]);
    differs(r"\p{Alpha}", &["é"]);
    matches(r"\h\v\R", &["\u{3000}\n\r\n"]);
    differs(r"\h", &["a", "f"]);
}

#[test]
fn a_dot_stops_at_every_line_end() {
    matches("a.c", &["abc", "a船c", "a🚢c"]);
    differs("a.c", &["a\nc", "a\rc", "a\u{85}c", "a\u{2028}c"]);
    matches("(?s)a.c", &["a\nc"]);
    matches("(?d)a.c", &["a\rc"]);
    differs("(?d)a.c", &["a\nc"]);
    differs("(?m)^", &[""]);
    matches("(?ms)a$.^b", &["a\nb", "a\rb"]);
    differs("(?ms)a$.b", &["axb"]);
}

#[test]
fn case_is_ignored_in_ascii_or_everywhere() {
    matches("(?i)abc[x-z]", &["ABCX", "aBcy"]);
    differs("(?i)é", &["É"]);
    matches("(?iu)é[à-ö]", &["ÉÀ"]);
    differs("(?i)k", &["\u{212a}"]);
    matches("a(?i)b(?-i)c", &["aBc"]);
    differs("a(?i)b(?-i)c", &["ABc", "aBC"]);
    matches("(?:(?i)a)b|(?i:C)d", &["Ab", "cd"]);
    differs("(?:(?i)a)b", &["aB"]);
    matches("(?i)[^a]", &["b"]);
    differs("(?i)[^a]", &["A"]);
    matches(r"(?i)(a)\1", &["aA"]);
}

#[test]
fn look_around_and_back_references_work() {
    matches(r"(?!test).*", &["prod"]);
    differs(r"(?!test).*", &["test1"]);
    matches(r".*(?<!\.bak)", &["a.txt"]);
    differs(r".*(?<!\.bak)", &["a.bak"]);
    matches(r"(?=.*\d)(?=.*[a-z]).{3,}", &["a1b"]);
    matches(r"(\d)(\w)\2\1", &["1aa1"]);
    differs(r"(\d)\1", &["12"]);
    matches(r"(a)\11", &["aa1"]);
    matches(r"(?<pier>\d+)-\k<pier>", &["12-12"]);
    differs("a++ab", &["aaab"]);
    differs("a{1,3}+ab", &["aaab"]);
    matches("(?>a*)b", &["aab"]);
    matches("a+?b??", &["aa"]);
}

#[test]
fn quotes_escapes_and_comments_are_javas() {
    matches(r"\Q1.5*\E\d", &["1.5*7"]);
    matches(r"\Q.*", &[".*"]);
    matches(r"\u8239\x41\x{1F6A2}\0101\t", &["船A🚢A\t"]);
    matches(r"\ud83d\udea2", &["🚢"]);
    matches(r"[\u4e00-\u9fa5]+", &["码头"]);
    matches(r"\-\.\/\@\_", &["-./@_"]);
    matches("(?x) a b # c\n d", &["abd"]);
    matches(r"(?x)[a b]\ c", &["b c"]);
    matches("#a b", &["#a b"]);
    matches(r"\cA\e\a\f", &["\u{1}\u{1b}\u{7}\u{c}"]);
}

#[test]
fn classes_have_ranges_unions_and_intersections() {
    matches(r"[a-c[x-z]]+", &["abz"]);
    matches(r"[a-z&&[^aeiou]]+", &["xyz"]);
    differs(r"[a-z&&[^aeiou]]+", &["xay"]);
    matches(r"[\w.-]+@[\w-]+", &["a.b-c@d-e"]);
    matches(r"[-a]+[a-]+", &["-a-"]);
    matches(r"[]a]+", &["]a"]);
    matches(r"[^]a]", &["b"]);
    matches(r"[~#&^$|(){}*+?.]+", &["~#&^$|(){}*+?."]);
    matches(r"[a-\d]+", &["a-1"]);
    matches(r"[\Q]^\E]+", &["^]"]);
    matches(r"[\[\]\\]+", &[r"[]\"]);
}

#[test]
fn classes_are_known_by_javas_names() {
    matches(r"\p{IsHan}+\pL\p{Lu}", &["码头éÉ"]);
    matches(r"\p{InCJKUnifiedIdeographs}\p{InHiragana}", &["船ふ"]);
    matches(r"\p{script=Cyrillic}\p{sc=Han}\p{gc=Nd}\p{blk=CJK_Unified_Ideographs}", &["ж船1船"]);
    matches(r"\p{IsAlphabetic}\p{javaLowerCase}\p{javaWhitespace}\p{IsDigit}", &["船é ١"]);
    differs(r"\p{javaWhitespace}", &["\u{a0}"]);
    differs(r"\P{IsHan}", &["船"]);
    matches(r"[\p{IsHan}a]+", &["船a"]);
    refused(r"\p{InKlingon}", "Unicode block Klingon, which is not known here: write a script");
    refused(r"\p{Nonsense}", "which is no regex that can be run here");
}

#[test]
fn a_broken_pattern_is_refused_with_the_reason() {
    refused("a(b", "has a ( without its )");
    refused("a)b", "has a ) without its (, before \"b\"");
    refused("[a", "has a [ without its ]");
    refused("[z-a]", "has the range z-a, whose end is before its beginning");
    refused("*a", "which is no regex that can be run here (");
    refused("a{x}", "has {x}, which is no number of repetitions");
    refused("a(?i)*b", "repeats a (?…), which is nothing to repeat, before \"*b\"");
    refused("a{2,1}", "has {2,1}, which ends before it begins");
    refused("a{2", "has a { without its }");
    refused("a\\", "ends with a \\");
    refused(r"\i", r"has \i, which cannot be run here");
    refused(r"\ud83d", "has half of a character");
    refused(r"\u12", "has an escape without its 4 hexadecimal digits");
    refused(r"\3(a)(b)", "which is no regex that can be run here (");
    refused("(?q)a", "has a (?q that Java does not know");
    refused(r"\N{DIGIT ONE}", r"has \N, which cannot be run here");
    refused(&"[".repeat(100_000), "has too many [ inside one another");
    refused(&"(".repeat(100_000), "has a ( without its )");
    refused(&format!("{}{}", "(".repeat(50_000), ")".repeat(50_000)), "which is no regex that can be run here (");
    refused("((a{1000}){1000}){1000}", "which is no regex that can be run here (");
}

#[test]
fn a_refusal_names_the_path_and_the_pattern() {
    let told = refusal("dx_filter", json!({ "columnIndex": 0, "paras": ["like", "a(b"] }));
    assert_eq!(
        told,
        "parameter.paras[1] is \"a(b\", which has a ( without its ); dx_filter takes two (operator, value), for example \
         [\">\", \"3\"]"
    );
}

#[test]
fn a_pattern_that_would_never_end_makes_the_record_dirty() {
    let started = Instant::now();
    let endless = "a".repeat(40);
    let outcome = run_texts("dx_filter", json!(["like", r"(a|a)*\1b"]), [Some("ab"), Some(&endless), Some("b")]);
    assert_eq!(outcome.dirty.len(), 1, "{outcome:?}");
    assert!(outcome.dirty[0].cause.starts_with("there are too many ways in which the pattern could match"));
    assert!(started.elapsed().as_secs() < 20);
    // Without look-around or references the engine is linear.
    differs("(a*)*b", &[&"a".repeat(10_000)]);
}

//! Tests of what wildcards match.

use super::*;

fn matches_text(pattern: &str, text: &str) -> bool {
    Pattern::parse(pattern).unwrap().takes(text)
}

/// Trap 78.
#[test]
fn wildcards_match_whole_paths() {
    assert!(matches_text("a/*.csv", "a/b.csv"));
    assert!(matches_text("a/*.csv", "a/deep/b.csv"));
    assert!(!matches_text("a/*.csv", "a/b.csv.bak"));
    assert!(!matches_text("a/*.csv", "a/bxcsv"));
    assert!(matches_text("a/part-?", "a/part-1"));
    assert!(!matches_text("a/part-?", "a/part-12"));
    assert!(!matches_text("a?b", "a/b"));
    assert!(matches_text("*", ""));
    assert!(matches_text("a*b*c", "axxbyybzc"));
    assert!(!matches_text("a*b*c", "axxbyyb"));
}

#[test]
fn classes_match_ranges() {
    assert!(matches_text("f[0-9a].csv", "f7.csv"));
    assert!(matches_text("f[0-9a].csv", "fa.csv"));
    assert!(!matches_text("f[0-9a].csv", "fb.csv"));
    assert!(matches_text("f[!0-9].csv", "fb.csv"));
    assert!(!matches_text("f[^0-9].csv", "f1.csv"));
    assert!(matches_text("f[]x].csv", "f].csv"));
    assert!(matches_text("f[a-].csv", "f-.csv"));
    assert!(Pattern::parse("f[ab").is_err());
}

#[test]
fn folders_without_a_match_are_told_by_what_stands_ahead_of_the_first_star() {
    let may = |pattern: &str, front: &str| Pattern::parse(pattern).unwrap().may_take_below(front);
    assert!(may("in/2026-0[1-3]/*.csv", "in/"));
    assert!(may("in/2026-0[1-3]/*.csv", "in/2026-02/"));
    assert!(!may("in/2026-0[1-3]/*.csv", "in/2026-04/"));
    assert!(!may("in/part-?", "in/part-1/"));
    assert!(!may("in/a/b.csv?", "in/b/"));
    assert!(may("in/*.csv", "in/deep/deeper/"));
    assert!(may("in/a*/x", "in/ab/c/"));
}

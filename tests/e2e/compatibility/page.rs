//! The lines of `docs/compatibility.md`: for each trap a verdict and a reason, and at the end of the page the tests that show it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use transship_tests::program::repository;

/// A line of the page.
pub(super) struct Line {
    pub trap: u32,
    pub verdict: Verdict,
    /// How it is better, or why there is nothing to compare.
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Same,
    Better,
    /// Neither the same nor better for everybody.
    Other,
    /// Comes with a plugin that is not there yet.
    Later,
    NotApplicable,
}

/// The tests that show something about a trap, by its number.
pub(super) type Tests = BTreeMap<u32, BTreeSet<String>>;

/// What the list of tests begins with.
const TESTS: &str = "## The tests behind each line\n\n";

impl Verdict {
    /// Whether it says something about what transship does now.
    pub(super) fn needs_a_test(self) -> bool {
        matches!(self, Verdict::Same | Verdict::Better | Verdict::Other)
    }
}

/// Every line, in the order of the page.
pub(super) fn lines() -> Vec<Line> {
    text().lines().filter_map(line).collect()
}

/// The tests that the page names.
pub(super) fn tests() -> Tests {
    let text = text();
    let (_, list) = text.split_once(TESTS).expect("the page ends with the list of tests");
    list.lines().map(tests_of).collect()
}

/// Writes the list of tests anew.
pub(super) fn list(tests: &Tests) {
    let mut text = text();
    text.truncate(text.find(TESTS).expect("the page ends with the list of tests") + TESTS.len());
    for (trap, names) in tests {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        text += &format!("- {trap}: {}\n", names.join(", "));
    }
    std::fs::write(path(), text).expect("the page can be written");
}

fn path() -> PathBuf {
    repository().join("docs/compatibility.md")
}

fn text() -> String {
    std::fs::read_to_string(path()).expect("the page is there")
}

/// A row of a table that begins with a number: `| 7 | what DataX does | **same**: reason |`.
fn line(row: &str) -> Option<Line> {
    let cells: Vec<&str> = row.strip_prefix("| ")?.trim_end().strip_suffix('|')?.split(" | ").map(str::trim).collect();
    let trap = cells[0].parse().ok()?;
    let [_, datax, transship] = cells[..] else { panic!("not three cells: {row}") };
    assert!(!datax.is_empty(), "nothing is said of DataX: {row}");
    let (word, reason) = transship.strip_prefix("**").and_then(|rest| rest.split_once("**")).unwrap_or_default();
    let verdict = match word {
        "same" => Verdict::Same,
        "better" => Verdict::Better,
        "other" => Verdict::Other,
        "later" => Verdict::Later,
        "not applicable" => Verdict::NotApplicable,
        _ => panic!("no verdict: {row}"),
    };
    Some(Line { trap, verdict, reason: reason.trim_start_matches(':').trim().to_string() })
}

/// An item of the list: ``- 7: `a_test`, `another` ``.
fn tests_of(item: &str) -> (u32, BTreeSet<String>) {
    let (trap, names) =
        item.strip_prefix("- ").and_then(|rest| rest.split_once(": ")).expect("it is an item of the list");
    let names = names.split(", ").map(|name| name.trim_matches('`').to_string()).collect();
    (trap.parse().expect("it begins with a number"), names)
}

#[test]
fn a_row_of_the_page_is_taken_apart() {
    let found = line("| 7 | takes comments | **better**: takes more |").expect("it is a row");
    assert_eq!((found.trap, found.verdict, found.reason.as_str()), (7, Verdict::Better, "takes more"));
    assert!(line("| trap | DataX | transship |").is_none() && line("| --- | --- |").is_none());
    let names = BTreeSet::from(["a_test".to_string(), "another".to_string()]);
    assert_eq!(tests_of("- 7: `a_test`, `another`"), (7, names));
}

//! The numbers of traps that tests carry: a line of their documentation that says `Trap 7.` or `Traps 7, 8.` and nothing else.

use super::page::Tests;
use crate::tidy::source::{File, rust_files};

/// Every test of the workspace that carries a number.
pub(super) fn marks() -> Tests {
    let found = rust_files().iter().flat_map(|File { path, text, .. }| marks_in(path, text));
    found.fold(Tests::new(), |mut tests, (trap, test)| {
        tests.entry(trap).or_default().insert(test);
        tests
    })
}

/// The tests of a file, each with a number that it carries.
fn marks_in(path: &str, text: &str) -> Vec<(u32, String)> {
    let mut marks = Vec::new();
    let mut lines = text.lines().map(str::trim).zip(1..);
    while let Some((line, number)) = lines.next() {
        let Some(traps) = line.strip_prefix("/// Trap") else { continue };
        let place = format!("{path}:{number}: {line}");
        let traps = traps_of(traps).unwrap_or_else(|| panic!("{place}: not of the form `Trap 7.` or `Traps 7, 8.`"));
        // What else stands above the function: more documentation, and attributes, among them that of a test.
        let above: Vec<&str> =
            lines.by_ref().map(|(line, _)| line).take_while(|line| !line.starts_with("fn ")).collect();
        let below = text.lines().nth(number + above.len()).unwrap_or_default().trim();
        let is_above = |line: &&str| line.starts_with("///") || line.starts_with("//") || line.starts_with("#[");
        assert!(above.iter().all(is_above) && above.contains(&"#[test]"), "{place}: it stands above no test");
        let test = below.trim_start_matches("fn ").split('(').next().unwrap_or_default().to_string();
        marks.extend(traps.into_iter().map(|trap| (trap, test.clone())));
    }
    marks
}

/// The numbers in ` 7.` or `s 7, 8.`
fn traps_of(text: &str) -> Option<Vec<u32>> {
    let (several, numbers) = match text.strip_prefix('s') {
        Some(numbers) => (true, numbers),
        None => (false, text),
    };
    let numbers = numbers.strip_prefix(' ')?.strip_suffix('.')?;
    let traps: Vec<u32> = numbers.split(", ").map(|number| number.parse().ok()).collect::<Option<_>>()?;
    (several == (traps.len() > 1)).then_some(traps)
}

#[test]
fn numbers_are_found_above_tests_only() {
    let mark = |trap: u32, test: &str| (trap, test.to_string());
    let source = |documentation: &str| {
        format!("    {documentation}\n    #[test]\n    fn one() {{\n    }}\n\n#[test]\nfn two() {{}}\n")
    };
    assert_eq!(marks_in("a.rs", &source("/// Trap 7.")), [mark(7, "one")]);
    assert_eq!(marks_in("a.rs", &source("/// Traps 7, 91.\n    /// More.")), [mark(7, "one"), mark(91, "one")]);
    assert_eq!(marks_in("a.rs", &source("/// A trapper.")), []);
    assert_eq!([" 7", " 7, 8.", "s 7.", "s 7 and 8.", ": 7."].map(traps_of), [const { None }; 5]);
}

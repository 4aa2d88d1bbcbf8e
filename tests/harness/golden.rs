//! Expected outputs, in `tests/golden`. With `UPDATE_EXPECT=1` they are written instead of compared.

use std::path::Path;

use crate::program;

/// Compares a text with the file of this name.
///
/// # Panics
/// If they differ.
#[track_caller]
pub fn check(name: &str, text: &str) {
    let path = program::repository().join("tests/golden").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, text).expect("an expectation can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == text,
        "{name} differs (UPDATE_EXPECT=1 rewrites it)\n--- expected:\n{expected}\n--- found:\n{text}\n---"
    );
}

/// A text without what differs from run to run: the places of the scratch folder and of the build, times, run ids.
pub fn normal(text: &str, scratch: &Path) -> String {
    let text = text.replace(&scratch.display().to_string(), "SCRATCH");
    let text = text.replace(&program::folder().display().to_string(), "BUILD");
    text.lines().map(|line| without_time(line) + "\n").collect()
}

/// Log lines begin with a time: `2026-01-31 12:00:00 warn: …`.
fn without_time(line: &str) -> String {
    let shape: String =
        line.chars().take(20).map(|letter| if letter.is_ascii_digit() { '9' } else { letter }).collect();
    if shape == "9999-99-99 99:99:99 " { format!("TIME {}", &line[20..]) } else { line.to_string() }
}

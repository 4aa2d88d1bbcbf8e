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

/// A text without what differs from machine to machine: the places of the scratch folder and of the build.
pub fn normal(text: &str, scratch: &Path) -> String {
    let text = text.replace(&scratch.display().to_string(), "SCRATCH");
    text.replace(&program::folder().display().to_string(), "BUILD")
}

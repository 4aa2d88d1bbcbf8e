//! The source of the workspace as the rules see it: files, and their code without comments and texts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use transship_tests::program::repository;

/// A Rust file.
pub(crate) struct File {
    /// Its path from the root of the repository.
    pub path: String,
    pub text: String,
    /// The text with blanks in the place of comments, strings and characters.
    pub code: String,
}

impl File {
    /// The modules that follow `crate::` in its code.
    pub(super) fn modules_of_this_crate(&self) -> BTreeSet<String> {
        let mut modules = BTreeSet::new();
        for (at, _) in self.code.match_indices("crate::") {
            // Not `$crate::`, nor the end of another word.
            if self.code[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$') {
                continue;
            }
            names_in_tree(&self.code[at + "crate::".len()..], &mut modules);
        }
        modules
    }
}

/// The first names of a path or of the branches of a `{…}`.
fn names_in_tree(tree: &str, names: &mut BTreeSet<String>) {
    let name = |text: &str| -> String {
        text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    let Some(branches) = tree.strip_prefix('{') else {
        names.insert(name(tree));
        return;
    };
    let (mut depth, mut at_start) = (0, true);
    for (at, letter) in branches.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => return,
            '}' => depth -= 1,
            ',' if depth == 0 => at_start = true,
            letter if at_start && depth == 0 && !letter.is_whitespace() => {
                names.insert(name(&branches[at..]));
                at_start = false;
            }
            _ => {}
        }
    }
}

/// Every Rust file of the workspace.
pub(crate) fn rust_files() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Vec::new();
        for room in ["plugin-api", "engine", "plugins", "tests"] {
            collect(&repository().join(room), &mut files);
        }
        assert!(files.len() > 50, "the source is not there");
        files
    })
}

fn collect(folder: &Path, files: &mut Vec<File>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.strip_prefix(repository()).unwrap().to_string_lossy().into_owned();
            files.push(File { path: name, code: code(&text), text });
        }
    }
}

/// The manifests of all crates.
pub(super) fn manifests() -> Vec<PathBuf> {
    let rooms = ["plugin-api", "engine", "tests", "tests/faulty"].map(|room| repository().join(room));
    rooms.into_iter().chain(folders("plugins")).map(|folder| folder.join("Cargo.toml")).collect()
}

/// The folders in a room.
pub(super) fn folders(room: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join(room)).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.join("Cargo.toml").is_file()).collect()
}

/// The code of a Rust text: comments, strings and characters are blanked, lines stay where they are.
pub(super) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| string(rest, &code)).or_else(|| character(rest));
        match skipped {
            Some(length) => {
                code.extend(rest[..length].chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
                rest = &rest[length..];
            }
            None => {
                code.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    code
}

/// How long the comment is that the text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let mut depth = 0;
    let mut at = 0;
    while text.starts_with("/*") && at < text.len() {
        let here = &text[at..];
        let step = if here.starts_with("/*") {
            depth += 1;
            2
        } else if here.starts_with("*/") {
            depth -= 1;
            2
        } else {
            here.chars().next().map_or(1, char::len_utf8)
        };
        at += step;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// How long the string is that the text begins with, its prefix included; `before` is the code up to there.
fn string(text: &str, before: &str) -> Option<usize> {
    let is_word = before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let prefix = text
        .find(|letter: char| !['b', 'c', 'r'].contains(&letter))
        .filter(|length| *length <= 2 && !(is_word && *length > 0))?;
    let (letters, rest) = text.split_at(prefix);
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let rest = rest[hashes..].strip_prefix('"')?;
    let begin = prefix + hashes + 1;
    if letters.contains('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(begin + rest.find(&end)? + end.len());
    }
    if hashes > 0 {
        return None;
    }
    let mut escaped = false;
    for (at, letter) in rest.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(begin + at + 1),
            _ => {}
        }
    }
    None
}

/// How long the character is that the text begins with; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\'')?;
    if rest.starts_with('\\') {
        let escape = rest.char_indices().skip(2).find(|(_, letter)| *letter == '\'')?;
        return Some(1 + escape.0 + 1);
    }
    let letter = rest.chars().next()?;
    rest[letter.len_utf8()..].starts_with('\'').then(|| 1 + letter.len_utf8() + 1)
}

#[test]
fn comments_texts_and_characters_are_no_code() {
    let cases = [
        ("a // b\nc", "a     \nc"),
        ("a /* b /* c */ d */ e", "a                   e"),
        ("x(\"un\\\"safe\") y", "x(          ) y"),
        ("r#\"a \" b\"# z", "           z"),
        ("b\"x\" br\"y\" for", "           for"),
        ("'\"' '\\'' 'a 'static", "         'a 'static"),
        ("number\"x\"", "number   "),
        ("'\\u{7f}' u", "         u"),
    ];
    for (text, expected) in cases {
        assert_eq!(code(text).trim_end(), expected.trim_end(), "{text}");
    }
}

#[test]
fn imports_are_found_however_they_are_written() {
    let text = "use crate::{a::{b, c}, d, e::f};\nfn x() { crate::g::h(); $crate::no::no() }\nuse crate::i;";
    let file = File { path: String::new(), text: text.into(), code: code(text) };
    assert_eq!(file.modules_of_this_crate().into_iter().collect::<Vec<_>>(), ["a", "d", "e", "g", "i"]);
}

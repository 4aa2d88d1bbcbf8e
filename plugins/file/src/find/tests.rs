//! Tests of finding files: literal paths, directories, wildcards.

use super::*;

fn matches_text(pattern: &str, text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    matches(&Token::parse(pattern).unwrap(), &characters)
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
    assert!(Token::parse("f[ab").is_err());
}

struct Tree {
    root: tempfile::TempDir,
}

impl Tree {
    fn with(files: &[&str]) -> Tree {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
        }
        Tree { root }
    }

    fn find(&self, patterns: &[&str]) -> Result<Vec<String>> {
        let root = self.root.path().to_str().unwrap();
        let paths: Vec<String> = patterns.iter().map(|pattern| format!("{root}/{pattern}")).collect();
        Ok(files(&paths)?.into_iter().map(|file| file.path[root.len() + 1..].to_owned()).collect())
    }
}

/// Trap 78.
#[test]
fn a_directory_stands_for_all_files_below_it_in_order() {
    let tree = Tree::with(&["d/b.csv", "d/a.csv", "d/sub/c.csv", "d/.hidden", "other.csv"]);
    assert_eq!(tree.find(&["d"]).unwrap(), ["d/.hidden", "d/a.csv", "d/b.csv", "d/sub/c.csv"]);
}

#[test]
fn a_file_named_twice_is_read_once() {
    let tree = Tree::with(&["d/a.csv", "d/b.csv"]);
    assert_eq!(tree.find(&["d/b.csv", "d/*.csv"]).unwrap(), ["d/b.csv", "d/a.csv"]);
}

#[test]
fn a_bracket_in_a_real_name_is_no_wildcard() {
    let tree = Tree::with(&["a[1].csv", "a1.csv"]);
    assert_eq!(tree.find(&["a[1].csv"]).unwrap(), ["a[1].csv"]);
    assert_eq!(tree.find(&["a[12].csv"]).unwrap(), ["a1.csv"]);
}

#[test]
fn nothing_found_is_an_error_that_names_the_path() {
    let tree = Tree::with(&["a.csv"]);
    for pattern in ["*.txt", "none.csv", "none/*.csv"] {
        let error = tree.find(&[pattern]).unwrap_err();
        assert_eq!(error.kind(), transship_plugin_api::Kind::Config);
        assert!(error.message().contains(pattern.split('/').next().unwrap()), "{error}");
    }
}

#[test]
fn unfinished_files_of_a_writer_are_not_found() {
    let tree = Tree::with(&["d/a.csv", "d/.transship-1-2.tmp"]);
    assert_eq!(tree.find(&["d"]).unwrap(), ["d/a.csv"]);
}

#[cfg(unix)]
#[test]
fn a_link_back_up_ends_the_walk() {
    let tree = Tree::with(&["d/a.csv"]);
    std::os::unix::fs::symlink(tree.root.path().join("d"), tree.root.path().join("d/loop")).unwrap();
    assert_eq!(tree.find(&["d"]).unwrap(), ["d/a.csv"]);
}

#[test]
fn relative_wildcards_work() {
    // Tests run in the folder of the package.
    let found = files(&["src/find/t*s.rs".to_owned()]).unwrap();
    assert_eq!(found[0].path, "src/find/tests.rs");
    let found = files(&["Cargo.t?ml".to_owned()]).unwrap();
    assert_eq!(found[0].path, "Cargo.toml");
}

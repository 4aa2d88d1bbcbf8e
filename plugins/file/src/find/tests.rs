//! Tests of finding files: literal paths, directories, wildcards.

use std::fs;
use std::sync::Arc;

use transship_plugin_api::Result;

use super::*;

/// All files of these paths.
fn files(paths: &[String]) -> Result<Vec<FoundFile>> {
    let places = Arc::new(Places::of(paths)?);
    let mut walk = Walk::new(places);
    let mut found = Vec::new();
    while let Some(file) = walk.find_next()? {
        found.push(file);
    }
    Ok(found)
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

/// Trap 78.
#[test]
fn files_are_found_in_the_order_of_their_whole_paths() {
    let tree = Tree::with(&["d/b/x.csv", "d/b.csv", "d/b-1.csv", "d/a/z/y.csv", "d/c.csv", "d/a/b.csv"]);
    let found = tree.find(&["d"]).unwrap();
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(found.len(), 6);
    assert_eq!(found, sorted);
}

#[test]
fn a_file_is_read_once_whichever_entries_find_it() {
    let tree = Tree::with(&["d/a.csv", "d/b.txt", "d/sub/c.csv", "e/a.csv"]);
    let once = ["d/a.csv", "d/b.txt", "d/sub/c.csv"];
    assert_eq!(tree.find(&["d", "d"]).unwrap(), once);
    assert_eq!(tree.find(&["d/", "d/a.csv", "d/*.txt"]).unwrap(), once);
    assert_eq!(tree.find(&["d/*.csv", "d"]).unwrap(), ["d/a.csv", "d/sub/c.csv", "d/b.txt"]);
    assert_eq!(tree.find(&["d/sub", "*.csv"]).unwrap(), ["d/sub/c.csv", "d/a.csv", "e/a.csv"]);
    assert_eq!(tree.find(&["d/a.csv", "d/a.csv"]).unwrap(), ["d/a.csv"]);
}

#[test]
fn a_path_that_no_folder_would_spell_like_that_is_read_as_it_stands() {
    let tree = Tree::with(&["d/a.csv", "d/.transship-1-2.tmp", "e/b.csv"]);
    assert_eq!(tree.find(&["d", "d/../e/b.csv"]).unwrap(), ["d/a.csv", "d/../e/b.csv"]);
    assert_eq!(tree.find(&["d", "d/.transship-1-2.tmp"]).unwrap(), ["d/a.csv", "d/.transship-1-2.tmp"]);
}

#[cfg(unix)]
#[test]
fn folders_that_cannot_match_are_not_looked_into() {
    let tree = Tree::with(&["in/2025/a.csv", "in/2026/b.csv", "in/2026/sub/c.csv"]);
    // Looking at a link that leads nowhere would be an error.
    std::os::unix::fs::symlink("nowhere", tree.root.path().join("in/2025/broken")).unwrap();
    assert_eq!(tree.find(&["in/2026/?.csv"]).unwrap(), ["in/2026/b.csv"]);
    assert_eq!(tree.find(&["in/???6/*"]).unwrap(), ["in/2026/b.csv", "in/2026/sub/c.csv"]);
    assert!(tree.find(&["in"]).unwrap_err().message().contains("cannot find"));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_is_followed() {
    let tree = Tree::with(&["d/a.csv", "other/b.csv", "other/sub/c.csv"]);
    std::os::unix::fs::symlink("../other", tree.root.path().join("d/link")).unwrap();
    std::os::unix::fs::symlink("..", tree.root.path().join("other/sub/up")).unwrap();
    assert_eq!(tree.find(&["d"]).unwrap(), ["d/a.csv", "d/link/b.csv", "d/link/sub/c.csv"]);
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

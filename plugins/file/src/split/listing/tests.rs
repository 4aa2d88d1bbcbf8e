//! Tests of listing by several walkers at once.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;

use proptest::prelude::*;
use serde_json::json;
use transship_plugin_api::{DirtyRecord, Host, Kind};

use super::*;

struct Nobody;

impl Host for Nobody {
    fn log(&self, _: log::Level, _: &str, _: &str) {}

    fn dirty(&self, _: &DirtyRecord<'_>) -> Result<()> {
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn listed(paths: &[String], more: serde_json::Value) -> Result<Arc<Listed>> {
    let mut parameter = json!({"path": paths});
    parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let config = Arc::new(ReaderConfig::new(&parameter)?);
    let places = Arc::new(Places::of(paths)?);
    Ok(Listed::new(config, Arc::new(Nobody), places.clone(), Walk::new(places)))
}

/// What so many walkers tell, each until it says that there is no more or fails.
fn walk(listed: &Arc<Listed>, walkers: usize) -> (Vec<Split>, Vec<Error>) {
    let told = Mutex::new((Vec::new(), Vec::new()));
    let start = Barrier::new(walkers);
    std::thread::scope(|scope| {
        for _ in 0..walkers {
            scope.spawn(|| {
                let mut walker = listed.walker();
                start.wait();
                loop {
                    match walker.splits(&SplitRequest { channels: 1, max: 3 }) {
                        Ok(splits) if splits.is_empty() => break,
                        Ok(splits) => told.lock().unwrap().0.extend(splits),
                        Err(error) => {
                            told.lock().unwrap().1.push(error);
                            break;
                        }
                    }
                }
            });
        }
    });
    told.into_inner().unwrap()
}

fn paths_of(splits: &[Split]) -> Vec<String> {
    let pieces = splits.iter().flat_map(|split| detail::pieces(split).unwrap());
    pieces.map(|piece| piece.path).collect()
}

fn root() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    (folder, path)
}

fn put(root: &str, path: &str, bytes: usize) {
    let path = format!("{root}/{path}");
    fs::create_dir_all(&path[..path.rfind('/').unwrap()]).unwrap();
    fs::write(path, "x\n".repeat(bytes / 2)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// A tree is given by the depths and names of its files.
    #[test]
    fn walkers_find_every_file_once_and_the_splits_of_a_single_one(
        tree in proptest::collection::btree_set("([ab.]/){0,3}[a-d]{1,2}[.]csv", 1..90),
        empty in proptest::collection::btree_set("[ab]/[ab]/e{1,9}", 0..5),
        walkers in 1..=4usize,
        whole in any::<bool>(),
    ) {
        let (_folder, root) = root();
        let tree: BTreeSet<String> = tree.into_iter().map(|path| path.replace("./", "dots.d/")).collect();
        for path in &tree {
            put(&root, path, 10);
        }
        for path in &empty {
            fs::create_dir_all(format!("{root}/{path}")).unwrap();
        }
        let paths = if whole { vec![root.clone()] } else { vec![format!("{root}/*b*.csv"), root.clone()] };
        let alone = walk(&listed(&paths, json!({})).unwrap(), 1).0;
        let (mut splits, errors) = walk(&listed(&paths, json!({})).unwrap(), walkers);
        prop_assert!(errors.is_empty());
        let mut expected: Vec<String> = tree.iter().map(|path| format!("{root}/{path}")).collect();
        let mut found = paths_of(&splits);
        if whole {
            prop_assert_eq!(&paths_of(&alone), &expected);
        }
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
        let order = |split: &Split| alone.iter().position(|other| other == split);
        splits.sort_by_key(order);
        prop_assert_eq!(splits, alone);
    }
}

#[test]
fn a_split_goes_over_several_folders() {
    let (_folder, root) = root();
    for number in 0..2_100 {
        put(&root, &format!("{:03}/{number:04}.csv", number / 7), 100);
    }
    let (splits, _) = walk(&listed(std::slice::from_ref(&root), json!({})).unwrap(), 3);
    let mut told: Vec<_> = splits.iter().map(|split| (split.label.clone(), split.bytes.unwrap())).collect();
    told.sort();
    let label = |count: &str, first: &str| format!("{count} files from {root}/{first}.csv");
    assert_eq!(
        told,
        [
            (label("1,000", "000/0000"), 100_000),
            (label("1,000", "142/1000"), 100_000),
            (label("100", "285/2000"), 10_000)
        ]
    );
    let largest = splits.iter().map(|split| split.detail.to_string().len()).max().unwrap();
    // Of a thousand paths that begin with the same folders not much more than their names is in a split.
    assert!(largest < 143 * (root.len() + 15) + 1_000 * 12, "{largest}");
}

#[test]
fn a_folder_that_cannot_be_read_is_told_by_one_walker_alone() {
    for walkers in 1..=4 {
        let (_folder, root) = root();
        for number in 0..50 {
            put(&root, &format!("{number:02}/a.csv"), 10);
        }
        fs::remove_dir_all(format!("{root}/25")).unwrap();
        std::os::unix::fs::symlink("nowhere", format!("{root}/25")).unwrap();
        let (_, errors) = walk(&listed(std::slice::from_ref(&root), json!({})).unwrap(), walkers);
        assert_eq!(errors.len(), 1);
        assert!(errors[0].message().contains(&format!("{root}/25")), "{}", errors[0]);
    }
}

#[test]
fn nothing_found_is_an_error_that_names_the_path() {
    let (_folder, root) = root();
    fs::create_dir(format!("{root}/empty")).unwrap();
    put(&root, "a.csv", 2);
    for path in ["*.txt", "empty", "empty/*.csv"] {
        let (splits, errors) = walk(&listed(&[format!("{root}/{path}")], json!({})).unwrap(), 2);
        assert_eq!((splits.len(), errors.len()), (0, 1));
        assert_eq!(errors[0].kind(), Kind::Config);
        assert!(errors[0].message().contains(path), "{}", errors[0]);
    }
    for path in ["none.csv", "none/*.csv"] {
        let problem = match listed(&[format!("{root}/{path}")], json!({})) {
            Err(error) => error,
            Ok(listed) => walk(&listed, 2).1.remove(0),
        };
        assert_eq!(problem.kind(), Kind::Config);
        assert!(problem.message().contains("none"), "{problem}");
    }
}

/// PS-03.
#[test]
fn one_walker_cuts_a_file_and_the_others_go_on() {
    let (_folder, root) = root();
    put(&root, "a.csv", 5_000);
    for number in 0..100 {
        put(&root, &format!("b/{number:02}.csv"), 100);
    }
    let listed = listed(std::slice::from_ref(&root), json!({"splitBytes": 1_000})).unwrap();
    let (mut first, mut second) = (listed.walker(), listed.walker());
    let request = SplitRequest { channels: 2, max: 10 };
    let ranges = first.splits(&request).unwrap();
    assert_eq!(ranges[0].label, format!("{root}/a.csv, bytes 0 to 1000"));
    let packed = second.splits(&request).unwrap();
    assert_eq!(packed[0].label, format!("100 files from {root}/b/00.csv"));
    assert_eq!(second.splits(&request).unwrap(), []);
    let mut bytes = 1_000;
    while let [range] = &first.splits(&request).unwrap()[..] {
        bytes += range.bytes.unwrap();
    }
    assert_eq!(bytes, 5_000);
}

#[test]
fn folders_are_read_only_as_splits_are_asked_for() {
    let (_folder, root) = root();
    for number in 0..1_000 {
        put(&root, &format!("a/{number}.csv"), 2);
    }
    put(&root, "b/early.csv", 2);
    let listed = listed(std::slice::from_ref(&root), json!({})).unwrap();
    let mut walker = listed.walker();
    let request = SplitRequest { channels: 1, max: 1 };
    assert_eq!(walker.splits(&request).unwrap().len(), 1);
    // What is put there now is found nevertheless.
    put(&root, "b/late.csv", 2);
    let mut splits = Vec::new();
    while let [split] = &walker.splits(&request).unwrap()[..] {
        splits.push(split.clone());
    }
    assert!(paths_of(&splits).contains(&format!("{root}/b/late.csv")));
}

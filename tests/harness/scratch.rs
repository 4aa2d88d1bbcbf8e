//! A folder for one test: the program runs in it, so whatever it leaves behind can be seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Finished, Transship};
use crate::job::Job;
use crate::records;

/// The folder, and beside it one for what the program prints. Both are removed in the end.
pub struct Scratch {
    folder: TempDir,
    printed: TempDir,
    runs: AtomicU32,
}

impl Scratch {
    #[allow(clippy::new_without_default, reason = "it touches the disk")]
    pub fn new() -> Scratch {
        let make = || TempDir::with_prefix("transship-test-").expect("a temporary folder can be made");
        Scratch { folder: make(), printed: make(), runs: AtomicU32::new(0) }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in it.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder().join(name)
    }

    /// Makes a file, and the folders on its way.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("a folder can be made");
        std::fs::write(&path, content).expect("a file can be written");
        path
    }

    /// Makes a job file.
    pub fn job(&self, name: &str, job: &Job) -> PathBuf {
        self.write(name, format!("{:#}", job.tree()))
    }

    /// The text of a file.
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; there are {:?}", path.display(), self.files()))
    }

    /// The lines of a file; none if there is no such file.
    pub fn lines(&self, name: impl AsRef<Path>) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(String::from).collect()
    }

    /// Every file in it, with its path from here, in order.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(self.folder(), self.folder(), &mut found);
        found.sort();
        found
    }

    /// Every file with its content.
    pub fn snapshot(&self) -> BTreeMap<String, Vec<u8>> {
        let content = |name: &String| std::fs::read(self.path(name)).unwrap_or_default();
        self.files().into_iter().map(|name| (name.clone(), content(&name))).collect()
    }

    /// The records in the one file of dirty records; none if there is no such file.
    pub fn dirty_records(&self) -> Vec<Value> {
        let files: Vec<String> = self.files().into_iter().filter(|name| name.ends_with(".dirty.jsonl")).collect();
        assert!(files.len() <= 1, "several files of dirty records: {files:?}");
        files.first().map(|name| records::json_lines(&self.read(name))).unwrap_or_default()
    }

    /// The program with these arguments, to be run in this folder.
    pub fn transship<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Transship {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let printed = |what: &str| self.printed.path().join(format!("{number}.{what}"));
        Transship::new(arguments, self.folder(), printed("stdout"), printed("stderr"))
    }

    /// Runs a job with `--json`.
    pub fn run(&self, job: &Job) -> Finished {
        self.job("job.json", job);
        self.transship(["run", "job.json", "--json"]).run()
    }
}

fn collect(folder: &Path, root: &Path, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, root, found);
        } else {
            let name = path.strip_prefix(root).expect("it was found in there");
            found.push(name.to_string_lossy().into_owned());
        }
    }
}

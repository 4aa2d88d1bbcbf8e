//! The job files in `tests/cases`: what people write for DataX, each with one thing that matters. Each is run as it stands, with its
//! fixtures, and again with the changes that show where the line is.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value as Stored;
use transship_tests::program::repository;
use transship_tests::{Finished, Scratch, Transship};

mod dialect;
mod files;
mod relational;
mod settings;
mod transformers;

/// A case in a folder of its own, with what it reads.
struct Case {
    scratch: Scratch,
    /// The name of its file.
    name: String,
    /// What the file holds; not always UTF-8.
    file: Vec<u8>,
}

/// The case whose file has this name, without the ending.
fn case(name: &str) -> Case {
    let cases = repository().join("tests/cases");
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path("ts-cases/out")).unwrap();
    copy(&cases.join("in"), &scratch.path("ts-cases/in"));
    for (database, tables) in [("harbour.db", "sqlite.sql"), ("ts_cases.db", "berths.sql")] {
        let tables = std::fs::read_to_string(cases.join(tables)).unwrap();
        Connection::open(scratch.path("ts-cases/in").join(database)).unwrap().execute_batch(&tables).unwrap();
    }
    let name = format!("{name}.json");
    let file = std::fs::read(cases.join(&name)).unwrap();
    Case { scratch, name, file }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Case {
    /// With this text of the file replaced, wherever it stands.
    #[track_caller]
    fn with(mut self, old: &str, new: &str) -> Case {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let mut changed = Vec::new();
        let mut rest = self.file.as_slice();
        while let Some(at) = rest.windows(old.len()).position(|window| window == old) {
            changed.extend_from_slice(&rest[..at]);
            changed.extend_from_slice(new);
            rest = &rest[at + old.len()..];
        }
        assert!(!changed.is_empty(), "{} has no `{}`", self.name, String::from_utf8_lossy(old));
        changed.extend_from_slice(rest);
        self.file = changed;
        self
    }

    /// What the program does with it: `run`, `check`, `plan`.
    fn told(&self, command: &str, options: &[&str]) -> Finished {
        self.transship(command, options).run()
    }

    fn transship(&self, command: &str, options: &[&str]) -> Transship {
        self.scratch.write(&self.name, &self.file);
        self.scratch.transship([command, self.name.as_str()].iter().chain(options))
    }

    /// Runs it.
    fn run(&self) -> Finished {
        self.told("run", &[])
    }

    /// Runs it well and without a warning.
    #[track_caller]
    fn runs_quietly(&self) -> Finished {
        let run = self.run().succeeds();
        run.does_not_say(["warning: ", " warn: "]);
        run
    }

    /// Where a warning or an error about this line and column begins.
    fn at(&self, line: u32, column: u32) -> String {
        format!("{}:{line}:{column}: ", self.name)
    }

    /// The rows that a query yields in a database of the case, values with bars between them.
    fn rows(&self, database: &str, sql: &str) -> Vec<String> {
        let database = Connection::open(self.scratch.path("ts-cases/in").join(database)).unwrap();
        let mut query = database.prepare(sql).unwrap();
        let columns = query.column_count();
        let row = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
            let values = (0..columns).map(|column| Ok(shown(row.get(column)?)));
            Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
        };
        query.query_map([], row).unwrap().map(Result::unwrap).collect()
    }
}

fn shown(value: Stored) -> String {
    match value {
        Stored::Null => "null".into(),
        Stored::Integer(number) => number.to_string(),
        Stored::Real(number) => number.to_string(),
        Stored::Text(text) => text,
        Stored::Blob(bytes) => format!("{bytes:?}"),
    }
}

/// What a run has printed, in order of the text: tasks run side by side.
fn sorted(run: &Finished) -> Vec<&str> {
    let mut lines: Vec<&str> = run.stdout.lines().collect();
    lines.sort_unstable();
    lines
}

/// The warnings of a run, without what they begin with.
fn warnings(run: &Finished) -> Vec<&str> {
    run.stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).collect()
}

/// The errors of a run, each with the lines that belong to it, without what they begin with.
fn errors(run: &Finished) -> Vec<&str> {
    run.stderr.lines().filter_map(|line| line.strip_prefix("error: ")).collect()
}

#[test]
fn every_case_has_a_test() {
    let tests = ["dialect", "files", "relational", "settings", "transformers"]
        .map(|module| std::fs::read_to_string(repository().join(format!("tests/e2e/cases/{module}.rs"))).unwrap())
        .concat();
    for entry in std::fs::read_dir(repository().join("tests/cases")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(tests.contains(&format!("case(\"{name}\")")), "no test runs {name}");
        }
    }
}

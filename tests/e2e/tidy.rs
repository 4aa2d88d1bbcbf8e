//! What holds for the source as a whole: floors, edges between crates, where unsafe and printing may be, and what no file may
//! have. A rule that no compiler checks is checked here, or it is none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use transship_tests::program::repository;
use transship_tests::{Scratch, plugins};

pub(crate) mod source;
use source::{File, rust_files};

/// Files of more lines than this have a reason.
const LONG: usize = 500;
const LONG_FILES: [(&str, &str); 0] = [];

/// Every Rust file for which something does not hold, with the line.
fn lines_with<'a>(files: impl IntoIterator<Item = &'a File>, holds: impl Fn(&str) -> bool) -> Vec<String> {
    let found = |file: &'a File| {
        let lines = file.code.lines().enumerate().filter(|(_, line)| holds(line));
        lines.map(|(number, line)| format!("{}:{}: {}", file.path, number + 1, line.trim())).collect::<Vec<_>>()
    };
    files.into_iter().flat_map(found).collect()
}

#[track_caller]
fn none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

fn within<'a>(files: &'a [File], folder: &'a str) -> impl Iterator<Item = &'a File> {
    files.iter().filter(move |file| file.path.starts_with(folder))
}

/// The floors of the engine, from its list of modules: groups, the highest first.
fn floors() -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(repository().join("engine/src/lib.rs")).unwrap();
    let (mut floors, mut floor) = (BTreeMap::new(), usize::MAX);
    for line in text.lines() {
        match line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
            Some(module) => {
                floors.insert(module.to_string(), floor);
            }
            None if line.is_empty() => floor -= 1,
            None => {}
        }
    }
    floors
}

#[test]
fn a_module_of_the_engine_imports_only_from_lower_floors() {
    let floors = floors();
    assert!(floors.len() > 15 && floors["cli"] > floors["task"] && floors["task"] > floors["error"], "{floors:?}");
    let mut wrong = Vec::new();
    for file in within(rust_files(), "engine/src/") {
        let module = file.path["engine/src/".len()..].split(['/', '.']).next().unwrap_or_default();
        let Some(own) = floors.get(module) else {
            assert!(["lib", "main"].contains(&module), "{} is not in the list of modules", file.path);
            continue;
        };
        for imported in file.modules_of_this_crate() {
            match floors.get(&imported) {
                Some(_) if imported == module => {}
                Some(floor) if floor < own => {}
                Some(_) => wrong.push(format!("{} imports {imported}", file.path)),
                None => wrong.push(format!("{} imports {imported}, which is no module", file.path)),
            }
        }
    }
    none("an import goes up or sideways", wrong);
}

/// The crates of this workspace that each of them names in its manifest.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let mut edges = BTreeMap::new();
    for manifest in source::manifests() {
        let text = std::fs::read_to_string(&manifest).unwrap();
        let name = text.lines().find_map(|line| line.strip_prefix("name = ")).unwrap().trim_matches('"').to_string();
        let mut section = "";
        let mut named = BTreeSet::new();
        for line in text.lines() {
            section = if line.starts_with('[') { line } else { section };
            let key = line.split(['.', '=', ' ']).next().unwrap_or_default().trim_matches('"');
            if section.contains("dependencies") && key.starts_with("transship") {
                named.insert(key.to_string());
            }
        }
        edges.insert(name, named);
    }
    edges
}

#[test]
fn crates_know_only_what_lies_below_them() {
    let edges = edges();
    assert!(edges.len() >= 7, "{edges:?}");
    for (name, named) in edges {
        let allowed: &[&str] = match name.as_str() {
            "transship-plugin-api" | "transship-tests" => &[],
            "transship-engine" | "transship-plugin-faulty" => &["transship-plugin-api"],
            // The one library that plugins share.
            plugin if plugin.starts_with("transship-") => &["transship-plugin-api", "transship-sql"],
            other => panic!("a crate of the name {other}"),
        };
        assert!(named.iter().all(|crate_name| allowed.contains(&crate_name.as_str())), "{name} depends on {named:?}");
    }
}

#[test]
fn a_plugin_is_a_dynamic_library_and_nobody_depends_on_it() {
    for manifest in source::manifests().iter().filter(|path| path.starts_with(repository().join("plugins"))) {
        let text = std::fs::read_to_string(manifest).unwrap();
        assert!(
            text.contains("crate-type = [\"cdylib\"]") || text.contains("name = \"transship-sql\""),
            "{}",
            manifest.display()
        );
    }
    for (name, named) in edges() {
        assert!(
            named
                .iter()
                .all(|crate_name| !crate_name.starts_with("transship-plugin-") || crate_name == "transship-plugin-api"),
            "{name}"
        );
    }
}

#[test]
fn unsafe_is_in_one_folder() {
    let files = rust_files();
    let elsewhere = files
        .iter()
        .filter(|file| !file.path.starts_with("plugin-api/src/ffi/") && file.path != "plugin-api/src/macros.rs");
    none("unsafe outside of plugin-api/src/ffi", lines_with(elsewhere, |line| has_word(line, "unsafe")));
    for manifest in source::manifests().iter().filter(|path| !path.starts_with(repository().join("plugin-api"))) {
        let text = std::fs::read_to_string(manifest).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{} does not share the lints", manifest.display());
    }
}

#[test]
fn the_first_line_of_every_file_says_what_it_is_responsible_for() {
    // One word says nothing.
    let says = |line: &str| line.strip_prefix("//! ").is_some_and(|rest| rest.contains(' '));
    let without = |file: &&File| !file.text.lines().next().is_some_and(says);
    none("no `//!` on the first line", rust_files().iter().filter(without).map(|file| file.path.clone()).collect());
}

#[test]
fn nothing_sleeps() {
    none("a sleep", lines_with(rust_files(), |line| line.contains("thread::sleep") || has_word(line, "sleep_ms")));
}

#[test]
fn nothing_is_left_to_be_done() {
    let left = |line: &str| ["todo!", "unimplemented!", "dbg!"].iter().any(|name| line.contains(name));
    none("an unfinished piece", lines_with(rust_files(), left));
    let marked = |file: &&File| {
        file.text.lines().any(|line| has_word(line, concat!("TO", "DO")) || has_word(line, concat!("FIX", "ME")))
    };
    none("a note to oneself", rust_files().iter().filter(marked).map(|file| file.path.clone()).collect());
}

#[test]
fn no_test_is_left_out() {
    none(
        "a test that does not run",
        lines_with(rust_files(), |line| line.contains("#[ignore") || line.contains("#[should_panic")),
    );
}

#[test]
fn only_the_command_line_prints() {
    let files = rust_files();
    let macros = |line: &str| ["println!", "print!", "eprintln!", "eprint!"].iter().any(|name| line.contains(name));
    let may_print = |file: &&File| !file.path.starts_with("engine/src/cli/") && !file.path.contains("/benches/");
    none("a print", lines_with(files.iter().filter(may_print), macros));
    let streams = |line: &str| line.contains("stdout()") || line.contains("stderr()");
    none("a standard stream", lines_with(within(files, "engine/src/").filter(may_print), streams));
}

#[test]
fn only_the_command_line_reads_the_environment() {
    let files = rust_files();
    let elsewhere = within(files, "engine/src/").filter(|file| !file.path.starts_with("engine/src/cli/"));
    none("a look at the environment", lines_with(elsewhere, |line| line.contains("env::var")));
}

#[test]
fn long_files_have_a_reason() {
    let long: Vec<(String, usize)> = rust_files()
        .iter()
        .map(|file| (file.path.clone(), file.text.lines().count()))
        .filter(|(_, lines)| *lines > LONG)
        .collect();
    let listed = |path: &str| LONG_FILES.iter().any(|(known, _)| *known == path);
    none(
        "a file past 500 lines",
        long.iter().filter(|(path, _)| !listed(path)).map(|(path, lines)| format!("{path}: {lines}")).collect(),
    );
    for (path, reason) in LONG_FILES {
        assert!(long.iter().any(|(found, _)| found == path), "{path} is not long any more ({reason})");
    }
}

#[test]
fn no_file_is_a_drawer() {
    let drawers = ["util", "utils", "common", "helper", "helpers", "manager", "misc"];
    let is_drawer = |file: &&File| file.path.split(['/', '.', '_']).any(|part| drawers.contains(&part));
    none("a drawer", rust_files().iter().filter(is_drawer).map(|file| file.path.clone()).collect());
}

#[test]
fn the_files_of_every_plugin_have_the_same_names() {
    for folder in source::folders("plugins").into_iter().filter(|folder| !folder.ends_with("sql")) {
        for name in
            ["README.md", "Cargo.toml", "src/lib.rs", "src/config.rs", "src/types.rs", "src/reader.rs", "src/writer.rs"]
        {
            assert!(folder.join(name).is_file(), "{} has no {name}", folder.display());
        }
    }
}

#[test]
fn every_file_of_these_tests_is_a_part_of_them() {
    let main = std::fs::read_to_string(repository().join("tests/e2e/main.rs")).unwrap();
    let files = rust_files();
    for file in within(files, "tests/e2e/") {
        let name = file.path["tests/e2e/".len()..].trim_end_matches(".rs");
        if name != "main" && !name.contains('/') {
            assert!(main.contains(&format!("mod {name};")), "{} is in no list of modules", file.path);
        }
    }
    for golden in std::fs::read_dir(repository().join("tests/golden")).unwrap().flatten() {
        let name = golden.file_name().to_string_lossy().into_owned();
        let used = within(files, "tests/e2e/").any(|file| file.text.contains(&format!("\"{name}\"")));
        assert!(used, "no test looks at tests/golden/{name}");
    }
}

#[test]
fn every_example_job_can_be_planned() {
    let jobs: Vec<_> =
        std::fs::read_dir(repository().join("jobs")).unwrap().flatten().map(|entry| entry.path()).collect();
    let jobs: Vec<_> =
        jobs.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    assert!(!jobs.is_empty(), "there are no jobs");
    // The paths in these files begin at the root of the repository. The plugin in C is built into `out`, and the quick start
    // puts a database there that another job reads.
    let scratch = Scratch::new();
    std::os::unix::fs::symlink(repository().join("jobs"), scratch.path("jobs")).unwrap();
    scratch.write(
        "out/libtransship_minimal.so",
        std::fs::read(plugins::minimal().join("libtransship_minimal.so")).unwrap(),
    );
    scratch.transship(["run", "jobs/quick-start.json"]).run().succeeds();
    for job in jobs {
        let run = scratch.transship(["plan"]).arg(&job).run().succeeds();
        assert!(run.stdout.contains("  tasks, in this order ("), "{}: {run}", job.display());
        run.does_not_say(["is not known"]);
    }
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    line.match_indices(word)
        .any(|(at, _)| !is_part(line[..at].chars().next_back()) && !is_part(line[at + word.len()..].chars().next()))
}

#[test]
fn words_are_told_from_parts_of_words() {
    assert!(has_word("an unsafe block", "unsafe") && has_word("unsafe{", "unsafe"));
    assert!(!has_word("#![deny(unsafe_code)]", "unsafe") && !has_word("notunsafe", "unsafe"));
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).starts_with(repository()));
}

//! Job files that are wrong in one way each, in `tests/cases/broken`. What is told of each is in
//! `tests/golden/broken_job_files.txt`.

use std::fmt::Write;

use transship_tests::{Finished, Scratch, golden, program};

use crate::installation::Installation;

/// A scratch folder with all of them, and their names in order.
fn broken() -> (Scratch, Vec<String>) {
    let scratch = Scratch::new();
    let files = std::fs::read_dir(program::repository().join("tests/cases/broken")).unwrap();
    let mut names = Vec::new();
    for file in files.map(Result::unwrap) {
        let name = file.file_name().to_string_lossy().into_owned();
        scratch.write(&name, std::fs::read(file.path()).unwrap());
        names.push(name);
    }
    names.sort();
    (scratch, names)
}

/// What is told of some of them where there are only the plugins for files and SQLite; and the variables that they hold.
fn told(scratch: &Scratch, command: &str, names: &[String]) -> Finished {
    let names = names.iter().map(String::as_str);
    let options = ["-D", "broken={\"name\": }", "-D", "word=many"];
    let transship = scratch.transship([command].into_iter().chain(names).chain(options));
    Installation::with(&["file", "sqlite", "stream"]).run(transship.env("TRANSSHIP_TEST_WORD", "many"))
}

/// A line without what differs from run to run: the places that were looked at, and the time of a line of the log.
fn without_places(line: &str) -> String {
    let line = match line.split_once(" warn: ") {
        Some((time, rest)) if time.len() == "2026-11-30 15:15:47".len() && time.starts_with("20") => rest,
        _ => line,
    };
    match [" (looked in ", " (seen from "].iter().find_map(|what| line.find(what)) {
        Some(at) => format!("{} …", &line[..at]),
        None => line.trim_end().to_string(),
    }
}

#[test]
fn check_tells_what_is_wrong_with_each_and_where() {
    let (scratch, names) = broken();
    let mut all = String::new();
    for name in &names {
        let run = told(&scratch, "check", std::slice::from_ref(name));
        let code = run.code().unwrap_or_default();
        assert!([2, 3].contains(&code), "{name}: {run}");
        assert!(run.stderr.contains(&format!("error: {name}:")), "the place is not told: {run}");
        let lines: Vec<String> = run.stderr.lines().chain(run.stdout.lines()).map(without_places).collect();
        writeln!(all, "── {name} ends with {code}\n{}\n", lines.join("\n")).unwrap();
    }
    assert_eq!(scratch.files(), names, "something was made");
    golden::check("broken_job_files.txt", &all);
}

/// The errors of a run, each with the lines that belong to it, in order of their text: `run` tells of broken files first.
fn errors(run: &Finished) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    let mut is_error = false;
    for line in run.stderr.lines() {
        if line.starts_with("error: ") {
            errors.push(String::new());
        }
        is_error = line.starts_with("error: ") || is_error && line.starts_with("  ");
        if let Some(error) = errors.last_mut().filter(|_| is_error) {
            error.extend([without_places(line).as_str(), "\n"]);
        }
    }
    errors.sort();
    errors
}

#[test]
fn run_and_plan_tell_the_same_as_check() {
    let (scratch, names) = broken();
    let checked = errors(&told(&scratch, "check", &names).fails_with(2));
    let run = told(&scratch, "run", &names).fails_with(2);
    assert_eq!(errors(&run), checked);
    assert_eq!(run.stdout, "", "nothing runs");
    for name in ["text-two-commas.json", "everything-at-once.json"] {
        let plan = told(&scratch, "plan", &[name.to_string()]).fails_with(2);
        assert!(errors(&plan).iter().all(|error| checked.contains(error)), "{plan}");
        assert_eq!(plan.stdout, "");
    }
    assert_eq!(scratch.files(), names, "something was made");
}

#[test]
fn no_control_character_of_a_file_reaches_the_terminal() {
    let (scratch, names) = broken();
    scratch.write("escape.json", "{\"a\": \"\u{1b}[2J\" \u{1b}[31m}");
    let all: Vec<String> = names.into_iter().chain(["escape.json".to_string()]).collect();
    let run = told(&scratch, "check", &all).fails_with(2);
    let control = run.stderr.chars().find(|letter| letter.is_control() && *letter != '\n');
    assert_eq!(control, None, "{run}");
}

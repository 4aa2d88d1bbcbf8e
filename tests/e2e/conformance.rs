//! The same checks over every plugin library of the build, whatever it is for: what it exports, what it says of itself, how it
//! takes parameters, and what its README tells. A new plugin is found by its library; no list is edited.

use std::path::{Path, PathBuf};
use std::process::Command;

use transship_tests::program::{folder, repository};
use transship_tests::{Finished, Job, Scratch, Value, faulty_reader, faulty_writer, json, plugin};

/// A reader, writer, transformer or lookup, as `transship plugins` tells of it.
#[derive(Debug, Clone)]
struct Component {
    /// The plugin's name: that of its library.
    library: String,
    role: String,
    /// Its name, then its aliases.
    names: Vec<String>,
    about: String,
}

/// The libraries beside the program.
fn libraries() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().flatten().map(|entry| entry.path());
    let is_plugin = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libtransship_") && name.ends_with(std::env::consts::DLL_SUFFIX)
    };
    let mut libraries: Vec<PathBuf> = entries.filter(is_plugin).collect();
    libraries.sort();
    assert!(libraries.len() >= 4, "{libraries:?}");
    libraries
}

fn library_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    stem.strip_prefix("libtransship_").unwrap().to_string()
}

/// Everything that `transship plugins` lists.
fn components() -> Vec<Component> {
    let scratch = Scratch::new();
    let run = scratch.transship(["plugins"]).run().succeeds();
    let mut components = Vec::new();
    let mut library = String::new();
    // What is built in comes from no library.
    for line in run.stdout.lines().take_while(|line| *line != "built in") {
        if let Some(line) = line.strip_prefix("  ") {
            let (role, rest) = line.split_once(' ').unwrap_or((line, ""));
            let mut names = Vec::new();
            let mut rest = rest.trim_start();
            // Names are separated by commas; what stands behind the last one tells what it is about.
            while let Some((name, behind)) = rest.split_once(' ') {
                names.push(name.trim_end_matches(',').to_string());
                rest = behind.trim_start();
                if !name.ends_with(',') {
                    break;
                }
            }
            components.push(Component {
                library: library.clone(),
                role: role.into(),
                names,
                about: rest.trim().into(),
            });
        } else {
            library = line.split(' ').next().unwrap_or_default().to_string();
        }
    }
    components
}

/// The parameters of a component: name, what it takes, and what is said about it.
fn parameters(component: &Component) -> Vec<(String, String)> {
    let scratch = Scratch::new();
    let run = scratch.transship(["plugins", &component.names[0]]).run().succeeds();
    let mut blocks = run.stdout.split("\n\n").filter(|block| block.starts_with(&format!("{} ", component.role)));
    let block = blocks.next().unwrap_or_else(|| panic!("{component:?} is not shown: {run}"));
    let lines = block.lines().skip(2).filter_map(|line| line.strip_prefix("  "));
    lines
        .map(|line| {
            line.split_once(' ').map(|(name, rest)| (name.to_string(), rest.trim().to_string())).unwrap_or_default()
        })
        .collect()
}

/// Checks a job in which this component has these parameters, and all else is harmless.
fn check(component: &Component, name: &str, parameter: Value) -> Finished {
    let scratch = Scratch::new();
    let this = plugin(name, parameter);
    let job = match component.role.as_str() {
        "reader" => Job::new(this, faulty_writer(json!({}))),
        "writer" => Job::new(faulty_reader(json!({})), this),
        "lookup" => {
            let asking = plugin("lookup", json!({ "lookup": this, "key": "id" }));
            Job::new(faulty_reader(json!({})), faulty_writer(json!({}))).transformer(asking)
        }
        _ => Job::new(faulty_reader(json!({})), faulty_writer(json!({}))).transformer(this),
    };
    scratch.job("job.json", &job);
    let run = scratch.transship(["check", "job.json"]).run();
    let files: Vec<String> = scratch.files().into_iter().filter(|name| name != "journal").collect();
    assert_eq!(files, ["job.json"], "{component:?} touches something while it is checked: {run}");
    run
}

fn place(component: &Component) -> String {
    match component.role.as_str() {
        "transformer" => "job.content[0].transformer[0]".into(),
        "lookup" => "job.content[0].transformer[0].parameter.lookup".into(),
        role => format!("job.content[0].{role}"),
    }
}

/// Where a plugin lives.
fn home(library: &str) -> PathBuf {
    let homes = ["plugins", "tests"].map(|room| repository().join(room).join(library));
    homes.into_iter().find(|home| home.join("Cargo.toml").is_file()).unwrap_or_else(|| panic!("{library} has no home"))
}

#[test]
fn a_library_exports_one_symbol() {
    for library in libraries() {
        let listed =
            Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(&library).output().unwrap();
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
        let text = String::from_utf8(listed.stdout).unwrap();
        let symbols: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(symbols, ["transship_plugin_init"], "{}", library.display());
    }
}

#[test]
fn a_library_has_what_its_name_says() {
    let components = components();
    for library in libraries() {
        let name = library_name(&library);
        let own: Vec<&Component> = components.iter().filter(|component| component.library == name).collect();
        assert!(!own.is_empty(), "{name} is not listed: {components:?}");
        for component in own {
            assert_eq!(home(&component.library).file_name().unwrap().to_string_lossy(), name);
        }
    }
}

/// Names that several plugins share: the URL in a job tells which of them is meant.
const SHARED: [&str; 2] = ["rdbmsreader", "rdbmswriter"];

#[test]
fn names_are_plain_words_and_no_two_components_share_one() {
    let components = components();
    for component in &components {
        assert!(["reader", "writer", "transformer", "lookup"].contains(&component.role.as_str()), "{component:?}");
        for name in &component.names {
            assert!(
                name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter)),
                "{name} of {component:?}"
            );
            let owners = components.iter().filter(|other| other.role == component.role && other.names.contains(name));
            assert!(owners.count() == 1 || SHARED.contains(&name.as_str()), "{name} of {component:?}");
        }
        assert!(component.names[0].ends_with(&component.role), "{component:?} is not called after its role");
    }
}

#[test]
fn a_component_says_what_it_does_in_a_sentence() {
    for component in components() {
        let about = &component.about;
        assert!(about.ends_with('.') && about.contains(' ') && about.starts_with(char::is_uppercase), "{component:?}");
    }
}

#[test]
fn every_parameter_is_described() {
    for component in components() {
        let parameters = parameters(&component);
        assert!(!parameters.is_empty(), "{component:?} has no parameters");
        for (name, said) in &parameters {
            let (takes, about) = said.split_once(". ").unwrap_or((said, ""));
            assert!(!takes.is_empty() && about.len() > 5, "{name} of {component:?}: {said}");
            assert_eq!(parameters.iter().filter(|(other, _)| other == name).count(), 1, "{name} of {component:?}");
        }
    }
}

#[test]
fn a_component_without_parameters_works_or_names_the_one_that_it_lacks() {
    for component in components() {
        for name in component.names.iter().filter(|name| !SHARED.contains(&name.as_str())) {
            let run = check(&component, name, json!({}));
            if run.code() == Some(0) {
                assert!(
                    // What an object inside needs is needed only where there is that object.
                    !parameters(&component)
                        .iter()
                        .any(|(name, said)| !name.contains(['.', '[']) && said.contains(", required")),
                    "{component:?}: {run}"
                );
                continue;
            }
            let run = run.fails_with(2);
            let beginning = format!(": {}.parameter.", place(&component));
            assert!(run.error().contains(&beginning), "{component:?} does not name a parameter: {run}");
        }
    }
}

#[test]
fn a_shared_name_needs_a_url_that_tells_whose_it_is() {
    for component in components() {
        for name in component.names.iter().filter(|name| SHARED.contains(&name.as_str())) {
            let run = check(&component, name, json!({ "table": "t" })).fails_with(3);
            run.says([place(&component).as_str(), "has no URL: ", "jdbc:mysql:", "jdbc:sqlite:"]);
        }
    }
}

#[test]
fn a_parameter_of_the_wrong_type_is_refused_with_its_path() {
    for component in components() {
        for (name, said) in parameters(&component) {
            // What lies inside other parameters needs those. Texts, numbers and truths are never objects.
            let takes_a_scalar = ["string", "number", "boolean", "text"].iter().any(|word| said.starts_with(word));
            if name.contains(['.', '[']) || !takes_a_scalar || said.contains("object") {
                continue;
            }
            let run = check(&component, &component.names[0], json!({ &name: { "a": ["b"] } }));
            if ["password", "token"].contains(&name.as_str()) && run.code() == Some(0) {
                continue;
            }
            assert_eq!(run.code(), Some(2), "{name} of {component:?} may be an object: {run}");
            assert!(
                run.error().contains(&format!("{}.parameter.", place(&component))),
                "{name} of {component:?}: {run}"
            );
        }
    }
}

#[test]
fn an_unknown_parameter_is_warned_about() {
    for component in components() {
        let run = check(&component, &component.names[0], json!({ "surely_not_a_parameter": 1 }));
        run.says([
            format!("{}.parameter.surely_not_a_parameter is not known and is ignored", place(&component)).as_str()
        ]);
    }
}

#[test]
fn a_readme_tells_of_every_name_and_parameter() {
    for component in components() {
        let path = home(&component.library).join("README.md");
        let readme = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for name in &component.names {
            assert!(readme.contains(&format!("`{name}`")), "{} does not mention `{name}`", path.display());
        }
        for (name, _) in parameters(&component) {
            let last = name.rsplit('.').next().unwrap_or(&name).trim_end_matches("[]");
            let told = [format!("`{name}`"), format!("`{last}`"), format!("\"{last}\"")];
            assert!(told.iter().any(|form| readme.contains(form)), "{} does not mention `{name}`", path.display());
        }
    }
}

/// The job files that stand in a text.
fn jobs_in(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("```json\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.filter(|block| block.contains("\"job\""))
}

#[test]
fn the_job_in_a_readme_is_a_good_one() {
    for library in libraries() {
        let path = home(&library_name(&library)).join("README.md");
        let readme = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(jobs_in(&readme).next().is_some(), "{} shows no job", path.display());
        for job in jobs_in(&readme) {
            let scratch = Scratch::new();
            scratch.write("job.json", job);
            let run = scratch.transship(["check", "job.json"]).run();
            assert_eq!(run.code(), Some(0), "{}: {job}\n{run}", path.display());
            run.does_not_say(["is not known"]);
        }
    }
}

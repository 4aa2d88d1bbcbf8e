//! Several entries in `job.content`, and jobs that are only tried.

use transship_tests::records::number;
use transship_tests::{Finished, Scratch, Value, json};

use super::{errors, two_entries, warnings};

fn run(scratch: &Scratch, tree: &Value, options: &[&str]) -> Finished {
    scratch.write("job.json", format!("{tree:#}"));
    scratch.transship(["run", "job.json", "--json"].iter().chain(options)).run()
}

fn moved(scratch: &Scratch) -> [usize; 2] {
    ["first", "second"].map(|target| scratch.lines(target).len())
}

fn with_all(mut tree: Value) -> Value {
    tree["job"]["setting"]["contents"] = json!("all");
    tree
}

#[test]
fn only_the_first_entry_runs_and_the_others_are_told() {
    let scratch = Scratch::new();
    let run = run(&scratch, &two_entries(), &[]).succeeds();
    assert_eq!(moved(&scratch), [3, 0]);
    let [warning] = warnings(&run)[..] else { panic!("not one warning: {run}") };
    let rest = ": job.content has 2 entries: only the first runs, as in DataX; \"contents\": \"all\" in job.setting or --all-contents runs them all";
    assert!(warning.starts_with("job.json:") && warning.ends_with(rest), "{run}");
    assert_eq!(number(&run.summary(), "/contents"), 1);
}

#[test]
fn all_entries_run_if_the_file_or_the_command_line_says_so() {
    for (tree, options) in [(with_all(two_entries()), &[][..]), (two_entries(), &["--all-contents"])] {
        let scratch = Scratch::new();
        let run = run(&scratch, &tree, options).succeeds();
        assert_eq!((moved(&scratch), warnings(&run).len()), ([3, 4], 0), "{run}");
        let told = |summary: &Value| ["/content", "/contents", "/counts/written"].map(|what| number(summary, what));
        assert_eq!(run.summaries().iter().map(told).collect::<Vec<_>>(), [[0, 2, 3], [1, 2, 4]]);
        run.says(["job job, entry 1 of 2 (", "job job, entry 2 of 2 ("]);
    }
}

#[test]
fn an_entry_that_fails_does_not_stop_those_behind_it_and_gives_the_exit_code() {
    let scratch = Scratch::new();
    let mut tree = with_all(two_entries());
    tree["job"]["content"][0]["reader"]["parameter"]["fail"] = json!({ "at": "next", "how": "error:io" });
    let run = run(&scratch, &tree, &[]).fails_with(1);
    assert_eq!((moved(&scratch), run.summaries().len()), ([0, 4], 2), "{run}");
}

#[test]
fn an_entry_that_is_refused_keeps_all_of_the_file_from_running() {
    let scratch = Scratch::new();
    let mut tree = with_all(two_entries());
    tree["job"]["content"][1]["reader"]["parameter"]["records"] = json!("many");
    let run = run(&scratch, &tree, &[]).fails_with(2);
    assert!(errors(&run)[0].contains("job.content[1].reader.parameter.records must be "), "{run}");
    assert_eq!((moved(&scratch), run.summaries().len()), ([0, 0], 0));
    assert_eq!(scratch.calls("reader prepare") + scratch.calls("writer prepare"), 0);
}

#[test]
fn an_entry_that_does_not_run_may_be_broken() {
    let broken = [json!({}), json!("all"), json!({ "reader": { "name": "nosuchreader" }, "writer": 5 })];
    for entry in broken {
        let scratch = Scratch::new();
        let mut tree = two_entries();
        tree["job"]["content"][1] = entry.clone();
        run(&scratch, &tree, &[]).succeeds();
        assert_eq!(moved(&scratch), [3, 0]);
        let run = run(&scratch, &with_all(tree), &[]);
        assert!([Some(2), Some(3)].contains(&run.code()), "{entry}: {run}");
        assert!(errors(&run).iter().all(|error| error.contains(": job.content[1]")), "{run}");
    }
}

#[test]
fn the_tasks_of_all_entries_are_planned() {
    let scratch = Scratch::new();
    scratch.write("job.json", with_all(two_entries()).to_string());
    let run = scratch.transship(["plan", "job.json"]).run().succeeds();
    assert_eq!(run.stdout.matches("]: faultyreader to faultywriter\n").count(), 2, "{run}");
}

#[test]
fn a_dry_run_shows_the_plan_and_moves_nothing() {
    for truth in [json!(true), json!("true")] {
        let scratch = Scratch::new();
        let mut tree = two_entries();
        tree["job"]["setting"]["dryRun"] = truth;
        scratch.write("job.json", tree.to_string());
        let run = scratch.transship(["run", "job.json"]).run().succeeds();
        run.says([
            "job job: faultyreader to faultywriter\n",
            "  tasks, in this order (1, ",
            "):\n    0 split 0\n",
            "nothing was moved",
        ]);
        assert_eq!((moved(&scratch), run.stdout.as_str()), ([0, 0], ""));
        let plan = scratch.transship(["run", "job.json", "--json"]).run().succeeds().summary();
        assert_eq!((&plan["reader"], &plan["tasks"][0]["split"]["label"]), (&json!("faultyreader"), &json!("split 0")));
        let touching = ["reader prepare", "writer prepare", "reader open", "writer open"];
        assert_eq!(touching.map(|call| scratch.calls(call)), [0; 4], "{run}");
    }
}

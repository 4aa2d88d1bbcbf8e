//! The forms of the command line that people type, DataX's among them.

use transship_tests::{Scratch, Transship, faulty, json};

use super::{errors, printing, warnings};

/// The program with a text at its standard input.
fn with_stdin(scratch: &Scratch, text: &str, arguments: &[&str]) -> Transship {
    scratch.write("stdin", text);
    scratch.transship(arguments.iter()).within(r#"exec "$@" < stdin"#)
}

#[test]
fn a_job_may_come_from_standard_input() {
    let scratch = Scratch::new();
    let run = with_stdin(&scratch, &printing("\"$x\""), &["run", "-", "-Dx=here"]).run().succeeds();
    assert_eq!(run.stdout, "here\n");
    run.says(["job stdin (streamreader to streamwriter)"]);
    with_stdin(&scratch, &printing("1"), &["plan", "-"]).run().succeeds();
    let run = with_stdin(&scratch, &printing("x"), &["check", "-"]).run().fails_with(2);
    assert!(errors(&run)[0].starts_with("standard input:5:18: "), "{run}");
}

#[test]
fn what_is_broken_is_told_before_any_job_runs_and_the_others_run() {
    let scratch = Scratch::new();
    for (name, target) in [("good.json", "good"), ("last.json", "last")] {
        scratch.job(name, &faulty(json!({ "records": 2 }), json!({ "target": target })));
    }
    scratch.write("broken.json", "{");
    scratch.write("refused.json", "{}");
    let files = ["good.json", "broken.json", "refused.json", "missing.json", "last.json"];
    let arguments = ["run", "--json", "--in-order"].into_iter().chain(files);
    let run = scratch.transship(arguments).run().fails_with(2);
    let told: Vec<&str> =
        run.stderr.lines().filter(|line| line.starts_with("error: ") || line.starts_with("job ")).collect();
    let beginnings = [
        "error: broken.json:1:",
        "error: refused.json:1:",
        "error: cannot read the job file missing.json",
        "job good ",
        "job last ",
    ];
    assert_eq!(told.len(), beginnings.len(), "{run}");
    for (line, beginning) in told.iter().zip(beginnings) {
        assert!(line.starts_with(beginning), "not `{beginning}`: {run}");
    }
    assert_eq!(["good", "last"].map(|target| scratch.lines(target).len()), [2, 2]);
    assert_eq!(run.summaries().len(), 2);
}

#[test]
fn the_number_of_a_run_is_repeated_in_its_summary() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    for (option, number) in [("--jobid=42", json!(42)), ("--jobid=-1", json!(-1)), ("--job-id=7", json!(7))] {
        let run = scratch.transship(["run", "job.json", "--json", option]).run().succeeds();
        assert_eq!(run.summary()["job_id"], number);
    }
    let run = scratch.transship(["run", "job.json", "--json"]).run().succeeds();
    assert_eq!(run.summary().get("job_id"), None);
    scratch.transship(["run", "job.json", "--jobid", "seven"]).run().ends_with(2).says(["--jobid"]);
}

#[test]
fn what_scripts_pass_to_dataxs_launcher_is_ignored_with_a_warning() {
    let scratch = Scratch::new();
    scratch.write("job.json", printing("\"$x\""));
    let options =
        ["-j", "-Xms1g -Xmx1g", "-m", "standalone", "--loglevel", "debug", "-p", "-Xmx4g -Dx=1", "--jobid", "-1"];
    let run = scratch.transship(["run", "job.json"].iter().chain(&options)).run().succeeds();
    assert_eq!(run.stdout, "1\n");
    assert_eq!(
        warnings(&run),
        [
            "--jvm is an option of DataX's launcher and is ignored",
            "--mode is an option of DataX's launcher and is ignored",
            "--loglevel is an option of DataX's launcher and is ignored",
            "-p: -Xmx4g is an option of Java and is ignored",
        ]
    );
    let run = scratch.transship(["run", "job.json", "--jvm=-Xmx1g", "--mode=local", "-Dx=1"]).run().succeeds();
    assert_eq!(warnings(&run).len(), 2);
}

/// `第二` in GBK.
const GBK: &[u8] = b"\xb5\xda\xb6\xfe";

#[test]
fn a_file_in_another_encoding_is_read_in_that_or_warned_about() {
    let scratch = Scratch::new();
    let job = printing("\"GBK\"");
    let (before, after) = job.split_once("GBK").unwrap();
    scratch.write("job.json", [before.as_bytes(), GBK, after.as_bytes()].concat());

    let run = scratch.transship(["run", "job.json", "--job-encoding", "GBK"]).run().succeeds();
    assert_eq!((run.stdout.as_str(), warnings(&run).len()), ("第二\n", 0));
    let run = scratch.transship(["run", "job.json"]).run().succeeds();
    assert!(run.stdout.contains('\u{fffd}'), "{run}");
    let warning = "what cannot be read becomes U+FFFD; name the file's encoding with --job-encoding, for instance --job-encoding GBK";
    assert_eq!(warnings(&run), [format!("job.json:5:19: byte {} is not UTF-8: {warning}", before.len())]);
    let run = scratch.transship(["run", "job.json", "--job-encoding", "klingon"]).run().ends_with(2);
    run.says(["'klingon' for '--job-encoding", "is no encoding that is known; try UTF-8 or GBK"]);
}

#[test]
fn a_file_of_windows_in_utf_16_is_read_by_its_mark() {
    let scratch = Scratch::new();
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let file: Vec<u8> = [0xfeff].into_iter().chain(printing("\"第二\"").encode_utf16()).flat_map(bytes).collect();
        scratch.write("job.json", file);
        let run = scratch.transship(["run", "job.json"]).run().succeeds();
        assert_eq!((run.stdout.as_str(), warnings(&run).len()), ("第二\n", 0));
    }
    let file: Vec<u8> = printing("x").encode_utf16().flat_map(u16::to_le_bytes).collect();
    scratch.write("job.json", file);
    let run = scratch.transship(["run", "job.json", "--job-encoding", "UTF-16LE"]).run().fails_with(2);
    assert!(errors(&run)[0].starts_with("job.json:5:18: "), "{run}");
}

#[test]
fn options_may_stand_before_and_behind_the_file() {
    let scratch = Scratch::new();
    scratch.write("job.json", printing("\"$x\""));
    for arguments in
        [&["run", "-p", "-Dx=1", "job.json"][..], &["run", "-Dx=1", "job.json"], &["run", "job.json", "-p", "-Dx=1"]]
    {
        assert_eq!(scratch.transship(arguments.iter()).run().succeeds().stdout, "1\n");
    }
}

#[test]
fn of_a_quiet_run_only_the_errors_are_seen() {
    let scratch = Scratch::new();
    scratch.write("odd.json", printing("\"$x\", \"odd\": 1"));
    scratch.write("broken.json", printing("x"));
    let run = scratch.transship(["run", "odd.json", "--quiet", "-j", "-Xmx1g"]).run().succeeds();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("$x\n", ""));
    let run = scratch.transship(["run", "broken.json", "odd.json", "-q"]).run().fails_with(2);
    assert_eq!((errors(&run).len(), run.stdout.as_str()), (1, "$x\n"));
    assert!(warnings(&run).is_empty(), "{run}");
}

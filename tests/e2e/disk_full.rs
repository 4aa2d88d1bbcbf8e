//! A disk that is full: the run fails and names the file, nothing half-written shows, what was there before is still there.
//!
//! The disk is a small tmpfs of its own where the tests may mount one. It is a limit on the size of files everywhere: that one
//! needs no rights, and shows the same faults with another message.

use std::process::Command;
use std::sync::OnceLock;

use transship_tests::{Finished, Job, Scratch, Value, faulty, faulty_reader, json, plugin};

/// How a disk comes to be full.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Disk {
    Tmpfs,
    FileLimit,
}

/// What the system, or SQLite, says then.
const NO_SPACE: [&str; 4] = ["No space left on device", "File too large", "disk is full", "disk I/O error"];

/// Mounts a file system of 256 KiB at `disk`, restores what was there, runs, and keeps a copy of what is left.
const IN_TMPFS: &str = r#"
    cp -a disk before && mount -t tmpfs -o size=256k tmpfs disk && cp -a before/. disk/ && rm -r before || exit 99
    "$@"; code=$?
    mkdir after && cp -a disk/. after/ || exit 98
    exit $code
"#;
/// Allows no file of more than 256 KiB (512 blocks), and keeps a copy of what is left.
const WITH_LIMIT: &str = r#"
    trap '' XFSZ
    (ulimit -f 512; exec "$@"); code=$?
    cp -a disk after || exit 98
    exit $code
"#;

/// The kinds of full disk that this machine can show.
fn disks() -> &'static [Disk] {
    static DISKS: OnceLock<Vec<Disk>> = OnceLock::new();
    DISKS.get_or_init(|| {
        let script = "mkdir -p \"$0\" && mount -t tmpfs -o size=64k tmpfs \"$0\"";
        let place = tempfile::tempdir().unwrap();
        let tried = Command::new("unshare").args(["-m", "sh", "-c", script]).arg(place.path().join("disk")).output();
        if tried.is_ok_and(|tried| tried.status.success()) {
            vec![Disk::Tmpfs, Disk::FileLimit]
        } else {
            vec![Disk::FileLimit]
        }
    })
}

/// Runs a job in a folder whose `disk` is full soon. What is left of it lies in `after`.
fn run(scratch: &Scratch, disk: Disk, job: &Job) -> Finished {
    std::fs::create_dir_all(scratch.path("disk")).unwrap();
    scratch.job("job.json", job);
    let run = scratch.transship(["run", "job.json", "--json"]);
    match disk {
        Disk::Tmpfs => {
            run.within(&format!("exec unshare -m sh -c '{}' sh \"$@\"", IN_TMPFS.replace('\'', r"'\''"))).run()
        }
        Disk::FileLimit => run.within(WITH_LIMIT).run(),
    }
}

/// More than the disk holds: two megabytes.
fn much() -> Value {
    faulty_reader(json!({ "records": 20_000, "batch": 500, "textBytes": 100, "journal": null }))
}

#[track_caller]
fn check_full(run: Finished, disk: Disk, who: &str) -> Finished {
    assert_eq!(run.code(), Some(1), "{disk:?}: {run}");
    let run = run.fails_with(1);
    assert!(
        NO_SPACE.iter().any(|words| run.error().contains(words)),
        "{disk:?} does not say that the disk is full: {run}"
    );
    assert!(run.error().contains(who) && run.error().contains("disk/"), "{disk:?} does not say what and where: {run}");
    run
}

fn left(scratch: &Scratch) -> Vec<String> {
    scratch.files().into_iter().filter_map(|name| name.strip_prefix("after/").map(String::from)).collect()
}

/// Trap 82.
#[test]
fn txtfilewriter_leaves_nothing_and_keeps_what_was_there() {
    for disk in disks() {
        for compress in [json!(null), json!("gzip")] {
            let scratch = Scratch::new();
            scratch.write("disk/ids", "old\n");
            let writer = json!({ "path": "disk", "fileName": "ids", "writeMode": "truncate", "compress": compress });
            // Random text cannot be packed.
            let column = json!([{ "type": "STRING", "random": "100,100" }]);
            let reader = plugin("streamreader", json!({ "sliceRecordCount": 20_000, "column": column }));
            let run = check_full(
                run(&scratch, *disk, &Job::new(reader, plugin("txtfilewriter", writer))),
                *disk,
                "txtfilewriter",
            );
            assert_eq!(left(&scratch), ["ids"], "{disk:?} {compress}: {run}");
            assert_eq!(scratch.read("after/ids"), "old\n", "{disk:?} {compress}");
        }
    }
}

#[test]
fn streamwriter_leaves_nothing_and_keeps_what_was_there() {
    for disk in disks() {
        let scratch = Scratch::new();
        scratch.write("disk/ids", "old\n");
        let job = Job::new(much(), plugin("streamwriter", json!({ "path": "disk", "fileName": "ids" })));
        let run = check_full(run(&scratch, *disk, &job), *disk, "streamwriter");
        assert_eq!(left(&scratch), ["ids"], "{disk:?}: {run}");
        assert_eq!(scratch.read("after/ids"), "old\n", "{disk:?}");
    }
}

#[test]
fn sqlitewriter_keeps_the_rows_that_were_there() {
    for disk in disks() {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path("disk")).unwrap();
        let database = rusqlite::Connection::open(scratch.path("disk/out.db")).unwrap();
        database.execute_batch("create table ids (id integer, text text); insert into ids values (0, 'old')").unwrap();
        drop(database);
        let job =
            Job::new(much(), plugin("sqlitewriter", json!({ "path": "disk/out.db", "table": "ids", "column": ["*"] })));
        let run = check_full(run(&scratch, *disk, &job), *disk, "sqlitewriter");
        assert_eq!(left(&scratch), ["out.db"], "{disk:?}: {run}");
        let database = rusqlite::Connection::open(scratch.path("after/out.db")).unwrap();
        let rows: (i64, String) = database
            .query_row("select count(*), min(text) from ids", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(rows, (1, "old".into()), "{disk:?}: {run}");
        let sound: String = database.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok", "{disk:?}");
    }
}

#[test]
fn the_other_tasks_of_a_job_on_a_full_disk_are_taken_back_too() {
    for disk in disks() {
        let scratch = Scratch::new();
        // Each of the first tasks would fit: the files together do not, nor does that of the last one.
        let reader = json!({ "splits": 8, "records": 1500, "textBytes": 100, "longRecord": 11_000, "journal": null });
        let reader = faulty_reader(if *disk == Disk::Tmpfs {
            reader
        } else {
            json!({ "splits": 2, "records": 3000, "textBytes": 100, "journal": null })
        });
        let job = Job::new(
            reader,
            plugin("txtfilewriter", json!({ "path": "disk", "fileName": "ids", "writeMode": "append" })),
        );
        let run = check_full(run(&scratch, *disk, &job), *disk, "txtfilewriter");
        assert_eq!(left(&scratch), [""; 0], "{disk:?}: {run}");
    }
}

#[test]
fn dirty_records_that_cannot_be_kept_fail_the_job() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({ "dirtyEvery": 10 }), json!({})));
    let run = scratch.transship(["run", "job.json", "--dirty", "/dev/full"]).run().fails_with(1);
    assert!(run.error().contains("/dev/full") && run.error().contains("No space left on device"), "{run}");
    assert_eq!(scratch.ids(), [0; 0], "{run}");
}

#[test]
fn perf_records_that_cannot_be_written_are_told_and_the_summary_is_there_all_the_same() {
    let scratch = Scratch::new();
    scratch.job("job.json", &faulty(json!({}), json!({})));
    let run = scratch.transship(["run", "job.json", "--json", "--quiet", "--perf", "/dev/full"]).run().succeeds();
    run.says(["warning: cannot write the perf records to /dev/full: No space left on device"]);
    // Who runs it again because of the exit code would move all a second time.
    assert_eq!(run.summary()["outcome"], "done", "the records are there");
}

#[test]
fn records_that_cannot_be_printed_fail_the_job() {
    let scratch = Scratch::new();
    scratch.job("job.json", &Job::new(much(), plugin("streamwriter", json!({ "print": true }))));
    let run = scratch.transship(["run", "job.json"]).within("\"$@\" > /dev/full").run().fails_with(1);
    assert!(run.error().contains("streamwriter") && run.error().contains("No space left on device"), "{run}");
}

#[test]
fn a_reader_of_the_printed_records_that_goes_away_ends_the_job() {
    let scratch = Scratch::new();
    scratch.job("job.json", &Job::new(much(), plugin("streamwriter", json!({ "print": true }))));
    let script = r#"("$@"; echo $? > code) | head -n 1"#;
    let run = scratch.transship(["run", "job.json"]).within(script).run().succeeds();
    assert_eq!(scratch.read("code"), "1\n", "{run}");
    assert_eq!(run.stdout.lines().count(), 1, "{run}");
    assert!(run.error().contains("streamwriter"), "{run}");
}

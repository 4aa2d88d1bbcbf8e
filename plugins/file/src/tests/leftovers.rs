//! What the writer does with the hidden files of runs that were killed.

use std::fs::File;

use super::committing::parameter;
use super::*;

const DEAD: &str = "55555555-5555-4555-8555-555555555555";

fn hidden(run: &str, what: &str) -> String {
    format!(".transship-{run}-{what}.tmp")
}

#[test]
fn the_files_of_a_run_whose_lock_is_free_are_removed() {
    let place = Place::new();
    for name in [hidden(DEAD, "lock"), hidden(DEAD, "one"), hidden(DEAD, "two")] {
        place.put(&format!("out/{name}"), "half");
    }
    logged();
    let _writing = Writing::prepare(&parameter(&place, "append")).unwrap();
    let told = logged();
    assert!(told.len() == 1 && told[0].starts_with("removed 2 unfinished file(s)"), "{told:?}");
    assert_eq!(place.names("out"), [hidden(RUN, "lock")]);
}

#[test]
fn the_files_of_a_run_that_is_alive_stay() {
    let place = Place::new();
    let mut alive = Writing::prepare(&parameter(&place, "append")).unwrap();
    let report = alive.write(1, &[]).unwrap();
    let before = place.names("out");
    logged();
    let mut other = crate::writer::new(&parameter(&place, "append"), Arc::new(Recorder::default())).unwrap();
    other.prepare(&Run { id: DEAD.into(), job: "other".into() }, None).unwrap();
    other.abort(&[]).unwrap();
    assert_eq!((place.names("out"), logged()), (before, vec![]));
    alive.writer.commit(std::slice::from_ref(&report)).unwrap();
    assert_eq!(place.names("out"), [report.detail["file"].as_str().unwrap()]);
}

#[test]
fn files_without_a_lock_are_named_and_stay_because_another_process_may_go_on() {
    let place = Place::new();
    let mut first = Writing::prepare(&parameter(&place, "append")).unwrap();
    let report = first.write(1, &[]).unwrap();
    drop(first);
    let unfinished = report.detail["unfinished"].as_str().unwrap();
    assert_eq!(place.names("out"), [unfinished]);
    logged();
    let mut other = crate::writer::new(&parameter(&place, "append"), Arc::new(Recorder::default())).unwrap();
    other.prepare(&Run { id: DEAD.into(), job: "other".into() }, None).unwrap();
    let told = logged();
    assert!(told.len() == 1 && told[0].contains(unfinished) && told[0].contains("(1 in all)"), "{told:?}");
    other.abort(&[]).unwrap();
    assert_eq!(place.names("out"), [unfinished]);
}

#[test]
fn a_file_that_only_looks_hidden_stays() {
    let place = Place::new();
    for name in
        [".transship-notes.tmp".to_owned(), format!(".transship-{DEAD}.tmp"), format!("{}.old", hidden(DEAD, "one"))]
    {
        place.put(&format!("out/{name}"), "mine");
    }
    logged();
    let mut writing = Writing::prepare(&parameter(&place, "append")).unwrap();
    writing.writer.abort(&[]).unwrap();
    assert_eq!((place.names("out").len(), logged()), (3, vec![]));
}

#[test]
fn a_lock_is_held_until_the_end_of_the_run() {
    let place = Place::new();
    let mut writing = Writing::prepare(&parameter(&place, "append")).unwrap();
    let lock = File::options().write(true).open(place.path(&format!("out/{}", hidden(RUN, "lock")))).unwrap();
    assert!(lock.try_lock().is_err());
    writing.writer.abort(&[]).unwrap();
    assert!(lock.try_lock().is_ok());
    assert_eq!(place.names("out"), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere_is_no_folder() {
    let place = Place::new();
    std::os::unix::fs::symlink("/nowhere/at/all", place.path("out")).unwrap();
    for more in [json!({}), json!({"path": place.path("out/below")})] {
        let error = Writing::prepare(&merge(&parameter(&place, "append"), more)).err().unwrap();
        assert!(error.message().contains("out is a symbolic link to nowhere"), "{error}");
    }
}

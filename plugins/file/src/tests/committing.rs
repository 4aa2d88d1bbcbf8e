//! What is visible when, what is replaced, and what an abort takes back.

use std::sync::Arc;

use transship_plugin_api::CommitClass;

use super::*;

/// The name of a file that DataX left: it puts no suffix behind the id.
const OLD: &str = "f__00000000_1111_4222_8333_444444444444";

pub(super) fn parameter(place: &Place, mode: &str) -> Value {
    json!({"path": place.path("out"), "fileName": "f", "writeMode": mode, "suffix": ".csv"})
}

/// Trap 80.
#[test]
fn nothing_is_visible_before_the_commit() {
    let place = Place::new();
    place.put(&format!("out/{OLD}.csv"), "old");
    let mut writing = Writing::prepare(&parameter(&place, "Truncate")).unwrap();
    assert_eq!(writing.writer.info().commit, CommitClass::Atomic);
    let reports: Vec<Report> =
        (1..=2).map(|number| writing.write(number, &[batch_of(&rows(&[&["x"]]), 1)]).unwrap()).collect();
    let visible = |place: &Place| -> Vec<String> {
        place.names("out").into_iter().filter(|name| !name.starts_with('.')).collect()
    };
    assert_eq!(visible(&place), [format!("{OLD}.csv")]);
    let expected = ["f__22222222_2222_4222_8222_000000000001.csv", "f__22222222_2222_4222_8222_000000000002.csv"];
    for _ in 0..2 {
        // Called again it does nothing more.
        writing.writer.commit(&reports).unwrap();
        assert_eq!(place.names("out"), expected);
    }
    assert_eq!(read(json!({"path": place.path("out")})).unwrap().rows, rows(&[&["x"], &["x"]]));
}

#[test]
fn another_process_can_commit() {
    let place = Place::new();
    place.put(&format!("out/{OLD}"), "old");
    let host = Arc::new(Recorder::default());
    let mut first = crate::writer::new(&parameter(&place, "truncate"), host.clone()).unwrap();
    let state = first.prepare(&Run { id: RUN.into(), job: "j".into() }, None).unwrap();
    let mut second =
        Writing { writer: crate::writer::new(&parameter(&place, "truncate"), host.clone()).unwrap(), host };
    second.writer.attach(&state).unwrap();
    let report = second.write(1, &[]).unwrap();
    let report: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    first.commit(&[report]).unwrap();
    assert_eq!(place.names("out").len(), 1);
}

#[test]
fn an_aborted_job_leaves_what_was_there_and_nothing_else() {
    let place = Place::new();
    place.put(&format!("out/{OLD}"), "old");
    let mut writing = Writing::prepare(&parameter(&place, "truncate")).unwrap();
    let report = writing.write(1, &[batch_of(&rows(&[&["x"]]), 1)]).unwrap();
    let mut task = writing.task(2, batch_of(&[], 1).schema()).unwrap();
    // The old file, the lock of the run, and two unfinished files.
    task.write(Batch::measured(batch_of(&rows(&[&["y"]]), 1), Origin::from(1))).unwrap();
    assert_eq!(place.names("out").len(), 4);
    task.abort().unwrap();
    task.abort().unwrap();
    let dropped = writing.task(3, batch_of(&[], 1).schema()).unwrap();
    assert_eq!(place.names("out").len(), 4);
    drop(dropped);
    assert_eq!(place.names("out").len(), 3);
    for _ in 0..2 {
        writing.writer.abort(std::slice::from_ref(&report)).unwrap();
        assert_eq!(place.names("out"), [OLD]);
    }
}

#[test]
fn an_abort_in_the_middle_of_a_commit_takes_the_names_back() {
    let place = Place::new();
    place.put(&format!("out/{OLD}"), "old");
    let mut writing = Writing::prepare(&parameter(&place, "truncate")).unwrap();
    let reports: Vec<Report> = (1..=2).map(|number| writing.write(number, &[]).unwrap()).collect();
    let lost = reports[1].detail["unfinished"].as_str().unwrap();
    std::fs::remove_file(place.folder.path().join("out").join(lost)).unwrap();
    let error = writing.writer.commit(&reports).unwrap_err();
    assert!(error.message().contains(lost), "{error}");
    writing.writer.abort(&reports).unwrap();
    assert_eq!(place.names("out"), [OLD]);
}

#[test]
fn once_old_files_are_going_the_new_ones_stay() {
    let place = Place::new();
    place.put(&format!("out/{OLD}"), "old");
    let mut writing = Writing::prepare(&parameter(&place, "truncate")).unwrap();
    let report = writing.write(1, &[]).unwrap();
    // What cannot be removed as a file makes the commit fail after the new file got its name.
    std::fs::remove_file(place.folder.path().join(format!("out/{OLD}"))).unwrap();
    std::fs::create_dir(place.folder.path().join(format!("out/{OLD}"))).unwrap();
    assert!(writing.writer.commit(std::slice::from_ref(&report)).unwrap_err().message().contains(OLD));
    writing.writer.abort(std::slice::from_ref(&report)).unwrap();
    assert!(place.names("out").contains(&report.detail["file"].as_str().unwrap().to_owned()));
}

#[test]
fn attempts_that_came_to_nothing_are_cleared_away_by_the_commit() {
    let place = Place::new();
    let mut writing = Writing::prepare(&parameter(&place, "append")).unwrap();
    place.put(&format!("out/.transship-{RUN}-44444444-4444-4444-8444-444444444444.tmp"), "half");
    place.put("out/.transship-55555555-5555-4555-8555-555555555555-x.tmp", "of another run");
    let report = writing.write(1, &[]).unwrap();
    writing.writer.commit(&[report]).unwrap();
    let hidden: Vec<String> = place.names("out").into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(hidden, [".transship-55555555-5555-4555-8555-555555555555-x.tmp"]);
}

/// Traps 81, 83.
#[test]
fn modes_differ_in_what_they_do_with_older_files() {
    for (mode, stays) in [("append", &["f.csv", OLD, "g"][..]), ("truncate", &["g"])] {
        let place = Place::new();
        for name in ["f.csv", OLD, "g"] {
            place.put(&format!("out/{name}"), "old");
        }
        let mut writing = Writing::prepare(&parameter(&place, mode)).unwrap();
        let report = writing.write(1, &[]).unwrap();
        let new = report.detail["file"].as_str().unwrap().to_owned();
        writing.writer.commit(&[report]).unwrap();
        let names: Vec<String> = place.names("out").into_iter().filter(|name| *name != new).collect();
        assert_eq!(names, stays);
        let removed = logged().into_iter().filter(|line| line.contains("removed 2 older")).count();
        assert_eq!(removed, usize::from(mode == "truncate"));
    }
    let place = Place::new();
    assert!(Writing::prepare(&parameter(&place, "nonconflict")).is_ok());
    place.put("out/f1", "old");
    let error = Writing::prepare(&parameter(&place, "nonConflict")).err().unwrap();
    assert!(error.message().contains("out/f1") && error.message().contains("another fileName"), "{error}");
}

/// Trap 81.
#[test]
fn truncate_replaces_only_names_that_this_writer_makes() {
    let place = Place::new();
    let id = &OLD["f__".len()..];
    let stays = [
        "f".to_owned(),
        "f-2023-archive.csv".into(),
        "f.csv.gz".into(),
        "f.db".into(),
        "f__.csv".into(),
        format!("f__{id}.db"),
        format!("f__{}.csv", id.replace('_', "-")),
        format!("f__{id}0.csv"),
        format!("f__{id}_.csv"),
        format!("f__{}.csv", id.replace('4', "g")),
        format!("f_eu__{id}.csv"),
        format!("other__{id}.csv"),
    ];
    let goes = ["f.csv".to_owned(), format!("f__{id}.csv"), format!("f__{id}")];
    for name in stays.iter().chain(&goes) {
        place.put(&format!("out/{name}"), "old");
    }
    // A folder is no file of this writer, whatever its name.
    let folder = format!("f__{}.csv", id.replace('0', "1"));
    std::fs::create_dir(place.folder.path().join("out").join(&folder)).unwrap();
    logged();
    let mut writing = Writing::prepare(&parameter(&place, "truncate")).unwrap();
    let warnings = logged();
    assert!(warnings.len() == 1 && warnings[0].contains("out/f stays (12 in all)"), "{warnings:?}");
    let report = writing.write(1, &[]).unwrap();
    let new = report.detail["file"].as_str().unwrap().to_owned();
    writing.writer.commit(&[report]).unwrap();
    let mut expected: Vec<String> = stays.into_iter().chain([folder, new]).collect();
    expected.sort();
    assert_eq!(place.names("out"), expected);
}

#[test]
fn an_abort_in_another_process_leaves_what_was_committed() {
    let place = Place::new();
    let host = Arc::new(Recorder::default());
    let mut first = Writing::prepare(&parameter(&place, "truncate")).unwrap();
    let reports: Vec<Report> = (1..=2).map(|number| first.write(number, &[]).unwrap()).collect();
    first.writer.commit(&reports).unwrap();
    let committed = place.names("out");
    assert_eq!(committed.len(), 2);
    let state = json!({"run": RUN, "replaced": []});
    let attached = || {
        let mut writer = crate::writer::new(&parameter(&place, "truncate"), host.clone()).unwrap();
        writer.attach(&state).unwrap();
        writer
    };
    attached().abort(&reports).unwrap();
    assert_eq!(place.names("out"), committed);
    let mut again = attached();
    again.commit(&reports).unwrap();
    again.abort(&reports).unwrap();
    assert_eq!(place.names("out"), committed);
}

#[test]
fn an_abort_takes_back_only_the_names_that_its_own_commit_gave() {
    let place = Place::new();
    let mut first = Writing::prepare(&parameter(&place, "append")).unwrap();
    let reports: Vec<Report> = (1..=3).map(|number| first.write(number, &[]).unwrap()).collect();
    first.writer.commit(&reports[..1]).unwrap();
    let named = place.names("out");
    let mut second = crate::writer::new(&parameter(&place, "append"), Arc::new(Recorder::default())).unwrap();
    second.attach(&json!({"run": RUN, "replaced": []})).unwrap();
    // The commit of the first task alone cleared the files of the others away, so this one fails.
    assert!(second.commit(&reports).unwrap_err().message().contains("gone"));
    second.abort(&reports).unwrap();
    assert_eq!(place.names("out"), named);
}

//! What the page holds, as text. How a browser shows it is tested from outside.

use serde_json::{Map, Value, json};

use super::*;
use crate::perf::recording::{DirtyLine, EndLine, RunLine, Second, TaskLine};

const BEGIN: u64 = 1_800_000_000_000_000;

/// A run of one task with this split.
fn recording(split: &str) -> Recording {
    let task = TaskLine {
        run: "r".into(),
        job: "j".into(),
        task: "t".into(),
        split: split.into(),
        attempt: 1,
        slot: Some(0),
        start_micros: BEGIN + 10,
        ..TaskLine::default()
    };
    let phase = |phase: Phase, elapsed_nanos: u64| PhaseLine {
        run: "r".into(),
        job: "j".into(),
        task: Some("t".into()),
        split: Some(split.into()),
        attempt: Some(1),
        phase,
        start_micros: BEGIN + 20,
        elapsed_nanos,
        cpu_nanos: None,
        cpu_wait_nanos: None,
        records: Some(7),
        bytes: Some(70),
        level: None,
        result: None,
        message: None,
    };
    Recording {
        run: RunLine { version: 1, run: "r".into(), job: "j".into(), start_micros: BEGIN, ..RunLine::default() },
        tasks: vec![task],
        phases: vec![
            PhaseLine { task: None, start_micros: BEGIN, ..phase(Phase::JobSchedule, 2_500_000_000) },
            phase(Phase::TaskTotal, 3_000_000),
            phase(Phase::ReadTaskData, 2_000_000),
            phase(Phase::WaitWriteTime, 5000),
        ],
        end: Some(EndLine {
            micros: BEGIN + 2_500_000,
            result: "done".into(),
            read: 7,
            written: 6,
            dirty: 1,
            ..EndLine::default()
        }),
        dirty: vec![DirtyLine { side: "writer".into(), plugin: "p".into(), cause: "too long".into(), count: 1 }],
        ..Recording::default()
    }
}

fn page(recordings: &[Recording], earlier: Option<&[Recording]>) -> String {
    let mut page = Vec::new();
    write(&mut page, recordings, earlier).unwrap();
    String::from_utf8(page).unwrap()
}

/// The data in a page.
fn data_of(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_data_of_the_page_has_the_figures_and_the_drawn_phases() {
    let recorded = recording("a");
    let limit = diagnosis::of(&recorded).limit.sentence;
    let run = &data_of(&page(&[recorded], None))[0];
    let figures = ["read", "written", "dirty", "elapsed", "result", "verdict", "earlier"].map(|name| run[name].clone());
    let expected = [json!(7), json!(6), json!(1), json!(2.5), json!("done"), json!(limit), Value::Null];
    assert_eq!(figures, expected);
    let attempt = &run["attempts"][0];
    assert_eq!((&attempt["at"], &attempt["took"], &attempt["records"]), (&json!(10), &json!(3000), &json!(7)));
    assert_eq!(
        attempt["parts"],
        json!([["READ_TASK_DATA", 20, 2000]]),
        "waits are sums, and have no place on a line of time"
    );
}

#[test]
fn no_text_of_a_job_ends_the_data_or_stands_for_a_part_of_the_page() {
    for split in ["</script><img src=x onerror=alert(1)>", "<!--<script>", "{{page.js}} {{data}}", "\u{2028}\"\\"] {
        let mut hostile = recording(split);
        hostile.run.job = split.into();
        hostile.run.setting = json!({ split: split });
        let (page, harmless) = (page(&[hostile], None), page(&[recording("a")], None));
        for mark in ["<script", "</script", "<img", "<!--"] {
            assert_eq!(page.matches(mark).count(), harmless.matches(mark).count(), "{mark} of {split}");
        }
        let run = &data_of(&page)[0];
        for place in ["/run/job", "/attempts/0/split"] {
            assert_eq!(run.pointer(place).unwrap(), split);
        }
        assert_eq!(run["run"]["setting"], Value::Object(Map::from_iter([(split.to_string(), split.into())])));
    }
}

#[test]
fn a_run_that_has_not_ended_is_shown_as_of_its_last_second() {
    let second = Second {
        micros: BEGIN + 4_000_000,
        read_records: 40,
        written_records: 30,
        dirty_records: 3,
        ..Second::default()
    };
    let mut cut = Recording { end: None, seconds: vec![second], ..recording("a") };
    cut.phases.clear();
    // It began after the last second.
    cut.tasks[0].start_micros = BEGIN + 4_200_000;
    let run = &data_of(&page(&[cut], None))[0];
    assert_eq!(run["until"], 4_200_000);
    assert_eq!(
        ["result", "read", "written", "dirty", "filtered", "elapsed"].map(|name| run[name].clone()),
        [json!("open"), json!(40), json!(30), json!(3), Value::Null, json!(4.2)]
    );
}

#[test]
fn an_entry_is_compared_with_the_one_of_its_name_and_number() {
    let named = |job: &str, content: usize, run: &str| {
        let mut recording = recording("a");
        recording.run = RunLine { job: job.into(), content, contents: 2, run: run.into(), ..recording.run };
        recording
    };
    let earlier = [named("a", 1, "first"), named("b", 0, "second"), named("a", 0, "third")];
    let runs = data_of(&page(&[named("a", 0, "now"), named("a", 1, "now"), named("c", 0, "now")], Some(&earlier)));
    let of = |place: usize| [&runs[place]["earlier"]["run"], &runs[place]["title"]];
    assert_eq!(of(0), ["third", "a, entry 1 of 2"]);
    assert_eq!(of(1), ["first", "a, entry 2 of 2"]);
    assert_eq!(runs[0]["earlier"]["title"], "a, entry 1 of 2");
}

#[test]
fn what_failed_is_listed_before_what_was_slow_and_lanes_by_themselves() {
    let mut recorded = recording("slow");
    let others = [("cancelled", Some(1), "cancelled"), ("failed", Some(0), "failed"), ("lane", None, "done")];
    for (task, slot, result) in others {
        recorded.tasks.push(TaskLine { task: task.into(), split: task.into(), slot, ..recorded.tasks[0].clone() });
        recorded.phases.push(PhaseLine {
            task: Some(task.into()),
            result: Some(result.into()),
            elapsed_nanos: if task == "cancelled" { 2000 } else { 1000 },
            ..recorded.phases[1].clone()
        });
    }
    let run = &data_of(&page(&[recorded], None))[0];
    let listed = |of: &str| -> Vec<String> {
        let shown = run[of]["shown"].as_array().unwrap();
        assert_eq!(run[of]["count"], shown.len());
        shown.iter().map(|row| row["split"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(listed("splits"), ["failed", "slow", "cancelled"], "what was cancelled has not failed by itself");
    assert_eq!(listed("lanes"), ["lane"]);
}

#[test]
fn every_part_is_in_the_page_and_none_is_fetched() {
    let page = page(&[recording("a")], None);
    for (place, part) in PARTS {
        assert!(page.contains(part), "{place}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!PAGE.contains("src=") && !PAGE.contains("href="));
}

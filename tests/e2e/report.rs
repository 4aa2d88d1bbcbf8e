//! The page of a run in a real browser: it opens without errors and without a network, and shows the figures of the run.

use transship_tests::records::{json_lines, number, text};
use transship_tests::{Job, Scratch, Value, faulty, json, plugin};

mod browser;
mod looks;

use browser::{evaluated, figure, opened, shown};

/// A job of so many splits to this target.
fn job(splits: u32, target: &str) -> Job {
    faulty(json!({ "splits": splits, "dirtyEvery": 10 }), json!({ "target": target })).channels(2)
}

/// Makes a page of these lines of perf records.
fn page_of(scratch: &Scratch, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    scratch.write("made.jsonl", lines.join("\n") + "\n");
    scratch.transship(["perf", "made.jsonl", "--report", "r.html"]).run().succeeds();
}

/// The lines that a run of this job recorded.
fn recorded(scratch: &Scratch, job: &Job) -> Vec<Value> {
    scratch.job("job.json", job);
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run();
    json_lines(&scratch.read("perf.jsonl"))
}

/// The only line of this type.
fn line_mut<'a>(lines: &'a mut [Value], kind: &str) -> &'a mut Value {
    lines.iter_mut().find(|line| line["type"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

fn assert_shows(document: &str, summary: &Value) {
    let count = |name: &str| number(summary, &format!("/counts/{name}"));
    let dirty = count("dirty_at_reader") + count("dirty_at_transformers") + count("dirty_at_writer");
    assert!(count("read") > 0 && dirty > 0, "there is something to show: {summary}");
    let figures = ["records-read", "records-written", "bytes-read", "filtered", "dirty"].map(|id| figure(document, id));
    let expected = [count("read"), count("written"), count("read_bytes"), count("filtered"), dirty];
    assert_eq!(figures, expected.map(|number| number as f64));
    assert_eq!(shown(document, "records-read").replace(',', ""), count("read").to_string());
    assert_eq!(shown(document, "result"), format!("done, {dirty} records dirty"));
    assert!(document.contains(&format!("They are kept in {}", text(summary, "/dirty_file"))), "where they are");
    let tasks = summary["tasks"].as_array().unwrap().len();
    assert!(shown(document, "timeline-note").starts_with(&format!("{tasks} attempts on ")), "all tasks are drawn");
}

#[test]
fn the_page_of_a_run_shows_its_figures() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job(3, "out"));
    let run = scratch.transship(["run", "job.json", "--json", "--report", "r.html"]).run().succeeds();
    let document = opened(&scratch, "r.html");
    assert_shows(&document, &run.summary());
    assert!(document.contains("<title>job – transship</title>"));
    assert!(!document.contains("id=\"comparison\""), "there is nothing to compare with");
    assert!(!document.contains("id=\"overview\""), "there are no others");
}

#[test]
fn a_run_of_which_every_record_was_dirty_is_shown_as_no_success() {
    let scratch = Scratch::new();
    let reader = json!({ "records": 10, "dirtyEvery": 1 });
    let lines = recorded(&scratch, &faulty(reader, json!({})));
    let dirty_file = text(lines.last().unwrap(), "/dirty_file");
    assert!(scratch.path(dirty_file).is_file(), "{dirty_file}");
    let told = scratch.transship(["perf", "perf.jsonl", "--report", "r.html"]).run().succeeds();
    let words = "done, but EVERY RECORD WAS DIRTY";
    for text in [words, dirty_file] {
        assert!(told.stdout.contains(text), "no {text} in {told}");
    }
    let document = opened(&scratch, "r.html");
    assert_eq!(shown(&document, "result"), words);
    assert!(document.contains("result-failed") && document.contains(dirty_file), "it is red, and says where they are");
}

#[test]
fn rates_are_by_the_time_in_which_records_moved() {
    let scratch = Scratch::new();
    let slow = json!({ "at": "prepare", "how": "delay", "millis": 300 });
    scratch.job("job.json", &faulty(json!({ "records": 400 }), json!({ "fail": slow })));
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl", "--report", "r.html"]).run().succeeds();
    let told = scratch.transship(["perf", "perf.jsonl", "--json"]).run().succeeds();
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let seconds = |name: &str| told[0]["diagnosis"][name].as_f64().unwrap();
    let (wall, moving) = (seconds("wall_seconds"), seconds("moving_seconds"));
    assert!(wall > moving + 0.3, "it was long made ready: {wall} and {moving}");
    let document = opened(&scratch, "r.html");
    let [elapsed, moved] = ["elapsed", "moving"].map(|id| figure(&document, id));
    assert_eq!((elapsed, moved), (wall, moving));
    let (rate, bytes) = (figure(&document, "records-per-second"), figure(&document, "bytes-per-second"));
    assert!((rate * moving / 400.0 - 1.0).abs() < 1e-9, "{rate}");
    assert!((bytes * moving / figure(&document, "bytes-read") - 1.0).abs() < 1e-9, "{bytes}");
    let bar = "getComputedStyle(document.querySelector('[data-part=prepare]'))";
    let drawn = evaluated(
        &scratch,
        "r.html",
        &format!(
            "[parseFloat({bar}.width), {bar}.backgroundColor !== getComputedStyle(document.querySelector('.stack')).backgroundColor]"
        ),
    );
    assert!(drawn[0].as_f64().unwrap() > 100.0 && drawn[1] == true, "making ready is drawn: {drawn}");
}

#[test]
fn the_page_of_recorded_runs_shows_the_later_and_compares_it_with_the_earlier() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job(3, "out"));
    let run = |perf: &str| scratch.transship(["run", "job.json", "--json", "--perf", perf]).run().succeeds().summary();
    let earlier = run("earlier.jsonl");
    scratch.job("job.json", &job(5, "later"));
    let later = run("later.jsonl");
    scratch.transship(["perf", "earlier.jsonl", "later.jsonl", "--report", "r.html"]).run().succeeds();
    let document = opened(&scratch, "r.html");
    assert_shows(&document, &later);
    let (_, comparison) = document.split_once("id=\"comparison\"").unwrap();
    let cells = [&later, &earlier].map(|run| number(run, "/counts/read").to_string());
    let cell = |column: &str, count: &str| format!("<td class=\"number\" data-column=\"{column}\">{count}</td>");
    let row = format!("records read</td>{}{}", cell("this run", &cells[0]), cell("earlier", &cells[1]));
    assert!(comparison.contains(&row), "no {row}");
    let began = &json_lines(&scratch.read("earlier.jsonl"))[0]["start_micros"];
    let title =
        format!("`Compared with job of ${{moment({began})}}` === document.querySelector('#comparison h2').textContent");
    assert_eq!(evaluated(&scratch, "r.html", &title), true, "it is told what with");
    for (which, run) in [("this run", &later), ("earlier", &earlier)] {
        assert!(comparison.contains(&format!(">{which}: run {}, done", text(run, "/run"))), "both are named");
    }
}

#[test]
fn the_page_of_several_jobs_has_the_figures_of_each() {
    let scratch = Scratch::new();
    scratch.job("one.json", &job(3, "out"));
    scratch.job("two.json", &job(4, "two"));
    let run = scratch.transship(["run", "one.json", "two.json", "--json", "--report", "r.html"]).run().succeeds();
    let document = opened(&scratch, "r.html");
    let written: u64 = run.summaries().iter().map(|summary| number(summary, "/counts/written")).sum();
    assert_eq!(figure(&document, "records-written") + figure(&document, "records-written-1"), written as f64);
    assert!(document.contains("data-drawn=\"2\""));
}

#[test]
fn of_many_entries_there_is_a_table_with_what_failed_first_and_each_is_drawn_when_it_is_opened() {
    let scratch = Scratch::new();
    let entry = |entry: usize| {
        let fails = if entry == 3 { json!([{ "at": "next", "how": "error:io" }]) } else { json!([]) };
        let job = faulty(json!({ "fail": fails }), json!({ "target": format!("out{entry}") }));
        job.tree()["job"]["content"][0].clone()
    };
    let contents: Vec<Value> = (0..5).map(entry).collect();
    scratch.job("job.json", &job(1, "out").with("job.content", contents));
    scratch.transship(["run", "job.json", "--all-contents", "--report", "r.html"]).run().fails_with(1);
    let document = opened(&scratch, "r.html");
    assert!(shown(&document, "overview").is_empty() && document.contains("<h2>5 entries</h2>"));
    let look = r#"(() => {
        const rows = [...document.querySelectorAll('#overview tbody tr')];
        const titles = rows.map((row) => row.cells[0].textContent), results = rows.map((row) => row.cells[2].textContent);
        const drawn = () => document.querySelectorAll('canvas.timeline').length;
        const before = drawn();
        rows[4].querySelector("a").click();
        show(entries[4]);
        return { titles, results, before, after: drawn(), open: entries[4].element.open, 
            wide: entries[4].element.querySelector('canvas.timeline').width > 100 };
    })()"#;
    let seen = evaluated(&scratch, "r.html", look);
    let titles = [4, 1, 2, 3, 5].map(|entry| format!("job, entry {entry} of 5"));
    assert_eq!(seen["titles"], json!(titles));
    assert_eq!(seen["results"], json!(["failed", "done", "done", "done", "done"]));
    assert_eq!((&seen["before"], &seen["after"]), (&json!(1), &json!(2)));
    assert_eq!((&seen["open"], &seen["wide"]), (&json!(true), &json!(true)));
}

/// All strings of a tree but those by which lines are told apart.
fn replace_texts(tree: &mut Value, hostile: &str) {
    match tree {
        Value::String(text) => *text = hostile.into(),
        Value::Array(all) => all.iter_mut().for_each(|one| replace_texts(one, hostile)),
        Value::Object(all) => {
            let kept = ["type", "run", "task", "phase", "open_readers_nanos", "open_writers_nanos"];
            all.iter_mut()
                .filter(|(name, _)| !kept.contains(&name.as_str()))
                .for_each(|(_, one)| replace_texts(one, hostile));
            if all.values().any(Value::is_string) {
                all.insert(hostile.into(), hostile.into());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn whatever_texts_a_run_has_they_stay_texts() {
    let scratch = Scratch::new();
    let dedup = plugin("dedup", json!({ "key": "id", "window": 0 }));
    let order = plugin("order", json!({ "key": "id", "lanes": 2 }));
    let fails = json!({ "at": "next", "after": 50, "how": "error:io" });
    let job = faulty(json!({ "splits": 3, "dirtyEvery": 10, "fail": fails }), json!({ "target": "out" }))
        .transformer(dedup)
        .transformer(order);
    let mut lines = recorded(&scratch, &job);
    for kind in ["run", "task", "phase", "stage", "dirty", "end"] {
        assert!(lines.iter().any(|line| line["type"] == kind), "there is a line of each type: {kind}");
    }
    let header = line_mut(&mut lines, "run");
    // Facts that are numbers may as well be texts in a file that somebody else has written.
    (header["host"]["cores"], header["host"]["memory_bytes"]) = (json!("cores"), json!("memory"));
    for hostile in [
        "</script><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
        "{{page.js}}{{data}}<!--<script>",
        "'\"`${document.title='owned'}&lt;",
    ] {
        let mut lines = lines.clone();
        lines.iter_mut().for_each(|line| replace_texts(line, hostile));
        page_of(&scratch, &lines);
        let document = opened(&scratch, "r.html");
        let (head, _) = document.split_once("</title>").unwrap();
        assert!(!head.ends_with("<title>owned"), "no text has run");
        let elements =
            evaluated(&scratch, "r.html", "[document.images.length, document.scripts.length, document.title]");
        // Seven of the page, and the one that asks.
        let harmless = 8;
        assert_eq!(elements, json!([0, harmless, format!("{hostile} – transship")]), "no text has become an element");
        let told = "[...document.querySelectorAll('#tasks tbody .text')].map((one) => one.firstChild.textContent)";
        let texts = evaluated(&scratch, "r.html", told);
        assert!(
            !texts.as_array().unwrap().is_empty() && texts.as_array().unwrap().iter().all(|text| text == hostile),
            "shown as it is: {texts}"
        );
    }
}

#[test]
fn the_page_of_a_killed_run_shows_what_was_recorded_and_what_is_not_known() {
    let scratch = Scratch::new();
    let lines = recorded(&scratch, &job(3, "out"));
    let begun = lines.iter().position(|line| line["type"] == "task").expect("a task has begun");
    let mut cut = lines[..=begun].to_vec();
    let of = |name: &str| cut[0][name].clone();
    let micros = number(&cut[0], "/start_micros") + 4_000_000;
    cut.push(json!({
        "type": "second", "run": of("run"), "job": of("job"), "micros": micros, "read_records": 60, "read_bytes": 600,
        "written_records": 50, "dirty_records": 7, "queued_records": 10, "queued_bytes": 100, "fill": 0.5, "open_tasks": 1,
        "tasks_known": 3, "tasks_done": 0, "wait_for_reader_nanos": 0, "wait_for_writer_nanos": 0,
    }));
    page_of(&scratch, &cut);
    let document = opened(&scratch, "r.html");
    assert_eq!(shown(&document, "result"), "not ended");
    assert!(shown(&document, "timeline-note").starts_with("1 attempt on 1 slot"));
    assert_eq!(["records-read", "dirty"].map(|id| figure(&document, id)), [60.0, 7.0]);
    assert_eq!(["filtered", "duplicates"].map(|id| shown(&document, id)), ["–", "–"]);
    let row = "[...document.querySelector('#tasks tbody tr').cells].slice(2, 6).map((cell) => cell.textContent)";
    let row = evaluated(&scratch, "r.html", row);
    assert_eq!((&row[0], &row[2], &row[3]), (&json!("not ended"), &json!("–"), &json!("–")), "{row}");
}

#[test]
fn of_a_distribution_of_waits_is_shown_what_was_recorded() {
    let scratch = Scratch::new();
    let mut lines = recorded(&scratch, &job(1, "out"));
    let latency = json!({ "name": "lookup", "count": 5, "p50": 2_000, "p99": 8_000 });
    lines.insert(1, json!({
        "type": "stage", "run": lines[0]["run"], "job": "job", "stage": "lookup", "place": "", "setting": "", "figures": [],
        "latencies": [latency],
    }));
    page_of(&scratch, &lines);
    let drawn = "[...document.querySelectorAll('.spread i')].map((part) => [parseFloat(part.style.left), part.style.width !== ''])";
    let drawn = evaluated(&scratch, "r.html", drawn);
    assert_eq!((&drawn[0], &drawn[1][1]), (&json!([0, true]), &json!(true)), "its edges are not known: {drawn}");
    let told = scratch.transship(["perf", "made.jsonl"]).run().succeeds();
    assert!(told.stdout.contains("\n  lookup, lookup ms: count 5, median 2.00, p99 8.00\n"), "{told}");
}

#[test]
fn what_attempts_had_that_failed_is_told_beside_what_counts() {
    let scratch = Scratch::new();
    let fails = json!({ "at": "next", "after": 300, "how": "error:io" });
    let lines = recorded(&scratch, &faulty(json!({ "records": 400, "dirtyEvery": 10, "fail": fails }), json!({})));
    let end = lines.last().unwrap();
    let aborted = [number(end, "/aborted_read"), number(end, "/aborted_dirty")];
    assert!(aborted[0] > 0 && aborted[1] > 0, "{end}");
    page_of(&scratch, &lines);
    let document = opened(&scratch, "r.html");
    assert_eq!((shown(&document, "result"), figure(&document, "records-read")), ("failed", 0.0));
    let told = ["records-read-aborted", "dirty-aborted"].map(|id| shown(&document, id).to_string());
    assert_eq!(told, aborted.map(|count| format!("and {count} in attempts that failed")));
    let message = evaluated(&scratch, "r.html", "document.querySelector('section > .message').textContent");
    assert_eq!(message, text(end, "/message"), "and why");
}

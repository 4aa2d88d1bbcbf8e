//! The page of a run in a real browser: it opens without errors and without a network, and shows the figures of the run.

use std::process::{Command, Stdio};

use transship_tests::records::{json_lines, number};
use transship_tests::{Job, Scratch, Value, faulty, json};

/// Where scripts/test has it.
const BROWSER: &str = "chromium";

/// The document that a browser makes of a page in the scratch folder, once it has drawn itself.
fn opened(scratch: &Scratch, page: &str) -> String {
    let run = Command::new(BROWSER)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"])
        .arg(format!("--user-data-dir={}", scratch.path("browser").display()))
        .arg(format!("file://{}", scratch.path(page).display()))
        .env("HOME", scratch.path("home"))
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{BROWSER}: {error}; it has to be installed"));
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let document = String::from_utf8(run.stdout).unwrap();
    let (_, errors) = document.split_once("<div id=\"errors\">").expect("the page has a place for errors");
    assert_eq!(errors.split_once("</div>").unwrap().0, "", "errors in the page");
    assert!(document.contains("data-drawn="), "the page has drawn itself to its end");
    document
}

/// The value of a figure of the page.
fn figure(document: &str, id: &str) -> f64 {
    let (_, rest) = document.split_once(&format!("<b id=\"{id}\" data-value=\"")).unwrap_or_else(|| panic!("no #{id}"));
    rest.split_once('"').unwrap().0.parse().unwrap()
}

/// What a person reads there.
fn shown<'a>(document: &'a str, id: &str) -> &'a str {
    let (_, rest) = document.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no #{id}"));
    rest.split_once('>').unwrap().1.split_once('<').unwrap().0
}

/// A job of so many splits to this target.
fn job(splits: u32, target: &str) -> Job {
    faulty(json!({ "splits": splits, "dirtyEvery": 10 }), json!({ "target": target })).channels(2)
}

fn assert_shows(document: &str, summary: &Value) {
    let count = |name: &str| number(summary, &format!("/counts/{name}"));
    let dirty = count("dirty_at_reader") + count("dirty_at_transformers") + count("dirty_at_writer");
    assert!(count("read") > 0 && dirty > 0, "there is something to show: {summary}");
    let figures = ["records-read", "records-written", "bytes-read", "filtered", "dirty"].map(|id| figure(document, id));
    let expected = [count("read"), count("written"), count("read_bytes"), count("filtered"), dirty];
    assert_eq!(figures, expected.map(|number| number as f64));
    assert_eq!(shown(document, "records-read").replace('\u{202f}', ""), count("read").to_string());
    assert_eq!(shown(document, "result"), "done");
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
    let row = format!("records read</td><td class=\"number\">{}</td><td class=\"number\">{}</td>", cells[0], cells[1]);
    assert!(comparison.contains(&row), "no {row}");
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
fn whatever_texts_a_run_has_they_stay_texts() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job(3, "out"));
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    let hostile = "</script><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
    let texts = ["job", "split", "message", "cause", "transship", "reader"];
    let mut lines = json_lines(&scratch.read("perf.jsonl"));
    for line in &mut lines {
        for (_, text) in line.as_object_mut().unwrap().iter_mut().filter(|(name, _)| texts.contains(&name.as_str())) {
            *text = hostile.into();
        }
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    scratch.write("hostile.jsonl", lines.join("\n") + "\n");
    scratch.transship(["perf", "hostile.jsonl", "--report", "r.html"]).run().succeeds();
    let document = opened(&scratch, "r.html");
    let (head, _) = document.split_once("</title>").unwrap();
    assert!(!head.ends_with("<title>owned"), "no text has run");
    assert!(!document.contains("<img"), "no text has become an element");
    let (_, slowest) = document.split_once("id=\"slowest\"").unwrap();
    assert!(slowest.contains("&lt;/script&gt;&lt;img src=x"), "it is shown as it is");
}

#[test]
fn the_page_of_a_killed_run_shows_what_was_recorded() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job(3, "out"));
    scratch.transship(["run", "job.json", "--perf", "perf.jsonl"]).run().succeeds();
    let text = scratch.read("perf.jsonl");
    let begun = text.lines().position(|line| line.contains("\"type\":\"task\"")).expect("a task has begun");
    let cut: Vec<&str> = text.lines().take(begun + 1).collect();
    scratch.write("cut.jsonl", cut.join("\n") + "\n{\"type\":\"pha");
    scratch.transship(["perf", "cut.jsonl", "--report", "r.html"]).run().succeeds();
    let document = opened(&scratch, "r.html");
    assert_eq!(shown(&document, "result"), "not ended");
    assert!(shown(&document, "timeline-note").starts_with("1 attempt on 1 slot"));
}

#[test]
fn pointing_at_a_task_tells_what_it_was_and_dragging_looks_closer() {
    let scratch = Scratch::new();
    scratch.job("job.json", &job(1, "out"));
    let run = scratch.transship(["run", "job.json", "--json", "--report", "r.html"]).run().succeeds();
    let task = &run.summary()["tasks"][0];
    // What a hand does, after the page has drawn itself: the only task lies from the names of the rows to the right edge.
    let hand = r#"<script>
        const canvas = document.querySelector("canvas.timeline"), box = canvas.getBoundingClientRect();
        const at = (kind, share) => canvas.dispatchEvent(
            new MouseEvent(kind, { clientX: box.left + 60 + share * (box.width - 60), clientY: box.top + 5, bubbles: true }));
        const before = canvas.toDataURL();
        at("mousemove", 0.5);
        const told = hover.textContent;
        at("mousedown", 0.4); at("mousemove", 0.6); at("mouseup", 0.6);
        const closer = canvas.toDataURL() !== before;
        at("dblclick", 0.5);
        document.title = `${told} / ${closer} / ${canvas.toDataURL() === before}`;
        </script></body>"#;
    scratch.write("hand.html", scratch.read("r.html").replace("</body>", hand));
    let document = opened(&scratch, "hand.html");
    let title = document.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
    assert!(title.starts_with(task["split"].as_str().unwrap()), "{title}");
    let records = number(task, "/counts/read").to_string();
    assert!(title.replace('\u{202f}', "").contains(&format!("{records} records")), "{records} of {title}");
    assert!(title.ends_with(" / true / true"), "it was drawn closer, and as before: {title}");
}
